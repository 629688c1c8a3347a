//! Captures, which are refused: the tools that read them run on a Mac.

use super::device::failed;
use super::errors;
use super::queue::Queue;
use crate::foundation::ask;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::object::allocate;
use crate::runtime::{Copied, Fields, Id, Strong};
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, OnceLock};

/// `MTLCaptureErrorNotSupported`
const REFUSED: &str = "captures are not supported: they are read by Xcode, on a Mac";

/// The scope that programs set for the developer's tools.
static DEFAULT_SCOPE: LazyLock<Fields<Strong>> = LazyLock::new(Fields::default);

class! {
    CAPTURE_MANAGER = "MTLCaptureManager": NS_OBJECT, as (), []
    refused {
        "newCaptureScopeWithMTL4CommandQueue:" "this device has no Metal 4 (supportsFamily:MTLGPUFamilyMetal4 returns NO)",
        "startCaptureWithDevice:" "captures are not supported: they are read by Xcode, on a Mac",
        "startCaptureWithCommandQueue:" "captures are not supported: they are read by Xcode, on a Mac",
        "startCaptureWithScope:" "captures are not supported: they are read by Xcode, on a Mac",
    }
    methods {
        + "sharedCaptureManager" (_class) -> Id {
            static SHARED: OnceLock<Id> = OnceLock::new();
            *SHARED.get_or_init(|| {
                CAPTURE_MANAGER.data.live.fetch_sub(1, Ordering::Relaxed);
                allocate(&CAPTURE_MANAGER, 0)
            })
        }
        - "supportsDestination:" (_this, _destination: isize) -> bool { false }
        - "isCapturing" (_this) -> bool { false }
        - "startCaptureWithDescriptor:error:" (_this, _descriptor: Id, error: *mut Id) -> bool {
            failed(errors::refused(&errors::MTLCaptureErrorDomain, REFUSED), error);
            false
        }
        - "stopCapture" (_this) {}
        - "newCaptureScopeWithDevice:" (_this, device: Id) -> Id { scope(device).into_id() }
        - "newCaptureScopeWithCommandQueue:" (_this, queue: Id) -> Id { scope(queue).into_id() }
        - "defaultCaptureScope" (_this) -> Id { DEFAULT_SCOPE.lock().clone().autorelease() }
        - "setDefaultCaptureScope:" (_this, scope: Id) {
            let _old = std::mem::replace(&mut *DEFAULT_SCOPE.lock(), Strong::retain(scope));
        }
    }
}

/// A scope of captures, which does nothing.
#[derive(Default)]
pub(crate) struct Scope {
    label: Strong,
    of: Strong,
}

fn scope(of: Id) -> Strong {
    Strong::new(Fields::new(Scope { label: Strong::default(), of: Strong::retain(of) }))
}

class! {
    CAPTURE_SCOPE = "MTLDebugCaptureScope": NS_OBJECT, new Fields<Scope>, ["MTLCaptureScope"]
    properties { "label" "setLabel:" label: Copied, }
    absent { "mtl4CommandQueue", }
    methods {
        - "beginScope" (_this) {}
        - "endScope" (_this) {}
        - "device" (this) -> Id {
            let of = this.lock().of.clone();
            if of.cast::<Queue>().is_some() { ask(of.id(), c"device").unwrap_or(Id::NIL) } else { of.autorelease() }
        }
        - "commandQueue" (this) -> Id {
            let of = this.lock().of.clone();
            if of.cast::<Queue>().is_some() { of.autorelease() } else { Id::NIL }
        }
    }
}
