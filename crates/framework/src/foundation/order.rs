//! Order and visits by code of the program.

use crate::runtime::block::{Block, Kept};
use crate::runtime::{Id, Sel, Strong, send};

/// A stable sort. Unlike the standard library's, it takes orders that contradict themselves.
fn sorted(mut left: Vec<Strong>, order: &impl Fn(Id, Id) -> isize) -> Vec<Strong> {
    if left.len() < 2 {
        return left;
    }
    let right = left.split_off(left.len() / 2);
    let mut all = Vec::with_capacity(left.len() + right.len());
    let mut left = sorted(left, order).into_iter().peekable();
    let mut right = sorted(right, order).into_iter().peekable();
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        all.extend(if order(first.id(), second.id()) > 0 { right.next() } else { left.next() });
    }
    all.extend(left.chain(right));
    all
}

/// Objects in the order of a block; as they are without one.
pub(super) fn by_block(objects: Vec<Strong>, block: Block) -> Vec<Strong> {
    match Kept::new(block) {
        // SAFETY: a comparator takes two objects and returns an NSComparisonResult.
        Some(block) => sorted(objects, &|left, right| unsafe { block.compare(left, right) }),
        None => objects,
    }
}

/// Objects in the order of a method such as `compare:`.
pub(super) fn by_selector(objects: Vec<Strong>, selector: Sel) -> Vec<Strong> {
    sorted(objects, &|left, right| send::send1(left, selector, right) as isize)
}

/// Calls a block for each of many, until it says to stop.
pub(super) fn visit<T>(block: Block, all: impl Iterator<Item = T>, mut call: impl FnMut(&Kept, T, *mut bool)) {
    let Some(block) = Kept::new(block) else { return };
    let mut stop = false;
    for one in all {
        call(&block, one, &raw mut stop);
        if stop {
            break;
        }
    }
}
