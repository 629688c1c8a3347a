//! Weights of 1 to 8 bits: `w = scale · q + bias`, with a scale and a bias for each group of 32, 64 or 128 weights of a
//! row. The bits of a row follow each other without gaps, the first weight in the lowest bits.

pub(crate) mod convert;
pub(crate) mod floating;
pub(crate) mod matrix;
pub(crate) mod vector;

use crate::array::{Array, DType, Scalar};
use crate::harness::{self, Argument, Case};
use crate::names::number;
use crate::random::Random;

/// The parts of a name: `affine_qmv_float16_t_gs_64_b_4_batch_0_pr_0_hgs_0_r_4`.
struct Kernel {
    name: String,
    dtype: DType,
    group: usize,
    bits: usize,
    is_batched: bool,
}

/// The functions whose names are `prefix`, a type and numbers.
fn kernels(prefix: &'static str) -> impl Iterator<Item = Kernel> {
    harness::names(prefix).into_iter().filter_map(move |name| {
        let rest = name.strip_prefix(prefix)?.strip_prefix('_')?;
        let types =
            [("float_gs", DType::Float32), ("float16_t_gs", DType::Float16), ("bfloat16_t_gs", DType::Bfloat16)];
        let (_, dtype) = types.into_iter().find(|(start, _)| rest.starts_with(start))?;
        let (group, bits) = (number(&name, "gs")?, number(&name, "b")?);
        Some(Kernel { dtype, group, bits, is_batched: number(&name, "batch") == Some(1), name })
    })
}

/// Matrices of quantized weights, `rows` × `columns` each.
struct Weights {
    dtype: DType,
    group: usize,
    bits: usize,
    columns: usize,
    /// Of all matrices, row by row.
    quants: Vec<u32>,
    scales: Array,
    biases: Array,
}

impl Weights {
    /// Weights, scales and biases with so few digits that products with `coarse` numbers are exact in f32.
    fn new(random: &mut Random, kernel: &Kernel, rows: usize, columns: usize) -> Weights {
        let groups = rows * columns / kernel.group;
        Weights {
            dtype: kernel.dtype,
            group: kernel.group,
            bits: kernel.bits,
            columns,
            quants: (0..rows * columns).map(|_| random.below(1 << kernel.bits) as u32).collect(),
            scales: random.coarse(kernel.dtype, groups, -3.0 / 64.0, 3.0 / 64.0, 1.0 / 64.0),
            biases: random.coarse(kernel.dtype, groups, -1.0, 1.0, 1.0 / 16.0),
        }
    }

    /// The weight at a place, counted from the first row of the first matrix.
    fn weight(&self, row: usize, column: usize) -> f64 {
        let group = (row * self.columns + column) / self.group;
        let quant = f64::from(self.quants[row * self.columns + column]);
        self.scales.float(group) * quant + self.biases.float(group)
    }

    /// The same, rounded to the type: kernels that multiply tiles of a matrix keep the weights so.
    fn rounded(&self, row: usize, column: usize) -> f64 {
        self.dtype.round(self.weight(row, column))
    }

    fn packed(&self) -> Vec<u8> {
        pack(&self.quants, self.bits)
    }

    /// The packed weights, as 32-bit words.
    fn words(&self) -> Array {
        let words = self.packed();
        let words =
            words.chunks(4).map(|word| i128::from(u32::from_le_bytes(word.try_into().expect("four bytes"))));
        Array::ints(DType::Uint32, words.collect::<Vec<_>>())
    }

    fn bind(&self, case: Case) -> Case {
        case.input(&self.words()).input(&self.scales).input(&self.biases)
    }
}

fn pack(quants: &[u32], bits: usize) -> Vec<u8> {
    let mut bytes = vec![0; (quants.len() * bits).div_ceil(8)];
    for (index, quant) in quants.iter().enumerate() {
        for bit in 0..bits {
            let place = index * bits + bit;
            bytes[place / 8] |= (*quant as u8 >> bit & 1) << (place % 8);
        }
    }
    bytes
}

/// Numbers to multiply weights with.
fn activations(random: &mut Random, dtype: DType, length: usize) -> Array {
    random.coarse(dtype, length, -1.0, 1.0, 0.25)
}

/// The arguments that say where the matrices of a batch are. `vectors` is the number of rows of each x.
struct Batch {
    vectors: usize,
    /// Elements from one x to the next.
    x_stride: usize,
    /// Weights from one matrix to the next.
    w_stride: usize,
}

impl Batch {
    fn bind(&self, case: Case, weights: &Weights, batch: usize) -> Case {
        let words = self.w_stride * weights.bits / 32;
        let groups = (self.w_stride / weights.group) as i64;
        case.bind(Argument::int(1))
            .bind(Argument::ints(&[batch as i32, self.vectors as i32]))
            .bind(Argument::longs(&[self.x_stride as i64]))
            .bind(Argument::int(1))
            .bind(Argument::ints(&[batch as i32]))
            .bind(Argument::longs(&[words as i64]))
            .bind(Argument::longs(&[groups]))
            .bind(Argument::longs(&[groups]))
    }
}

/// `y[m, n] = Σ x[m, k] w[n, k]` for every matrix of a batch.
fn products(
    x: &Array,
    [batch, vectors, outputs, inputs]: [usize; 4],
    weight: impl Fn(usize, usize, usize) -> f64,
) -> Vec<Scalar> {
    let mut products = Vec::with_capacity(batch * vectors * outputs);
    for element in 0..batch {
        for vector in 0..vectors {
            let start = (element * vectors + vector) * inputs;
            for output in 0..outputs {
                let sum = (0..inputs).map(|input| x.float(start + input) * weight(element, output, input)).sum();
                products.push(Scalar::Float(sum));
            }
        }
    }
    products
}
