//! The library of Metal kernels, and the device that runs them.

pub mod dispatch;
pub mod format;
pub mod kernels;
pub mod layout;
pub mod library;
