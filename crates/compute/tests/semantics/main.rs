//! Semantics of the language: small kernels for each feature and each library function, run on the CPU and compared
//! with Rust, in `f64` for floating point.
#![cfg(llvm)]

mod address_spaces;
mod atomics;
mod barriers;
mod bit_fields;
mod byte_products;
mod coherent;
mod control_flow;
mod conversions;
mod dynamic_libraries;
mod float_functions;
mod function_constants;
mod function_pointers;
mod harness;
mod integer_functions;
mod integers;
mod math;
mod math_modes;
mod matrices;
mod memory_walks;
mod numbers;
mod packed;
mod random;
mod random_addresses;
mod random_floats;
mod recursion;
mod simdgroup_matrices;
mod simdgroups;
mod structs;
mod table;
mod threads;
mod uniform_values;
#[path = "../until_exit/mod.rs"]
mod until_exit;
mod values;
mod vectors;
mod visible_functions;
mod volatile;
