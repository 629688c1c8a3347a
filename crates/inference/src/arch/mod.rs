//! Architectures as data, and the hyperparameters and tensors of a model.
//!
//! ```text
//! Gguf ── general.architecture ── Architecture: norms, biases, windows, RoPE pairing, …
//!   ├─── keys ── Hyperparameters: widths, and a LayerShape for each layer
//!   └─── tensors ── ModelTensors: each found by name, its shape checked against the hyperparameters
//! ```
//!
//! A new architecture with the same parts is an entry in [`ARCHITECTURES`].

mod delta_net;
mod experts;
mod hyperparameters;
mod keys;
mod layer;
mod missing;
mod rope;
mod table;
mod tensors;
#[cfg(test)]
mod tests;

pub use experts::{ExpertKind, ExpertsShape, SharedExpert};
pub use hyperparameters::Hyperparameters;
pub use layer::{AttentionLayer, DeltaNetLayer, FeedForwardShape, LayerShape, Mixer};
pub(crate) use missing::missing_part;
pub use rope::{Rope, RopeKind, RopeScaling};
pub use table::*;
pub use tensors::{AttentionTensors, DeltaNetTensors, DenseTensors, ExpertTensors, FeedForwardTensors};
pub use tensors::{LayerTensors, MixerTensors, ModelTensors, NormTensors, RopeFactors, SharedExpertTensors};

use crate::error::{Error, Result};
use crate::metal::operations::{GateFunction, UnaryFunction};

/// Variations between architectures. All are transformers with grouped-query attention and feed-forward networks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Architecture {
    /// Value of `general.architecture`.
    pub name: &'static str,
    /// RoPE pairs the two halves of a head (NeoX), not neighbours.
    pub neox: bool,
    /// Queries, keys and values must have biases. If false, they are optional.
    pub qkv_bias: bool,
    /// Norms of queries and keys.
    pub qk_norm: QkNorm,
    /// Queries and keys are normalized after their rotation.
    pub norm_after_rope: bool,
    /// Kind of the norms of the residual stream.
    pub norm: NormKind,
    /// Places of norms in a layer.
    pub norms: NormPlaces,
    /// Name of the norm before the feed-forward network.
    pub feed_forward_norm: &'static str,
    /// The matrices of gate and up projection are one, `ffn_up`, the gate first.
    pub fused_gate: bool,
    /// Function of the gate of the feed-forward network.
    pub gate: GateFunction,
    /// Function of the hidden layer of networks that have no gate.
    pub ungated: Option<UnaryFunction>,
    /// Embeddings are multiplied by √width.
    pub scaled_embedding: bool,
    /// Logits are divided by the key `logit_scale`, not multiplied.
    pub divided_logits: bool,
    /// Files without factors of embeddings, of the residual stream and of logits have those of the first MiniCPM.
    pub has_default_factors: bool,
    /// Number of layers of the model whose factor of attention is 1 / √(width / heads).
    pub wide_queries: Option<usize>,
    /// Layers with a sliding window.
    pub windows: WindowedLayers,
    /// Size of the window of files that have none.
    pub default_window: Option<usize>,
    /// Layers with RoPE.
    pub rope: RotatedLayers,
    /// RoPE of layers with a window.
    pub local_rope: LocalRope,
    /// Attention has gates.
    pub gated_attention: bool,
    /// Layers are gated delta-nets, with attention at regular intervals.
    pub delta_net: bool,
    /// Value heads of delta-nets with the same keys are adjacent in files, too.
    pub adjacent_heads: bool,
    /// YaRN mixes frequencies between two pairs that are not rounded to whole ones.
    pub exact_yarn: bool,
    /// Attention has sinks: one more score of each head.
    pub sinks: bool,
    /// Experts of models that have some.
    pub experts: ExpertKind,
}

/// Norms of queries and keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QkNorm {
    /// There are none.
    None,
    /// Each head is normalized.
    Heads,
    /// Each head is normalized, if the layer has the weights for it.
    HeadsIfAny,
    /// All heads of a token are normalized together.
    Whole,
}

/// Kind of norms. Those of a file may have biases if they subtract the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NormKind {
    /// x / √(mean(x²) + ε)
    Rms,
    /// (x − mean(x)) / √(variance(x) + ε)
    Layer,
}

/// Places of norms in a layer, whose blocks are the mixer and the feed-forward network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NormPlaces {
    /// Before each block: h += block(norm(h)).
    Before,
    /// Before and after each block: h += norm(block(norm(h))).
    Around,
    /// After each block: h += norm(block(h)).
    After,
    /// One before both blocks, which are added in parallel: x = norm(h), h += mixer(x) + feed_forward(x).
    Shared,
}

/// Layers with a sliding window, if the file has its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowedLayers {
    /// All layers.
    All,
    /// All but every n-th, which sees all positions: the layers n − 1, 2n − 1, …
    AllBut(usize),
}

/// Layers with RoPE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RotatedLayers {
    /// All layers.
    All,
    /// All but every n-th: the layers n − 1, 2n − 1, …
    AllBut(usize),
    /// Layers with a window.
    Windowed,
    /// Layers with a window, or all if none has one.
    WindowedIfAny,
}

/// RoPE of layers with a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LocalRope {
    /// The same as in all others.
    Global,
    /// The same base, without the scaling that extends the context.
    Unscaled,
    /// This base, if the file has none, without scaling.
    Base(f64),
}

impl Architecture {
    /// Returns the architecture with this name.
    pub fn find(name: &str) -> Result<&'static Architecture> {
        ARCHITECTURES.iter().find(|architecture| architecture.name == name).ok_or_else(|| {
            let known: Vec<&str> = ARCHITECTURES.iter().map(|architecture| architecture.name).collect();
            let missing = missing_part(name).map(|part| format!(" ({part} are missing)")).unwrap_or_default();
            Error::Model(format!("the architecture '{name}' is not supported{missing}, only {}", known.join(", ")))
        })
    }
}
