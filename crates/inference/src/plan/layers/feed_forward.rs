//! Encodes dense feed-forward networks.

use super::{PackedSlot, Parts, ProductInput};
use crate::error::{Error, Result};
use crate::metal::operations::{Binary, BinaryFunction, binary};
use crate::metal::operations::{GateFunction, GemvGated, gemv_gated, gemv_gated_normed};
use crate::metal::operations::{Gemv, gemv_rounded};
use crate::metal::operations::{Unary, unary};
use crate::plan::table::Tracer;
use crate::plan::weights::{DenseWeights, Vector};

impl Parts {
    /// The hidden layer, for the last product.
    pub(super) fn hidden_layer<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        weights: &DenseWeights,
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let (state, activation) = (&self.state, self.activation);
        let up_w = weights.up.matrix();
        let gate = self.rows(&state.gate, tokens, up_w.rows);
        if let Some(fused) = weights.fused_gate(&tracer.encoding.tuning, tokens) {
            let packed = self.packed_input(&tracer.encoding.tuning, &[&weights.down], tokens);
            let slice = packed.map_or(gate, |[_, hidden]| hidden);
            let hidden = ProductInput { slice, packed: packed.is_some(), norm: None, rounded: None };
            let op = GemvGated {
                gate: fused.matrix(),
                up: up_w,
                x: x.slice,
                y: hidden.slice,
                function: self.model.architecture.gate,
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
        } else if let Some(gate_w) = &weights.gate {
            let up = state.up.as_ref().ok_or_else(|| {
                Error::Device(compute::Error::Internal("a plan has no room for both halves of a gate".into()))
            })?;
            let up = self.rows(up, tokens, up_w.rows);
            gemv_rounded(&mut tracer.encoding, self.product(gate_w, x, gate, tokens), x.rounded)?;
            gemv_rounded(&mut tracer.encoding, self.product(&weights.up, x, up, tokens), x.rounded)?;
            let n = tokens * up_w.rows;
            let function = match self.model.architecture.gate {
                GateFunction::Silu => BinaryFunction::SiluMultiply,
                GateFunction::Gelu => BinaryFunction::GeluMultiply,
            };
            binary(&mut tracer.encoding, Binary { function, a: gate, b: up, y: gate, n, activation })?;
            self.pack(tracer, &[&weights.down], gate, PackedSlot::Hidden, [tokens, up_w.rows])
        } else {
            let function = self.model.architecture.ungated.ok_or_else(|| {
                Error::Device(compute::Error::Internal("a network has neither a gate nor another function".into()))
            })?;
            let bias = weights.up_bias.as_ref().map(Vector::slice);
            let op = Gemv { bias, ..self.product(&weights.up, x, gate, tokens) };
            gemv_rounded(&mut tracer.encoding, op, x.rounded)?;
            let n = tokens * up_w.rows;
            unary(&mut tracer.encoding, Unary { function, x: gate, y: gate, n, activation })?;
            self.pack(tracer, &[&weights.down], gate, PackedSlot::Hidden, [tokens, up_w.rows])
        }
    }
}
