//! Tensors of gated delta-nets.

use super::TensorFinder;
use crate::arch::DeltaNetLayer;
use crate::error::Result;
use crate::metal::operations::CONV_WIDTH;
use crate::weights::TensorInfo;

/// Tensors of a gated delta-net. Matrices are `[outputs, inputs]`.
#[derive(Clone, Debug)]
pub struct DeltaNetTensors {
    /// Queries, keys and values.
    pub qkv: TensorInfo,
    /// Gate of the output.
    pub z: TensorInfo,
    /// Decay of the state.
    pub alpha: TensorInfo,
    /// Rate of its update.
    pub beta: TensorInfo,
    /// `[channels, 4]`: the convolution.
    pub conv: TensorInfo,
    /// `[heads]`: factors of the decay, negative.
    pub decay: TensorInfo,
    /// `[heads]`: added to the outputs of `alpha`.
    pub bias: TensorInfo,
    /// `[head_dim]`: norm of the output's heads.
    pub norm: TensorInfo,
    /// Output.
    pub output: TensorInfo,
}

impl TensorFinder<'_> {
    /// Finds the tensors of a gated delta-net; `name` returns the name of a tensor of the layer.
    pub(super) fn delta_net(
        &mut self,
        name: &dyn Fn(&str) -> String,
        shape: &DeltaNetLayer,
    ) -> Result<DeltaNetTensors> {
        let (width, heads, channels) = (self.model.width, shape.heads, shape.channels());
        Ok(DeltaNetTensors {
            qkv: self.required(&name("attn_qkv.weight"), &[width, channels])?,
            z: self.required(&name("attn_gate.weight"), &[width, shape.width()])?,
            alpha: self.required(&name("ssm_alpha.weight"), &[width, heads])?,
            beta: self.required(&name("ssm_beta.weight"), &[width, heads])?,
            conv: self.required(&name("ssm_conv1d.weight"), &[CONV_WIDTH, channels])?,
            decay: self.required(&name("ssm_a"), &[heads])?,
            bias: self.required(&name("ssm_dt.bias"), &[heads])?,
            norm: self.required(&name("ssm_norm.weight"), &[shape.head_dim])?,
            output: self.required(&name("ssm_out.weight"), &[shape.width(), width])?,
        })
    }
}
