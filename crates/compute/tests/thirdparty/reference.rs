//! References that both projects' kernels are compared with.

/// Rows of weights times columns, each of `length` numbers.
pub(crate) fn product(weights: &[f64], x: &[f64], length: usize) -> Vec<f64> {
    let dot = |row: &[f64], column: &[f64]| row.iter().zip(column).map(|(w, x)| w * x).sum();
    x.chunks(length).flat_map(|column| weights.chunks(length).map(move |row| dot(row, column))).collect()
}

/// Heads of queries, heads of keys and values, positions of each, and the size of a head.
#[derive(Clone, Copy)]
pub(crate) struct Attention {
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) queries: usize,
    pub(crate) keys: usize,
    pub(crate) size: usize,
}

impl Attention {
    /// Attention of head, query, component, with what `adjust` makes of the score of a head's query and key. A head may
    /// have a score that takes part and has no value.
    pub(crate) fn reference(
        &self,
        [q, k, v]: [&[f64]; 3],
        adjust: impl Fn([usize; 3], f64) -> f64,
        sink: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let Attention { heads, kv_heads, queries, keys, size } = *self;
        let mut out = vec![0.0; heads * queries * size];
        for row in 0..heads * queries {
            let (head, query) = (row / queries, row % queries);
            let base = head * kv_heads / heads * keys;
            let score = |key: usize| {
                let (q, k) = (&q[row * size..][..size], &k[(base + key) * size..][..size]);
                adjust([head, query, key], q.iter().zip(k).map(|(q, k)| q * k).sum())
            };
            let scores: Vec<f64> = (0..keys).map(score).collect();
            let max = scores.iter().copied().fold(sink(head).max(f64::MIN), f64::max);
            let total: f64 = scores.iter().map(|score| (score - max).exp()).sum::<f64>() + (sink(head) - max).exp();
            for (key, score) in scores.iter().enumerate() {
                for at in 0..size {
                    out[row * size + at] += (score - max).exp() / total * v[(base + key) * size + at];
                }
            }
        }
        out
    }
}

/// Without a score that has no value.
pub(crate) fn no_sink(_: usize) -> f64 {
    f64::NEG_INFINITY
}

/// The softmax of a row.
pub(crate) fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    row.iter().map(|x| (x - max).exp() / sum).collect()
}

/// The error function by its series, good for the small numbers that are tried here.
pub(crate) fn erf(x: f64) -> f64 {
    let (mut sum, mut term) = (0.0, x);
    for n in 0..200 {
        sum += term / f64::from(2 * n + 1);
        term *= -x * x / f64::from(n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// The Gaussian error linear unit in its approximation by the hyperbolic tangent.
pub(crate) fn gelu(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

/// The Gaussian error linear unit.
pub(crate) fn gelu_erf(x: f64) -> f64 {
    x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2)) / 2.0
}

/// The order of a row's elements from the least to the greatest.
pub(crate) fn ascending(row: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|a, b| row[*a].total_cmp(&row[*b]));
    order.into_iter().map(|at| at as f64).collect()
}
