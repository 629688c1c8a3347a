//! Scaled dot-product attention.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::reference::{Attention, no_sink};
use crate::run::Run;
use crate::tensor::Fields;
use half::{bf16, f16};
use metalworks_compute::ConstantValue::Bool;

/// Random queries, keys and values: head, position, component.
struct Inputs<T> {
    shape: Attention,
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
}

impl<T: Number> Inputs<T> {
    fn new(shape: Attention) -> Inputs<T> {
        let mut random = Random::new(80);
        let Attention { heads, kv_heads, queries, keys, size } = shape;
        Inputs {
            shape,
            q: random.numbers(heads * queries * size, -1.0, 1.0),
            k: random.numbers(kv_heads * keys * size, -1.0, 1.0),
            v: random.numbers(kv_heads * keys * size, -1.0, 1.0),
        }
    }

    fn reference(&self, adjust: impl Fn([usize; 3], f64) -> f64) -> Vec<f64> {
        self.shape.reference([&values(&self.q), &values(&self.k), &values(&self.v)], adjust, no_sink)
    }
}

fn type_name<T: Number>() -> &'static str {
    match T::NAME {
        "f32" => "float",
        "f16" => "float16_t",
        _ => "bfloat16_t",
    }
}

pub(super) fn vector(corpus: &Corpus) {
    for keys in [1, 31, 77] {
        let shape = |size| Attention { heads: 6, kv_heads: 2, queries: 1, keys, size };
        vector_of::<f32>(corpus, shape(64), 1.0);
        vector_of::<f16>(corpus, shape(128), 1.0);
        vector_of::<bf16>(corpus, shape(96), 1.0);
        vector_of::<f32>(corpus, shape(32), 5.0);
    }
    masked_vector(corpus);
}

fn vector_of<T: Number>(corpus: &Corpus, shape: Attention, softcap: f64) {
    let inputs = Inputs::<T>::new(shape);
    let scale = 0.25;
    let kernel = format!("sdpa_vector_{}_{}", type_name::<T>(), shape.size);
    let run = Run::with_constants(corpus, "scaled_dot_product_attention", kernel, &[(20, Bool(false))]);
    let run = run.input(&inputs.q).input(&inputs.k).input(&inputs.v).output::<T>(inputs.q.len());
    let run = run.value((shape.heads / shape.kv_heads) as i32).value(shape.keys as i32);
    let run = run.sizes(&[shape.keys * shape.size; 2]).value((scale / softcap) as f32).value(softcap as f32);
    let want = inputs.reference(|_, score| {
        let score = score * scale;
        if softcap == 1.0 { score } else { softcap * (score / softcap).tanh() }
    });
    run.threadgroups((1, shape.heads, 1), (1024, 1, 1)).output::<T>().is_within(&want, 1e-5);
}

fn masked_vector(corpus: &Corpus) {
    let shape = Attention { heads: 4, kv_heads: 4, queries: 1, keys: 70, size: 64 };
    let inputs = Inputs::<f32>::new(shape);
    let mut random = Random::new(81);
    let mask: Vec<u8> = (0..shape.heads * shape.keys).map(|_| u8::from(random.below(3) > 0)).collect();
    let run =
        Run::with_constants(corpus, "scaled_dot_product_attention", "sdpa_vector_float_64", &[(20, Bool(true))]);
    let run = run.input(&inputs.q).input(&inputs.k).input(&inputs.v).output::<f32>(inputs.q.len()).value(1i32);
    let run = run.value(shape.keys as i32).sizes(&[shape.keys * shape.size; 2]).value(0.25f32).value(1f32);
    let run = run.input(&mask).value(1i32).value(shape.keys as i32);
    let want = inputs.reference(
        |[head, _, key], score| {
            if mask[head * shape.keys + key] == 1 { 0.25 * score } else { f64::NEG_INFINITY }
        },
    );
    run.threadgroups((1, shape.heads, 1), (1024, 1, 1)).output::<f32>().is_within(&want, 1e-5);
}

/// The keys in 32 parts, which a second kernel puts together.
pub(super) fn two_passes(corpus: &Corpus) {
    const PARTS: usize = 32;
    let shape = Attention { heads: 4, kv_heads: 2, queries: 1, keys: 1100, size: 64 };
    let inputs = Inputs::<f32>::new(shape);
    let file = "scaled_dot_product_attention";
    let run = Run::with_constants(corpus, file, "sdpa_vector_2pass_1_float_64", &[(20, Bool(false))]);
    let run = run.input(&inputs.q).input(&inputs.k).input(&inputs.v);
    let run = run.output::<f32>(shape.heads * PARTS * shape.size);
    let run = run.output::<f32>(shape.heads * PARTS).output::<f32>(shape.heads * PARTS);
    let run = run.value((shape.heads / shape.kv_heads) as i32).value(shape.keys as i32);
    let run = run.sizes(&[shape.keys * shape.size; 2]).value(0.25f32).value(1f32);
    let first = run.threadgroups((1, shape.heads, PARTS), (256, 1, 1));
    let run = Run::new(corpus, file, "sdpa_vector_2pass_2_float_64").input(&first.content::<f32>(3));
    let run = run.input(&first.content::<f32>(4)).input(&first.content::<f32>(5)).output::<f32>(inputs.q.len());
    let want = inputs.reference(|_, score| 0.25 * score);
    run.threadgroups((1, shape.heads, 1), (1024, 1, 1)).output::<f32>().is_within(&want, 1e-5);
    first.output_at::<f32>(3).was_compared();
}

/// Many queries, by tiles.
pub(super) fn tiles(corpus: &Corpus) {
    let shape = |queries, keys, size| Attention { heads: 2, kv_heads: 1, queries, keys, size };
    tiled::<f32>(corpus, shape(37, 45, 64), Mask::None);
    tiled::<f16>(corpus, shape(32, 64, 64), Mask::None);
    // Under a causal mask the kernel reads keys for whole tiles of queries, also where there are none: what is missing
    // of the last tile of queries must be missing of the last tile of keys.
    tiled::<f16>(corpus, shape(60, 73, 128), Mask::Causal);
    tiled::<bf16>(corpus, shape(9, 70, 72), Mask::Causal);
    tiled::<f32>(corpus, shape(40, 33, 32), Mask::Added);
}

#[derive(Clone, Copy, PartialEq)]
enum Mask {
    None,
    Causal,
    Added,
}

fn tiled<T: Number>(corpus: &Corpus, shape: Attention, mask: Mask) {
    let Attention { heads, kv_heads, queries, keys, size } = shape;
    let (bq, bk) = (32, if size < 128 { 32 } else { 16 });
    let inputs = Inputs::<T>::new(shape);
    let constants = [
        (200, Bool(queries % bq == 0)),
        (201, Bool(keys % bk == 0)),
        (300, Bool(mask == Mask::Added)),
        (301, Bool(mask == Mask::Causal)),
    ];
    let ty = match T::NAME {
        "f32" => "float32",
        "f16" => "float16",
        _ => "bfloat16",
    };
    let kernel = format!("steel_attention_{ty}_bq{bq}_bk{bk}_bd{size}_wm4_wn1_mask{ty}");
    let past = keys.saturating_sub(queries);
    let strides = |heads: usize, positions: usize| [heads * positions * size, positions * size, size];
    let parameters = Fields::new()
        .set("B", 1)
        .set("H", heads)
        .set("D", size)
        .set("qL", queries)
        .set("kL", keys)
        .set("gqa_factor", heads / kv_heads)
        .set("scale", 0.25)
        .set("softcapping", 1.0)
        .set("NQ", queries.div_ceil(bq))
        .set("NK", keys.div_ceil(bk))
        .set("NQ_aligned", queries / bq)
        .set("NK_aligned", keys / bk)
        .set("qL_rem", queries % bq)
        .set("kL_rem", keys % bk)
        .set("qL_off", past)
        .array("Q_strides", &strides(heads, queries))
        .array("K_strides", &strides(kv_heads, keys))
        .array("V_strides", &strides(kv_heads, keys))
        .array("O_strides", &strides(heads, queries));
    let added: Vec<T> = Random::new(82).numbers(heads * queries * keys, -2.0, 2.0);
    let run = Run::with_constants(corpus, "scaled_dot_product_attention", kernel, &constants);
    let run = run.input(&inputs.q).input(&inputs.k).input(&inputs.v).output::<T>(inputs.q.len());
    let mut run = run.structure(&parameters);
    if mask == Mask::Added {
        let strides = Fields::new().array("M_strides", &[heads * queries * keys, queries * keys, keys]);
        run = run.structure(&strides).input(&added);
    }
    let want = inputs.reference(|[head, query, key], score| match mask {
        Mask::Causal if key > query + past => f64::NEG_INFINITY,
        Mask::None | Mask::Causal => 0.25 * score,
        Mask::Added => 0.25 * score + added[(head * queries + query) * keys + key].to_f64(),
    });
    let ran = run.threadgroups((queries.div_ceil(bq), heads, 1), (32, 4, 1));
    ran.output::<T>().is_within(&want, 4.0 * T::EPSILON + 1e-5);
}
