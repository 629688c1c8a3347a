//! Strings in encodings, and the order and search of strings.

use super::string::Text;
use crate::runtime::Range;
use std::cmp::Ordering;

pub(super) const ASCII: usize = 1;
pub(super) const UTF8: usize = 4;
pub(super) const UTF16: [usize; 2] = [10, 0x9400_0100];

/// The text of bytes in an encoding.
pub(super) fn decode(bytes: &[u8], encoding: usize) -> Option<Text> {
    match encoding & 0xffff_ffff {
        ASCII | UTF8 => std::str::from_utf8(bytes).ok().map(Text::new),
        encoding if UTF16.contains(&encoding) => {
            let units = bytes.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]]));
            let text: Result<String, _> = char::decode_utf16(units).collect();
            text.ok().map(|text| Text::new(&text))
        }
        _ => None,
    }
}

/// The number that a text begins with.
pub(super) fn leading(text: &str, is_floating: bool) -> &str {
    let text = text.trim_start();
    let is_part = |(at, character): &(usize, char)| match character {
        '0'..='9' => true,
        '-' | '+' => *at == 0 || is_floating && text[..*at].ends_with(['e', 'E']),
        '.' | 'e' | 'E' => is_floating,
        _ => false,
    };
    let end = text.char_indices().take_while(is_part).count();
    &text[..end]
}

/// `NSCaseInsensitiveSearch`
const IGNORES_CASE: usize = 1;
/// `NSBackwardsSearch`
const BACKWARDS: usize = 4;
/// `NSAnchoredSearch`
const ANCHORED: usize = 8;
/// `NSNumericSearch`
const NUMERIC: usize = 64;

/// The order of two strings.
pub(super) fn order(left: &str, right: &str, options: usize) -> Ordering {
    if options & IGNORES_CASE != 0 {
        return order(&left.to_lowercase(), &right.to_lowercase(), options & !IGNORES_CASE);
    }
    if options & NUMERIC == 0 {
        return left.cmp(right);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (mut left, mut right) = (left, right);
    loop {
        let (own, other) = (digits(left), digits(right));
        let numbers = (left[..own].trim_start_matches('0'), right[..other].trim_start_matches('0'));
        let (first, second) = match own > 0 && other > 0 {
            true if numbers.0 != numbers.1 => {
                return numbers.0.len().cmp(&numbers.1.len()).then_with(|| numbers.0.cmp(numbers.1));
            }
            true => (own, other),
            false => match (left.chars().next(), right.chars().next()) {
                (Some(first), Some(second)) if first == second => (first.len_utf8(), second.len_utf8()),
                (first, second) => return first.cmp(&second),
            },
        };
        (left, right) = (&left[first..], &right[second..]);
    }
}

/// The first place of a string in another, in units of UTF-16, or the last one; `NSNotFound` if there is none.
pub(super) fn range_of(text: &str, wanted: &str, options: usize, within: Range) -> Range {
    // The largest signed number.
    const NOT_FOUND: Range = Range { location: isize::MAX as usize, length: 0 };
    // Folding case must not change the number of units.
    let fold = |text: &str| -> Vec<u16> {
        let lower = |unit: u16| match char::from_u32(unit.into()).map(|character| character.to_lowercase()) {
            Some(mut lower) if lower.len() == 1 => {
                lower.next().and_then(|lower| (lower as u32).try_into().ok()).unwrap_or(unit)
            }
            _ => unit,
        };
        let units = text.encode_utf16();
        if options & IGNORES_CASE != 0 { units.map(lower).collect() } else { units.collect() }
    };
    let (text, wanted) = (fold(text), fold(wanted));
    let end = within.location.saturating_add(within.length).min(text.len());
    let Some(inside) = text.get(within.location..end).filter(|_| !wanted.is_empty()) else { return NOT_FOUND };
    let mut places =
        inside.windows(wanted.len()).enumerate().filter(|(_, part)| **part == *wanted).map(|(at, _)| at);
    let at = match (options & ANCHORED != 0, options & BACKWARDS != 0) {
        (false, false) => places.next(),
        (false, true) => places.next_back(),
        (true, false) => inside.starts_with(&wanted).then_some(0),
        (true, true) => inside.ends_with(&wanted).then(|| inside.len() - wanted.len()),
    };
    at.map_or(NOT_FOUND, |at| Range { location: within.location + at, length: wanted.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Range = Range { location: 0, length: usize::MAX };

    #[test]
    fn finds_in_units() {
        let at =
            |text, wanted, options| Some(range_of(text, wanted, options, ALL).location).filter(|at| *at < 1000);
        assert_eq!(at("😀 Hello", "hello", IGNORES_CASE), Some(3));
        assert_eq!(at("😀 Hello", "hello", 0), None);
        assert_eq!(at("abab", "ab", BACKWARDS), Some(2));
        assert_eq!(at("abab", "b", ANCHORED), None);
        assert_eq!(at("abab", "b", ANCHORED | BACKWARDS), Some(3));
        assert_eq!(at("a", "abc", 0), None);
        assert_eq!(at("a", "", 0), None);
    }

    #[test]
    fn orders_by_case_and_numbers() {
        assert_eq!(order("ABC", "abc", IGNORES_CASE), Ordering::Equal);
        assert_eq!(order("v10", "v9", 0), Ordering::Less);
        assert_eq!(order("v10", "v9", NUMERIC), Ordering::Greater);
        assert_eq!(order("v007", "v7", NUMERIC), Ordering::Equal);
        assert_eq!(order("a", "a1", NUMERIC), Ordering::Less);
    }
}
