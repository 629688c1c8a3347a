//! Shape of each layer: a description that the plan encodes.

use super::{ExpertsShape, RopeKind};

/// Shape of a layer: a mixer, which combines positions, and a feed-forward network.
#[derive(Clone, PartialEq, Debug)]
pub struct LayerShape {
    /// Combines positions.
    pub mixer: Mixer,
    /// Feed-forward network.
    pub feed_forward: FeedForwardShape,
}

impl LayerShape {
    /// Its attention, if that is its mixer.
    pub fn attention(&self) -> Option<&AttentionLayer> {
        match &self.mixer {
            Mixer::Attention(attention) => Some(attention),
            Mixer::DeltaNet(_) => None,
        }
    }
}

/// Part of a layer that combines positions.
#[derive(Clone, PartialEq, Debug)]
pub enum Mixer {
    /// Attention over a KV cache.
    Attention(AttentionLayer),
    /// Gated delta-net, with a recurrent state.
    DeltaNet(DeltaNetLayer),
}

/// Shape of attention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttentionLayer {
    /// Number of query heads.
    pub heads: usize,
    /// Number of key and value heads.
    pub kv_heads: usize,
    /// Dimension of a head.
    pub head_dim: usize,
    /// Number of positions that a token sees, itself included; without a window it sees all up to its own.
    pub window: Option<usize>,
    /// Rotation of queries and keys; `None` if they have no position.
    pub rope: Option<RopeKind>,
    /// Factor of the scores q · k.
    pub scale: f32,
    /// Scores s become cap · tanh(s / cap).
    pub soft_cap: Option<f32>,
    /// The product for queries also has a gate of each head, by whose sigmoid the output of the head is multiplied.
    pub gated: bool,
    /// The softmax has one more score, a learned number of each head.
    pub sinks: bool,
}

impl AttentionLayer {
    /// Width of all query heads.
    pub fn q_width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Rows of the matrix for queries, which may have gates too.
    pub fn query_rows(&self) -> usize {
        self.q_width() * (1 + usize::from(self.gated))
    }

    /// Width of all key heads, and of all value heads.
    pub fn kv_width(&self) -> usize {
        self.kv_heads * self.head_dim
    }
}

/// Shape of a gated delta-net.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeltaNetLayer {
    /// Number of value heads.
    pub heads: usize,
    /// Number of query heads, and of key heads.
    pub key_heads: usize,
    /// Dimension of a head.
    pub head_dim: usize,
}

impl DeltaNetLayer {
    /// Width of all value heads.
    pub fn width(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Width of all heads: queries, keys and values.
    pub fn channels(&self) -> usize {
        (2 * self.key_heads + self.heads) * self.head_dim
    }
}

/// Shape of a feed-forward network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FeedForwardShape {
    /// One gated network.
    Dense {
        /// Width of the hidden layer.
        width: usize,
    },
    /// Experts, of which each token uses a few.
    Experts(ExpertsShape),
}
