//! Weights of gated delta-nets.

use super::{Loader, Vector, Weight};
use crate::arch::DeltaNetTensors;
use crate::error::Result;
use crate::metal::Tuning;

pub(in crate::plan) struct DeltaNetWeights {
    pub(in crate::plan) qkv: Weight,
    pub(in crate::plan) z: Weight,
    pub(in crate::plan) alpha: Weight,
    pub(in crate::plan) beta: Weight,
    pub(in crate::plan) conv: Vector,
    pub(in crate::plan) decay: Vector,
    pub(in crate::plan) bias: Vector,
    pub(in crate::plan) norm: Vector,
    pub(in crate::plan) output: Weight,
}

impl DeltaNetWeights {
    /// Matrices of the products that share the input: without those of the gates, if only they are not quantized.
    pub(in crate::plan) fn inputs(&self) -> Vec<&Weight> {
        let (large, gates) = ([&self.qkv, &self.z], self.gates());
        match self.gates_are_apart() {
            true => large.to_vec(),
            false => [large, gates].concat(),
        }
    }

    /// Matrices of the gates.
    pub(in crate::plan) fn gates(&self) -> [&Weight; 2] {
        [&self.alpha, &self.beta]
    }

    /// True if the gates have an input of their own, which is not packed. Files often leave these small matrices as they
    /// are, which must not slow down the large ones.
    pub(in crate::plan) fn gates_are_apart(&self) -> bool {
        let packed = |weights: [&Weight; 2]| weights.iter().all(|weight| weight.takes_packed());
        packed([&self.qkv, &self.z]) && !packed(self.gates())
    }

    /// True if the gates are computed in one dispatch with queries, keys and values, which only the kernels for few
    /// vectors support.
    pub(in crate::plan) fn gates_are_fused(&self, tuning: &Tuning, tokens: usize) -> bool {
        let is_alike = self.gates().iter().all(|gate| gate.is_stored_like(&self.qkv));
        !tuning.uses_gemm(tokens) && is_alike && self.qkv.is_in_pieces()
    }
}

impl Loader<'_> {
    pub(super) fn delta_net(&mut self, tensors: &DeltaNetTensors) -> Result<DeltaNetWeights> {
        Ok(DeltaNetWeights {
            qkv: self.matrix(&tensors.qkv)?,
            z: self.matrix(&tensors.z)?,
            alpha: self.matrix(&tensors.alpha)?,
            beta: self.matrix(&tensors.beta)?,
            conv: self.vector(&tensors.conv)?,
            decay: self.vector(&tensors.decay)?,
            bias: self.vector(&tensors.bias)?,
            norm: self.vector(&tensors.norm)?,
            output: self.matrix(&tensors.output)?,
        })
    }
}
