//! Machine code: from an object file to memory that can be called.

pub(super) mod loader;
mod relocate;
