//! Devices, from which all other objects are created.

use crate::backend::registry::{self, ABSENT, BACKENDS, Backend, CpuOptions};
use crate::backend::{self, Capabilities, DeviceKind, Limits};
use crate::error::{Result, usage};
use crate::finding::{Finding, ShaderValidation};
use crate::message::LogMessage;
use crate::settings::Settings;
use crate::size::Size;
use std::sync::{Arc, OnceLock};

/// The environment variable that chooses the default device.
const VARIABLE: &str = "METALWORKS_DEVICE";

/// A device that runs kernels. A clone is the same device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn backend::Device>,
    settings: Arc<Settings>,
}

impl Device {
    /// The CPU of this machine: one device with one thread pool, shared by all callers. Kernels are compiled for its
    /// features; `METALWORKS_CPU=haswell` treats it as another CPU, here one without AVX-512.
    pub fn cpu() -> Result<Device> {
        Device::named("cpu")
    }

    /// Creates a separate CPU device, with options.
    pub fn cpu_with_options(options: &CpuOptions) -> Result<Device> {
        Device::with_backend(registry::cpu_device(options)?)
    }

    /// Creates a device of another crate's back end.
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

    /// Back ends of this build that have no device here: the name of each, and the reason.
    pub fn missing() -> Result<Vec<(&'static str, String)>> {
        let mut missing = Vec::new();
        for (number, backend) in BACKENDS.iter().enumerate() {
            if of_backend(number)?.is_empty() {
                missing.push((backend.name, (backend.why_none)()));
            }
        }
        Ok(missing)
    }

    /// Finds a device by name: `cpu`; `metal`, the system's default GPU; `metal:1`, the second GPU; `cuda`, `cuda:1`.
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
            Some(Err(_)) => return no_device(format!("the part after '{kind}:' must be a number")),
        };
        let Some(position) = BACKENDS.iter().position(|backend| backend.name == kind) else {
            let absent = ABSENT.iter().find(|(name, _)| *name == kind);
            return no_device(absent.map(|(_, why)| (*why).to_owned()).unwrap_or_default());
        };
        match of_backend(position)?.get(number) {
            Some(device) => Ok(device.clone()),
            None if of_backend(position)?.is_empty() => no_device((BACKENDS[position].why_none)()),
            None => no_device("this system does not have it".into()),
        }
    }

    /// The best device of this machine: the default GPU, or else the CPU. The environment variable
    /// `METALWORKS_DEVICE` overrides it, with a name for [`Device::named`].
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

    /// Identifies the memory and pipelines that it can use.
    pub(crate) fn domain(&self) -> u32 {
        self.backend.properties().domain
    }

    /// Its name for display.
    pub fn name(&self) -> String {
        self.backend.properties().name.clone()
    }

    /// The name that [`Device::named`] accepts: `cpu`, `cuda:0`, `metal:0`.
    pub fn id(&self) -> String {
        self.backend.properties().id.clone()
    }

    /// The kind of back end.
    pub fn kind(&self) -> DeviceKind {
        self.backend.properties().kind
    }

    /// Its capabilities. Choose kernels by these, not by the name of a GPU.
    pub fn capabilities(&self) -> Capabilities {
        self.backend.properties().capabilities.clone()
    }

    /// Its limits.
    pub fn limits(&self) -> Limits {
        self.backend.properties().limits.clone()
    }

    /// Number of this machine's threads that execute kernels, on a CPU.
    pub fn threads(&self) -> Option<usize> {
        self.backend.threads()
    }

    /// True for a CPU with a fast instruction for `sum + a₀·b₀ + a₁·b₁`, where the factors are the halves of two words as
    /// `bfloat`, if kernels are compiled here. Kernels that add up so are then faster than those with products of `float`.
    pub fn prefers_bfloats(&self) -> bool {
        self.backend.prefers_bfloats()
    }

    /// Largest threadgroup memory of a threadgroup, in bytes.
    pub fn max_threadgroup_memory_length(&self) -> usize {
        self.backend.properties().limits.max_threadgroup_memory_length
    }

    /// Largest threadgroup along each dimension. The pipeline limits its volume, too.
    pub fn max_threads_per_threadgroup(&self) -> Size {
        self.backend.properties().limits.max_threads_per_threadgroup
    }

    /// Largest buffer, in bytes.
    pub fn max_buffer_length(&self) -> usize {
        self.backend.properties().limits.max_buffer_length
    }

    /// True if encoders also check for mistakes that cannot corrupt memory: bindings that no kernel uses. On in debug
    /// builds; the environment variable `METALWORKS_VALIDATION` turns it on (1) or off (0).
    pub fn is_validating(&self) -> bool {
        self.settings.is_validating()
    }

    /// Turns validation on or off, for encoders created from now on.
    pub fn set_validation(&self, on: bool) {
        self.settings.set_validation(on);
    }

    /// The options of shader validation; `None` if it is off.
    pub fn shader_validation(&self) -> Option<ShaderValidation> {
        self.backend.shader_validation()
    }

    /// Turns shader validation on or off, for pipelines created from now on; the environment variable
    /// `METALWORKS_VALIDATION=shader` turns it on from the start, and logs each finding: at most 10,000, or 20 with
    /// `shader,findings=20`. Only the CPU validates shaders.
    pub fn set_shader_validation(&self, validation: Option<ShaderValidation>) -> Result<()> {
        self.backend.set_shader_validation(validation)
    }

    /// The findings of shader validation since the last call, in the order in which they were made first.
    pub fn take_findings(&self) -> Vec<Finding> {
        self.backend.take_findings()
    }

    /// True if all encoders are serial. A result that is right only then indicates dispatches that access more than
    /// their arguments.
    pub fn is_serial(&self) -> bool {
        self.settings.is_serial()
    }

    /// Makes all encoders created from now on serial, or restores their own type; `METALWORKS_SERIAL=1` sets it from
    /// the start.
    pub fn set_serial(&self, on: bool) {
        self.settings.set_serial(on);
    }

    /// Sets the function that takes the messages of kernels (`os_log` of `<metal_logging>`), as `MTLLogState` does. It is
    /// called when the dispatches of an encoder are done, with at most 10,000 messages of each, in the order of their
    /// dispatches, threadgroups and threads. Without one, messages are dropped, as they are on GPUs.
    pub fn set_log_handler(&self, handler: impl Fn(&LogMessage) + Send + Sync + 'static) {
        self.backend.set_log_handler(Some(Arc::new(handler)));
    }

    /// Stops the command buffers that are being executed, even inside an endless loop of a kernel, and returns when no
    /// kernel of theirs is running. They end with an error that says where the kernel was; those that have not begun run
    /// as usual. Only on Linux, for the CPU: a GPU does not stop a kernel.
    pub fn cancel(&self) {
        self.backend.cancel();
    }

    /// True if kernels run in adverse order. A result that differs then indicates a missing barrier, or threadgroup
    /// memory that is read before it is written. A GPU has its own order: there it is never on.
    pub fn is_adverse(&self) -> bool {
        self.backend.is_adverse()
    }

    /// Turns adverse order on or off: dispatches that may overlap, threadgroups and simdgroups run backwards, with
    /// garbage in threadgroup memory. `METALWORKS_ADVERSE=1` sets it from the start.
    pub fn set_adverse(&self, on: bool) {
        self.backend.set_adverse(on);
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The devices of a back end, found once: objects of a device work with the same device when it is looked up again.
fn of_backend(number: usize) -> Result<&'static [Device]> {
    static DEVICES: [OnceLock<Vec<Device>>; BACKENDS.len()] = [const { OnceLock::new() }; BACKENDS.len()];
    if let Some(devices) = DEVICES[number].get() {
        return Ok(devices);
    }
    let Backend { devices, .. } = BACKENDS[number];
    let devices = devices()?.into_iter().map(Device::with_backend).collect::<Result<Vec<_>>>()?;
    Ok(DEVICES[number].get_or_init(|| devices))
}

/// True if a back end can have several devices, including those missing from this build.
fn has_numbers(kind: &str) -> bool {
    BACKENDS.iter().any(|backend| backend.name == kind && backend.has_numbers)
        || ABSENT.iter().any(|(name, _)| *name == kind)
}

/// Names of all devices, for messages.
fn there_are() -> Result<String> {
    let names: Vec<String> = Device::all()?.iter().map(Device::id).collect();
    let verb = if names.len() == 1 { "there is" } else { "there are" };
    Ok(format!("{verb} {}", names.join(", ")))
}
