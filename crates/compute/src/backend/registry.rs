//! The list of back ends. Only this file and `backend/mod.rs` name them.
//!
//! A new back end is a folder beside this file, and a line in [`BACKENDS`].

use super::{BinaryArchive, Device, DeviceKind, PipelineRequest, cpu};
use crate::error::Result;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

#[cfg(metal)]
use super::metal;

#[cfg(cuda)]
use super::cuda;

pub use cpu::CpuOptions;

/// A back end.
pub(crate) struct Backend {
    /// First word of its devices' IDs.
    pub(crate) name: &'static str,
    /// True if its devices are numbered.
    pub(crate) has_numbers: bool,
    /// Lists its devices, the system's default first.
    pub(crate) devices: fn() -> Result<Vec<Arc<dyn Device>>>,
    /// The reason why there are no devices, if there are none.
    pub(crate) why_none: fn() -> String,
    /// Compiles for machines other than this one, if the back end can.
    compiler: Option<CrossCompiler>,
}

struct CrossCompiler {
    /// Checks the name of a machine; `None` is this machine.
    parse_target: fn(Option<&str>) -> std::result::Result<(), String>,
    /// Compiles all variants of a kernel into an archive.
    compile: fn(&BinaryArchive, &PipelineRequest, &CompileTarget) -> Result<()>,
}

/// All back ends of this build, the best first.
pub(crate) const BACKENDS: &[Backend] = &[
    #[cfg(metal)]
    Backend {
        name: "metal",
        has_numbers: true,
        devices: metal::devices,
        why_none: || "this system does not have it".into(),
        compiler: None,
    },
    #[cfg(cuda)]
    Backend {
        name: "cuda",
        has_numbers: true,
        devices: cuda::devices,
        why_none: cuda::why_none,
        compiler: Some(CrossCompiler { parse_target: cuda::parse_target, compile: cuda::compile_for }),
    },
    Backend {
        name: "cpu",
        has_numbers: false,
        devices: || Ok(vec![cpu_device(&CpuOptions::default())?]),
        why_none: String::new,
        compiler: Some(CrossCompiler { parse_target: cpu::parse_target, compile: cpu::compile_for }),
    },
];

/// Back ends missing from this build, each with the reason.
pub(crate) const ABSENT: &[(&str, &str)] = &[
    #[cfg(not(metal))]
    ("metal", "Metal needs macOS"),
    #[cfg(not(cuda))]
    ("cuda", "NVIDIA's driver needs Linux on x86-64 or ARM64"),
];

/// Creates a CPU device with options.
pub(crate) fn cpu_device(options: &CpuOptions) -> Result<Arc<dyn Device>> {
    Ok(Arc::new(cpu::Device::new(options)?))
}

/// A machine to compile for, as users name it: `cpu`, `cpu:x86-64-v3`, `sm_90a`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileTarget {
    backend: &'static str,
    machine: Option<String>,
}

impl CompileTarget {
    /// The back end's name of the machine; `None` is this machine.
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// The kind of the devices that run its code.
    pub fn kind(&self) -> DeviceKind {
        match self.backend {
            "cuda" => DeviceKind::Cuda,
            _ => DeviceKind::Cpu,
        }
    }

    /// Compiles all variants of a kernel into an archive.
    pub(crate) fn compile(&self, archive: &BinaryArchive, request: &PipelineRequest) -> Result<()> {
        match compilers().find(|(name, _)| *name == self.backend) {
            Some((_, compiler)) => (compiler.compile)(archive, request, self),
            None => Err(crate::error::Error::Internal(format!("no compiler for '{self}'"))),
        }
    }
}

/// The names of GPUs to compile for begin with it.
const GPU_PREFIX: &str = "sm_";

/// The targets of a back end, for messages.
fn known_targets(backend: &str) -> &'static str {
    match backend {
        "cuda" => "sm_NUMBER",
        _ => "cpu, cpu:NAME",
    }
}

fn compilers() -> impl Iterator<Item = (&'static str, &'static CrossCompiler)> {
    BACKENDS.iter().filter_map(|backend| Some((backend.name, backend.compiler.as_ref()?)))
}

impl Default for CompileTarget {
    /// The CPU of this machine.
    fn default() -> CompileTarget {
        CompileTarget { backend: "cpu", machine: None }
    }
}

impl FromStr for CompileTarget {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<CompileTarget, String> {
        let (backend, machine) = match text.split_once(':') {
            Some((backend, machine)) => (backend, Some(machine)),
            // GPUs are known by their own names.
            None if text.starts_with(GPU_PREFIX) => ("cuda", Some(text)),
            None => (text, None),
        };
        match compilers().find(|(name, _)| *name == backend) {
            Some((backend, compiler)) => {
                (compiler.parse_target)(machine)?;
                Ok(CompileTarget { backend, machine: machine.map(str::to_owned) })
            }
            None => {
                let names: Vec<&str> = compilers().map(|(name, _)| known_targets(name)).collect();
                Err(format!("unknown target '{text}'; known targets: {}", names.join(", ")))
            }
        }
    }
}

impl fmt::Display for CompileTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.machine {
            Some(machine) if machine.starts_with(GPU_PREFIX) => f.write_str(machine),
            Some(machine) => write!(f, "{}:{machine}", self.backend),
            None => f.write_str(self.backend),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_rejects_targets() {
        assert_eq!("cpu".parse(), Ok(CompileTarget::default()));
        let target: CompileTarget = "cpu:x86-64-v3".parse().expect("it is known");
        assert_eq!((target.machine(), target.to_string()), (Some("x86-64-v3"), "cpu:x86-64-v3".into()));
        let problem = |text: &str| text.parse::<CompileTarget>().expect_err("it is none");
        #[cfg(cuda)]
        {
            let gpu: CompileTarget = "sm_90a".parse().expect("it is known");
            assert_eq!((gpu.machine(), gpu.to_string()), (Some("sm_90a"), "sm_90a".into()));
            assert_eq!(gpu.kind(), DeviceKind::Cuda);
            assert_eq!("cuda:sm_90a".parse(), Ok(gpu));
            assert!(problem("sm_13").contains("cannot compile for GPU 'sm_13'"));
            assert!(problem("cuda").contains("name the GPU"));
            assert!(problem("gpu").contains("cpu:NAME") && problem("gpu").contains("sm_NUMBER"));
        }
        assert!(problem("cpu:pentium").contains("x86-64-v3"));
        assert!(problem("gpu").contains("unknown target 'gpu'"));
    }
}
