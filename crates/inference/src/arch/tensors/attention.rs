//! Tensors of attention.

use super::TensorFinder;
use crate::arch::{AttentionLayer, QkNorm};
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
    /// Norms of q and k: `[head_dim]`, or of the width of all heads.
    pub qk_norms: Option<[TensorInfo; 2]>,
    pub output: TensorInfo,
    pub output_bias: Option<TensorInfo>,
    /// One more score of each head: `[heads]`
    pub sinks: Option<TensorInfo>,
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
        let with_biases = architecture.qkv_bias
            || biases.iter().any(|(bias, _)| self.weights.find(&name(bias)).is_some())
            || self.weights.find(&name("attn_qkv.bias")).is_some();
        let fused = name("attn_qkv.bias");
        let biases = match with_biases {
            true if self.weights.find(&fused).is_some() => {
                Some(self.split(&fused, 1, [q_width, kv_width, kv_width])?)
            }
            true => {
                let [q, k, v] = biases.map(|(bias, size)| self.required(&name(bias), &[size]));
                Some([q?, k?, v?])
            }
            false => None,
        };
        let norm_widths = match architecture.qk_norm {
            QkNorm::None => None,
            QkNorm::HeadsIfAny if self.weights.find(&name("attn_q_norm.weight")).is_none() => None,
            QkNorm::Heads | QkNorm::HeadsIfAny => Some([head_dim; 2]),
            QkNorm::Whole => Some([q_width, kv_width]),
        };
        let qk_norms = match norm_widths {
            Some([q, k]) => {
                let q = self.required(&name("attn_q_norm.weight"), &[q])?;
                Some([q, self.required(&name("attn_k_norm.weight"), &[k])?])
            }
            None => None,
        };
        let [q, k, v] = match self.weights.find(&name("attn_qkv.weight")) {
            Some(_) => self.split(&name("attn_qkv.weight"), width, [q_width, kv_width, kv_width])?,
            None => {
                let q = self.required(&name("attn_q.weight"), &[width, shape.query_rows()])?;
                let k = self.required(&name("attn_k.weight"), &[width, kv_width])?;
                [q, k, self.required(&name("attn_v.weight"), &[width, kv_width])?]
            }
        };
        Ok(AttentionTensors {
            q,
            k,
            v,
            biases,
            qk_norms,
            output: self.required(&name("attn_output.weight"), &[q_width, width])?,
            output_bias: self.optional(&name("attn_output.bias"), &[width])?,
            sinks: match shape.sinks {
                true => Some(self.required(&name("attn_sinks.weight"), &[shape.heads])?),
                false => None,
            },
        })
    }
}
