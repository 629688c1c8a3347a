//! Reports of a program's mistakes, in the words of Metal's debug layer where it has some.
//!
//! | `MTL_DEBUG_LAYER_ERROR_MODE` | a mistake |
//! |---|---|
//! | `assert`, the default | is printed, and ends the process |
//! | `nslog` | is printed; the call does nothing |
//! | `ignore` | the call does nothing |
//!
//! `MTL_DEBUG_LAYER=0` turns off the rules that a Mac does not enforce without the layer, and that programs rely on.

pub(crate) mod leaks;
mod messages;
pub(crate) mod zombie;

use crate::runtime::{Class, Id};
use std::ffi::CStr;
use std::fmt::Arguments;
use std::sync::OnceLock;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorMode {
    Assert,
    Print,
    Ignore,
}

fn mode() -> ErrorMode {
    static MODE: OnceLock<ErrorMode> = OnceLock::new();
    *MODE.get_or_init(|| match std::env::var("MTL_DEBUG_LAYER_ERROR_MODE").as_deref() {
        Ok("nslog") => ErrorMode::Print,
        Ok("ignore") => ErrorMode::Ignore,
        _ => ErrorMode::Assert,
    })
}

/// True if the program turned the layer off.
pub(crate) fn is_off() -> bool {
    static OFF: OnceLock<bool> = OnceLock::new();
    *OFF.get_or_init(|| std::env::var_os("MTL_DEBUG_LAYER").is_some_and(|value| value == "0"))
}

#[allow(clippy::print_stderr, reason = "the framework has no other way to reach the user, as Metal")]
fn print(line: Arguments) {
    eprintln!("{line}");
}

/// Prints a line of the program's (`NSLog`).
pub(crate) fn log(line: &str) {
    print(format_args!("{line}"));
}

/// Ends the process with a message.
pub(crate) fn fatal(message: Arguments) -> ! {
    print(message);
    std::process::abort()
}

fn report(message: Arguments) {
    match mode() {
        ErrorMode::Assert => fatal(message),
        ErrorMode::Print => print(message),
        ErrorMode::Ignore => {}
    }
}

/// Reports a broken rule. `here` is the method, as `-[MTLDebugCommandBuffer commit]`.
pub(crate) fn fail(here: &str, message: Arguments) {
    report(format_args!("{here}: failed assertion `{message}'"));
}

/// True if a mistake ends the process: then a message that is not understood is an exception, as in Foundation.
pub(crate) fn ends_process() -> bool {
    mode() == ErrorMode::Assert
}

/// The text about a message that the receiver does not understand.
pub(crate) fn not_understood(class: &'static Class, selector: &CStr, receiver: Id) -> String {
    let is_absent =
        class.chain().flat_map(|class| class.data.absent).any(|absent| absent.as_bytes() == selector.to_bytes());
    let hint = if is_absent { " (Apple's class has it; it is absent on Linux)" } else { "" };
    let (sign, what) = if class.is_meta() { ("+", "class") } else { ("-", "instance") };
    let (name, selector) = (class.name(), selector.to_string_lossy());
    format!("{sign}[{name} {selector}]: unrecognized selector sent to {what} {:p}{hint}", receiver.0)
}

/// Reports a message that the receiver does not understand.
pub(crate) fn unrecognized(class: &'static Class, selector: &CStr, receiver: Id) {
    report(format_args!("*** {}", not_understood(class, selector, receiver)));
}

/// Reports a message that is refused, with the reason.
pub(crate) fn refuse(class: &Class, selector: &CStr, why: &str) {
    let (name, selector) = (class.name(), selector.to_string_lossy());
    report(format_args!("-[{name} {selector}]: failed assertion `{why}'"));
}

/// Throws an exception of Foundation if it holds that a rule is broken.
macro_rules! throw_if {
    ($name:ident, $here:expr, $broken:expr, $($message:tt)*) => {
        if $broken {
            let reason = format!("*** {}: {}", $here, format_args!($($message)*));
            $crate::foundation::error::raise(&$crate::foundation::error::$name, &reason);
        }
    };
}

/// Reports a broken rule and returns from the method, if it holds that the rule is broken.
macro_rules! forbid {
    ($here:expr, $broken:expr, (), $($message:tt)*) => {
        if $broken {
            $crate::debug::fail($here, format_args!($($message)*));
            return;
        }
    };
    ($here:expr, $broken:expr, $result:expr, $($message:tt)*) => {
        if $broken {
            $crate::debug::fail($here, format_args!($($message)*));
            return $result;
        }
    };
}
