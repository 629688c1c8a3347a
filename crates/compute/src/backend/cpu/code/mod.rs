//! Machine code: from an object file to executable memory.

pub(super) mod loader;
mod relocate;
