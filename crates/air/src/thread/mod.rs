//! The code of one thread, up to where the code generators for CPUs and GPUs part.
//!
//! ```text
//! prepare     the code of one thread, optimized, in a form that can be analysed
//!   coherence accesses of coherent memory, which become loads and stores
//!   moves     long fills and copies of memory, which become loops
//!   unroll    loops over private arrays, which become registers
//!   sums      numbers in long sums, added up
//! graph       its blocks in the order in which they will lie
//! shapes      values that are the same in all lanes, or rise by a constant from lane to lane
//! flow        blocks that run under a mask, because lanes parted before
//! name        names of functions between lanes     number  arithmetic on their numbers
//! types       components of types
//! ```

mod coherence;
pub(crate) mod flow;
pub(crate) mod graph;
pub(crate) mod moves;
pub(crate) mod name;
pub(crate) mod number;
mod prepare;
pub(crate) mod shapes;
mod sums;
pub(crate) mod types;
mod unroll;

pub(crate) use prepare::{Prepared, is_convergent, kernel, prepare};

use crate::expand;

/// Reason that the code of a thread cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Error {
    /// It uses something that is not supported, named here.
    Unsupported(String),
    /// The kernel is not valid: the message of LLVM's verifier.
    Invalid(String),
    /// A fault of this compiler.
    Internal(String),
}

impl From<expand::Error> for Error {
    fn from(error: expand::Error) -> Error {
        match error {
            expand::Error::Unsupported(name) => Error::Unsupported(format!("the function '{name}'")),
            expand::Error::Internal(what) => Error::Internal(what),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
