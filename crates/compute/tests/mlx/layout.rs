//! Locations of input and output elements, for each way in which MLX calls an elementwise kernel. The first letters of
//! a kernel's name select it:
//!
//! | name | threads | operands |
//! |---|---|---|
//! | `v_`, `vv_`, `sv_`, `vs_`, `ss_` | one per element | contiguous, or one element (`s`) |
//! | `vn_`, `vvn_`, … | one for up to 8 bytes of elements | the same |
//! | `v2_`, `vv2_`, … | the same, in two dimensions | the same |
//! | `g1_`, `g2_`, `g3_` | one per element | strided, of that many dimensions |
//! | `gn1_`, `gn2_`, `gn4large_` | one for that many elements of the last dimension | strided, of any dimension |

use crate::array::DType;
use crate::harness::{Argument, CaseGrid};

/// The layout of a kernel's arguments.
pub(crate) struct Layout {
    /// Elements of the output.
    pub(crate) length: usize,
    /// For each input, where the operand of each element of the output is.
    pub(crate) locations: Vec<Vec<usize>>,
    /// Arguments after inputs and outputs.
    pub(crate) extras: Vec<Argument>,
    pub(crate) grid: CaseGrid,
    /// The dimensions, where they are strided.
    pub(crate) strided: Option<Strided>,
}

/// The shape of a strided operation.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub(crate) shape: Vec<i32>,
    /// For each input, the strides.
    pub(crate) strides: Vec<Vec<i64>>,
    /// Any number of dimensions: the shape and the number are arguments.
    pub(crate) is_general: bool,
}

impl Layout {
    /// The layout of a kernel whose name begins with `prefix` (without the underscore), with `inputs` inputs; `dtype`
    /// decides the number of elements per thread. `None` for an unknown prefix.
    pub(crate) fn new(prefix: &str, inputs: usize, dtype: DType) -> Option<Layout> {
        let prefix = prefix.strip_suffix("large").unwrap_or(prefix);
        if let Some(rest) = prefix.strip_prefix("gn") {
            return Some(Layout::general(rest.parse().ok()?, inputs));
        }
        if let Some(rest) = prefix.strip_prefix('g') {
            return Layout::strided(rest.parse().ok()?, inputs);
        }
        let operands = prefix.trim_end_matches(['n', '2']);
        let is_scalar = match (operands, inputs) {
            ("v", 1..=3) | ("vv", 2) => vec![false; inputs],
            ("s", 1) => vec![true],
            ("ss", 2) => vec![true, true],
            ("sv", 2) => vec![true, false],
            ("vs", 2) => vec![false, true],
            // The condition of a selection is never a scalar.
            ("sv", 3) => vec![false, true, false],
            ("vs", 3) => vec![false, false, true],
            _ => return None,
        };
        let per_thread = 8 / dtype.size();
        match &prefix[operands.len()..] {
            "" if operands == "ss" => Some(Layout::contiguous(1, 1, &is_scalar, Vec::new())),
            "" => Some(Layout::contiguous(1003, 1, &is_scalar, vec![Argument::int(1003)])),
            "n" => Some(Layout::contiguous(1003, per_thread, &is_scalar, vec![Argument::int(1003)])),
            "2" => Some(Layout::plane(per_thread, &is_scalar)),
            _ => None,
        }
    }

    fn contiguous(length: usize, per_thread: usize, is_scalar: &[bool], extras: Vec<Argument>) -> Layout {
        let threads = (length).div_ceil(per_thread);
        Layout {
            length,
            locations: is_scalar.iter().map(|scalar| locations(length, *scalar)).collect(),
            extras,
            grid: CaseGrid::Threads([threads, 1, 1], [threads.min(256), 1, 1]),
            strided: None,
        }
    }

    /// A plane of threads. Only where a thread has several elements may the last thread lack some.
    fn plane(per_thread: usize, is_scalar: &[bool]) -> Layout {
        let length = per_thread * 41 * 7 - usize::from(per_thread > 1);
        Layout {
            length,
            locations: is_scalar.iter().map(|scalar| locations(length, *scalar)).collect(),
            extras: vec![Argument::long(length as i64)],
            grid: CaseGrid::Threads([41, 7, 1], [16, 4, 1]),
            strided: None,
        }
    }

    fn strided(dimensions: usize, inputs: usize) -> Option<Layout> {
        let (shape, grid): (Vec<i32>, _) = match dimensions {
            1 => (vec![77], CaseGrid::Threads([77, 1, 1], [32, 1, 1])),
            2 => (vec![9, 13], CaseGrid::Threads([13, 9, 1], [8, 4, 1])),
            3 => (vec![3, 5, 7], CaseGrid::Threads([7, 5, 3], [4, 4, 2])),
            _ => return None,
        };
        Some(Layout::with_shape(shape, inputs, false, grid))
    }

    fn general(per_thread: usize, inputs: usize) -> Layout {
        let shape = vec![2, 3, 4, 11];
        let grid = CaseGrid::Threads([11usize.div_ceil(per_thread), 4, 6], [3, 4, 2]);
        Layout::with_shape(shape, inputs, true, grid)
    }

    fn with_shape(shape: Vec<i32>, inputs: usize, is_general: bool, grid: CaseGrid) -> Layout {
        let strides: Vec<Vec<i64>> = (0..inputs).map(|input| strides(&shape, input)).collect();
        let mut extras: Vec<Argument> = strides.iter().map(|strides| Argument::longs(strides)).collect();
        if is_general {
            extras.insert(0, Argument::ints(&shape));
            extras.push(Argument::int(shape.len() as i32));
        }
        Layout {
            length: shape.iter().product::<i32>() as usize,
            locations: strides.iter().map(|strides| strided_locations(&shape, strides)).collect(),
            extras,
            grid,
            strided: Some(Strided { shape, strides, is_general }),
        }
    }

    /// Number of elements of an input.
    pub(crate) fn input_length(&self, input: usize) -> usize {
        self.locations[input].iter().max().map_or(0, |last| last + 1)
    }
}

fn locations(length: usize, is_scalar: bool) -> Vec<usize> {
    if is_scalar { vec![0; length] } else { (0..length).collect() }
}

/// Strides that differ between inputs: the first lies as if its dimensions had been reversed, the second has gaps, the
/// third repeats its elements along the last dimension.
fn strides(shape: &[i32], input: usize) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut next = if input == 1 { 3 } else { 1 };
    let order: Vec<usize> = if input == 0 { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
    for dimension in order {
        if input == 2 && dimension == shape.len() - 1 {
            continue;
        }
        strides[dimension] = next;
        next *= i64::from(shape[dimension]);
    }
    strides
}

/// Locations of the elements, the last dimension fastest.
pub(crate) fn strided_locations(shape: &[i32], strides: &[i64]) -> Vec<usize> {
    let mut locations = vec![0];
    for (extent, stride) in shape.iter().zip(strides) {
        let step = |start: &i64| (0..i64::from(*extent)).map(|index| start + index * stride).collect::<Vec<_>>();
        locations = locations.iter().flat_map(step).collect();
    }
    locations.into_iter().map(|location| location as usize).collect()
}
