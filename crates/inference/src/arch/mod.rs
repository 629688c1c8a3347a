//! Architectures, as data: what tells one kind of model from another, and what a file says about one model.
//!
//! ```text
//! Gguf ── general.architecture ── Architecture: which blocks, which norms, which rope
//!   ├─── keys ── Hyperparameters: how many, how large
//!   └─── tensors ── ModelTensors: each by its name, with the shape that the hyperparameters say
//! ```
//!
//! A new architecture of the same build is a line in [`ARCHITECTURES`].

mod hyperparameters;
mod tensors;

pub use hyperparameters::Hyperparameters;
pub use tensors::{LayerTensors, ModelTensors};

use crate::error::{Error, Result};

/// What tells models of one kind from those of another. All are transformers with a norm before each block, grouped
/// queries, rotary positions, and a gated feed-forward network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture {
    /// As `general.architecture` has it.
    pub name: &'static str,
    /// Rotations pair the halves of a head (NeoX), rather than neighbours.
    pub neox: bool,
    /// Queries, keys and values have biases. Models without this may have them, too.
    pub qkv_bias: bool,
    /// Each head of queries and keys is normalized.
    pub qk_norm: bool,
}

/// Llama, and the many that are built like it.
pub const LLAMA: Architecture = Architecture { name: "llama", neox: false, qkv_bias: false, qk_norm: false };
/// Qwen 2 and 2.5.
pub const QWEN2: Architecture = Architecture { name: "qwen2", neox: true, qkv_bias: true, qk_norm: false };
/// Qwen 3.
pub const QWEN3: Architecture = Architecture { name: "qwen3", neox: true, qkv_bias: false, qk_norm: true };

/// All that there are.
pub const ARCHITECTURES: &[Architecture] = &[LLAMA, QWEN2, QWEN3];

impl Architecture {
    /// The architecture of this name.
    pub fn find(name: &str) -> Result<&'static Architecture> {
        ARCHITECTURES.iter().find(|architecture| architecture.name == name).ok_or_else(|| {
            let known: Vec<&str> = ARCHITECTURES.iter().map(|architecture| architecture.name).collect();
            Error::Model(format!(
                "the model is of the architecture '{name}'; those that run here are {}",
                known.join(", ")
            ))
        })
    }
}
