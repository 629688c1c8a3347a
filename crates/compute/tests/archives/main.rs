//! Pipeline states from archives: in memory, in a folder, in a file.
#![cfg(llvm)]

mod disk;
mod environment;
mod memory;
mod portable;
mod precompiled;
mod reflection;
mod support;
