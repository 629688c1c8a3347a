//! Encodes mixtures of experts.
//!
//! ```text
//! x ── router ── route ─┬─ few tokens: a tile for each pair of a token and an expert ───┬─ gate, up ── down ── sum, add
//!                       └─ many: group by expert, gather their inputs in this order ────┘
//! x ── the expert that all tokens use, if there is one, and its factor ─────────────────────────────────── sum
//! ```

use super::{PackedSlot, Parts, ProductInput};
use crate::arch::ExpertsShape;
use crate::error::{Error, Result};
use crate::metal::library::BufferSlice;
use crate::metal::operations::{Binary, BinaryFunction, binary};
use crate::metal::operations::{Chosen, Route, route};
use crate::metal::operations::{ExpertGate, ExpertTile, ExpertTiles, MAX_BATCH, expert_tile};
use crate::metal::operations::{GatherRows, gather_rows};
use crate::metal::operations::{Gemv, gemv};
use crate::metal::operations::{GemvExperts, GemvGatedExperts, gemv_experts, gemv_gated_experts};
use crate::metal::operations::{GroupExperts, group_experts};
use crate::metal::operations::{PACKED_BYTES, PACKED_NUMBERS};
use crate::metal::operations::{Pack, pack};
use crate::metal::operations::{SharedExpert, SumExperts, sum_experts};
use crate::plan::state::{ExpertState, first};
use crate::plan::table::Tracer;
use crate::plan::weights::{ExpertWeight, ExpertsWeights, SharedExpertWeights};

/// Results of the experts of each token, not added yet.
#[derive(Clone, Copy)]
pub(super) struct ExpertOutputs<'a> {
    /// `[tokens · used, width]`
    x: BufferSlice<'a>,
    weights: BufferSlice<'a>,
    rows: Option<BufferSlice<'a>>,
    used: usize,
    /// The expert that all tokens use.
    shared: Option<SharedExpert<'a>>,
}

/// The vectors of the experts.
struct ExpertInputs<'a> {
    x: ProductInput<'a>,
    rows: usize,
    /// Of products with the inputs, and with hidden layers.
    tiles: [ExpertTiles<'a>; 2],
    /// Places of the pairs, if they are sorted.
    sorted: Option<BufferSlice<'a>>,
}

impl Parts {
    /// Runs the experts of each token.
    pub(super) fn experts<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        layer: (&ExpertsShape, &'a ExpertsWeights),
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<ExpertOutputs<'a>> {
        let (shape, weights) = layer;
        let state = self.state.experts.as_ref().ok_or_else(|| internal("a plan has no room for experts"))?;
        let pairs = tokens * shape.router.used;
        let logits = self.rows(&state.logits, tokens, shape.router.experts);
        let bias = weights.router_bias.as_ref().map(|bias| bias.slice());
        gemv(&mut tracer.encoding, Gemv { bias, ..self.product(&weights.router, x, logits, tokens) })?;
        let numbers = x;
        let x = self.packed_for_experts(tracer, weights, x, tokens)?;
        let shared = match &weights.shared {
            Some(shared) => Some(self.shared_expert(tracer, state, shared, [numbers, x], tokens)?),
            None => None,
        };
        let inputs = self.choose_experts(tracer, state, layer, x, tokens)?;
        let hidden = self.hidden_layers(tracer, state, layer, &inputs, pairs)?;
        let y = self.rows(&state.output, pairs, self.model.width);
        let bias = weights.biases.as_ref().map(|[_, _, down]| down.slice());
        let op = self.expert_product(&weights.down, hidden, pairs, y, inputs.tiles[1]);
        gemv_experts(&mut tracer.encoding, GemvExperts { bias, ..op })?;
        let weights = first(&state.weights, &[pairs], 4);
        Ok(ExpertOutputs { x: y, weights, rows: inputs.sorted, used: shape.router.used, shared })
    }

    /// Runs the expert that all tokens use. `inputs` are for products that take no packed ones, and for the others.
    fn shared_expert<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        state: &'a ExpertState,
        weights: &'a SharedExpertWeights,
        inputs: [ProductInput<'a>; 2],
        tokens: usize,
    ) -> Result<SharedExpert<'a>> {
        let [numbers, packed] = inputs;
        let Some([factor, y]) = &state.shared else {
            return Err(internal("a plan has no room for a shared expert"));
        };
        let (factor, y) = (self.rows(factor, tokens, 1), self.rows(y, tokens, self.model.width));
        if let Some(w) = &weights.factor {
            gemv(&mut tracer.encoding, self.product(w, numbers, factor, tokens))?;
        }
        let factor = weights.factor.is_some().then_some(factor);
        let takes_packed = weights.network.inputs().all(|weight| weight.takes_packed());
        let x = if takes_packed { packed } else { numbers };
        let hidden = self.hidden_layer(tracer, &weights.network, x, tokens)?;
        gemv(&mut tracer.encoding, self.product(&weights.network.down, hidden, y, tokens))?;
        Ok(SharedExpert { factor, x: y })
    }

    /// Packs the input, if products with gate and up take it packed, but not that with the router.
    fn packed_for_experts<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        weights: &ExpertsWeights,
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<ProductInput<'a>> {
        let matrices = [&weights.gate.each, &weights.up.each];
        match self.packed_input(&tracer.encoding.tuning, &matrices, tokens) {
            Some(slots) if !x.packed => {
                let y = slots[PackedSlot::Input as usize];
                let n = tokens * self.model.width;
                pack(&mut tracer.encoding, Pack { x: x.slice, y, n, activation: self.activation })?;
                Ok(ProductInput { slice: y, packed: true, norm: None, rounded: None })
            }
            _ => Ok(x),
        }
    }

    /// Chooses experts, and sorts the inputs by expert if there are many.
    fn choose_experts<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        state: &'a ExpertState,
        layer: (&ExpertsShape, &ExpertsWeights),
        x: ProductInput<'a>,
        tokens: usize,
    ) -> Result<ExpertInputs<'a>> {
        let (shape, weights) = layer;
        let (router, encoding) = (shape.router, &mut tracer.encoding);
        let pairs = tokens * router.used;
        // Products with numbers take smaller tiles than those with packed vectors.
        let is_packed = x.packed && weights.down.each.takes_packed();
        let tile = expert_tile(&encoding.tuning, pairs, router.experts, is_packed);
        let is_sorted = tile > 1;
        let (experts, [token_tiles, pair_tiles]) =
            ((&state.experts).into(), state.tiles.each_ref().map(Into::into));
        let op = Route {
            logits: self.rows(&state.logits, tokens, router.experts),
            selection_bias: weights.selection_bias.as_ref().map(|bias| bias.slice()),
            weights: first(&state.weights, &[pairs], 4),
            chosen: match is_sorted {
                true => Chosen::Experts(experts),
                false => Chosen::Tiles { tokens: token_tiles, pairs: pair_tiles },
            },
            tokens,
            router,
            activation: self.activation,
        };
        route(encoding, op)?;
        if !is_sorted {
            let tiles = [token_tiles, pair_tiles].map(|table| ExpertTiles { table, count: pairs, vectors: 1 });
            return Ok(ExpertInputs { x, rows: tokens, tiles, sorted: None });
        }
        let (tokens_of_rows, rows) = ((&state.tokens).into(), (&state.rows).into());
        let tiles = token_tiles;
        group_experts(encoding, GroupExperts { experts, tiles, tokens_of_rows, rows, tokens, router, tile })?;
        let width = self.model.width;
        let row_bytes = match x.packed {
            true => width / PACKED_NUMBERS * PACKED_BYTES,
            false => width * self.activation.size(),
        };
        let y = (&state.input).into();
        let op = GatherRows { x: x.slice, x_rows: tokens, rows: tokens_of_rows, y, count: pairs, row_bytes };
        gather_rows(encoding, op)?;
        let count = GroupExperts::tiles(pairs, router.experts, tile);
        let tiles = [ExpertTiles { table: tiles, count, vectors: tile }; 2];
        let x = ProductInput { slice: y, rounded: None, ..x };
        Ok(ExpertInputs { x, rows: pairs, tiles, sorted: Some(rows) })
    }

    /// The hidden layers of all pairs.
    fn hidden_layers<'a>(
        &'a self,
        tracer: &mut Tracer<'_>,
        state: &'a ExpertState,
        layer: (&ExpertsShape, &ExpertsWeights),
        inputs: &ExpertInputs<'a>,
        pairs: usize,
    ) -> Result<ProductInput<'a>> {
        let (shape, weights) = layer;
        let (tiles, x, activation) = (inputs.tiles[0], inputs.x, self.activation);
        let takes_packed = weights.down.each.takes_packed() && x.packed;
        let packed = state.packed_hidden.as_ref().filter(|_| takes_packed);
        let numbers = self.rows(&state.gate, pairs, shape.width);
        let biases = weights.biases.as_ref().map(|[gate, up, _]| [gate.slice(), up.slice()]);
        let (gate, up) = (&weights.gate, &weights.up);
        if tiles.vectors <= MAX_BATCH && gate.each.is_stored_like(&up.each) {
            let y = packed.map_or(numbers, Into::into);
            let op = GemvGatedExperts {
                gate: gate.matrices(),
                up: up.matrices(),
                x: x.slice,
                x_rows: inputs.rows,
                y,
                biases,
                function: shape.gate,
                m: pairs,
                tiles,
                activation,
                packed_x: x.packed,
                packed_y: packed.is_some(),
            };
            gemv_gated_experts(&mut tracer.encoding, op)?;
            return Ok(ProductInput { slice: y, packed: packed.is_some(), norm: None, rounded: None });
        }
        let up_numbers = self.rows(&state.up, pairs, shape.width);
        for (i, (w, y)) in [(gate, numbers), (up, up_numbers)].into_iter().enumerate() {
            let bias = biases.map(|biases| biases[i]);
            let op = self.expert_product(w, x, inputs.rows, y, tiles);
            gemv_experts(&mut tracer.encoding, GemvExperts { bias, m: pairs, ..op })?;
        }
        let (function, n) = (function_of(shape.gate), pairs * shape.width);
        let op = Binary { function, a: numbers, b: up_numbers, y: numbers, n, activation };
        binary(&mut tracer.encoding, op)?;
        let Some(y) = packed else {
            return Ok(ProductInput { slice: numbers, packed: false, norm: None, rounded: None });
        };
        pack(&mut tracer.encoding, Pack { x: numbers, y: y.into(), n, activation })?;
        Ok(ProductInput { slice: y.into(), packed: true, norm: None, rounded: None })
    }

    fn expert_product<'a>(
        &self,
        w: &'a ExpertWeight,
        x: ProductInput<'a>,
        rows: usize,
        y: BufferSlice<'a>,
        tiles: ExpertTiles<'a>,
    ) -> GemvExperts<'a> {
        let (w, activation, packed_x) = (w.matrices(), self.activation, x.packed);
        GemvExperts { w, x: x.slice, x_rows: rows, y, bias: None, m: rows, tiles, activation, packed_x }
    }

    /// y = residual + the weighted sum of each token's experts.
    pub(super) fn sum_experts(
        &self,
        tracer: &mut Tracer<'_>,
        outputs: ExpertOutputs<'_>,
        residual: Option<BufferSlice<'_>>,
        y: BufferSlice<'_>,
        tokens: usize,
    ) -> Result<()> {
        let ExpertOutputs { x, weights, rows, used, shared } = outputs;
        let (n, activation) = (self.model.width, self.activation);
        let op = SumExperts { x, weights, rows, shared, residual, y, m: tokens, n, used, activation };
        Ok(sum_experts(&mut tracer.encoding, op)?)
    }
}

fn function_of(gate: ExpertGate) -> BinaryFunction {
    match gate {
        ExpertGate::Silu => BinaryFunction::SiluMultiply,
        ExpertGate::ClampedSwiglu => BinaryFunction::ClampedSwiglu,
    }
}

fn internal(problem: &str) -> Error {
    Error::Device(compute::Error::Internal(problem.into()))
}

impl ExpertState {
    /// Number of tiles that there is room for, with `pairs` of a token and an expert.
    pub(in crate::plan) fn most_tiles(pairs: usize, experts: usize) -> usize {
        // Sorted pairs have at least two vectors in a whole tile, unsorted ones are a tile each.
        GroupExperts::tiles(pairs, experts, 2).max(pairs)
    }

    /// Bytes of a tile.
    pub(in crate::plan) const TILE_BYTES: usize = size_of::<ExpertTile>();
}
