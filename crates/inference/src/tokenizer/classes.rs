//! Classes of characters, as pre-tokenizers tell them apart.

use unicode_general_category::{GeneralCategory, get_general_category};

/// The class of a character. `\s` is `Space`, `\p{L}` is `Letter`, `\p{N}` is `Number`, `\p{M}` is `Mark`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Letter,
    Mark,
    Number,
    Space,
    Other,
}

/// The classes of ASCII, which most text is.
static ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Number,
            b' ' | b'\t'..=b'\r' => Class::Space,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// The class of the first character, and how many bytes it has; nothing at the end of the text.
pub(super) fn first(text: &str) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().first()?;
    match ASCII.get(byte as usize) {
        Some(&class) => Some((class, 1)),
        None => text.chars().next().map(|character| (of(character), character.len_utf8())),
    }
}

fn of(character: char) -> Class {
    use GeneralCategory::*;
    if character.is_whitespace() {
        return Class::Space;
    }
    match get_general_category(character) {
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter => Class::Letter,
        NonspacingMark | SpacingMark | EnclosingMark => Class::Mark,
        DecimalNumber | LetterNumber | OtherNumber => Class::Number,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_like_the_rest() {
        for byte in 0..128u8 {
            assert_eq!(ASCII[byte as usize], of(byte as char), "{byte}");
        }
    }

    #[test]
    fn classes_of_other_scripts() {
        let cases = [('é', Class::Letter), ('中', Class::Letter), ('ٓ', Class::Mark), ('Ⅷ', Class::Number)];
        for (character, class) in cases {
            assert_eq!(of(character), class, "{character}");
        }
        for space in ['\u{85}', '\u{a0}', '\u{2028}', '\u{3000}'] {
            assert_eq!(of(space), Class::Space, "{space:?}");
        }
        for other in ['\u{200b}', '\u{180e}', '\u{1c}', '\u{ad}', '€', '🦀', '\u{e000}', '\u{378}'] {
            assert_eq!(of(other), Class::Other, "{other:?}");
        }
    }
}
