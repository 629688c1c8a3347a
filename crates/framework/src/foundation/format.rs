//! Text from formats with variable arguments: C's conversions, and `%@` for objects.

use super::string::{self, NS_STRING, Text};
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Id, Object, Sel};
use std::ffi::{CStr, CString, c_char};

/// One conversion: flags, width and precision as C takes them, the size of the argument, the letter.
struct Conversion {
    options: String,
    size: String,
    letter: char,
}

/// Reads the conversion after a percent sign; `*` takes its number from the arguments. `None` at the end of the text.
fn conversion(characters: &mut std::str::Chars, arguments: &mut Variable) -> Option<Conversion> {
    let (mut options, mut size) = (String::new(), String::new());
    loop {
        match characters.next()? {
            '*' => options.push_str(&(arguments.word() as i32).to_string()),
            option @ ('-' | '+' | ' ' | '#' | '0'..='9' | '.' | '\'') => options.push(option),
            length @ ('h' | 'l' | 'q' | 'z' | 't' | 'j' | 'L') => size.push(length),
            letter => return Some(Conversion { options, size, letter }),
        }
    }
}

/// An argument for C.
#[derive(Clone, Copy)]
enum Argument<'a> {
    Integer(u64),
    Double(f64),
    Text(&'a CStr),
}

/// The text that C makes of one argument.
fn printed(options: &str, letters: &str, argument: Argument) -> String {
    let Ok(format) = CString::new(format!("%{options}{letters}")) else { return String::new() };
    let mut buffer = vec![0u8; 128];
    loop {
        let (to, room, format) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len(), format.as_ptr());
        // SAFETY: the format has one conversion, for an argument of this type; the buffer has the room it is given.
        let length = unsafe {
            match argument {
                Argument::Integer(integer) => libc::snprintf(to, room, format, integer),
                Argument::Double(double) => libc::snprintf(to, room, format, double),
                Argument::Text(text) => libc::snprintf(to, room, format, text.as_ptr()),
            }
        };
        let Ok(length) = usize::try_from(length) else { return String::new() };
        if length < room {
            buffer.truncate(length);
            return String::from_utf8_lossy(&buffer).into_owned();
        }
        buffer.resize(length + 1, 0);
    }
}

/// An integer argument of the size that a conversion names, as the largest type.
fn integer(word: usize, size: &str, is_signed: bool) -> u64 {
    match (size, is_signed) {
        ("hh", true) => i64::from(word as i8) as u64,
        ("hh", false) => u64::from(word as u8),
        ("h", true) => i64::from(word as i16) as u64,
        ("h", false) => u64::from(word as u16),
        ("", true) => i64::from(word as i32) as u64,
        ("", false) => u64::from(word as u32),
        _ => word as u64,
    }
}

/// The text of a format with its arguments.
pub(crate) fn text(format: &str, arguments: &mut Variable) -> String {
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let Some(Conversion { options, size, letter }) = conversion(&mut characters, arguments) else { break };
        match letter {
            '%' => text.push('%'),
            '@' => {
                let described = CString::new(string::describe(arguments.object())).unwrap_or_default();
                text.push_str(&printed(&options, "s", Argument::Text(&described)));
            }
            's' => {
                let pointer = arguments.pointer().cast::<c_char>();
                // SAFETY: the program passes a C string or null.
                let own = if pointer.is_null() { c"(null)" } else { unsafe { CStr::from_ptr(pointer) } };
                text.push_str(&printed(&options, "s", Argument::Text(own)));
            }
            'd' | 'i' | 'D' => {
                let value = integer(arguments.word(), &size, true);
                text.push_str(&printed(&options, "lld", Argument::Integer(value)));
            }
            'u' | 'U' | 'x' | 'X' | 'o' | 'O' => {
                let value = integer(arguments.word(), &size, false);
                let letters = format!("ll{}", letter.to_string().replace('U', "u").replace('O', "o"));
                text.push_str(&printed(&options, &letters, Argument::Integer(value)));
            }
            'c' | 'C' => text.extend(char::from_u32(arguments.word() as u32 & 0x1f_ffff)),
            'p' => text.push_str(&printed(&options, "p", Argument::Integer(arguments.word() as u64))),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                text.push_str(&printed(&options, &letter.to_string(), Argument::Double(arguments.double())));
            }
            other => {
                crate::debug::fail("stringWithFormat:", format_args!("'%{other}' is no conversion that is known."));
            }
        }
    }
    text
}

fn made(class: &'static Class, text: &str) -> Id {
    Object::<Text>::allocate(class).set(Text::new(text)).autorelease()
}

pub(crate) extern "C-unwind" fn string_with_format(
    class: &'static Class,
    _: Sel,
    format: Id,
    arguments: &mut Variable,
) -> Id {
    made(class, &text(&string::describe(format), arguments))
}

pub(crate) extern "C-unwind" fn init_with_format(
    this: Object<Text>,
    _: Sel,
    format: Id,
    arguments: &mut Variable,
) -> Id {
    this.set(Text::new(&text(&string::describe(format), arguments)))
}

extern "C-unwind" fn appending(this: Object<Text>, _: Sel, format: Id, arguments: &mut Variable) -> Id {
    made(&NS_STRING, &format!("{}{}", this.as_str(), text(&string::describe(format), arguments)))
}

extern "C-unwind" fn append(this: Object<Text>, _: Sel, format: Id, arguments: &mut Variable) -> Id {
    let more = text(&string::describe(format), arguments);
    string::append(this, &more);
    Id::NIL
}

extern "C" fn log(format: Id, arguments: &mut Variable) {
    NSLogv(format, arguments);
}

/// Prints a line to the standard error output.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSLogv(format: Id, arguments: &mut Variable) {
    crate::debug::log(&text(&string::describe(format), arguments));
}

variadic! {
    with_format => string_with_format, 3;
    initialized_with_format => init_with_format, 3;
    appending_format => appending, 3;
    append_format => append, 3;
    /// Prints a line to the standard error output.
    #[unsafe(no_mangle)]
    NSLog => log, 1;
}
