//! Tensors of a model, found by their names in GGUF files.

mod attention;
mod delta_net;
mod experts;
mod feed_forward;

pub use attention::AttentionTensors;
pub use delta_net::DeltaNetTensors;
pub use experts::{ExpertTensors, SharedExpertTensors};
pub use feed_forward::{DenseTensors, FeedForwardTensors};

use super::Hyperparameters;
use super::layer::Mixer;
use super::{NormKind, NormPlaces};
use crate::error::{Error, Result};
use crate::weights::{TensorInfo, Weights};
use std::collections::HashSet;

/// Tensors of a model, their shapes checked.
#[derive(Clone, Debug)]
pub struct ModelTensors {
    /// `[vocabulary, width]`
    pub embedding: TensorInfo,
    /// Tensors of each layer.
    pub layers: Vec<LayerTensors>,
    /// Norm before the LM head.
    pub output_norm: NormTensors,
    /// `[vocabulary, width]`; `None` if it is tied to the embedding.
    pub output: Option<TensorInfo>,
    /// Divisors of the RoPE frequencies.
    pub rope_factors: RopeFactors,
}

/// Divisors of the RoPE frequencies of layers that see all positions: `[rotary / 2]`.
#[derive(Clone, Debug)]
pub enum RopeFactors {
    /// There are none.
    None,
    /// The same for all contexts (Llama 3).
    One(TensorInfo),
    /// For contexts up to the original one, and for longer ones (LongRoPE).
    ByContext([TensorInfo; 2]),
}

/// Tensors of a norm of the residual stream: `[width]`
#[derive(Clone, Debug)]
pub struct NormTensors {
    /// Factors.
    pub weight: TensorInfo,
    /// Added after the factors.
    pub bias: Option<TensorInfo>,
}

/// Tensors of one layer. Matrices are `[outputs, inputs]`.
#[derive(Clone, Debug)]
pub struct LayerTensors {
    /// Norm before the mixer, or before both blocks.
    pub mixer_norm: Option<NormTensors>,
    /// Part that combines positions.
    pub mixer: MixerTensors,
    /// Norm after the mixer.
    pub mixer_post_norm: Option<NormTensors>,
    /// Norm before the feed-forward network.
    pub feed_forward_norm: Option<NormTensors>,
    /// Feed-forward network.
    pub feed_forward: FeedForwardTensors,
    /// Norm after the feed-forward network.
    pub feed_forward_post_norm: Option<NormTensors>,
}

/// Tensors of a [`Mixer`].
#[derive(Clone, Debug)]
pub enum MixerTensors {
    /// Attention over a KV cache.
    Attention(AttentionTensors),
    /// Gated delta-net, with a recurrent state.
    DeltaNet(DeltaNetTensors),
}

impl ModelTensors {
    /// Finds all tensors. A missing, misshapen or extra tensor is an error: ignoring tensors would change the output.
    pub fn find(weights: &Weights, model: &Hyperparameters) -> Result<ModelTensors> {
        let mut finder = TensorFinder { weights, model, used: HashSet::new() };
        let (width, vocabulary) = (model.width, model.vocabulary);
        let tensors = ModelTensors {
            embedding: finder.required("token_embd.weight", &[width, vocabulary])?,
            layers: (0..model.layers.len()).map(|layer| finder.layer(layer)).collect::<Result<_>>()?,
            output_norm: finder.norm("output_norm")?,
            output: finder.optional("output.weight", &[width, vocabulary])?,
            rope_factors: finder.rope_factors()?,
        };
        finder.check_all_used()?;
        Ok(tensors)
    }
}

struct TensorFinder<'a> {
    weights: &'a Weights,
    model: &'a Hyperparameters,
    used: HashSet<String>,
}

impl TensorFinder<'_> {
    fn layer(&mut self, layer: usize) -> Result<LayerTensors> {
        let (model, architecture) = (self.model, self.model.architecture);
        let shape = &model.layers[layer];
        let name = |tensor: &str| format!("blk.{layer}.{tensor}");
        let (before, after) = match architecture.norms {
            NormPlaces::Before => (true, false),
            NormPlaces::Around => (true, true),
            NormPlaces::After => (false, true),
            NormPlaces::Shared => (false, false),
        };
        let mut norm = |tensor: &str, exists: bool| exists.then(|| self.norm(&name(tensor))).transpose();
        let is_shared = architecture.norms == NormPlaces::Shared;
        Ok(LayerTensors {
            mixer_norm: norm("attn_norm", before || is_shared)?,
            mixer_post_norm: norm("post_attention_norm", after)?,
            feed_forward_norm: norm(architecture.feed_forward_norm, before)?,
            feed_forward_post_norm: norm("post_ffw_norm", after)?,
            mixer: match &shape.mixer {
                Mixer::Attention(attention) => MixerTensors::Attention(self.attention(&name, attention)?),
                Mixer::DeltaNet(delta_net) => MixerTensors::DeltaNet(self.delta_net(&name, delta_net)?),
            },
            feed_forward: self.feed_forward(&name, &shape.feed_forward)?,
        })
    }

    /// A norm of the residual stream.
    fn norm(&mut self, name: &str) -> Result<NormTensors> {
        let shape = [self.model.width];
        let weight = self.required(&format!("{name}.weight"), &shape)?;
        let bias = match self.model.architecture.norm {
            NormKind::Rms => None,
            NormKind::Layer => self.optional(&format!("{name}.bias"), &shape)?,
        };
        Ok(NormTensors { weight, bias })
    }

    fn rope_factors(&mut self) -> Result<RopeFactors> {
        let shape = [self.model.rope.rotary / 2];
        if let Some(factors) = self.optional("rope_freqs.weight", &shape)? {
            return Ok(RopeFactors::One(factors));
        }
        let names = ["rope_factors_short.weight", "rope_factors_long.weight"];
        if names.iter().all(|name| self.weights.find(name).is_none()) {
            return Ok(RopeFactors::None);
        }
        let [short, long] = names.map(|name| self.required(name, &shape));
        Ok(RopeFactors::ByContext([short?, long?]))
    }

    /// Splits a fused matrix `[Σ rows, columns]` into matrices with these rows, or a vector, which has one column.
    fn split<const N: usize>(&mut self, name: &str, columns: usize, rows: [usize; N]) -> Result<[TensorInfo; N]> {
        let all = rows.iter().sum();
        let shape = [columns, all];
        let is_vector = columns == 1;
        let tensor = self.required(name, if is_vector { &shape[1..] } else { &shape })?;
        let row_bytes = tensor.size() / all.max(1) as u64;
        let mut start = tensor.range.start;
        Ok(rows.map(|rows| {
            let range = start..start + rows as u64 * row_bytes;
            start = range.end;
            let dimensions = if is_vector { vec![rows as u64] } else { vec![columns as u64, rows as u64] };
            TensorInfo { dimensions, range, ..tensor.clone() }
        }))
    }

    fn required(&mut self, name: &str, shape: &[usize]) -> Result<TensorInfo> {
        self.weights.tensor(name)?;
        self.optional(name, shape)?.ok_or_else(|| Error::Model(format!("there is no tensor '{name}'")))
    }

    fn optional(&mut self, name: &str, shape: &[usize]) -> Result<Option<TensorInfo>> {
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
        self.used.insert(tensor.name.clone());
        Ok(Some(tensor.clone()))
    }

    fn check_all_used(&self) -> Result<()> {
        // Old files have RoPE frequencies, which follow from the metadata.
        let is_redundant = |name: &str| name.ends_with("attn_rot_embd") || name.ends_with("rotary_emb.inv_freq");
        let (layers, drafts) = (self.model.layers.len(), self.model.draft_layers);
        let is_draft = |name: &str| {
            let layer = name.strip_prefix("blk.").and_then(|name| name.split('.').next()?.parse::<usize>().ok());
            layer.is_some_and(|layer| (layers..layers + drafts).contains(&layer))
        };
        let mut names = self.weights.tensors().iter().map(|tensor| tensor.name.as_str());
        match names.find(|&name| !self.used.contains(name) && !is_redundant(name) && !is_draft(name)) {
            Some(name) => Err(Error::Model(format!(
                "unexpected tensor '{name}' in a model of the architecture '{}' with {} layers",
                self.model.architecture.name,
                self.model.layers.len()
            ))),
            None => Ok(()),
        }
    }
}
