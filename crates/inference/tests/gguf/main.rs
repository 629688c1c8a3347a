//! GGUF files: what is written is read again, and what is damaged is an error, never a crash.

mod access;
mod allocations;
mod fuzz;
mod hostile;
mod reading;
mod real;
mod sample;
mod split;
