//! The fingerprint of the compiler.

/// In this repository the sources are at hand; a fingerprint that forgot them would let old code be run.
#[test]
fn the_fingerprint_is_of_the_sources() {
    let (version, hash) = super::COMPILER_FINGERPRINT.rsplit_once('-').expect("a version and a hash");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert!(hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
}
