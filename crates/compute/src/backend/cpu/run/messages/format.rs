//! Formats of messages: C's conversions, and vectors as in `%v4f`. The values are printed by their own types, so that a wrong
//! conversion gives a wrong number and nothing worse.

use half::{bf16, f16};
use std::ffi::{CString, c_char, c_int};

/// A format and the types of its arguments, such as `u32 f32x4 p`.
pub(super) struct Format<'a> {
    pub(super) text: &'a str,
    pub(super) types: &'a str,
    /// The text at an address among the kernel's constants.
    pub(super) constant: &'a dyn Fn(u64) -> Option<String>,
}

/// A component of an argument.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Pointer(u64),
}

/// A conversion: `%-8.3v4hlf`.
struct Conversion<'t> {
    /// Flags, width and precision.
    options: &'t str,
    kind: char,
}

/// Widths and precisions are limited to three digits.
const MOST_OPTIONS: usize = 12;

impl Format<'_> {
    /// The text with these arguments.
    pub(super) fn with(&self, words: &[u32]) -> String {
        let mut arguments = arguments(self.types, words).into_iter();
        let mut result = String::new();
        let mut rest = self.text;
        while let Some(at) = rest.find('%') {
            result += &rest[..at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                result.push('%');
                rest = after;
                continue;
            }
            let Some((conversion, after)) = Conversion::parse(rest) else {
                result.push('%');
                continue;
            };
            rest = after;
            match arguments.next() {
                Some(components) => {
                    let parts: Vec<String> =
                        components.into_iter().map(|part| self.print(&conversion, part)).collect();
                    result += &parts.join(",");
                }
                None => result += "(no argument)",
            }
        }
        result + rest
    }

    fn print(&self, conversion: &Conversion, number: Number) -> String {
        let signed = |number: Number| match number {
            Number::Signed(number) => number,
            Number::Unsigned(number) | Number::Pointer(number) => number as i64,
            Number::Float(number) => number as i64,
        };
        let options = conversion.options;
        match conversion.kind {
            'd' | 'i' => print_c(&format!("%{options}lld"), signed(number)),
            kind @ ('u' | 'o' | 'x' | 'X') => print_c(&format!("%{options}ll{kind}"), signed(number)),
            'c' => (signed(number) as u8 as char).to_string(),
            's' => match number {
                Number::Pointer(address) => (self.constant)(address).unwrap_or_else(|| format!("{address:#x}")),
                number => self.print(&Conversion { options, kind: 'd' }, number),
            },
            'p' => format!("{:#x}", signed(number)),
            kind => {
                let number = match number {
                    Number::Signed(number) => number as f64,
                    Number::Unsigned(number) | Number::Pointer(number) => number as f64,
                    Number::Float(number) => number,
                };
                print_c(&format!("%{options}{kind}"), number)
            }
        }
    }
}

impl<'t> Conversion<'t> {
    /// Parses what follows a `%`; returns what is left.
    fn parse(text: &'t str) -> Option<(Conversion<'t>, &'t str)> {
        let is_option = |c: char| "-+ #.".contains(c) || c.is_ascii_digit();
        let options = text.find(|c| !is_option(c))?;
        let mut rest = &text[options..];
        if let Some(vector) = rest.strip_prefix('v') {
            rest = vector.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let rest = rest.trim_start_matches(['h', 'l', 'j', 'z', 't', 'q']);
        let kind = rest.chars().next().filter(|kind| "diuoxXcspfFeEgGaA".contains(*kind))?;
        let is_fine = options <= MOST_OPTIONS && text[..options].split(['.', '-', '+']).all(|part| part.len() <= 4);
        is_fine.then_some((Conversion { options: &text[..options], kind }, &rest[1..]))
    }
}

/// Prints one number by the C library.
fn print_c<T: CNumber>(format: &str, number: T) -> String {
    let Ok(format) = CString::new(format) else { return String::new() };
    // A float has at most 309 digits before the point; widths and precisions have at most four.
    let mut bytes = vec![0_u8; 20_480];
    // SAFETY: the format has one conversion, for a number of this type, and the text is cut at the end of the memory.
    let len = unsafe { number.print(bytes.as_mut_ptr().cast(), bytes.len(), format.as_ptr()) };
    bytes.truncate(usize::try_from(len).unwrap_or(0).min(bytes.len() - 1));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A number that `snprintf` takes.
trait CNumber: Copy {
    /// # Safety
    ///
    /// `text` has room for `len` bytes, and `format` has one conversion for this type.
    unsafe fn print(self, text: *mut c_char, len: usize, format: *const c_char) -> c_int;
}

impl CNumber for i64 {
    unsafe fn print(self, text: *mut c_char, len: usize, format: *const c_char) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { libc::snprintf(text, len, format, self) }
    }
}

impl CNumber for f64 {
    unsafe fn print(self, text: *mut c_char, len: usize, format: *const c_char) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { libc::snprintf(text, len, format, self) }
    }
}

/// The arguments of these types, each with its components.
fn arguments(types: &str, words: &[u32]) -> Vec<Vec<Number>> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut found = Vec::new();
    let mut at = 0;
    for ty in types.split_whitespace() {
        let (letter, size) = ty.split_at(1);
        let (bits, count) = match size.split_once('x') {
            Some((bits, count)) => (bits, count.parse().ok()),
            None => (size, None::<usize>),
        };
        let size = if letter == "p" { 8 } else { bits.parse::<usize>().unwrap_or(32) / 8 };
        let room = size * count.map_or(1, usize::next_power_of_two);
        at = usize::next_multiple_of(at, room.clamp(4, 16));
        let part = |index: usize| number(letter, bytes.get(at + index * size..at + (index + 1) * size));
        found.push((0..count.unwrap_or(1)).map(part).collect());
        at += room.next_multiple_of(4);
    }
    found
}

fn number(letter: &str, bytes: Option<&[u8]>) -> Number {
    let bytes = bytes.unwrap_or_default();
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unsigned = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len().max(1) as u32;
    match letter {
        "i" => Number::Signed((unsigned << unused) as i64 >> unused),
        "f" => Number::Float(f32::from_bits(unsigned as u32).into()),
        "h" => Number::Float(f16::from_bits(unsigned as u16).into()),
        "b" => Number::Float(bf16::from_bits(unsigned as u16).into()),
        "p" => Number::Pointer(unsigned),
        _ => Number::Unsigned(unsigned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, types: &str, words: &[u32]) -> String {
        Format { text, types, constant: &|address| (address == 16).then(|| "text".into()) }.with(words)
    }

    #[test]
    fn conversions_are_those_of_c() {
        assert_eq!(
            print("%d %u %x|%5d|%-5d|%05d", "i32 u32 u32 i32 i32 i32", &[!0, !0, 255, 7, 7, 7]),
            "-1 4294967295 ff|    7|7    |00007"
        );
        let float = 1.5_f32.to_bits();
        assert_eq!(print("%f %.2f %e %g", "f32 f32 f32 f32", &[float; 4]), "1.500000 1.50 1.500000e+00 1.5");
        assert_eq!(print("100%% %c %s", "u32 p", &[65, 0, 16, 0]), "100% A text");
        assert_eq!(print("%ld %lu", "i64 u64", &[!0, !0, 1, 1]), "-1 4294967297");
    }

    #[test]
    fn vectors_have_commas() {
        let words: Vec<u32> = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_bits).to_vec();
        assert_eq!(print("%v4hlf", "f32x4", &words), "1.000000,2.000000,3.000000,4.000000");
        assert_eq!(print("%v3d", "i32x3", &[1, 2, 3, 0]), "1,2,3");
        assert_eq!(print("%v2hf", "h16x2", &[0x4000_3c00]), "1.000000,2.000000");
        assert_eq!(print("%v4hhd", "i8x4", &[0xff02_0100]), "0,1,2,-1");
    }

    #[test]
    fn wrong_formats_do_no_harm() {
        assert_eq!(print("%d", "", &[]), "(no argument)");
        assert_eq!(print("%", "i32", &[1]), "%");
        assert_eq!(print("%n %y", "i32", &[1]), "%n %y");
        assert_eq!(print("%s", "i32", &[7]), "7");
        assert_eq!(print("%s", "p", &[8, 0]), "0x8");
        assert_eq!(print("%99999999d", "i32", &[7]), "%99999999d");
        assert_eq!(print("%f", "i32", &[7]), "7.000000");
    }
}
