//! GGUF files: reading, writing, and errors for corrupt input.

mod access;
mod allocations;
mod fused;
mod fuzz;
mod hostile;
mod reading;
mod real;
mod sample;
mod split;
