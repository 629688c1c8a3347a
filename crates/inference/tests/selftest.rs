//! Every kernel against its recorded results, and the record against the kernels that there are.

use compute::{BinaryArchive, Device, DeviceKind, FolderOptions};
#[cfg(llvm)]
use inference::metal::Tuning;
use inference::metal::{MetalDevice, kernels};
use inference::operations::{self, Case};
use inference::selftest::{Record, Reference, Report, SelfTest, Verdict};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// The device of this machine, or what `METALWORKS_DEVICE` says. What one test compiles the others need not, those of the program among them.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels-of-self-tests");
        let archive = BinaryArchive::folder(folder, FolderOptions::default());
        MetalDevice::with_device(Device::system_default().expect("there is one"), archive)
            .expect("the library is right")
    })
}

fn checked(patterns: &[&str]) -> Vec<Case> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
    operations::select(operations::checked().unwrap(), &patterns).unwrap()
}

fn run(reference: Reference<'_>, patterns: &[&str]) -> Report {
    SelfTest { device: device(), reference, speed: false }.run(&checked(patterns), |_| {})
}

/// The verdict about a check, as text.
#[track_caller]
fn told(report: &Report, name: &str) -> String {
    match &report.checks.iter().find(|check| check.name == name).expect(name).verdict {
        Verdict::Passed => String::new(),
        Verdict::Wrong(differences) => differences.iter().map(|difference| format!("{difference}\n")).collect(),
        Verdict::Failed(problem) | Verdict::NotRun(problem) => problem.clone(),
    }
}

#[test]
fn the_device_computes_what_was_recorded() {
    let all = operations::checked().unwrap();
    if std::env::var("BLESS").is_ok_and(|bless| bless == "1") {
        assert_eq!(device().device().kind(), DeviceKind::Cpu, "the processor's results are the ones to record");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/selftest/recorded.txt");
        let record = Record::of(device(), &all).unwrap();
        std::fs::write(&path, record.to_text()).unwrap();
        return;
    }
    let record = Record::embedded().unwrap();
    let recorded = record.checks.iter().map(|check| (check.name.clone(), check.shape.clone()));
    let is_of_table = recorded.eq(all.iter().map(|case| (case.name(), case.shape.to_string())));
    assert!(is_of_table, "recorded.txt is not of these operations: run this test with BLESS=1");
    let report = run(Reference::Recorded(&record), &[]);
    for check in &report.checks {
        let told = told(&report, &check.name);
        assert!(
            check.verdict == Verdict::Passed,
            "{} {}: {told}if this is as it should be, run this test with BLESS=1",
            check.name,
            check.shape
        );
    }
    let tested: BTreeSet<&str> = report.kernels().iter().map(|kernel| kernel.kernel).collect();
    for kernel in kernels::ALL.iter() {
        assert!(tested.contains(kernel.name), "{} is in no check", kernel.name);
    }
    let size = record.to_text().len();
    assert!(size < 300 << 10, "{size} bytes are embedded in every program");
}

#[test]
#[cfg(llvm)]
fn another_number_of_threads_computes_the_same() {
    let options = compute::CpuOptions { threads: Some(3) };
    let archive = device().archive().cloned();
    let other = MetalDevice::with_device(Device::cpu_with_options(&options).unwrap(), archive).unwrap();
    let patterns = ["gemv_q4_0_f32", "gemm_f16_f16", "attention_decode_split", "top_k", "rope_kv", "add_rms_norm"];
    let report = run(Reference::Device(&other), &patterns);
    assert!(report.is_fine(), "{report:?}");
    assert!(report.checks.iter().all(|check| check.error.is_some_and(|(error, _)| error == 0.0)), "{report:?}");
}

/// What Apple's GPUs are given to do: other constants, other grids, the same results.
#[test]
#[cfg(llvm)]
fn the_tuning_for_gpus_computes_the_same() {
    let record = Record::embedded().unwrap();
    for family in [7, 9] {
        let (cpu, archive) = (Device::cpu().unwrap(), device().archive().cloned());
        let device = MetalDevice::with_tuning(cpu, archive, Tuning::apple(family)).unwrap();
        let test = SelfTest { device: &device, reference: Reference::Recorded(&record), speed: false };
        let report = test.run(&checked(&[]), |_| {});
        for check in &report.checks {
            assert_eq!(told(&report, &check.name), "", "family {family}: {} {}", check.name, check.shape);
        }
    }
}

#[test]
fn wrong_results_are_told() {
    let mut record = Record::embedded().unwrap();
    let mut change = |name: &str, change: &dyn Fn(&mut inference::selftest::RecordedCheck)| {
        change(record.checks.iter_mut().find(|check| check.name == name).expect(name));
    };
    change("rms_norm_f32", &|check| check.outputs[0].samples[3] ^= 1 << 22);
    change("rms_norm_f16", &|check| check.outputs[0].mix += 1.0);
    change("argmax", &|check| check.outputs[0].samples[1] += 1);
    change("softmax_f32", &|check| check.inputs += 1);
    change("softmax_f16", &|check| check.outputs[0].count += 1);
    change("layer_norm_f16", &|check| check.name = "another".into());
    change("silu_f16", &|check| check.outputs[0].samples[0] ^= 1);
    let patterns = ["rms_norm", "argmax", "softmax", "layer_norm", "silu"];
    let report = run(Reference::Recorded(&record), &patterns);
    assert!(!report.is_fine());
    for (name, text) in [
        ("rms_norm_f32", "y: 1 of 48 numbers are off; the normalized mean square error is "),
        ("rms_norm_f16", "y: numbers are off that were not compared one by one"),
        ("argmax", "\n  tokens[1] is "),
        ("softmax_f32", "they are of another version"),
        ("softmax_f16", "the result is 'y f16 1203', not 'y f16 1204'"),
        ("layer_norm_f16", "there is no recorded result of it"),
    ] {
        let told = told(&report, name);
        assert!(told.contains(text), "{name}: {told}");
    }
    for name in ["layer_norm_f32", "silu_f32", "silu_f16"] {
        assert_eq!(told(&report, name), "", "{name}: a last bit may differ");
    }
    let kernels = report.kernels();
    let kernel = |name: &str| kernels.iter().find(|kernel| kernel.kernel == name).expect(name);
    assert!(matches!(kernel("rms_norm_f32").verdict(), Verdict::Wrong(_)));
    assert!(matches!(kernel("layer_norm_f16").verdict(), Verdict::NotRun(_)));
    assert_eq!(kernel("silu_f16").verdict(), &Verdict::Passed);
}

#[test]
fn every_kernel_that_comes_first_has_a_speed() {
    let record = Record::embedded().unwrap();
    let test = SelfTest { device: device(), reference: Reference::Recorded(&record), speed: true };
    let mut steps = Vec::new();
    let report = test.run(&checked(&["softmax", "take_row"]), |progress| {
        assert!(progress.done <= progress.total);
        steps.push(progress.step);
    });
    steps.dedup();
    assert_eq!(steps.len(), 3);
    assert!(report.is_fine(), "{report:?}");
    for kernel in report.kernels() {
        let speed = kernel.speed.expect(kernel.kernel);
        assert!(speed.nanoseconds > 0.0 && speed.gigabytes_per_second() > 0.0, "{speed:?}");
    }
    assert!(report.pipelines >= 4, "{report:?}");
}
