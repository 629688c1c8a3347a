//! Every kernel of the shader library against its formula in plain Rust, in f64.
//!
//! ```text
//! Random ── Tensor, Weights: numbers as a kernel stores them, in buffers with NaN around them
//!     ── run: operations on the device ── Tensor::numbers: every element written, nothing around it touched
//!     ── compare: with what the formula gives for the same stored numbers
//! ```
//!
//! The device is what `METALWORKS_DEVICE` says, and that of the system without it.

mod cache;
mod compare;
mod coverage;
mod device;
mod matrix;
mod random;
mod tensor;
mod weights;

mod attention;
mod cases;
mod elementwise;
mod embedding;
mod gemm;
mod gemv;
mod kv_cache;
mod lm_head;
mod norm;
mod rope;
mod sampling;
mod sequence;
mod softmax;
