//! Which devices there are, and how one is chosen.

use crate::device::{Backend, Device};
use crate::error::{Result, usage};

#[cfg(target_os = "macos")]
use crate::metal;

/// The environment variable that chooses the default device.
const VARIABLE: &str = "METALWORKS_DEVICE";

/// What runs the kernels of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// The processor of this machine.
    Cpu,
    /// A GPU, through Apple's Metal.
    Metal,
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Metal => "metal",
        })
    }
}

impl Device {
    /// All devices of this machine, the best first. The processor is always among them.
    pub fn all() -> Result<Vec<Device>> {
        let mut devices = gpus()?;
        devices.push(Device::cpu()?);
        Ok(devices)
    }

    /// A device by its name: `cpu`; `metal`, the GPU that the system prefers; `metal:1`, the second one of those that it has.
    pub fn named(name: &str) -> Result<Device> {
        let (kind, number) = match name.split_once(':') {
            Some((kind, number)) => (kind, Some(number)),
            None => (name, None),
        };
        match (kind, number) {
            ("cpu", None) => Device::cpu(),
            ("metal", number) => gpu(name, number),
            _ => usage(format!("there is no device '{name}'; {}", there_are()?)),
        }
    }

    /// The best device of this machine: the GPU that Metal prefers, or else the processor. When the environment variable
    /// `METALWORKS_DEVICE` is set, the device that it names, as [`Device::named`] takes it.
    pub fn system_default() -> Result<Device> {
        match std::env::var(VARIABLE) {
            Ok(name) if !name.trim().is_empty() => {
                Device::named(name.trim()).or_else(|error| usage(format!("{VARIABLE} is '{name}': {error}")))
            }
            Err(std::env::VarError::NotUnicode(name)) => {
                usage(format!("{VARIABLE} is '{}': {}", name.display(), there_are()?))
            }
            Ok(_) | Err(std::env::VarError::NotPresent) => match gpus()?.into_iter().next() {
                Some(gpu) => Ok(gpu),
                None => Device::cpu(),
            },
        }
    }

    /// What it is, in general.
    pub fn kind(&self) -> DeviceKind {
        match self.backend() {
            Backend::Cpu(_) => DeviceKind::Cpu,
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => DeviceKind::Metal,
        }
    }

    /// The name by which [`Device::named`] finds it: `cpu`, `metal:0`.
    pub fn id(&self) -> String {
        match self.backend() {
            Backend::Cpu(_) => "cpu".into(),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => format!("metal:{}", device.index()),
        }
    }
}

/// The GPUs, the one that the system prefers first.
#[cfg(target_os = "macos")]
fn gpus() -> Result<Vec<Device>> {
    use std::sync::OnceLock;

    // Once, as the processor: what is made for a device works with the same device when it is asked for again.
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    if let Some(devices) = DEVICES.get() {
        return Ok(devices.clone());
    }
    let devices = metal::Device::all().into_iter().map(Device::with_metal).collect::<Result<Vec<_>>>()?;
    Ok(DEVICES.get_or_init(|| devices).clone())
}

#[cfg(not(target_os = "macos"))]
fn gpus() -> Result<Vec<Device>> {
    Ok(Vec::new())
}

/// A GPU by the number that its name has, if it has one.
fn gpu(name: &str, number: Option<&str>) -> Result<Device> {
    let Ok(number) = number.unwrap_or("0").parse::<usize>() else {
        return usage(format!(
            "there is no device '{name}': what follows 'metal:' must be a number; {}",
            there_are()?
        ));
    };
    if !cfg!(target_os = "macos") {
        return usage(format!("there is no device '{name}': Metal needs macOS; {}", there_are()?));
    }
    match gpus()?.into_iter().nth(number) {
        Some(device) => Ok(device),
        None => usage(format!("there is no device '{name}': the system has no such GPU; {}", there_are()?)),
    }
}

/// The names of all devices, for messages.
fn there_are() -> Result<String> {
    let names: Vec<String> = gpus()?.iter().map(Device::id).chain(["cpu".to_owned()]).collect();
    let verb = if names.len() == 1 { "there is" } else { "there are" };
    Ok(format!("{verb} {}", names.join(", ")))
}
