//! Tensors of attention.

use super::TensorFinder;
use crate::arch::AttentionLayer;
use crate::error::Result;
use crate::weights::TensorInfo;

/// Tensors of attention. Matrices are `[outputs, inputs]`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct AttentionTensors {
    pub q: TensorInfo,
    pub k: TensorInfo,
    pub v: TensorInfo,
    /// Biases of q, k and v.
    pub biases: Option<[TensorInfo; 3]>,
    /// Norms of the q and k heads: `[head_dim]`
    pub head_norms: Option<[TensorInfo; 2]>,
    pub output: TensorInfo,
}

impl TensorFinder<'_> {
    /// Finds the tensors of attention; `name` returns the name of a tensor of the layer.
    pub(super) fn attention(
        &mut self,
        name: &dyn Fn(&str) -> String,
        shape: &AttentionLayer,
    ) -> Result<AttentionTensors> {
        let (architecture, width) = (self.model.architecture, self.model.width);
        let (q_width, kv_width, head_dim) = (shape.q_width(), shape.kv_width(), shape.head_dim);
        let biases = [("attn_q.bias", q_width), ("attn_k.bias", kv_width), ("attn_v.bias", kv_width)];
        let with_biases =
            architecture.qkv_bias || biases.iter().any(|(bias, _)| self.weights.find(&name(bias)).is_some());
        let biases = match with_biases {
            true => {
                let [q, k, v] = biases.map(|(bias, size)| self.required(&name(bias), &[size]));
                Some([q?, k?, v?])
            }
            false => None,
        };
        let head_norms = match architecture.qk_norm {
            true => {
                let q = self.required(&name("attn_q_norm.weight"), &[head_dim])?;
                Some([q, self.required(&name("attn_k_norm.weight"), &[head_dim])?])
            }
            false => None,
        };
        Ok(AttentionTensors {
            q: self.required(&name("attn_q.weight"), &[width, q_width])?,
            k: self.required(&name("attn_k.weight"), &[width, kv_width])?,
            v: self.required(&name("attn_v.weight"), &[width, kv_width])?,
            biases,
            head_norms,
            output: self.required(&name("attn_output.weight"), &[q_width, width])?,
        })
    }
}
