//! Tables as graphs: dispatches are nodes, and a dispatch that waits depends on those before it.
//!
//! ```text
//! stage 0: a b    stage 1: c d    stage 2: e         stages of many dispatches are joined by an empty node, so that
//! a ─┬─ c ─┬─ e                                      there are not as many edges as pairs
//! b ─┴─ d ─┘
//! ```

use crate::backend::Table;
use std::ops::Range;

/// A node of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GraphNode {
    /// The dispatch; `None` for a node that only joins others.
    pub(super) dispatch: Option<usize>,
    /// The nodes that it waits for, all before it.
    pub(super) dependencies: Range<usize>,
}

/// Most edges between two stages; beyond, they are joined by an empty node.
const MOST_EDGES: usize = 16;

/// The dispatches that may overlap, stage by stage.
pub(super) fn stages(table: &Table) -> Vec<Range<usize>> {
    let mut stages: Vec<Range<usize>> = Vec::new();
    for (number, dispatch) in table.dispatches.iter().enumerate() {
        match stages.last_mut() {
            Some(stage) if !dispatch.waits => stage.end = number + 1,
            _ => stages.push(number..number + 1),
        }
    }
    stages
}

/// The nodes of a graph, in an order in which each follows those that it depends on.
pub(super) fn nodes(stages: &[Range<usize>]) -> Vec<GraphNode> {
    let mut nodes: Vec<GraphNode> = Vec::new();
    let mut before = 0..0;
    for stage in stages {
        if before.len() > 1 && before.len() * stage.len() > MOST_EDGES {
            nodes.push(GraphNode { dispatch: None, dependencies: before });
            before = nodes.len() - 1..nodes.len();
        }
        let first = nodes.len();
        let node = |number| GraphNode { dispatch: Some(number), dependencies: before.clone() };
        nodes.extend(stage.clone().map(node));
        before = first..nodes.len();
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(stages: &[Range<usize>]) -> Vec<(Option<usize>, Range<usize>)> {
        nodes(stages).into_iter().map(|node| (node.dispatch, node.dependencies)).collect()
    }

    #[test]
    fn stages_depend_on_the_stage_before() {
        assert_eq!(edges(&[]), []);
        let expected = [(Some(0), 0..0), (Some(1), 0..0), (Some(2), 0..2), (Some(3), 0..2), (Some(4), 2..4)];
        assert_eq!(edges(&[0..2, 2..4, 4..5]), expected);
    }

    #[test]
    fn large_stages_are_joined() {
        let nodes = edges(&[0..10, 10..20, 20..21]);
        assert_eq!(nodes.len(), 22);
        assert_eq!(nodes[10], (None, 0..10));
        assert!((11..21).all(|node| nodes[node] == (Some(node - 1), 10..11)));
        // Ten edges to one node need no join.
        assert_eq!(nodes[21], (Some(20), 11..21));
    }

    #[test]
    fn a_chain_has_no_joins() {
        let stages: Vec<Range<usize>> = (0..100).map(|number| number..number + 1).collect();
        assert!(edges(&stages).iter().skip(1).enumerate().all(|(before, node)| node.1 == (before..before + 1)));
    }
}
