//! Exceptions in functions of Objective-C++.
//!
//! Such a function has handlers for objects and for exceptions of C++ in one table, and calls C++'s library when a handler
//! begins. So an object that reaches it becomes an exception of C++, whose type is `id`; C++'s own personality function then
//! searches the table, and asks the types of handlers, whose virtual functions are here, whether they catch it. The library is
//! the program's: it is looked up when it is needed.
//!
//! ```text
//! object ── Unwinding (ours) ──┬ a frame that cleans up: goes on as ours
//!                              └ a frame that handles it: gets the exception of C++, and ours is gone
//! ```

use super::class::find;
use super::exception::{
    _Unwind_DeleteException, _Unwind_SetGR, Context, HANDLER_FRAME, INSTALL_CONTEXT, REGISTERS, SEARCH, Unwinding,
};
use super::object::{release, retain};
use super::{Class, Id};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// The mark of exceptions of libstdc++.
const CPP: u64 = u64::from_be_bytes(*b"GNUCC++\0");

/// The part of a C++ exception in front of its object: the header of the unwinder.
const UNWIND_HEADER: usize = 32;
/// The pointer to the type of the object, before that header.
const TYPE: usize = 80;

/// `std::type_info`
#[repr(C)]
pub(crate) struct TypeInfo {
    table: *const VirtualFunction,
    name: *const c_char,
}
// SAFETY: it points to statics.
unsafe impl Sync for TypeInfo {}

#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct VirtualFunction(*const ());
// SAFETY: it is a function.
unsafe impl Sync for VirtualFunction {}

extern "C" fn destroy(_: *const TypeInfo) {}

extern "C" fn yes(_: *const TypeInfo) -> bool {
    true
}

extern "C" fn no(_: *const TypeInfo) -> bool {
    false
}

/// No object is of a class of C++.
extern "C" fn no_upcast(_: *const TypeInfo, _: *const TypeInfo, _: *mut *mut c_void) -> bool {
    false
}

/// True if a handler of this type catches an exception of the type `thrown`.
extern "C" fn catches(this: &TypeInfo, thrown: *const TypeInfo, object: *const Id, _: c_uint) -> bool {
    if !std::ptr::eq(thrown, &raw const __objc_id_type_info) {
        return false;
    }
    if std::ptr::eq(this, &raw const __objc_id_type_info) {
        return true;
    }
    // SAFETY: the compiler emits the name of the class; an exception of type `id` is an object.
    let (name, object) = unsafe { (CStr::from_ptr(this.name), object.read()) };
    find(name).zip(object.class()).is_some_and(|(wanted, class): (&Class, _)| class.is_kind_of(wanted))
}

/// The virtual functions of `std::type_info` in libstdc++, behind two words that a table begins with: two destructors,
/// `__is_pointer_p`, `__is_function_p`, `__do_catch`, `__do_upcast`.
const fn table() -> [VirtualFunction; 8] {
    let none = VirtualFunction(std::ptr::null());
    let destroy = VirtualFunction(destroy as *const ());
    let (yes, no) = (VirtualFunction(yes as *const ()), VirtualFunction(no as *const ()));
    let (catches, no_upcast) = (VirtualFunction(catches as *const ()), VirtualFunction(no_upcast as *const ()));
    [none, none, destroy, destroy, yes, no, catches, no_upcast]
}

/// The table of types that are classes; clang makes the types.
#[unsafe(export_name = "_ZTVN7gnustep7libobjc22__objc_class_type_infoE")]
pub(crate) static CLASS_TABLE: [VirtualFunction; 8] = table();
#[unsafe(export_name = "_ZTVN7gnustep7libobjc19__objc_id_type_infoE")]
pub(crate) static ID_TABLE: [VirtualFunction; 8] = table();

/// The type `id`.
#[allow(non_upper_case_globals, reason = "the name that clang refers to")]
#[unsafe(no_mangle)]
pub(crate) static __objc_id_type_info: TypeInfo = TypeInfo { table: &raw const ID_TABLE[2], name: c"id".as_ptr() };

type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut Unwinding, *mut Context) -> c_int;

/// Functions of C++'s library.
struct Library {
    personality: Personality,
    allocate: unsafe extern "C" fn(usize) -> *mut u8,
    initialize: unsafe extern "C" fn(*mut u8, *const TypeInfo, unsafe extern "C" fn(*mut Id)) -> *mut c_int,
    globals: unsafe extern "C" fn() -> *mut Globals,
}

/// The exceptions of a thread.
#[repr(C)]
struct Globals {
    caught: *mut c_void,
    uncaught: c_uint,
}

/// The library of the program; `None` if it has none, or another than libstdc++.
fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let load = || {
        let symbol = |name: &CStr| {
            // SAFETY: the name is a C string.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        // SAFETY: the functions have these types in the ABI of C++; only libstdc++ has the third.
        unsafe {
            Some(Library {
                personality: std::mem::transmute::<*mut c_void, Personality>(symbol(c"__gxx_personality_v0")?),
                allocate: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(usize) -> *mut u8>(symbol(
                    c"__cxa_allocate_exception",
                )?),
                initialize: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut u8, *const TypeInfo, unsafe extern "C" fn(*mut Id)) -> *mut c_int,
                >(symbol(c"__cxa_init_primary_exception")?),
                globals: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut Globals>(symbol(
                    c"__cxa_get_globals",
                )?),
            })
        }
    };
    LIBRARY.get_or_init(load).as_ref()
}

unsafe extern "C" fn release_thrown(object: *mut Id) {
    // SAFETY: C++ destroys an exception that `wrap` made.
    release(unsafe { object.read() });
}

/// A new exception of C++ with an object.
fn wrap(library: &Library, object: Id) -> *mut Unwinding {
    // SAFETY: as `throw` does: memory for the object, its header, one reference.
    unsafe {
        let place = (library.allocate)(size_of::<Id>());
        place.cast::<Id>().write(retain(object));
        (library.initialize)(place, &raw const __objc_id_type_info, release_thrown).write(1);
        place.sub(UNWIND_HEADER).cast()
    }
}

/// The object of an exception of C++ that was thrown again by a handler in Objective-C++.
///
/// # Safety
///
/// The exception has this class.
pub(super) unsafe fn wrapped(class: u64, exception: *mut Unwinding) -> Option<Id> {
    if class != CPP {
        return None;
    }
    let exception = exception.cast::<u8>();
    // SAFETY: an exception of libstdc++ has the type of its object before the unwinder's header.
    unsafe {
        let thrown = exception.sub(TYPE).cast::<*const TypeInfo>().read();
        std::ptr::eq(thrown, &raw const __objc_id_type_info)
            .then(|| exception.add(UNWIND_HEADER).cast::<Id>().read())
    }
}

/// Searches a frame of Objective-C++. `ours` is an exception with an object.
///
/// # Safety
///
/// Called by the unwinder, with its arguments.
pub(super) unsafe fn personality(
    version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut Unwinding,
    context: *mut Context,
    is_ours: bool,
) -> Option<c_int> {
    let library = library()?;
    // SAFETY: as the caller promises. The exception of C++ is kept for the second phase.
    unsafe {
        if !is_ours {
            return Some((library.personality)(version, actions, class, exception, context));
        }
        if (*exception).cpp.is_null() {
            (*exception).cpp = wrap(library, (*exception).object());
        }
        let cpp = (*exception).cpp;
        let code = (library.personality)(version, actions, CPP, cpp, context);
        if code == INSTALL_CONTEXT && actions & SEARCH == 0 {
            if actions & HANDLER_FRAME == 0 {
                // The frame cleans up, and then the unwinder goes on with ours.
                _Unwind_SetGR(context, REGISTERS[0], exception.cast::<c_void>().expose_provenance());
            } else {
                // The handler counts it as caught, and destroys it. Ours is not used any more.
                (*(library.globals)()).uncaught += 1;
                (*exception).cpp = std::ptr::null_mut();
                drop(Box::from_raw(exception));
            }
        }
        Some(code)
    }
}

/// Destroys an exception of C++ that no handler got.
///
/// # Safety
///
/// It is one of `personality`, or null.
pub(super) unsafe fn delete(cpp: *mut Unwinding) {
    if !cpp.is_null() {
        // SAFETY: as the caller promises.
        unsafe { _Unwind_DeleteException(cpp) };
    }
}
