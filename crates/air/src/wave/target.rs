//! The machines that code is generated for.

use super::byte_products::ByteProducts;
use super::groups::Permutation;
use super::streams::StreamHelp;
use super::{Error, Result};
use inkwell::OptimizationLevel;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine, TargetTriple,
};
use std::sync::Once;

/// A kind of CPU. Objects are ELF on every system: the loader is our own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    triple: &'static str,
    cpu: String,
    features: String,
}

const X86_64: &str = "x86_64-unknown-linux-gnu";
const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// LLVM's API does not list the features of the CPUs that it knows by name. One that is missing here only gets slower
/// code.
const WITH_AVX512: &[&str] = &[
    "x86-64-v4",
    "skylake-avx512",
    "cascadelake",
    "cooperlake",
    "icelake-client",
    "icelake-server",
    "tigerlake",
    "rocketlake",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "znver4",
    "znver5",
];
const WITH_AVX2: &[&str] = &[
    "x86-64-v3",
    "haswell",
    "broadwell",
    "skylake",
    "alderlake",
    "raptorlake",
    "meteorlake",
    "znver1",
    "znver2",
    "znver3",
];

/// CPUs with AVX-512 VNNI; those with AVX-VNNI, which is the same on 256 bits; those with the extension `dotprod` of
/// Armv8, and those that also have products of unsigned with signed bytes (`i8mm`).
const WITH_AVX512_VNNI: &[&str] = &[
    "cascadelake",
    "cooperlake",
    "icelake-client",
    "icelake-server",
    "tigerlake",
    "rocketlake",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "znver4",
    "znver5",
];
const WITH_AVX_VNNI: &[&str] = &["alderlake", "raptorlake", "meteorlake"];
const WITH_DOTPROD: &[&str] =
    &["apple-m1", "neoverse-n1", "cortex-a75", "cortex-a76", "cortex-a77", "cortex-a78", "cortex-x1"];
const WITH_I8MM: &[&str] = &[
    "apple-m2",
    "apple-m3",
    "apple-m4",
    "neoverse-n2",
    "neoverse-n3",
    "neoverse-v1",
    "neoverse-v2",
    "neoverse-v3",
    "cortex-a710",
    "cortex-x2",
];

/// CPUs with AVX-512 BF16.
const WITH_AVX512_BF16: &[&str] =
    &["cooperlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver4", "znver5"];

/// The features of AMX for products of bytes and of `bfloat`. CPUs with one of them have both.
const TILES: [&str; 3] = ["+amx-tile", "+amx-int8", "+amx-bf16"];

impl Target {
    /// The CPU that this program runs on, without AMX: the system must allow its use, too ([`Target::with_tiles`]).
    pub fn host() -> Result<Target> {
        initialize();
        let triple = match std::env::consts::ARCH {
            "x86_64" => X86_64,
            "aarch64" => AARCH64,
            other => return Err(Error::Unsupported(format!("a CPU of the architecture '{other}'"))),
        };
        let features = TargetMachine::get_host_cpu_features().to_string();
        let target = Target {
            triple,
            cpu: TargetMachine::get_host_cpu_name().to_string(),
            features: features.replace("+amx-", "-amx-"),
        };
        if triple == X86_64 && !["+avx2", "+fma", "+f16c"].iter().all(|name| target.has(name)) {
            return Err(Error::Unsupported("an x86-64 CPU without AVX2, FMA and F16C".into()));
        }
        Ok(target)
    }

    /// The CPU that this program runs on, taken for an older one: one of LLVM's names for x86-64 CPUs, such as
    /// `haswell`.
    ///
    /// The error says what else it must be.
    pub fn host_as(cpu: &str) -> std::result::Result<Target, String> {
        let host = Target::host().map_err(|error| error.to_string())?;
        let known = |names: &[&str]| names.contains(&cpu);
        if host.triple != X86_64 {
            return Err("it must be unset on this architecture".into());
        }
        if !(known(WITH_AVX2) || known(WITH_AVX512)) {
            return Err(format!("it must be one of {}", [WITH_AVX2, WITH_AVX512].concat().join(", ")));
        }
        if known(WITH_AVX512) && !host.has("+avx512bw") {
            return Err("it must be a CPU without AVX-512, which this one lacks".into());
        }
        Target::named(cpu).map_err(|error| error.to_string())
    }

    /// A CPU by LLVM's name for it: `haswell`, `znver4`, `apple-m1`.
    pub fn named(cpu: &str) -> Result<Target> {
        initialize();
        let is_arm = ["apple-", "cortex-", "neoverse-", "a64fx"].iter().any(|start| cpu.starts_with(start));
        Ok(Target { triple: if is_arm { AARCH64 } else { X86_64 }, cpu: cpu.into(), features: String::new() })
    }

    /// The same CPU with AMX, for products of bytes and of `bfloat`.
    pub fn with_tiles(mut self) -> Target {
        let is_kept = |have: &&str| !have.is_empty() && !TILES.iter().any(|feature| feature[1..] == have[1..]);
        self.features = self.features.split(',').filter(is_kept).chain(TILES).collect::<Vec<_>>().join(",");
        self
    }

    /// The CPU's name.
    pub fn cpu(&self) -> &str {
        &self.cpu
    }

    /// `x86_64` or `aarch64`.
    pub fn architecture(&self) -> &'static str {
        self.triple.split('-').next().unwrap_or_default()
    }

    /// The features that are switched on and off beside those of the CPU's name: `+avx2,-avx512f`.
    pub fn features(&self) -> &str {
        &self.features
    }

    fn has(&self, feature: &str) -> bool {
        self.features.split(',').any(|have| have == feature)
    }

    /// The extension whose instructions move values between lanes by numbers that are not constant.
    pub(super) fn permutation(&self) -> Permutation {
        if self.triple != X86_64 {
            Permutation::Memory
        } else if self.has("+avx512f") || WITH_AVX512.contains(&self.cpu.as_str()) {
            Permutation::Avx512
        } else if self.has("+avx2") || WITH_AVX2.contains(&self.cpu.as_str()) {
            Permutation::Avx2
        } else {
            Permutation::Memory
        }
    }

    /// The help that the CPU needs to follow streams. On a Xeon (Sapphire Rapids), products with weights in memory run up
    /// to twice as fast with prefetches. Zen 4 loses up to 15% to the additional instructions, and follows streams by
    /// itself, but only if their lines are read in order: LLVM's order halved the bandwidth of products with Q4_K. Others
    /// than x86-64 are not measured.
    pub(super) fn stream_help(&self) -> Option<StreamHelp> {
        match self.triple == X86_64 {
            true if self.cpu.starts_with("znver") => Some(StreamHelp::Order),
            true => Some(StreamHelp::Prefetch),
            false => None,
        }
    }

    /// The extension whose instructions add up products of bytes.
    pub(super) fn byte_products(&self) -> ByteProducts {
        let has = |feature: &str, cpus: &[&str]| self.has(feature) || cpus.contains(&self.cpu.as_str());
        if self.triple == X86_64 {
            match self.permutation() {
                Permutation::Avx512 if has("+avx512vnni", WITH_AVX512_VNNI) => ByteProducts::Avx512Vnni,
                Permutation::Avx512 | Permutation::Avx2 if has("+avxvnni", WITH_AVX_VNNI) => ByteProducts::AvxVnni,
                Permutation::Avx512 | Permutation::Avx2 => ByteProducts::Avx2,
                Permutation::Memory => ByteProducts::Plain,
            }
        } else if has("+i8mm", WITH_I8MM) {
            ByteProducts::Usdot
        } else if has("+dotprod", WITH_DOTPROD) {
            ByteProducts::Sdot
        } else {
            ByteProducts::Plain
        }
    }

    /// True if sums of products of `bfloat` have an instruction.
    pub(super) fn bfloat_products(&self) -> bool {
        self.permutation() == Permutation::Avx512
            && (self.has("+avx512bf16") || WITH_AVX512_BF16.contains(&self.cpu.as_str()))
    }

    /// True if products of matrices of `bfloat` are faster than those of `float`: on Zen, and with AMX. Without, Intel's CPUs
    /// start two products of `float` in a cycle and one of `bfloat`, which has twice as many numbers.
    pub fn prefers_bfloats(&self) -> bool {
        self.byte_tiles() || self.bfloat_products() && self.cpu.starts_with("znver")
    }

    /// True if matrices of bytes and of `bfloat` are multiplied by AMX.
    pub(super) fn byte_tiles(&self) -> bool {
        self.byte_products() == ByteProducts::Avx512Vnni && TILES.iter().all(|feature| self.has(feature))
    }

    pub(super) fn machine(&self, level: OptimizationLevel) -> Result<TargetMachine> {
        let triple = TargetTriple::create(self.triple);
        let target = LlvmTarget::from_triple(&triple).map_err(|error| Error::Internal(error.to_string()))?;
        // macOS reserves this register, and may clear it at any time.
        let reserved = if self.triple == AARCH64 { "+reserve-x18" } else { "" };
        let features: Vec<&str> = [&*self.features, reserved].into_iter().filter(|part| !part.is_empty()).collect();
        target
            .create_target_machine(&triple, &self.cpu, &features.join(","), level, RelocMode::PIC, CodeModel::Small)
            .ok_or_else(|| Error::Unsupported(format!("the CPU '{}'", self.cpu)))
    }
}

pub(super) const OBJECT: FileType = FileType::Object;
pub(super) const ASSEMBLY: FileType = FileType::Assembly;

fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        LlvmTarget::initialize_x86(&InitializationConfig::default());
        LlvmTarget::initialize_aarch64(&InitializationConfig::default());
    });
}
