//! Encodes dense feed-forward networks.

use super::{PackedSlot, Parts, ProductInput};
use crate::error::{Error, Result};
use crate::metal::operations::gemv_rounded;
use crate::metal::operations::{Binary, BinaryFunction, binary};
use crate::metal::operations::{GateFunction, GemvGated, gemv_gated, gemv_gated_normed};
use crate::plan::table::Tracer;
use crate::plan::weights::DenseWeights;

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
        let (w, up_w) = (weights.gate.matrix(), weights.up.matrix());
        let gate = self.rows(&state.gate, tokens, w.rows);
        if weights.gate_is_fused(&tracer.encoding.tuning, tokens) {
            let packed = self.packed_input(&tracer.encoding.tuning, &[&weights.down], tokens);
            let slice = packed.map_or(gate, |[_, hidden]| hidden);
            let hidden = ProductInput { slice, packed: packed.is_some(), norm: None, rounded: None };
            let op = GemvGated {
                gate: w,
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
        } else {
            let up = state.up.as_ref().ok_or_else(|| {
                Error::Device(compute::Error::Internal("a plan has no room for both halves of a gate".into()))
            })?;
            let up = self.rows(up, tokens, w.rows);
            gemv_rounded(&mut tracer.encoding, self.product(&weights.gate, x, gate, tokens), x.rounded)?;
            gemv_rounded(&mut tracer.encoding, self.product(&weights.up, x, up, tokens), x.rounded)?;
            let n = tokens * w.rows;
            let function = match self.model.architecture.gate {
                GateFunction::Silu => BinaryFunction::SiluMultiply,
                GateFunction::Gelu => BinaryFunction::GeluMultiply,
            };
            binary(&mut tracer.encoding, Binary { function, a: gate, b: up, y: gate, n, activation })?;
            self.pack(tracer, &[&weights.down], gate, PackedSlot::Hidden, [tokens, w.rows])
        }
    }
}
