//! Tensors of feed-forward networks.

use super::{ExpertTensors, TensorFinder};
use crate::arch::FeedForwardShape;
use crate::error::Result;
use crate::weights::TensorInfo;

/// Tensors of a feed-forward network.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for each layer")]
pub enum FeedForwardTensors {
    /// One gated network.
    Dense(DenseTensors),
    /// Experts, of which each token uses a few.
    Experts(ExpertTensors),
}

/// Tensors of a gated network. Matrices are `[outputs, inputs]`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DenseTensors {
    pub gate: TensorInfo,
    pub up: TensorInfo,
    pub down: TensorInfo,
}

impl TensorFinder<'_> {
    /// Finds the tensors of a feed-forward network; `name` returns the name of a tensor of the layer.
    pub(super) fn feed_forward(
        &mut self,
        name: &dyn Fn(&str) -> String,
        shape: &FeedForwardShape,
    ) -> Result<FeedForwardTensors> {
        let width = self.model.width;
        match *shape {
            FeedForwardShape::Dense { width: hidden } => {
                let [gate, up] = match self.model.architecture.fused_gate {
                    true => self.split(&name("ffn_up.weight"), width, [hidden, hidden])?,
                    false => {
                        let gate = self.required(&name("ffn_gate.weight"), &[width, hidden])?;
                        [gate, self.required(&name("ffn_up.weight"), &[width, hidden])?]
                    }
                };
                let down = self.required(&name("ffn_down.weight"), &[hidden, width])?;
                Ok(FeedForwardTensors::Dense(DenseTensors { gate, up, down }))
            }
            FeedForwardShape::Experts(ref experts) => Ok(FeedForwardTensors::Experts(self.experts(name, experts)?)),
        }
    }
}
