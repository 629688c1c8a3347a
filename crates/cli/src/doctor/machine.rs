//! Examines this program, its system, and Apple's compiler.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::process::{Command, Stdio};

use compute::{LibraryCompiler, PrecompiledLibrary};
use inference::metal::kernels;

use super::findings::{Program, ShaderCompiler, System, Toolchain};
use super::problems::Problems;

const ON_MACOS: bool = cfg!(target_os = "macos");

pub(super) struct Machine {
    pub(super) program: Program,
    pub(super) system: System,
    pub(super) toolchain: Toolchain,
}

pub(super) fn examine(problems: &mut Problems) -> Machine {
    if cfg!(debug_assertions) {
        problems.note("this is a debug build, which is slow", "build with 'cargo build --release' to measure");
    }
    Machine { program: program(), system: system(), toolchain: toolchain(problems) }
}

fn program() -> Program {
    let features = [("compiler", cfg!(feature = "compiler")), ("cpu", cfg!(feature = "cpu"))];
    Program {
        version: env!("CARGO_PKG_VERSION"),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        features: features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect(),
        llvm: llvm(),
    }
}

#[cfg(llvm)]
fn llvm() -> Option<String> {
    Some(air::llvm_version())
}

#[cfg(not(llvm))]
fn llvm() -> Option<String> {
    None
}

fn system() -> System {
    let (os, cpu, memory_bytes) = if ON_MACOS { macos() } else { linux() };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    System { os, architecture: std::env::consts::ARCH, cpu, cores, memory_bytes }
}

type OfSystem = (String, Option<String>, Option<u64>);

fn macos() -> OfSystem {
    let version = |flag| first_line("sw_vers", &[flag]).unwrap_or_default();
    let os = format!("macOS {} ({})", version("-productVersion"), version("-buildVersion"));
    let value = |name| first_line("sysctl", &["-n", name]);
    (os, value("machdep.cpu.brand_string"), value("hw.memsize").and_then(|bytes| bytes.parse().ok()))
}

fn linux() -> OfSystem {
    let after = |path: &str, key: &str, separator: char| {
        let text = fs::read_to_string(path).ok()?;
        let line = text.lines().find(|line| line.split(separator).next().is_some_and(|name| name.trim() == key))?;
        Some(line.split_once(separator)?.1.trim().trim_matches('"').to_owned())
    };
    let name = after("/etc/os-release", "PRETTY_NAME", '=').unwrap_or_else(|| std::env::consts::OS.into());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let memory = after("/proc/meminfo", "MemTotal", ':');
    let memory = memory.and_then(|text| text.strip_suffix("kB")?.trim().parse::<u64>().ok()).map(|kib| kib << 10);
    (format!("{name}, kernel {}", kernel.trim()), after("/proc/cpuinfo", "model name", ':'), memory)
}

fn toolchain(problems: &mut Problems) -> Toolchain {
    let xcrun_metal = ON_MACOS.then(|| first_line("xcrun", &["-sdk", "macosx", "metal", "--version"])).flatten();
    let libraries: Vec<PrecompiledLibrary> = kernels::SHADERS.iter().filter_map(|shader| shader.metallib).collect();
    let metallibs = libraries.len();
    // A build uses one compiler.
    let compiler = libraries.first().map(|library| match library.compiler {
        LibraryCompiler::Apple => ShaderCompiler::Apple,
        LibraryCompiler::Metalworks => ShaderCompiler::Metalworks,
    });
    if ON_MACOS && metallibs == 0 {
        let advice = match xcrun_metal {
            Some(_) => "build again, without METALWORKS_METALLIB=0: then they are compiled by the build",
            None => {
                "install Xcode, and the Metal toolchain with 'xcodebuild -downloadComponent MetalToolchain', and build again"
            }
        };
        problems.note("this program has its shaders as source: the first start compiles them", advice);
    }
    Toolchain { xcrun_metal, shaders: kernels::SHADERS.len(), kernels: kernels::ALL.len(), metallibs, compiler }
}

/// The first line of a program's output, if it succeeds.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Environment variables that affect this program or Metal.
pub(super) fn environment(problems: &mut Problems) -> BTreeMap<String, String> {
    let all = std::env::vars_os().map(|(name, value)| (name.to_string_lossy().into_owned(), value));
    let ours =
        all.filter(|(name, _)| ["METALWORKS_", "MTL_", "METAL_"].iter().any(|start| name.starts_with(start)));
    let found: BTreeMap<String, String> =
        ours.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect();
    for name in ["MTL_DEBUG_LAYER", "MTL_SHADER_VALIDATION", "METALWORKS_VALIDATION"] {
        if found.get(name).is_some_and(|value| !value.is_empty() && value != "0") {
            problems.note(
                format!("{name} is set: kernels are checked while they run, which is slow"),
                "unset it to measure",
            );
        }
    }
    found
}
