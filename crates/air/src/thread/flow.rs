//! The order in which blocks run once lanes can go different ways.
//!
//! A branch that all lanes take together stays a branch. After one on which they part, the blocks that some lane still
//! has to visit are *pending*: they run one after the other in the graph's order, each under the mask of its lanes, and
//! a block whose mask is empty is skipped. (This is the partial linearization of Moll and Hack, "Partial control-flow
//! linearization", PLDI 2018.) Because the blocks of a loop come before everything behind it, a loop in which lanes
//! leave at different times goes round until the header's mask is empty.

use super::graph::Graph;
use std::collections::BTreeSet;

/// The flow between blocks when divergent branches are laid out one way after the other.
pub(crate) struct Flow {
    /// For each block, the blocks that can be pending while it runs.
    pub(crate) pending: Vec<BTreeSet<usize>>,
    /// The blocks that are ever pending: lanes can gather in them over several visits of others.
    pub(crate) deferred: Vec<bool>,
    /// The blocks that can be reached with an empty mask, and so must test it.
    pub(crate) guarded: Vec<bool>,
}

impl Flow {
    /// `divergent` is true for each block at whose end the lanes part.
    pub(crate) fn new(graph: &Graph, divergent: &[bool]) -> Flow {
        let count = graph.len();
        let mut flow = Flow {
            pending: vec![BTreeSet::new(); count],
            deferred: vec![false; count],
            guarded: vec![false; count],
        };
        let mut indirect = vec![false; count];
        let mut changed = true;
        while changed {
            changed = false;
            for (block, &parts) in divergent.iter().enumerate() {
                let here = flow.pending[block].clone();
                let mut go = |mut waiting: BTreeSet<usize>, direct: Option<usize>| {
                    let Some(to) = waiting.pop_first() else { return };
                    indirect[to] |= direct != Some(to);
                    if !waiting.is_subset(&flow.pending[to]) {
                        flow.pending[to].extend(waiting);
                        changed = true;
                    }
                };
                go(here.clone(), None);
                if parts {
                    go(here.iter().chain(&graph.successors[block]).copied().collect(), None);
                } else {
                    for &next in &graph.successors[block] {
                        go(here.iter().copied().chain([next]).collect(), Some(next));
                    }
                }
            }
        }
        for pending in &flow.pending {
            for &block in pending {
                flow.deferred[block] = true;
            }
        }
        for (guarded, (indirect, pending)) in flow.guarded.iter_mut().zip(indirect.iter().zip(&flow.pending)) {
            *guarded = *indirect && !pending.is_empty();
        }
        flow
    }

    /// The block that runs after `block` when lanes go on to `next` (none when they end there).
    pub(crate) fn follow(&self, block: usize, next: &[usize]) -> Option<usize> {
        next.iter().copied().chain(self.pending[block].first().copied()).min()
    }

    /// True if all lanes that are alive are in `block` when it runs.
    pub(crate) fn is_complete(&self, block: usize) -> bool {
        self.pending[block].is_empty()
    }
}
