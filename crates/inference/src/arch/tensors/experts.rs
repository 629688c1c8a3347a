//! Tensors of mixtures of experts.

use super::{DenseTensors, TensorFinder};
use crate::arch::{ExpertsShape, SharedExpert};
use crate::error::Result;
use crate::weights::TensorInfo;

/// Tensors of a mixture of experts.
#[derive(Clone, Debug)]
pub struct ExpertTensors {
    /// `[experts, width]`
    pub router: TensorInfo,
    /// `[experts]`
    pub router_bias: Option<TensorInfo>,
    /// `[experts]`: added to the weights of experts, for the choice only.
    pub selection_bias: Option<TensorInfo>,
    /// `[experts, hidden, width]`
    pub gate: TensorInfo,
    /// `[experts, hidden, width]`
    pub up: TensorInfo,
    /// `[experts, width, hidden]`
    pub down: TensorInfo,
    /// Biases of gate, up and down: `[experts, outputs]`
    pub biases: Option<[TensorInfo; 3]>,
    /// The expert that all tokens use.
    pub shared: Option<SharedExpertTensors>,
}

/// Tensors of the expert that all tokens use.
#[derive(Clone, Debug)]
pub struct SharedExpertTensors {
    /// `[width]`: its result is multiplied by the sigmoid of the product with this vector, if there is one.
    pub factor: Option<TensorInfo>,
    /// Its network.
    pub network: DenseTensors,
}

impl TensorFinder<'_> {
    /// Finds the tensors of a mixture of experts; `name` returns the name of a tensor of the layer.
    pub(super) fn experts(&mut self, name: &dyn Fn(&str) -> String, shape: &ExpertsShape) -> Result<ExpertTensors> {
        let (width, hidden, count) = (self.model.width, shape.width, shape.router.experts);
        let (router_bias, biases) = match shape.biases {
            true => {
                let gate = self.required(&name("ffn_gate_exps.bias"), &[hidden, count])?;
                let up = self.required(&name("ffn_up_exps.bias"), &[hidden, count])?;
                let down = self.required(&name("ffn_down_exps.bias"), &[width, count])?;
                (Some(self.required(&name("ffn_gate_inp.bias"), &[count])?), Some([gate, up, down]))
            }
            false => (None, None),
        };
        Ok(ExpertTensors {
            router: self.required(&name("ffn_gate_inp.weight"), &[width, count])?,
            router_bias,
            selection_bias: self.optional(&name(self.model.architecture.experts.selection_bias), &[count])?,
            gate: self.required(&name("ffn_gate_exps.weight"), &[width, hidden, count])?,
            up: self.required(&name("ffn_up_exps.weight"), &[width, hidden, count])?,
            down: self.required(&name("ffn_down_exps.weight"), &[hidden, width, count])?,
            biases,
            shared: shape.shared.map(|hidden| self.shared_expert(name, hidden)).transpose()?,
        })
    }

    fn shared_expert(&mut self, name: &dyn Fn(&str) -> String, hidden: usize) -> Result<SharedExpertTensors> {
        let width = self.model.width;
        Ok(SharedExpertTensors {
            factor: match self.model.architecture.experts.shared {
                SharedExpert::Factored => Some(self.required(&name("ffn_gate_inp_shexp.weight"), &[width])?),
                SharedExpert::None | SharedExpert::Plain => None,
            },
            network: DenseTensors::gated(
                self.required(&name("ffn_gate_shexp.weight"), &[width, hidden])?,
                self.required(&name("ffn_up_shexp.weight"), &[width, hidden])?,
                self.required(&name("ffn_down_shexp.weight"), &[hidden, width])?,
            ),
        })
    }
}
