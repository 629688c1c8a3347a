//! Texts as numbers.

use smol_str::SmolStr;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A text in a [`Symbols`] table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Symbol(pub(crate) u32);

/// Multiply and rotate, eight bytes at a time: names are short, and the default hash is most of the time spent on
/// looking them up. A crafted file can at worst make lookups slow, and it is the user's own.
#[derive(Default)]
struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.add(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, _: u8) {
        // `str` hashes a closing 0xff, which tells nothing here: the length is already in.
    }

    fn finish(&self) -> u64 {
        // The table takes its tag from the top bits and its slot from the bottom ones.
        self.0 ^ self.0 >> 29
    }
}

/// All texts of one compilation, each once.
#[derive(Default)]
pub struct Symbols {
    texts: Vec<SmolStr>,
    index: HashMap<SmolStr, u32, BuildHasherDefault<NameHasher>>,
}

impl Symbols {
    /// A table with the names that the preprocessor knows.
    pub fn new() -> Symbols {
        let mut symbols = Symbols::default();
        for text in known::TEXTS {
            symbols.intern(text);
        }
        symbols
    }

    /// The symbol of `text`.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&index) = self.index.get(text) {
            return Symbol(index);
        }
        let index = self.texts.len() as u32;
        let text = SmolStr::new(text);
        self.texts.push(text.clone());
        self.index.insert(text, index);
        Symbol(index)
    }

    /// The text of `symbol`.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol.0 as usize).map_or("", SmolStr::as_str)
    }

    /// The text of `symbol`, to keep.
    pub fn name(&self, symbol: Symbol) -> SmolStr {
        self.texts.get(symbol.0 as usize).cloned().unwrap_or_default()
    }
}

macro_rules! known {
    ($($name:ident $text:literal,)*) => {
        /// Names with a meaning for the preprocessor.
        pub(crate) mod known {
            use super::Symbol;

            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants")]
            enum Order { $($name,)* }

            $(pub(crate) const $name: Symbol = Symbol(Order::$name as u32);)*

            /// Their texts, in the order of the constants.
            pub(super) const TEXTS: &[&str] = &[$($text,)*];
        }
    };
}

known! {
    DEFINE "define", UNDEF "undef", INCLUDE "include", IMPORT "import", INCLUDE_NEXT "include_next", IF "if",
    IFDEF "ifdef", IFNDEF "ifndef", ELIF "elif", ELIFDEF "elifdef", ELIFNDEF "elifndef", ELSE "else", ENDIF "endif",
    ERROR "error", WARNING "warning", LINE "line", PRAGMA "pragma", IDENT "ident", SCCS "sccs",
    DEFINED "defined", TRUE "true", VA_ARGS "__VA_ARGS__", VA_OPT "__VA_OPT__",
    PRAGMA_OPERATOR "_Pragma", ONCE "once", UNROLL "unroll", UNROLL_COUNT "unroll_count", FULL "full", ENABLE "enable", DISABLE "disable",
}
