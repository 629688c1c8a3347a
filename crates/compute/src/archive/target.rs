//! For what machine a piece of code was compiled.

use super::features;
use std::fmt;
use std::str::FromStr;

/// What code can be compiled for, as users name it: `cpu`, `cpu:x86-64-v3`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CompileTarget {
    /// The processor of this machine.
    #[default]
    HostCpu,
    /// A processor by LLVM's name for it.
    Cpu(String),
}

impl FromStr for CompileTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<CompileTarget, String> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(CompileTarget::HostCpu),
            Some(("cpu", name)) if features::is_known(name) => Ok(CompileTarget::Cpu(name.into())),
            Some(("cpu", name)) => {
                let known: Vec<&str> = features::known_cpus().collect();
                Err(format!(
                    "'{name}' is no processor that code can be compiled for; there are {}",
                    known.join(", ")
                ))
            }
            _ if text.starts_with("sm_") => {
                Err(format!("no back end for target '{text}' yet; there is cpu, cpu:NAME"))
            }
            _ => Err(format!("there is no target '{text}'; there are cpu and cpu:NAME")),
        }
    }
}

impl fmt::Display for CompileTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileTarget::HostCpu => f.write_str("cpu"),
            CompileTarget::Cpu(name) => write!(f, "cpu:{name}"),
        }
    }
}

/// What a piece of code was compiled for. GPUs will be further variants.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    Cpu(CpuTarget),
}

/// A processor, as LLVM knows it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct CpuTarget {
    /// `x86_64` or `aarch64`.
    pub(crate) architecture: String,
    /// LLVM's name for it.
    pub(crate) cpu: String,
    /// What it can do beyond that, or cannot: `+avx2,-avx512f`.
    pub(crate) features: String,
    /// LLVM's version. Another one makes other code, which runs as well.
    pub(crate) llvm: String,
}

impl Target {
    /// Reads what [`Display`](fmt::Display) writes.
    pub(crate) fn parse(text: &str) -> Option<Target> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["cpu", architecture, cpu, features, llvm] = words[..] else { return None };
        let word = |text: &str| if text == "-" { String::new() } else { text.to_owned() };
        Some(Target::Cpu(CpuTarget {
            architecture: word(architecture),
            cpu: word(cpu),
            features: word(features),
            llvm: word(llvm),
        }))
    }

    /// In a few words, for people.
    pub(crate) fn name(&self) -> String {
        let Target::Cpu(target) = self;
        format!("cpu {} {}", target.architecture, target.cpu)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target::Cpu(target) = self;
        let word = |text: &str| if text.is_empty() { "-".to_owned() } else { text.replace(' ', "_") };
        let [architecture, cpu] = [&target.architecture, &target.cpu].map(|text| word(text));
        write!(f, "cpu {architecture} {cpu} {} {}", word(&target.features), word(&target.llvm))
    }
}

/// The machine on which code is to run.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// What the compiler would compile for; `None` where there is no compiler to say.
    pub(crate) exact: Option<Target>,
    /// The older processor as which this one is to be treated.
    pub(crate) taken_for: Option<String>,
}

impl Host {
    /// Whether code for `target` is what would be compiled here.
    fn is_exactly(&self, target: &Target) -> bool {
        self.exact.as_ref() == Some(target)
    }

    /// How well code for `target` does here: `None` where it does not run, and most for what would be compiled here.
    pub(crate) fn rank(&self, target: &Target) -> Option<usize> {
        let Target::Cpu(cpu) = target;
        match self.is_exactly(target) {
            true => Some(usize::MAX),
            false => features::can_run(cpu, self.taken_for.as_deref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_read_as_it_was_written() {
        let target = |features: &str| {
            Target::Cpu(CpuTarget {
                architecture: "x86_64".into(),
                cpu: "haswell".into(),
                features: features.into(),
                llvm: "22.1.2".into(),
            })
        };
        for target in [target(""), target("+avx2,-avx512f")] {
            assert_eq!(Target::parse(&target.to_string()), Some(target));
        }
        for text in ["", "cpu", "cpu x86_64 haswell", "gpu sm_90 a b c", "cpu a b c d e"] {
            assert_eq!(Target::parse(text), None, "{text}");
        }
    }

    #[test]
    fn targets_are_named_on_the_command_line() {
        assert_eq!("cpu".parse(), Ok(CompileTarget::HostCpu));
        assert_eq!("cpu:x86-64-v3".parse(), Ok(CompileTarget::Cpu("x86-64-v3".into())));
        let problem = |text: &str| text.parse::<CompileTarget>().expect_err("it is none");
        assert!(problem("sm_90").starts_with("no back end for target 'sm_90' yet"));
        assert!(problem("cpu:pentium").contains("x86-64-v3"));
        assert!(problem("gpu").contains("there is no target 'gpu'"));
    }
}
