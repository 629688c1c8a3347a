//! Errors of reading and of writing libraries.

use std::fmt;

/// Reason that a file cannot be read: the file's fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The problem.
    pub problem: Problem,
    /// Offset in the file; `None` if the file is not at hand any more.
    pub offset: Option<u64>,
    /// The part of the file there: `function list, entry 3`.
    pub at: String,
}

/// A problem with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// It does not begin with `MTLB`.
    Magic,
    /// The container's version is not 1.2.
    Version([u16; 3]),
    /// The header gives another size than the file has.
    FileSize {
        /// The size in the header.
        declared: u64,
        /// The size of the file.
        actual: u64,
    },
    /// A part ends before it should.
    Truncated {
        /// The bytes needed.
        needed: u64,
        /// The bytes there.
        left: u64,
    },
    /// A part is beyond the end of the part that should hold it.
    OutOfBounds {
        /// The end that it would have; more than 64 bits saturate.
        end: u64,
        /// The end of the part that holds it.
        limit: u64,
    },
    /// Two things take the same bytes.
    Overlap {
        /// The other part.
        with: String,
    },
    /// A number of things that cannot fit.
    Count(u64),
    /// A tag that has to be there is not.
    MissingTag(&'static str),
    /// A tag occurs twice.
    DuplicateTag(String),
    /// A value has the wrong length.
    Length {
        /// The tag.
        tag: String,
        /// The length.
        found: u64,
        /// The length it should have.
        expected: u64,
    },
    /// There is something between the last tag and the end of the group.
    Excess(u64),
    /// A name is not ended by a zero, has one inside, or is not UTF-8.
    Name,
    /// Two functions have the same name.
    DuplicateName(String),
    /// A value that means nothing.
    Value(&'static str),
    /// The module is no wrapped bitcode.
    Wrapper,
    /// The module's SHA-256 is not the one that the function list gives.
    Hash,
    /// A reflection buffer has not the identifier `AIRR`.
    Identifier,
    /// A part of a reflection buffer is not there.
    MissingPart(&'static str),
    /// A text of a reflection buffer is not UTF-8.
    Text,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Magic => write!(f, "the file is not a .metallib, which begins with 'MTLB'"),
            Problem::Version([major, minor, patch]) => {
                write!(f, "version {major}.{minor}.{patch} is not known, only 1.2")
            }
            Problem::FileSize { declared, actual } => {
                write!(f, "the header says that the file has {declared} bytes, but it has {actual}")
            }
            Problem::Truncated { needed, left } => write!(f, "{needed} bytes are needed, but only {left} are left"),
            Problem::OutOfBounds { end, limit } => write!(f, "it would end at {end:#x}, beyond {limit:#x}"),
            Problem::Overlap { with } => write!(f, "it overlaps {with}"),
            Problem::Count(count) => write!(f, "{count} of them cannot fit"),
            Problem::MissingTag(tag) => write!(f, "tag '{tag}' is missing"),
            Problem::DuplicateTag(tag) => write!(f, "tag '{tag}' occurs twice"),
            Problem::Length { tag, found, expected } => {
                write!(f, "the value of '{tag}' has {found} bytes instead of {expected}")
            }
            Problem::Excess(bytes) => write!(f, "there are {bytes} bytes after the last tag"),
            Problem::Name => write!(f, "a name is not UTF-8 with one zero at its end"),
            Problem::DuplicateName(name) => write!(f, "'{name}' is defined twice"),
            Problem::Value(what) => write!(f, "wrong value for {what}"),
            Problem::Wrapper => write!(f, "there is no LLVM bitcode in a wrapper"),
            Problem::Hash => write!(f, "its SHA-256 is not the one in the function list"),
            Problem::Identifier => write!(f, "it does not have the identifier 'AIRR'"),
            Problem::MissingPart(part) => write!(f, "the {part} is missing"),
            Problem::Text => write!(f, "a text is not UTF-8"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at {offset:#x}: {}", self.at, self.problem),
            None => write!(f, "{}: {}", self.at, self.problem),
        }
    }
}

impl std::error::Error for ParseError {}

/// Reason that a library cannot be written: the format cannot hold a part of it. The caller's fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// A value longer than a length of 16 bits can say.
    TooLong {
        /// The function.
        function: String,
        /// The tag.
        tag: String,
        /// The length.
        length: usize,
    },
    /// A name with a zero inside.
    Name(String),
    /// Two functions have the same name.
    DuplicateName(String),
    /// More functions, or more in a group, than 32 bits can count.
    TooMany,
    /// Some functions have a reflection buffer, and others have none.
    PartialReflection,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::TooLong { function, tag, length } => {
                write!(f, "'{tag}' of '{function}' has {length} bytes, more than a library can hold")
            }
            WriteError::Name(name) => write!(f, "the name {name:?} has a zero inside"),
            WriteError::DuplicateName(name) => write!(f, "'{name}' is defined twice"),
            WriteError::TooMany => write!(f, "there are more functions than a library can hold"),
            WriteError::PartialReflection => {
                write!(f, "some functions have reflection buffers, and others have none")
            }
        }
    }
}

impl std::error::Error for WriteError {}
