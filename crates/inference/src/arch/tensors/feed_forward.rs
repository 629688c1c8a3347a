//! Tensors of feed-forward networks.

use super::{ExpertTensors, TensorFinder};
use crate::arch::FeedForwardShape;
use crate::error::Result;
use crate::weights::TensorInfo;

/// Tensors of a feed-forward network.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for each layer")]
pub enum FeedForwardTensors {
    /// One network.
    Dense(DenseTensors),
    /// Experts, of which each token uses a few.
    Experts(ExpertTensors),
}

/// Tensors of a network. Matrices are `[outputs, inputs]`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DenseTensors {
    /// `None` if it has no gate.
    pub gate: Option<TensorInfo>,
    pub up: TensorInfo,
    pub down: TensorInfo,
    /// Biases of networks without a gate.
    pub up_bias: Option<TensorInfo>,
    pub down_bias: Option<TensorInfo>,
}

impl DenseTensors {
    /// Those of a network with a gate, and without biases.
    pub(super) fn gated(gate: TensorInfo, up: TensorInfo, down: TensorInfo) -> DenseTensors {
        DenseTensors { gate: Some(gate), up, down, up_bias: None, down_bias: None }
    }
}

impl TensorFinder<'_> {
    /// Finds the tensors of a network without a gate.
    fn ungated(&mut self, name: &dyn Fn(&str) -> String, hidden: usize) -> Result<DenseTensors> {
        let width = self.model.width;
        Ok(DenseTensors {
            gate: None,
            up: self.required(&name("ffn_up.weight"), &[width, hidden])?,
            down: self.required(&name("ffn_down.weight"), &[hidden, width])?,
            up_bias: self.optional(&name("ffn_up.bias"), &[hidden])?,
            down_bias: self.optional(&name("ffn_down.bias"), &[width])?,
        })
    }

    /// Finds the tensors of a feed-forward network; `name` returns the name of a tensor of the layer.
    pub(super) fn feed_forward(
        &mut self,
        name: &dyn Fn(&str) -> String,
        shape: &FeedForwardShape,
    ) -> Result<FeedForwardTensors> {
        let width = self.model.width;
        match *shape {
            FeedForwardShape::Dense { width: hidden } => {
                if self.model.architecture.ungated.is_some() {
                    return Ok(FeedForwardTensors::Dense(self.ungated(name, hidden)?));
                }
                let [gate, up] = match self.model.architecture.fused_gate {
                    true => self.split(&name("ffn_up.weight"), width, [hidden, hidden])?,
                    false => {
                        let gate = self.required(&name("ffn_gate.weight"), &[width, hidden])?;
                        [gate, self.required(&name("ffn_up.weight"), &[width, hidden])?]
                    }
                };
                let down = self.required(&name("ffn_down.weight"), &[hidden, width])?;
                Ok(FeedForwardTensors::Dense(DenseTensors::gated(gate, up, down)))
            }
            FeedForwardShape::Experts(ref experts) => Ok(FeedForwardTensors::Experts(self.experts(name, experts)?)),
        }
    }
}
