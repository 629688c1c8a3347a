//! Devices: where everything else comes from.

use crate::backend::registry::{self, ABSENT, BACKENDS, Backend, CpuOptions};
use crate::backend::{self, Capabilities, DeviceKind, Limits};
use crate::error::{Result, usage};
use crate::settings::Settings;
use crate::size::Size;
use std::sync::{Arc, OnceLock};

/// The environment variable that chooses the default device.
const VARIABLE: &str = "METALWORKS_DEVICE";

/// Something that runs kernels. A clone is the same device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn backend::Device>,
    settings: Arc<Settings>,
}

impl Device {
    /// The CPU of this machine: one device, with one set of threads, however often it is asked for.
    /// Kernels are compiled for what it can do; `METALWORKS_CPU=haswell` takes it for another one, here without AVX-512.
    pub fn cpu() -> Result<Device> {
        Device::named("cpu")
    }

    /// The CPU of this machine as a device of its own, with options.
    pub fn cpu_with_options(options: &CpuOptions) -> Result<Device> {
        Device::with_backend(registry::cpu_device(options)?)
    }

    /// A device of a back end that is not among those of this crate.
    pub fn with_backend(backend: Arc<dyn backend::Device>) -> Result<Device> {
        Ok(Device { backend, settings: Arc::new(Settings::from_environment()?) })
    }

    /// All devices of this machine, the best first. The CPU is always among them.
    pub fn all() -> Result<Vec<Device>> {
        let mut devices = Vec::new();
        for number in 0..BACKENDS.len() {
            devices.extend_from_slice(of_backend(number)?);
        }
        Ok(devices)
    }

    /// A device by its name: `cpu`; `metal`, the GPU that the system prefers; `metal:1`, the second one of those that it has.
    pub fn named(name: &str) -> Result<Device> {
        let (kind, number) = match name.split_once(':') {
            Some((kind, number)) => (kind, Some(number)),
            None => (name, None),
        };
        let no_device = |why: String| {
            let why = if why.is_empty() { why } else { format!(": {why}") };
            usage(format!("there is no device '{name}'{why}; {}", there_are()?))
        };
        let number = match number.map(str::parse::<usize>) {
            None => 0,
            Some(_) if !has_numbers(kind) => return no_device(String::new()),
            Some(Ok(number)) => number,
            Some(Err(_)) => return no_device(format!("what follows '{kind}:' must be a number")),
        };
        let Some(position) = BACKENDS.iter().position(|backend| backend.name == kind) else {
            let absent = ABSENT.iter().find(|(name, _)| *name == kind);
            return no_device(absent.map(|(_, why)| (*why).to_owned()).unwrap_or_default());
        };
        match of_backend(position)?.get(number) {
            Some(device) => Ok(device.clone()),
            None => no_device("the system has no such device".into()),
        }
    }

    /// The best device of this machine: the GPU that Metal prefers, or else the CPU. When the environment variable
    /// `METALWORKS_DEVICE` is set, the device that it names, as [`Device::named`] takes it.
    pub fn system_default() -> Result<Device> {
        match std::env::var(VARIABLE) {
            Ok(name) if !name.trim().is_empty() => {
                Device::named(name.trim()).or_else(|error| usage(format!("{VARIABLE} is '{name}': {error}")))
            }
            Err(std::env::VarError::NotUnicode(name)) => {
                usage(format!("{VARIABLE} is '{}': {}", name.display(), there_are()?))
            }
            Ok(_) | Err(std::env::VarError::NotPresent) => {
                for number in 0..BACKENDS.len() {
                    if let Some(device) = of_backend(number)?.first() {
                        return Ok(device.clone());
                    }
                }
                Device::cpu()
            }
        }
    }

    pub(crate) fn backend(&self) -> &Arc<dyn backend::Device> {
        &self.backend
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub(crate) fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.settings, &other.settings)
    }

    /// The device whose memory and pipelines it shares.
    pub(crate) fn domain(&self) -> u32 {
        self.backend.properties().domain
    }

    /// Its name, to be read by people.
    pub fn name(&self) -> String {
        self.backend.properties().name.clone()
    }

    /// The name by which [`Device::named`] finds it: `cpu`, `metal:0`.
    pub fn id(&self) -> String {
        self.backend.properties().id.clone()
    }

    /// Its back end.
    pub fn kind(&self) -> DeviceKind {
        self.backend.properties().kind
    }

    /// Its capabilities. Those who choose between kernels ask here, and nowhere for the name of a GPU.
    pub fn capabilities(&self) -> Capabilities {
        self.backend.properties().capabilities.clone()
    }

    /// How much of everything it has.
    pub fn limits(&self) -> Limits {
        self.backend.properties().limits.clone()
    }

    /// Bytes of threadgroup memory that a threadgroup can have.
    pub fn max_threadgroup_memory_length(&self) -> usize {
        self.backend.properties().limits.max_threadgroup_memory_length
    }

    /// The largest threadgroup along each dimension. Its volume is limited by the pipeline, too.
    pub fn max_threads_per_threadgroup(&self) -> Size {
        self.backend.properties().limits.max_threads_per_threadgroup
    }

    /// The size in bytes of the largest buffer.
    pub fn max_buffer_length(&self) -> usize {
        self.backend.properties().limits.max_buffer_length
    }

    /// Whether encoders look for mistakes that harm no memory, too: bindings that no kernel uses. It is on in debug
    /// builds, and otherwise with the environment variable `METALWORKS_VALIDATION=1`; 0 turns it off.
    pub fn is_validating(&self) -> bool {
        self.settings.is_validating()
    }

    /// Turns validation on or off, for the encoders that are made from now on.
    pub fn set_validation(&self, on: bool) {
        self.settings.set_validation(on);
    }

    /// Whether all encoders are serial. A result that is right only then is a sign of dispatches that touch more than
    /// their arguments say.
    pub fn is_serial(&self) -> bool {
        self.settings.is_serial()
    }

    /// Makes all encoders serial that are made from now on, or as they were asked for; `METALWORKS_SERIAL=1` does so from
    /// the start.
    pub fn set_serial(&self, on: bool) {
        self.settings.set_serial(on);
    }

    /// Whether kernels run in the order that is least expected. A result that differs then is a sign of a barrier that is
    /// missing, or of threadgroup memory that is read before it is written. A GPU has an order of its own: there it is never on.
    pub fn is_adverse(&self) -> bool {
        self.backend.is_adverse()
    }

    /// Runs kernels backwards from now on, with garbage in threadgroup memory, or as usual: dispatches that may overlap,
    /// threadgroups, simdgroups.
    /// `METALWORKS_ADVERSE=1` does so from the start.
    pub fn set_adverse(&self, on: bool) {
        self.backend.set_adverse(on);
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The devices of the back end with this number. They are found once: what is made for a device works with the same device when it
/// is asked for again.
fn of_backend(number: usize) -> Result<&'static [Device]> {
    static DEVICES: [OnceLock<Vec<Device>>; BACKENDS.len()] = [const { OnceLock::new() }; BACKENDS.len()];
    if let Some(devices) = DEVICES[number].get() {
        return Ok(devices);
    }
    let Backend { devices, .. } = BACKENDS[number];
    let devices = devices()?.into_iter().map(Device::with_backend).collect::<Result<Vec<_>>>()?;
    Ok(DEVICES[number].get_or_init(|| devices))
}

/// Whether a back end can have several devices; those that this build does not have may.
fn has_numbers(kind: &str) -> bool {
    BACKENDS.iter().any(|backend| backend.name == kind && backend.has_numbers)
        || ABSENT.iter().any(|(name, _)| *name == kind)
}

/// The names of all devices, for messages.
fn there_are() -> Result<String> {
    let names: Vec<String> = Device::all()?.iter().map(Device::id).collect();
    let verb = if names.len() == 1 { "there is" } else { "there are" };
    Ok(format!("{verb} {}", names.join(", ")))
}
