//! Attention of single queries over keys and values: `sdpa_vector`, and the same in two passes.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::random::Random;
use metalworks_compute::ConstantValue;

/// `heads` query heads share `heads / group` heads of keys and values.
const HEADS: usize = 6;
const GROUP: usize = 3;
const QUERIES: usize = 2;
const KEYS: usize = 77;
/// Capacity of the memory in keys.
const ROOM: usize = KEYS + 3;

#[derive(Clone, Copy, PartialEq)]
enum Mask {
    None,
    Causal,
    Bool,
    Float,
}

#[derive(Clone, Copy)]
struct Variant {
    mask: Mask,
    /// A score that takes part in the sum, and has no value (an attention sink).
    has_sinks: bool,
    /// Queries lie by position, then by head.
    is_transposed: bool,
}

const VARIANTS: [Variant; 4] = [
    Variant { mask: Mask::None, has_sinks: false, is_transposed: false },
    Variant { mask: Mask::Causal, has_sinks: true, is_transposed: true },
    Variant { mask: Mask::Bool, has_sinks: false, is_transposed: false },
    Variant { mask: Mask::Float, has_sinks: true, is_transposed: false },
];

struct Problem {
    dtype: DType,
    width: usize,
    value_width: usize,
    scale: f32,
    variant: Variant,
    queries: Array,
    keys: Array,
    values: Array,
    bools: Array,
    floats: Array,
    sinks: Array,
}

impl Problem {
    fn new(name: &str, dtype: DType, width: usize, value_width: usize, variant: Variant) -> Problem {
        let mut random = Random::new(name);
        let kept = HEADS / GROUP * ROOM;
        let mut floats = random.array(dtype, HEADS * QUERIES * KEYS, -1.0, 1.0);
        floats.values.iter_mut().step_by(5).for_each(|value| *value = Scalar::Float(f64::NEG_INFINITY));
        Problem {
            dtype,
            width,
            value_width,
            scale: 1.0 / (width as f32).sqrt(),
            variant,
            queries: random.array(dtype, HEADS * QUERIES * width, -2.0, 2.0),
            keys: random.array(dtype, kept * width, -2.0, 2.0),
            values: random.array(dtype, kept * value_width, -2.0, 2.0),
            bools: random.array(DType::Bool, HEADS * QUERIES * KEYS, 0.0, 1.0),
            floats,
            sinks: random.array(dtype, HEADS, -1.0, 1.0),
        }
    }

    /// The score of a key; `None` if it is masked.
    fn score(&self, head: usize, query: usize, key: usize) -> Option<f64> {
        let row = if self.variant.is_transposed { query * HEADS + head } else { head * QUERIES + query };
        let place = (head / GROUP * ROOM + key) * self.width;
        let product = |at| self.queries.float(row * self.width + at) * self.keys.float(place + at);
        let score = f64::from(self.scale) * (0..self.width).map(product).sum::<f64>();
        let mask = (head * QUERIES + query) * KEYS + key;
        match self.variant.mask {
            Mask::None => Some(score),
            Mask::Causal => (key <= KEYS - QUERIES + query).then_some(score),
            Mask::Bool => self.bools.values[mask].truth().then_some(score),
            Mask::Float => self.floats.float(mask).is_finite().then(|| score + self.floats.float(mask)),
        }
    }

    /// The greatest score, the sum of exponentials relative to it, and the values weighted with these; over every key
    /// that `counts`.
    fn attend(
        &self,
        head: usize,
        query: usize,
        sink: bool,
        counts: impl Fn(usize) -> bool,
    ) -> (f64, f64, Vec<f64>) {
        let scores: Vec<(usize, f64)> = (0..KEYS)
            .filter(|key| counts(*key))
            .filter_map(|key| Some((key, self.score(head, query, key)?)))
            .collect();
        let sink = (sink && self.variant.has_sinks).then(|| self.sinks.float(head));
        let greatest = scores.iter().map(|(_, score)| *score).chain(sink).fold(f64::from(f32::MIN), f64::max);
        let mut sum = sink.map_or(0.0, |sink| (sink - greatest).exp());
        let mut weighted = vec![0.0; self.value_width];
        for (key, score) in scores {
            let weight = (score - greatest).exp();
            sum += weight;
            let place = (head / GROUP * ROOM + key) * self.value_width;
            weighted
                .iter_mut()
                .enumerate()
                .for_each(|(at, total)| *total += weight * self.values.float(place + at));
        }
        (greatest, sum, weighted)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::ulps(1.0).and_absolute(if self.dtype == DType::Float32 { 2e-6 } else { 1e-4 })
    }

    /// The function constants, and the arguments that depend on them from index `first` on.
    fn bind_options(&self, mut case: Case, first: usize) -> Case {
        let Variant { mask, has_sinks, is_transposed } = self.variant;
        let has_mask = matches!(mask, Mask::Bool | Mask::Float);
        let flags =
            [has_mask, is_transposed, mask == Mask::Causal, mask == Mask::Bool, mask == Mask::Float, has_sinks];
        for (index, flag) in flags.into_iter().enumerate() {
            case.constants.set(20 + index as u32, ConstantValue::Bool(flag));
        }
        if mask == Mask::Bool {
            case = case.bind_at(first, Argument::Input(self.bools.clone()));
        }
        if mask == Mask::Float {
            case = case.bind_at(first + 1, Argument::Input(self.floats.clone()));
        }
        if has_mask {
            let strides = [1, KEYS as i32, (QUERIES * KEYS) as i32];
            for (offset, stride) in strides.into_iter().enumerate() {
                case = case.bind_at(first + 2 + offset, Argument::int(stride));
            }
        }
        if has_sinks {
            case = case.bind_at(first + 5, Argument::Input(self.sinks.clone()));
        }
        case
    }

    fn bind_strides(&self, case: Case) -> Case {
        let [keys, values] = [self.width, self.value_width].map(|width| width as i64);
        case.bind(Argument::long(ROOM as i64 * keys))
            .bind(Argument::long(keys))
            .bind(Argument::long(ROOM as i64 * values))
            .bind(Argument::long(values))
            .bind(Argument::float(self.scale))
    }
}

/// The type and the two widths at the end of a name: `float16_t_128_64`.
fn parse(rest: &str) -> Option<(DType, usize, usize)> {
    let (dtype, widths) =
        [("float_", DType::Float32), ("float16_t_", DType::Float16), ("bfloat16_t_", DType::Bfloat16)]
            .into_iter()
            .find_map(|(name, dtype)| Some((dtype, rest.strip_prefix(name)?)))?;
    let mut widths = widths.split('_').map_while(|width| width.parse().ok());
    let width = widths.next()?;
    Some((dtype, width, widths.next().unwrap_or(width)))
}

pub(crate) fn single_pass() -> impl Iterator<Item = Case> {
    let names = harness::names("sdpa_vector_").into_iter().filter(|name| !name.contains("2pass"));
    names.enumerate().filter_map(|(position, name)| {
        let (dtype, width, value_width) = parse(name.strip_prefix("sdpa_vector_")?)?;
        let problem = Problem::new(&name, dtype, width, value_width, VARIANTS[position % VARIANTS.len()]);
        let mut expected = Vec::new();
        for head in 0..HEADS {
            for query in 0..QUERIES {
                let (_, sum, weighted) = problem.attend(head, query, true, |_| true);
                expected.extend(weighted.into_iter().map(|value| value / sum));
            }
        }
        let case = Case::new(&name, CaseGrid::Threadgroups([HEADS, QUERIES, 1], [1024, 1, 1]))
            .input(&problem.queries)
            .input(&problem.keys)
            .input(&problem.values)
            .bind(Argument::float_output(dtype, expected, problem.tolerance()))
            .bind(Argument::int(GROUP as i32))
            .bind(Argument::int(KEYS as i32));
        let mut case = problem.bind_options(problem.bind_strides(case), 11);
        if problem.variant.has_sinks {
            case = case.bind_at(17, Argument::int(HEADS as i32));
        }
        Some(case)
    })
}

/// The first pass: each of 32 blocks attends to every 32nd key.
pub(crate) fn first_pass() -> impl Iterator<Item = Case> {
    let names = harness::names("sdpa_vector_2pass_1_").into_iter().filter(|name| !name.contains("gqa"));
    names.enumerate().filter_map(|(position, name)| {
        let (dtype, width, value_width) = parse(name.strip_prefix("sdpa_vector_2pass_1_")?)?;
        let problem = Problem::new(&name, dtype, width, value_width, VARIANTS[position % VARIANTS.len()]);
        let blocks = 32;
        let (mut partial, mut sums, mut greatest) = (Vec::new(), Vec::new(), Vec::new());
        for head in 0..HEADS {
            for query in 0..QUERIES {
                for block in 0..blocks {
                    let (max, sum, weighted) = problem.attend(head, query, block == 0, |key| key % blocks == block);
                    partial.extend(weighted);
                    sums.push(sum);
                    greatest.push(max);
                }
            }
        }
        let groups = [(HEADS / GROUP), 1, blocks];
        let close = Tolerance::ulps(8.0).and_absolute(4e-6);
        let case = Case::new(&name, CaseGrid::Threadgroups(groups, [32, GROUP, QUERIES]))
            .input(&problem.queries)
            .input(&problem.keys)
            .input(&problem.values)
            .bind(Argument::float_output(dtype, partial, problem.tolerance()))
            .bind(Argument::float_output(DType::Float32, sums, close))
            .bind(Argument::float_output(DType::Float32, greatest, close))
            .bind_at(7, Argument::int(KEYS as i32));
        let mut case = problem.bind_options(problem.bind_strides(case), 13);
        case.constants.set(26, ConstantValue::Int(blocks as i32));
        Some(case)
    })
}

/// The second pass: partial results of 64 blocks become one.
pub(crate) fn second_pass() -> impl Iterator<Item = Case> {
    harness::names("sdpa_vector_2pass_2_").into_iter().filter_map(|name| {
        let (dtype, width, _) = parse(name.strip_prefix("sdpa_vector_2pass_2_")?)?;
        let (heads, queries, blocks) = (3, 2, 64);
        let rows = heads * queries;
        let mut random = Random::new(&name);
        let partial = random.array(dtype, rows * blocks * width, -2.0, 2.0);
        let sums = random.array(DType::Float32, rows * blocks, 0.5, 4.0);
        let greatest = random.array(DType::Float32, rows * blocks, -5.0, 5.0);
        let mut expected = Vec::new();
        for row in 0..rows {
            let factor = |block: usize| greatest.float(row * blocks + block).exp();
            let sum: f64 = (0..blocks).map(|block| factor(block) * sums.float(row * blocks + block)).sum();
            for at in 0..width {
                let value = |block: usize| factor(block) * partial.float((row * blocks + block) * width + at);
                expected.push((0..blocks).map(value).sum::<f64>() / sum);
            }
        }
        let tolerance = Tolerance::ulps(1.0).and_absolute(if dtype == DType::Float32 { 2e-6 } else { 1e-4 });
        let case = Case::new(&name, CaseGrid::Threadgroups([heads, queries, 1], [1024, 1, 1]))
            .input(&partial)
            .input(&sums)
            .input(&greatest)
            .bind(Argument::float_output(dtype, expected, tolerance))
            .bind(Argument::int(blocks as i32));
        Some(case)
    })
}
