//! Self-test of a device: runs every kernel of the shader library on small sizes that are multiples of nothing, and
//! compares the results with the formulas of its operations in f64, with another device, or with recorded results.
//!
//! ```text
//! cases::checked ── check: run once, on the same numbers everywhere
//!     ── compare: with formulas or another device, or with record: samples in a file ── report: by kernel
//! cases::measured ── speed: run again and again
//! ```
//!
//! An operation states its own formulas (`metal::operations`), so a new one needs no change here.
//!
//! A kernel that fails does not stop the others.

mod check;
mod compare;
mod expected;
mod record;
mod report;
mod run;
mod speed;

pub use check::Check;
pub use compare::{Difference, Tolerance};
pub use expected::Expected;
pub use record::{Record, RecordError, RecordedCheck};
pub use report::{CheckReport, KernelReport, Report, Verdict};
pub use run::{Progress, Reference, SelfTest, Step};
pub use speed::Speed;
