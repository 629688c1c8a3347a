//! Matrices of quantized weights: times vectors, times matrices, and rows of them.

use crate::corpus::Corpus;
use crate::numbers::{Random, values};
use crate::quants::Format;
use crate::reference::product;
use crate::run::Run;

/// Formats, with the shape of the threadgroup and the rows that it handles. The larger formats' kernels write all rows.
const VECTOR_FORMATS: &[(&str, (usize, usize), usize)] = &[
    ("q4_0", (8, 8), 8),
    ("q4_1", (8, 8), 8),
    ("q5_0", (8, 8), 8),
    ("q5_1", (8, 8), 8),
    ("q8_0", (8, 8), 8),
    ("q2_K", (2, 32), 8),
    ("q3_K", (2, 32), 4),
    ("q4_K", (4, 8), 4),
    ("q5_K", (2, 32), 4),
    ("q6_K", (2, 32), 2),
];

pub(super) fn matrix_times_vector(corpus: &Corpus) {
    for (name, (width, height), align) in VECTOR_FORMATS {
        let format = Format::named(name);
        // Lengths of one block, and of some that do not fill the simdgroup.
        for (rows, columns, blocks) in [(1usize, 1, 1), (13, 3, 5), (34, 1, 9)] {
            let rows = if format.weights == 32 { rows } else { rows.next_multiple_of(*align) };
            let length = blocks * format.weights;
            let mut random = Random::new(60);
            let weights = format.random(&mut random, rows * length);
            let x: Vec<f32> = random.numbers(columns * length, -1.0, 1.0);
            let want = product(&format.decode(&weights), &values(&x), length);
            let run = Run::new(corpus, "quantized", format!("kernel_mul_mv_{name}_f32")).input(&weights).input(&x);
            let run = run.output::<f32>(want.len()).sizes(&[length, rows, 1, 0, 0, 0]);
            let run = run.sizes(&[length, columns, 1, 0, 0, 0, rows, columns]).value(1u32).value(1u32);
            let ran = run.threadgroups((rows.div_ceil(*align), columns, 1), (*width, *height, 1));
            ran.output::<f32>().is_within(&want, 2e-5);
        }
    }
}

pub(super) fn matrix_times_matrix(corpus: &Corpus) {
    for name in
        ["q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "f16", "bf16", "f32"]
    {
        let format = Format::named(name);
        // One tile of 64 × 32, and matrices that no tile divides.
        for (rows, columns) in [(64, 32), (70, 37), (3, 1)] {
            let length = 512;
            let mut random = Random::new(61);
            let weights = format.random(&mut random, rows * length);
            let x: Vec<f32> = random.numbers(columns * length, -1.0, 1.0);
            let want = product(&format.decode(&weights), &values(&x), length);
            let row = length / format.weights * format.bytes;
            let run = Run::new(corpus, "quantized", format!("kernel_mul_mm_{name}_f32")).input(&weights).input(&x);
            let run = run.output::<f32>(want.len()).sizes(&[length, 1, row, rows * row, rows * row, 1]);
            let run = run.sizes(&[4, 4 * length, 4 * length * columns, 4 * length * columns, rows, columns]);
            let run = run.value(1u32).value(1u32).threadgroup_memory(8192);
            let ran = run.threadgroups((columns.div_ceil(32), rows.div_ceil(64), 1), (128, 1, 1));
            // Weights are rounded to half precision.
            ran.output::<f32>().is_within(&want, 3e-3);
        }
    }
}

pub(super) fn rows(corpus: &Corpus) {
    for name in ["q4_0", "q5_1", "q8_0", "q3_K", "q4_K", "q6_K", "f16", "bf16"] {
        let format = Format::named(name);
        let (rows, length) = (11, 512);
        let weights = format.random(&mut Random::new(62), rows * length);
        let decoded = format.decode(&weights);
        let ids = [7u32, 0, 10, 7, 3];
        let want: Vec<f64> =
            ids.iter().flat_map(|id| &decoded[*id as usize * length..][..length]).copied().collect();
        let run = Run::new(corpus, "quantized", format!("kernel_get_rows_{name}")).input(&weights).input(&ids);
        let run = run.output::<f32>(want.len());
        let run = run.sizes(&[length, length / format.weights * format.bytes, 0, ids.len(), 4, 0, 4 * length, 0]);
        // Some formats are decoded in half precision.
        run.threadgroups((ids.len(), 1, 1), (128, 1, 1)).output::<f32>().is_within(&want, 1e-3);
    }
}
