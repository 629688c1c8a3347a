//! What the language means: small kernels for each feature and each function of the library, run on the CPU and compared
//! with what Rust computes, in `f64` where it is about floating point.

mod address_spaces;
mod control_flow;
mod conversions;
mod float_functions;
mod function_constants;
mod harness;
mod integer_functions;
mod integers;
mod math;
mod memory_walks;
mod numbers;
mod random;
mod structs;
mod table;
mod values;
mod vectors;
