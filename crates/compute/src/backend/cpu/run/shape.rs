//! Mapping of a threadgroup's threads to simdgroups.

use abi::{LANES, Lanes, Simdgroup};
use std::ptr::null_mut;

/// The size of a threadgroup and its simdgroups. Thread `i`, with x fastest, is lane `i % 32` of simdgroup `i / 32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) size: [u32; 3],
    /// Number of simdgroups.
    pub(crate) simdgroups: u32,
    /// Number of leading simdgroups that are rows ([`Lanes::Row`]).
    pub(crate) rows: u32,
}

impl Shape {
    pub(crate) fn new(size: [u32; 3]) -> Shape {
        let lanes = LANES as u32;
        let threads = size.into_iter().fold(1, u32::saturating_mul);
        let simdgroups = threads.div_ceil(lanes);
        let rows = if size[0].is_multiple_of(lanes) {
            simdgroups
        } else if size[1] == 1 && size[2] == 1 {
            threads / lanes
        } else {
            0
        };
        Shape { size, simdgroups, rows }
    }

    /// The code variants that it needs.
    pub(crate) fn lanes(self) -> impl Iterator<Item = Lanes> {
        let row = (self.rows > 0).then_some(Lanes::Row);
        let any = (self.rows < self.simdgroups).then_some(Lanes::Any);
        row.into_iter().chain(any)
    }

    /// The description of simdgroup `index` for generated code.
    fn simdgroup(self, index: u32) -> Simdgroup {
        let [width, height, depth] = self.size;
        let threads = width * height * depth;
        let position = |thread: u32| [thread % width, thread / width % height, thread / (width * height)];
        let start = index * LANES as u32;
        let mut simdgroup =
            Simdgroup { positions: [[0; LANES]; 3], first: position(start), active: 0, index, fiber: null_mut() };
        for lane in 0..LANES as u32 {
            let thread = start + lane;
            if thread < threads {
                simdgroup.active |= 1 << lane;
                for (positions, coordinate) in simdgroup.positions.iter_mut().zip(position(thread)) {
                    positions[lane as usize] = coordinate;
                }
            }
        }
        simdgroup
    }
}

/// Cached simdgroups of recent shapes: they are the same for all threadgroups of a shape.
#[derive(Default)]
pub(crate) struct ShapeTable {
    entries: Vec<(Shape, Box<[Simdgroup]>)>,
}

/// A grid has at most eight shapes: whole and smaller along each dimension.
const SHAPES: usize = 8;

impl ShapeTable {
    pub(crate) fn simdgroups(&mut self, shape: Shape) -> &mut [Simdgroup] {
        let position = self.entries.iter().position(|(known, _)| *known == shape);
        let position = position.unwrap_or_else(|| {
            if self.entries.len() >= SHAPES {
                self.entries.clear();
            }
            let simdgroups = (0..shape.simdgroups).map(|index| shape.simdgroup(index)).collect();
            self.entries.push((shape, simdgroups));
            self.entries.len() - 1
        });
        &mut self.entries[position].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_simdgroups_of_adjacent_threads() {
        let rows = |size| {
            let shape = Shape::new(size);
            (shape.rows, shape.simdgroups)
        };
        assert_eq!(rows([32, 1, 1]), (1, 1));
        assert_eq!(rows([64, 4, 2]), (16, 16));
        assert_eq!(rows([1000, 1, 1]), (31, 32));
        assert_eq!(rows([31, 1, 1]), (0, 1));
        assert_eq!(rows([16, 16, 1]), (0, 8));
        assert_eq!(rows([40, 2, 1]), (0, 3));
        assert_eq!(rows([1, 1, 64]), (0, 2));
    }

    #[test]
    fn every_thread_has_exactly_one_lane() {
        for size in [[5, 3, 2], [40, 2, 1], [7, 1, 9], [33, 1, 1], [1, 1, 1], [32, 4, 8]] {
            let shape = Shape::new(size);
            let mut table = ShapeTable::default();
            let mut expected = 0;
            for (index, simdgroup) in table.simdgroups(shape).iter().enumerate() {
                assert_eq!(simdgroup.index as usize, index);
                for lane in (0..LANES).filter(|lane| simdgroup.active >> lane & 1 == 1) {
                    let [x, y, z] = simdgroup.positions.map(|positions| positions[lane]);
                    assert_eq!(x + size[0] * (y + size[1] * z), expected);
                    assert!(x < size[0] && y < size[1] && z < size[2]);
                    expected += 1;
                }
                let [x, y, z] = simdgroup.first;
                assert_eq!(x + size[0] * (y + size[1] * z), index as u32 * 32);
            }
            assert_eq!(expected, size.iter().product::<u32>());
        }
    }
}
