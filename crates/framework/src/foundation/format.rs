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
    /// The number of the argument, from 1, if the format has numbers: `%2$@`.
    number: Option<usize>,
}

/// The most arguments of a format with numbers.
const MOST_NUMBERED: usize = 64;

/// Reads the conversion after a percent sign; `star` gives the numbers for `*`. `None` at the end of the text.
fn conversion(characters: &mut std::str::Chars, mut star: impl FnMut() -> i32) -> Option<Conversion> {
    let (mut options, mut size, mut number) = (String::new(), String::new(), None);
    loop {
        match characters.next()? {
            '*' => options.push_str(&star().to_string()),
            '$' => {
                number =
                    std::mem::take(&mut options).parse().ok().filter(|number| (1..=MOST_NUMBERED).contains(number))
            }
            option @ ('-' | '+' | ' ' | '#' | '0'..='9' | '.' | '\'') => options.push(option),
            length @ ('h' | 'l' | 'q' | 'z' | 't' | 'j' | 'L') => size.push(length),
            letter => return Some(Conversion { options, size, letter, number }),
        }
    }
}

fn is_floating(letter: char) -> bool {
    matches!(letter, 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A')
}

/// The arguments of a format: one after the other, or all read before they are asked for by number.
struct Arguments<'a> {
    list: &'a mut Variable,
    /// The bits of each.
    numbered: Vec<u64>,
}

impl<'a> Arguments<'a> {
    fn new(format: &str, list: &'a mut Variable) -> Arguments<'a> {
        let (mut kinds, mut characters) = (Vec::new(), format.chars());
        while characters.find(|character| *character == '%').is_some() {
            let Some(Conversion { letter, number, .. }) = conversion(&mut characters, || 0) else { break };
            if let Some(number) = number {
                kinds.resize(kinds.len().max(number), false);
                kinds[number - 1] = is_floating(letter);
            }
        }
        let read = |is_floating: &bool| if *is_floating { list.double().to_bits() } else { list.word() as u64 };
        let numbered = kinds.iter().map(read).collect();
        Arguments { list, numbered }
    }

    fn word(&mut self, number: Option<usize>) -> usize {
        match number.and_then(|number| self.numbered.get(number - 1)) {
            Some(bits) => *bits as usize,
            None => self.list.word(),
        }
    }

    fn double(&mut self, number: Option<usize>) -> f64 {
        match number.and_then(|number| self.numbered.get(number - 1)) {
            Some(bits) => f64::from_bits(*bits),
            None => self.list.double(),
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
pub(crate) fn text(format: &str, list: &mut Variable) -> String {
    let mut text = String::new();
    let mut arguments = Arguments::new(format, list);
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let found = conversion(&mut characters, || arguments.word(None) as i32);
        let Some(Conversion { options, size, letter, number }) = found else { break };
        match letter {
            '%' => text.push('%'),
            '@' => {
                let described = CString::new(string::describe(Id(std::ptr::with_exposed_provenance_mut(
                    arguments.word(number),
                ))))
                .unwrap_or_default();
                text.push_str(&printed(&options, "s", Argument::Text(&described)));
            }
            's' => {
                let pointer = std::ptr::with_exposed_provenance::<c_char>(arguments.word(number));
                // SAFETY: the program passes a C string or null.
                let own = if pointer.is_null() { c"(null)" } else { unsafe { CStr::from_ptr(pointer) } };
                text.push_str(&printed(&options, "s", Argument::Text(own)));
            }
            'd' | 'i' | 'D' => {
                let value = integer(arguments.word(number), &size, true);
                text.push_str(&printed(&options, "lld", Argument::Integer(value)));
            }
            'u' | 'U' | 'x' | 'X' | 'o' | 'O' => {
                let value = integer(arguments.word(number), &size, false);
                let letters = format!("ll{}", letter.to_string().replace('U', "u").replace('O', "o"));
                text.push_str(&printed(&options, &letters, Argument::Integer(value)));
            }
            'c' | 'C' => text.extend(char::from_u32(arguments.word(number) as u32 & 0x1f_ffff)),
            'p' => text.push_str(&printed(&options, "p", Argument::Integer(arguments.word(number) as u64))),
            'S' => {
                let pointer = std::ptr::with_exposed_provenance::<u16>(arguments.word(number));
                // SAFETY: the program passes units of UTF-16 with a zero at their end.
                let units = (0..).map(|at| unsafe { pointer.add(at).read() }).take_while(|unit| *unit != 0);
                text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{fffd}')));
            }
            letter if is_floating(letter) => {
                text.push_str(&printed(&options, &letter.to_string(), Argument::Double(arguments.double(number))));
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
