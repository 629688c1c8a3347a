//! Support for back ends whose driver compiles and executes.
//!
//! ```text
//! commands   a table as the commands of an encoder
//! profile    the times of a command buffer whose dispatches are executed one by one
//! reported   the driver's reflection of a kernel, compared with the front end's
//! ```
//!
//! No file here calls a driver, so that all of it is tested on any machine.

pub mod commands;
pub mod profile;
pub mod reported;

pub use crate::archive::driver::{Driver as ArchiveDriver, DriverArchive};
pub use crate::kernel::constants;
pub use crate::program::apple;
pub use crate::timing::instant_at;
