//! Kernels over sequences: gated delta rules, and parts of attention.

use super::{Content, case, kernels};
use crate::agreement::Offer;
use crate::harness::CaseGrid;
use metalworks_compute::ConstantValue;

/// Steps and heads of a gated delta rule; few of the kernel's heads are run.
const STEPS: usize = 11;
const RUN: usize = 2;

pub(crate) fn gated_delta() -> impl Iterator<Item = Offer> {
    let sequences = kernels("seq_gated_delta_", "gated_delta_seq").map(|kernel| (kernel, [32, 8, RUN]));
    let chunks =
        kernels("gated_delta_fused_chunk_", "gated_delta_fused_chunk").map(|kernel| (kernel, [32, 16, RUN]));
    // Threads of one threadgroup add to the same elements, in order.
    let gradients = kernels("seq_gated_delta_vjp_", "gated_delta_vjp_seq").map(|kernel| (kernel, [32, 4, 1]));
    sequences.chain(chunks).chain(gradients).map(|(kernel, threads)| {
        let [dk, dv, hk, hv, interval] = std::array::from_fn(|index| kernel.number(1 + index));
        let constants = vec![(200, ConstantValue::Bool(true))];
        let keys = STEPS * hk * dk;
        let values = STEPS * hv * dv;
        let states = RUN * dv * dk;
        case(&kernel.name.clone(), constants, CaseGrid::Threads(threads, [32, 4, 1]), move |argument| {
            Some(match argument {
                "q" | "k" => Content::Numbers(keys),
                "v" | "cot_o" => Content::Numbers(values),
                "g" | "beta" | "b" => Content::Numbers(STEPS * hv),
                "state_in" | "cot_h" => Content::Numbers(states),
                "state_cache" if kernel.name.contains("vjp") => Content::Numbers(STEPS.div_ceil(interval) * states),
                "state_cache" => Content::Written(STEPS.div_ceil(interval) * states),
                "y" | "dv" => Content::Written(values),
                "dq" | "dk" => Content::Written(keys),
                "dg" | "db" => Content::Written(STEPS * hv),
                "state_out" | "dh" => Content::Written(states),
                "T" => Content::int(STEPS),
                _ => return None,
            })
        })
    })
}

/// Attention in two passes whose first takes a group of heads at a time.
pub(crate) fn grouped() -> impl Iterator<Item = Offer> {
    kernels("sdpa_vector_2pass_1_gqa_", "sdpa_vector_2pass_1_gqa").map(|kernel| {
        let (width, group) = (kernel.number(1), kernel.number(3));
        let (heads, keys, blocks) = (2, 77, 3);
        let grid = CaseGrid::Threadgroups([heads, 1, blocks], [32, group, 1]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "queries" => Content::Numbers(heads * group * width),
                "keys" | "values" => Content::Numbers(heads * keys * width),
                "out" => Content::Written(heads * group * blocks * width),
                "sums" | "maxs" => Content::Written(heads * group * blocks),
                "N" => Content::int(keys),
                "k_head_stride" | "v_head_stride" => Content::longs(&[keys * width]),
                "k_seq_stride" | "v_seq_stride" => Content::longs(&[width]),
                "scale" => Content::float(0.3),
                _ => return None,
            })
        })
    })
}

/// Attention by blocks: the scaled queries, and the causal mask.
pub(crate) fn blocked() -> impl Iterator<Item = Offer> {
    let (heads, rows, width) = (3, 7, 64);
    let copies = kernels("sdpa_blocked_scale_copy_", "sdpa_blocked_scale_copy").map(move |kernel| {
        let grid = CaseGrid::Threads([width, rows, 2 * heads], [32, 2, 1]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "q" => Content::Numbers(2 * heads * (rows + 2) * width),
                "q_block" => Content::Written(2 * heads * rows * width),
                "scale" => Content::float(0.3),
                "q_strides" => Content::longs(&[heads * (rows + 2) * width, (rows + 2) * width, width]),
                "heads" => Content::int(heads),
                "rows" => Content::int(rows),
                "head_dim" => Content::int(width),
                "q_offset" => Content::int(2),
                _ => return None,
            })
        })
    });
    let masks = kernels("sdpa_blocked_causal_mask_", "sdpa_blocked_causal_mask").map(move |kernel| {
        let (columns, tile) = (19, 8);
        case(&kernel.name.clone(), Vec::new(), CaseGrid::Threads([tile, 3 * tile, 1], [8, 4, 1]), move |argument| {
            Some(match argument {
                "scores" => Content::Written(3 * tile * columns),
                "tile_rows" => Content::int(tile),
                "columns" => Content::int(columns),
                _ => return None,
            })
        })
    });
    copies.chain(masks)
}
