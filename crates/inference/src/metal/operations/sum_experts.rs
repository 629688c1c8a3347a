//! The weighted sum of each token's experts: `sum_experts` of `experts.metal`.

use super::route::MAX_USED;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::experts as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "sum_experts",
    kernels: &["sum_experts"],
    variants: Variants::Activations,
    shape: "M=1 N=width U=8",
    checks: &["M=2 N=77 U=3", "M=3 N=150 U=2 S=1", "M=3 N=140 U=2 E=1", "M=2 N=140 U=2 E=2"],
    bytes: |c| c.a(c.mn() * (c.u() + 1.0)) + 4.0 * c.m() * c.u(),
    flops: |c| 2.0 * c.mn() * c.u(),
    build,
}];

/// [`sum_experts`]: `y[m] = residual[m] + Σ_u weights[m,u] · x[rows[m,u]] + sigmoid(factor[m]) · shared[m]`. Without a factor it
/// is 1.
#[derive(Clone, Copy, Debug)]
pub struct SumExperts<'a> {
    /// `[m · used, n]` activations.
    pub x: BufferSlice<'a>,
    /// `[m, used]` f32.
    pub weights: BufferSlice<'a>,
    /// `[m, used]` u32: rows of x, if they are sorted.
    pub rows: Option<BufferSlice<'a>>,
    /// The expert that all tokens use.
    pub shared: Option<SharedExpert<'a>>,
    /// `[m, n]` activations; may be `y`.
    pub residual: Option<BufferSlice<'a>>,
    /// `[m, n]` activations.
    pub y: BufferSlice<'a>,
    /// Number of tokens.
    pub m: usize,
    /// Numbers of a row.
    pub n: usize,
    /// Experts of a token.
    pub used: usize,
    /// The type of x, y and residual.
    pub activation: Activation,
}

/// Results of the expert that all tokens use.
#[derive(Clone, Copy, Debug)]
pub struct SharedExpert<'a> {
    /// `[m]` activations, whose sigmoids are the factors, if it has some.
    pub factor: Option<BufferSlice<'a>>,
    /// `[m, n]` activations.
    pub x: BufferSlice<'a>,
}

/// Adds the results of each token's experts, in the order of their weights.
pub fn sum_experts(encoding: &mut Encoding<'_>, op: SumExperts<'_>) -> Result<()> {
    let kernel = kernels::SumExperts::select(op.activation);
    let check = Check::new("sum_experts", kernel.info());
    if !(1..=MAX_USED).contains(&op.used) {
        return check.error(format_args!("{} experts of a token: it must be 1 to {MAX_USED}", op.used));
    }
    let x = check.room("x", &op.x, &[op.m, op.used, op.n])?;
    let y = check.room("y", &op.y, &[op.m, op.n])?;
    check.no_overlap(&y, &x)?;
    check.room("weights", &op.weights, &[op.m, op.used])?;
    if let Some(rows) = &op.rows {
        check.room("rows", rows, &[op.m, op.used])?;
    }
    if let Some(SharedExpert { factor, x }) = &op.shared {
        if let Some(factor) = factor {
            check.no_overlap(&y, &check.room("factor", factor, &[op.m])?)?;
        }
        check.no_overlap(&y, &check.room("shared", x, &[op.m, op.n])?)?;
    }
    if let Some(residual) = &op.residual {
        check.in_place_or_no_overlap(&y, &check.room("residual", residual, &[op.m, op.n])?)?;
    }
    if op.m == 0 || op.n == 0 {
        return Ok(());
    }
    let (factor, shared) = (op.shared.and_then(|shared| shared.factor), op.shared.map(|shared| shared.x));
    let constants = kernels::SumExpertsConstants {
        used: op.used as u32,
        sorted: op.rows.is_some(),
        expert_residual: op.residual.is_some(),
        shared_expert: shared.is_some(),
        shared_factor: factor.is_some(),
    };
    let (x, weights, y, rows, residual) = (op.x, op.weights, op.y, op.rows, op.residual);
    check.count("m · used", op.m.saturating_mul(op.used))?;
    let arguments =
        kernels::SumExpertsArgs { x, weights, y, n: check.count("n", op.n)?, rows, residual, factor, shared };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.m), ('N', op.n), ('U', op.used)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.n.div_ceil(kernels::SUMMED), op.m, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, used, activation) = (case.shape['M'], case.shape['N'], case.shape['U'], case.activation);
    let x = maker.activations(&[m, used, n], activation)?;
    let weights = maker.activations(&[m, used], Activation::F32)?;
    let is_sorted = case.shape.get('S').is_some();
    let place = |pair: usize| if is_sorted { m * used - 1 - pair } else { pair };
    let rows = maker.integers(&(0..m * used).map(|pair| place(pair) as u32).collect::<Vec<_>>())?;
    let residual = is_sorted.then(|| maker.activations(&[m, n], activation)).transpose()?;
    // 1: with a factor, 2: without.
    let has_shared = case.shape.get('E').is_some();
    let has_factor = case.shape.get('E') == Some(1);
    let factor = has_factor.then(|| maker.activations(&[m], activation)).transpose()?;
    let shared = has_shared.then(|| maker.activations(&[m, n], activation)).transpose()?;
    let y = maker.output("y", &[m, n], activation.into())?;
    maker.expect(&y, || {
        let (x, weights) = (x.numbers(), weights.numbers());
        let residual = residual.as_ref().map(|residual| residual.numbers());
        let factor = factor.as_ref().map(|factor| factor.numbers());
        let shared = shared.as_ref().map(|shared| shared.numbers());
        let number = |i: usize| {
            let pairs = i / n * used..(i / n + 1) * used;
            let sum: f64 = pairs.map(|pair| weights[pair] * x[place(pair) * n + i % n]).sum();
            let factor = factor.as_ref().map_or(1.0, |factor| formulas::sigmoid(factor[i / n]));
            let shared = shared.as_ref().map_or(0.0, |x| factor * x[i]);
            sum + shared + residual.as_ref().map_or(0.0, |residual| residual[i])
        };
        (0..m * n).map(number).collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, weights, y, residual) = (all(&x), all(&weights), y.slice(), residual.as_ref().map(all));
        let rows = is_sorted.then(|| all(&rows));
        let factor = factor.as_ref().map(all);
        let shared = shared.as_ref().map(|x| SharedExpert { factor, x: all(x) });
        sum_experts(encoding, SumExperts { x, weights, rows, shared, residual, y, m, n, used, activation })
    }))
}
