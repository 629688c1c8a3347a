//! The library of Metal kernels, and the device that runs them.
//!
//! ```text
//! shaders, include ── checked and described by the build ── kernels, library
//!                                                              │
//! device: queue, libraries, archive, cache ── pipeline: a kernel with its constants, ready to run
//! ```

mod device;
pub mod dispatch;
pub mod format;
pub mod kernels;
pub mod layout;
pub mod library;
mod pipeline;
mod tuning;

pub use device::{MetalDevice, PendingLoad, find_device};
pub use pipeline::PipelineSet;
pub use tuning::{GemmTuning, GemvTuning, RowTuning, Tuning};
