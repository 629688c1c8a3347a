//! Rotary position embeddings: `rope.metal`.

use crate::cases::{Array, Built, Case, Maker, Operation, Problem, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH, UsedBytes};
use crate::metal::kernels::rope as kernels;
use crate::metal::library::BufferSlice;
use compute::{Buffer, Result, Size};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "rope",
    kernels: &["rope"],
    variants: Variants::Activations,
    shape: "M=1 H=heads D=head_dim",
    checks: &["M=3 H=3 D=40", "M=3 H=3 D=40 R=24 X=1"],
    bytes: |c| c.a(2.0 * c.mhd()) + 2.0 * c.d(),
    flops: |c| 3.0 * c.mhd(),
    build,
}];

/// Rotation of heads.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<'a> {
    /// `[rotary / 2]` f32: angle per position, see [`rope_frequencies`].
    pub frequencies: BufferSlice<'a>,
    /// `[tokens]` u32.
    pub positions: BufferSlice<'a>,
    /// Numbers of a head that are rotated: even, at most `head_dim`.
    pub rotary: usize,
    /// Pairs are (i, i + rotary/2) rather than (2i, 2i + 1).
    pub neox: bool,
    /// Factor of sines and cosines: 1, except for scaling schemes that set it.
    pub magnitude: f32,
}

/// `base^(−2i/rotary) / factor[i]` for each pair. Some models store `factors`; without them they are 1.
pub fn rope_frequencies(base: f64, rotary: usize, factors: Option<&[f32]>) -> Vec<f32> {
    let factor = |i: usize| factors.and_then(|factors| factors.get(i)).map_or(1.0, |&factor| f64::from(factor));
    (0..rotary / 2).map(|i| (base.powf(-2.0 * i as f64 / rotary as f64) / factor(i)) as f32).collect()
}

/// [`rope`]: rotates the heads of each token.
#[derive(Clone, Copy, Debug)]
pub struct Rope<'a> {
    /// `[tokens, stride]` activations; the first `heads · head_dim` of a row are its heads.
    pub x: BufferSlice<'a>,
    /// `[tokens, heads, head_dim]` activations; may be `x` if that is one row, or if `stride` is `heads · head_dim`.
    pub y: BufferSlice<'a>,
    /// Rotation of the heads.
    pub rotation: Rotation<'a>,
    /// Number of tokens.
    pub tokens: usize,
    /// Heads per token.
    pub heads: usize,
    /// Numbers in a head: even.
    pub head_dim: usize,
    /// Numbers from one row of x to the next.
    pub stride: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// Rotates heads by their positions.
pub fn rope(encoding: &mut Encoding<'_>, op: Rope<'_>) -> Result<()> {
    let kernel = kernels::Rope::select(op.activation);
    let check = Check::new("rope", kernel.info());
    let (head_dim, rotary) = check_rotation(&check, &op.rotation, op.tokens, op.head_dim)?;
    let (heads, x_stride) = (check.count("heads", op.heads)?, check.count("stride", op.stride)?);
    let width = op.heads.saturating_mul(op.head_dim);
    let x = check.rows("x", &op.x, op.tokens, op.stride, width)?;
    let y = check.room("y", &op.y, &[op.tokens, width])?;
    check_in_place(&check, &y, &x, op.stride == width || op.tokens == 1)?;
    if op.tokens == 0 {
        return Ok(());
    }
    let (rotation, splits) = (op.rotation, encoding.tuning.head_splits(op.tokens, op.heads));
    let params = kernels::RopeParams { heads, x_stride, splits: splits as u32, magnitude: rotation.magnitude };
    let constants = kernels::RopeConstants { head_dim, rotary, neox: rotation.neox };
    let arguments = kernels::RopeArgs {
        x: op.x,
        y: op.y,
        positions: rotation.positions,
        frequencies: rotation.frequencies,
        p: &params,
    };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.tokens), ('H', op.heads), ('D', op.head_dim)]);
    encoding.dispatch(kernel, &constants, &arguments, grid(op.head_dim, op.tokens, splits))
}

/// Checks a rotation, and returns `head_dim` and `rotary`.
pub(super) fn check_rotation(
    check: &Check<'_>,
    rotation: &Rotation<'_>,
    tokens: usize,
    head_dim: usize,
) -> Result<(u32, u32)> {
    let (size, rotary) = (check.count("head_dim", head_dim)?, check.count("rotary", rotation.rotary)?);
    if !size.is_multiple_of(2) || !rotary.is_multiple_of(2) || rotary > size {
        return check.error(format_args!(
            "{rotary} of {size} numbers of a head are to be rotated: both must be even, and the first not larger"
        ));
    }
    check.room("frequencies", &rotation.frequencies, &[rotation.rotary / 2])?;
    check.room("positions", &rotation.positions, &[tokens])?;
    Ok((size, rotary))
}

/// Rows can be rotated in place only if they are as far apart in the input as in the output.
pub(super) fn check_in_place(
    check: &Check<'_>,
    y: &UsedBytes<'_>,
    x: &UsedBytes<'_>,
    same_rows: bool,
) -> Result<()> {
    if same_rows { check.in_place_or_no_overlap(y, x) } else { check.no_overlap(y, x) }
}

/// A lane rotates two numbers of a head.
pub(super) fn grid(head_dim: usize, tokens: usize, splits: usize) -> DispatchGrid {
    DispatchGrid { threadgroups: Size::new(head_dim.div_ceil(2 * SIMD_WIDTH), tokens, splits), simdgroups: 1 }
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let x = maker.activations(&[tokens, stride], activation)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let table = RotationCase::new(maker, case, tokens, maker.stride(tokens, 100))?;
    maker.expect(&y, || table.rotated(&x.numbers(), stride, heads * head_dim, head_dim));
    Ok(Box::new(move |encoding| {
        let (x, y, rotation) = (all(&x), y.slice(), table.rotation());
        rope(encoding, Rope { x, y, rotation, tokens, heads, head_dim, stride, activation })
    }))
}

/// Buffers of a rotation, and its formula.
pub(super) struct RotationCase {
    frequencies: Array,
    pub(super) positions: Buffer,
    rotary: usize,
    neox: bool,
    magnitude: f32,
}

impl RotationCase {
    pub(super) fn new(
        maker: &Maker<'_>,
        case: &Case,
        tokens: usize,
        end: usize,
    ) -> std::result::Result<RotationCase, Problem> {
        let rotary = case.shape.get('R').unwrap_or(case.shape['D']);
        // Models use powers, which are not the same bits on all machines.
        let frequencies: Vec<f32> = (0..rotary / 2).map(|i| 1.0 / (i + 1) as f32).collect();
        let frequencies = maker.floats(&frequencies)?;
        let positions = maker.positions(tokens, end)?;
        let (neox, magnitude) = (case.shape.get('X').is_some(), maker.parameter(1.0, 1.25));
        Ok(RotationCase { frequencies, positions, rotary, neox, magnitude })
    }

    pub(super) fn rotation(&self) -> Rotation<'_> {
        let (frequencies, positions) = (all(&self.frequencies), all(&self.positions));
        Rotation { frequencies, positions, rotary: self.rotary, neox: self.neox, magnitude: self.magnitude }
    }

    /// `[tokens, width]`: the heads at the beginning of each row. Pair i turns by the angle position · frequencies[i]:
    /// (a, b) → magnitude · (a·cos − b·sin, a·sin + b·cos).
    pub(super) fn rotated(&self, rows: &[f64], stride: usize, width: usize, head_dim: usize) -> Vec<f64> {
        let (frequencies, positions) = (self.frequencies.numbers(), self.positions.read::<u32>());
        let (magnitude, mut y) = (f64::from(self.magnitude), Vec::new());
        for (row, position) in rows.chunks(stride).zip(positions) {
            for head in row[..width].chunks(head_dim) {
                let mut head = head.to_vec();
                for (i, frequency) in frequencies.iter().enumerate() {
                    // The definition includes the kernels' rounding: they compute the angle in f32.
                    let angle = f64::from(position as f32 * *frequency as f32);
                    let (sine, cosine) = angle.sin_cos();
                    let (first, second) = if self.neox { (i, i + self.rotary / 2) } else { (2 * i, 2 * i + 1) };
                    let (a, b) = (magnitude * head[first], magnitude * head[second]);
                    (head[first], head[second]) = (a * cosine - b * sine, a * sine + b * cosine);
                }
                y.extend(head);
            }
        }
        y
    }
}
