//! Positions of threads, on grids of all shapes: `kernels/threads.metal`.

use crate::harness::{Finished, TestLibrary, expect};
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("threads.metal"));

/// Grids and threadgroups, in threads: that divide and that do not, narrow, flat and deep.
const SHAPES: &[([usize; 3], [usize; 3])] = &[
    ([1, 1, 1], [1, 1, 1]),
    ([64, 1, 1], [32, 1, 1]),
    ([75, 1, 1], [32, 1, 1]),
    ([1000, 1, 1], [1024, 1, 1]),
    ([33, 3, 1], [32, 2, 1]),
    ([7, 5, 3], [4, 4, 2]),
    ([5, 1, 9], [5, 1, 4]),
    ([1, 70, 1], [1, 64, 1]),
    ([1, 1, 40], [1, 1, 7]),
    ([3, 3, 3], [3, 3, 3]),
    ([64, 4, 2], [32, 4, 2]),
    ([31, 2, 2], [31, 2, 2]),
    ([17, 11, 2], [8, 8, 1]),
    ([2, 129, 1], [2, 16, 1]),
];

/// Expected positions of a thread.
struct Thread {
    position: [usize; 3],
    local: [usize; 3],
    group: [usize; 3],
    grid: [usize; 3],
    size: [usize; 3],
    groups: [usize; 3],
    asked: [usize; 3],
}

impl Thread {
    /// Number `number` of a grid, counted along x, then y, then z.
    fn new(number: usize, grid: [usize; 3], asked: [usize; 3]) -> Thread {
        let position = [number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]];
        let each = |f: &dyn Fn(usize) -> usize| std::array::from_fn(f);
        let group = each(&|k| position[k] / asked[k]);
        Thread {
            position,
            local: each(&|k| position[k] % asked[k]),
            group,
            grid,
            // At the edge of a grid that does not divide, a threadgroup is smaller than it was asked to be.
            size: each(&|k| asked[k].min(grid[k] - group[k] * asked[k])),
            groups: each(&|k| grid[k].div_ceil(asked[k])),
            asked,
        }
    }

    fn index(&self) -> usize {
        (self.local[2] * self.size[1] + self.local[1]) * self.size[0] + self.local[0]
    }

    fn vectors(&self) -> [[usize; 3]; 7] {
        [self.position, self.local, self.group, self.grid, self.size, self.groups, self.asked]
    }
}

fn check_vectors(what: &str, finished: &Finished, grid: [usize; 3], group: [usize; 3]) {
    let names = ["position", "local", "group", "grid", "size", "groups", "asked"];
    let out = finished.read::<[u32; 3]>(0);
    for (attribute, name) in names.iter().enumerate() {
        let got: Vec<[u32; 3]> = out.iter().copied().skip(attribute).step_by(7).collect();
        expect(&format!("{what}, {name}, {grid:?} in {group:?}"), &got, |i| {
            Thread::new(i, grid, group).vectors()[attribute].map(|x| x as u32)
        });
    }
}

#[test]
fn three_dimensions() {
    for kernel in ["triples", "short_triples"] {
        for &(grid, group) in SHAPES {
            let run = SOURCE.kernel(kernel).zeros::<u32>(grid.iter().product::<usize>() * 21);
            check_vectors(kernel, &run.threads(grid, group), grid, group);
        }
    }
}

#[test]
fn fewer_dimensions() {
    for &(grid, group) in SHAPES {
        let run = |kernel: &'static str| SOURCE.kernel(kernel).zeros::<u32>(grid.iter().product::<usize>() * 21);
        if grid[2] == 1 {
            check_vectors("pairs", &run("pairs").threads(grid, group), grid, group);
        }
        if grid[1] * grid[2] == 1 {
            check_vectors("scalars", &run("scalars").threads(grid, group), grid, group);
        }
    }
}

#[test]
fn full_threadgroups() {
    for (groups, group) in [([3, 2, 2], [32, 1, 1]), ([2, 3, 1], [7, 3, 2]), ([5, 1, 1], [64, 2, 1])] {
        let grid = [0, 1, 2].map(|k| groups[k] * group[k]);
        let run = SOURCE.kernel("triples").zeros::<u32>(grid.iter().product::<usize>() * 21);
        check_vectors("full threadgroups", &run.groups(groups, group), grid, group);
    }
}

#[test]
fn numbers_in_groups() {
    for &(grid, group) in SHAPES {
        let run = SOURCE.kernel("numbers").zeros::<u32>(grid.iter().product::<usize>() * 11);
        let out = run.threads(grid, group).read::<u32>(0);
        let out: Vec<&[u32]> = out.chunks(11).collect();
        for (i, got) in out.into_iter().enumerate() {
            let thread = Thread::new(i, grid, group);
            let (index, size) = (thread.index(), thread.size.iter().product::<usize>());
            let asked = group.iter().product::<usize>();
            let own = [index, index % 32, index % 4, 32, 32];
            let groups = [index / 32, size.div_ceil(32), index / 4, size.div_ceil(4)];
            let of_dispatch = [asked.div_ceil(32), asked.div_ceil(4)];
            let expected: Vec<u32> = [&own[..], &groups, &of_dispatch].concat().iter().map(|x| *x as u32).collect();
            assert_eq!(got, expected, "thread {i} of {grid:?} in {group:?}");
        }
    }
}
