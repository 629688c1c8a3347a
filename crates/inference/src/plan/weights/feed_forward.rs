//! Weights of feed-forward networks.

use super::{ExpertsWeights, Loader, Weight};
use crate::arch::{DenseTensors, FeedForwardTensors};
use crate::error::Result;
use crate::metal::Tuning;

#[allow(clippy::large_enum_variant, reason = "there is one for each layer")]
pub(in crate::plan) enum FeedForwardWeights {
    Dense(DenseWeights),
    Experts(ExpertsWeights),
}

/// Weights of a gated network.
pub(in crate::plan) struct DenseWeights {
    pub(in crate::plan) gate: Weight,
    pub(in crate::plan) up: Weight,
    pub(in crate::plan) down: Weight,
}

impl DenseWeights {
    /// Matrices of the products that share the input.
    pub(in crate::plan) fn inputs(&self) -> [&Weight; 2] {
        [&self.gate, &self.up]
    }

    /// True if gate and up are computed in one dispatch, which only the kernels for few vectors support.
    pub(in crate::plan) fn gate_is_fused(&self, tuning: &Tuning, tokens: usize) -> bool {
        !tuning.uses_gemm(tokens) && self.gate.is_stored_like(&self.up) && self.gate.is_in_pieces()
    }
}

impl Loader<'_> {
    pub(super) fn feed_forward(&mut self, tensors: &FeedForwardTensors) -> Result<FeedForwardWeights> {
        match tensors {
            FeedForwardTensors::Dense(dense) => Ok(FeedForwardWeights::Dense(self.dense(dense)?)),
            FeedForwardTensors::Experts(experts) => Ok(FeedForwardWeights::Experts(self.experts(experts)?)),
        }
    }

    pub(super) fn dense(&mut self, tensors: &DenseTensors) -> Result<DenseWeights> {
        Ok(DenseWeights {
            gate: self.matrix(&tensors.gate)?,
            up: self.matrix(&tensors.up)?,
            down: self.matrix(&tensors.down)?,
        })
    }
}
