//! Recording: encoder calls become tables of dispatches.
//!
//! ```text
//! set_buffer, set_bytes ── bound: one binding per index ────────┐
//! set_compute_pipeline_state ───────────────────────────────────┼─ dispatch: validated ── hazards: wait? ── Table
//!                                                               │
//! encoder: for a command buffer       recording: for replays ───┘
//! ```

mod dispatch;
mod encoder;
mod hazards;
mod recording;

pub(crate) use encoder::PassSink;
pub use encoder::{BytesLocation, ComputeCommandEncoder, DispatchType};
pub use recording::{CommandRecorder, Patch, Recording};
