//! Decides by CPU features if this CPU can run code that was compiled for another.
//!
//! LLVM does not export the features of the CPUs that it knows by name, and without a compiler there is no LLVM. So
//! this file has a table of them, and detects the features of this CPU with the standard library, by its names.
//!
//! **Invariant:** an unknown feature counts as missing. Code that may use a feature unknown to this file is not run.

use super::target::CpuTarget;

/// The features of `x86-64-v3`.
const V3: &[&str] = &[
    "avx",
    "avx2",
    "bmi1",
    "bmi2",
    "cmpxchg16b",
    "f16c",
    "fma",
    "fxsr",
    "lzcnt",
    "movbe",
    "popcnt",
    "sse3",
    "ssse3",
    "sse4.1",
    "sse4.2",
    "xsave",
];
/// The features that `x86-64-v4` adds.
const V4: &[&str] = &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"];
const HASWELL: &[&str] = &["pclmulqdq", "rdrand", "xsaveopt"];
const BROADWELL: &[&str] = &["adx", "rdseed"];
const SKYLAKE: &[&str] = &["aes", "xsavec", "xsaves"];
const ALDERLAKE: &[&str] = &["avxvnni", "gfni", "sha", "vaes", "vpclmulqdq"];
const ICELAKE: &[&str] = &[
    "avx512bitalg",
    "avx512ifma",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512vnni",
    "avx512vpopcntdq",
    "gfni",
    "sha",
    "vaes",
    "vpclmulqdq",
];
const SAPPHIRERAPIDS: &[&str] = &["avx512bf16", "avx512fp16", "avxvnni"];
const ZNVER1: &[&str] = &["sha", "sse4a"];
const ZNVER3: &[&str] = &["vaes", "vpclmulqdq"];
const NEOVERSE_N1: &[&str] = &["aes", "crc", "dotprod", "dpb", "fp16", "lse", "neon", "rcpc", "rdm", "sha2"];
const APPLE_M1: &[&str] = &[
    "aes", "crc", "dit", "dotprod", "dpb", "dpb2", "fcma", "fhm", "flagm", "fp16", "frintts", "jsconv", "lse",
    "neon", "paca", "pacg", "rcpc", "rcpc2", "rdm", "sb", "sha2", "sha3",
];
const APPLE_M2: &[&str] = &["bf16", "bti", "i8mm"];

type CpuModel = (&'static str, &'static [&'static [&'static str]]);

/// CPUs by their LLVM names, with features by the names of the standard library.
const X86_64: &[CpuModel] = &[
    ("x86-64-v3", &[V3]),
    ("x86-64-v4", &[V3, V4]),
    ("haswell", &[V3, HASWELL]),
    ("broadwell", &[V3, HASWELL, BROADWELL]),
    ("skylake", &[V3, HASWELL, BROADWELL, SKYLAKE]),
    ("alderlake", &[V3, HASWELL, BROADWELL, SKYLAKE, ALDERLAKE]),
    ("skylake-avx512", &[V3, HASWELL, BROADWELL, SKYLAKE, V4]),
    ("cascadelake", &[V3, HASWELL, BROADWELL, SKYLAKE, V4, &["avx512vnni"]]),
    ("icelake-server", &[V3, HASWELL, BROADWELL, SKYLAKE, V4, ICELAKE]),
    ("sapphirerapids", &[V3, HASWELL, BROADWELL, SKYLAKE, V4, ICELAKE, SAPPHIRERAPIDS]),
    ("emeraldrapids", &[V3, HASWELL, BROADWELL, SKYLAKE, V4, ICELAKE, SAPPHIRERAPIDS]),
    ("graniterapids", &[V3, HASWELL, BROADWELL, SKYLAKE, V4, ICELAKE, SAPPHIRERAPIDS]),
    ("znver1", &[V3, HASWELL, BROADWELL, SKYLAKE, ZNVER1]),
    ("znver2", &[V3, HASWELL, BROADWELL, SKYLAKE, ZNVER1]),
    ("znver3", &[V3, HASWELL, BROADWELL, SKYLAKE, ZNVER1, ZNVER3]),
    ("znver4", &[V3, HASWELL, BROADWELL, SKYLAKE, ZNVER1, V4, ICELAKE, &["avx512bf16"]]),
    (
        "znver5",
        &[V3, HASWELL, BROADWELL, SKYLAKE, ZNVER1, V4, ICELAKE, &["avx512bf16", "avx512vp2intersect", "avxvnni"]],
    ),
];
const AARCH64: &[CpuModel] = &[
    ("neoverse-n1", &[NEOVERSE_N1]),
    ("apple-m1", &[APPLE_M1]),
    ("apple-m2", &[APPLE_M1, APPLE_M2]),
    ("apple-m3", &[APPLE_M1, APPLE_M2]),
    ("apple-m4", &[APPLE_M1, APPLE_M2]),
];

/// LLVM's names for features that every supported CPU has, and for features that code generators use only in intrinsics
/// named after them, which no kernel calls.
const HARMLESS: &[&str] = &[
    "64bit",
    "cmov",
    "crc32",
    "cx8",
    "mmx",
    "sahf",
    "sse",
    "sse2", // implied by AVX2
    "amx-avx512",
    "amx-complex",
    "amx-fp16",
    "amx-fp8",
    "amx-movrs",
    "amx-tf32",
    "cldemote",
    "clflushopt",
    "clwb",
    "clzero",
    "enqcmd",
    "fsgsbase",
    "hreset",
    "invpcid",
    "kl",
    "movdir64b",
    "movdiri",
    "mwaitx",
    "pconfig",
    "pku",
    "prefetchi",
    "prfchw",
    "ptwrite",
    "rdpid",
    "rdpru",
    "rtm",
    "serialize",
    "sgx",
    "shstk",
    "tsxldtrk",
    "uintr",
    "usermsr",
    "waitpkg",
    "wbnoinvd",
    "widekl",
];

/// Names of CPUs to compile for.
pub(crate) fn known_cpus() -> impl Iterator<Item = &'static str> {
    X86_64.iter().chain(AARCH64).map(|(name, _)| *name)
}

pub(crate) fn is_known(cpu: &str) -> bool {
    known_cpus().any(|name| name == cpu)
}

/// The features of the CPU with this name.
fn named(cpus: &[CpuModel], name: &str) -> Option<Vec<&'static str>> {
    cpus.iter().find(|(cpu, _)| *cpu == name).map(|(_, groups)| groups.concat())
}

/// The features that code for `target` may use; `None` if unknown.
fn required(target: &CpuTarget) -> Option<Vec<&str>> {
    let listed: Vec<&str> = target.features.split(',').filter_map(|feature| feature.strip_prefix('+')).collect();
    match target.architecture.as_str() {
        // A list from LLVM is complete. Without a list, the name decides.
        "x86_64" if listed.is_empty() => named(X86_64, &target.cpu),
        "x86_64" => Some(listed.into_iter().filter(|name| !HARMLESS.contains(name)).map(standard_name).collect()),
        // For AArch64, LLVM lists some features and implies the others by the name.
        "aarch64" => {
            let mut all: Vec<&str> = named(AARCH64, &target.cpu)?;
            all.extend(listed.into_iter().map(standard_name));
            Some(all)
        }
        _ => None,
    }
}

/// The standard library's name for an LLVM feature.
fn standard_name(llvm: &str) -> &str {
    match llvm {
        "bmi" => "bmi1",
        "cx16" => "cmpxchg16b",
        "pclmul" => "pclmulqdq",
        "rdrnd" => "rdrand",
        "fp-armv8" => "neon",
        "fullfp16" => "fp16",
        "complxnum" => "fcma",
        "ccpp" => "dpb",
        other => other,
    }
}

/// Returns the number of features that code for `target` may use, or `None` if this CPU, or the older one `taken_for`
/// that it stands in for, cannot run it.
pub(crate) fn can_run(target: &CpuTarget, taken_for: Option<&str>) -> Option<usize> {
    if target.architecture != std::env::consts::ARCH {
        return None;
    }
    let allowed = match taken_for {
        Some(name) => Some(named(X86_64, name)?),
        None => None,
    };
    let is_allowed = |feature: &str| allowed.as_ref().is_none_or(|allowed| allowed.contains(&feature));
    let required = required(target)?;
    required.iter().all(|name| has(name) && is_allowed(name)).then_some(required.len())
}

macro_rules! detect {
    ($detected:ident, $name:expr, [$($feature:tt)*]) => {
        match $name {
            $($feature => std::arch::$detected!($feature),)*
            _ => false,
        }
    };
}

/// True if this CPU has a feature, by its standard library name.
#[cfg(target_arch = "x86_64")]
fn has(feature: &str) -> bool {
    if matches!(feature, "amx-bf16" | "amx-int8" | "amx-tile") {
        return super::amx::is_granted();
    }
    detect!(is_x86_feature_detected, feature, [
        "adx" "aes" "avx" "avx2" "avx512bf16" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512fp16"
        "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vp2intersect" "avx512vpopcntdq" "avxifma"
        "avxneconvert" "avxvnni" "avxvnniint16" "avxvnniint8" "bmi1" "bmi2" "cmpxchg16b" "f16c" "fma" "fxsr" "gfni"
        "lzcnt" "movbe" "pclmulqdq" "popcnt" "rdrand" "rdseed" "sha" "sha512" "sm3" "sm4" "sse3" "sse4.1" "sse4.2" "sse4a"
        "ssse3" "tbm" "vaes" "vpclmulqdq" "xsave" "xsavec" "xsaveopt" "xsaves"
    ])
}

/// True if this CPU has a feature, by its standard library name.
#[cfg(target_arch = "aarch64")]
fn has(feature: &str) -> bool {
    detect!(is_aarch64_feature_detected, feature, [
        "aes" "bf16" "bti" "crc" "dit" "dotprod" "dpb" "dpb2" "fcma" "fhm" "flagm" "fp16" "frintts" "i8mm" "jsconv" "lse"
        "neon" "paca" "pacg" "rcpc" "rcpc2" "rdm" "sb" "sha2" "sha3"
    ])
}

/// Other CPUs have no known features.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has(_: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(architecture: &str, cpu: &str, features: &str) -> CpuTarget {
        let [architecture, cpu, features] = [architecture, cpu, features].map(str::to_owned);
        CpuTarget { architecture, cpu, features, llvm: String::new() }
    }

    #[test]
    fn requirements_come_from_the_list_or_the_name() {
        assert_eq!(
            required(&target("x86_64", "znver4", "+avx2,-avx512f,+bmi,+clwb,+new")),
            Some(vec!["avx2", "bmi1", "new"])
        );
        let tiles = target("x86_64", "sapphirerapids", "+amx-fp16,+amx-tile,-amx-int8");
        assert_eq!(required(&tiles), Some(vec!["amx-tile"]), "a process needs a permission for it");
        assert_eq!(required(&target("x86_64", "x86-64-v3", "")).map(|names| names.len()), Some(V3.len()));
        assert_eq!(required(&target("x86_64", "pentium", "")), None);
        assert_eq!(required(&target("aarch64", "unheard-of", "+neon")), None);
        assert_eq!(required(&target("riscv64", "generic", "")), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn code_with_missing_or_unknown_features_is_not_run() {
        assert!(can_run(&target("x86_64", "x86-64-v3", ""), None).is_some(), "every CPU that runs these tests can");
        assert_eq!(can_run(&target("x86_64", "x86-64-v3", "+avx2,+unheard-of"), None), None);
        assert_eq!(can_run(&target("x86_64", "pentium", ""), None), None);
        // No CPU has all of these.
        assert_eq!(can_run(&target("x86_64", "x", "+sse4a,+avx512fp16,+tbm"), None), None);
        assert_eq!(can_run(&target("aarch64", "apple-m1", ""), None), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_cpu_taken_for_an_older_one_runs_less_code() {
        let v4 = target("x86_64", "x86-64-v4", "");
        assert_eq!(can_run(&v4, Some("x86-64-v3")), None);
        assert_eq!(can_run(&v4, Some("unheard-of")), None);
        assert!(can_run(&target("x86_64", "x86-64-v3", ""), Some("haswell")).is_some());
    }
}
