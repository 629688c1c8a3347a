//! Mixtures of experts: number, choice and function of the experts of a model.

use super::keys::Keys;
use super::layer::FeedForwardShape;
use crate::error::Result;
use crate::metal::operations::{ExpertGate, MAX_EXPERTS, MAX_USED, Router, Routing};

/// Experts of an architecture. Keys of a file override the choice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExpertKind {
    /// Function of the router's logits.
    pub routing: Routing,
    /// Divides the weights of a token's experts by their sum.
    pub normalized: bool,
    /// Function of the gate and up projections.
    pub gate: ExpertGate,
    /// The router and all projections of experts must have biases. If false, they have none.
    pub biases: bool,
    /// One more expert, which all tokens use.
    pub shared: SharedExpert,
    /// Name of the biases for the choice.
    pub selection_bias: &'static str,
}

/// One more expert, which all tokens use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedExpert {
    /// There is none.
    None,
    /// With a factor of each token.
    Factored,
    /// Without one. Some models of an architecture may have no such expert.
    Plain,
}

impl ExpertKind {
    /// Those of most models.
    pub const USUAL: ExpertKind = ExpertKind {
        routing: Routing::Softmax,
        normalized: true,
        gate: ExpertGate::Silu,
        biases: false,
        shared: SharedExpert::None,
        selection_bias: "exp_probs_b.bias",
    };
}

/// Shape of a mixture of experts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExpertsShape {
    /// Number of experts, and choice of those of a token.
    pub router: Router,
    /// Width of the hidden layer of each.
    pub width: usize,
    /// Function of the gate and up projections.
    pub gate: ExpertGate,
    /// Router and projections have biases.
    pub biases: bool,
    /// Width of the hidden layer of the expert that all tokens use.
    pub shared: Option<usize>,
}

/// Shapes of the feed-forward network in each layer.
pub(super) fn feed_forward_layers(keys: &Keys<'_>, layers: usize) -> Result<Vec<FeedForwardShape>> {
    let Some(experts) = experts(keys)? else {
        let dense = |width| FeedForwardShape::Dense { width };
        return Ok(keys.counts("feed_forward_length", layers)?.into_iter().map(dense).collect());
    };
    let dense_layers: u64 = keys.optional("leading_dense_block_count")?.unwrap_or(0);
    let shape = |layer: usize| match (layer as u64) < dense_layers {
        true => Ok(FeedForwardShape::Dense { width: keys.counts("feed_forward_length", layers)?[layer] }),
        false => Ok(FeedForwardShape::Experts(experts)),
    };
    (0..layers).map(shape).collect()
}

/// The experts of a model; `None` if it has none.
fn experts(keys: &Keys<'_>) -> Result<Option<ExpertsShape>> {
    let count: u64 = keys.optional("expert_count")?.unwrap_or(0);
    if count == 0 {
        return Ok(None);
    }
    let used = keys.count("expert_used_count")?;
    let experts = keys.count("expert_count")?;
    if experts > MAX_EXPERTS || used > MAX_USED.min(experts) {
        return keys.reject(format_args!(
            "a token uses {used} of {experts} experts: at most {MAX_USED} of {MAX_EXPERTS} are supported"
        ));
    }
    let kind = keys.architecture.experts;
    let shared_count: Option<u64> = keys.optional("expert_shared_count")?;
    // Several shared experts are one that is as wide as all of them.
    let most_shared = match kind.shared {
        SharedExpert::None => 0,
        SharedExpert::Factored => 1,
        SharedExpert::Plain => u64::MAX,
    };
    for (key, what, most) in [
        ("expert_group_count", "groups of experts", 1),
        ("expert_shared_count", "shared experts", most_shared),
        ("interleave_moe_layer_step", "networks without experts between those with some", 1),
    ] {
        if let Some(number) = keys.optional::<u64>(key)?.filter(|number| *number > most) {
            return keys.reject(format_args!("{what} are not supported; it has {number}"));
        }
    }
    let routing = match keys.optional::<u64>("expert_gating_func")? {
        None | Some(0) => kind.routing,
        Some(1) => Routing::Softmax,
        Some(2) => Routing::Sigmoid,
        Some(3) => Routing::SoftmaxOfUsed,
        Some(other) => return keys.reject(format_args!("'expert_gating_func' is {other}, which is not supported")),
    };
    let router = Router {
        experts,
        used,
        routing,
        normalized: keys.optional("expert_weights_norm")?.unwrap_or(kind.normalized),
        scale: keys.optional("expert_weights_scale")?.filter(|scale| *scale != 0.0).unwrap_or(1.0),
    };
    let width = match keys.optional_count("expert_feed_forward_length")? {
        Some(width) => width,
        None => keys.count("feed_forward_length")?,
    };
    let shared = keys.optional_count_or_zero("expert_shared_feed_forward_length")?;
    let shared = match (kind.shared, shared) {
        (SharedExpert::None, _) => None,
        (SharedExpert::Factored, 0) => Some(keys.optional_count("feed_forward_length")?.unwrap_or(width)),
        (SharedExpert::Plain, 0) => {
            let count = shared_count.map_or(Ok(0), usize::try_from).unwrap_or(usize::MAX);
            Some(count.saturating_mul(width)).filter(|&width| width > 0)
        }
        (_, width) => Some(width),
    };
    Ok(Some(ExpertsShape { router, width, gate: kind.gate, biases: kind.biases, shared }))
}
