//! Results of a run, which `--json` writes and `--baseline` reads.

use crate::limits::{Binding, Limits};
use crate::measure::Statistics;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the file format; other versions are not read.
const VERSION: u32 = 1;

/// Description of the method, part of the results.
const METHOD: &str = "A sample is the time that the device was busy with a command buffer, in which the operation is \
    repeated until that takes 0.3 ms, divided by the repetitions; samples follow a warm-up. Given are the median, the \
    fastest, and the quartiles. Samples are taken with code and buffers in several \
    places, where these are small; in one place, they are the same in every repetition, unless the run is cold. Bytes and operations are \
    those that the formula needs at least. The limit is the longer one of bytes / bandwidth, for memory of the size that \
    is touched, and operations / multiply-adds per second; both are the best samples of kernels and loops that do nothing \
    else, measured in the same run.";

/// A run.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Run {
    pub(crate) version: u32,
    pub(crate) date: String,
    pub(crate) device: String,
    pub(crate) compiler: String,
    pub(crate) build: String,
    /// `wall`, or `cpu`: only the CPU time of the process.
    pub(crate) clock: String,
    pub(crate) threads: usize,
    pub(crate) model: String,
    pub(crate) cold: bool,
    pub(crate) method: String,
    pub(crate) limits: Limits,
    pub(crate) cases: Vec<Measured>,
    pub(crate) not_run: Vec<NotRun>,
    /// Times of the loops in Rust.
    pub(crate) references: Vec<Reference>,
}

/// Measurement of a case.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) shape: String,
    pub(crate) file: String,
    pub(crate) kernels: Vec<String>,
    pub(crate) bytes: f64,
    pub(crate) flops: f64,
    pub(crate) time: Statistics,
    /// The minimum time by the limits of the device.
    pub(crate) limit_ns: f64,
    pub(crate) bound_by: Binding,
}

impl Measured {
    pub(crate) fn gigabytes_per_second(&self) -> f64 {
        self.bytes / self.time.median_ns
    }

    pub(crate) fn gigaflops(&self) -> f64 {
        self.flops / self.time.median_ns
    }

    /// Reached part of the limit, in percent.
    pub(crate) fn percent(&self) -> f64 {
        100.0 * self.limit_ns / self.time.median_ns
    }
}

/// A case that could not be run.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct NotRun {
    pub(crate) name: String,
    pub(crate) shape: String,
    pub(crate) reason: String,
}

/// A product by a loop in Rust.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Reference {
    pub(crate) format: String,
    pub(crate) shape: String,
    pub(crate) weights: f64,
    pub(crate) time: Statistics,
}

impl Run {
    pub(crate) fn new(device: String, threads: usize, model: &str, cold: bool, limits: Limits) -> Run {
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        Run {
            version: VERSION,
            date: crate::text::now(),
            device,
            compiler: abi::COMPILER_FINGERPRINT.into(),
            build: build.into(),
            clock: "wall".into(),
            threads,
            model: model.into(),
            cold,
            method: METHOD.into(),
            limits,
            cases: Vec::new(),
            not_run: Vec::new(),
            references: Vec::new(),
        }
    }

    /// Name of the device, and that of the CPU, if known.
    pub(crate) fn device_name(device: &compute::Device) -> String {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        let processor = lines.find(|(field, _)| field.trim() == "model name").map(|(_, name)| name.trim());
        processor.map_or_else(|| device.name(), |processor| format!("{}, {processor}", device.name()))
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|error| error.to_string())
    }

    pub(crate) fn from_json(text: &str) -> Result<Run, String> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let wrong = |error: serde_json::Error| format!("it is not what --json writes: {error}");
        let Version { version } = serde_json::from_str(text).map_err(wrong)?;
        if version != VERSION {
            return Err(format!(
                "it has version {version}, and this program reads version {VERSION}: measure again"
            ));
        }
        serde_json::from_str(text).map_err(wrong)
    }

    pub(crate) fn read(path: &Path) -> Result<Run, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        text.and_then(|text| Run::from_json(&text))
            .map_err(|error| format!("cannot read {}: {error}", path.display()))
    }
}

/// A run for tests: one case, with times around `median`.
#[cfg(test)]
pub(crate) fn example(median: f64, spread: f64) -> Run {
    use crate::limits::Bandwidth;
    let bandwidths = [(1 << 14, 100.0), (1 << 28, 20.0)].map(|(bytes, copy)| Bandwidth {
        bytes,
        copy,
        read: copy,
        native_copy: copy,
    });
    let limits = Limits {
        bandwidths: bandwidths.to_vec(),
        kernel_fma: 100.0,
        native_fma: 90.0,
        native_instructions: "none".into(),
    };
    let time = Statistics {
        median_ns: median,
        min_ns: median * (1.0 - spread),
        low_ns: median * (1.0 - spread / 2.0),
        high_ns: median * (1.0 + spread / 2.0),
        samples: 9,
        repeats: 2,
        busy: 1.0,
    };
    let mut run = Run::new("a <device> & more".into(), 1, "8b", false, limits);
    run.cases.push(Measured {
        name: "gemv_q4_0_f32".into(),
        shape: "M=1 N=4096 K=4096".into(),
        file: "gemv_q4.metal".into(),
        kernels: vec!["gemv_q4_0_f32".into()],
        bytes: 1e6,
        flops: 2.0 * 16_777_216.0,
        time,
        limit_ns: median / 2.0,
        bound_by: Binding::Memory,
    });
    run.not_run.push(NotRun { name: "gemm_q4_K_f32".into(), shape: "K=32".into(), reason: "too <short>".into() });
    run.references.push(Reference {
        format: "q4_0".into(),
        shape: "M=1 N=4096 K=4096".into(),
        weights: 16_777_216.0,
        time,
    });
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip() {
        let run = example(1234.5, 0.25);
        assert_eq!(Run::from_json(&run.to_json().unwrap()).unwrap(), run);
    }

    #[test]
    fn rejects_other_files() {
        let problem = Run::from_json("{}").unwrap_err();
        assert!(problem.starts_with("it is not what --json writes: missing field `version`"), "{problem}");
        let problem = Run::from_json("{\"version\": 99}").unwrap_err();
        assert_eq!(problem, "it has version 99, and this program reads version 1: measure again");
        let text = example(1.0, 0.1).to_json().unwrap();
        assert!(Run::from_json(&text[..text.len() / 2]).is_err());
        let problem = Run::read(Path::new("/nowhere/at/all.json")).unwrap_err();
        assert!(problem.starts_with("cannot read /nowhere/at/all.json: "), "{problem}");
    }

    #[test]
    fn rates() {
        let case = &example(1000.0, 0.1).cases[0];
        assert_eq!((case.gigabytes_per_second(), case.gigaflops(), case.percent()), (1000.0, 33_554.432, 50.0));
    }
}
