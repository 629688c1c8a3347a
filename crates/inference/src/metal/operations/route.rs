//! The choice of experts for each token: `route` of `experts.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::experts as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

pub use crate::metal::kernels::experts::{MAX_EXPERTS, MAX_USED};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "route",
    kernels: &["route"],
    variants: Variants::Activations,
    shape: "M=512 E=128 U=8",
    checks: &["M=3 E=40 U=5", "M=2 E=16 U=4 R=1", "M=5 E=70 U=3 R=2"],
    bytes: |c| c.a(c.m() * c.e()) + 8.0 * c.m() * c.u(),
    flops: |c| c.m() * c.e() * (3.0 + c.u()),
    build,
}];

/// Function of the router's logits that weights the experts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// A softmax over all experts.
    Softmax,
    /// A softmax over the experts that are used, which have the largest logits.
    SoftmaxOfUsed,
    /// A sigmoid of each logit.
    Sigmoid,
}

/// The choice of experts, as a model fixes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Router {
    /// Number of experts: at most [`MAX_EXPERTS`].
    pub experts: usize,
    /// Experts of a token: at most [`MAX_USED`].
    pub used: usize,
    /// Function of the logits.
    pub routing: Routing,
    /// Divides the weights of a token by their sum.
    pub normalized: bool,
    /// Factor of the weights.
    pub scale: f32,
}

/// [`route`]: the experts of each token and their weights, the largest first.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// `[tokens, experts]` activations.
    pub logits: BufferSlice<'a>,
    /// `[experts]` f32, added to the weights for the choice only.
    pub selection_bias: Option<BufferSlice<'a>>,
    /// `[tokens, used]` f32.
    pub weights: BufferSlice<'a>,
    /// The experts.
    pub chosen: Chosen<'a>,
    /// Number of tokens.
    pub tokens: usize,
    /// Number of experts, and function of the logits.
    pub router: Router,
    /// The type of the logits.
    pub activation: Activation,
}

/// Chosen experts. A pair is a token with one of its experts.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// `[tokens, used]` u32: experts, to be sorted ([`super::group_experts`]).
    Experts(BufferSlice<'a>),
    /// `[tokens, used]` [`super::ExpertTile`] each: tables of products of one vector for each pair.
    Tiles {
        /// For products whose vectors are tokens.
        tokens: BufferSlice<'a>,
        /// For products whose vectors are pairs.
        pairs: BufferSlice<'a>,
    },
}

impl Router {
    /// Checks the numbers of experts.
    pub(super) fn check(&self, check: &Check<'_>) -> Result<[u32; 2]> {
        let Router { experts, used, .. } = *self;
        match (1..=MAX_EXPERTS).contains(&experts) && (1..=MAX_USED.min(experts)).contains(&used) {
            true => Ok([experts as u32, used as u32]),
            false => check.error(format_args!(
                "{used} of {experts} experts: there must be at most {MAX_EXPERTS}, of which 1 to {MAX_USED} are used"
            )),
        }
    }
}

/// Chooses experts for each token.
pub fn route(encoding: &mut Encoding<'_>, op: Route<'_>) -> Result<()> {
    let kernel = kernels::Route::select(op.activation);
    let check = Check::new("route", kernel.info());
    let [expert_count, used] = op.router.check(&check)?;
    check.room("logits", &op.logits, &[op.tokens, op.router.experts])?;
    let pairs = [op.tokens, op.router.used];
    check.room("weights", &op.weights, &pairs)?;
    let (experts, token_tiles, pair_tiles) = match op.chosen {
        Chosen::Experts(experts) => {
            check.room("experts", &experts, &pairs)?;
            (Some(experts), None, None)
        }
        Chosen::Tiles { tokens, pairs: of_pairs } => {
            check.room("token_tiles", &tokens, &pairs)?;
            check.room("pair_tiles", &of_pairs, &pairs)?;
            (None, Some(tokens), Some(of_pairs))
        }
    };
    if let Some(bias) = &op.selection_bias {
        check.room("selection_bias", bias, &[op.router.experts])?;
    }
    if op.tokens == 0 {
        return Ok(());
    }
    check.count("tokens · used", op.tokens.saturating_mul(op.router.used))?;
    let routing = match op.router.routing {
        Routing::Softmax => kernels::ROUTING_SOFTMAX,
        Routing::SoftmaxOfUsed => kernels::ROUTING_SOFTMAX_OF_USED,
        Routing::Sigmoid => kernels::ROUTING_SIGMOID,
    };
    let constants = kernels::RouteConstants {
        expert_count,
        used,
        routing: routing as u32,
        normalized: op.router.normalized,
        routing_scale: op.router.scale,
        selection_bias: op.selection_bias.is_some(),
        sorted: experts.is_some(),
    };
    let (logits, weights, selection_bias) = (op.logits, op.weights, op.selection_bias);
    let arguments = kernels::RouteArgs { logits, weights, experts, token_tiles, pair_tiles, selection_bias };
    let sizes = [('M', op.tokens), ('E', op.router.experts), ('U', op.router.used)];
    encoding.describe(&OPERATIONS[0], op.activation, &sizes);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.tokens, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, activation) = (case.shape['M'], case.activation);
    let (experts, used) = (case.shape['E'], case.shape['U']);
    let routing = match case.shape.get('R') {
        Some(1) => Routing::SoftmaxOfUsed,
        Some(_) => Routing::Sigmoid,
        None => Routing::Softmax,
    };
    let (is_plain, scale) = (routing == Routing::Softmax, maker.parameter(1.0, 2.5));
    let router = Router { experts, used, routing, normalized: routing == Routing::Sigmoid, scale };
    let logits = maker.activations(&[tokens, experts], activation)?;
    let bias = (routing == Routing::Sigmoid).then(|| maker.activations(&[experts], Activation::F32)).transpose()?;
    let weights = maker.output("weights", &[tokens, used], Number::F32)?;
    // Half of the cases write tables.
    let tile = if is_plain { 1 } else { TILE_WORDS };
    let chosen = maker.output("chosen", &[tokens, used, tile], Number::U32)?;
    let more = maker.zeros(&[tokens, used, TILE_WORDS], 4)?;
    let bias_numbers = || bias.as_ref().map(|bias| bias.numbers());
    let choose = || {
        let numbers = logits.numbers();
        numbers
            .chunks(experts)
            .map(|row| chosen_experts(row, bias_numbers().as_deref(), &router))
            .collect::<Vec<_>>()
    };
    maker.expect(&weights, || choose().iter().flatten().map(|(_, weight)| *weight).collect());
    maker.expect(&chosen, || {
        let pairs = choose().into_iter().flatten().enumerate();
        pairs
            .flat_map(|(pair, (expert, _))| match is_plain {
                true => vec![expert as f64],
                false => [expert, 1, pair, pair].map(|number| number as f64).to_vec(),
            })
            .collect()
    });
    Ok(Box::new(move |encoding| {
        let selection_bias = bias.as_ref().map(all);
        let chosen = match is_plain {
            true => Chosen::Experts(chosen.slice()),
            false => Chosen::Tiles { tokens: all(&more), pairs: chosen.slice() },
        };
        let (logits, weights) = (all(&logits), weights.slice());
        route(encoding, Route { logits, selection_bias, weights, chosen, tokens, router, activation })
    }))
}

/// Numbers of a tile.
const TILE_WORDS: usize = 4;

/// The experts of a token and their weights.
fn chosen_experts(logits: &[f64], bias: Option<&[f64]>, router: &Router) -> Vec<(usize, f64)> {
    let values = match router.routing {
        Routing::Softmax => formulas::softmax(logits),
        Routing::SoftmaxOfUsed => logits.to_vec(),
        Routing::Sigmoid => logits.iter().map(|logit| formulas::sigmoid(*logit)).collect(),
    };
    let score = |expert: usize| values[expert] + bias.map_or(0.0, |bias| bias[expert]);
    let mut order: Vec<usize> = (0..router.experts).collect();
    order.sort_by(|one, other| score(*other).total_cmp(&score(*one)));
    order.truncate(router.used);
    let chosen: Vec<f64> = order.iter().map(|expert| values[*expert]).collect();
    let weights = match (router.routing, router.normalized) {
        (Routing::SoftmaxOfUsed, _) => formulas::softmax(&chosen),
        (_, true) => chosen.iter().map(|value| value / chosen.iter().sum::<f64>()).collect(),
        (_, false) => chosen,
    };
    order.into_iter().zip(weights).map(|(expert, weight)| (expert, weight * f64::from(router.scale))).collect()
}
