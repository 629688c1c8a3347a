//! Encodes attention: queries, keys and values, their norms and rotation, and attention over the KV cache.

use super::{PackedSlot, Parts, ProductInput};
use crate::arch::{AttentionLayer, QkNorm, Rope};
use crate::error::Result;
use crate::metal::library::BufferSlice;
use crate::metal::operations::CacheRows;
use crate::metal::operations::PACKED_NUMBERS;
use crate::metal::operations::{
    AttentionDecode, AttentionPrefill, AttentionShape, AttentionSplit, attention_decode, attention_prefill,
};
use crate::metal::operations::{GateHeads, QueryNorm, gate_heads, query_norm};
use crate::metal::operations::{Gemv, gemv_rounded};
use crate::metal::operations::{GemvQkv, gemv_qkv, gemv_qkv_normed};
use crate::metal::operations::{HeadRmsNorm, RmsNorm, head_rms_norm, rms_norm};
use crate::metal::operations::{Rope as RopeHeads, rope};
use crate::metal::operations::{RopeKv, Rotation, rope_kv};
use crate::plan::state::{first, split_count};
use crate::plan::table::{Quantity, Tracer};
use crate::plan::weights::{AttentionWeights, Vector};

impl Parts {
    /// The output of attention, for the last product of it.
    pub(super) fn attention<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        layer: (usize, &AttentionLayer, &AttentionWeights),
        x: ProductInput<'a>,
        tokens: usize,
        splits: bool,
    ) -> Result<ProductInput<'a>> {
        let (index, shape, weights) = layer;
        let (state, activation) = (&self.state, self.activation);
        let (q_width, kv_width) = (shape.q_width(), shape.kv_width());
        let (q, k, v) = (
            self.rows(&state.q, tokens, q_width),
            self.rows(&state.k, tokens, kv_width),
            self.rows(&state.v, tokens, kv_width),
        );
        self.queries_keys_values(tracer, shape, weights, x, tokens)?;
        let gates = self.query_product(shape, tokens);
        let kind = shape.rope.map(|kind| self.model.rope(kind));
        let rows = state.cache_rows(tracer.each, tokens)?;
        let positions = match rows {
            CacheRows::Sequence(_) => first(&state.positions, &[tokens], 4),
            CacheRows::Each { positions, .. } => positions,
        };
        let rotation = Rotation {
            frequencies: state.frequencies(shape.rope).into(),
            positions,
            rotary: self.model.rope.rotary,
            neox: self.model.neox,
            magnitude: kind.map_or(1.0, Rope::magnitude),
        };
        let rotation = match self.model.architecture.norm_after_rope {
            true => {
                self.rotate(tracer, shape, rotation, [q, k], tokens)?;
                Rotation { frequencies: state.frequencies(None).into(), magnitude: 1.0, ..rotation }
            }
            false => rotation,
        };
        if let Some([q_norm, k_norm]) = &weights.qk_norms {
            if shape.gated {
                let (heads, head_dim, epsilon) = (shape.heads, shape.head_dim, self.model.epsilon);
                let (x, w, y, rows) = (gates, q_norm.slice(), q, tokens);
                let op = QueryNorm { x, w, y, rows, heads, head_dim, epsilon, activation };
                query_norm(&mut tracer.encoding, op)?;
            } else {
                self.norm_heads(tracer, q_norm, q, [tokens, shape.heads, shape.head_dim])?;
            }
            self.norm_heads(tracer, k_norm, k, [tokens, shape.kv_heads, shape.head_dim])?;
        }
        let cache = state.cache(index, rows)?;
        self.patch_sequence(tracer, RopeKv::SEQUENCE, Quantity::Sequence);
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
                heads: shape.heads,
                q_stride: q_width,
                k_stride: kv_width,
                v_stride: kv_width,
                activation,
            },
        )?;
        let AttentionLayer { heads, head_dim, scale, soft_cap, window, .. } = *shape;
        let y = self.rows(&state.attended, tokens, q_width);
        let attention = AttentionShape { heads, scale, soft_cap, window };
        let sinks = weights.sinks.as_ref().map(|sinks| sinks.slice());
        if tokens == 1 || tracer.each {
            if !tracer.each {
                tracer.patch(AttentionDecode::LENGTH, Quantity::Length);
            }
            self.patch_sequence(tracer, AttentionDecode::SEQUENCE, Quantity::Sequence);
            let tuning = &tracer.encoding.tuning;
            let scratch = state.parts.as_ref().filter(|_| splits);
            let split = scratch.zip(split_count(tuning, shape, cache.capacity, tokens)).map(|(scratch, count)| {
                let wide = tuning.attention_wide(head_dim, cache.ty);
                AttentionSplit { count, scratch: scratch.into(), wide }
            });
            let packed = self.packed_input(tuning, &[&weights.output], tokens);
            let packed = packed.filter(|_| !shape.gated && split.is_some() && AttentionDecode::can_pack(head_dim));
            let (y, packed_y) = (packed.map_or(y, |[input, _]| input), packed.is_some());
            let op =
                AttentionDecode { q, cache, y, length: 1, shape: attention, sinks, split, activation, packed_y };
            attention_decode(&mut tracer.encoding, op)?;
            if packed_y {
                return Ok(ProductInput { slice: y, packed: true, norm: None, rounded: None });
            }
        } else {
            tracer.patch(AttentionPrefill::POSITION, Quantity::First);
            self.patch_sequence(tracer, AttentionPrefill::SEQUENCE, Quantity::Sequence);
            let op = AttentionPrefill { q, cache, y, tokens, position: 0, shape: attention, sinks, activation };
            attention_prefill(&mut tracer.encoding, op)?;
        }
        if shape.gated {
            let packed = self.packed_input(&tracer.encoding.tuning, &[&weights.output], tokens);
            let packed = packed.filter(|_| head_dim.is_multiple_of(PACKED_NUMBERS));
            let (gated, packed_y) = (packed.map_or(y, |[input, _]| input), packed.is_some());
            let (a, x, y, rows) = (y, gates, gated, tokens);
            gate_heads(&mut tracer.encoding, GateHeads { a, x, y, rows, heads, head_dim, activation, packed_y })?;
            if packed_y {
                return Ok(ProductInput { slice: gated, packed: true, norm: None, rounded: None });
            }
        }
        self.pack(tracer, &[&weights.output], y, PackedSlot::Input, [tokens, q_width])
    }

    /// Rotates queries and keys in place.
    fn rotate(
        &self,
        tracer: &mut Tracer<'_>,
        shape: &AttentionLayer,
        rotation: Rotation<'_>,
        rows: [BufferSlice<'_>; 2],
        tokens: usize,
    ) -> Result<()> {
        let (head_dim, activation) = (shape.head_dim, self.activation);
        for (x, heads) in rows.into_iter().zip([shape.heads, shape.kv_heads]) {
            let stride = heads * head_dim;
            let op = RopeHeads { x, y: x, rotation, tokens, heads, head_dim, stride, activation };
            rope(&mut tracer.encoding, op)?;
        }
        Ok(())
    }

    /// Normalizes `[tokens, heads, head_dim]` queries or keys in place.
    fn norm_heads(
        &self,
        tracer: &mut Tracer<'_>,
        w: &Vector,
        x: BufferSlice<'_>,
        [rows, heads, head_dim]: [usize; 3],
    ) -> Result<()> {
        let (w, epsilon, activation, stride) = (w.slice(), self.model.epsilon, self.activation, heads * head_dim);
        if self.model.architecture.qk_norm == QkNorm::Whole {
            let op = RmsNorm { x, w, y: x, rows, dim: stride, epsilon, activation, packed_y: false };
            return Ok(rms_norm(&mut tracer.encoding, op)?);
        }
        let op = HeadRmsNorm { x, w, rows, heads, head_dim, stride, epsilon, activation };
        Ok(head_rms_norm(&mut tracer.encoding, op)?)
    }

    /// Output of the product for queries.
    fn query_product(&self, shape: &AttentionLayer, tokens: usize) -> BufferSlice<'_> {
        let state = &self.state;
        let buffer = state.gated_q.as_ref().filter(|_| shape.gated).unwrap_or(&state.q);
        self.rows(buffer, tokens, shape.query_rows())
    }

    fn queries_keys_values(
        &self,
        tracer: &mut Tracer<'_>,
        shape: &AttentionLayer,
        weights: &AttentionWeights,
        x: ProductInput<'_>,
        tokens: usize,
    ) -> Result<()> {
        let (state, kv_width) = (&self.state, shape.kv_width());
        let outputs = [
            self.query_product(shape, tokens),
            self.rows(&state.k, tokens, kv_width),
            self.rows(&state.v, tokens, kv_width),
        ];
        let biases = weights.biases.as_ref().map(|[q, k, v]| [q.slice(), k.slice(), v.slice()]);
        let AttentionWeights { q, k, v, .. } = weights;
        if weights.queries_are_fused(&tracer.encoding.tuning, tokens) {
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
            gemv_rounded(&mut tracer.encoding, Gemv { bias, ..self.product(w, x, y, tokens) }, x.rounded)?;
        }
        Ok(())
    }
}
