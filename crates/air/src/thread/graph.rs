//! The blocks of a function in the order in which they will be laid out: every block after all that can come before it
//! within one pass, and the blocks of a loop side by side.

use crate::ir::{Block, Value};
use rustc_hash::FxHashMap;

/// The control flow of a function. Blocks are numbered by their place in the order; unreachable ones are left out.
pub(crate) struct Graph<'m> {
    pub(crate) blocks: Vec<Block<'m>>,
    pub(crate) successors: Vec<Vec<usize>>,
    /// For each block, the headers of the loops around it, the outermost first; a header is in its own loop.
    pub(crate) loops: Vec<Vec<usize>>,
}

impl<'m> Graph<'m> {
    /// The graph of `function`; `None` when a cycle has two entries.
    pub(crate) fn new(function: Value<'m>) -> Option<Graph<'m>> {
        let (blocks, successors) = reverse_postorder(function);
        let nest = Nest::new(&successors)?;
        let order = nest.order();
        let mut place = vec![0; blocks.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let blocks: Vec<Block<'m>> = order.iter().map(|&old| blocks[old]).collect();
        let successors: Vec<Vec<usize>> =
            order.iter().map(|&old| successors[old].iter().map(|&next| place[next]).collect()).collect();
        let headers = |old: usize| nest.loops[old].iter().map(|&header| place[header]).collect();
        let loops = order.iter().map(|&old| headers(old)).collect();
        Some(Graph { blocks, successors, loops })
    }

    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }
}

fn predecessors(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, nexts) in successors.iter().enumerate() {
        for &next in nexts {
            predecessors[next].push(from);
        }
    }
    predecessors
}

/// The blocks that can be reached, numbered in reverse postorder, and their successors.
fn reverse_postorder<'m>(function: Value<'m>) -> (Vec<Block<'m>>, Vec<Vec<usize>>) {
    let targets = |block: Block<'m>| block.terminator().map(Value::successors).unwrap_or_default();
    let entry = function.blocks()[0];
    let mut seen: FxHashMap<Block, usize> = FxHashMap::default();
    seen.insert(entry, 0);
    let mut finished = Vec::new();
    let mut stack = vec![(entry, targets(entry), 0)];
    while let Some((block, nexts, at)) = stack.last_mut() {
        if let Some(&next) = nexts.get(*at) {
            *at += 1;
            if seen.insert(next, 0).is_none() {
                stack.push((next, targets(next), 0));
            }
        } else {
            finished.push(*block);
            stack.pop();
        }
    }
    finished.reverse();
    for (number, block) in finished.iter().enumerate() {
        seen.insert(*block, number);
    }
    let successors = finished.iter().map(|&block| targets(block).iter().map(|next| seen[next]).collect()).collect();
    (finished, successors)
}

/// Blocks of a function in which the shorter way of each branch comes first. Otherwise lanes would wait at the start of all
/// ways that end early, such as returns one after the other. In a shorter function that costs little.
const MANY_BLOCKS: usize = 200;

/// The loops of a graph that is numbered in reverse postorder.
struct Nest<'a> {
    successors: &'a [Vec<usize>],
    /// For each block, the number of blocks that only it leads to; empty for a short function.
    sizes: Vec<usize>,
    /// For each block, the headers of the loops around it, the outermost first; a header is in its own loop.
    loops: Vec<Vec<usize>>,
}

impl<'a> Nest<'a> {
    fn new(successors: &'a [Vec<usize>]) -> Option<Nest<'a>> {
        let predecessors = predecessors(successors);
        let dominators = dominators(&predecessors);
        let dominates = |above: usize, mut block: usize| {
            while block > above {
                block = dominators[block];
            }
            block == above
        };
        let mut loops = vec![Vec::new(); successors.len()];
        for header in 0..successors.len() {
            // An edge back in reverse postorder that does not go to a dominator is a second way into a cycle.
            let latches: Vec<usize> = predecessors[header].iter().copied().filter(|&from| from >= header).collect();
            if latches.iter().any(|&latch| !dominates(header, latch)) {
                return None;
            }
            if latches.is_empty() {
                continue;
            }
            let mut body = vec![false; successors.len()];
            body[header] = true;
            let mut work = latches;
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut body[block], true) {
                    work.extend(&predecessors[block]);
                }
            }
            for (block, inside) in body.into_iter().enumerate() {
                if inside {
                    loops[block].push(header);
                }
            }
        }
        let sizes = if successors.len() > MANY_BLOCKS { dominated(&dominators) } else { Vec::new() };
        Some(Nest { successors, sizes, loops })
    }

    /// All blocks, each loop's side by side.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.successors.len());
        let all: Vec<usize> = (0..self.successors.len()).collect();
        self.order_region(&all, 0, &mut order);
        order
    }

    /// Appends the blocks of a region at `depth` loops, each after those that lead to it.
    fn order_region(&self, region: &[usize], depth: usize, order: &mut Vec<usize>) {
        // A node is a block of the region itself, or a whole loop within it, named by its first block.
        let node = |block: usize| self.loops[block].get(depth).copied().unwrap_or(block);
        let header = region[0];
        let mut inside: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for &block in region {
            inside.entry(node(block)).or_default().push(block);
        }
        let mut waiting: FxHashMap<usize, usize> = FxHashMap::default();
        let edges = |from: usize| -> Vec<usize> {
            let leave = |&block: &usize| self.successors[block].iter().copied();
            let mut targets: Vec<usize> = inside[&from]
                .iter()
                .flat_map(leave)
                .filter(|&to| depth == 0 || (to != header && self.loops[to].get(depth - 1) == Some(&header)))
                .map(node)
                .filter(|&target| target != from)
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets.sort_by_key(|&target| self.sizes.get(target));
            targets
        };
        let mut nodes: Vec<usize> = inside.keys().copied().collect();
        nodes.sort_unstable();
        for &from in &nodes {
            for to in edges(from) {
                *waiting.entry(to).or_default() += 1;
            }
        }
        // Of the nodes that may come next, the last one that became ready: a branch's targets stay near it.
        let mut ready: Vec<usize> =
            nodes.iter().rev().copied().filter(|node| !waiting.contains_key(node)).collect();
        while let Some(next) = ready.pop() {
            let blocks = &inside[&next];
            if self.loops[next].get(depth) == Some(&next) {
                self.order_region(blocks, depth + 1, order);
            } else {
                order.extend(blocks);
            }
            for to in edges(next).into_iter().rev() {
                if let Some(count) = waiting.get_mut(&to) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(to);
                    }
                }
            }
        }
    }
}

/// The immediate dominator of each block, of a graph that is numbered in reverse postorder.
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut dominators = vec![UNKNOWN; predecessors.len()];
    dominators[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for block in 1..predecessors.len() {
            let mut found = UNKNOWN;
            for &from in predecessors[block].iter().filter(|&&from| dominators[from] != UNKNOWN) {
                found = if found == UNKNOWN { from } else { meet(&dominators, found, from) };
            }
            if dominators[block] != found {
                dominators[block] = found;
                changed = true;
            }
        }
    }
    dominators
}

/// The number of blocks that each block dominates.
fn dominated(dominators: &[usize]) -> Vec<usize> {
    let mut sizes = vec![1; dominators.len()];
    for block in (1..dominators.len()).rev() {
        sizes[dominators[block]] += sizes[block];
    }
    sizes
}

fn meet(dominators: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = dominators[a];
        } else {
            b = dominators[b];
        }
    }
    a
}
