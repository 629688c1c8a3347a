//! What can be switched on and off while a program runs, for debugging.

use crate::device::Device;
use crate::error::{Result, usage};
use std::sync::atomic::{AtomicBool, Ordering};

/// The switches of a device.
pub(crate) struct Settings {
    validation: AtomicBool,
    serial: AtomicBool,
}

impl Settings {
    /// As the environment says; without it, validation is on in debug builds.
    pub(crate) fn from_environment() -> Result<Settings> {
        Ok(Settings {
            validation: AtomicBool::new(switch("METALWORKS_VALIDATION", cfg!(debug_assertions))?),
            serial: AtomicBool::new(switch("METALWORKS_SERIAL", false)?),
        })
    }
}

fn switch(variable: &str, default: bool) -> Result<bool> {
    match std::env::var(variable).as_deref().map(str::trim) {
        Ok("1") => Ok(true),
        Ok("0") => Ok(false),
        Ok("") | Err(std::env::VarError::NotPresent) => Ok(default),
        Ok(text) => usage(format!("{variable} is '{text}': it must be 0 or 1")),
        Err(std::env::VarError::NotUnicode(_)) => usage(format!("{variable} must be 0 or 1")),
    }
}

impl Device {
    /// Whether encoders look for mistakes that harm no memory, too: bindings that no kernel uses. It is on in debug
    /// builds, and otherwise with the environment variable `METALWORKS_VALIDATION=1`; 0 turns it off.
    pub fn is_validating(&self) -> bool {
        self.settings().validation.load(Ordering::Relaxed)
    }

    /// Turns validation on or off, for the encoders that are made from now on.
    pub fn set_validation(&self, on: bool) {
        self.settings().validation.store(on, Ordering::Relaxed);
    }

    /// Whether all encoders are serial. A result that is right only then is a sign of dispatches that touch more than
    /// their arguments say.
    pub fn is_serial(&self) -> bool {
        self.settings().serial.load(Ordering::Relaxed)
    }

    /// Makes all encoders serial that are made from now on, or as they were asked for; `METALWORKS_SERIAL=1` does so from
    /// the start.
    pub fn set_serial(&self, on: bool) {
        self.settings().serial.store(on, Ordering::Relaxed);
    }
}
