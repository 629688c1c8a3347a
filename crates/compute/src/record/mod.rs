//! Recording: the calls of an encoder become tables of dispatches.
//!
//! ```text
//! set_buffer, set_bytes ── bound: one binding for each index ───┐
//! set_compute_pipeline_state ───────────────────────────────────┼─ dispatch: validated ── hazards: must it wait? ── Table
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
