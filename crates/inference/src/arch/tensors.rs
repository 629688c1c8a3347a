//! The tensors of a model, by the names that GGUF gives them.

use super::Hyperparameters;
use crate::error::{Error, Result};
use crate::weights::{TensorInfo, Weights};
use std::collections::HashSet;

/// All tensors of a model, each with the shape that it must have.
#[derive(Clone, Debug)]
pub struct ModelTensors<'a> {
    /// `[vocabulary, width]`
    pub embedding: &'a TensorInfo,
    /// One for each layer.
    pub layers: Vec<LayerTensors<'a>>,
    /// `[width]`
    pub output_norm: &'a TensorInfo,
    /// `[vocabulary, width]`; models without it take the embedding.
    pub output: Option<&'a TensorInfo>,
    /// `[rotary / 2]`: what frequencies of rotations are divided by, from Llama 3 on.
    pub rope_factors: Option<&'a TensorInfo>,
}

/// The tensors of one layer. Matrices are `[results, numbers that are summed]`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LayerTensors<'a> {
    pub attention_norm: &'a TensorInfo,
    pub q: &'a TensorInfo,
    pub k: &'a TensorInfo,
    pub v: &'a TensorInfo,
    /// Of q, k and v.
    pub biases: Option<[&'a TensorInfo; 3]>,
    /// Of q and k: `[head_dim]`
    pub head_norms: Option<[&'a TensorInfo; 2]>,
    pub attention_output: &'a TensorInfo,
    pub feed_forward_norm: &'a TensorInfo,
    pub gate: &'a TensorInfo,
    pub up: &'a TensorInfo,
    pub down: &'a TensorInfo,
}

impl<'a> ModelTensors<'a> {
    /// Finds them all. What is missing, of another shape, or left over is an error: a model that is run without some of its
    /// tensors says something else.
    pub fn find(weights: &'a Weights, model: &Hyperparameters) -> Result<ModelTensors<'a>> {
        let mut finder = Finder { weights, model, used: HashSet::new() };
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

struct Finder<'a, 'm> {
    weights: &'a Weights,
    model: &'m Hyperparameters,
    used: HashSet<&'a str>,
}

impl<'a> Finder<'a, '_> {
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
        // Files may end with dimensions of 1.
        let found = tensor.dimensions.iter().rposition(|&size| size != 1).map_or(1, |last| last + 1);
        let (found, ones) = tensor.dimensions.split_at(found.max(shape.len()).min(tensor.dimensions.len()));
        if !ones.iter().all(|&size| size == 1) || !found.iter().copied().eq(shape.iter().map(|&size| size as u64)) {
            let expected: Vec<String> = shape.iter().map(usize::to_string).collect();
            return Err(Error::Model(format!(
                "tensor '{name}' is {}, but by the metadata of the model ({}) it must be {}",
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
        // Old files have frequencies that follow from the metadata.
        let harmless = |name: &str| name.ends_with("attn_rot_embd") || name.ends_with("rotary_emb.inv_freq");
        let mut left = self.weights.tensors().iter().map(|tensor| tensor.name.as_str());
        match left.find(|name| !self.used.contains(name) && !harmless(name)) {
            Some(name) => Err(Error::Model(format!(
                "tensor '{name}' has no place in a model of the architecture '{}' with {} layers",
                self.model.architecture.name, self.model.layers
            ))),
            None => Ok(()),
        }
    }
}
