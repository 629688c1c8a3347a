//! Questions about objects, classes and methods.

use super::Sel;
use super::class::{Class, Ivar, Method};
use super::object::{Id, lock};
use crate::foundation::error;
use std::ffi::{CStr, c_char, c_uint};
use std::sync::atomic::Ordering;

#[unsafe(no_mangle)]
pub(crate) extern "C" fn object_getClass(object: Id) -> Option<&'static Class> {
    object.class()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn object_getClassName(object: Id) -> *const c_char {
    class_getName(object.class())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn object_setClass(object: Id, class: &'static Class) -> *const Class {
    // SAFETY: an object begins with its class; nil has none.
    match unsafe { object.0.as_ref() } {
        Some(instance) => instance.isa.swap(std::ptr::from_ref(class).cast_mut(), Ordering::AcqRel),
        None => std::ptr::null(),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getName(class: Option<&'static Class>) -> *const c_char {
    class.map_or(c"nil", Class::c_name).as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getSuperclass(class: Option<&'static Class>) -> Option<&'static Class> {
    class?.parent()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_isMetaClass(class: Option<&'static Class>) -> bool {
    class.is_some_and(Class::is_meta)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getInstanceSize(class: Option<&'static Class>) -> usize {
    class.map_or(0, |class| usize::try_from(class.instance_size.load(Ordering::Acquire)).unwrap_or(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_createInstance(class: Option<&'static Class>, extra: usize) -> Id {
    class.map_or(Id::NIL, |class| super::object::allocate(class, extra))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_respondsToSelector(class: Option<&'static Class>, selector: Sel) -> bool {
    class_getInstanceMethod(class, selector).is_some()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getInstanceMethod(
    class: Option<&'static Class>,
    selector: Sel,
) -> Option<&'static Method> {
    class?.method(selector.name())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getClassMethod(
    class: Option<&'static Class>,
    selector: Sel,
) -> Option<&'static Method> {
    // SAFETY: classes live forever.
    unsafe { class?.isa.load(Ordering::Acquire).as_ref()?.method(selector.name()) }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_getMethodImplementation(class: Option<&'static Class>, selector: Sel) -> *mut () {
    class_getInstanceMethod(class, selector).map_or(std::ptr::null_mut(), Method::code)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_getImplementation(method: Option<&'static Method>) -> *mut () {
    method.map_or(std::ptr::null_mut(), Method::code)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_getName(
    method: Option<&'static Method>,
) -> Option<std::ptr::NonNull<super::selector::Selector>> {
    std::ptr::NonNull::new(Sel::register(method?.selector).0.cast_mut())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_getTypeEncoding(method: Option<&'static Method>) -> *const c_char {
    method.map_or(std::ptr::null(), |method| method.encoding().as_ptr())
}

/// The types in an encoding: the result, the receiver, the selector, the arguments.
fn types(encoding: &[u8]) -> Vec<&[u8]> {
    let mut types = Vec::new();
    let mut rest = encoding;
    while !rest.is_empty() {
        let qualifiers = rest.iter().take_while(|byte| b"rnNoORVA^".contains(byte)).count();
        let mut depth = 0usize;
        let mut end = qualifiers;
        for byte in &rest[qualifiers..] {
            end += 1;
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        // A block is "@?"; numbers are offsets of frames.
        if rest.get(end) == Some(&b'?') && rest.get(end.wrapping_sub(1)) == Some(&b'@') {
            end += 1;
        }
        types.push(&rest[..end]);
        let digits = rest[end..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = &rest[end + digits..];
    }
    types
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_getNumberOfArguments(method: Option<&'static Method>) -> c_uint {
    let count = method.map_or(0, |method| types(method.encoding().to_bytes()).len().saturating_sub(1));
    c_uint::try_from(count).unwrap_or(0)
}

/// A string that the caller frees.
fn copied(text: &[u8]) -> *mut c_char {
    // SAFETY: the allocation has room for the text and a zero byte, or failed.
    unsafe {
        let copy = libc::malloc(text.len() + 1).cast::<u8>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(text.as_ptr(), text.len());
            copy.add(text.len()).write(0);
        }
        copy.cast()
    }
}

fn copied_type(method: Option<&'static Method>, at: usize) -> *mut c_char {
    let ty = method.and_then(|method| types(method.encoding().to_bytes()).get(at).map(|ty| copied(ty)));
    ty.unwrap_or(std::ptr::null_mut())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_copyReturnType(method: Option<&'static Method>) -> *mut c_char {
    copied_type(method, 0)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_copyArgumentType(method: Option<&'static Method>, index: c_uint) -> *mut c_char {
    copied_type(method, index as usize + 1)
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn class_getInstanceVariable(
    class: Option<&'static Class>,
    name: *const c_char,
) -> Option<&'static Ivar> {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    let find = |class: &'static Class| lock(&class.data.ivars).iter().find(|ivar| *ivar.name == *name).copied();
    class?.chain().find_map(find)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn ivar_getOffset(ivar: &'static Ivar) -> isize {
    ivar.offset
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn ivar_getName(ivar: &'static Ivar) -> *const c_char {
    ivar.name.as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn ivar_getTypeEncoding(ivar: &'static Ivar) -> *const c_char {
    ivar.types.as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) extern "C-unwind" fn objc_enumerationMutation(object: Id) {
    let class = object.class().map_or("nil", Class::name);
    let reason = format!("*** Collection <{class}: {:p}> was mutated while being enumerated.", object.0);
    error::raise(&error::NSGenericException, &reason);
}
