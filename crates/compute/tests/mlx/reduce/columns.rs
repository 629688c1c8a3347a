//! Of columns.

use super::{Axes, Plan, number};
use crate::harness::{self, Argument, Case, CaseGrid};

/// Of columns, in which every kept index has `columns` results; rows go to the part of the output that `part` says.
struct Columns {
    outer: &'static [i32],
    rows: i32,
    columns: usize,
    parts: usize,
}

impl Columns {
    fn case(&self, name: String, grid: CaseGrid, part: impl Fn(usize) -> usize) -> Option<Case> {
        let axes = Axes::new(self.outer, &[3], &[self.rows], self.columns);
        let (kept, reduced) = (axes.kept(), axes.reduced());
        let plan = Plan::new(name, kept.len() * reduced.len() * self.columns)?;
        let mut groups = Vec::new();
        for index in 0..self.parts {
            let rows: Vec<usize> =
                reduced.iter().enumerate().filter(|(row, _)| part(*row) == index).map(|(_, at)| *at).collect();
            for start in &kept {
                for column in 0..self.columns {
                    groups.push(rows.iter().map(|row| start + row + column).collect::<Vec<_>>());
                }
            }
        }
        let others: i32 = self.outer.iter().product();
        let case = plan.case(grid, &groups);
        let case = case.bind(Argument::long(i64::from(self.rows))).bind(Argument::long(self.columns as i64));
        Some(axes.bind(case).bind(Argument::long(i64::from(others))))
    }
}

/// The reduced axes before the kept one, by the number of dimensions in the name.
fn outer_axes(name: &str) -> Option<&'static [i32]> {
    Some(match number(name, 0)? {
        1 => &[],
        2 => &[2],
        _ => &[2, 1, 2],
    })
}

/// Few rows.
pub(crate) fn small() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_small_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 5, columns: 37, parts: 1 };
        columns.case(name, CaseGrid::Threadgroups([2, 3, 1], [8, 4, 1]), |_| 0)
    })
}

/// Few columns of many rows, which two threadgroups share.
pub(crate) fn long() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_longcolumn_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 61, columns: 5, parts: 2 };
        let case = columns.case(name, CaseGrid::Threadgroups([3, 1, 2], [5, 16, 1]), |row| row / 16 % 2)?;
        Some(case.bind(Argument::long(3 * 5)))
    })
}

/// Tiles of rows and columns.
pub(crate) fn looped() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_looped_").into_iter().filter_map(|name| {
        let tile = number(&name, 2)? as usize;
        let columns = Columns { outer: outer_axes(&name)?, rows: 67, columns: 45, parts: 1 };
        let case =
            columns.case(name, CaseGrid::Threadgroups([45usize.div_ceil(tile), 3, 1], [256, 1, 1]), |_| 0)?;
        Some(case.bind(Argument::long(0)))
    })
}

/// The first of two passes: 32 threadgroups share the rows, 32 at a time.
pub(crate) fn two_pass() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_2pass_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 67, columns: 45, parts: 32 };
        let case = columns.case(name, CaseGrid::Threadgroups([2, 3 * 32, 1], [256, 1, 1]), |row| row / 32 % 32)?;
        Some(case.bind(Argument::long(0)).bind(Argument::long(3)))
    })
}
