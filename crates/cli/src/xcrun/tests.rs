//! SDKs.

use super::is_sdk;

#[test]
fn sdks_are_of_macos() {
    for name in ["macosx", "macosx14.2", "/SDKs/MacOSX26.0.sdk", "macos"] {
        assert!(is_sdk(name), "{name}");
    }
    for name in ["iphoneos", "macosx-metal", "", "driverkit"] {
        assert!(!is_sdk(name), "{name}");
    }
}
