//! Profiles: the time of a model's steps by kernel, and timelines.
//!
//! ```text
//! operations: bytes and arithmetic of each dispatch ─┐
//! compute: DispatchTiming ───────────────────────────┴─ phases: time by kernel, and between dispatches
//! compute::trace: spans of threads ────────────────────── timeline: JSON for Chrome and Perfetto
//! limit: bandwidth of the device
//! ```

mod limit;
mod overlap;
mod phases;
mod timeline;

pub use limit::{Bandwidth, measure_bandwidth};
pub use phases::{DispatchWork, KernelProfile, Phase, PhaseProfile, Profile, TimedDispatch};
pub use timeline::{TimelineFile, write_timeline};
