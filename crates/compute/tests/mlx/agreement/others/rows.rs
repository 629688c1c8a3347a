//! Search, cross entropy and dot products.

use super::{Content, case, kernels};
use crate::agreement::Offer;
use crate::harness::CaseGrid;

pub(crate) fn search() -> impl Iterator<Item = Offer> {
    kernels("searchsorted_", "searchsorted").map(|kernel| {
        let grid = CaseGrid::Threads([90, 1, 1], [32, 1, 1]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "a" => Content::Numbers(77),
                "v" => Content::Numbers(90),
                "out" => Content::Written(90),
                "n" => Content::int(77),
                "a_stride" => Content::longs(&[1]),
                _ => return None,
            })
        })
    })
}

pub(crate) fn cross_entropy() -> impl Iterator<Item = Offer> {
    let (rows, columns) = (3, 301);
    let forward = kernels("cross_entropy_", "cross_entropy").map(|kernel| (kernel, 1));
    let backward = kernels("cross_entropy_vjp_", "cross_entropy_vjp").map(move |kernel| (kernel, columns));
    forward.chain(backward).map(move |(kernel, outputs)| {
        let grid = CaseGrid::Threadgroups([rows, 1, 1], [64, 1, 1]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "in" => Content::Numbers(rows * columns),
                "targets" => Content::Indices(vec![7, -1, 300]),
                "loss" | "cotan" => Content::Numbers(rows),
                "out" => Content::Written(rows * outputs),
                "axis_size" => Content::int(columns),
                _ => return None,
            })
        })
    })
}

pub(crate) fn dot() -> impl Iterator<Item = Offer> {
    kernels("dot_product_", "dot_product").map(|kernel| {
        let (length, per_thread, threads) = (20_011usize, kernel.number(1), kernel.number(2));
        let groups = length.div_ceil(per_thread * threads);
        let grid = CaseGrid::Threadgroups([groups, 1, 1], [threads, 1, 1]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "a" | "b" => Content::Numbers(length),
                "output" => Content::Written(groups),
                "n" => Content::int(length),
                _ => return None,
            })
        })
    })
}
