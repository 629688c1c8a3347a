//! Sizes of grids and threadgroups.

use std::fmt;

/// A number of threads or threadgroups along each dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Along x; threads adjacent in x are adjacent lanes of a simdgroup.
    pub width: usize,
    /// Along y.
    pub height: usize,
    /// Along z.
    pub depth: usize,
}

impl Size {
    /// A size of three dimensions.
    pub const fn new(width: usize, height: usize, depth: usize) -> Size {
        Size { width, height, depth }
    }

    /// A size of one dimension.
    pub const fn linear(width: usize) -> Size {
        Size::new(width, 1, 1)
    }

    /// The product of the three; `None` if it overflows.
    pub const fn volume(self) -> Option<usize> {
        match self.width.checked_mul(self.height) {
            Some(area) => area.checked_mul(self.depth),
            None => None,
        }
    }
}

impl From<(usize, usize, usize)> for Size {
    fn from((width, height, depth): (usize, usize, usize)) -> Size {
        Size { width, height, depth }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} × {}", self.width, self.height, self.depth)
    }
}
