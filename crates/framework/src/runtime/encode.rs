//! Types of methods as text, by which bindings compare their declarations with ours.

use super::{Class, Id, Object, Payload, Sel};
use std::ffi::{c_char, c_void};

/// A type that a method takes or returns.
pub(crate) trait Encode {
    /// Objective-C's encoding of it.
    const CODE: &'static str;
}

macro_rules! encode {
    ($($ty:ty => $code:literal,)*) => { $(impl Encode for $ty { const CODE: &'static str = $code; })* };
}

encode! {
    () => "v", bool => "C", u8 => "C", i8 => "c", i16 => "s", u16 => "S", i32 => "i", u32 => "I", i64 => "q", u64 => "Q", isize => "q",
    usize => "Q", f32 => "f", f64 => "d", Id => "@", Sel => ":", &'static Class => "#",
    *const c_char => "*", *const c_void => "^v", *mut c_void => "^v", *mut Id => "^@", *const Id => "^@",
    *const usize => "^Q", *mut u64 => "^Q", *mut u16 => "^S",
    Size3 => "{?=QQQ}", Range => "{_NSRange=QQ}", Version => "{?=qqq}", SizeAndAlign => "{?=QQ}",
    ResourceId => "{MTLResourceID=Q}", &'static mut super::variadic::Variable => "^v", *mut u8 => "*", *mut i32 => "^i", super::block::Block => "@?", *mut Enumeration => "^{?=Q^@^Q[5Q]}",
}

impl<T: Payload> Encode for Object<T> {
    const CODE: &'static str = "@";
}

/// A `BOOL` argument: any value but 0 is true.
pub(crate) type Flag = u8;

/// `MTLSize`
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub(crate) struct Size3 {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// `NSRange`
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub(crate) struct Range {
    pub(crate) location: usize,
    pub(crate) length: usize,
}

/// `NSOperatingSystemVersion`
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(C)]
pub(crate) struct Version {
    pub(crate) major: isize,
    pub(crate) minor: isize,
    pub(crate) patch: isize,
}

/// `MTLSizeAndAlign`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SizeAndAlign {
    pub(crate) size: usize,
    pub(crate) align: usize,
}

/// `MTLResourceID`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ResourceId(pub(crate) u64);

/// `NSFastEnumerationState`
#[repr(C)]
pub(crate) struct Enumeration {
    pub(crate) state: usize,
    pub(crate) items: *mut Id,
    pub(crate) mutations: *mut usize,
    pub(crate) extra: [usize; 5],
}
