//! Sizes: those of real models, the defaults of the tables of operations, and those of the command line.

use std::fmt;
use std::ops::Index;

/// Sizes of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// Name on the command line.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    width: usize,
    ff: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    vocabulary: usize,
}

/// Models with known sizes.
#[rustfmt::skip]
pub const MODELS: [Model; 4] = [
    Model { name: "tiny", about: "small, for smoke tests", width: 256, ff: 512, heads: 4, kv_heads: 2, head_dim: 64, vocabulary: 1024 },
    Model { name: "135m", about: "SmolLM2-135M", width: 576, ff: 1536, heads: 9, kv_heads: 3, head_dim: 64, vocabulary: 49_152 },
    Model { name: "1b", about: "Llama-3.2-1B", width: 2048, ff: 8192, heads: 32, kv_heads: 8, head_dim: 64, vocabulary: 128_256 },
    Model { name: "8b", about: "Llama-3-8B", width: 4096, ff: 14_336, heads: 32, kv_heads: 8, head_dim: 128, vocabulary: 128_256 },
];

impl Model {
    fn size(&self, name: &str) -> Option<usize> {
        Some(match name {
            "width" => self.width,
            "ff" => self.ff,
            "heads" => self.heads,
            "kv_heads" => self.kv_heads,
            "head_dim" => self.head_dim,
            "vocabulary" => self.vocabulary,
            _ => return None,
        })
    }
}

/// Sizes for the times of a self-test: large enough for a GPU to reach its speed, small enough to be created quickly,
/// and whole blocks in every format.
pub const SELF_TEST: Model = Model {
    name: "self-test",
    about: "of no model",
    width: 2048,
    ff: 5632,
    heads: 32,
    kv_heads: 8,
    head_dim: 64,
    vocabulary: 16_384,
};

/// The sizes of one case, each with its letter: `M=1 N=4096 K=4096`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    sizes: Vec<(char, usize)>,
}

/// Meaning of the letters, for the help.
pub const LETTERS: &str = "M vectors, rows or tokens; N rows of a matrix, or numbers in a row; K columns; \
    H heads; G heads of keys and values; D numbers in a head; L positions in the cache; P positions before the tokens; \
    S parts of the positions, or simdgroups; C candidates; \
    E experts; U experts of a token; B vectors of a tile";

/// The largest size that kernels accept.
const LARGEST: usize = i32::MAX as usize;

impl Shape {
    pub(crate) fn new(sizes: &[(char, usize)]) -> Shape {
        Shape { sizes: sizes.to_vec() }
    }

    /// Replaces a size, if the shape has the letter.
    pub(crate) fn replace(&mut self, letter: char, size: usize) {
        for (_, old) in self.sizes.iter_mut().filter(|(known, _)| *known == letter) {
            *old = size;
        }
    }

    /// Removes a size.
    pub(crate) fn remove(&mut self, letter: char) {
        self.sizes.retain(|(known, _)| *known != letter);
    }

    /// Parses a shape of numbers only.
    pub(crate) fn parse(text: &str) -> Result<Shape, String> {
        let size = |(letter, value): (char, &str)| match value.parse() {
            Ok(size) => Ok((letter, size)),
            Err(_) => Err(format!("'{value}' is not a number")),
        };
        Ok(Shape { sizes: pairs(text, ' ')?.into_iter().map(size).collect::<Result<_, _>>()? })
    }

    /// Parses a shape of a table: letters with numbers or sizes of a model, `M=1 N=ff`.
    pub fn of_model(text: &str, model: &Model) -> Result<Shape, String> {
        let size = |(letter, value): (char, &str)| match value.parse().ok().or_else(|| model.size(value)) {
            Some(size) => Ok((letter, size)),
            None => Err(format!("'{value}' is neither a number nor a size of a model")),
        };
        Ok(Shape { sizes: pairs(text, ' ')?.into_iter().map(size).collect::<Result<_, _>>()? })
    }

    /// Letters of the shape.
    pub fn letters(&self) -> impl Iterator<Item = char> {
        self.sizes.iter().map(|(letter, _)| *letter)
    }

    /// Size of a letter that only some shapes of the operation have.
    pub fn get(&self, letter: char) -> Option<usize> {
        self.sizes.iter().find(|(known, _)| *known == letter).map(|(_, size)| *size)
    }

    /// Rounds a size up to a multiple, if the shape has the letter.
    pub(crate) fn round_up(&mut self, letter: char, multiple: usize) {
        for (_, size) in self.sizes.iter_mut().filter(|(known, _)| *known == letter) {
            *size = size.next_multiple_of(multiple);
        }
    }

    /// Applies the sizes of `wanted` whose letters the shape has.
    pub fn set(&mut self, wanted: &Wanted) {
        for (letter, size) in &mut self.sizes {
            if let Some((_, wanted)) = wanted.0.iter().find(|(wanted, _)| wanted == letter) {
                *size = *wanted;
            }
        }
    }
}

impl Index<char> for Shape {
    type Output = usize;

    /// A letter of the operation's own shape. A test looks up all letters of the tables.
    fn index(&self, letter: char) -> &usize {
        &self.sizes.iter().find(|(known, _)| *known == letter).expect("a letter of the operation").1
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (letter, size)) in self.sizes.iter().enumerate() {
            write!(f, "{}{letter}={size}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// Sizes given on the command line: `M=8,N=4096`.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Wanted(Vec<(char, usize)>);

impl Wanted {
    /// Parses letters and sizes, separated by commas.
    pub fn parse(text: &str) -> Result<Wanted, String> {
        let mut sizes: Vec<(char, usize)> = Vec::new();
        for (letter, value) in pairs(text, ',')? {
            let size: usize = value.parse().map_err(|_| format!("{letter}={value}: '{value}' is not a number"))?;
            // Only the position of the first token may be 0.
            let least = usize::from(letter != 'P');
            if !(least..=LARGEST).contains(&size) {
                return Err(format!("{letter}={size}: it must be {least} to {LARGEST}"));
            }
            if sizes.iter().any(|(known, _)| *known == letter) {
                return Err(format!("{letter} is there twice"));
            }
            sizes.push((letter, size));
        }
        Ok(Wanted(sizes))
    }

    /// Letters of the sizes.
    pub fn letters(&self) -> impl Iterator<Item = char> {
        self.0.iter().map(|(letter, _)| *letter)
    }

    /// True if there are no sizes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn pairs(text: &str, separator: char) -> Result<Vec<(char, &str)>, String> {
    let parts = text.split(separator).filter(|part| !part.is_empty());
    let pair = |part: &'_ str| -> Option<(char, usize)> {
        let (letter, value) = part.split_once('=')?;
        let mut letters = letter.trim().chars();
        let (letter, rest) = (letters.next()?.to_ascii_uppercase(), letters.next());
        (rest.is_none() && letter.is_ascii_uppercase()).then_some((letter, value.len()))
    };
    parts
        .map(|part| match pair(part) {
            Some((letter, length)) => Ok((letter, part[part.len() - length..].trim())),
            None => Err(format!("'{part}' is not a letter and a size, such as M=8")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_models_and_from_the_command_line() {
        let mut shape = Shape::of_model("M=1 N=ff K=width", &MODELS[3]).unwrap();
        assert_eq!(shape.to_string(), "M=1 N=14336 K=4096");
        shape.set(&Wanted::parse("m=8, K=64,L=3").unwrap());
        assert_eq!((shape['M'], shape.to_string()), (8, "M=8 N=14336 K=64".into()));
    }

    #[test]
    fn wrong_sizes_have_clear_messages() {
        for (text, problem) in [
            ("M", "'M' is not a letter and a size, such as M=8"),
            ("MN=3", "'MN=3' is not a letter and a size, such as M=8"),
            ("=3", "'=3' is not a letter and a size, such as M=8"),
            ("M=x", "M=x: 'x' is not a number"),
            ("M=-1", "M=-1: '-1' is not a number"),
            ("M=0", "M=0: it must be 1 to 2147483647"),
            ("K=99999999999", "K=99999999999: it must be 1 to 2147483647"),
            ("M=1,M=2", "M is there twice"),
        ] {
            assert_eq!(Wanted::parse(text).unwrap_err(), problem);
        }
        assert!(Wanted::parse("P=0").is_ok());
    }
}
