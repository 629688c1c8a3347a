//! Matrix times matrix, by tiles and simdgroup matrices: `steel_gemm_fused` and `steel_gemm_splitk`.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;
use metalworks_compute::ConstantValue;

/// `D[m, n] = Σ A[m, k] B[k, n]`, either factor transposed in memory or not.
#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
    transposed: [bool; 2],
}

impl Shape {
    /// The transposition is in the name: `nn`, `nt`, `tn`, `tt`.
    fn new(name: &str, [m, n, k]: [usize; 3]) -> Option<Shape> {
        let letters = name.split('_').find(|part| matches!(*part, "nn" | "nt" | "tn" | "tt"))?;
        Some(Shape { m, n, k, transposed: [letters.starts_with('t'), letters.ends_with('t')] })
    }

    /// Elements from one row to the next, in memory.
    fn leading(&self) -> [usize; 2] {
        let [a, b] = self.transposed;
        [if a { self.m } else { self.k }, if b { self.k } else { self.n }]
    }

    fn a(&self, row: usize, column: usize) -> usize {
        if self.transposed[0] { column * self.leading()[0] + row } else { row * self.leading()[0] + column }
    }

    fn b(&self, row: usize, column: usize) -> usize {
        if self.transposed[1] { column * self.leading()[1] + row } else { row * self.leading()[1] + column }
    }

    /// The product of matrices number `batch`, over `range` of the inner dimension.
    fn product(&self, a: &Array, b: &Array, batch: usize, range: std::ops::Range<usize>) -> Vec<(f64, f64)> {
        let mut product = Vec::with_capacity(self.m * self.n);
        for row in 0..self.m {
            for column in 0..self.n {
                let sum = range.clone().fold((0.0, 0.0), |sum, k| {
                    let left = a.values[batch * self.m * self.k + self.a(row, k)].complex();
                    let right = b.values[batch * self.k * self.n + self.b(k, column)].complex();
                    complex::add(sum, complex::multiply(left, right))
                });
                product.push(sum);
            }
        }
        product
    }
}

fn scalar(dtype: DType, (real, imaginary): (f64, f64)) -> Scalar {
    if dtype == DType::Complex64 { Scalar::Complex(real, imaginary) } else { Scalar::Float(real) }
}

fn ints(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect()
}

fn longs(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|value| (*value as i64).to_le_bytes()).collect()
}

fn element_type(name: &str) -> Option<DType> {
    name.split('_').find_map(DType::named)
}

/// Parameters of a fused product: its shape, its addend, and the order of its tiles.
struct Fused {
    extents: [usize; 3],
    source: Option<(f32, f32)>,
    swizzle: usize,
    has_strides: bool,
}

/// Shapes that the tiles do not divide; shapes that they divide, with a matrix added.
pub(crate) fn fused() -> impl Iterator<Item = Case> {
    harness::names("steel_gemm_fused_").into_iter().flat_map(|name| {
        let uneven = Fused { extents: [77, 70, 43], source: None, swizzle: 0, has_strides: true };
        // MLX's kernel drops the imaginary part when it adds a matrix.
        let source = (!name.contains("complex")).then_some((2.0, 0.5));
        let even = Fused { extents: [128, 64, 64], source, swizzle: 1, has_strides: false };
        [fused_case(&name, &uneven), fused_case(&name, &even)].into_iter().flatten()
    })
}

fn fused_case(name: &str, call: &Fused) -> Option<Case> {
    let dtype = element_type(name)?;
    let shape = Shape::new(name, call.extents)?;
    let Shape { m, n, k, .. } = shape;
    let [bm, bn, bk] = [number(name, "bm")?, number(name, "bn")?, number(name, "bk")?];
    let batch = 2;
    let mut random = Random::new(&format!("{name}{m}"));
    let a = random.coarse(dtype, batch * m * k, -1.0, 1.0, 0.125);
    let b = random.coarse(dtype, batch * k * n, -1.0, 1.0, 0.125);
    // One row for all rows and matrices.
    let source = random.coarse(dtype, n, -1.0, 1.0, 0.125);
    let (alpha, beta) = call.source.unwrap_or((1.0, 0.0));
    let mut expected = Vec::new();
    for element in 0..batch {
        let product = shape.product(&a, &b, element, 0..k);
        expected.extend(product.iter().enumerate().map(|(at, value)| {
            let scaled = |value: (f64, f64), by: f32| (value.0 * f64::from(by), value.1 * f64::from(by));
            scalar(dtype, complex::add(scaled(*value, alpha), scaled(source.values[at % n].complex(), beta)))
        }));
    }
    let (tiles_m, tiles_n) = (m.div_ceil(bm), n.div_ceil(bn));
    let [leading_a, leading_b] = shape.leading();
    let mut parameters = ints(&[m, n, k, leading_a, leading_b, n, tiles_n, tiles_m]);
    parameters.extend(longs(&[m * k, k * n, m * n]));
    parameters.extend(ints(&[call.swizzle, k / bk, 1, 0]));
    let groups = [(tiles_n << call.swizzle), tiles_m.div_ceil(1 << call.swizzle), batch];
    let group = [32, number(name, "wn")?, number(name, "wm")?];
    let mut case = Case::new(name, CaseGrid::Threadgroups(groups, group))
        .input(&a)
        .input(&b)
        .bind_at(3, Argument::output(dtype, expected, Tolerance::EXACT))
        .bind(Argument::Bytes(parameters));
    if call.source.is_some() {
        let mut added = ints(&[0, 1]);
        added.extend(longs(&[0]));
        added.extend(alpha.to_le_bytes());
        added.extend(beta.to_le_bytes());
        case = case.bind_at(2, Argument::Input(source)).bind_at(5, Argument::Bytes(added));
    }
    if call.has_strides {
        case = case.bind_at(6, Argument::ints(&[batch as i32]));
        case = case.bind_at(7, Argument::Bytes(longs(&[m * k, k * n])));
    }
    let constants = [
        (10, call.has_strides),
        (100, call.source.is_some()),
        (110, call.source.is_some()),
        (200, m % bm == 0),
        (201, n % bn == 0),
        (202, k % bk == 0),
    ];
    for (index, value) in constants {
        case.constants.set(index, ConstantValue::Bool(value));
    }
    Some(case)
}

/// The inner dimension in three parts, of which the last has what is left.
pub(crate) fn split() -> impl Iterator<Item = Case> {
    let names = harness::names("steel_gemm_splitk_").into_iter();
    names.filter(|name| !name.contains("accum")).filter_map(|name| {
        let [bm, bn, bk] = [number(&name, "bm")?, number(&name, "bn")?, number(&name, "bk")?];
        let (parts, part) = (3, 2 * bk);
        let even = name.contains("MN_taligned");
        let k = parts * part + if name.contains("K_taligned") { bk } else { bk + 5 };
        let shape = Shape::new(&name, if even { [2 * bm, 2 * bn, k] } else { [2 * bm + 5, bn + 7, k] })?;
        let (m, n) = (shape.m, shape.n);
        let dtype = element_type(&name)?;
        let sums = if dtype == DType::Complex64 { dtype } else { DType::Float32 };
        let mut random = Random::new(&name);
        let a = random.coarse(dtype, m * k, -1.0, 1.0, 0.125);
        let b = random.coarse(dtype, k * n, -1.0, 1.0, 0.125);
        let expected: Vec<Scalar> = (0..parts)
            .flat_map(|index| {
                let end = if index + 1 == parts { k } else { (index + 1) * part };
                shape.product(&a, &b, 0, index * part..end)
            })
            .map(|value| scalar(sums, value))
            .collect();
        let (tiles_m, tiles_n) = (m.div_ceil(bm), n.div_ceil(bn));
        let [leading_a, leading_b] = shape.leading();
        let parameters =
            ints(&[m, n, k, leading_a, leading_b, n, tiles_n, tiles_m, parts, m * n, part, 0, part / bk]);
        let group = [32, number(&name, "wn")?, number(&name, "wm")?];
        let case = Case::new(&name, CaseGrid::Threadgroups([tiles_n, tiles_m, parts], group));
        let case = case.input(&a).input(&b).bind(Argument::output(sums, expected, Tolerance::EXACT));
        Some(case.bind(Argument::Bytes(parameters)))
    })
}

/// The sum of the parts.
pub(crate) fn accumulated() -> impl Iterator<Item = Case> {
    harness::names("steel_gemm_splitk_accum_").into_iter().filter_map(|name| {
        let dtype = element_type(&name)?;
        let sums = if dtype == DType::Complex64 { dtype } else { DType::Float32 };
        let (parts, rows, columns) = (5, 7, 37);
        let mut random = Random::new(&name);
        let input = random.coarse(sums, parts * rows * columns, -4.0, 4.0, 0.125);
        let source = random.coarse(dtype, 2 * rows * columns, -1.0, 1.0, 0.125);
        let has_source = name.ends_with("_axbpy");
        let expected: Vec<Scalar> = (0..rows * columns)
            .map(|at| {
                let terms = (0..parts).map(|part| input.values[part * rows * columns + at].complex());
                let sum = terms.fold((0.0, 0.0), complex::add);
                let added = source.values[2 * at].complex();
                match has_source {
                    true => complex::add((2.0 * sum.0, 2.0 * sum.1), (0.5 * added.0, 0.5 * added.1)),
                    false => sum,
                }
            })
            .map(|value| scalar(dtype, value))
            .collect();
        let mut case = Case::new(&name, CaseGrid::Threads([columns, rows, 1], [16, 4, 1]))
            .input(&input)
            .bind(Argument::output(dtype, expected, Tolerance::EXACT))
            .bind(Argument::int(parts as i32))
            .bind(Argument::int((rows * columns) as i32))
            .bind(Argument::int(columns as i32));
        if has_source {
            case = case
                .input(&source)
                .bind(Argument::int(2 * columns as i32))
                .bind(Argument::int(2))
                .bind(Argument::float(2.0))
                .bind(Argument::float(0.5));
        }
        Some(case)
    })
}
