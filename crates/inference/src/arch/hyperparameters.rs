//! Hyperparameters of a model, from the metadata of its file.

use super::Architecture;
use crate::error::{Error, Result};
use crate::gguf::{FromValue, Gguf};
use crate::weights::FileError;

/// Hyperparameters of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Hyperparameters {
    /// Architecture.
    pub architecture: &'static Architecture,
    /// Number of layers.
    pub layers: usize,
    /// Width of the residual stream.
    pub width: usize,
    /// Width of the feed-forward network.
    pub feed_forward: usize,
    /// Number of query heads.
    pub heads: usize,
    /// Number of key and value heads.
    pub kv_heads: usize,
    /// Dimension of a head.
    pub head_dim: usize,
    /// Rotated dimensions of a head.
    pub rotary: usize,
    /// Base of the RoPE frequencies.
    pub rope_base: f64,
    /// Divisor of positions in RoPE.
    pub rope_scale: f64,
    /// ε of norms.
    pub epsilon: f32,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Context length in training.
    pub context: usize,
}

impl Hyperparameters {
    /// Reads and checks the hyperparameters of a model.
    pub fn read(model: &Gguf) -> Result<Hyperparameters> {
        let architecture = Architecture::find(model.architecture()?)?;
        let keys = Keys { model, architecture: architecture.name };
        let (width, heads) = (keys.count("embedding_length")?, keys.count("attention.head_count")?);
        let head_dim = match keys.optional_count("attention.key_length")? {
            Some(head_dim) => head_dim,
            None => width / heads,
        };
        let values = keys.optional_count("attention.value_length")?.unwrap_or(head_dim);
        if values != head_dim {
            return keys
                .reject(format_args!("the value heads have dimension {values}, but the key heads {head_dim}"));
        }
        if let Some(experts @ 1..) = keys.optional::<u64>("expert_count")? {
            return keys
                .reject(format_args!("mixtures of experts are not supported yet; it has {experts} experts"));
        }
        let embedding = model.weights().tensor("token_embd.weight")?;
        let hyperparameters = Hyperparameters {
            architecture,
            layers: keys.count("block_count")?,
            width,
            feed_forward: keys.count("feed_forward_length")?,
            heads,
            kv_heads: keys.optional_count("attention.head_count_kv")?.unwrap_or(heads),
            head_dim,
            rotary: keys.optional_count("rope.dimension_count")?.unwrap_or(head_dim),
            rope_base: keys.optional("rope.freq_base")?.unwrap_or(10_000.0),
            rope_scale: keys.rope_scale()?,
            epsilon: keys.get("attention.layer_norm_rms_epsilon")?,
            vocabulary: usize::try_from(embedding.dimensions.get(1).copied().unwrap_or(1)).unwrap_or(usize::MAX),
            context: keys.count("context_length")?,
        };
        hyperparameters.check(&keys)?;
        Ok(hyperparameters)
    }

    /// Width of all query heads.
    pub fn q_width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Width of all key heads, and of all value heads.
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }

    fn check(&self, keys: &Keys<'_>) -> Result<()> {
        let Hyperparameters { heads, kv_heads, head_dim, rotary, .. } = *self;
        if !heads.is_multiple_of(kv_heads) {
            return keys.reject(format_args!("{heads} query heads are not a multiple of {kv_heads} key heads"));
        }
        if !(32..=256).contains(&head_dim) || !head_dim.is_multiple_of(2) {
            return keys.reject(format_args!("the head dimension is {head_dim}: it must be even, 32 to 256"));
        }
        if !rotary.is_multiple_of(2) || rotary > head_dim {
            return keys
                .reject(format_args!("RoPE rotates {rotary} dimensions: it must be even, at most {head_dim}"));
        }
        let widths = [("embedding", self.width), ("heads", self.q_width()), ("feed-forward", self.feed_forward)];
        if let Some((what, width)) = widths.iter().find(|(_, width)| !width.is_multiple_of(32)) {
            return keys.reject(format_args!("the width of {what} is {width}: it must be a multiple of 32"));
        }
        if !(self.rope_base.is_finite() && self.rope_base > 0.0) {
            return keys.reject(format_args!("the RoPE base is {}: it must be above 0", self.rope_base));
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return keys.reject(format_args!("ε of norms is {}: it must be 0 or above", self.epsilon));
        }
        Ok(())
    }
}

/// Largest plausible count. Keeps later products from overflowing.
const MAX_COUNT: u64 = 1 << 24;

/// Reader of the keys with the architecture as prefix.
struct Keys<'a> {
    model: &'a Gguf,
    architecture: &'static str,
}

impl<'a> Keys<'a> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn get<T: FromValue<'a>>(&self, name: &str) -> std::result::Result<T, FileError> {
        self.model.get(&self.key(name))
    }

    fn optional<T: FromValue<'a>>(&self, name: &str) -> std::result::Result<Option<T>, FileError> {
        self.model.get_optional(&self.key(name))
    }

    fn count(&self, name: &str) -> Result<usize> {
        let value: u64 = self.get(name)?;
        self.checked(name, value)
    }

    fn optional_count(&self, name: &str) -> Result<Option<usize>> {
        self.optional(name)?.map(|value| self.checked(name, value)).transpose()
    }

    fn checked(&self, name: &str, value: u64) -> Result<usize> {
        match value {
            1..=MAX_COUNT => Ok(value as usize),
            _ => self.reject(format_args!("'{}' is {value}: it must be 1 to {MAX_COUNT}", self.key(name))),
        }
    }

    /// Divisor of positions in RoPE: 1 for Llama 3, which has a tensor of factors instead.
    fn rope_scale(&self) -> Result<f64> {
        let old: Option<f64> = self.optional("rope.scale_linear")?;
        let kind = self.optional::<&str>("rope.scaling.type")?.unwrap_or("linear");
        let factor = match kind {
            "none" => 1.0,
            "linear" => self.optional("rope.scaling.factor")?.or(old).unwrap_or(1.0),
            // Files of Llama 3 may name the scheme; the tensor has its factors.
            "llama3" => 1.0,
            _ => return self.reject(format_args!("RoPE scaling '{kind}' is not supported yet")),
        };
        // Old files have 0 for no scaling.
        match factor {
            0.0 => Ok(1.0),
            factor if factor.is_finite() && factor > 0.0 => Ok(factor),
            factor => self.reject(format_args!("the RoPE scaling factor is {factor}: it must be above 0")),
        }
    }

    fn reject<T>(&self, problem: std::fmt::Arguments<'_>) -> Result<T> {
        let path = self.model.path().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        Err(Error::Model(format!("{path}the model ({}): {problem}", self.architecture)))
    }
}
