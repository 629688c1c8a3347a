//! `sampling.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run, run_rows};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{Argmax, Penalize, Sample, TopK, argmax, penalize, sample, top_k};

fn tokens(tensor: &Tensor) -> Vec<usize> {
    tensor.numbers().into_iter().map(|token| token as usize).collect()
}

/// Number of simdgroups that share a row.
const SIMDGROUPS: [usize; 2] = [1, 32];

fn largest(logits: &[f64], rows: usize) -> Vec<usize> {
    let n = logits.len() / rows;
    let x = Tensor::new(Type::F32, logits);
    let [alone, together] = SIMDGROUPS.map(|simdgroups| {
        let chosen = Tensor::poisoned(Type::U32, rows);
        let op = Argmax { logits: x.slice(), tokens: chosen.slice(), rows, n };
        run_rows(simdgroups, |encoding| argmax(encoding, op));
        tokens(&chosen)
    });
    assert_eq!(alone, together, "one and several simdgroups");
    alone
}

#[test]
fn argmax_finds_the_largest_at_any_index() {
    for n in [1, 2, 31, 32, 33, 1000, 49152] {
        for index in [0, n / 2, n - 1] {
            let mut logits = Random::new(n as u64).normals(n);
            logits[index] = 100.0;
            assert_eq!(largest(&logits, 1), [index], "{n}");
        }
    }
    let negative: Vec<f64> = (0..3 * 70).map(|i| -1.0 - ((i * 29) % 70) as f64).collect();
    assert_eq!(largest(&negative, 3), [0, 0, 0]);
}

#[test]
fn argmax_prefers_the_lowest_index_and_ignores_nan() {
    assert_eq!(largest(&[1.0; 100], 1), [0]);
    let mut logits = vec![0.0; 200];
    for index in [71, 40, 199, 103] {
        logits[index] = 2.5;
    }
    assert_eq!(largest(&logits, 1), [40]);
    logits[..40].fill(f64::NAN);
    logits[199] = f64::INFINITY;
    assert_eq!(largest(&logits, 1), [199]);
    assert_eq!(largest(&[-1.0, -0.0, 0.0], 1), [1], "−0 and +0 are equal");
    let mut masked = vec![f64::NEG_INFINITY; 50];
    masked[45] = -1e30;
    assert_eq!(largest(&masked, 1), [45]);
    assert_eq!(largest(&[f64::NAN; 40], 1), [0], "there is nothing else");
}

#[test]
fn the_k_largest_by_index() {
    let mut random = Random::new(3);
    let mut cases: Vec<(Vec<f64>, usize)> = Vec::new();
    for (n, k) in [(1, 1), (40, 1), (40, 40), (33, 32), (1000, 40), (5000, 256)] {
        cases.push((random.normals(n), k));
        // Few distinct numbers: the threshold has ties.
        cases.push(((0..n).map(|_| (random.uniform() * 5.0).floor() - 2.0).collect(), k));
        cases.push((vec![0.5; n], k));
    }
    for ((logits, k), simdgroups) in cases.into_iter().zip(SIMDGROUPS.into_iter().cycle()) {
        let n = logits.len();
        let what = format!("top {k} of {n} by {simdgroups}");
        let x = Tensor::new(Type::F32, &[logits.clone(), logits].concat());
        let both = |(values, kept): &(Tensor, Tensor)| [values.contents(), kept.contents()].concat();
        let (values, kept) = repeated(&what, both, || {
            let values = Tensor::poisoned(Type::F32, 2 * k);
            let kept = Tensor::poisoned(Type::U32, 2 * k);
            let op = TopK { logits: x.slice(), values: values.slice(), tokens: kept.slice(), rows: 2, n, k };
            run_rows(simdgroups, |encoding| top_k(encoding, op));
            (values, kept)
        });
        let logits = &x.numbers()[..n];
        let mut expected: Vec<usize> = (0..n).collect();
        expected.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
        expected.truncate(k);
        expected.sort();
        let kept = tokens(&kept);
        assert_eq!((&kept[..k], &kept[k..]), (&expected[..], &expected[..]), "{what}");
        let worth: Vec<f64> = kept.iter().map(|&token| logits[token]).collect();
        assert_eq!(values.numbers(), worth, "{what}");
    }
}

/// The kernel's draw in f64: hash, Gumbel distribution, maximum. `None` if two tokens are so close that rounding
/// decides.
fn reference_draw(
    logits: &[f64],
    kept: &[usize],
    temperature: f64,
    seed: u64,
    step: u32,
    row: u32,
) -> Option<usize> {
    fn scramble(x: u32) -> u32 {
        let x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        let x = (x ^ (x >> 15)).wrapping_mul(0x735a_2d97);
        x ^ (x >> 15)
    }
    let key = scramble(row.wrapping_add(0x9e37_79b9));
    let key = scramble(seed as u32 ^ scramble((seed >> 32) as u32 ^ scramble(step ^ key)));
    let mut scores: Vec<(f64, usize)> = kept
        .iter()
        .map(|&token| {
            let uniform = (f64::from(scramble(token as u32 ^ key)) + 0.5) / 4294967296.0;
            let exponential = -(-uniform).ln_1p();
            (logits[token] / temperature - exponential.ln(), token)
        })
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    match scores[..] {
        [first, second, ..] if first.0 - second.0 < 1e-4 => None,
        _ => Some(scores[0].1),
    }
}

/// Tokens that top_p and min_p keep.
fn reference_kept(logits: &[f64], top_p: f64, min_p: f64) -> Vec<usize> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let wanted = top_p * weights.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let mut reached = 0.0;
    let mut last = None;
    let mut kept = Vec::new();
    for token in order {
        if top_p < 1.0 && reached >= wanted && last.is_some_and(|last| weights[token] < last) {
            break;
        }
        (reached, last) = (reached + weights[token], Some(weights[token]));
        if weights[token] >= min_p {
            kept.push(token);
        }
    }
    kept
}

#[test]
fn draws_are_those_of_the_formula() {
    let mut decided = 0;
    for (n, simdgroups) in [(1, 1), (5, 5), (32, 1), (33, 5), (700, 1), (700, 5), (5000, 1), (5000, 32)] {
        let rows = 3;
        let logits: Vec<f64> =
            Random::new(n as u64).normals(rows * n).into_iter().map(|logit| logit * 2.0).collect();
        let x = Tensor::new(Type::F32, &logits);
        for (step, (temperature, top_p, min_p)) in [
            (1.0, 1.0, 0.0),
            (0.5, 0.9, 0.0),
            (1.5, 1.0, 0.05),
            (0.8, 0.55, 0.02),
            (1.0, 0.0, 0.0),
            (3.0, 0.99, 0.5),
        ]
        .into_iter()
        .enumerate()
        {
            let (seed, step) = (0x1234_5678_9abc_def0 + n as u64, step as u32);
            let what = format!("{n} numbers, temperature {temperature}, top_p {top_p}, min_p {min_p}");
            let chosen = repeated(&what, Tensor::contents, || {
                let chosen = Tensor::poisoned(Type::U32, rows);
                let op = Sample {
                    values: x.slice(),
                    candidates: None,
                    tokens: chosen.slice(),
                    rows,
                    n,
                    temperature,
                    top_p,
                    min_p,
                    seed,
                    step,
                };
                run_rows(simdgroups, |encoding| sample(encoding, op));
                chosen
            });
            for (row, (chosen, logits)) in tokens(&chosen).into_iter().zip(x.numbers().chunks(n)).enumerate() {
                let kept = reference_kept(logits, f64::from(top_p), f64::from(min_p));
                assert!(kept.contains(&chosen), "{what}: {chosen} is not kept");
                if let Some(token) = reference_draw(logits, &kept, f64::from(temperature), seed, step, row as u32) {
                    assert_eq!(chosen, token, "{what}, row {row}");
                    decided += 1;
                }
            }
        }
    }
    assert!(decided > 132, "{decided} of 144 draws could be compared");
}

#[test]
fn equal_numbers_are_kept_together() {
    // More than fit in the candidates, and one smaller number.
    let mut logits = vec![1.0; 3000];
    logits[17] = 0.0;
    let x = Tensor::new(Type::F32, &logits);
    for simdgroups in SIMDGROUPS {
        let chosen = Tensor::poisoned(Type::U32, 1);
        let op = Sample {
            values: x.slice(),
            candidates: None,
            tokens: chosen.slice(),
            rows: 1,
            n: 3000,
            temperature: 1.0,
            top_p: 0.01,
            min_p: 0.0,
            seed: 3,
            step: 1,
        };
        run_rows(simdgroups, |encoding| sample(encoding, op));
        let kept: Vec<usize> = (0..3000).filter(|&token| token != 17).collect();
        let expected = reference_draw(&logits, &kept, 1.0, 3, 1, 0).expect("a clear case");
        assert_eq!(tokens(&chosen), [expected]);
    }
}

#[test]
fn candidates_keep_their_tokens() {
    let logits = Random::new(9).normals(500);
    let x = Tensor::new(Type::F32, &logits);
    let (values, kept) = (Tensor::poisoned(Type::F32, 20), Tensor::poisoned(Type::U32, 20));
    let chosen = Tensor::poisoned(Type::U32, 1);
    let (seed, step) = (77, 5);
    run(|encoding| {
        let op = TopK { logits: x.slice(), values: values.slice(), tokens: kept.slice(), rows: 1, n: 500, k: 20 };
        top_k(encoding, op)?;
        let op = Sample {
            values: values.slice(),
            candidates: Some(kept.slice()),
            tokens: chosen.slice(),
            rows: 1,
            n: 20,
            temperature: 2.0,
            top_p: 1.0,
            min_p: 0.0,
            seed,
            step,
        };
        sample(encoding, op)
    });
    let expected = reference_draw(&x.numbers(), &tokens(&kept), 2.0, seed, step, 0).expect("a clear case");
    assert_eq!(tokens(&chosen), [expected]);
}

#[test]
fn draws_have_the_right_frequencies() {
    // The same four logits in every row: each row is a draw.
    let (rows, n) = (20000, 4);
    let probabilities = [0.5, 0.3, 0.15, 0.05f64];
    let logits: Vec<f64> = (0..rows).flat_map(|_| probabilities.map(f64::ln)).collect();
    let x = Tensor::new(Type::F32, &logits);
    let mut counts = [0.0; 4];
    let chosen = Tensor::poisoned(Type::U32, rows);
    let op = Sample {
        values: x.slice(),
        candidates: None,
        tokens: chosen.slice(),
        rows,
        n,
        temperature: 1.0,
        top_p: 1.0,
        min_p: 0.0,
        seed: 1,
        step: 0,
    };
    run(|encoding| sample(encoding, op));
    tokens(&chosen).into_iter().for_each(|token| counts[token] += 1.0);
    // Five standard deviations: the draws are deterministic, so this fails always or never.
    for (count, probability) in counts.into_iter().zip(probabilities) {
        let deviation = (probability * (1.0 - probability) / rows as f64).sqrt();
        assert!((count / rows as f64 - probability).abs() < 5.0 * deviation, "{counts:?}");
    }
}

#[test]
fn penalties_count_a_token_once_and_its_times() {
    let (rows, n) = (2, 100);
    let recent: [u32; 70] = std::array::from_fn(|i| match i {
        0..40 => (i % 9) as u32,
        40..60 => 99,
        60 => 1000,
        _ => u32::MAX,
    });
    let (repeat, presence, frequency) = (1.25, 0.5, 0.0625);
    let logits = Random::new(4).normals(rows * n);
    let list = Tensor::integers(&[recent, recent.map(|token| token.wrapping_add(7))].concat());
    let before = Tensor::new(Type::F32, &logits).numbers();
    let x = repeated("penalize", Tensor::contents, || {
        let x = Tensor::new(Type::F32, &logits);
        let op = Penalize {
            logits: x.slice(),
            recent: list.slice(),
            rows,
            n,
            count: recent.len(),
            repeat,
            presence,
            frequency,
        };
        run(|encoding| penalize(encoding, op));
        x
    });
    let expected: Vec<f64> = (0..rows * n)
        .map(|i| {
            let (row, token, logit) = (i / n, (i % n) as u32, before[i]);
            let times = recent.iter().filter(|&&recent| recent.wrapping_add(7 * row as u32) == token).count();
            let repeated = if logit > 0.0 { logit / f64::from(repeat) } else { logit * f64::from(repeat) };
            let lowered = repeated - f64::from(presence) - times as f64 * f64::from(frequency);
            if times > 0 { lowered } else { logit }
        })
        .collect();
    assert_close("penalize", &x.numbers(), &expected, ErrorBound::of(Activation::F32));
}

#[test]
fn rejects_invalid_parameters() {
    let x = Tensor::new(Type::F32, &[0.0; 8]);
    let chosen = Tensor::poisoned(Type::U32, 8);
    let op = Sample {
        values: x.slice(),
        candidates: None,
        tokens: chosen.slice(),
        rows: 1,
        n: 8,
        temperature: 1.0,
        top_p: 1.0,
        min_p: 0.0,
        seed: 0,
        step: 0,
    };
    for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let message = rejected(|encoding| sample(encoding, Sample { temperature, ..op }));
        assert!(message.starts_with("sample: temperature is "), "{message}");
    }
    assert!(rejected(|encoding| sample(encoding, Sample { rows: 2, ..op })).contains("values has 32 bytes"));
    let op = TopK { logits: x.slice(), values: x.slice(), tokens: chosen.slice(), rows: 1, n: 8, k: 9 };
    assert_eq!(rejected(|encoding| top_k(encoding, op)), "top_k: 9 are to be kept of 8");
}
