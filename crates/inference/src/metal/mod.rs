//! The library of Metal kernels, and the device that runs them.
//!
//! ```text
//! shaders, include ── checked and described by the build ── kernels, library
//!                                                              │
//! operations: one file for each family ── dispatch: checks, binding, grid
//!                                                              │
//! device: queue, libraries, archive, cache ── pipeline: a kernel with its constants, ready to run
//! ```

mod device;
pub mod dispatch;
pub mod kernels;
pub mod layout;
pub mod library;
pub mod operations;
mod pipeline;
mod tuning;

pub use device::{MetalDevice, PendingLoad, find_device};
pub use pipeline::PipelineSet;
pub use tuning::{AttentionTuning, GemmTuning, GemvTuning, RowTuning, Tuning};
