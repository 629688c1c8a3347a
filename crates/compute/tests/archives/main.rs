//! Pipeline states from archives: in memory, in a folder, in a file.

mod disk;
mod environment;
mod memory;
mod portable;
mod support;
