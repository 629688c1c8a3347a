//! NSCharacterSet, and NSScanner for words between separators.

use super::object::NS_OBJECT;
use super::string;
use crate::runtime::object::retain;
use crate::runtime::{Fields, Id, Strong};
use std::ffi::c_void;

/// A set of characters.
#[derive(Clone)]
pub(crate) struct Characters {
    kind: CharacterKind,
    is_inverted: bool,
}

#[derive(Clone)]
enum CharacterKind {
    /// Spaces and tabs.
    White,
    Newline,
    WhiteOrNewline,
    Digit,
    Letter,
    Alphanumeric,
    Listed(String),
}

impl Characters {
    pub(crate) fn contains(&self, character: char) -> bool {
        let is_newline = matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let is_white = character.is_whitespace() && !is_newline;
        let is_inside = match &self.kind {
            CharacterKind::White => is_white,
            CharacterKind::Newline => is_newline,
            CharacterKind::WhiteOrNewline => is_white || is_newline,
            CharacterKind::Digit => character.is_numeric() && !character.is_alphabetic(),
            CharacterKind::Letter => character.is_alphabetic(),
            CharacterKind::Alphanumeric => character.is_alphanumeric(),
            CharacterKind::Listed(listed) => listed.contains(character),
        };
        is_inside != self.is_inverted
    }
}

fn set(kind: CharacterKind) -> Id {
    Strong::new(Characters { kind, is_inverted: false }).autorelease()
}

class! {
    NS_CHARACTER_SET = "NSCharacterSet": NS_OBJECT, new Characters, ["NSCopying", "NSMutableCopying", "NSCoding"]
    methods {
        + "whitespaceCharacterSet" (_class) -> Id { set(CharacterKind::White) }
        + "newlineCharacterSet" (_class) -> Id { set(CharacterKind::Newline) }
        + "whitespaceAndNewlineCharacterSet" (_class) -> Id { set(CharacterKind::WhiteOrNewline) }
        + "decimalDigitCharacterSet" (_class) -> Id { set(CharacterKind::Digit) }
        + "letterCharacterSet" (_class) -> Id { set(CharacterKind::Letter) }
        + "alphanumericCharacterSet" (_class) -> Id { set(CharacterKind::Alphanumeric) }
        + "characterSetWithCharactersInString:" (_class, text: Id) -> Id { set(CharacterKind::Listed(string::describe(text))) }
        - "invertedSet" (this) -> Id {
            Strong::new(Characters { is_inverted: !this.is_inverted, ..(*this).clone() }).autorelease()
        }
        - "characterIsMember:" (this, unit: u16) -> bool { char::from_u32(unit.into()).is_some_and(|unit| this.contains(unit)) }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
    }
}

/// A text and the place in it.
pub(crate) struct Scan {
    text: Strong,
    rest: String,
    skipped: Strong,
    length: usize,
}

impl Scan {
    fn new(text: Id) -> Scan {
        let rest = string::describe(text);
        let skipped = Strong::new(Characters { kind: CharacterKind::WhiteOrNewline, is_inverted: false });
        Scan { text: Strong::retain(text), length: rest.encode_utf16().count(), rest, skipped }
    }

    /// The rest without the characters that are skipped.
    fn skip(&self) -> &str {
        let skipped = self.skipped.cast::<Characters>();
        self.rest.trim_start_matches(|character| skipped.is_some_and(|skipped| skipped.contains(character)))
    }

    /// Goes on behind the first `length` bytes after those that are skipped, and stores them; false if there are none.
    fn take(&mut self, length: Option<usize>, to: *mut Id) -> bool {
        let Some(length) = length.filter(|length| *length > 0) else { return false };
        let rest = self.skip();
        let taken = string::new(&rest[..length]);
        self.rest = rest[length..].to_owned();
        if !to.is_null() {
            taken.autorelease().store(to);
        }
        true
    }
}

/// The length of a number at the beginning of a text.
fn number(text: &str) -> Option<usize> {
    let digits = text.trim_start_matches(['-', '+']);
    let sign = text.len() - digits.len();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    (sign <= 1 && count > 0).then_some(sign + count)
}

class! {
    NS_SCANNER = "NSScanner": NS_OBJECT, new Fields<Scan>, ["NSCopying"]
    methods {
        + "scannerWithString:" (_class, text: Id) -> Id { Strong::new(Fields::new(Scan::new(text))).autorelease() }
        - "initWithString:" (this, text: Id) -> Id { this.set(Fields::new(Scan::new(text))) }
        - "string" (this) -> Id { this.lock().text.clone().autorelease() }
        - "isAtEnd" (this) -> bool { this.lock().skip().is_empty() }
        - "scanLocation" (this) -> usize {
            let scan = this.lock();
            scan.length - scan.rest.encode_utf16().count()
        }
        - "charactersToBeSkipped" (this) -> Id { this.lock().skipped.clone().autorelease() }
        - "setCharactersToBeSkipped:" (this, set: Id) {
            let _old = std::mem::replace(&mut this.lock().skipped, Strong::retain(set));
        }
        - "scanString:intoString:" (this, text: Id, to: *mut Id) -> bool {
            let (text, mut scan) = (string::describe(text), this.lock());
            let length = scan.skip().starts_with(&text).then_some(text.len());
            scan.take(length, to)
        }
        - "scanUpToString:intoString:" (this, text: Id, to: *mut Id) -> bool {
            let (text, mut scan) = (string::describe(text), this.lock());
            let rest = scan.skip();
            let length = rest.find(&text).unwrap_or(rest.len());
            scan.take(Some(length), to)
        }
        - "scanCharactersFromSet:intoString:" (this, set: Id, to: *mut Id) -> bool {
            let Some(set) = set.expect::<Characters>(HERE, "set") else { return false };
            let mut scan = this.lock();
            let rest = scan.skip();
            let length = rest.len() - rest.trim_start_matches(|character| set.contains(character)).len();
            scan.take(Some(length), to)
        }
        - "scanUpToCharactersFromSet:intoString:" (this, set: Id, to: *mut Id) -> bool {
            let Some(set) = set.expect::<Characters>(HERE, "set") else { return false };
            let mut scan = this.lock();
            let rest = scan.skip();
            let length = rest.find(|character| set.contains(character)).unwrap_or(rest.len());
            scan.take(Some(length), to)
        }
        - "scanInt:" (this, to: *mut i32) -> bool {
            let mut scan = this.lock();
            let Some(length) = number(scan.skip()) else { return false };
            let value: i64 = scan.skip()[..length].parse().unwrap_or(i64::MAX);
            // SAFETY: the caller passes null or a place for it.
            if let Some(to) = unsafe { to.as_mut() } {
                *to = value.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            }
            scan.take(Some(length), std::ptr::null_mut())
        }
    }
}
