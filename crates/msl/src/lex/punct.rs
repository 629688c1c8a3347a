//! Operators and separators.

use super::token::Punct;

/// The longest operator or separator that `bytes` begin with, and its length. `Punct::ALL` says the same; this does
/// not search it for every token.
pub(super) fn punct(bytes: [u8; 3]) -> Option<(Punct, usize)> {
    let three = match &bytes {
        b"<<=" => Some(Punct::ShlAssign),
        b">>=" => Some(Punct::ShrAssign),
        b"..." => Some(Punct::Ellipsis),
        _ => None,
    };
    if let Some(punct) = three {
        return Some((punct, 3));
    }
    let two = match &[bytes[0], bytes[1]] {
        b"::" => Some(Punct::ColonColon),
        b"->" => Some(Punct::Arrow),
        b"++" => Some(Punct::Increment),
        b"--" => Some(Punct::Decrement),
        b"<<" => Some(Punct::Shl),
        b">>" => Some(Punct::Shr),
        b"<=" => Some(Punct::LessEqual),
        b">=" => Some(Punct::GreaterEqual),
        b"==" => Some(Punct::EqualEqual),
        b"!=" => Some(Punct::NotEqual),
        b"&&" => Some(Punct::AndAnd),
        b"||" => Some(Punct::OrOr),
        b"+=" => Some(Punct::PlusAssign),
        b"-=" => Some(Punct::MinusAssign),
        b"*=" => Some(Punct::StarAssign),
        b"/=" => Some(Punct::SlashAssign),
        b"%=" => Some(Punct::PercentAssign),
        b"&=" => Some(Punct::AndAssign),
        b"|=" => Some(Punct::OrAssign),
        b"^=" => Some(Punct::XorAssign),
        b"##" => Some(Punct::HashHash),
        _ => None,
    };
    if let Some(punct) = two {
        return Some((punct, 2));
    }
    let one = match bytes[0] {
        b'{' => Punct::LBrace,
        b'}' => Punct::RBrace,
        b'[' => Punct::LBracket,
        b']' => Punct::RBracket,
        b'(' => Punct::LParen,
        b')' => Punct::RParen,
        b';' => Punct::Semi,
        b':' => Punct::Colon,
        b'?' => Punct::Question,
        b'.' => Punct::Dot,
        b'+' => Punct::Plus,
        b'-' => Punct::Minus,
        b'*' => Punct::Star,
        b'/' => Punct::Slash,
        b'%' => Punct::Percent,
        b'^' => Punct::Caret,
        b'&' => Punct::And,
        b'|' => Punct::Or,
        b'~' => Punct::Tilde,
        b'!' => Punct::Not,
        b'=' => Punct::Assign,
        b'<' => Punct::Less,
        b'>' => Punct::Greater,
        b',' => Punct::Comma,
        b'#' => Punct::Hash,
        b'@' => Punct::At,
        b'\\' => Punct::Backslash,
        _ => return None,
    };
    Some((one, 1))
}
