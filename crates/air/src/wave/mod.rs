//! Wave: AIR to machine code for a CPU, 32 lanes at a time.

mod groups;
mod lanes;
