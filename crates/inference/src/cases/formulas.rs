//! Formulas in f64 that several operations share.

use super::data::Weights;

/// y[m,n] = Σ_k w[n,k] · x[m,k]
pub(crate) fn product(w: &Weights, x: &[f64]) -> Vec<f64> {
    matrix_product(&w.numbers(), w.columns, x)
}

/// y[m,n] = Σ_k w[n,k] · x[m,k], of rows of `columns` numbers.
pub(crate) fn matrix_product(w: &[f64], columns: usize, x: &[f64]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let rows = x.chunks(columns).flat_map(|x| w.chunks(columns).map(move |row| dot(row, x)));
    rows.collect()
}

/// a[i] + b[i mod the length of b]: elementwise, or with the same row added to every row.
pub(crate) fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b.iter().cycle()).map(|(a, b)| a + b).collect()
}

/// e^x[i] / Σ_j e^x[j]
pub(crate) fn softmax(x: &[f64]) -> Vec<f64> {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = x.iter().map(|x| (x - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// x[i] / √(mean of x² + ε) · w[i], for every row of x, whose length is that of w.
pub(crate) fn rms_norm(x: &[f64], w: &[f64], epsilon: f32) -> Vec<f64> {
    let rows = x.chunks(w.len()).flat_map(|row| {
        let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
        let root = (mean + f64::from(epsilon)).sqrt();
        row.iter().zip(w).map(move |(x, w)| x / root * w)
    });
    rows.collect()
}

/// 1 / (1 + e^−x)
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
pub(crate) fn gelu(x: f64) -> f64 {
    x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

/// silu(gate) · up
pub(crate) fn swiglu(gate: f64, up: f64) -> f64 {
    gate * sigmoid(gate) * up
}

/// gate · sigmoid(1.702 · gate) · (up + 1), with gate at most 7 and up from −7 to 7.
pub(crate) fn clamped_swiglu(gate: f64, up: f64) -> f64 {
    let gate = gate.min(7.0);
    gate * sigmoid(f64::from(1.702_f32) * gate) * (up.clamp(-7.0, 7.0) + 1.0)
}

/// Index of the largest number; of equal numbers, the lowest index.
pub(crate) fn argmax(x: &[f64]) -> usize {
    (0..x.len()).fold(0, |best, i| if x[i] > x[best] { i } else { best })
}
