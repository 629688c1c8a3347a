//! Weights of attention.

use super::{Loader, Vector, Weight};
use crate::arch::AttentionTensors;
use crate::error::Result;
use crate::metal::Tuning;

pub(in crate::plan) struct AttentionWeights {
    pub(in crate::plan) q: Weight,
    pub(in crate::plan) k: Weight,
    pub(in crate::plan) v: Weight,
    pub(in crate::plan) biases: Option<[Vector; 3]>,
    pub(in crate::plan) qk_norms: Option<[Vector; 2]>,
    pub(in crate::plan) output: Weight,
    pub(in crate::plan) output_bias: Option<Vector>,
    /// One more score of each head.
    pub(in crate::plan) sinks: Option<Vector>,
}

impl AttentionWeights {
    /// Matrices of the products that share the input.
    pub(in crate::plan) fn inputs(&self) -> [&Weight; 3] {
        [&self.q, &self.k, &self.v]
    }

    /// True if queries, keys and values are computed in one dispatch: if the three matrices have the same format and
    /// layout and the vectors are few.
    pub(in crate::plan) fn queries_are_fused(&self, tuning: &Tuning, tokens: usize) -> bool {
        let AttentionWeights { q, k, v, .. } = self;
        !tuning.uses_gemm(tokens) && q.is_stored_like(k) && q.is_stored_like(v) && q.is_in_pieces()
    }
}

impl Loader<'_> {
    pub(super) fn attention(&mut self, tensors: &AttentionTensors) -> Result<AttentionWeights> {
        Ok(AttentionWeights {
            q: self.matrix(&tensors.q)?,
            k: self.matrix(&tensors.k)?,
            v: self.matrix(&tensors.v)?,
            biases: self.vectors(tensors.biases.as_ref())?,
            qk_norms: self.vectors(tensors.qk_norms.as_ref())?,
            output: self.matrix(&tensors.output)?,
            output_bias: self.optional_vector(tensors.output_bias.as_ref())?,
            sinks: tensors.sinks.as_ref().map(|sinks| self.vector(sinks)).transpose()?,
        })
    }
}
