//! Weights of feed-forward networks.

use super::{ExpertsWeights, Loader, Vector, Weight};
use crate::arch::{DenseTensors, FeedForwardTensors};
use crate::error::Result;
use crate::metal::Tuning;

#[allow(clippy::large_enum_variant, reason = "there is one for each layer")]
pub(in crate::plan) enum FeedForwardWeights {
    Dense(DenseWeights),
    Experts(ExpertsWeights),
}

/// Weights of a network.
pub(in crate::plan) struct DenseWeights {
    /// `None` if it has no gate.
    pub(in crate::plan) gate: Option<Weight>,
    pub(in crate::plan) up: Weight,
    pub(in crate::plan) down: Weight,
    pub(in crate::plan) up_bias: Option<Vector>,
    pub(in crate::plan) down_bias: Option<Vector>,
}

impl DenseWeights {
    /// Matrices of the products that share the input.
    pub(in crate::plan) fn inputs(&self) -> impl Iterator<Item = &Weight> {
        self.gate.iter().chain([&self.up])
    }

    /// The gate, if it and up are computed in one dispatch, which only the kernels for few vectors support.
    pub(in crate::plan) fn fused_gate(&self, tuning: &Tuning, tokens: usize) -> Option<&Weight> {
        let is_fused = |gate: &&Weight| gate.is_stored_like(&self.up) && gate.is_in_pieces();
        self.gate.as_ref().filter(|_| !tuning.uses_gemm(tokens)).filter(is_fused)
    }

    /// True if a gate needs memory of its own beside up.
    pub(in crate::plan) fn gate_is_apart(&self, tuning: &Tuning, tokens: usize) -> bool {
        self.gate.is_some() && self.fused_gate(tuning, tokens).is_none()
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
            gate: tensors.gate.as_ref().map(|gate| self.matrix(gate)).transpose()?,
            up: self.matrix(&tensors.up)?,
            down: self.matrix(&tensors.down)?,
            up_bias: self.optional_vector(tensors.up_bias.as_ref())?,
            down_bias: self.optional_vector(tensors.down_bias.as_ref())?,
        })
    }
}
