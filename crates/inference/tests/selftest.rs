//! Self-test: every kernel against the formulas of its operations, and the formulas against changed inputs.

#[path = "../../compute/tests/until_exit/mod.rs"]
mod until_exit;

#[cfg(llvm)]
use compute::ShaderValidation;
use compute::{BinaryArchive, Device, FolderOptions};
use metalworks_inference::cases::{self, Case};
#[cfg(llvm)]
use metalworks_inference::metal::Tuning;
use metalworks_inference::metal::{MetalDevice, kernels};
use metalworks_inference::selftest::{Check, Record, Reference, Report, SelfTest, Verdict};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;
use until_exit::until_exit;

/// The device of this machine, or that of `METALWORKS_DEVICE`. The tests share its compiled kernels, also with those of
/// the CLI.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<&MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels-of-self-tests");
        let archive = BinaryArchive::folder(folder, FolderOptions::default());
        let device = Device::system_default().expect("there is one");
        until_exit(MetalDevice::with_device(device, archive).expect("the library is right"))
    })
}

fn checked(patterns: &[&str]) -> Vec<Case> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
    cases::select(cases::checked().unwrap(), &patterns).unwrap()
}

fn run(reference: Reference<'_>, patterns: &[&str]) -> Report {
    SelfTest { device: device(), reference, speed: false }.run(&checked(patterns), |_| {})
}

/// The verdict of a check, as text.
#[track_caller]
fn told(report: &Report, name: &str) -> String {
    text(&report.checks.iter().find(|check| check.name == name).expect(name).verdict)
}

fn text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passed => String::new(),
        Verdict::Wrong(differences) => differences.iter().map(|difference| format!("{difference}\n")).collect(),
        Verdict::Failed(problem) | Verdict::NotRun(problem) => problem.clone(),
    }
}

/// The smallest case of every operation and type; `make validated-kernels` runs all cases.
#[cfg(llvm)]
#[test]
fn shader_validation_finds_nothing_in_any_operation() {
    let cpu = Device::cpu().expect("a CPU");
    cpu.set_shader_validation(Some(ShaderValidation::default())).expect("the CPU validates");
    let device = MetalDevice::with_device(cpu.clone(), None).expect("the library is right");
    let cases = cases::covering(cases::checked().unwrap());
    let report = SelfTest { device: &device, reference: Reference::Formula, speed: false }.run(&cases, |_| {});
    for check in &report.checks {
        assert_eq!(text(&check.verdict), "", "{} {}", check.name, check.shape);
    }
    let findings: Vec<String> = cpu.take_findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
#[ignore = "compiles all kernels: doctor does the same, optimized, in make models"]
fn the_device_computes_the_formulas() {
    let report = run(Reference::Formula, &[]);
    for check in &report.checks {
        assert_eq!(text(&check.verdict), "", "{} {}", check.name, check.shape);
    }
    let tested: BTreeSet<&str> = report.kernels().iter().map(|kernel| kernel.kernel).collect();
    for kernel in kernels::ALL.iter() {
        assert!(tested.contains(kernel.name), "{} is in no check", kernel.name);
    }
}

#[test]
fn every_result_has_a_formula() {
    for case in checked(&[]) {
        let (name, check) = (case.name(), Check::new(device(), &case).unwrap());
        assert!(!check.outputs.is_empty(), "{name} has no result");
        for output in &check.outputs {
            let expected = output.expected.as_ref().map(Vec::len);
            let hint = "state it beside the operation with Maker::expect";
            assert_eq!(expected, Some(output.count), "{name}: the formula of {}: {hint}", output.name);
        }
    }
}

/// The check of a case, before it runs.
fn check(name: &str) -> Check {
    Check::new(device(), &checked(&[name])[0]).unwrap()
}

#[test]
fn detects_a_wrong_number() {
    for (name, output, place, by) in [
        ("gemv_q4_0_f32", 0, 36, 0.01),
        ("gemm_q6_K_f16", 0, 2000, 0.5),
        ("gemv_qkv_q8_0_f32", 2, 5, 0.05),
        ("softmax_f32", 0, 400, 1e-5),
        ("add_rms_norm_f32", 0, 7, 0.001),
        ("add_rms_norm_f16", 1, 7, 0.02),
        ("attention_decode_split_f16_kv_f16", 0, 100, 0.02),
        ("rope_kv_f32_f16", 1, 0, 0.05),
        ("embedding_q5_K_f32", 0, 3, 0.01),
        ("argmax", 0, 1, 1.0),
        ("sample", 0, 4, -1.0),
        ("put_token", 0, 48, 1.0),
    ] {
        let mut check = check(name);
        let output = &mut check.outputs[output];
        let told = format!("{0}: 1 of {1} numbers are off", output.name, output.count);
        let place_told = format!("\n  {}[{place}] is ", output.name);
        output.expected.as_mut().unwrap()[place] += by;
        check.run(device()).unwrap();
        let verdict = text(&check.verdict().1);
        assert!(verdict.contains(&told) && verdict.contains(&place_told), "{name}: {verdict}");
    }
}

/// Formulas are evaluated from the buffers and not by the device: if a number changes between the formula and the run,
/// the results differ from the formula.
#[test]
fn detects_a_changed_input() {
    for (name, input, index) in [
        ("gemv_f32_f32", 0, 0),
        ("gemv_many_f32_f32", 1, 3),
        ("gemv_many_f32_f32", 2, 3),
        ("gemv_many_f32_f32", 3, 3),
        ("gemv_gated_f32_f32", 1, 0),
        ("lm_head_f32_f32", 0, 1),
        ("softmax_f32", 0, 1202),
        ("rms_norm_f32", 1, 400),
        ("layer_norm_f32", 2, 2),
        ("head_rms_norm_f32", 1, 39),
        ("silu_multiply_f32", 1, 230),
        ("copy_f32_f32", 0, 230),
        ("attention_decode_f32_kv_f32", 0, 0),
        ("attention_prefill_f32_kv_f32", 1, 5),
        ("attention_prefill_f32_kv_f32", 2, 5),
        ("rope_f32", 1, 1),
        ("kv_write_f32_f32", 0, 2),
        ("kv_read_f32_f32", 1, 33 * 20),
        ("penalize", 0, 4),
        ("top_k", 0, 1000),
        ("take_row_f32", 0, 77 * 2 + 5),
    ] {
        let check = check(name);
        check.inputs[input].write(4 * index, &[100.0f32]).unwrap();
        check.run(device()).unwrap();
        let verdict = check.verdict().1;
        assert!(matches!(verdict, Verdict::Wrong(_)), "{name}: input {input} changed, and nothing was found");
    }
}

#[test]
fn an_output_without_a_formula_is_not_compared() {
    let mut check = check("rope_kv_f32_f32");
    check.run(device()).unwrap();
    assert_eq!(check.verdict().1, Verdict::Passed);
    check.outputs[1].expected.as_mut().unwrap().pop();
    let told = text(&check.verdict().1);
    assert_eq!(told, "keys has 5120 numbers, but 5119 are expected\n");
    check.outputs[1].expected = None;
    let told = text(&check.verdict().1);
    assert_eq!(told, "there is no formula for keys: Maker::expect states it");
}

#[test]
#[cfg(llvm)]
fn another_number_of_threads_computes_the_same() {
    // Both are CPUs: tunings of another device may add up in another order.
    let cpu = |threads: Option<usize>| {
        let device = Device::cpu_with_options(&compute::CpuOptions { threads }).unwrap();
        MetalDevice::with_device(device, self::device().archive().cloned()).unwrap()
    };
    let (device, other) = (cpu(None), cpu(Some(3)));
    let patterns = ["gemv_q4_0_f32", "gemm_f16_f16", "attention_decode_split", "top_k", "rope_kv", "add_rms_norm"];
    let test = SelfTest { device: &device, reference: Reference::Device(&other), speed: false };
    let report = test.run(&checked(&patterns), |_| {});
    assert!(report.is_fine(), "{report:?}");
    assert!(report.checks.iter().all(|check| check.error.is_some_and(|(error, _)| error == 0.0)), "{report:?}");
}

/// The tuning for Apple GPUs: other constants and grids, the same results. Of `every` cases, one runs for each family.
#[cfg(llvm)]
fn check_tunings_for_gpus(every: usize) {
    for (number, family) in [7, 9].into_iter().enumerate() {
        let (cpu, archive) = (Device::cpu().unwrap(), device().archive().cloned());
        let device = MetalDevice::with_tuning(cpu, archive, Tuning::apple(family)).unwrap();
        let test = SelfTest { device: &device, reference: Reference::Formula, speed: false };
        let cases: Vec<Case> = checked(&[]).into_iter().skip(number % every).step_by(every).collect();
        let report = test.run(&cases, |_| {});
        for check in &report.checks {
            assert_eq!(told(&report, &check.name), "", "family {family}: {} {}", check.name, check.shape);
        }
    }
}

#[test]
#[cfg(llvm)]
fn tunings_for_gpus_compute_the_same_in_a_sample() {
    check_tunings_for_gpus(9);
}

#[test]
#[cfg(llvm)]
#[ignore = "compiles all kernels twice: make tunings"]
fn tunings_for_gpus_compute_the_same() {
    check_tunings_for_gpus(1);
}

#[test]
fn reports_differences_from_recorded_results() {
    let patterns = ["rms_norm", "argmax", "softmax", "layer_norm", "silu"];
    let mut record = Record::of(device(), &checked(&patterns)).unwrap();
    assert!(run(Reference::Recorded(&record), &patterns).is_fine());
    let mut change = |name: &str, change: &dyn Fn(&mut metalworks_inference::selftest::RecordedCheck)| {
        change(record.checks.iter_mut().find(|check| check.name == name).expect(name));
    };
    change("rms_norm_f32", &|check| check.outputs[0].samples[3] ^= 1 << 22);
    change("rms_norm_f16", &|check| check.outputs[0].mix += 1.0);
    change("argmax", &|check| check.outputs[0].samples[1] += 1);
    change("softmax_f32", &|check| check.inputs += 1);
    change("softmax_f16", &|check| check.outputs[0].count += 1);
    change("layer_norm_f16", &|check| check.name = "another".into());
    change("silu_f16", &|check| check.outputs[0].samples[0] ^= 1);
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
    let test = SelfTest { device: device(), reference: Reference::Formula, speed: true };
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
