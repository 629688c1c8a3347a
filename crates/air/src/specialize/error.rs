//! Errors in a function, or in the values for its constants.

use crate::lower;
use abi::ConstantKey;
use std::fmt;

/// A function constant, as far as messages need it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConstantInfo {
    /// Its name.
    pub name: String,
    /// The index in `[[function_constant(index)]]`.
    pub index: u32,
    /// Its type: `uint`, `float4`.
    pub ty: String,
}

impl fmt::Display for ConstantInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' (index {}, {})", self.name, self.index, self.ty)
    }
}

/// Reason that a function cannot be specialized.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The bitcode is damaged, or no AIR: LLVM or the metadata say so. The file's fault.
    Malformed(String),
    /// There is no kernel of this name in the module. The caller's fault.
    NoKernel {
        /// The name that the caller gave.
        name: String,
        /// Those that are there.
        available: Vec<String>,
    },
    /// Values were given for a constant that does not exist. The caller's fault.
    UnknownConstant {
        /// The key that the caller gave.
        key: ConstantKey,
        /// Those that exist.
        available: Vec<ConstantInfo>,
    },
    /// A value has another type than the constant. The caller's fault.
    WrongType {
        /// The constant.
        constant: ConstantInfo,
        /// The type of the value.
        found: String,
    },
    /// One constant was given two different values, by index and by name. The caller's fault.
    Contradiction(ConstantInfo),
    /// Constants that the function needs were not set. The caller's fault.
    Missing(Vec<ConstantInfo>),
    /// The function asks for something that is not supported.
    Unsupported(String),
    /// A mistake of ours.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed(problem) => write!(f, "the bitcode is damaged or not AIR: {problem}"),
            Error::NoKernel { name, available } => {
                write!(f, "there is no kernel '{name}'; there is {}", list(available))
            }
            Error::UnknownConstant { key, available } => {
                match key {
                    ConstantKey::Index(index) => write!(f, "there is no function constant with index {index}")?,
                    ConstantKey::Name(name) => write!(f, "there is no function constant '{name}'")?,
                }
                write!(f, "; there is {}", list(available))
            }
            Error::WrongType { constant, found } => {
                let ConstantInfo { name, index, ty } = constant;
                write!(f, "function constant '{name}' (index {index}) is a {ty}, and its value is a {found}")
            }
            Error::Contradiction(constant) => {
                write!(f, "function constant {constant} is given two values, by index and by name")
            }
            Error::Missing(constants) => {
                let plural = if constants.len() == 1 { "" } else { "s" };
                write!(f, "function constant{plural} not set: {}", list(constants))
            }
            Error::Unsupported(what) => write!(f, "{what} is not supported"),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Reason that a kernel of a source cannot be specialized.
#[derive(Debug)]
pub enum SourceError {
    /// It cannot be lowered to AIR.
    Lower(lower::Error),
    /// Its AIR cannot be specialized. Where that is [`Error::Malformed`], the fault is ours.
    Specialize(Error),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Lower(error) => error.fmt(f),
            SourceError::Specialize(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}

fn list(items: &[impl fmt::Display]) -> String {
    match items {
        [] => "none".into(),
        items => items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
