//! Tensors of a model, found by their names in GGUF files.

use super::Hyperparameters;
use crate::error::{Error, Result};
use crate::weights::{TensorInfo, Weights};
use std::collections::HashSet;

/// Tensors of a model, their shapes checked.
#[derive(Clone, Debug)]
pub struct ModelTensors<'a> {
    /// `[vocabulary, width]`
    pub embedding: &'a TensorInfo,
    /// Tensors of each layer.
    pub layers: Vec<LayerTensors<'a>>,
    /// `[width]`
    pub output_norm: &'a TensorInfo,
    /// `[vocabulary, width]`; `None` if it is tied to the embedding.
    pub output: Option<&'a TensorInfo>,
    /// `[rotary / 2]`: divisors of the RoPE frequencies (Llama 3).
    pub rope_factors: Option<&'a TensorInfo>,
}

/// Tensors of one layer. Matrices are `[outputs, inputs]`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LayerTensors<'a> {
    pub attention_norm: &'a TensorInfo,
    pub q: &'a TensorInfo,
    pub k: &'a TensorInfo,
    pub v: &'a TensorInfo,
    /// Biases of q, k and v.
    pub biases: Option<[&'a TensorInfo; 3]>,
    /// Norms of the q and k heads: `[head_dim]`
    pub head_norms: Option<[&'a TensorInfo; 2]>,
    pub attention_output: &'a TensorInfo,
    pub feed_forward_norm: &'a TensorInfo,
    pub gate: &'a TensorInfo,
    pub up: &'a TensorInfo,
    pub down: &'a TensorInfo,
}

impl<'a> ModelTensors<'a> {
    /// Finds all tensors. A missing, misshapen or extra tensor is an error: ignoring tensors would change the output.
    pub fn find(weights: &'a Weights, model: &Hyperparameters) -> Result<ModelTensors<'a>> {
        let mut finder = TensorFinder { weights, model, used: HashSet::new() };
        let (width, vocabulary) = (model.width, model.vocabulary);
        let tensors = ModelTensors {
            embedding: finder.required("token_embd.weight", &[width, vocabulary])?,
            layers: (0..model.layers).map(|layer| finder.layer(layer)).collect::<Result<_>>()?,
            output_norm: finder.required("output_norm.weight", &[width])?,
            output: finder.optional("output.weight", &[width, vocabulary])?,
            rope_factors: finder.optional("rope_freqs.weight", &[model.rotary / 2])?,
        };
        finder.check_all_used()?;
        Ok(tensors)
    }
}

struct TensorFinder<'a, 'm> {
    weights: &'a Weights,
    model: &'m Hyperparameters,
    used: HashSet<&'a str>,
}

impl<'a> TensorFinder<'a, '_> {
    fn layer(&mut self, layer: usize) -> Result<LayerTensors<'a>> {
        let model = self.model;
        let (width, feed_forward) = (model.width, model.feed_forward);
        let (q_width, kv_width, head_dim) = (model.q_width(), model.kv_width(), model.head_dim);
        let name = |tensor: &str| format!("blk.{layer}.{tensor}");
        let biases = [("attn_q.bias", q_width), ("attn_k.bias", kv_width), ("attn_v.bias", kv_width)];
        let with_biases =
            model.architecture.qkv_bias || biases.iter().any(|(bias, _)| self.weights.find(&name(bias)).is_some());
        let biases = match with_biases {
            true => {
                let [q, k, v] = biases.map(|(bias, size)| self.required(&name(bias), &[size]));
                Some([q?, k?, v?])
            }
            false => None,
        };
        let head_norms = match model.architecture.qk_norm {
            true => {
                let q = self.required(&name("attn_q_norm.weight"), &[head_dim])?;
                Some([q, self.required(&name("attn_k_norm.weight"), &[head_dim])?])
            }
            false => None,
        };
        Ok(LayerTensors {
            attention_norm: self.required(&name("attn_norm.weight"), &[width])?,
            q: self.required(&name("attn_q.weight"), &[width, q_width])?,
            k: self.required(&name("attn_k.weight"), &[width, kv_width])?,
            v: self.required(&name("attn_v.weight"), &[width, kv_width])?,
            biases,
            head_norms,
            attention_output: self.required(&name("attn_output.weight"), &[q_width, width])?,
            feed_forward_norm: self.required(&name("ffn_norm.weight"), &[width])?,
            gate: self.required(&name("ffn_gate.weight"), &[width, feed_forward])?,
            up: self.required(&name("ffn_up.weight"), &[width, feed_forward])?,
            down: self.required(&name("ffn_down.weight"), &[feed_forward, width])?,
        })
    }

    fn required(&mut self, name: &str, shape: &[usize]) -> Result<&'a TensorInfo> {
        self.weights.tensor(name)?;
        self.optional(name, shape)?.ok_or_else(|| Error::Model(format!("there is no tensor '{name}'")))
    }

    fn optional(&mut self, name: &str, shape: &[usize]) -> Result<Option<&'a TensorInfo>> {
        let Some(tensor) = self.weights.find(name) else { return Ok(None) };
        // Files may have trailing dimensions of 1.
        let found = tensor.dimensions.iter().rposition(|&size| size != 1).map_or(1, |last| last + 1);
        let (found, ones) = tensor.dimensions.split_at(found.max(shape.len()).min(tensor.dimensions.len()));
        if !ones.iter().all(|&size| size == 1) || !found.iter().copied().eq(shape.iter().map(|&size| size as u64)) {
            let expected: Vec<String> = shape.iter().map(usize::to_string).collect();
            return Err(Error::Model(format!(
                "tensor '{name}' is {}, but the metadata of the model ({}) requires {}",
                tensor.shape(),
                self.model.architecture.name,
                expected.join("×")
            )));
        }
        tensor.format()?;
        self.used.insert(&tensor.name);
        Ok(Some(tensor))
    }

    fn check_all_used(&self) -> Result<()> {
        // Old files have RoPE frequencies, which follow from the metadata.
        let is_redundant = |name: &str| name.ends_with("attn_rot_embd") || name.ends_with("rotary_emb.inv_freq");
        let mut names = self.weights.tensors().iter().map(|tensor| tensor.name.as_str());
        match names.find(|name| !self.used.contains(name) && !is_redundant(name)) {
            Some(name) => Err(Error::Model(format!(
                "unexpected tensor '{name}' in a model of the architecture '{}' with {} layers",
                self.model.architecture.name, self.model.layers
            ))),
            None => Ok(()),
        }
    }
}
