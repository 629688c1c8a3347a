//! Exceptions: `@throw`, `@catch` and `@finally` of code compiled by clang for GNUstep's ABI.
//!
//! The unwinder finds handlers with the personality function, which reads the tables that the compiler made: ranges of code,
//! each with a landing pad and a chain of actions. An action catches a class by its name, `@id`, or everything.

use super::class::find;
use super::object::{release, retain};
use super::{Class, Id, exception_cpp};
use crate::foundation::{ask, string};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};

/// An exception in flight.
#[repr(C, align(16))]
pub(crate) struct Unwinding {
    class: u64,
    cleanup: Option<unsafe extern "C" fn(c_int, *mut Unwinding)>,
    private: [u64; 2],
    /// Ours only; exceptions of other languages end before.
    object: *mut c_void,
    /// The same as an exception of C++, for functions in Objective-C++; null without.
    pub(super) cpp: *mut Unwinding,
}

impl Unwinding {
    pub(super) fn object(&self) -> Id {
        Id(self.object.cast())
    }
}

/// The object goes with the exception.
impl Drop for Unwinding {
    fn drop(&mut self) {
        // SAFETY: nobody has the exception of C++ any more.
        unsafe { exception_cpp::delete(self.cpp) };
        release(self.object());
    }
}

#[repr(C)]
pub(crate) struct Context([u8; 0]);

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut Unwinding) -> c_int;
    fn _Unwind_Resume_or_Rethrow(exception: *mut Unwinding) -> c_int;
}
unsafe extern "C" {
    pub(super) fn _Unwind_DeleteException(exception: *mut Unwinding);
    fn _Unwind_GetLanguageSpecificData(context: *mut Context) -> *const u8;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetRegionStart(context: *mut Context) -> usize;
    pub(super) fn _Unwind_SetGR(context: *mut Context, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut Context, value: usize);
}

/// The mark of our exceptions.
const OURS: u64 = u64::from_be_bytes(*b"MTWKOBJC");

const HANDLER_FOUND: c_int = 6;
pub(super) const INSTALL_CONTEXT: c_int = 7;
const CONTINUE_UNWIND: c_int = 8;
const FATAL: c_int = 3;
/// Bits of the unwinder's actions.
pub(super) const SEARCH: c_int = 1;
pub(super) const HANDLER_FRAME: c_int = 4;
/// The registers with the exception and the number of the handler at a landing pad: rax and rdx, or x0 and x1.
pub(super) const REGISTERS: [c_int; 2] = [0, 1];

thread_local! {
    /// Exceptions that are being handled, and true for those that were thrown again.
    static CAUGHT: RefCell<Vec<(*mut Unwinding, bool)>> = const { RefCell::new(Vec::new()) };
    /// True while an exception is deleted that a handler of Objective-C has caught.
    static HANDLED: Cell<bool> = const { Cell::new(false) };
}

/// The reason of a deletion: code of another language caught the exception.
const FOREIGN: c_int = 1;

unsafe extern "C" fn delete(reason: c_int, exception: *mut Unwinding) {
    // SAFETY: the unwinder calls it once, for an exception of `objc_exception_throw`.
    let exception = unsafe { Box::from_raw(exception) };
    // Rust then ends the process without a word about it.
    if reason == FOREIGN && !HANDLED.get() {
        let (name, reason) = described(exception.object());
        crate::debug::log(&format!("*** exception '{name}' reached code of another language, reason: '{reason}'"));
    }
}

/// Throws an object. Without a handler, it is printed, and the process ends.
#[unsafe(no_mangle)]
pub(crate) extern "C-unwind" fn objc_exception_throw(object: Id) -> ! {
    let exception = Unwinding {
        class: OURS,
        cleanup: Some(delete),
        private: [0; 2],
        object: retain(object).0.cast(),
        cpp: std::ptr::null_mut(),
    };
    // SAFETY: the exception lives until its cleanup. If the call returns, there is no handler.
    unsafe { _Unwind_RaiseException(Box::into_raw(Box::new(exception))) };
    uncaught(object)
}

/// The name and the reason of an object that was thrown.
fn described(object: Id) -> (String, String) {
    let class = object.class().map_or("nil", Class::name);
    let name = ask(object, c"name").map_or_else(|| class.to_owned(), string::describe);
    let reason = ask(object, c"reason").map_or_else(|| string::describe(object), string::describe);
    (name, reason)
}

fn uncaught(object: Id) -> ! {
    let (name, reason) = described(object);
    crate::debug::fatal(format_args!("*** Terminating app due to uncaught exception '{name}', reason: '{reason}'"))
}

/// Begins a handler; returns the object that was thrown.
///
/// # Safety
///
/// `exception` is the one of the landing pad.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_begin_catch(exception: *mut Unwinding) -> Id {
    CAUGHT.with_borrow_mut(|caught| caught.push((exception, false)));
    // SAFETY: as the caller promises; exceptions of other languages have no object.
    unsafe { object_of((*exception).class, exception) }.unwrap_or(Id::NIL)
}

/// The object of an exception; `None` for one of another language.
///
/// # Safety
///
/// The exception has this class.
unsafe fn object_of(class: u64, exception: *mut Unwinding) -> Option<Id> {
    // SAFETY: as the caller promises.
    unsafe { if class == OURS { Some((*exception).object()) } else { exception_cpp::wrapped(class, exception) } }
}

/// Ends a handler. The exception goes, unless it was thrown again.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_end_catch() {
    if let Some((exception, false)) = CAUGHT.with_borrow_mut(Vec::pop) {
        HANDLED.set(true);
        // SAFETY: `objc_begin_catch` got it from a landing pad.
        unsafe { _Unwind_DeleteException(exception) };
        HANDLED.set(false);
    }
}

/// Throws an exception again after `@finally`.
///
/// # Safety
///
/// `exception` is the one of the landing pad.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn objc_exception_rethrow(exception: *mut Unwinding) -> ! {
    CAUGHT.with_borrow_mut(|caught| {
        if let Some((_, is_thrown_again)) = caught.iter_mut().rfind(|(own, _)| *own == exception) {
            *is_thrown_again = true;
        }
    });
    // SAFETY: as the caller promises. If the call returns, there is no handler.
    unsafe {
        _Unwind_Resume_or_Rethrow(exception);
        uncaught(object_of((*exception).class, exception).unwrap_or(Id::NIL))
    }
}

/// A reader of the compiler's tables.
struct Reader(*const u8);

impl Reader {
    fn byte(&mut self) -> u8 {
        // SAFETY: the tables have what their headers say.
        let byte = unsafe { self.0.read() };
        self.0 = self.0.wrapping_add(1);
        byte
    }

    fn number<T: Copy>(&mut self) -> T {
        // SAFETY: as above.
        let number = unsafe { self.0.cast::<T>().read_unaligned() };
        self.0 = self.0.wrapping_add(size_of::<T>());
        number
    }

    fn leb(&mut self, is_signed: bool) -> isize {
        let (mut value, mut shift) = (0usize, 0u32);
        loop {
            let byte = self.byte();
            value |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte & 128 == 0 || shift >= 64 {
                if is_signed && byte & 64 != 0 && shift < 64 {
                    value |= usize::MAX << shift;
                }
                return value.cast_signed();
            }
        }
    }

    /// A pointer in one of the encodings of DWARF; `None` for one that is not known.
    fn pointer(&mut self, encoding: u8, region: usize) -> Option<usize> {
        let here = self.0.addr();
        let value = match encoding & 15 {
            0 | 4 | 12 => self.number::<usize>(),
            1 => self.leb(false).cast_unsigned(),
            2 => self.number::<u16>().into(),
            3 => self.number::<u32>() as usize,
            9 => self.leb(true).cast_unsigned(),
            10 => self.number::<i16>() as usize,
            11 => self.number::<i32>() as usize,
            _ => return None,
        };
        let base = match encoding & 0x70 {
            _ if value == 0 => return Some(0),
            0 => 0,
            0x10 => here,
            0x40 => region,
            _ => return None,
        };
        let address = base.wrapping_add(value);
        let is_indirect = encoding & 0x80 != 0;
        // SAFETY: the table says that the pointer is there.
        Some(if is_indirect {
            unsafe { std::ptr::with_exposed_provenance::<usize>(address).read() }
        } else {
            address
        })
    }
}

/// A landing pad with the number of the handler; 0 for one that only cleans up.
struct Landing {
    pad: usize,
    handler: isize,
}

/// True if a handler catches an object. `None`: an exception of another language.
fn catches(handler: usize, object: Option<Id>) -> bool {
    if handler == 0 {
        return true;
    }
    // SAFETY: the compiler emits names of classes for handlers.
    let name = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance::<c_char>(handler)) };
    match object {
        None => false,
        Some(_) if name == c"@id" => true,
        Some(object) => find(name).zip(object.class()).is_some_and(|(wanted, class)| class.is_kind_of(wanted)),
    }
}

/// The landing pad of the frame at hand; `None` if it has none for this exception.
unsafe fn landing(context: *mut Context, object: Option<Id>) -> Option<Landing> {
    const OMITTED: u8 = 0xff;
    // SAFETY: the unwinder's context; the tables are those of the frame's function.
    let (table, region, position) = unsafe {
        (
            _Unwind_GetLanguageSpecificData(context),
            _Unwind_GetRegionStart(context),
            // The address is behind the call.
            _Unwind_GetIP(context).wrapping_sub(1),
        )
    };
    if table.is_null() {
        return None;
    }
    let mut reader = Reader(table);
    let start = match reader.byte() {
        OMITTED => region,
        encoding => reader.pointer(encoding, region)?,
    };
    let type_encoding = reader.byte();
    let types = (type_encoding != OMITTED).then(|| {
        let length = reader.leb(false);
        reader.0.wrapping_offset(length)
    });
    let encoding = reader.byte();
    let length = reader.leb(false);
    let actions = reader.0.wrapping_offset(length);
    while reader.0 < actions {
        let begin = reader.pointer(encoding, region)?;
        let size = reader.pointer(encoding, region)?;
        let pad = reader.pointer(encoding, region)?;
        let action = reader.leb(false);
        if !(region + begin..region + begin + size).contains(&position) {
            continue;
        }
        if pad == 0 {
            return None;
        }
        let pad = start + pad;
        if action == 0 {
            return Some(Landing { pad, handler: 0 });
        }
        let handler = handler(actions.wrapping_offset(action - 1), types, type_encoding, region, object)?;
        return Some(Landing { pad, handler });
    }
    None
}

/// The first handler of a chain of actions that catches the object; 0 if there is only something to clean up.
fn handler(
    first: *const u8,
    types: Option<*const u8>,
    encoding: u8,
    region: usize,
    object: Option<Id>,
) -> Option<isize> {
    let size = match encoding & 15 {
        2 | 10 => 2,
        3 | 11 => 4,
        _ => 8,
    };
    let (mut action, mut cleans_up) = (Reader(first), false);
    loop {
        let filter = action.leb(true);
        let link = action.0;
        let next = action.leb(true);
        if filter > 0 {
            let place = types?.wrapping_offset(-filter * size);
            if catches(Reader(place).pointer(encoding, region)?, object) {
                return Some(filter);
            }
        }
        cleans_up |= filter == 0;
        if next == 0 {
            return cleans_up.then_some(0);
        }
        action = Reader(link.wrapping_offset(next));
    }
}

/// The personality of functions with handlers.
///
/// # Safety
///
/// Called by the unwinder.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __gnustep_objc_personality_v0(
    version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut Unwinding,
    context: *mut Context,
) -> c_int {
    if version != 1 {
        return FATAL;
    }
    // SAFETY: as the caller promises.
    unsafe {
        let object = object_of(class, exception);
        let Some(Landing { pad, handler }) = landing(context, object) else { return CONTINUE_UNWIND };
        if actions & SEARCH != 0 {
            return if handler > 0 { HANDLER_FOUND } else { CONTINUE_UNWIND };
        }
        // While it cleans up, only the frame that the search found handles the exception.
        let handler = if actions & HANDLER_FRAME != 0 { handler } else { 0 };
        _Unwind_SetGR(context, REGISTERS[0], exception.cast::<c_void>().expose_provenance());
        _Unwind_SetGR(context, REGISTERS[1], handler.cast_unsigned());
        _Unwind_SetIP(context, pad);
    }
    INSTALL_CONTEXT
}

/// That of functions in Objective-C++, which catch objects and exceptions of C++.
///
/// # Safety
///
/// Called by the unwinder.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __gnustep_objcxx_personality_v0(
    version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut Unwinding,
    context: *mut Context,
) -> c_int {
    // SAFETY: as the caller promises. Without C++'s library, the frame has no handlers.
    unsafe {
        exception_cpp::personality(version, actions, class, exception, context, class == OURS)
            .unwrap_or(CONTINUE_UNWIND)
    }
}
