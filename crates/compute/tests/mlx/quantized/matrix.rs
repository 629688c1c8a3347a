//! Quantized matrices times matrices, by tiles of 32 × 32.

use super::{Batch, Weights, activations, kernels, products};
use crate::array::{DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{Argument, Case, CaseGrid};
use crate::random::Random;

const VECTORS: usize = 37;

/// The rows of the matrix are the outputs; a number that 32 divides only where the kernel needs it (`alN_true`).
pub(crate) fn qmm_t() -> impl Iterator<Item = Case> {
    kernels("affine_qmm_t").map(|kernel| {
        let (outputs, inputs) = (if kernel.name.contains("alN_true") { 64 } else { 45 }, 2 * kernel.group);
        let batch = if kernel.is_batched { 2 } else { 1 };
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, batch * outputs, inputs);
        let x = activations(&mut random, kernel.dtype, batch * VECTORS * inputs);
        let expected = products(&x, [batch, VECTORS, outputs, inputs], |element, output, input| {
            weights.rounded(element * outputs + output, input)
        });
        let groups = [outputs.div_ceil(32), VECTORS.div_ceil(32), batch];
        let case = weights
            .bind(Case::new(&kernel.name, CaseGrid::Threadgroups(groups, [32, 2, 2])))
            .input(&x)
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32))
            .bind(Argument::int(VECTORS as i32));
        Batch { vectors: VECTORS, x_stride: VECTORS * inputs, w_stride: outputs * inputs }
            .bind(case, &weights, batch)
    })
}

/// The columns of the matrix are the outputs.
pub(crate) fn qmm_n() -> impl Iterator<Item = Case> {
    kernels("affine_qmm_n").map(|kernel| {
        let (outputs, inputs) = (128, 45);
        let batch = if kernel.is_batched { 2 } else { 1 };
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, batch * inputs, outputs);
        let x = activations(&mut random, kernel.dtype, batch * VECTORS * inputs);
        let expected = products(&x, [batch, VECTORS, outputs, inputs], |element, output, input| {
            weights.rounded(element * inputs + input, output)
        });
        let groups = [outputs.div_ceil(32), VECTORS.div_ceil(32), batch];
        let case = weights
            .bind(Case::new(&kernel.name, CaseGrid::Threadgroups(groups, [32, 2, 2])))
            .input(&x)
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32))
            .bind(Argument::int(VECTORS as i32));
        Batch { vectors: VECTORS, x_stride: VECTORS * inputs, w_stride: outputs * inputs }
            .bind(case, &weights, batch)
    })
}

/// The inputs in three parts, each with its own result in f32.
pub(crate) fn qmm_t_split() -> impl Iterator<Item = Case> {
    kernels("affine_qmm_t_splitk").map(|kernel| {
        let (parts, part) = (3, kernel.group);
        let (outputs, inputs) = (if kernel.name.contains("alN_true") { 64 } else { 45 }, parts * part);
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, outputs, inputs);
        let x = activations(&mut random, kernel.dtype, VECTORS * inputs);
        let mut expected = Vec::new();
        for index in 0..parts {
            for vector in 0..VECTORS {
                for output in 0..outputs {
                    let term = |input: usize| x.float(vector * inputs + input) * weights.rounded(output, input);
                    expected.push(Scalar::Float((index * part..(index + 1) * part).map(term).sum()));
                }
            }
        }
        let groups = [outputs.div_ceil(32), VECTORS.div_ceil(32), parts];
        weights
            .bind(Case::new(&kernel.name, CaseGrid::Threadgroups(groups, [32, 2, 2])))
            .input(&x)
            .bind(Argument::output(DType::Float32, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32))
            .bind(Argument::int(VECTORS as i32))
            .bind(Argument::int(part as i32))
            .bind(Argument::int((VECTORS * outputs) as i32))
    })
}
