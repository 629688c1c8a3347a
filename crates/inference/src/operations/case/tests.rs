//! The table keeps its promises.

use super::*;
use crate::operations::shape::MODELS;
use crate::operations::table::NOT_COVERED;
use std::collections::BTreeSet;

#[test]
fn every_case_has_its_kernels_a_name_of_its_own_and_work_to_do() {
    let mut names = BTreeSet::new();
    for case in MODELS.iter().flat_map(|model| measured(model).unwrap()) {
        let name = case.name();
        assert_eq!(case.kernels().len(), case.operation.kernels.len(), "{name}");
        assert!(case.bytes() > 0.0 && case.flops() >= 0.0 && case.file().ends_with(".metal"), "{name}");
        names.insert(name);
    }
    assert_eq!(names.len(), measured(&MODELS[0]).unwrap().len());
}

#[test]
fn every_kernel_is_in_a_case_or_is_left_out_for_a_reason() {
    let covered: BTreeSet<String> = measured(&MODELS[0]).unwrap().iter().flat_map(Case::kernels).collect();
    let left_out = |name: &str| NOT_COVERED.iter().any(|(kernel, reason)| *kernel == name && !reason.is_empty());
    for kernel in kernels::ALL.iter() {
        let (covered, left_out) = (covered.contains(kernel.name), left_out(kernel.name));
        assert!(
            covered || left_out,
            "{} is in no case: add one to OPERATIONS of its file, or say why not in NOT_COVERED",
            kernel.name
        );
        assert!(!(covered && left_out), "{} is in a case and in NOT_COVERED", kernel.name);
    }
    for (name, _) in NOT_COVERED {
        assert!(
            kernels::ALL.iter().any(|kernel| kernel.name == *name),
            "NOT_COVERED has {name}, which is no kernel"
        );
    }
}

#[test]
fn bytes_and_flops() {
    let cases = measured(&MODELS[3]).unwrap();
    let case = |name: &str| cases.iter().find(|case| case.name() == name).unwrap();
    let gemv = case("gemv_q4_0_f32");
    assert_eq!(gemv.flops(), 2.0 * 4096.0 * 4096.0);
    assert_eq!(gemv.bytes(), 4096.0 * 4096.0 * 18.0 / 32.0 + 4.0 * 8192.0);
    let attention = case("attention_decode_f32_kv_f16");
    assert_eq!(attention.bytes(), 2.0 * 2.0 * 4096.0 * 1024.0 + 2.0 * 4.0 * 4096.0);
    assert_eq!(case("attention_prefill_f16_kv_f16").seen(), f64::from((1..=512).sum::<i32>()));
    assert_eq!(case("copy_bf16_f32").bytes(), 6.0 * 512.0 * 4096.0);
}

#[test]
fn every_case_is_checked() {
    let (measured, checked) = (measured(&MODELS[0]).unwrap(), checked().unwrap());
    let mut seen = BTreeSet::new();
    for case in &checked {
        assert!(seen.insert((case.name(), case.shape.to_string())), "{} is there twice", case.name());
    }
    for case in &measured {
        let name = case.name();
        assert!(checked.iter().any(|checked| checked.name() == name), "{name} has no sizes to check");
    }
    let k_quants = checked.iter().find(|case| case.name() == "gemv_q4_K_f32").unwrap();
    assert_eq!(k_quants.shape.to_string(), "M=1 N=37 K=512", "rows are whole blocks");
}
