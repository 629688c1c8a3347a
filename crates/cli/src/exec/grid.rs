//! Sizes of grids and threadgroups: parsing and defaults.

use compute::Size;

/// Shape of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DispatchShape {
    pub(crate) count: GridSize,
    pub(crate) threadgroup: Size,
}

/// Size of the grid, in threadgroups or threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GridSize {
    Threadgroups(Size),
    Threads(Size),
}

/// Default number of threads in a threadgroup.
const THREADS: usize = 256;

impl DispatchShape {
    /// The shape given by `--grid`, `--threads` and `--threadgroup`, for a kernel with threadgroups of at most `limit`
    /// threads and simdgroups of `width`.
    pub(crate) fn new(
        grid: Option<Size>,
        threads: Option<Size>,
        threadgroup: Option<Size>,
        width: usize,
        limit: usize,
    ) -> Result<DispatchShape, String> {
        let (count, threadgroup) = match (grid, threads, threadgroup) {
            (Some(grid), None, Some(threadgroup)) => (GridSize::Threadgroups(grid), threadgroup),
            (None, Some(threads), Some(threadgroup)) => (GridSize::Threads(threads), threadgroup),
            (None, Some(threads), None) => (GridSize::Threads(threads), default_threadgroup(threads, width, limit)),
            _ => return Err("give --threads, or --grid and --threadgroup".into()),
        };
        if threadgroup.volume().is_none_or(|threads| threads > limit) {
            return Err(format!(
                "--threadgroup: {} threads are more than this kernel's limit of {limit}",
                threadgroup.volume().map_or_else(|| text(threadgroup), |threads| threads.to_string()),
            ));
        }
        let grid = DispatchShape { count, threadgroup };
        if grid.threads().is_none_or(|threads| threads.iter().any(|&threads| u32::try_from(threads).is_err())) {
            return Err("the grid has too many threads: positions have 32 bits".into());
        }
        Ok(grid)
    }

    /// True if all threadgroups are whole: then only the code for their size is needed.
    pub(crate) fn is_whole(&self) -> bool {
        let Size { width, height, depth } = self.threadgroup;
        match self.count {
            GridSize::Threads(threads) => {
                let sizes = [(threads.width, width), (threads.height, height), (threads.depth, depth)];
                sizes.into_iter().all(|(threads, size)| threads.is_multiple_of(size))
            }
            GridSize::Threadgroups(_) => true,
        }
    }

    /// Threads along each dimension; `None` on overflow.
    fn threads(&self) -> Option<[usize; 3]> {
        let of = |size: Size| [size.width, size.height, size.depth];
        match self.count {
            GridSize::Threads(threads) => Some(of(threads)),
            GridSize::Threadgroups(grid) => {
                let ([x, y, z], [width, height, depth]) = (of(grid), of(self.threadgroup));
                Some([x.checked_mul(width)?, y.checked_mul(height)?, z.checked_mul(depth)?])
            }
        }
    }
}

/// Whole simdgroups along x, then as many rows and layers as fit.
fn default_threadgroup(threads: Size, width: usize, limit: usize) -> Size {
    let room = THREADS.min(limit).max(1);
    let x = threads.width.checked_next_multiple_of(width).unwrap_or(room).min(room);
    let y = threads.height.min(room / x).max(1);
    let z = threads.depth.min(room / (x * y)).max(1);
    Size::new(x, y, z)
}

/// Parses `X`, `X,Y` or `X,Y,Z`.
pub(crate) fn size(text: &str) -> Result<Size, String> {
    let form = || format!("'{text}' is not a size: write up to three numbers, such as 64,1,1");
    let numbers =
        text.split(',').map(|part| part.trim().parse()).collect::<Result<Vec<usize>, _>>().map_err(|_| form())?;
    let size = match numbers[..] {
        [x] => Size::new(x, 1, 1),
        [x, y] => Size::new(x, y, 1),
        [x, y, z] => Size::new(x, y, z),
        _ => return Err(form()),
    };
    if numbers.contains(&0) {
        return Err(format!("'{text}' has no threads: every number must be at least 1"));
    }
    Ok(size)
}

/// Formats a size: `64,1,1`.
pub(crate) fn text(size: Size) -> String {
    format!("{},{},{}", size.width, size.height, size.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_threads(threads: Size, limit: usize) -> Size {
        DispatchShape::new(None, Some(threads), None, 32, limit).expect("it fits").threadgroup
    }

    #[test]
    fn sizes_have_up_to_three_numbers() {
        assert_eq!(size("1000"), Ok(Size::new(1000, 1, 1)));
        assert_eq!(size("4,2"), Ok(Size::new(4, 2, 1)));
        assert_eq!(size("4, 2, 3"), Ok(Size::new(4, 2, 3)));
        for text in ["", ",", "4,", "1,2,3,4", "-1", "4x4", "1e3", "99999999999999999999"] {
            assert!(size(text).expect_err(text).starts_with(&format!("'{text}' is not a size")), "{text}");
        }
        assert!(size("0").expect_err("nothing").contains("at least 1"));
        assert!(size("4,0,1").expect_err("nothing").contains("at least 1"));
    }

    #[test]
    fn threadgroups_are_whole_where_they_divide_the_grid() {
        let whole = |count: GridSize, threadgroup: Size| DispatchShape { count, threadgroup }.is_whole();
        let threads = |width: usize| GridSize::Threads(Size::linear(width));
        assert!(whole(threads(1024), Size::linear(256)) && whole(threads(48), Size::linear(16)));
        assert!(!whole(threads(1000), Size::linear(256)) && !whole(threads(33), Size::linear(32)));
        assert!(!whole(GridSize::Threads(Size::new(32, 3, 1)), Size::new(32, 2, 1)));
        assert!(whole(GridSize::Threadgroups(Size::new(3, 5, 1)), Size::new(33, 3, 1)));
    }

    #[test]
    fn chooses_a_threadgroup_for_any_number_of_threads() {
        assert_eq!(with_threads(Size::new(1000, 1, 1), 1024), Size::new(256, 1, 1));
        assert_eq!(with_threads(Size::new(100, 1, 1), 1024), Size::new(128, 1, 1));
        assert_eq!(with_threads(Size::new(1, 1, 1), 1024), Size::new(32, 1, 1));
        assert_eq!(with_threads(Size::new(32, 5, 9), 1024), Size::new(32, 5, 1));
        assert_eq!(with_threads(Size::new(16, 2, 9), 1024), Size::new(32, 2, 4));
        assert_eq!(with_threads(Size::new(1000, 4, 1), 64), Size::new(64, 1, 1));
        assert_eq!(with_threads(Size::new(1000, 4, 1), 1), Size::new(1, 1, 1));
        assert_eq!(default_threadgroup(Size::new(usize::MAX, usize::MAX, 1), 32, 1024), Size::new(256, 1, 1));
    }

    #[test]
    fn rejects_more_threads_than_32_bit_positions() {
        let most = u32::MAX as usize;
        assert_eq!(with_threads(Size::new(most, 1, 1), 1024), Size::new(256, 1, 1));
        let error = |grid, threads| {
            let error =
                DispatchShape::new(grid, threads, Some(Size::new(32, 1, 1)), 32, 1024).expect_err("too many");
            assert!(error.contains("32 bits"), "{error}");
        };
        error(None, Some(Size::new(most + 1, 1, 1)));
        error(Some(Size::new(most / 32 + 1, 1, 1)), None);
        error(Some(Size::new(usize::MAX, 1, 1)), None);
        error(Some(Size::new(1, 1, usize::MAX)), None);
    }

    #[test]
    fn needs_threads_or_grid_and_threadgroup() {
        let (one, wide) = (Size::new(1, 1, 1), Size::new(64, 1, 1));
        let grid = DispatchShape::new(Some(one), None, Some(wide), 32, 1024).expect("groups");
        assert_eq!((grid.count, grid.threadgroup), (GridSize::Threadgroups(one), wide));
        let grid = DispatchShape::new(None, Some(one), Some(wide), 32, 1024).expect("threads");
        assert_eq!((grid.count, grid.threadgroup), (GridSize::Threads(one), wide));
        for (grid, threads, threadgroup) in [(None, None, None), (None, None, Some(wide)), (Some(one), None, None)]
        {
            let error = DispatchShape::new(grid, threads, threadgroup, 32, 1024).expect_err("how many?");
            assert!(error.contains("--threads"), "{error}");
        }
    }

    #[test]
    fn rejects_threadgroups_over_the_limit() {
        let error = |size| DispatchShape::new(None, Some(size), Some(size), 32, 512).expect_err("it is too large");
        assert_eq!(
            error(Size::new(513, 1, 1)),
            "--threadgroup: 513 threads are more than this kernel's limit of 512"
        );
        assert!(error(Size::new(usize::MAX, 2, 1)).contains("18446744073709551615,2,1 threads"));
    }
}
