//! Architectures as data, and the hyperparameters and tensors of a model.
//!
//! ```text
//! Gguf ── general.architecture ── Architecture: RoPE pairing, biases, head norms
//!   ├─── keys ── Hyperparameters: widths, and a LayerShape for each layer
//!   └─── tensors ── ModelTensors: each found by name, its shape checked against the hyperparameters
//! ```
//!
//! A new architecture with the same parts is an entry in [`ARCHITECTURES`].

mod hyperparameters;
mod keys;
mod layer;
mod rope;
mod tensors;

pub use hyperparameters::Hyperparameters;
pub use layer::{AttentionLayer, FeedForwardShape, LayerShape, Mixer};
pub use rope::{Rope, RopeKind};
pub use tensors::{AttentionTensors, DenseTensors, FeedForwardTensors};
pub use tensors::{LayerTensors, MixerTensors, ModelTensors};

use crate::error::{Error, Result};

/// Variations between architectures. All are pre-norm transformers with grouped-query attention, RoPE and a gated
/// feed-forward network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Architecture {
    /// Value of `general.architecture`.
    pub name: &'static str,
    /// RoPE pairs the two halves of a head (NeoX), not neighbours.
    pub neox: bool,
    /// Queries, keys and values must have biases. If false, they are optional.
    pub qkv_bias: bool,
    /// Each query and key head is normalized.
    pub qk_norm: bool,
}

/// Llama, and the many models with its structure.
pub const LLAMA: Architecture = Architecture { name: "llama", neox: false, qkv_bias: false, qk_norm: false };
/// Qwen 2 and 2.5.
pub const QWEN2: Architecture = Architecture { name: "qwen2", neox: true, qkv_bias: true, ..LLAMA };
/// Qwen 3.
pub const QWEN3: Architecture = Architecture { name: "qwen3", neox: true, qk_norm: true, ..LLAMA };

/// Supported architectures.
pub const ARCHITECTURES: &[Architecture] = &[LLAMA, QWEN2, QWEN3];

impl Architecture {
    /// Returns the architecture with this name.
    pub fn find(name: &str) -> Result<&'static Architecture> {
        ARCHITECTURES.iter().find(|architecture| architecture.name == name).ok_or_else(|| {
            let known: Vec<&str> = ARCHITECTURES.iter().map(|architecture| architecture.name).collect();
            Error::Model(format!("the architecture '{name}' is not supported, only {}", known.join(", ")))
        })
    }
}
