//! The part of Foundation that Metal programs use.

pub(crate) mod array;
pub(crate) mod bundle;
pub(crate) mod data;
pub(crate) mod dictionary;
mod encoding;
pub(crate) mod enumerate;
pub(crate) mod error;
pub(crate) mod files;
mod format;
pub(crate) mod lock;
mod names;
pub(crate) mod number;
pub(crate) mod object;
mod order;
mod path;
pub(crate) mod process;
pub(crate) mod scanner;
pub(crate) mod set;
pub(crate) mod string;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod url;
pub(crate) mod uuid;
pub(crate) mod value;

use crate::runtime::{Id, Sel, Strong, send};
use std::ffi::CStr;

/// True if two objects are equal, as `isEqual:` says.
pub(crate) fn is_equal(a: Id, b: Id) -> bool {
    a == b || (!a.is_nil() && !b.is_nil() && send::send1(a, Sel::register(c"isEqual:"), b) & 0xff != 0)
}

/// A copy of an object; nil for nil.
pub(crate) fn copied(object: Id) -> Strong {
    Strong::owned(send::send(object, Sel::register(c"copy")))
}

/// The hash of an object, as `hash` says.
pub(crate) fn hash(object: Id) -> usize {
    send::send(object, Sel::register(c"hash")).0.addr()
}

/// Sends a message without arguments that returns an object, if the receiver understands it.
pub(crate) fn ask(receiver: Id, selector: &CStr) -> Option<Id> {
    let answer = receiver.responds_to(selector).then(|| send::send(receiver, Sel::register(selector)))?;
    (!answer.is_nil()).then_some(answer)
}
