//! Hyperparameters of a model, from the metadata of its file.

use super::delta_net;
use super::experts::feed_forward_layers;
use super::keys::Keys;
use super::layer::{AttentionLayer, FeedForwardShape, LayerShape, Mixer};
use super::{Architecture, NormKind, Rope, RopeKind, RotatedLayers, WindowedLayers};
use crate::error::Result;
use crate::folders::{ADJACENT, HALVES};
use crate::gguf::Gguf;

/// Hyperparameters of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Hyperparameters {
    /// Architecture.
    pub architecture: &'static Architecture,
    /// Shape of each layer.
    pub layers: Vec<LayerShape>,
    /// Further layers of the file, which predict tokens after the next one. They are not loaded.
    pub draft_layers: usize,
    /// Width of the residual stream.
    pub width: usize,
    /// Rotation of [`RopeKind::Global`].
    pub rope: Rope,
    /// Rotation of [`RopeKind::Local`].
    pub local_rope: Option<Rope>,
    /// RoPE pairs the two halves of a head (NeoX), not neighbours.
    pub neox: bool,
    /// Value heads of delta-nets with the same keys are adjacent.
    pub adjacent_heads: bool,
    /// ε of norms.
    pub epsilon: f32,
    /// ε of norms of the residual stream.
    pub stream_epsilon: f32,
    /// Factor of embeddings.
    pub embedding_scale: f32,
    /// Factor of logits.
    pub logit_scale: Option<f32>,
    /// Logits l become cap · tanh(l / cap), after the factor.
    pub logit_cap: Option<f32>,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Context length in training.
    pub context: usize,
}

impl Hyperparameters {
    /// Reads and checks the hyperparameters of a model.
    pub fn read(model: &Gguf) -> Result<Hyperparameters> {
        let architecture = Architecture::find(model.architecture()?)?;
        let keys = Keys { model, architecture };
        let (width, layers) = (keys.count("embedding_length")?, keys.count("block_count")?);
        // Before anything is kept for each layer: a number in a damaged file would take gigabytes.
        let tensors = model.weights().tensors().len();
        if layers > tensors {
            return keys.reject(format_args!("it has {layers} layers, but {tensors} tensors"));
        }
        let draft_layers = keys.optional_count_or_zero("nextn_predict_layers")?;
        if draft_layers >= layers {
            return keys.reject(format_args!("{draft_layers} of its {layers} layers predict later tokens"));
        }
        let attention = attention_layers(&keys, layers, width)?;
        let feed_forward = feed_forward_layers(&keys, layers)?;
        let delta_nets = delta_net::layers(&keys, layers)?;
        let mixers = attention.into_iter().zip(delta_nets);
        let mixers =
            mixers.map(|(attention, delta_net)| delta_net.map_or(Mixer::Attention(attention), Mixer::DeltaNet));
        let layers = mixers.zip(feed_forward).map(|(mixer, feed_forward)| LayerShape { mixer, feed_forward });
        let mut layers: Vec<LayerShape> = layers.collect();
        layers.truncate(layers.len() - draft_layers);
        let embedding = model.weights().tensor("token_embd.weight")?;
        let rows = embedding.dimensions.get(1).copied().unwrap_or(1);
        let head_dim = layers.iter().find_map(LayerShape::attention).map_or(0, |attention| attention.head_dim);
        let rope = Rope::read(&keys, head_dim)?;
        let epsilon = match architecture.norm {
            NormKind::Rms => keys.get("attention.layer_norm_rms_epsilon")?,
            NormKind::Layer => keys.get("attention.layer_norm_epsilon")?,
        };
        // With a factor r of all that is added to the residual stream h, h / r is computed instead, which no factor
        // changes: its norm is the same with ε / r².
        let factor = |key: &str, default: f64| {
            let default = if architecture.has_default_factors { default } else { 1.0 };
            keys.positive_or_none(key).map(|factor| factor.unwrap_or(default))
        };
        let residual = factor("residual_scale", 1.4 / (layers.len() as f64).sqrt())?;
        let embedding_scale = match architecture.scaled_embedding {
            true => (width as f64).sqrt(),
            false => factor("embedding_scale", 12.0)?,
        };
        let logit_scale = Some(factor("logit_scale", width as f64 / 256.0)?).filter(|scale| *scale != 1.0);
        let logit_scale = logit_scale.map(|scale| if architecture.divided_logits { 1.0 / scale } else { scale });
        let hyperparameters = Hyperparameters {
            architecture,
            layers,
            draft_layers,
            width,
            local_rope: rope.read_local(&keys)?,
            rope,
            // Folders have the halves of heads, which GGUF files of some architectures interleave.
            neox: architecture.neox || model.get_optional(HALVES)?.unwrap_or(false),
            adjacent_heads: architecture.adjacent_heads || model.get_optional(ADJACENT)?.unwrap_or(false),
            epsilon,
            stream_epsilon: (f64::from(epsilon) / (residual * residual)) as f32,
            embedding_scale: (embedding_scale / residual) as f32,
            logit_scale: logit_scale.map(|scale| scale as f32),
            logit_cap: keys.positive_or_none("final_logit_softcapping")?.map(|cap| cap as f32),
            vocabulary: usize::try_from(rows).unwrap_or(usize::MAX),
            context: keys.count("context_length")?,
        };
        hyperparameters.check(&keys)?;
        Ok(hyperparameters)
    }

    /// Layers with attention.
    pub fn attention_layers(&self) -> impl Iterator<Item = &AttentionLayer> {
        self.layers.iter().filter_map(LayerShape::attention)
    }

    /// A rotation of the model.
    pub fn rope(&self, kind: RopeKind) -> &Rope {
        match kind {
            RopeKind::Global => &self.rope,
            RopeKind::Local => self.local_rope.as_ref().unwrap_or(&self.rope),
        }
    }

    /// Largest width of the hidden layers of dense feed-forward networks, and of experts that all tokens use; 0 without
    /// any.
    pub fn widest_hidden_layer(&self) -> usize {
        let width = |layer: &LayerShape| match layer.feed_forward {
            FeedForwardShape::Dense { width } => width,
            FeedForwardShape::Experts(experts) => experts.shared.unwrap_or(0),
        };
        self.layers.iter().map(width).max().unwrap_or(0)
    }

    fn check(&self, keys: &Keys<'_>) -> Result<()> {
        for layer in self.attention_layers() {
            let AttentionLayer { heads, kv_heads, head_dim, .. } = *layer;
            if !heads.is_multiple_of(kv_heads) {
                return keys.reject(format_args!("{heads} query heads are not a multiple of {kv_heads} key heads"));
            }
            if !(32..=256).contains(&head_dim) || !head_dim.is_multiple_of(2) {
                return keys.reject(format_args!("the head dimension is {head_dim}: it must be even, 32 to 256"));
            }
            let rotary = self.rope.rotary;
            if !rotary.is_multiple_of(2) || rotary > head_dim {
                return keys
                    .reject(format_args!("RoPE rotates {rotary} dimensions: it must be even, at most {head_dim}"));
            }
        }
        let heads = self.attention_layers().map(|layer| ("heads", layer.q_width()));
        let hidden = self.layers.iter().map(|layer| match layer.feed_forward {
            FeedForwardShape::Dense { width } => ("feed-forward", width),
            FeedForwardShape::Experts(experts) => ("experts", experts.width),
        });
        let shared = self.layers.iter().filter_map(|layer| match layer.feed_forward {
            FeedForwardShape::Dense { .. } => None,
            FeedForwardShape::Experts(experts) => Some(("shared experts", experts.shared?)),
        });
        let mut widths = std::iter::once(("embedding", self.width)).chain(heads).chain(hidden).chain(shared);
        if let Some((what, width)) = widths.find(|(_, width)| !width.is_multiple_of(32)) {
            return keys.reject(format_args!("the width of {what} is {width}: it must be a multiple of 32"));
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0 && self.stream_epsilon.is_finite()) {
            return keys.reject(format_args!("ε of norms is {}: it must be 0 or above", self.epsilon));
        }
        Ok(())
    }
}

/// Shapes of attention in each layer.
fn attention_layers(keys: &Keys<'_>, layers: usize, width: usize) -> Result<Vec<AttentionLayer>> {
    let heads = keys.counts("attention.head_count", layers)?;
    let kv_heads = keys.optional_counts("attention.head_count_kv", layers)?.unwrap_or_else(|| heads.clone());
    let head_dim = match keys.optional_count("attention.key_length")? {
        Some(head_dim) => head_dim,
        None => width / heads[0],
    };
    let values = keys.optional_count("attention.value_length")?.unwrap_or(head_dim);
    if values != head_dim {
        return keys.reject(format_args!("the value heads have dimension {values}, but the key heads {head_dim}"));
    }
    let scale = match keys.positive_or_none("attention.scale")? {
        Some(scale) => scale,
        None if keys.architecture.wide_queries == Some(layers) => 1.0 / ((width / heads[0]) as f64).sqrt(),
        None => 1.0 / (head_dim as f64).sqrt(),
    };
    let gated = keys.architecture.gated_attention;
    let soft_cap = keys.positive_or_none("attn_logit_softcapping")?.map(|cap| cap as f32);
    let windows = windows(keys, layers)?;
    let has_windows = windows.iter().any(Option::is_some);
    let heads = heads.into_iter().zip(kv_heads).zip(windows).enumerate();
    let layer = |(index, ((heads, kv_heads), window)): (usize, ((usize, usize), Option<usize>))| {
        let has_rope = match keys.architecture.rope {
            RotatedLayers::All => true,
            RotatedLayers::AllBut(every) => (index + 1) % every != 0,
            RotatedLayers::Windowed => window.is_some(),
            RotatedLayers::WindowedIfAny => window.is_some() || !has_windows,
        };
        let kind = if window.is_some() { RopeKind::Local } else { RopeKind::Global };
        let rope = has_rope.then_some(kind);
        let sinks = keys.architecture.sinks;
        AttentionLayer { heads, kv_heads, head_dim, window, rope, scale: scale as f32, soft_cap, gated, sinks }
    };
    Ok(heads.map(layer).collect())
}

/// Size of the sliding window of each layer; `None` for those that see all positions.
fn windows(keys: &Keys<'_>, layers: usize) -> Result<Vec<Option<usize>>> {
    const SIZE: &str = "attention.sliding_window";
    const PATTERN: &str = "attention.sliding_window_pattern";
    let window = match keys.optional::<u64>(SIZE)? {
        Some(0) => None,
        Some(_) => keys.optional_count(SIZE)?,
        None => keys.architecture.default_window,
    };
    let Some(window) = window else { return Ok(vec![None; layers]) };
    if let Some(pattern) = keys.flags(PATTERN, layers)? {
        return Ok(pattern.into_iter().map(|has_window| has_window.then_some(window)).collect());
    }
    let every = match (keys.optional::<u64>(PATTERN)?, keys.architecture.windows) {
        (Some(0), _) | (None, WindowedLayers::All) => return Ok(vec![Some(window); layers]),
        (Some(_), _) => keys.count(PATTERN)?,
        (None, WindowedLayers::AllBut(every)) => every,
    };
    Ok((0..layers).map(|layer| ((layer + 1) % every != 0).then_some(window)).collect())
}
