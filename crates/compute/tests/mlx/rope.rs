//! Rotary position embedding: pairs of elements turned by an angle that grows with the position.

use crate::array::{Array, DType, FLOATS, Scalar};
use crate::compare::Tolerance;
use crate::harness::{Argument, Case, CaseGrid};
use crate::random::Random;
use metalworks_compute::ConstantValue;

const HEADS: usize = 6;
const POSITIONS: usize = 5;
const BATCH: usize = 2;
const PAIRS: usize = 20;
const WIDTH: usize = 2 * PAIRS;
const SCALE: f32 = 0.75;
const BASE: f64 = 10000.0;
/// Start position of each batch's sequence.
const OFFSETS: [i32; BATCH] = [11, 300];

/// A choice of function constants.
#[derive(Clone, Copy)]
struct Variant {
    forward: bool,
    /// Pairs are neighbours; otherwise they are half a row apart.
    traditional: bool,
    /// Heads of one position lie side by side.
    transposed: bool,
}

const VARIANTS: [Variant; 4] = [
    Variant { forward: true, traditional: false, transposed: false },
    Variant { forward: true, traditional: true, transposed: false },
    Variant { forward: false, traditional: false, transposed: true },
    Variant { forward: false, traditional: true, transposed: false },
];

/// The angle of a pair at a position. Frequencies that are given divide; the others fall by a power of the base.
fn angle(pair: usize, position: i32, frequencies: Option<&Array>) -> f64 {
    let turns = match frequencies {
        Some(frequencies) => 1.0 / frequencies.float(pair),
        None => BASE.powf(-(pair as f64) / PAIRS as f64),
    };
    f64::from(SCALE) * f64::from(position) * turns
}

/// The places of a pair's two elements in a row.
fn pair_at(pair: usize, variant: Variant) -> [usize; 2] {
    if variant.traditional { [2 * pair, 2 * pair + 1] } else { [pair, pair + PAIRS] }
}

fn turned(x: [f64; 2], angle: f64, variant: Variant) -> [f64; 2] {
    let angle = if variant.forward { angle } else { -angle };
    [x[0] * angle.cos() - x[1] * angle.sin(), x[0] * angle.sin() + x[1] * angle.cos()]
}

fn constants(case: &mut Case, variant: Variant, with_layout: bool) {
    case.constants.set(1, ConstantValue::Bool(variant.forward)).set(2, ConstantValue::Bool(variant.traditional));
    if with_layout {
        case.constants.set(3, ConstantValue::Bool(variant.transposed));
    }
}

fn tolerance(dtype: DType) -> Tolerance {
    // The angles reach hundreds of radians in f32, and the sine and cosine are the fast ones.
    Tolerance::ulps(1.0).and_absolute(if dtype == DType::Float32 { 5e-4 } else { 1e-3 })
}

/// Whole sequences.
pub(crate) fn sequences() -> impl Iterator<Item = Case> {
    each("rope_", &["", "large_"]).map(|(name, dtype, with_frequencies, variant)| {
        let mut random = Random::new(&name);
        let input = random.array(dtype, BATCH * HEADS * POSITIONS * WIDTH, -2.0, 2.0);
        let frequencies = random.array(DType::Float32, PAIRS, 1.0, 500.0);
        let row = |batch: usize, head: usize, position: usize| match variant.transposed {
            true => ((batch * POSITIONS + position) * HEADS + head) * WIDTH,
            false => ((batch * HEADS + head) * POSITIONS + position) * WIDTH,
        };
        let mut expected = vec![0.0; input.values.len()];
        for (batch, offset) in OFFSETS.into_iter().enumerate() {
            for head in 0..HEADS {
                for position in 0..POSITIONS {
                    for pair in 0..PAIRS {
                        let position_of = offset + position as i32;
                        let angle = angle(pair, position_of, with_frequencies.then_some(&frequencies));
                        let places = pair_at(pair, variant);
                        let x = places.map(|place| input.float(row(batch, head, position) + place));
                        let y = turned(x, angle, variant);
                        // The output is never transposed.
                        let out = ((batch * HEADS + head) * POSITIONS + position) * WIDTH;
                        expected[out + places[0]] = y[0];
                        expected[out + places[1]] = y[1];
                    }
                }
            }
        }
        let plain = [(POSITIONS * WIDTH) as i64, WIDTH as i64, 1];
        let strides = if variant.transposed { [WIDTH as i64, (HEADS * WIDTH) as i64, 1] } else { plain };
        let depth = BATCH * HEADS.div_ceil(4);
        let mut case = Case::new(&name, CaseGrid::Threads([PAIRS, POSITIONS, depth], [8, 4, 2]))
            .input(&input)
            .bind(Argument::float_output(dtype, expected, tolerance(dtype)))
            .bind(Argument::Input(Array::ints(DType::Int32, OFFSETS.map(i128::from))))
            .bind(Argument::float(SCALE))
            .bind(Argument::longs(&strides))
            .bind(Argument::longs(&plain))
            .bind(Argument::long(1))
            .bind(Argument::int(HEADS as i32));
        case = bind_frequencies(case, with_frequencies, &frequencies);
        constants(&mut case, variant, true);
        case
    })
}

/// One position, as when a model generates.
pub(crate) fn single() -> impl Iterator<Item = Case> {
    each("rope_single_", &[""]).map(|(name, dtype, with_frequencies, variant)| {
        let mut random = Random::new(&name);
        let input = random.array(dtype, HEADS * WIDTH, -2.0, 2.0);
        let frequencies = random.array(DType::Float32, PAIRS, 1.0, 500.0);
        let mut expected = vec![Scalar::Float(0.0); input.values.len()];
        for head in 0..HEADS {
            for pair in 0..PAIRS {
                let places = pair_at(pair, variant).map(|place| head * WIDTH + place);
                let angle = angle(pair, OFFSETS[1], with_frequencies.then_some(&frequencies));
                let y = turned(places.map(|place| input.float(place)), angle, variant);
                expected[places[0]] = Scalar::Float(y[0]);
                expected[places[1]] = Scalar::Float(y[1]);
            }
        }
        let mut case = Case::new(&name, CaseGrid::Threads([PAIRS, HEADS, 1], [32, 4, 1]))
            .input(&input)
            .bind(Argument::output(dtype, expected, tolerance(dtype)))
            .bind(Argument::int(OFFSETS[1]))
            .bind(Argument::float(SCALE))
            .bind(Argument::long(WIDTH as i64));
        case = bind_frequencies(case, with_frequencies, &frequencies);
        constants(&mut case, variant, false);
        case
    })
}

fn each(
    prefix: &'static str,
    sizes: &'static [&'static str],
) -> impl Iterator<Item = (String, DType, bool, Variant)> {
    FLOATS.into_iter().flat_map(move |dtype| {
        ["", "freqs_"].into_iter().flat_map(move |frequencies| {
            sizes.iter().flat_map(move |size| {
                VARIANTS.into_iter().map(move |variant| {
                    let name = format!("{prefix}{frequencies}{size}{}", dtype.name());
                    (name, dtype, !frequencies.is_empty(), variant)
                })
            })
        })
    })
}

fn bind_frequencies(case: Case, with_frequencies: bool, frequencies: &Array) -> Case {
    match with_frequencies {
        true => case.bind_at(10, Argument::Input(frequencies.clone())).bind_at(11, Argument::long(1)),
        false => case.bind_at(10, Argument::float(BASE.log2() as f32)),
    }
}
