//! What can be switched on and off while a program runs, for debugging.

use crate::device::{Backend, Device};
use crate::error::{Result, usage};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The switches of a device.
pub(crate) struct Settings {
    validation: AtomicBool,
    serial: AtomicBool,
    #[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only GPUs are captured"))]
    capture: Option<CaptureSettings>,
}

/// What is to be captured for Xcode.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only GPUs are captured"))]
pub(crate) struct CaptureSettings {
    /// The file.
    pub(crate) path: PathBuf,
    /// How many, at least 1.
    pub(crate) command_buffers: usize,
}

impl Settings {
    /// As the environment says; without it, validation is on in debug builds.
    pub(crate) fn from_environment() -> Result<Settings> {
        Ok(Settings {
            validation: AtomicBool::new(switch("METALWORKS_VALIDATION", cfg!(debug_assertions))?),
            serial: AtomicBool::new(switch("METALWORKS_SERIAL", false)?),
            capture: capture()?,
        })
    }

    pub(crate) fn is_validating(&self) -> bool {
        self.validation.load(Ordering::Relaxed)
    }

    #[cfg(target_os = "macos")]
    pub(crate) fn capture(&self) -> Option<&CaptureSettings> {
        self.capture.as_ref()
    }
}

/// `METALWORKS_CAPTURE` is a file, and `METALWORKS_CAPTURE_COMMAND_BUFFERS` how many go into it: 1 if it is not set.
fn capture() -> Result<Option<CaptureSettings>> {
    const COUNT: &str = "METALWORKS_CAPTURE_COMMAND_BUFFERS";
    let text = std::env::var_os(COUNT).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let command_buffers = match (text.trim(), text.trim().parse()) {
        ("", _) => 1,
        (_, Ok(count @ 1..)) => count,
        _ => return usage(format!("{COUNT} is '{text}': it must be a number, at least 1")),
    };
    let path = std::env::var_os("METALWORKS_CAPTURE").filter(|path| !path.is_empty());
    Ok(path.map(|path| CaptureSettings { path: path.into(), command_buffers }))
}

pub(crate) fn switch(variable: &str, default: bool) -> Result<bool> {
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
        self.settings().is_validating()
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

    /// Whether kernels run in the order that is least expected. A result that differs then is a sign of a barrier that is
    /// missing, or of threadgroup memory that is read before it is written. A GPU has an order of its own: there it is never on.
    pub fn is_adverse(&self) -> bool {
        match self.backend() {
            Backend::Cpu(device) => device.is_adverse(),
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => false,
        }
    }

    /// Runs kernels backwards from now on, with garbage in threadgroup memory, or as usual: dispatches that may overlap,
    /// threadgroups, simdgroups.
    /// `METALWORKS_ADVERSE=1` does so from the start.
    pub fn set_adverse(&self, on: bool) {
        match self.backend() {
            Backend::Cpu(device) => device.set_adverse(on),
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => (),
        }
    }
}
