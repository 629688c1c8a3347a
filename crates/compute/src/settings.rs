//! Debugging switches that can change at run time.

use crate::error::{Error, Result, usage};
use crate::finding::{ShaderChecks, ShaderValidation};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The switches of a device.
pub struct Settings {
    validation: AtomicBool,
    serial: AtomicBool,
    capture: Option<CaptureSettings>,
}

/// Settings of a GPU capture for Xcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureSettings {
    /// The capture file.
    pub path: PathBuf,
    /// Number of command buffers to capture, at least 1.
    pub command_buffers: usize,
}

impl Settings {
    /// Reads the environment. By default, validation is on in debug builds.
    pub(crate) fn from_environment() -> Result<Settings> {
        Ok(Settings {
            validation: AtomicBool::new(validation()?),
            serial: AtomicBool::new(switch("METALWORKS_SERIAL", false)?),
            capture: capture()?,
        })
    }

    /// True if mistakes that cannot corrupt memory are checked, too.
    pub fn is_validating(&self) -> bool {
        self.validation.load(Ordering::Relaxed)
    }

    pub(crate) fn set_validation(&self, on: bool) {
        self.validation.store(on, Ordering::Relaxed);
    }

    pub(crate) fn is_serial(&self) -> bool {
        self.serial.load(Ordering::Relaxed)
    }

    pub(crate) fn set_serial(&self, on: bool) {
        self.serial.store(on, Ordering::Relaxed);
    }

    /// The capture settings, for devices that support captures.
    pub fn capture(&self) -> Option<&CaptureSettings> {
        self.capture.as_ref()
    }
}

/// Reads `METALWORKS_CAPTURE`, a file, and `METALWORKS_CAPTURE_COMMAND_BUFFERS`, 1 by default.
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

/// Reads `METALWORKS_VALIDATION`.
fn validation() -> Result<bool> {
    if shader_validation()?.is_some() {
        return Ok(true);
    }
    switch(VALIDATION, cfg!(debug_assertions)).map_err(|error| match error {
        Error::Usage(problem) => Error::Usage(problem.replace("0 or 1", "0, 1 or shader")),
        other => other,
    })
}

const VALIDATION: &str = "METALWORKS_VALIDATION";

/// The options of `METALWORKS_VALIDATION=shader,findings=20`, with which kernels are validated, too.
pub(crate) fn shader_validation() -> Result<Option<ShaderValidation>> {
    /// Findings are logged, and a program may have many kernels.
    const MOST_FINDINGS: usize = 10_000;
    let text = std::env::var(VALIDATION).unwrap_or_default();
    let mut words = text.split(',').map(str::trim);
    if words.next() != Some("shader") {
        return Ok(None);
    }
    let none = ShaderChecks { bounds: false, races: false, nan: false };
    let mut validation =
        ShaderValidation { checks: none, most_findings: MOST_FINDINGS, ..ShaderValidation::default() };
    for word in words {
        let (name, number) = word.split_once('=').unwrap_or((word, ""));
        match (name, number, number.parse()) {
            ("bounds", "", _) => validation.checks.bounds = true,
            ("races", "", _) => validation.checks.races = true,
            ("nan", "", _) => validation.checks.nan = true,
            ("findings", _, Ok(most @ 1..)) => {
                validation.most_findings = usize::try_from(most).unwrap_or(usize::MAX);
                validation.stops_at_first = most == 1;
            }
            ("steps", _, Ok(steps @ 1..)) => validation.step_budget = steps,
            _ => {
                let options = "bounds, races, nan, findings=NUMBER and steps=NUMBER";
                return usage(format!("{VALIDATION} has the option '{word}': those of shader are {options}"));
            }
        }
    }
    if !(validation.checks.bounds || validation.checks.races) {
        validation.checks = ShaderChecks { nan: validation.checks.nan, ..ShaderChecks::default() };
    }
    Ok(Some(validation))
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
