//! Targets for some operations on one thread of a CPU, reported for those that a run includes.

use crate::result::{Measured, Run};

/// A target, and the result of a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SpeedTarget {
    pub(crate) case: String,
    pub(crate) wanted: String,
    pub(crate) reached: String,
    pub(crate) is_met: bool,
}

/// Target of a product with a quantized matrix: billions of weights per second, or a fraction of the loop in Rust.
const WEIGHTS: f64 = 8.0;
const OF_LOOP: f64 = 0.6;

/// Target of a product of 512 vectors: fraction of the peak rate of multiply-adds.
const OF_PEAK: f64 = 0.4;

/// Target of attention: fraction of the bandwidth of a copy.
const OF_COPY: f64 = 0.5;

/// The targets that apply to this run.
pub(crate) fn judge(run: &Run) -> Vec<SpeedTarget> {
    if run.threads != 1 {
        return Vec::new();
    }
    run.cases
        .iter()
        .filter_map(|case| product(run, case).or_else(|| many(run, case)).or_else(|| attention(run, case)))
        .collect()
}

fn product(run: &Run, case: &Measured) -> Option<SpeedTarget> {
    let format = case.name.strip_prefix("gemv_")?;
    let format = format.strip_suffix("_f32").or_else(|| format.strip_suffix("_f16"))?;
    let like = |reference: &&crate::result::Reference| reference.format == format && reference.shape == case.shape;
    let reference = run.references.iter().find(like)?;
    if case.shape != "M=1 N=4096 K=4096" {
        return None;
    }
    // Two operations per weight.
    let rate = case.gigaflops() / 2.0;
    let by_hand = reference.weights / reference.time.median_ns;
    let reached = format!("{rate:.1} billion weights/s, {:.0}% of the loop's {by_hand:.1}", 100.0 * rate / by_hand);
    let wanted = format!("{WEIGHTS:.0} billion weights/s, or {:.0}% of a loop in Rust", 100.0 * OF_LOOP);
    Some(SpeedTarget {
        case: case.name.clone(),
        wanted,
        reached,
        is_met: rate >= WEIGHTS || rate >= OF_LOOP * by_hand,
    })
}

fn many(run: &Run, case: &Measured) -> Option<SpeedTarget> {
    if !case.name.starts_with("gemv_many_f16_") || !case.shape.starts_with("M=512 ") {
        return None;
    }
    let part = case.gigaflops() / run.limits.peak();
    let reached = format!("{:.0} GFLOP/s, {:.0}%", case.gigaflops(), 100.0 * part);
    let wanted = format!("{:.0}% of the multiply-adds, {:.0} GFLOP/s", 100.0 * OF_PEAK, run.limits.peak());
    Some(SpeedTarget { case: case.name.clone(), wanted, reached, is_met: part >= OF_PEAK })
}

fn attention(run: &Run, case: &Measured) -> Option<SpeedTarget> {
    if !case.name.starts_with("attention_decode_f") || !case.shape.starts_with("L=4096 ") {
        return None;
    }
    let copy = run.limits.memory_copy();
    let part = case.gigabytes_per_second() / copy;
    let reached = format!("{:.1} GB/s, {:.0}%", case.gigabytes_per_second(), 100.0 * part);
    let wanted = format!("{:.0}% of a copy in memory, {copy:.1} GB/s", 100.0 * OF_COPY);
    Some(SpeedTarget { case: case.name.clone(), wanted, reached, is_met: part >= OF_COPY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::example;

    #[test]
    fn targets_of_a_run() {
        // 16.8 million weights in 2 ms are 8.4 billion per second.
        let run = example(2e6, 0.0);
        let [target] = &judge(&run)[..] else { panic!("one target") };
        assert!(
            target.is_met && target.reached.starts_with("8.4 billion weights/s, 100% of the loop's 8.4"),
            "{target:?}"
        );
        let mut slow = example(4e6, 0.0);
        slow.references[0].time.median_ns = 1e6;
        assert!(!judge(&slow)[0].is_met);
        slow.references[0].time.median_ns = 3e6;
        assert!(judge(&slow)[0].is_met);
        slow.threads = 2;
        assert!(judge(&slow).is_empty());
    }

    #[test]
    fn attention_and_many_vectors() {
        let mut run = example(1e6, 0.0);
        let case = &mut run.cases[0];
        (case.name, case.shape) = ("attention_decode_f32_kv_f16".into(), "L=4096 H=32 G=8 D=128".into());
        case.bytes = 11e6;
        assert!(judge(&run)[0].is_met);
        run.cases[0].bytes = 9e6;
        assert!(!judge(&run)[0].is_met);
        let case = &mut run.cases[0];
        (case.name, case.shape) = ("gemv_many_f16_f32".into(), "M=512 N=4096 K=4096".into());
        case.flops = 41e6;
        assert!(judge(&run)[0].is_met);
        run.cases[0].flops = 39e6;
        assert!(!judge(&run)[0].is_met);
    }
}
