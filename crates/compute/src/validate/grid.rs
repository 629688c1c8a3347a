//! Validation of grid and threadgroup sizes.

use super::Call;
use crate::backend::{Promises, Simdgroups};
use crate::error::{Error, Result};
use crate::size::Size;
use abi::LANES;

/// Checks a grid and a threadgroup, and returns both in threads.
pub(crate) fn grid(call: &Call, grid: Size, threadgroup: Size) -> Result<([u32; 3], [u32; 3])> {
    let most = call.pipeline.max_total_threads;
    let is_small = threadgroup.volume().is_some_and(|threads| (1..=most).contains(&threads))
        && fits(threadgroup, call.pipeline.most_threads);
    match (grid.volume(), narrow(grid), narrow(threadgroup)) {
        (Some(1..), Some(threads), Some(size)) if is_small => {
            let Promises { simdgroups, threads_per_threadgroup } = call.pipeline.promises;
            if simdgroups != Simdgroups::Any {
                promised_simdgroups(call, grid, threadgroup)?;
            }
            if let Some(promised) = threads_per_threadgroup {
                promised_size(call, grid, threadgroup, promised)?;
            }
            Ok((threads, size))
        }
        _ => Err(refused(call, grid, threadgroup, most)),
    }
}

/// True if a size is within limits along each dimension.
fn fits(size: Size, most: Size) -> bool {
    size.width <= most.width && size.height <= most.height && size.depth <= most.depth
}

#[cold]
fn refused(call: &Call, grid: Size, threadgroup: Size, most: usize) -> Error {
    if grid.volume() == Some(0) || threadgroup.volume() == Some(0) {
        return call.refuse(format_args!(
            "a dimension is 0 (grid of {grid} threads in threadgroups of {threadgroup}); each must be at least 1"
        ));
    }
    if threadgroup.volume().is_none_or(|threads| threads > most) {
        return call
            .refuse(format_args!("a threadgroup of {threadgroup} threads; at most {most} are allowed in all"));
    }
    let limit = call.pipeline.most_threads;
    if !fits(threadgroup, limit) {
        return call.refuse(format_args!(
            "a threadgroup of {threadgroup} threads; the device allows {limit} along each dimension"
        ));
    }
    call.refuse(format_args!("a grid of {grid} threads; positions have 32 bits, sizes 64"))
}

/// Checks the descriptor's promise about simdgroups.
fn promised_simdgroups(call: &Call, grid: Size, threadgroup: Size) -> Result<()> {
    // Along each dimension there are whole threadgroups and perhaps a smaller one at the end.
    let sizes = |grid: usize, threadgroup: usize| {
        let whole = (grid >= threadgroup).then_some(threadgroup);
        let rest = Some(grid % threadgroup).filter(|&rest| rest > 0);
        whole.into_iter().chain(rest)
    };
    for width in sizes(grid.width, threadgroup.width) {
        for height in sizes(grid.height, threadgroup.height) {
            for depth in sizes(grid.depth, threadgroup.depth) {
                let size = Size { width, height, depth };
                let is_kept = match call.pipeline.promises.simdgroups {
                    Simdgroups::Any => true,
                    Simdgroups::Full => size.volume().is_some_and(|threads| threads.is_multiple_of(LANES)),
                    Simdgroups::Rows => width.is_multiple_of(LANES),
                };
                if !is_kept {
                    return Err(broken_promise(call, size));
                }
            }
        }
    }
    Ok(())
}

/// Checks the descriptor's promise of one threadgroup size.
fn promised_size(call: &Call, grid: Size, threadgroup: Size, promised: Size) -> Result<()> {
    let is_whole = |grid: usize, threadgroup: usize| grid.is_multiple_of(threadgroup);
    if threadgroup == promised
        && is_whole(grid.width, promised.width)
        && is_whole(grid.height, promised.height)
        && is_whole(grid.depth, promised.depth)
    {
        return Ok(());
    }
    Err(call.refuse(format_args!(
        "a grid of {grid} threads in threadgroups of {threadgroup}; the pipeline's descriptor promised whole threadgroups of \
         {promised}"
    )))
}

#[cold]
fn broken_promise(call: &Call, size: Size) -> Error {
    let promise = match call.pipeline.promises.simdgroups {
        Simdgroups::Any | Simdgroups::Full => format!("multiples of {LANES}"),
        Simdgroups::Rows => format!("a width that is a multiple of {LANES}"),
    };
    call.refuse(format_args!("a threadgroup of {size} threads; the pipeline's descriptor promised {promise}"))
}

fn narrow(size: Size) -> Option<[u32; 3]> {
    let narrow = |extent: usize| u32::try_from(extent).ok();
    Some([narrow(size.width)?, narrow(size.height)?, narrow(size.depth)?])
}
