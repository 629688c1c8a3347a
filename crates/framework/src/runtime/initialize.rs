//! `+initialize`, which a class receives before its first other message, after the class above it.

use super::associate::Monitor;
use super::class::{INITIALIZED, INITIALIZING, find};
use super::{Class, Id, Sel};
use std::sync::atomic::Ordering;

/// Held while classes are initialized. The thread that does so may use them already.
static MONITOR: Monitor = Monitor::new();

/// Initializes a class, or that of a metaclass.
#[cold]
pub(super) fn class(class: &'static Class) {
    // A class that is not registered yet is still being made.
    let Some(own) = (if class.is_meta() { find(class.c_name()) } else { Some(class) }) else { return };
    if !own.has(INITIALIZED) {
        MONITOR.enter();
        let chain: Vec<&'static Class> = own.chain().collect();
        chain.into_iter().rev().for_each(call);
        MONITOR.exit();
    }
    class.info.fetch_or(INITIALIZED, Ordering::AcqRel);
}

fn call(class: &'static Class) {
    if class.has(INITIALIZED) || class.info.fetch_or(INITIALIZING, Ordering::AcqRel) & INITIALIZING != 0 {
        return;
    }
    // SAFETY: classes live forever.
    let meta = unsafe { class.isa.load(Ordering::Acquire).as_ref() };
    if let Some(method) = meta.and_then(|meta| meta.method(c"initialize")) {
        // SAFETY: `+initialize` takes no other arguments.
        let code = unsafe { std::mem::transmute::<*mut (), extern "C-unwind" fn(Id, Sel)>(method.code()) };
        code(Id(std::ptr::from_ref(class).cast_mut().cast()), Sel::register(c"initialize"));
    }
    class.info.fetch_or(INITIALIZED, Ordering::AcqRel);
}
