//! RMS norm and layer norm of rows, one threadgroup a row.

use crate::array::{Array, DType, FLOATS};
use crate::compare::Tolerance;
use crate::harness::{Argument, Case, CaseGrid};
use crate::random::Random;

const ROWS: usize = 4;
const EPSILON: f32 = 1e-5;

/// The row, the weight (and the bias), each weight `stride` elements after the one before; 0 repeats one weight.
struct Problem {
    name: String,
    dtype: DType,
    row: usize,
    threads: usize,
    stride: usize,
    x: Array,
    weight: Array,
    bias: Array,
}

impl Problem {
    fn new(kernel: &str, is_looped: bool, dtype: DType, stride: usize) -> Problem {
        let name = format!("{kernel}{}{}", if is_looped { "_looped" } else { "" }, dtype.name());
        // Some threads are idle. Those of MLX's layer norm write before the beginning of a private array.
        let (row, threads) = if is_looped { (2301, 128) } else { (333, 96) };
        let mut random = Random::new(&format!("{name}{stride}"));
        let weights = if stride == 0 { 1 } else { row * stride };
        Problem {
            row,
            threads,
            stride,
            x: random.array(dtype, ROWS * row, -3.0, 5.0),
            weight: random.array(dtype, weights, 0.5, 2.0),
            bias: random.array(dtype, weights, -1.0, 1.0),
            name,
            dtype,
        }
    }

    fn case(&self) -> Case {
        Case::new(&self.name, CaseGrid::Threadgroups([ROWS, 1, 1], [self.threads, 1, 1]))
    }

    /// `f` of each row, its rows end to end.
    fn by_row(&self, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let row = |index: usize| (0..self.row).map(|at| self.x.float(index * self.row + at)).collect::<Vec<_>>();
        (0..ROWS).flat_map(|index| f(&row(index))).collect()
    }

    fn output(&self, expected: Vec<f64>) -> Argument {
        let tolerance = match self.dtype {
            DType::Float32 => Tolerance::ulps(16.0).and_absolute(1e-6),
            // Rounded before the weight and after it.
            dtype => Tolerance::ulps(2.0).and_absolute(dtype.epsilon()),
        };
        Argument::float_output(self.dtype, expected, tolerance)
    }
}

fn problems(kernel: &'static str) -> impl Iterator<Item = Problem> {
    let each = [(false, 1), (true, 1), (false, 0), (true, 2)];
    FLOATS
        .into_iter()
        .flat_map(move |dtype| each.map(|(is_looped, stride)| Problem::new(kernel, is_looped, dtype, stride)))
}

pub(crate) fn rms() -> impl Iterator<Item = Case> {
    problems("rms").map(|problem| {
        let expected = problem.by_row(|row| {
            let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
            let scale = 1.0 / (mean + f64::from(EPSILON)).sqrt();
            row.iter().enumerate().map(|(at, x)| x * scale * problem.weight.float(at * problem.stride)).collect()
        });
        problem
            .case()
            .input(&problem.x)
            .input(&problem.weight)
            .bind(problem.output(expected))
            .bind(Argument::float(EPSILON))
            .bind(Argument::int(problem.row as i32))
            .bind(Argument::int(problem.stride as i32))
    })
}

pub(crate) fn layer() -> impl Iterator<Item = Case> {
    problems("layer_norm").map(|problem| {
        let expected = problem.by_row(|row| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / row.len() as f64;
            let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
            let value = |(at, x): (usize, &f64)| {
                let at = at * problem.stride;
                (x - mean) * scale * problem.weight.float(at) + problem.bias.float(at)
            };
            row.iter().enumerate().map(value).collect()
        });
        problem
            .case()
            .input(&problem.x)
            .input(&problem.weight)
            .input(&problem.bias)
            .bind(problem.output(expected))
            .bind(Argument::float(EPSILON))
            .bind(Argument::int(problem.row as i32))
            .bind(Argument::int(problem.stride as i32))
            .bind(Argument::int(problem.stride as i32))
    })
}
