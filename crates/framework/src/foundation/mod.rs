//! The part of Foundation that Metal programs use.

pub(crate) mod array;
pub(crate) mod bundle;
pub(crate) mod data;
pub(crate) mod dictionary;
pub(crate) mod enumerate;
pub(crate) mod error;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod process;
pub(crate) mod string;
pub(crate) mod url;

use crate::runtime::{Id, Sel, send};
use std::ffi::CStr;

/// True if two objects are equal, as `isEqual:` says.
pub(crate) fn is_equal(a: Id, b: Id) -> bool {
    a == b || (!a.is_nil() && !b.is_nil() && send::send1(a, Sel::register(c"isEqual:"), b) & 0xff != 0)
}

/// Sends a message without arguments that returns an object, if the receiver understands it.
pub(crate) fn ask(receiver: Id, selector: &CStr) -> Option<Id> {
    let answer = receiver.responds_to(selector).then(|| send::send(receiver, Sel::register(selector)))?;
    (!answer.is_nil()).then_some(answer)
}
