//! The findings, as `--json` prints them. `docs/doctor.md` describes every field; a change that breaks readers
//! increments the schema version.

use std::collections::BTreeMap;

use serde::Serialize;

/// Version of the JSON schema.
pub(super) const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub(super) struct Findings {
    pub(super) schema: u32,
    pub(super) program: Program,
    pub(super) system: System,
    pub(super) toolchain: Toolchain,
    pub(super) devices: Vec<DeviceFinding>,
    /// Back ends without a device, and why; for people only.
    #[serde(skip)]
    pub(super) missing: Vec<(&'static str, String)>,
    pub(super) chosen: Chosen,
    pub(super) cache: CacheFinding,
    pub(super) models: Models,
    pub(super) environment: BTreeMap<String, String>,
    /// `None` if no kernel was to be run.
    pub(super) self_test: Option<SelfTestFinding>,
    pub(super) problems: Vec<Problem>,
}

#[derive(Serialize)]
pub(super) struct Program {
    pub(super) version: &'static str,
    /// `release` or `debug`.
    pub(super) build: &'static str,
    pub(super) features: Vec<&'static str>,
    pub(super) llvm: Option<String>,
}

#[derive(Serialize)]
pub(super) struct System {
    pub(super) os: String,
    pub(super) architecture: &'static str,
    pub(super) cpu: Option<String>,
    pub(super) cores: usize,
    pub(super) memory_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Toolchain {
    /// Version of Apple's compiler, if it is installed.
    pub(super) xcrun_metal: Option<String>,
    pub(super) shaders: usize,
    pub(super) kernels: usize,
    /// Number of shaders embedded as compiled libraries; all are embedded as source.
    pub(super) metallibs: usize,
    /// The compiler of these libraries, if there are any.
    pub(super) compiler: Option<ShaderCompiler>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ShaderCompiler {
    Apple,
    Metalworks,
}

#[derive(Serialize)]
pub(super) struct DeviceFinding {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) family: String,
    pub(super) apple_family: Option<u32>,
    pub(super) simd_reductions: bool,
    pub(super) simdgroup_matrix: bool,
    pub(super) bfloat: bool,
    pub(super) nonuniform_threadgroups: bool,
    pub(super) unified_memory: bool,
    pub(super) max_threads_per_threadgroup: [usize; 3],
    pub(super) max_threadgroup_memory_bytes: usize,
    pub(super) max_buffer_bytes: usize,
    pub(super) recommended_working_set_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct Chosen {
    /// `None` if the requested device does not exist.
    pub(super) id: Option<String>,
    pub(super) why: String,
}

#[derive(Serialize, Default)]
pub(super) struct CacheFinding {
    pub(super) path: Option<String>,
    /// The reason why nothing is cached.
    pub(super) off: Option<String>,
    pub(super) writable: bool,
    pub(super) entries: usize,
    pub(super) bytes: u64,
    pub(super) size_limit: Option<u64>,
    pub(super) damaged: usize,
    pub(super) unfinished: usize,
}

#[derive(Serialize, Default)]
pub(super) struct Models {
    pub(super) path: Option<String>,
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) default_model: bool,
}

#[derive(Serialize)]
pub(super) struct SelfTestFinding {
    pub(super) device: String,
    /// `formula`, `cpu`, or a file.
    pub(super) reference: String,
    /// Number of shaders whose kernels came from the embedded library, or from source.
    pub(super) shaders_from_library: usize,
    pub(super) shaders_from_source: usize,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) not_run: usize,
    pub(super) pipelines: usize,
    pub(super) pipelines_from_cache: usize,
    pub(super) compile_seconds: f64,
    pub(super) run_seconds: f64,
    pub(super) kernels: Vec<KernelFinding>,
    /// All checks that did not pass.
    pub(super) failures: Vec<FailureFinding>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Passed,
    Failed,
    NotRun,
}

#[derive(Serialize)]
pub(super) struct KernelFinding {
    pub(super) kernel: &'static str,
    pub(super) shader: &'static str,
    pub(super) status: Status,
    pub(super) checks: usize,
    /// Σ(actual − expected)² / Σ expected²; `None` if nothing was compared, or if it is not a number.
    pub(super) error: Option<f64>,
    pub(super) bound: Option<f64>,
    pub(super) speed: Option<SpeedFinding>,
}

#[derive(Serialize)]
pub(super) struct SpeedFinding {
    pub(super) shape: String,
    pub(super) microseconds: f64,
    pub(super) gigabytes_per_second: f64,
    pub(super) gigaflops: f64,
}

#[derive(Serialize)]
pub(super) struct FailureFinding {
    pub(super) check: String,
    pub(super) shape: String,
    pub(super) status: Status,
    pub(super) kernels: Vec<String>,
    /// With their function constants.
    pub(super) pipelines: Vec<String>,
    pub(super) problem: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    /// Must be fixed.
    Error,
    /// Should be fixed.
    Warning,
    /// For information.
    Note,
}

#[derive(Serialize)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    pub(super) what: String,
    pub(super) advice: String,
}
