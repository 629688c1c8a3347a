//! Every kernel of the shader library against its formula in plain Rust, in f64.
//!
//! ```text
//! Random ── Tensor, Weights: numbers in the types of a kernel, in buffers with NaN around them
//!     ── run: operations on the device ── Tensor::numbers: every element written, nothing around it touched
//!     ── compare: with the formula's results for the same stored numbers
//! ```
//!
//! `METALWORKS_DEVICE` chooses the device; the default is that of the system.

mod cache;
mod compare;
mod coverage;
mod device;
mod matrix;
mod random;
mod tensor;
#[path = "../../../compute/tests/until_exit/mod.rs"]
mod until_exit;
mod weights;

mod attention;
mod cases;
mod delta_net;
mod elementwise;
mod embedding;
mod gemm;
mod gemv;
mod kv_cache;
mod lm_head;
mod norm;
mod packed;
mod rope;
mod sampling;
mod sequence;
mod softmax;
