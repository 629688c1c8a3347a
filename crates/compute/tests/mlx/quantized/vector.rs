//! Quantized matrices times vectors.

use super::{Batch, Kernel, Weights, activations, kernels, products};
use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;

/// A product of vectors with matrices whose rows are the outputs.
struct Product<'a> {
    kernel: &'a Kernel,
    vectors: usize,
    outputs: usize,
    inputs: usize,
    /// Threadgroups along x and y.
    groups: [usize; 2],
    group: [usize; 3],
    /// The number of vectors is an argument.
    has_vectors: bool,
}

impl Product<'_> {
    fn case(&self) -> Case {
        let Product { kernel, vectors, outputs, inputs, .. } = *self;
        let batch = if kernel.is_batched { 2 } else { 1 };
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, kernel, batch * outputs, inputs);
        let x = activations(&mut random, kernel.dtype, batch * vectors * inputs);
        let expected = products(&x, [batch, vectors, outputs, inputs], |element, output, input| {
            weights.weight(element * outputs + output, input)
        });
        let [across, down] = self.groups;
        let case = Case::new(&kernel.name, CaseGrid::Threadgroups([across, down, batch], self.group));
        let mut case = weights
            .bind(case)
            .input(&x)
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32));
        if self.has_vectors {
            case = case.bind(Argument::int(vectors as i32));
        }
        Batch { vectors, x_stride: vectors * inputs, w_stride: outputs * inputs }.bind(case, &weights, batch)
    }
}

/// Any number of rows, of five groups each; less than a threadgroup's rows in a batch.
pub(crate) fn qmv() -> impl Iterator<Item = Case> {
    kernels("affine_qmv").map(|kernel| {
        let outputs = if kernel.is_batched { 5 } else { 13 };
        let product = Product {
            kernel: &kernel,
            vectors: 2,
            outputs,
            inputs: 5 * kernel.group,
            groups: [2, outputs.div_ceil(8)],
            group: [32, 2, 1],
            has_vectors: false,
        };
        product.case()
    })
}

/// Rows of multiples of 512 weights; multiples of 8 of them, unless the kernel takes a part of the last (`pr_1`).
pub(crate) fn qmv_fast() -> impl Iterator<Item = Case> {
    kernels("affine_qmv_fast").map(|kernel| {
        let outputs = if number(&kernel.name, "pr") == Some(1) { 13 } else { 16 };
        let product = Product {
            kernel: &kernel,
            vectors: 2,
            outputs,
            inputs: 3 * 512,
            groups: [2, outputs.div_ceil(8)],
            group: [32, 2, 1],
            has_vectors: false,
        };
        product.case()
    })
}

/// Rows of 64 or 128 weights, four threads each. MLX uses only those kernels in which a thread's share is whole words.
pub(crate) fn qmv_quad() -> impl Iterator<Item = Case> {
    kernels("affine_qmv_quad").filter_map(|kernel| {
        let inputs = number(&kernel.name, "d")?;
        let is_whole =
            kernel.bits.is_power_of_two() && inputs / 4 * kernel.bits % 32 == 0 && kernel.group <= inputs;
        let product = Product {
            kernel: &kernel,
            vectors: 2,
            outputs: 75,
            inputs,
            groups: [2, 2],
            group: [32, 1, 1],
            has_vectors: false,
        };
        is_whole.then(|| product.case())
    })
}

/// Several vectors at a time; the last threadgroup has fewer.
pub(crate) fn qmv_wide() -> impl Iterator<Item = Case> {
    kernels("affine_qmv_wide").filter_map(|kernel| {
        let (per_group, lanes) = (number(&kernel.name, "nv")?, number(&kernel.name, "kl")?);
        let (outputs, rows) = (13, 2 * 32 / lanes);
        let product = Product {
            kernel: &kernel,
            vectors: per_group + 1,
            outputs,
            inputs: 9 * kernel.group,
            groups: [2, outputs.div_ceil(rows)],
            group: [32, 2, 1],
            has_vectors: true,
        };
        Some(product.case())
    })
}

/// Matrices whose columns are the outputs, packed along the rows.
pub(crate) fn qvm() -> impl Iterator<Item = Case> {
    kernels("affine_qvm").map(|kernel| {
        let (vectors, outputs, inputs) = (2, 128, 70);
        let batch = if kernel.is_batched { 2 } else { 1 };
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, batch * inputs, outputs);
        let x = activations(&mut random, kernel.dtype, batch * vectors * inputs);
        let expected = products(&x, [batch, vectors, outputs, inputs], |element, output, input| {
            weights.weight(element * inputs + input, output)
        });
        let case = Case::new(&kernel.name, CaseGrid::Threadgroups([vectors, 2, batch], [32, 2, 1]));
        let case = weights
            .bind(case)
            .input(&x)
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32));
        Batch { vectors, x_stride: vectors * inputs, w_stride: outputs * inputs }.bind(case, &weights, batch)
    })
}

/// The same with the rows in parts, each with its own result; the last part is smaller.
pub(crate) fn qvm_split() -> impl Iterator<Item = Case> {
    kernels("affine_qvm_split_k").filter_map(|kernel| {
        let parts = number(&kernel.name, "spk")?;
        let (vectors, outputs, part) = (2, 128, 37);
        let last = part - 4;
        let inputs = (parts - 1) * part + last;
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, inputs, outputs);
        let x = activations(&mut random, kernel.dtype, vectors * inputs);
        let mut expected = Vec::new();
        for index in 0..parts {
            let range = index * part..((index + 1) * part).min(inputs);
            for vector in 0..vectors {
                for output in 0..outputs {
                    let term = |input: usize| x.float(vector * inputs + input) * weights.weight(input, output);
                    expected.push(Scalar::Float(range.clone().map(term).sum()));
                }
            }
        }
        let case = Case::new(&kernel.name, CaseGrid::Threadgroups([vectors, 2, parts], [32, 2, 1]));
        let case = weights
            .bind(case)
            .input(&x)
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(part as i32))
            .bind(Argument::int(outputs as i32));
        let batch = Batch { vectors, x_stride: part, w_stride: part * outputs };
        Some(batch.bind(case, &weights, parts).bind(Argument::int(last as i32)))
    })
}

/// Vectors and matrices chosen by two lists of indices, as a mixture of experts does.
pub(crate) fn gather_qmv(prefix: &'static str) -> impl Iterator<Item = Case> {
    kernels(prefix).map(|kernel| {
        let is_fast = kernel.name.contains("fast");
        let (outputs, inputs) = if is_fast { (16, 1024) } else { (13, 5 * kernel.group) };
        let (xs, matrices) = (3, 4);
        let (chosen_xs, chosen_matrices) = ([2, 0, 1, 2], [1, 3, 3, 0]);
        let mut random = Random::new(&kernel.name);
        let weights = Weights::new(&mut random, &kernel, matrices * outputs, inputs);
        let x = activations(&mut random, kernel.dtype, xs * inputs);
        let mut expected = Vec::new();
        for (from, matrix) in chosen_xs.iter().zip(&chosen_matrices) {
            for output in 0..outputs {
                let term =
                    |input| x.float(from * inputs + input) * weights.weight(matrix * outputs + output, input);
                expected.push(Scalar::Float((0..inputs).map(term).sum()));
            }
        }
        let indices = |indices: [usize; 4]| Array::ints(DType::Uint32, indices.map(|index| index as i128));
        let grid = CaseGrid::Threadgroups([1, outputs.div_ceil(8), 4], [32, 2, 1]);
        let case = weights
            .bind(Case::new(&kernel.name, grid))
            .input(&x)
            .input(&indices(chosen_xs))
            .input(&indices(chosen_matrices))
            .bind(Argument::output(kernel.dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32));
        let batch = Batch { vectors: 1, x_stride: inputs, w_stride: outputs * inputs };
        batch
            .bind(case, &weights, matrices)
            .bind(Argument::int(1))
            .bind(Argument::ints(&[4]))
            .bind(Argument::longs(&[1]))
            .bind(Argument::longs(&[1]))
    })
}
