//! Encodes the layers, for one token or for many.

use super::state::{State, first};
use super::table::{Quantity, Tracer};
use super::weights::{LayerWeights, ModelWeights, Vector, Weight};
use crate::arch::Hyperparameters;
use crate::error::{Error, Result};
use crate::formats::Activation;
use crate::metal::Tuning;
use crate::metal::library::BufferSlice;
use crate::metal::operations::{
    AttentionDecode, AttentionPrefill, AttentionShape, AttentionSplit, attention_decode, attention_prefill,
};
use crate::metal::operations::{Binary, BinaryFunction, binary};
use crate::metal::operations::{Embedding, embedding};
use crate::metal::operations::{Gemv, NormedInput, NormedOutput, gemv, gemv_normed};
use crate::metal::operations::{GemvGated, gemv_gated, gemv_gated_normed};
use crate::metal::operations::{GemvQkv, gemv_qkv, gemv_qkv_normed};
use crate::metal::operations::{HeadRmsNorm, RmsNorm, head_rms_norm, rms_norm};
use crate::metal::operations::{Pack, pack};
use crate::metal::operations::{RopeKv, Rotation, rope_kv};
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

    /// True if gate and up of a layer are computed in one dispatch, which only the kernels for few vectors support.
    pub(super) fn gate_is_fused(tuning: &Tuning, layer: &LayerWeights, tokens: usize) -> bool {
        !tuning.uses_gemm(tokens) && layer.gate.is_stored_like(&layer.up) && layer.gate.is_in_pieces()
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

    /// Packs activations of `width` numbers, if products with `w` take them packed.
    fn pack<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        w: &Weight,
        x: BufferSlice<'a>,
        tokens: usize,
        width: usize,
    ) -> Result<ProductInput<'a>> {
        let Some([input, hidden]) = self.packed_input(&tracer.encoding.tuning, &[w], tokens) else {
            return Ok(ProductInput { slice: x, packed: false, norm: None });
        };
        let y = if width == self.model.feed_forward { hidden } else { input };
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
        let state = &self.state;
        tracer.encoding.rounds = self.packed;
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
        embedding(
            &mut tracer.encoding,
            Embedding {
                table: self.weights.embedding.matrix(),
                tokens: first(&state.tokens, &[tokens], 4),
                y: self.rows(&state.h, tokens, self.model.width),
                count: tokens,
                scale: 1.0,
                activation: self.activation,
            },
        )?;
        let mut x = None;
        for (index, layer) in self.weights.layers.iter().enumerate() {
            let attended = self.attention(tracer, index, layer, x, tokens, splits)?;
            let weights = [&layer.gate, &layer.up];
            let is_fused = Parts::gate_is_fused(&tracer.encoding.tuning, layer, tokens);
            let norm = is_fused.then_some((&layer.feed_forward_norm, &weights[..]));
            x = self.add_product(tracer, &layer.attention_output, attended, tokens, norm)?;
            let hidden = self.feed_forward(tracer, layer, x, tokens)?;
            let next = self
                .weights
                .layers
                .get(index + 1)
                .filter(|next| Parts::queries_are_fused(&tracer.encoding.tuning, next, tokens));
            let weights = next.map(|next| [&next.q, &next.k, &next.v]);
            let norm = next.zip(weights.as_ref()).map(|(next, weights)| (&next.attention_norm, &weights[..]));
            x = self.add_product(tracer, &layer.down, hidden, tokens, norm)?;
        }
        Ok(())
    }

    /// True if queries, keys and values of a layer are computed in one dispatch: if the three matrices have the same
    /// format and layout and the vectors are few.
    fn queries_are_fused(tuning: &Tuning, layer: &LayerWeights, tokens: usize) -> bool {
        let LayerWeights { q, k, v, .. } = layer;
        !tuning.uses_gemm(tokens) && q.is_stored_like(k) && q.is_stored_like(v) && q.is_in_pieces()
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

    /// The output of attention, for the last product of it. `x` is the normalized residual stream, if it is known.
    fn attention<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        index: usize,
        layer: &LayerWeights,
        x: Option<ProductInput<'a>>,
        tokens: usize,
        splits: bool,
    ) -> Result<ProductInput<'a>> {
        let (model, state, activation) = (&self.model, &self.state, self.activation);
        let (q_width, kv_width) = (model.q_width(), model.kv_width());
        let (q, k, v) = (
            self.rows(&state.q, tokens, q_width),
            self.rows(&state.k, tokens, kv_width),
            self.rows(&state.v, tokens, kv_width),
        );
        let x = match x {
            Some(x) => x,
            None => self.norm(tracer, &layer.attention_norm, &[&layer.q, &layer.k, &layer.v], tokens)?,
        };
        self.queries_keys_values(tracer, layer, x, tokens)?;
        if let Some([q_norm, k_norm]) = &layer.head_norms {
            for (x, w, heads) in [(q, q_norm, model.heads), (k, k_norm, model.kv_heads)] {
                let op = HeadRmsNorm {
                    x,
                    w: w.slice(),
                    rows: tokens,
                    heads,
                    head_dim: model.head_dim,
                    stride: heads * model.head_dim,
                    epsilon: model.epsilon,
                    activation,
                };
                head_rms_norm(&mut tracer.encoding, op)?;
            }
        }
        let rotation = Rotation {
            frequencies: (&state.frequencies).into(),
            positions: first(&state.positions, &[tokens], 4),
            rotary: model.rotary,
            neox: model.architecture.neox,
            magnitude: 1.0,
        };
        let cache = state.cache(index);
        rope_kv(
            &mut tracer.encoding,
            RopeKv {
                q,
                k,
                v,
                y: q,
                cache,
                rotation,
                tokens,
                heads: model.heads,
                q_stride: q_width,
                k_stride: kv_width,
                v_stride: kv_width,
                activation,
            },
        )?;
        let scale = 1.0 / (model.head_dim as f32).sqrt();
        let shape = AttentionShape { heads: model.heads, scale, soft_cap: None, window: None };
        let y = self.rows(&state.attended, tokens, q_width);
        if tokens == 1 {
            tracer.patch(AttentionDecode::LENGTH, Quantity::Length);
            let split = state.parts.as_ref().filter(|_| splits).map(|(count, scratch)| AttentionSplit {
                count: *count,
                scratch: scratch.into(),
                wide: tracer.encoding.tuning.attention_wide(model.head_dim, cache.ty),
            });
            let packed = self.packed_input(&tracer.encoding.tuning, &[&layer.attention_output], tokens);
            let packed = packed.filter(|_| split.is_some() && AttentionDecode::can_pack(model.head_dim));
            let (y, packed_y) = (packed.map_or(y, |[input, _]| input), packed.is_some());
            let op = AttentionDecode { q, cache, y, length: 1, shape, split, activation, packed_y };
            attention_decode(&mut tracer.encoding, op)?;
            if packed_y {
                return Ok(ProductInput { slice: y, packed: true, norm: None });
            }
        } else {
            tracer.patch(AttentionPrefill::POSITION, Quantity::First);
            let op = AttentionPrefill { q, cache, y, tokens, position: 0, shape, activation };
            attention_prefill(&mut tracer.encoding, op)?;
        }
        self.pack(tracer, &layer.attention_output, y, tokens, q_width)
    }

    /// h += w · x. With the weights of the norm that follows and of the products after it, which take few vectors in one
    /// dispatch, it returns their input if it has computed that, too.
    fn add_product(
        &self,
        tracer: &mut Tracer<'_>,
        w: &Weight,
        x: ProductInput<'_>,
        tokens: usize,
        next: Option<(&Vector, &[&Weight])>,
    ) -> Result<Option<ProductInput<'_>>> {
        let h = self.rows(&self.state.h, tokens, self.model.width);
        let op = Gemv { residual: Some(h), ..self.product(w, x, h, tokens) };
        let tuning = &tracer.encoding.tuning;
        let norm = next.filter(|(_, weights)| {
            tuning.fuses_norms && x.packed && self.packed_input(tuning, weights, tokens).is_some()
        });
        let (Some((norm, _)), Some([packed, squares])) = (norm, &self.state.normed) else {
            gemv(&mut tracer.encoding, op)?;
            return Ok(None);
        };
        let (packed, squares, epsilon) = (packed.into(), squares.into(), self.model.epsilon);
        gemv_normed(&mut tracer.encoding, op, NormedOutput { w: norm.slice(), packed, squares })?;
        Ok(Some(ProductInput { slice: packed, packed: true, norm: Some(NormedInput { squares, epsilon }) }))
    }

    fn queries_keys_values(
        &self,
        tracer: &mut Tracer<'_>,
        layer: &LayerWeights,
        x: ProductInput<'_>,
        tokens: usize,
    ) -> Result<()> {
        let (model, state) = (&self.model, &self.state);
        let (q_width, kv_width) = (model.q_width(), model.kv_width());
        let outputs = [
            self.rows(&state.q, tokens, q_width),
            self.rows(&state.k, tokens, kv_width),
            self.rows(&state.v, tokens, kv_width),
        ];
        let biases = layer.biases.as_ref().map(|[q, k, v]| [q.slice(), k.slice(), v.slice()]);
        let LayerWeights { q, k, v, .. } = layer;
        if Parts::queries_are_fused(&tracer.encoding.tuning, layer, tokens) {
            let [q_out, k_out, v_out] = outputs;
            let op = GemvQkv {
                wq: q.matrix(),
                wk: k.matrix(),
                wv: v.matrix(),
                x: x.slice,
                q: q_out,
                k: k_out,
                v: v_out,
                biases,
                m: tokens,
                activation: self.activation,
                packed_x: x.packed,
            };
            match x.norm {
                Some(norm) => gemv_qkv_normed(&mut tracer.encoding, op, norm)?,
                None => gemv_qkv(&mut tracer.encoding, op)?,
            }
            return Ok(());
        }
        for (i, (w, y)) in [q, k, v].into_iter().zip(outputs).enumerate() {
            let bias = biases.map(|biases| biases[i]);
            gemv(&mut tracer.encoding, Gemv { bias, ..self.product(w, x, y, tokens) })?;
        }
        Ok(())
    }

    /// The hidden layer, for the last product. `x` is the normalized residual stream, if it is known.
    fn feed_forward<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        layer: &LayerWeights,
        x: Option<ProductInput<'a>>,
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let (model, state, activation) = (&self.model, &self.state, self.activation);
        let x = match x {
            Some(x) => x,
            None => self.norm(tracer, &layer.feed_forward_norm, &[&layer.gate, &layer.up], tokens)?,
        };
        let gate = self.rows(&state.gate, tokens, model.feed_forward);
        if Parts::gate_is_fused(&tracer.encoding.tuning, layer, tokens) {
            let (w, up) = (layer.gate.matrix(), layer.up.matrix());
            let packed = self.packed_input(&tracer.encoding.tuning, &[&layer.down], tokens);
            let slice = packed.map_or(gate, |[_, hidden]| hidden);
            let hidden = ProductInput { slice, packed: packed.is_some(), norm: None };
            let op = GemvGated {
                gate: w,
                up,
                x: x.slice,
                y: hidden.slice,
                m: tokens,
                activation,
                packed_x: x.packed,
                packed_y: hidden.packed,
            };
            match x.norm {
                Some(norm) => gemv_gated_normed(&mut tracer.encoding, op, norm)?,
                None => gemv_gated(&mut tracer.encoding, op)?,
            }
            Ok(hidden)
        } else {
            let up = state.up.as_ref().ok_or_else(|| {
                Error::Device(compute::Error::Internal("a plan has no room for both halves of a gate".into()))
            })?;
            let up = self.rows(up, tokens, model.feed_forward);
            gemv(&mut tracer.encoding, self.product(&layer.gate, x, gate, tokens))?;
            gemv(&mut tracer.encoding, self.product(&layer.up, x, up, tokens))?;
            let (function, n) = (BinaryFunction::SiluMultiply, tokens * model.feed_forward);
            binary(&mut tracer.encoding, Binary { function, a: gate, b: up, y: gate, n, activation })?;
            self.pack(tracer, &layer.down, gate, tokens, model.feed_forward)
        }
    }
}
