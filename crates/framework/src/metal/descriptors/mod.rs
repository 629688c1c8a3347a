//! Objects that have properties only.

/// A copy with the same properties.
macro_rules! copy {
    ($this:expr) => {
        Strong::new(Fields::new($this.lock().clone())).into_id()
    };
}

mod commands;
mod kernels;
mod memory;

pub(crate) use commands::*;
pub(crate) use kernels::*;
pub(crate) use memory::*;
