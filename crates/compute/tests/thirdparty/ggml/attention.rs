//! Flash attention: many queries by tiles, and few by themselves.

use crate::corpus::Corpus;
use crate::numbers::Random;
use crate::quants::Format;
use crate::reference::{Attention, no_sink};
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::f16;
use metalworks_compute::ConstantValue::{Bool, Int};

/// Options of the kernels.
#[derive(Clone, Copy)]
struct Options {
    mask: bool,
    sinks: bool,
    softcap: f64,
    max_bias: f64,
}

const PLAIN: Options = Options { mask: false, sinks: false, softcap: 0.0, max_bias: 0.0 };
const SCALE: f64 = 0.25;

/// Queries, keys and values, with a mask and sinks.
struct Problem {
    shape: Attention,
    format: &'static Format,
    q: Vec<f32>,
    k: Vec<u8>,
    v: Vec<u8>,
    mask: Vec<f16>,
    sinks: Vec<f32>,
    options: Options,
}

impl Problem {
    fn new(shape: Attention, format: &str, options: Options) -> Problem {
        let format = Format::named(format);
        let mut random = Random::new(150);
        let mut mask: Vec<f16> = random.numbers(shape.queries * shape.keys, -2.0, 0.0);
        for (at, one) in mask.iter_mut().enumerate() {
            // A causal mask, of which all queries see the first half of the keys.
            if at % shape.keys > shape.keys / 2 + at / shape.keys {
                *one = f16::NEG_INFINITY;
            }
        }
        Problem {
            shape,
            format,
            q: random.numbers(shape.heads * shape.queries * shape.size, -1.0, 1.0),
            k: format.random(&mut random, shape.kv_heads * shape.keys * shape.size),
            v: format.random(&mut random, shape.kv_heads * shape.keys * shape.size),
            mask,
            sinks: random.numbers(shape.heads, -1.0, 1.0),
            options,
        }
    }

    /// The result, position by position.
    fn reference(&self) -> Vec<f64> {
        let Options { mask, sinks, softcap, max_bias } = self.options;
        let Attention { heads, queries, keys, size, .. } = self.shape;
        let adjust = |[head, query, key]: [usize; 3], score: f64| {
            let score = score * SCALE;
            let score = if softcap > 0.0 { softcap * (score / softcap).tanh() } else { score };
            let slope = if max_bias > 0.0 { 2f64.powf(-max_bias / 4.0).powi(head as i32 + 1) } else { 1.0 };
            score + if mask { slope * self.mask[query * keys + key].to_f64() } else { 0.0 }
        };
        // Queries are rounded to half precision.
        let q: Vec<f64> = self.q.iter().map(|q| f16::from_f32(*q).to_f64()).collect();
        let (k, v) = (self.format.decode(&self.k), self.format.decode(&self.v));
        let out = if sinks {
            self.shape.reference([&q, &k, &v], adjust, |head| self.sinks[head].into())
        } else {
            self.shape.reference([&q, &k, &v], adjust, no_sink)
        };
        // From heads of positions to positions of heads.
        let at = |at: usize| out[((at / size % heads) * queries + at / size / heads) * size + at % size];
        (0..out.len()).map(at).collect()
    }

    fn keys(&self) -> Tensor {
        let Attention { size, keys, kv_heads, .. } = self.shape;
        Tensor::blocks([size, keys, kv_heads, 1], self.format.weights, self.format.bytes)
    }

    fn masks(&self) -> Tensor {
        Tensor::of::<f16>([self.shape.keys, self.shape.queries, 1, 1])
    }

    /// The last keys and values, which are fewer than a kernel takes at once, with the mask for them.
    fn padded(&self, corpus: &Corpus, at_once: usize) -> Vec<u8> {
        let (keys, masks) = (self.keys(), self.masks());
        let Attention { kv_heads, queries, .. } = self.shape;
        let fields = Fields::new().tensor("1", &keys).tensor("2", &keys).tensor("3", &masks);
        let fields = fields.set("ne_12_2", kv_heads).set("ne_12_3", 1);
        let constants = [(100, Bool(self.options.mask)), (125, Int(at_once as i32))];
        let run = Run::with_constants(corpus, "fa_aux", "kernel_flash_attn_ext_pad", &constants).structure(&fields);
        let run = run.input(&self.k).input(&self.v).input(&self.mask);
        let bytes = 2 * keys.nb[1] * at_once * kv_heads;
        let ran = run.output::<u8>(bytes + 2 * at_once * queries).threadgroups((at_once, kv_heads, 1), (32, 1, 1));
        let output = ran.output::<u8>();
        let row = keys.nb[1];
        let (rest, first) = (self.shape.keys % at_once, self.shape.keys / at_once * at_once);
        for (part, (content, tensor)) in [&self.k, &self.v].into_iter().enumerate().map(|(i, x)| (i, (x, &keys))) {
            for head in 0..kv_heads {
                let padded = &output.numbers[((part * kv_heads + head) * at_once) * row..][..at_once * row];
                let from = tensor.at([0, first, head, 0]);
                assert!(padded[..rest * row] == content[from..from + rest * row], "padded keys or values");
                assert!(padded[rest * row..].iter().all(|byte| *byte == 0), "the padding");
            }
        }
        output.was_compared();
        output.numbers
    }

    /// The shapes of it all, as both kernels take them.
    fn fields(&self) -> Fields {
        let Options { softcap, max_bias, .. } = self.options;
        let Attention { heads, kv_heads, queries, size, .. } = self.shape;
        let (q, keys, masks) = (Tensor::of::<f32>([size, queries, heads, 1]), self.keys(), self.masks());
        let to = Tensor::of::<f32>([size, heads, queries, 1]);
        let fields = Fields::new().tensor("0", &q).tensor("1", &keys).tensor("2", &keys).tensor("3", &masks);
        fields
            .tensor("", &to)
            .set("ne_12_2", kv_heads)
            .set("ne_12_3", 1)
            .set("ns10", keys.nb[1] / keys.nb[0])
            .set("ns20", keys.nb[1] / keys.nb[0])
            .set("scale", if softcap > 0.0 { SCALE / softcap } else { SCALE })
            .set("max_bias", max_bias)
            .set("m0", 2f64.powf(-max_bias / 4.0))
            .set("m1", 2f64.powf(-max_bias / 8.0))
            .set("n_head_log2", 4)
            .set("logit_softcap", softcap)
    }

    /// The constants that both kernels have, from the first on.
    fn constants(&self, first: u32, at_once: usize) -> Vec<(u32, metalworks_compute::ConstantValue)> {
        let Options { mask, sinks, softcap, max_bias } = self.options;
        let distance = Int((self.keys().nb[1] / self.keys().nb[0]) as i32);
        vec![
            (first, Bool(mask)),
            (first + 1, Bool(sinks)),
            (first + 2, Bool(max_bias > 0.0)),
            (first + 3, Bool(softcap > 0.0)),
            (first + 4, Bool(!self.shape.keys.is_multiple_of(at_once))),
            (first + 20, distance.clone()),
            (first + 21, distance),
        ]
    }
}

pub(super) fn tiles(corpus: &Corpus) {
    let shape = |queries, keys, size| Attention { heads: 4, kv_heads: 2, queries, keys, size };
    tiled(corpus, &Problem::new(shape(8, 64, 64), "f16", PLAIN));
    tiled(corpus, &Problem::new(shape(13, 150, 64), "f16", PLAIN));
    tiled(corpus, &Problem::new(shape(13, 150, 64), "f16", Options { mask: true, ..PLAIN }));
    tiled(
        corpus,
        &Problem::new(shape(9, 70, 64), "f16", Options { mask: true, max_bias: 8.0, sinks: true, softcap: 3.0 }),
    );
    tiled(corpus, &Problem::new(shape(20, 128, 128), "q8_0", Options { mask: true, ..PLAIN }));
    tiled(corpus, &Problem::new(shape(5, 100, 64), "q4_0", PLAIN));
}

fn tiled(corpus: &Corpus, problem: &Problem) {
    const QUERIES: usize = 8;
    const KEYS: usize = 64;
    const SIMDGROUPS: usize = 4;
    let Attention { heads, queries, keys, size, .. } = problem.shape;
    let name = problem.format.name;
    let blocks = (keys.div_ceil(KEYS), queries.div_ceil(QUERIES));
    let mut constants = problem.constants(300, KEYS);
    constants.extend([(310, Bool(problem.options.mask && queries % 8 != 0)), (322, Int(SIMDGROUPS as i32))]);
    let kernel = format!("kernel_flash_attn_ext_{name}_dk{size}_dv{size}");
    let run = Run::with_constants(corpus, &format!("fa_{name}"), kernel, &constants).structure(&problem.fields());
    let run = run.input(&problem.q).input(&problem.k).input(&problem.v);
    let run = if problem.options.mask { run.input(&problem.mask) } else { run.same_as(1) };
    let run = if problem.options.sinks { run.input(&problem.sinks) } else { run.same_as(1) };
    let run = if keys % KEYS != 0 { run.input(&problem.padded(corpus, KEYS)) } else { run.same_as(1) };
    let run = if problem.options.mask { run.input(&block_kinds(corpus, problem, blocks)) } else { run.same_as(1) };
    let scratch = if problem.format.weights > 1 { 16 * 32 * SIMDGROUPS } else { 0 };
    let halves = QUERIES * (size + 2 * size.next_multiple_of(64) + 4 * KEYS) + scratch;
    let run = run.output::<f32>(problem.q.len()).threadgroup_memory(2 * halves);
    let ran = run.threadgroups((blocks.1, heads, 1), (32, SIMDGROUPS, 1));
    // Keys, values and probabilities are rounded to half precision.
    ran.output::<f32>().is_within(&problem.reference(), 3e-3);
}

/// Kinds of mask blocks: fully masked, partly masked, or not.
fn block_kinds(corpus: &Corpus, problem: &Problem, (across, down): (usize, usize)) -> Vec<u8> {
    let masks = problem.masks();
    let Attention { queries, keys, .. } = problem.shape;
    let fields = Fields::new().tensor("3", &masks).set("ne01", queries);
    let constants = [(224, Int(8)), (225, Int(64))];
    let run = Run::with_constants(corpus, "fa_aux", "kernel_flash_attn_ext_blk", &constants).structure(&fields);
    let ran = run.input(&problem.mask).output::<u8>(across * down).threadgroups((across, down, 1), (32, 1, 1));
    let kind = |at: usize| {
        let (column, row) = (at % across * 64, at / across * 8);
        if column + 64 > keys || row + 8 > queries {
            return 1.0;
        }
        let block = (0..8 * 64).map(|at| problem.mask[(row + at / 64) * keys + column + at % 64]);
        if block.clone().all(|x| x == f16::NEG_INFINITY) {
            0.0
        } else if block.clone().all(|x| x == f16::ZERO) {
            2.0
        } else {
            1.0
        }
    };
    ran.output::<u8>().is(&(0..across * down).map(kind).collect::<Vec<_>>());
    ran.content(2)
}

pub(super) fn vectors(corpus: &Corpus) {
    let shape = |queries, keys, size| Attention { heads: 4, kv_heads: 2, queries, keys, size };
    vector(corpus, &Problem::new(shape(1, 32, 128), "f16", PLAIN), 1, 1);
    vector(corpus, &Problem::new(shape(3, 77, 64), "f16", PLAIN), 1, 1);
    vector(corpus, &Problem::new(shape(3, 77, 64), "f16", Options { mask: true, ..PLAIN }), 1, 4);
    let all = Options { mask: true, max_bias: 8.0, sinks: true, softcap: 3.0 };
    vector(corpus, &Problem::new(shape(2, 150, 128), "f16", all), 1, 2);
    vector(corpus, &Problem::new(shape(1, 200, 128), "q8_0", Options { mask: true, ..PLAIN }), 32, 1);
    vector(corpus, &Problem::new(shape(2, 1100, 64), "q4_0", PLAIN), 32, 2);
    vector(corpus, &Problem::new(shape(1, 90, 96), "f32", PLAIN), 1, 1);
}

/// The keys are shared out to threadgroups, and among the simdgroups of each.
fn vector(corpus: &Corpus, problem: &Problem, threadgroups: usize, simdgroups: usize) {
    const KEYS: usize = 32;
    let Attention { heads, queries, keys, size, .. } = problem.shape;
    let name = problem.format.name;
    let mut constants = problem.constants(400, KEYS);
    let counts = [(422, Int(simdgroups as i32)), (423, Int(threadgroups as i32)), (405, Bool(false))];
    constants.extend(counts);
    let kernel = format!("kernel_flash_attn_ext_vec_{name}_dk{size}_dv{size}");
    let run = Run::with_constants(corpus, &format!("fa_vec_{name}"), kernel, &constants);
    let run = run.structure(&problem.fields().set("n_kv_max_padded", 0));
    let run = run.input(&problem.q).input(&problem.k).input(&problem.v);
    let run = if problem.options.mask { run.input(&problem.mask) } else { run.same_as(1) };
    let run = if problem.options.sinks { run.input(&problem.sinks) } else { run.same_as(1) };
    let run = if keys % KEYS != 0 { run.input(&problem.padded(corpus, KEYS)) } else { run.same_as(1) };
    // Each threadgroup leaves its part, with its sum and its maximum.
    let rows = heads * queries;
    let parts = if threadgroups == 1 { rows * size } else { rows * threadgroups * (size + 2) };
    let padded = size.next_multiple_of(128);
    let run = run.output::<f32>(parts).same_as(1);
    let run = run.threadgroup_memory(2 * simdgroups * (3 * padded + 4 * KEYS));
    let ran = run.threadgroups((queries, heads, threadgroups), (32, simdgroups, 1));
    let output = if threadgroups == 1 {
        ran.output_at::<f32>(7)
    } else {
        ran.output_at::<f32>(7).was_compared();
        let constants = [(500, Int(size as i32)), (501, Int(threadgroups as i32))];
        let reduce = Run::with_constants(corpus, "fa_aux", "kernel_flash_attn_ext_vec_reduce", &constants);
        let reduce = reduce.structure(&Fields::new().set("nrows", rows)).input(&ran.content::<f32>(7));
        let reduced = reduce.output::<f32>(rows * size).threadgroups((rows, 1, 1), (32 * threadgroups, 1, 1));
        reduced.output::<f32>()
    };
    output.is_within(&problem.reference(), 2e-3);
}
