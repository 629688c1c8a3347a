//! Does a device compute what it should? Every kernel of the shader library, on small sizes that are multiples of nothing,
//! against the processor's results: computed now, or recorded before.
//!
//! ```text
//! operations::checked ── check: run once, on the same numbers everywhere ── expected: what is written
//!     ── compare: with another device's, or with record: recorded.txt ── report: by kernel
//! operations::measured ── speed: run again and again
//! ```
//!
//! Recorded results are for programs without the back end for processors, as they are by default on a Mac, and for the
//! processor itself: another model or another number of threads must not change what is computed.
//!
//! A kernel that fails, in whichever way, fails alone.

mod check;
mod compare;
mod expected;
mod record;
mod report;
mod run;
mod speed;

pub use compare::{Bound, Difference};
pub use expected::Expected;
pub use record::{Record, RecordError, RecordedCheck};
pub use report::{CheckReport, KernelReport, Report, Verdict};
pub use run::{Progress, Reference, SelfTest, Step};
pub use speed::Speed;
