//! Encodes gated delta-nets: products, convolution, the recurrence, and the gated norm.

use super::{Parts, ProductInput};
use crate::arch::DeltaNetLayer;
use crate::error::{Error, Result};
use crate::metal::operations::{CausalConv, DeltaNet, causal_conv, delta_net};
use crate::metal::operations::{GatedRmsNorm, gated_rms_norm};
use crate::metal::operations::{GemvQkv, gemv, gemv_qkv};
use crate::plan::table::{Quantity, Tracer};
use crate::plan::weights::{DeltaNetWeights, Norm, Weight};

impl Parts {
    /// The normalized residual stream for products that take numbers.
    fn unpacked_input<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        norm: Option<&Norm>,
        weights: &[&Weight],
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let [h, x] = [&self.state.h, &self.state.x].map(|buffer| self.rows(buffer, tokens, self.model.width));
        match norm {
            Some(norm) => self.norm(tracer, norm, [h, x], weights, tokens),
            None => Ok(ProductInput { slice: h, packed: false, norm: None, rounded: None }),
        }
    }

    /// The output of a gated delta-net, for the last product of it. `norm` is that of its input.
    pub(super) fn delta_net<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        layer: (usize, &DeltaNetLayer, &'a DeltaNetWeights),
        norm: Option<&Norm>,
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let (index, shape, weights) = layer;
        let DeltaNetLayer { heads, key_heads, head_dim } = *shape;
        let (activation, channels, width) = (self.activation, shape.channels(), shape.width());
        let state = self.state.recurrent.as_ref().ok_or_else(|| {
            Error::Device(compute::Error::Internal("a plan has no memory for recurrent layers".into()))
        })?;
        let [mixed, convolved] = [&state.mixed, &state.convolved].map(|buffer| self.rows(buffer, tokens, channels));
        let [z, y] = [&state.z, &state.output].map(|buffer| self.rows(buffer, tokens, width));
        let [alpha, beta] = [&state.alpha, &state.beta].map(|buffer| self.rows(buffer, tokens, heads));
        gemv(&mut tracer.encoding, self.product(&weights.z, x, z, tokens))?;
        if weights.gates_are_fused(&tracer.encoding.tuning, tokens) {
            let op = GemvQkv {
                wq: weights.qkv.matrix(),
                wk: weights.alpha.matrix(),
                wv: weights.beta.matrix(),
                x: x.slice,
                q: mixed,
                k: alpha,
                v: beta,
                biases: None,
                m: tokens,
                activation,
                packed_x: x.packed,
            };
            gemv_qkv(&mut tracer.encoding, op)?;
        } else {
            gemv(&mut tracer.encoding, self.product(&weights.qkv, x, mixed, tokens))?;
            let x = match weights.gates_are_apart() && x.packed {
                true => self.unpacked_input(tracer, norm, &weights.gates(), tokens)?,
                false => x,
            };
            gemv(&mut tracer.encoding, self.product(&weights.alpha, x, alpha, tokens))?;
            gemv(&mut tracer.encoding, self.product(&weights.beta, x, beta, tokens))?;
        }

        let [conv_state, delta_state] = state.layer(index)?;
        let rows = self.state.cache_rows(tracer.each, tokens)?;
        let (state_stride, sequences, is_chunk) = (state.stride, self.state.sequences, !tracer.each);
        if is_chunk {
            tracer.patch(CausalConv::FIRST, Quantity::First);
            tracer.patch(CausalConv::COUNT, Quantity::Count);
        }
        self.patch_sequence(tracer, CausalConv::SEQUENCE, Quantity::Sequence);
        let op = CausalConv {
            x: mixed,
            w: weights.conv.slice(),
            state: conv_state,
            y: convolved,
            rows,
            state_stride,
            sequences,
            tokens,
            count: tokens,
            first: 0,
            heads: 2 * key_heads + heads,
            normed: 2 * key_heads,
            head_dim,
            activation,
        };
        causal_conv(&mut tracer.encoding, op)?;
        if is_chunk {
            tracer.patch(DeltaNet::FIRST, Quantity::First);
            tracer.patch(DeltaNet::COUNT, Quantity::Count);
        }
        self.patch_sequence(tracer, DeltaNet::SEQUENCE, Quantity::Sequence);
        let op = DeltaNet {
            qkv: convolved,
            alpha,
            beta,
            decay: weights.decay.slice(),
            bias: weights.bias.slice(),
            state: delta_state,
            y,
            rows,
            state_stride,
            sequences,
            tokens,
            count: tokens,
            first: 0,
            heads,
            key_heads,
            adjacent: self.model.adjacent_heads,
            head_dim,
            activation,
        };
        delta_net(&mut tracer.encoding, op)?;
        let packed = self.packed_input(&tracer.encoding.tuning, &[&weights.output], tokens);
        let (gated, packed_y) = (packed.map_or(y, |[input, _]| input), packed.is_some());
        let op = GatedRmsNorm {
            x: y,
            z,
            w: weights.norm.slice(),
            y: gated,
            rows: tokens,
            heads,
            head_dim,
            epsilon: self.model.epsilon,
            activation,
            packed_y,
        };
        gated_rms_norm(&mut tracer.encoding, op)?;
        Ok(ProductInput { slice: gated, packed: packed_y, norm: None, rounded: None })
    }
}
