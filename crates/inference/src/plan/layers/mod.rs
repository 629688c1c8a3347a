//! Encodes the layers, for one token or for many.
//!
//! ```text
//! tokens ── embed ── h ── norm ── mixer: attention ── add ── norm ── feed-forward network ── add ── h, the next layer
//! ```
//!
//! A [`Block`] is a mixer or a feed-forward network, with the norms before and after it. The last product or norm of a
//! block adds to the residual stream, and prepares the input of the next one where it can.

mod attention;
mod delta_net;
mod experts;
mod feed_forward;

use self::experts::ExpertOutputs;
use super::state::{State, first};
use super::table::{Quantity, Tracer};
use super::weights::{FeedForwardWeights, LayerWeights, MixerWeights, ModelWeights, Norm, Vector, Weight};
use crate::arch::{FeedForwardShape, Hyperparameters, Mixer, NormKind, NormPlaces};
use crate::error::{Error, Result};
use crate::formats::Activation;
use crate::metal::Tuning;
use crate::metal::dispatch::PatchedParameter;
use crate::metal::library::BufferSlice;
use crate::metal::operations::{Embedding, embedding};
use crate::metal::operations::{Gemv, NormedInput, NormedOutput, gemv_normed, gemv_rounded};
use crate::metal::operations::{LayerNorm, layer_norm};
use crate::metal::operations::{NextNorm, RmsNormAdd, rms_norm_add};
use crate::metal::operations::{PACKED_NUMBERS, Pack, RoundNumbers, pack, round_numbers};
use crate::metal::operations::{RmsNorm, rms_norm};
use crate::metal::operations::{TakeEach, TakeTokens, take_each, take_tokens};
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
    /// The same numbers, rounded to half.
    pub(super) rounded: Option<BufferSlice<'a>>,
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

    /// Packs `[tokens, width]` activations, if products with `weights` take them packed.
    fn pack<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        weights: &[&Weight],
        x: BufferSlice<'a>,
        slot: PackedSlot,
        counts: [usize; 2],
    ) -> Result<ProductInput<'a>> {
        let [tokens, width] = counts;
        let Some(slots) = self.packed_input(&tracer.encoding.tuning, weights, tokens) else {
            let rounded = self.round(tracer, x, slot, counts)?;
            return Ok(ProductInput { slice: x, packed: false, norm: None, rounded });
        };
        let y = slots[slot as usize];
        pack(&mut tracer.encoding, Pack { x, y, n: tokens * width, activation: self.activation })?;
        Ok(ProductInput { slice: y, packed: true, norm: None, rounded: None })
    }

    /// Rounds `[tokens, width]` activations to half, if products with them do so: once, not for each tile of rows.
    fn round<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        x: BufferSlice<'a>,
        slot: PackedSlot,
        [tokens, width]: [usize; 2],
    ) -> Result<Option<BufferSlice<'a>>> {
        let buffers = self.state.packed.as_ref().filter(|_| self.packed && self.activation == Activation::F32);
        let does_round = tracer.encoding.tuning.uses_gemm(tokens) && width.is_multiple_of(PACKED_NUMBERS);
        let Some(buffers) = buffers.filter(|_| does_round) else { return Ok(None) };
        let y: BufferSlice<'a> = (&buffers[slot as usize]).into();
        round_numbers(&mut tracer.encoding, RoundNumbers { x, y, n: tokens * width })?;
        Ok(Some(y))
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
            let next = self.weights.layers.get(index + 1);
            if self.model.architecture.norms == NormPlaces::Shared {
                let both = self.input(tracer, Block::Both(layer), None, tokens)?;
                // The hidden layer first: the output of attention may be packed over its input.
                let hidden = self.feed_forward(tracer, index, both, tokens)?;
                let mixed = self.mixer(tracer, index, both, tokens, splits)?;
                self.add(tracer, mixed, tokens, None)?;
                self.add_feed_forward(tracer, hidden, tokens, None)?;
                continue;
            }
            let input = self.input(tracer, Block::Mixer(layer), x, tokens)?;
            let mixed = self.mixer(tracer, index, input, tokens, splits)?;
            x = self.add(tracer, mixed, tokens, Some(Block::FeedForward(layer)))?;
            let input = self.input(tracer, Block::FeedForward(layer), x, tokens)?;
            let output = self.feed_forward(tracer, index, input, tokens)?;
            x = self.add_feed_forward(tracer, output, tokens, next.map(Block::Mixer))?;
        }
        Ok(())
    }

    /// [`Parts::layers`] for one token of each of `rows` sequences.
    pub(super) fn layers_of_each(&self, tracer: &mut Tracer<'_>, rows: usize, splits: bool) -> Result<()> {
        tracer.each = true;
        self.layers(tracer, rows, splits)
    }

    /// Has replays patch the sequence, or its place in the history; nothing if there is one sequence.
    pub(super) fn patch_sequence(&self, tracer: &mut Tracer<'_>, parameter: PatchedParameter, quantity: Quantity) {
        if self.state.sequences > 1 && !tracer.each {
            tracer.patch(parameter, quantity);
        }
    }

    /// Takes the next tokens of the history, with their positions.
    fn take(&self, tracer: &mut Tracer<'_>, tokens: usize) -> Result<()> {
        let (state, history) = (&self.state, (&self.state.history).into());
        let taken = first(&state.tokens, &[tokens], 4);
        if tracer.each {
            let each = state.each()?;
            let op = TakeEach {
                history,
                positions: (&each.positions).into(),
                sequences: (&each.sequences).into(),
                tokens: taken,
                count: tokens,
                stride: state.stride(),
            };
            return Ok(take_each(&mut tracer.encoding, op)?);
        }
        tracer.patch(TakeTokens::FIRST, Quantity::First);
        self.patch_sequence(tracer, TakeTokens::OFFSET, Quantity::Offset);
        let positions = first(&state.positions, &[tokens], 4);
        let op = TakeTokens { history, tokens: taken, positions, first: 0, offset: 0, count: tokens };
        Ok(take_tokens(&mut tracer.encoding, op)?)
    }

    /// Looks up the next tokens of the history: the residual stream before the first layer.
    fn embed(&self, tracer: &mut Tracer<'_>, tokens: usize) -> Result<()> {
        let state = &self.state;
        self.take(tracer, tokens)?;
        let op = Embedding {
            table: self.weights.embedding.matrix(),
            tokens: first(&state.tokens, &[tokens], 4),
            y: self.rows(&state.h, tokens, self.model.width),
            count: tokens,
            scale: self.model.embedding_scale,
            activation: self.activation,
        };
        Ok(embedding(&mut tracer.encoding, op)?)
    }

    /// The output of a layer's mixer.
    fn mixer<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        index: usize,
        x: ProductInput<'a>,
        tokens: usize,
        splits: bool,
    ) -> Result<BlockOutput<'a>> {
        let layer = &self.weights.layers[index];
        let norm = layer.mixer_post_norm.as_ref();
        match (&layer.mixer, &self.model.layers[index].mixer) {
            (MixerWeights::Attention(weights), Mixer::Attention(shape)) => {
                let attended = self.attention(tracer, (index, shape, weights), x, tokens, splits)?;
                Ok(BlockOutput { w: &weights.output, bias: weights.output_bias.as_ref(), x: attended, norm })
            }
            (MixerWeights::DeltaNet(weights), Mixer::DeltaNet(shape)) => {
                let input_norm = layer.mixer_norm.as_ref();
                let mixed = self.delta_net(tracer, (index, shape, weights), input_norm, x, tokens)?;
                Ok(BlockOutput { w: &weights.output, bias: None, x: mixed, norm })
            }
            _ => {
                Err(Error::Device(compute::Error::Internal(format!("layer {index} has weights of another mixer"))))
            }
        }
    }

    /// The output of a layer's feed-forward network.
    fn feed_forward<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        index: usize,
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<FeedForwardOutput<'a>> {
        let layer = &self.weights.layers[index];
        let norm = layer.feed_forward_post_norm.as_ref();
        match (&layer.feed_forward, &self.model.layers[index].feed_forward) {
            (FeedForwardWeights::Dense(dense), _) => {
                let hidden = self.hidden_layer(tracer, dense, x, tokens)?;
                Ok(FeedForwardOutput::Product(BlockOutput {
                    w: &dense.down,
                    bias: dense.down_bias.as_ref(),
                    x: hidden,
                    norm,
                }))
            }
            (FeedForwardWeights::Experts(weights), FeedForwardShape::Experts(shape)) => {
                let outputs = self.experts(tracer, (shape, weights), x, tokens)?;
                Ok(FeedForwardOutput::Experts { outputs, norm })
            }
            (FeedForwardWeights::Experts(_), FeedForwardShape::Dense { .. }) => Err(Error::Device(
                compute::Error::Internal("a layer has experts that its shape does not have".into()),
            )),
        }
    }

    /// Adds the output of a feed-forward network to the residual stream, as [`Parts::add`].
    fn add_feed_forward(
        &self,
        tracer: &mut Tracer<'_>,
        output: FeedForwardOutput<'_>,
        tokens: usize,
        next: Option<Block<'_>>,
    ) -> Result<Option<ProductInput<'_>>> {
        match output {
            FeedForwardOutput::Product(product) => self.add(tracer, product, tokens, next),
            FeedForwardOutput::Experts { outputs, norm: None } => {
                let h = self.rows(&self.state.h, tokens, self.model.width);
                self.sum_experts(tracer, outputs, Some(h), h, tokens)?;
                Ok(None)
            }
            FeedForwardOutput::Experts { outputs, norm: Some(norm) } => {
                let x = self.rows(&self.state.x, tokens, self.model.width);
                self.sum_experts(tracer, outputs, None, x, tokens)?;
                self.add_normed(tracer, norm, tokens, next)
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
        if let Some(x) = x {
            return Ok(x);
        }
        let (state, width) = (&self.state, self.model.width);
        let h = self.rows(&state.h, tokens, width);
        match block.norm() {
            Some(norm) => {
                let y = self.rows(&state.x, tokens, width);
                self.norm(tracer, norm, [h, y], &block.inputs(), tokens)
            }
            None => self.pack(tracer, &block.inputs(), h, PackedSlot::Input, [tokens, width]),
        }
    }

    /// Normalizes rows of the residual stream `x` for products with `weights`: packed, or to `y`, which may be `x`.
    pub(super) fn norm<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        norm: &Norm,
        [x, y]: [BufferSlice<'a>; 2],
        weights: &[&Weight],
        rows: usize,
    ) -> Result<ProductInput<'a>> {
        let (dim, epsilon, activation) = (self.model.width, self.model.stream_epsilon, self.activation);
        let (w, b) = (norm.weight.slice(), norm.bias.as_ref().map(Vector::slice));
        match self.model.architecture.norm {
            NormKind::Rms => {
                let packed = self.packed_input(&tracer.encoding.tuning, weights, rows).map(|[input, _]| input);
                let (y, packed_y) = (packed.unwrap_or(y), packed.is_some());
                let op = RmsNorm { x, w, y, rows, dim, epsilon, activation, packed_y };
                rms_norm(&mut tracer.encoding, op)?;
                let rounded = match packed_y {
                    true => None,
                    false => self.round(tracer, y, PackedSlot::Input, [rows, dim])?,
                };
                Ok(ProductInput { slice: y, packed: packed_y, norm: None, rounded })
            }
            NormKind::Layer => {
                let op = LayerNorm { x, w, b, y, rows, dim, epsilon, activation };
                layer_norm(&mut tracer.encoding, op)?;
                self.pack(tracer, weights, y, PackedSlot::Input, [rows, dim])
            }
        }
    }

    /// Adds the output of a block to the residual stream. Returns the input of the next block if it has computed that,
    /// too.
    fn add(
        &self,
        tracer: &mut Tracer<'_>,
        output: BlockOutput<'_>,
        tokens: usize,
        next: Option<Block<'_>>,
    ) -> Result<Option<ProductInput<'_>>> {
        let BlockOutput { w, bias, x, norm } = output;
        let h = self.rows(&self.state.h, tokens, self.model.width);
        let bias = bias.map(Vector::slice);
        if let Some(norm) = norm {
            let y = self.rows(&self.state.x, tokens, self.model.width);
            gemv_rounded(&mut tracer.encoding, Gemv { bias, ..self.product(w, x, y, tokens) }, x.rounded)?;
            return self.add_normed(tracer, norm, tokens, next);
        }
        let op = Gemv { bias, residual: Some(h), ..self.product(w, x, h, tokens) };
        let tuning = &tracer.encoding.tuning;
        let next = next.filter(|next| {
            tuning.fuses_norms
                && x.packed
                && next.takes_normed(tuning, tokens)
                && self.packed_input(tuning, &next.inputs(), tokens).is_some()
        });
        let next_norm = next.and_then(Block::norm).filter(|_| self.model.architecture.norm == NormKind::Rms);
        let (Some(norm), Some([packed, squares])) = (next_norm, &self.state.normed) else {
            gemv_rounded(&mut tracer.encoding, op, x.rounded)?;
            return Ok(None);
        };
        let (packed, squares, epsilon) = (packed.into(), squares.into(), self.model.stream_epsilon);
        gemv_normed(&mut tracer.encoding, op, NormedOutput { w: norm.weight.slice(), packed, squares })?;
        Ok(Some(ProductInput {
            slice: packed,
            packed: true,
            norm: Some(NormedInput { squares, epsilon }),
            rounded: None,
        }))
    }

    /// Normalizes the output of a block, in the buffer `x` of the state, and adds it to the residual stream. Returns the
    /// input of the next block if that has a norm before it.
    fn add_normed(
        &self,
        tracer: &mut Tracer<'_>,
        norm: &Norm,
        tokens: usize,
        next: Option<Block<'_>>,
    ) -> Result<Option<ProductInput<'_>>> {
        let (state, model, activation) = (&self.state, &self.model, self.activation);
        let (h, x) = (self.rows(&state.h, tokens, model.width), self.rows(&state.x, tokens, model.width));
        let next = next.and_then(|next| Some((next.norm()?, next.inputs())));
        let next = next.map(|(norm, inputs)| {
            let packed = self.packed_input(&tracer.encoding.tuning, &inputs, tokens).map(|[input, _]| input);
            let (y, packed_y) = (packed.unwrap_or(x), packed.is_some());
            (norm, ProductInput { slice: y, packed: packed_y, norm: None, rounded: None })
        });
        let op = RmsNormAdd {
            h,
            x,
            w: norm.weight.slice(),
            next: next.map(|(norm, y)| NextNorm {
                w: norm.weight.slice(),
                y: y.slice,
                epsilon: model.stream_epsilon,
                packed_y: y.packed,
            }),
            rows: tokens,
            dim: model.width,
            epsilon: model.epsilon,
            activation,
        };
        rms_norm_add(&mut tracer.encoding, op)?;
        let Some((_, input)) = next else { return Ok(None) };
        let rounded = match input.packed {
            true => None,
            false => self.round(tracer, input.slice, PackedSlot::Input, [tokens, model.width])?,
        };
        Ok(Some(ProductInput { rounded, ..input }))
    }
}

/// A part of a layer that reads the normalized residual stream, and adds to it.
#[derive(Clone, Copy)]
enum Block<'a> {
    Mixer(&'a LayerWeights),
    FeedForward(&'a LayerWeights),
    /// Both, with the same input.
    Both(&'a LayerWeights),
}

impl<'a> Block<'a> {
    /// Norm of its input, if there is one.
    fn norm(self) -> Option<&'a Norm> {
        match self {
            Block::Mixer(layer) | Block::Both(layer) => layer.mixer_norm.as_ref(),
            Block::FeedForward(layer) => layer.feed_forward_norm.as_ref(),
        }
    }

    /// Matrices of the products that take its input.
    fn inputs(self) -> Vec<&'a Weight> {
        match self {
            Block::Mixer(layer) => match &layer.mixer {
                MixerWeights::Attention(attention) => attention.inputs().to_vec(),
                MixerWeights::DeltaNet(delta_net) => delta_net.inputs(),
            },
            Block::FeedForward(layer) => match &layer.feed_forward {
                FeedForwardWeights::Dense(dense) => dense.inputs().collect(),
                FeedForwardWeights::Experts(experts) => experts.inputs(),
            },
            Block::Both(layer) => [Block::Mixer(layer).inputs(), Block::FeedForward(layer).inputs()].concat(),
        }
    }

    /// True if one dispatch takes the input, so that this can apply the factor of the norm.
    fn takes_normed(self, tuning: &Tuning, tokens: usize) -> bool {
        match self {
            Block::Mixer(layer) => match &layer.mixer {
                MixerWeights::Attention(attention) => attention.queries_are_fused(tuning, tokens),
                MixerWeights::DeltaNet(_) => false,
            },
            Block::FeedForward(layer) => match &layer.feed_forward {
                FeedForwardWeights::Dense(dense) => dense.fused_gate(tuning, tokens).is_some(),
                FeedForwardWeights::Experts(_) => false,
            },
            Block::Both(_) => false,
        }
    }
}

/// Output of a feed-forward network.
enum FeedForwardOutput<'a> {
    Product(BlockOutput<'a>),
    /// The weighted sum of each token's experts, normalized if there is a norm.
    Experts {
        outputs: ExpertOutputs<'a>,
        norm: Option<&'a Norm>,
    },
}

/// Output of a block: norm(w · x + bias).
struct BlockOutput<'a> {
    w: &'a Weight,
    bias: Option<&'a Vector>,
    x: ProductInput<'a>,
    norm: Option<&'a Norm>,
}
