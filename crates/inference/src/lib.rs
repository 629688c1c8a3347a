//! Language models on Metal kernels.

pub mod gguf;
pub mod metal;
pub mod tokenizer;
pub mod weights;
