//! Attention of many queries at a time, by tiles: `steel_attention`.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;
use metalworks_compute::ConstantValue;

const HEADS: usize = 4;
/// Heads of queries that share one of keys and values.
const GROUP: usize = 2;

/// A choice of function constants.
#[derive(Clone, Copy)]
struct Variant {
    queries: usize,
    keys: usize,
    has_mask: bool,
    is_causal: bool,
    /// A score that takes part in the sum, and has no value (an attention sink).
    has_sinks: bool,
}

/// Sizes that the tiles of 32 queries and 16 or 32 keys do not divide, and sizes that they divide.
const VARIANTS: [Variant; 3] = [
    Variant { queries: 45, keys: 77, has_mask: false, is_causal: true, has_sinks: false },
    Variant { queries: 45, keys: 83, has_mask: true, is_causal: false, has_sinks: true },
    Variant { queries: 64, keys: 96, has_mask: false, is_causal: false, has_sinks: false },
];

struct Problem {
    variant: Variant,
    dtype: DType,
    width: usize,
    value_width: usize,
    scale: f32,
    queries: Array,
    keys: Array,
    values: Array,
    mask: Array,
    sinks: Array,
}

impl Problem {
    /// The score of a key; `None` if it is masked.
    fn score(&self, head: usize, query: usize, key: usize) -> Option<f64> {
        let Variant { queries, keys, has_mask, is_causal, .. } = self.variant;
        if is_causal && key > keys - queries + query {
            return None;
        }
        let row = (head * queries + query) * self.width;
        let place = (head / GROUP * keys + key) * self.width;
        let product = |at| self.queries.float(row + at) * self.keys.float(place + at);
        let score = f64::from(self.scale) * (0..self.width).map(product).sum::<f64>();
        match self.mask.values[(head * queries + query) * keys + key] {
            _ if !has_mask => Some(score),
            Scalar::Int(keep) => (keep == 1).then_some(score),
            other => Some(score + other.float()),
        }
    }

    /// The logarithm of the sum of exponentials, and the weighted values.
    fn attend(&self, head: usize, query: usize) -> (f64, Vec<f64>) {
        let sink = self.variant.has_sinks.then(|| self.sinks.float(head).exp());
        let mut sum = sink.unwrap_or(0.0);
        let mut weighted = vec![0.0; self.value_width];
        for key in 0..self.variant.keys {
            let Some(weight) = self.score(head, query, key).map(f64::exp) else { continue };
            sum += weight;
            let place = (head / GROUP * self.variant.keys + key) * self.value_width;
            weighted
                .iter_mut()
                .enumerate()
                .for_each(|(at, total)| *total += weight * self.values.float(place + at));
        }
        (sum.ln(), weighted.into_iter().map(|value| value / sum).collect())
    }
}

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    harness::names("steel_attention_").into_iter().enumerate().filter_map(|(position, name)| {
        let (rest, mask_type) = name.rsplit_once("_mask").and_then(|(rest, ty)| Some((rest, DType::named(ty)?)))?;
        let dtype = rest.split('_').find_map(DType::named)?;
        let variant = VARIANTS[position % VARIANTS.len()];
        let (width, value_width) = (number(&name, "bd")?, number(&name, "bv")?);
        if dtype == DType::Float32 && width == 192 {
            // It needs 40,448 bytes of threadgroup memory, more than any Apple GPU has.
            return None;
        }
        let (queries, keys) = (variant.queries, variant.keys);
        let mut random = Random::new(&name);
        let kept = HEADS / GROUP * keys;
        let problem = Problem {
            variant,
            dtype,
            width,
            value_width,
            scale: 1.0 / (width as f32).sqrt(),
            queries: random.array(dtype, HEADS * queries * width, -2.0, 2.0),
            keys: random.array(dtype, kept * width, -2.0, 2.0),
            values: random.array(dtype, kept * value_width, -2.0, 2.0),
            mask: random.array(mask_type, HEADS * queries * keys, -1.0, 1.0),
            sinks: random.array(dtype, HEADS, -1.0, 1.0),
        };
        case(&name, &problem)
    })
}

fn case(name: &str, problem: &Problem) -> Option<Case> {
    let Variant { queries, keys, has_mask, is_causal, has_sinks } = problem.variant;
    let (bq, bk) = (number(name, "bq")?, number(name, "bk")?);
    let (mut expected, mut logarithms) = (Vec::new(), Vec::new());
    for head in 0..HEADS {
        for query in 0..queries {
            let (logarithm, values) = problem.attend(head, query);
            logarithms.push(logarithm);
            expected.extend(values);
        }
    }
    let int = |value: usize| (value as i32).to_le_bytes();
    let mut parameters: Vec<u8> = [1, HEADS, problem.width, queries, keys, GROUP].map(int).concat();
    parameters.extend(problem.scale.to_le_bytes());
    let blocks = [queries.div_ceil(bq), keys.div_ceil(bk), queries / bq, keys / bk];
    let rests = [queries % bq, keys % bk, keys - queries];
    parameters.extend(blocks.map(int).concat());
    parameters.extend(rests.map(int).concat());
    let shapes = [
        (queries, problem.width),
        (keys, problem.width),
        (keys, problem.value_width),
        (queries, problem.value_width),
    ];
    for (rows, width) in shapes {
        // Of one batch, so that the first is not used.
        parameters.extend([0, rows * width, width].map(|stride| (stride as i64).to_le_bytes()).concat());
    }
    let tolerance = match problem.dtype {
        DType::Float32 => Tolerance::ulps(1.0).and_absolute(4e-6),
        // The weights are rounded to the type before they meet the values.
        dtype => Tolerance::ulps(1.0).and_absolute(2.0 * dtype.epsilon()),
    };
    let threads = [32, number(name, "wm")?, number(name, "wn")?];
    let mut case = Case::new(name, CaseGrid::Threadgroups([blocks[0], HEADS, 1], threads))
        .input(&problem.queries)
        .input(&problem.keys)
        .input(&problem.values)
        .bind(Argument::float_output(problem.dtype, expected, tolerance))
        .bind(Argument::Bytes(parameters))
        .bind_at(8, Argument::float_output(DType::Float32, logarithms, Tolerance::ulps(16.0).and_absolute(4e-6)));
    if has_mask {
        case = case.bind_at(5, Argument::longs(&[0, (queries * keys) as i64, keys as i64]));
        case = case.bind_at(6, Argument::Input(problem.mask.clone()));
    }
    if has_sinks {
        case = case.bind_at(7, Argument::Input(problem.sinks.clone()));
    }
    let aligned = [(200, queries % bq == 0), (201, keys % bk == 0)];
    let options = [(300, has_mask), (301, is_causal), (302, has_sinks), (303, true)];
    for (index, value) in aligned.into_iter().chain(options) {
        case.constants.set(index, ConstantValue::Bool(value));
    }
    Some(case)
}
