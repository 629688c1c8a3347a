//! Rotary position embeddings.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::f16;
use metalworks_compute::ConstantValue::Bool;

/// Options of the kernels.
#[derive(Clone, Copy)]
struct Options {
    /// Dimensions of a head that rotate; the others stay.
    dims: usize,
    /// Offset of the rotated elements.
    offset: usize,
    /// Scale of the positions, and the part of it that YaRN undoes.
    scale: f64,
    yarn: f64,
    /// True if frequencies have factors.
    factors: bool,
    back: bool,
}

const PLAIN: Options = Options { dims: 48, offset: 0, scale: 1.0, yarn: 0.0, factors: false, back: false };

pub(super) fn rope(corpus: &Corpus) {
    for name in ["norm", "neox"] {
        one::<f32>(corpus, name, PLAIN);
        one::<f16>(corpus, name, PLAIN);
        one::<f32>(corpus, name, Options { dims: 32, offset: 8, ..PLAIN });
        one::<f32>(corpus, name, Options { scale: 0.25, yarn: 1.0, ..PLAIN });
        one::<f32>(corpus, name, Options { factors: true, back: true, ..PLAIN });
    }
    sections(corpus);
}

const BASE: f64 = 10_000.0;
const ORIGINAL_CONTEXT: usize = 4096;
const BETA: (f64, f64) = (32.0, 1.0);

/// The cosine and the sine of the pair `pair` at an angle.
fn rotation(options: Options, pair: usize, angle: f64) -> (f64, f64) {
    let stretched = options.scale * angle;
    let (mut angle, mut size, whole) = (stretched, 1.0, angle);
    if options.yarn != 0.0 {
        let turns = |n: f64| {
            options.dims as f64 * (ORIGINAL_CONTEXT as f64 / (n * std::f64::consts::TAU)).ln() / (2.0 * BASE.ln())
        };
        let (low, high) = (turns(BETA.0).floor().max(0.0), turns(BETA.1).ceil().min(options.dims as f64 - 1.0));
        let ramp = 1.0 - ((pair as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
        angle = stretched * (1.0 - ramp * options.yarn) + whole * ramp * options.yarn;
        size = 1.0 + 0.1 * (1.0 / options.scale).ln();
    }
    (angle.cos() * size, angle.sin() * size * if options.back { -1.0 } else { 1.0 })
}

fn fields(options: Options, from: &Tensor, to: &Tensor) -> Fields {
    Fields::new()
        .tensor("0", from)
        .tensor("", to)
        .set("n_past", 0)
        .set("n_dims", options.dims)
        .set("n_offs", options.offset)
        .set("n_ctx_orig", ORIGINAL_CONTEXT)
        .set("freq_base", BASE)
        .set("freq_scale", options.scale)
        .set("ext_factor", options.yarn)
        .set("attn_factor", 1.0)
        .set("beta_fast", BETA.0)
        .set("beta_slow", BETA.1)
        .set("src2", options.factors)
        .set("inplace", false)
}

fn one<T: Number>(corpus: &Corpus, name: &str, options: Options) {
    // Head size, heads, positions, sequences.
    let shape = [48, 3, 5, 2];
    let (from, to) = (Tensor::of::<T>(shape).with_gaps([16, 8, 4]), Tensor::of::<T>(shape));
    let mut random = Random::new(120);
    let x: Vec<T> = random.numbers(from.len(), -2.0, 2.0);
    let positions = [0i32, 7, 100, 2, 333];
    let factors: Vec<f32> = random.numbers(options.dims / 2, 0.5, 4.0);
    let kernel = format!("kernel_rope_{name}_{}", T::NAME);
    let run = Run::with_constants(corpus, "rope", kernel, &[(800, Bool(false)), (801, Bool(options.back))]);
    let run = run.structure(
        &fields(options, &from, &to).set("sect_0", 0).set("sect_1", 0).set("sect_2", 0).set("sect_3", 0),
    );
    let run = run.input(&from.lay_out(&x)).input(&positions);
    let run = if options.factors { run.input(&factors) } else { run.same_as(1) };
    let ran = run.output::<T>(to.len()).threadgroups((3, 5, 2), (48, 1, 1));
    let mut want = values(&x);
    let row = |row: usize| (row / 3 % 5, row * 48 + options.offset);
    for (position, start) in (0..30).map(row) {
        for (pair, factor) in factors.iter().enumerate() {
            let factor = if options.factors { f64::from(*factor) } else { 1.0 };
            let frequency = BASE.powf(-2.0 * pair as f64 / options.dims as f64);
            let (cos, sin) = rotation(options, pair, f64::from(positions[position]) * frequency / factor);
            let (first, second) = match name {
                "norm" => (start + 2 * pair, start + 2 * pair + 1),
                _ => (start + pair, start + pair + options.dims / 2),
            };
            let (x0, x1) = (want[first], want[second]);
            want[first] = x0 * cos - x1 * sin;
            want[second] = x0 * sin + x1 * cos;
        }
    }
    // Angles of 300 radians have errors of 300 times the precision.
    ran.output::<T>().is_within(&want, 1e-4);
}

/// Four positions for each token, of which each serves a section of the pairs.
fn sections(corpus: &Corpus) {
    let options = Options { dims: 48, ..PLAIN };
    let shape = [48, 3, 5, 1];
    let tensor = Tensor::of::<f32>(shape);
    let x: Vec<f32> = Random::new(121).numbers(tensor.len(), -2.0, 2.0);
    let positions: Vec<i32> = (0..20).map(|at| (at * 37) % 50).collect();
    for interleaved in [false, true] {
        let constants = [(800, Bool(interleaved)), (801, Bool(false))];
        let run = Run::with_constants(corpus, "rope", "kernel_rope_multi_f32", &constants);
        let fields = fields(options, &tensor, &tensor);
        let run = run.structure(&fields.set("sect_0", 8).set("sect_1", 8).set("sect_2", 6).set("sect_3", 2));
        let run = run.input(&x).input(&positions).same_as(1).output::<f32>(x.len());
        let section = |pair: usize| match (interleaved, pair) {
            (true, _) if pair % 3 == 1 && pair < 24 => 1,
            (true, _) if pair % 3 == 2 && pair < 18 => 2,
            (true, _) if pair.is_multiple_of(3) && pair < 24 => 0,
            (true, _) => 3,
            (false, 0..8) => 0,
            (false, 8..16) => 1,
            (false, 16..22) => 2,
            (false, _) => 3,
        };
        let mut want = values(&x);
        for row in 0..15 {
            for pair in 0..24 {
                let angle = f64::from(positions[section(pair) * 5 + row / 3]) * BASE.powf(-(pair as f64) / 24.0);
                let (first, second) = (row * 48 + pair, row * 48 + pair + 24);
                let (x0, x1) = (want[first], want[second]);
                want[first] = x0 * angle.cos() - x1 * angle.sin();
                want[second] = x0 * angle.sin() + x1 * angle.cos();
            }
        }
        run.threadgroups((3, 5, 1), (48, 1, 1)).output::<f32>().is_within(&want, 2e-5);
    }
}
