//! Matrix times vector: `gemv` (rows are contiguous), `gemv_t` (columns are), with a choice of matrices (`gather`), and
//! for a few vectors at a time (`wide`).

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;
use crate::reduce::Operation;
use metalworks_compute::ConstantValue;

/// Sizes that fill neither a thread's nor a threadgroup's share.
const OUTPUTS: usize = 37;
const INPUTS: usize = 133;
/// Each row has some unused elements after it.
const GAP: usize = 3;
const ALPHA: f32 = 2.0;
const BETA: f32 = -0.5;
const BIAS_STRIDE: usize = 2;

/// The vectors, matrices and biases of a batch.
struct Problem {
    dtype: DType,
    is_transposed: bool,
    leading: usize,
    matrices: Array,
    vectors: Array,
    bias: Array,
}

impl Problem {
    fn new(name: &str, dtype: DType, is_transposed: bool) -> Problem {
        let mut random = Random::new(name);
        let (rows, leading) = if is_transposed { (INPUTS, OUTPUTS + GAP) } else { (OUTPUTS, INPUTS + GAP) };
        Problem {
            dtype,
            is_transposed,
            leading,
            matrices: random.coarse(dtype, 4 * rows * leading, -1.0, 1.0, 0.125),
            vectors: random.coarse(dtype, 4 * INPUTS, -1.0, 1.0, 0.125),
            bias: random.coarse(dtype, 4 * OUTPUTS * BIAS_STRIDE, -1.0, 1.0, 0.125),
        }
    }

    fn matrix_size(&self) -> usize {
        self.leading * if self.is_transposed { INPUTS } else { OUTPUTS }
    }

    /// Matrix number `matrix` times vector number `vector`.
    fn product(&self, matrix: usize, vector: usize) -> impl Iterator<Item = Scalar> {
        (0..OUTPUTS).map(move |output| {
            let term = |input: usize| {
                let place =
                    if self.is_transposed { input * self.leading + output } else { output * self.leading + input };
                let element = self.matrices.values[matrix * self.matrix_size() + place];
                Operation::Prod.combine(self.dtype, element, self.vectors.values[vector * INPUTS + input])
            };
            (0..INPUTS)
                .map(term)
                .fold(Operation::Sum.initial(self.dtype), |sum, term| Operation::Sum.combine(self.dtype, sum, term))
        })
    }

    fn with_bias(&self, product: impl Iterator<Item = Scalar>, batch: usize) -> Vec<Scalar> {
        let bias = |output: usize| self.bias.values[(batch * OUTPUTS + output) * BIAS_STRIDE];
        let scaled = |value: Scalar, factor: f32| match value {
            Scalar::Complex(real, imaginary) => {
                Scalar::Complex(real * f64::from(factor), imaginary * f64::from(factor))
            }
            value => Scalar::Float(value.float() * f64::from(factor)),
        };
        let sum =
            |(output, value)| Operation::Sum.combine(self.dtype, scaled(value, ALPHA), scaled(bias(output), BETA));
        product.enumerate().map(sum).collect()
    }

    fn grid(&self, name: &str, batch: usize) -> Option<CaseGrid> {
        let [bm, bn, sm, sn, tm, tn] = ["bm", "bn", "sm", "sn", "tm", "tn"].map(|key| number(name, key));
        let (bm, bn) = (bm?, bn?);
        let per_group = if self.is_transposed { bn * sn? * tn? } else { bm * sm? * tm? };
        let groups = OUTPUTS.div_ceil(per_group);
        Some(CaseGrid::Threadgroups([groups, 1, batch], [32, bn, bm]))
    }
}

pub(crate) fn plain() -> impl Iterator<Item = Case> {
    let names = harness::names("gemv_").into_iter();
    names.filter(|name| name.contains("_axpby")).filter_map(|name| {
        let (is_transposed, rest) = match name.strip_prefix("gemv_t_") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix("gemv_")?),
        };
        let dtype = DType::named(rest.split('_').next()?)?;
        let problem = Problem::new(&name, dtype, is_transposed);
        let has_axpby = number(&name, "axpby")? == 1;
        // Two by two, or two in a row of which the second uses the first's vector.
        let (batch, shape, vector_strides, matrix_strides, bias_strides) = match number(&name, "nc")? {
            0 => (2, vec![2], vec![0, 0], vec![1, 0], vec![1, 0]),
            _ => (4, vec![2, 2], vec![1, 2], vec![2, 1], vec![0, 3]),
        };
        let index = |strides: &[usize], element: usize| match shape.len() {
            1 => element * strides[0],
            _ => element / 2 * strides[0] + element % 2 * strides[1],
        };
        let mut expected = Vec::new();
        for element in 0..batch {
            let product = problem.product(index(&matrix_strides, element), index(&vector_strides, element));
            match has_axpby {
                true => expected.extend(problem.with_bias(product, index(&bias_strides, element))),
                false => expected.extend(product),
            }
        }
        let tolerance = match has_axpby && dtype != DType::Float32 {
            true => Tolerance::ulps(1.5).and_absolute(4.0 * dtype.epsilon()),
            false => Tolerance::EXACT,
        };
        let strides = |strides: &[usize], size: usize| {
            Argument::longs(&strides.iter().map(|stride| (stride * size) as i64).collect::<Vec<_>>())
        };
        let case = Case::new(&name, problem.grid(&name, batch)?)
            .input(&problem.matrices)
            .input(&problem.vectors)
            .input(&problem.bias)
            .bind(Argument::output(dtype, expected, tolerance))
            .bind(Argument::int(INPUTS as i32))
            .bind(Argument::int(OUTPUTS as i32))
            .bind(Argument::int(problem.leading as i32))
            .bind(Argument::float(ALPHA))
            .bind(Argument::float(BETA))
            .bind(Argument::int(shape.len() as i32))
            .bind(Argument::ints(&shape))
            .bind(strides(&vector_strides, INPUTS))
            .bind(strides(&matrix_strides, problem.matrix_size()))
            .bind(strides(&bias_strides, OUTPUTS * BIAS_STRIDE))
            .bind(Argument::int(BIAS_STRIDE as i32));
        Some(case)
    })
}

/// The vectors and matrices are chosen by two lists of indices.
pub(crate) fn gathered() -> impl Iterator<Item = Case> {
    ["gemv_gather_", "gemv_t_gather_"].into_iter().flat_map(|prefix| {
        harness::names(prefix).into_iter().filter_map(move |name| {
            let dtype = DType::named(name.strip_prefix(prefix)?.split('_').next()?)?;
            let problem = Problem::new(&name, dtype, prefix == "gemv_t_gather_");
            let (vectors, matrices) = ([3, 0, 2], [1, 3, 1]);
            let products =
                vectors.iter().zip(&matrices).flat_map(|(vector, matrix)| problem.product(*matrix, *vector));
            let expected: Vec<Scalar> = products.collect();
            let indices = |indices: [i32; 3]| Argument::ints(&indices);
            let case = Case::new(&name, problem.grid(&name, 3)?)
                .input(&problem.matrices)
                .input(&problem.vectors)
                .input(&problem.bias)
                .bind(Argument::output(dtype, expected, Tolerance::EXACT))
                .bind(Argument::int(INPUTS as i32))
                .bind(Argument::int(OUTPUTS as i32))
                .bind(Argument::int(problem.leading as i32))
                .bind(Argument::float(1.0))
                .bind(Argument::float(0.0))
                .bind(Argument::int(1))
                .bind(Argument::ints(&[3]))
                .bind(Argument::longs(&[1, 1]))
                .bind(Argument::int(1))
                .bind(Argument::ints(&[4]))
                .bind(Argument::longs(&[INPUTS as i64]))
                .bind(Argument::int(1))
                .bind(Argument::ints(&[4]))
                .bind(Argument::longs(&[problem.matrix_size() as i64]))
                .bind(indices(vectors.map(|index| index as i32)))
                .bind(indices(matrices.map(|index| index as i32)));
            Some(case)
        })
    })
}

/// Several vectors at a time; the last threadgroup has fewer. Rows are multiples of four elements here.
pub(crate) fn wide() -> impl Iterator<Item = Case> {
    let names = harness::names("gemv_wide_").into_iter();
    names.filter(|name| !name.contains("gather")).enumerate().filter_map(|(position, name)| {
        let dtype = DType::named(name.strip_prefix("gemv_wide_")?.split('_').next()?)?;
        let (per_group, lanes) = (number(&name, "nv")?, number(&name, "kl")?);
        let (vectors, outputs, inputs, batch) = (2 * per_group + 1, 22, 340, 2);
        let (vector_leading, matrix_leading) = (inputs + 4, inputs + 8);
        let mut random = Random::new(&name);
        let matrices = random.coarse(dtype, batch * outputs * matrix_leading, -1.0, 1.0, 0.125);
        let input = random.coarse(dtype, batch * vectors * vector_leading, -1.0, 1.0, 0.125);
        let bias = random.coarse(dtype, batch * outputs, -1.0, 1.0, 0.125);
        let has_axpby = position % 2 == 1;
        let mut expected = Vec::new();
        for element in 0..batch {
            for vector in 0..vectors {
                for output in 0..outputs {
                    let row = (element * outputs + output) * matrix_leading;
                    let from = (element * vectors + vector) * vector_leading;
                    let product: f64 =
                        (0..inputs).map(|at| matrices.float(row + at) * input.float(from + at)).sum();
                    let bias = bias.float(element * outputs + output);
                    let total = f64::from(ALPHA) * product + f64::from(BETA) * bias;
                    expected.push(if has_axpby { total } else { product });
                }
            }
        }
        let grid = CaseGrid::Threadgroups([2, outputs.div_ceil(4), batch], [32, lanes / 8, 1]);
        let mut case = Case::new(&name, grid)
            .input(&matrices)
            .input(&input)
            .bind_at(3, Argument::float_output(dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(inputs as i32))
            .bind(Argument::int(outputs as i32))
            .bind(Argument::int(vectors as i32))
            .bind(Argument::int(matrix_leading as i32))
            .bind(Argument::int(vector_leading as i32))
            .bind_at(11, Argument::int(1))
            .bind(Argument::ints(&[batch as i32]))
            .bind(Argument::longs(&[(vectors * vector_leading) as i64]))
            .bind(Argument::longs(&[(outputs * matrix_leading) as i64]));
        if has_axpby {
            case = case
                .bind_at(2, Argument::Input(bias))
                .bind_at(9, Argument::float(ALPHA))
                .bind_at(10, Argument::float(BETA))
                .bind_at(15, Argument::longs(&[outputs as i64]))
                .bind_at(16, Argument::int(0))
                .bind_at(17, Argument::int(1));
        }
        case.constants.set(0, ConstantValue::Bool(position % 4 > 1)).set(1, ConstantValue::Bool(has_axpby));
        Some(case)
    })
}
