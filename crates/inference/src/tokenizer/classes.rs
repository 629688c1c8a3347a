//! Character classes of pre-tokenizers.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Class of a character: `\p{L}`, `\p{M}`, `\p{N}`, `\s`, and all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CharClass {
    Letter,
    Mark,
    Number,
    Space,
    Other,
}

/// Classes of ASCII characters: the fast path for most text.
static ASCII: [CharClass; 128] = {
    let mut classes = [CharClass::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => CharClass::Letter,
            b'0'..=b'9' => CharClass::Number,
            b' ' | b'\t'..=b'\r' => CharClass::Space,
            _ => CharClass::Other,
        };
        byte += 1;
    }
    classes
};

/// Returns the class and the length in bytes of the first character, or `None` for an empty text.
pub(super) fn first(text: &str) -> Option<(CharClass, usize)> {
    let byte = *text.as_bytes().first()?;
    match ASCII.get(byte as usize) {
        Some(&class) => Some((class, 1)),
        None => text.chars().next().map(|character| (of(character), character.len_utf8())),
    }
}

fn of(character: char) -> CharClass {
    use GeneralCategory::*;
    if character.is_whitespace() {
        return CharClass::Space;
    }
    match get_general_category(character) {
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter => CharClass::Letter,
        NonspacingMark | SpacingMark | EnclosingMark => CharClass::Mark,
        DecimalNumber | LetterNumber | OtherNumber => CharClass::Number,
        _ => CharClass::Other,
    }
}

/// Case of a letter or mark, for words that begin where lower-case letters end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LetterCase {
    /// `\p{Lu}`, `\p{Lt}`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `\p{Lm}`, `\p{Lo}`, `\p{M}`
    Without,
    /// Neither a letter nor a mark.
    NoLetter,
}

impl LetterCase {
    pub(super) fn may_be_upper(self) -> bool {
        matches!(self, LetterCase::Upper | LetterCase::Without)
    }

    pub(super) fn may_be_lower(self) -> bool {
        matches!(self, LetterCase::Lower | LetterCase::Without)
    }
}

pub(super) fn letter_case(character: char) -> LetterCase {
    use GeneralCategory::*;
    match character {
        'a'..='z' => return LetterCase::Lower,
        'A'..='Z' => return LetterCase::Upper,
        _ if character.is_ascii() => return LetterCase::NoLetter,
        _ => (),
    }
    match get_general_category(character) {
        UppercaseLetter | TitlecaseLetter => LetterCase::Upper,
        LowercaseLetter => LetterCase::Lower,
        ModifierLetter | OtherLetter | NonspacingMark | SpacingMark | EnclosingMark => LetterCase::Without,
        _ => LetterCase::NoLetter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_table_agrees_with_unicode() {
        for byte in 0..128u8 {
            assert_eq!(ASCII[byte as usize], of(byte as char), "{byte}");
        }
    }

    #[test]
    fn classifies_characters_beyond_ascii() {
        let cases =
            [('é', CharClass::Letter), ('中', CharClass::Letter), ('ٓ', CharClass::Mark), ('Ⅷ', CharClass::Number)];
        for (character, class) in cases {
            assert_eq!(of(character), class, "{character}");
        }
        for space in ['\u{85}', '\u{a0}', '\u{2028}', '\u{3000}'] {
            assert_eq!(of(space), CharClass::Space, "{space:?}");
        }
        for other in ['\u{200b}', '\u{180e}', '\u{1c}', '\u{ad}', '€', '🦀', '\u{e000}', '\u{378}'] {
            assert_eq!(of(other), CharClass::Other, "{other:?}");
        }
    }
}
