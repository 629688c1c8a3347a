//! Encodes the layers, for one token or for many.
//!
//! ```text
//! tokens ── embed ── h ── norm ── mixer: attention ── add ── norm ── feed-forward network ── add ── h, the next layer
//! ```
//!
//! A [`Block`] is a mixer or a feed-forward network, with the norm before it. The product that ends a block adds to the
//! residual stream, and prepares the input of the next one where it can.

mod attention;
mod feed_forward;

use super::state::{State, first};
use super::table::{Quantity, Tracer};
use super::weights::{FeedForwardWeights, LayerWeights, MixerWeights, ModelWeights, Vector, Weight};
use crate::arch::{Hyperparameters, Mixer};
use crate::error::Result;
use crate::formats::Activation;
use crate::metal::Tuning;
use crate::metal::library::BufferSlice;
use crate::metal::operations::{Embedding, embedding};
use crate::metal::operations::{Gemv, NormedInput, NormedOutput, gemv, gemv_normed};
use crate::metal::operations::{Pack, pack};
use crate::metal::operations::{RmsNorm, rms_norm};
use crate::metal::operations::{TakeTokens, take_tokens};
use compute::Buffer;

/// Data that all parts of a plan use.
pub(super) struct Parts {
    pub(super) model: Hyperparameters,
    pub(super) weights: ModelWeights,
    pub(super) state: State,
    pub(super) activation: Activation,
    /// Products take packed inputs, where they can.
    pub(super) packed: bool,
}

/// Buffers for packed inputs of products, in the order of the state.
#[derive(Clone, Copy)]
enum PackedSlot {
    /// Of the width of the residual stream or of attention.
    Input,
    /// Of the width of a hidden layer.
    Hidden,
}

/// Input of products.
#[derive(Clone, Copy)]
pub(super) struct ProductInput<'a> {
    pub(super) slice: BufferSlice<'a>,
    pub(super) packed: bool,
    /// It lacks the factor of its norm.
    pub(super) norm: Option<NormedInput<'a>>,
}

impl Parts {
    /// The first `rows` rows of a buffer of activations.
    fn rows<'a>(&self, buffer: &'a Buffer, rows: usize, width: usize) -> BufferSlice<'a> {
        first(buffer, &[rows, width], self.activation.size())
    }

    /// Buffers for packed inputs of products with all of `weights`, as in the state; `None` if they are not packed. Only the
    /// kernels for few vectors take packed ones.
    pub(super) fn packed_input(
        &self,
        tuning: &Tuning,
        weights: &[&Weight],
        tokens: usize,
    ) -> Option<[BufferSlice<'_>; 2]> {
        let buffers = self.state.packed.as_ref().filter(|_| self.packed)?;
        let can_pack = !tuning.uses_gemm(tokens) && weights.iter().all(|weight| weight.takes_packed());
        can_pack.then(|| buffers.each_ref().map(BufferSlice::from))
    }

    /// Packs `[tokens, width]` activations, if products with `w` take them packed.
    fn pack<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        w: &Weight,
        x: BufferSlice<'a>,
        slot: PackedSlot,
        counts: [usize; 2],
    ) -> Result<ProductInput<'a>> {
        let [tokens, width] = counts;
        let Some(slots) = self.packed_input(&tracer.encoding.tuning, &[w], tokens) else {
            return Ok(ProductInput { slice: x, packed: false, norm: None });
        };
        let y = slots[slot as usize];
        pack(&mut tracer.encoding, Pack { x, y, n: tokens * width, activation: self.activation })?;
        Ok(ProductInput { slice: y, packed: true, norm: None })
    }

    fn product<'a>(&self, w: &'a Weight, x: ProductInput<'a>, y: BufferSlice<'a>, m: usize) -> Gemv<'a> {
        let (x, packed_x) = (x.slice, x.packed);
        Gemv { w: w.matrix(), x, y, bias: None, residual: None, m, activation: self.activation, packed_x }
    }

    /// Encodes the steps from tokens of the history to the residual stream after the last layer. `splits` divides the
    /// positions of the cache, for a single token.
    pub(super) fn layers(&self, tracer: &mut Tracer<'_>, tokens: usize, splits: bool) -> Result<()> {
        tracer.encoding.rounds = self.packed;
        self.embed(tracer, tokens)?;
        let mut x = None;
        for (index, layer) in self.weights.layers.iter().enumerate() {
            let mixed = self.mixer(tracer, index, x, tokens, splits)?;
            x = self.add(tracer, mixed, tokens, Some(Block::FeedForward(layer)))?;
            let output = self.feed_forward(tracer, layer, x, tokens)?;
            let next = self.weights.layers.get(index + 1);
            x = self.add(tracer, output, tokens, next.map(Block::Mixer))?;
        }
        Ok(())
    }

    /// Looks up the next tokens of the history: the residual stream before the first layer.
    fn embed(&self, tracer: &mut Tracer<'_>, tokens: usize) -> Result<()> {
        let state = &self.state;
        tracer.patch(TakeTokens::FIRST, Quantity::First);
        take_tokens(
            &mut tracer.encoding,
            TakeTokens {
                history: (&state.history).into(),
                tokens: first(&state.tokens, &[tokens], 4),
                positions: first(&state.positions, &[tokens], 4),
                first: 0,
                count: tokens,
            },
        )?;
        let op = Embedding {
            table: self.weights.embedding.matrix(),
            tokens: first(&state.tokens, &[tokens], 4),
            y: self.rows(&state.h, tokens, self.model.width),
            count: tokens,
            scale: 1.0,
            activation: self.activation,
        };
        Ok(embedding(&mut tracer.encoding, op)?)
    }

    /// The output of a layer's mixer. `x` is the normalized residual stream, if it is known.
    fn mixer<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        index: usize,
        x: Option<ProductInput<'a>>,
        tokens: usize,
        splits: bool,
    ) -> Result<BlockOutput<'a>> {
        let layer = &self.weights.layers[index];
        let x = self.input(tracer, Block::Mixer(layer), x, tokens)?;
        match (&layer.mixer, &self.model.layers[index].mixer) {
            (MixerWeights::Attention(weights), Mixer::Attention(shape)) => {
                let attended = self.attention(tracer, (index, shape, weights), x, tokens, splits)?;
                Ok(BlockOutput { w: &weights.output, x: attended })
            }
        }
    }

    /// The output of a layer's feed-forward network. `x` is the normalized residual stream, if it is known.
    fn feed_forward<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        layer: &'a LayerWeights,
        x: Option<ProductInput<'a>>,
        tokens: usize,
    ) -> Result<BlockOutput<'a>> {
        let x = self.input(tracer, Block::FeedForward(layer), x, tokens)?;
        match &layer.feed_forward {
            FeedForwardWeights::Dense(dense) => {
                let hidden = self.hidden_layer(tracer, dense, x, tokens)?;
                Ok(BlockOutput { w: &dense.down, x: hidden })
            }
        }
    }

    /// The input of a block: `x` if it is known already, otherwise the normalized residual stream.
    fn input<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        block: Block<'a>,
        x: Option<ProductInput<'a>>,
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        match x {
            Some(x) => Ok(x),
            None => self.norm(tracer, block.norm(), &block.inputs(), tokens),
        }
    }

    /// Normalizes the residual stream for products with `weights`.
    fn norm<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        w: &Vector,
        weights: &[&Weight],
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let (state, width) = (&self.state, self.model.width);
        let x = self.rows(&state.h, tokens, width);
        let packed = self.packed_input(&tracer.encoding.tuning, weights, tokens).map(|[input, _]| input);
        let (y, packed_y) = (packed.unwrap_or_else(|| self.rows(&state.x, tokens, width)), packed.is_some());
        let (w, epsilon, activation) = (w.slice(), self.model.epsilon, self.activation);
        let op = RmsNorm { x, w, y, rows: tokens, dim: width, epsilon, activation, packed_y };
        rms_norm(&mut tracer.encoding, op)?;
        Ok(ProductInput { slice: y, packed: packed_y, norm: None })
    }

    /// Adds the output of a block to the residual stream: h += w · x. Returns the input of the next block if it has
    /// computed that, too.
    fn add(
        &self,
        tracer: &mut Tracer<'_>,
        output: BlockOutput<'_>,
        tokens: usize,
        next: Option<Block<'_>>,
    ) -> Result<Option<ProductInput<'_>>> {
        let BlockOutput { w, x } = output;
        let h = self.rows(&self.state.h, tokens, self.model.width);
        let op = Gemv { residual: Some(h), ..self.product(w, x, h, tokens) };
        let tuning = &tracer.encoding.tuning;
        let next = next.filter(|next| {
            tuning.fuses_norms
                && x.packed
                && next.takes_normed(tuning, tokens)
                && self.packed_input(tuning, &next.inputs(), tokens).is_some()
        });
        let (Some(next), Some([packed, squares])) = (next, &self.state.normed) else {
            gemv(&mut tracer.encoding, op)?;
            return Ok(None);
        };
        let (packed, squares, epsilon) = (packed.into(), squares.into(), self.model.epsilon);
        gemv_normed(&mut tracer.encoding, op, NormedOutput { w: next.norm().slice(), packed, squares })?;
        Ok(Some(ProductInput { slice: packed, packed: true, norm: Some(NormedInput { squares, epsilon }) }))
    }
}

/// A part of a layer that reads the normalized residual stream, and adds to it.
#[derive(Clone, Copy)]
enum Block<'a> {
    Mixer(&'a LayerWeights),
    FeedForward(&'a LayerWeights),
}

impl<'a> Block<'a> {
    /// Norm of its input.
    fn norm(self) -> &'a Vector {
        match self {
            Block::Mixer(layer) => &layer.mixer_norm,
            Block::FeedForward(layer) => &layer.feed_forward_norm,
        }
    }

    /// Matrices of the products that take its input.
    fn inputs(self) -> Vec<&'a Weight> {
        match self {
            Block::Mixer(layer) => match &layer.mixer {
                MixerWeights::Attention(attention) => attention.inputs().to_vec(),
            },
            Block::FeedForward(layer) => match &layer.feed_forward {
                FeedForwardWeights::Dense(dense) => dense.inputs().to_vec(),
            },
        }
    }

    /// True if one dispatch takes the input, so that this can apply the factor of the norm.
    fn takes_normed(self, tuning: &Tuning, tokens: usize) -> bool {
        match self {
            Block::Mixer(layer) => match &layer.mixer {
                MixerWeights::Attention(attention) => attention.queries_are_fused(tuning, tokens),
            },
            Block::FeedForward(layer) => match &layer.feed_forward {
                FeedForwardWeights::Dense(dense) => dense.gate_is_fused(tuning, tokens),
            },
        }
    }
}

/// Output of a block: the product of a matrix with activations.
struct BlockOutput<'a> {
    w: &'a Weight,
    x: ProductInput<'a>,
}
