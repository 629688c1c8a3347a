//! Of rows.

use super::{Axes, Plan, number};
use crate::harness::{self, Argument, Case, CaseGrid};

/// Of the rows of a matrix, four at a time.
pub(crate) fn simple() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_simple_").into_iter().filter_map(|name| {
        let (rows, row) = (6, 301);
        let plan = Plan::new(name, rows * row)?;
        let groups: Vec<Vec<usize>> = (0..rows).map(|index| (index * row..(index + 1) * row).collect()).collect();
        let case = plan.case(CaseGrid::Threadgroups([1, 2, 1], [64, 1, 1]), &groups);
        Some(case.bind(Argument::long(row as i64)).bind(Argument::long(rows as i64)))
    })
}

/// Of rows and other axes before them, short rows: by a thread each, or by a simdgroup.
pub(crate) fn small() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_small_").into_iter().filter_map(|name| {
        let (outer, row): (&[i32], usize) = match number(&name, 0)? {
            1 => (&[3], 7),
            2 => (&[5, 9], 6),
            _ => (&[2, 1, 3], 7),
        };
        let axes = Axes::new(outer, &[4, 5], &[], row);
        let reductions = outer.iter().product::<i32>();
        let grid = match reductions > 8 {
            true => CaseGrid::Threadgroups([1, 20, 1], [32, 1, 1]),
            false => CaseGrid::Threads([20, 1, 1], [16, 1, 1]),
        };
        row_case(name, &axes, row, grid)
    })
}

/// Of rows and other axes before them, by a threadgroup each.
pub(crate) fn looped() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_looped_").into_iter().filter_map(|name| {
        let outer: &[i32] = match number(&name, 0)? {
            1 => &[3],
            2 => &[2, 3],
            _ => &[2, 2, 1],
        };
        let axes = Axes::new(outer, &[2, 3], &[], 301);
        row_case(name, &axes, 301, CaseGrid::Threadgroups([1, 6, 1], [64, 1, 1]))
    })
}

fn row_case(name: String, axes: &Axes, row: usize, grid: CaseGrid) -> Option<Case> {
    let (kept, reduced) = (axes.kept(), axes.reduced());
    let plan = Plan::new(name, kept.len() * reduced.len() * row)?;
    let group = |start: &usize| reduced.iter().flat_map(|offset| start + offset..start + offset + row).collect();
    let case = plan.case(grid, &kept.iter().map(group).collect::<Vec<_>>());
    let case = case.bind(Argument::long(row as i64)).bind(Argument::long(reduced.len() as i64));
    Some(axes.bind(case))
}
