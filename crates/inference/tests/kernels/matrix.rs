//! Weight matrices in every layout, and products with them.

use crate::compare::ErrorBound;
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use crate::weights::Weights;
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::layout::{Layout, Matrix};

/// A matrix in a buffer, and its numbers.
pub(crate) struct Stored {
    tensor: Tensor,
    /// `[rows, columns]` numbers, exactly.
    pub(crate) numbers: Vec<f64>,
    format: Format,
    layout: Layout,
    rows: usize,
    columns: usize,
}

impl Stored {
    pub(crate) fn random(
        format: Format,
        layout: Layout,
        rows: usize,
        columns: usize,
        random: &mut Random,
    ) -> Stored {
        let weights = Weights::random(format, rows, columns, random);
        let bytes = layout.from_blocks(format, rows, columns, &weights.tensor.contents()).expect("whole blocks");
        Stored { tensor: Tensor::bytes(&bytes), numbers: weights.numbers, format, layout, rows, columns }
    }

    /// The given numbers as f32, row-major.
    pub(crate) fn of_numbers(numbers: &[f64], rows: usize, columns: usize) -> Stored {
        let bytes = Tensor::new(Type::F32, numbers).contents();
        let (format, layout) = (Format::F32, Layout::Blocks);
        Stored { tensor: Tensor::bytes(&bytes), numbers: numbers.to_vec(), format, layout, rows, columns }
    }

    /// The argument of an operation.
    pub(crate) fn matrix(&self) -> Matrix<'_> {
        let Stored { format, layout, rows, columns, .. } = *self;
        Matrix { data: self.tensor.slice(), format, layout, rows, columns }
    }
}

/// The bound for sums of products: terms may cancel, and the rest has lost digits.
pub(crate) fn bound(activation: Activation) -> ErrorBound {
    let of_one = ErrorBound::of(activation);
    match activation {
        Activation::F32 => ErrorBound { normalized_mean_square: 1e-9, each: 1e-4, ..of_one },
        Activation::F16 => of_one,
    }
}

/// Σ_k w[n,k] · x[m,k] for all m and n.
pub(crate) fn product(w: &Stored, x: &[f64]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    x.chunks(w.columns).flat_map(|x| w.numbers.chunks(w.columns).map(move |row| dot(row, x))).collect()
}
