//! To quantized weights and back.

use super::{Weights, kernels, pack};
use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{Argument, Case, CaseGrid};
use crate::random::Random;

const GROUPS: usize = 10;

fn bytes(bytes: &[u8]) -> Vec<Scalar> {
    bytes.iter().map(|byte| Scalar::Int(i128::from(*byte))).collect()
}

pub(crate) fn dequantize() -> impl Iterator<Item = Case> {
    kernels("affine_dequantize").map(|kernel| {
        let length = GROUPS * kernel.group;
        let weights = Weights::new(&mut Random::new(&kernel.name), &kernel, 1, length);
        let expected: Vec<f64> = (0..length).map(|at| weights.weight(0, at)).collect();
        // A thread has whole bytes: eight weights where no byte holds a whole number of them, four of six bits.
        let per_thread = match kernel.bits {
            3 | 5 => 8,
            6 => 4,
            bits => 8 / bits,
        };
        let threads = length / per_thread;
        let tolerance = Tolerance::ulps(1.0).and_absolute(kernel.dtype.epsilon() * 12.0);
        let exact = if kernel.dtype == DType::Float32 { Tolerance::EXACT } else { tolerance };
        Case::new(&kernel.name, CaseGrid::Threads([threads / 2, 2, 1], [16, 2, 1]))
            .input(&Array::new(DType::Uint8, bytes(&weights.packed())))
            .input(&weights.scales)
            .input(&weights.biases)
            .bind(Argument::float_output(kernel.dtype, expected, exact))
    })
}

/// The scale is such that the value farthest from zero, the edge, is a whole number of steps from zero, and the quants
/// count steps from the edge. With one bit, they are the least value and the greatest.
pub(crate) fn quantize() -> impl Iterator<Item = Case> {
    kernels("affine_quantize").map(|kernel| {
        let length = GROUPS * kernel.group;
        let values = Random::new(&kernel.name).array(kernel.dtype, length, -1.0, 2.0);
        let steps = f64::from((1 << kernel.bits) - 1);
        let (mut scales, mut biases, mut quants) = (Vec::new(), Vec::new(), Vec::new());
        for group in 0..GROUPS {
            let values: Vec<f64> = (0..kernel.group).map(|at| values.float(group * kernel.group + at)).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(0.0, f64::max);
            let (scale, bias) = if kernel.bits == 1 {
                (greatest - least, least)
            } else {
                let (step, edge) = ((greatest - least) / steps, if -least > greatest { least } else { greatest });
                let step = if edge < 0.0 { step } else { -step };
                let count = (edge / step).round();
                if count == 0.0 { (step, 0.0) } else { (edge / count, edge) }
            };
            scales.push(scale);
            biases.push(bias);
            quants.extend(values.iter().map(|value| ((value - bias) / scale).round().min(steps) as u32));
        }
        let threads = GROUPS * 32;
        let once = Tolerance::ulps(if kernel.dtype == DType::Float32 { 2.0 } else { 0.51 });
        Case::new(&kernel.name, CaseGrid::Threads([threads, 1, 1], [64, 1, 1]))
            .input(&values)
            .bind(Argument::output(DType::Uint8, bytes(&pack(&quants, kernel.bits)), Tolerance::EXACT))
            .bind(Argument::float_output(kernel.dtype, scales, once))
            .bind(Argument::float_output(kernel.dtype, biases, once))
    })
}
