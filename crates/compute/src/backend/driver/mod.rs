//! Support for back ends whose driver compiles and executes by itself.
//!
//! ```text
//! commands   a table as the commands of an encoder
//! profile    the times of a command buffer whose dispatches the driver executes one by one
//! reported   the driver's reflection of a kernel, compared with the front end's
//! ```
//!
//! None of it calls a driver, so that it is tested on any machine.

pub mod commands;
pub mod profile;
pub mod reported;

pub use crate::archive::driver::{Driver as ArchiveDriver, DriverArchive};
pub use crate::kernel::constants;
pub use crate::program::apple;
pub use crate::timing::instant_at;
