//! Functions between names and what they name.

use super::string;
use crate::runtime::build::protocol_getName;
use crate::runtime::class::find;
use crate::runtime::{Class, Id, Range, Sel};
use std::ffi::{CStr, CString};

/// The C string of a string; `None` for nil, and for text with a zero inside.
fn c_string(text: Id) -> Option<CString> {
    if text.is_nil() { None } else { CString::new(string::describe(text)).ok() }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSStringFromClass(class: Option<&'static Class>) -> Id {
    class.map_or(Id::NIL, |class| string::new(class.name()).autorelease())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSClassFromString(name: Id) -> Option<&'static Class> {
    find(&c_string(name)?)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSStringFromSelector(selector: Sel) -> Id {
    if selector.0.is_null() {
        return Id::NIL;
    }
    string::new(&selector.name().to_string_lossy()).autorelease()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSSelectorFromString(name: Id) -> Sel {
    c_string(name).map_or(Sel(std::ptr::null()), |name| Sel::register(&name))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSStringFromProtocol(protocol: Id) -> Id {
    let name = protocol_getName(protocol);
    if name.is_null() {
        return Id::NIL;
    }
    // SAFETY: the name of a protocol lives as long as the program.
    string::new(&unsafe { CStr::from_ptr(name) }.to_string_lossy()).autorelease()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSStringFromRange(range: Range) -> Id {
    string::new(&format!("{{{}, {}}}", range.location, range.length)).autorelease()
}
