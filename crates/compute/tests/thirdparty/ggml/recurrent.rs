//! Layers that carry a state from token to token.

use crate::corpus::Corpus;
use crate::numbers::{Random, values};
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use metalworks_compute::ConstantValue::{Bool, Int, Short};

pub(super) fn gated_delta_net(corpus: &Corpus) {
    for (size, per_component) in [(32, false), (64, false), (128, true)] {
        delta_net(corpus, size, per_component);
    }
}

/// The gate is one number for each head, or one for each component.
fn delta_net(corpus: &Corpus, size: usize, per_component: bool) {
    // Two heads of queries and keys serve four of values.
    let (heads, key_heads, tokens, sequences) = (4, 2, 5, 2);
    let gates = if per_component { size } else { 1 };
    let (q, v) = (
        Tensor::of::<f32>([size, key_heads, tokens, sequences]),
        Tensor::of::<f32>([size, heads, tokens, sequences]),
    );
    let mut random = Random::new(160);
    let mut numbers = |count, low, high| -> Vec<f32> { random.numbers(count, low, high) };
    let (queries, keys) = (numbers(q.len(), -0.5, 0.5), numbers(q.len(), -0.2, 0.2));
    let given = numbers(v.len(), -1.0, 1.0);
    let gate = numbers(gates * heads * tokens * sequences, -1.0, 0.0);
    let beta = numbers(heads * tokens * sequences, 0.0, 1.0);
    let state = numbers(size * size * heads * sequences, -0.5, 0.5);

    let mut attention = vec![0.0; v.len()];
    let mut states = values(&state);
    for (head, sequence) in (0..heads * sequences).map(|at| (at % heads, at / heads)) {
        let rows = &mut states[(sequence * heads + head) * size * size..][..size * size];
        for token in 0..tokens {
            let step = (sequence * tokens + token) * heads + head;
            let from = ((sequence * tokens + token) * key_heads + head % key_heads) * size;
            let (query, key) = (values(&queries[from..from + size]), values(&keys[from..from + size]));
            for row in 0..size {
                let state = &mut rows[row * size..][..size];
                for (at, s) in state.iter_mut().enumerate() {
                    *s *= f64::from(gate[step * gates + at % gates]).exp();
                }
                let known: f64 = state.iter().zip(&key).map(|(s, k)| s * k).sum();
                let change = (f64::from(given[step * size + row]) - known) * f64::from(beta[step]);
                for (s, k) in state.iter_mut().zip(&key) {
                    *s += k * change;
                }
                let read: f64 = state.iter().zip(&query).map(|(s, q)| s * q).sum();
                attention[step * size + row] = read / (size as f64).sqrt();
            }
        }
    }
    attention.extend(states);

    let simdgroups = size / 32;
    let constants = [(1600, Short(size as i16)), (1601, Short(gates as i16)), (1602, Short(1))];
    let kernel = format!("kernel_gated_delta_net_f32_{simdgroups}");
    let to = Tensor::of::<f32>([size * heads, tokens * sequences, 1, 1]);
    let fields = Fields::new().tensor("0", &q).tensor("1", &q).tensor("2", &v).tensor("", &to);
    let fields = fields.set("ns02", q.nb[2] / 4).set("ns12", q.nb[2] / 4).set("ns22", v.nb[2] / 4).set("nb_out", 0);
    let run = Run::with_constants(corpus, "gated_delta_net", kernel, &constants).structure(&fields);
    let run = run.input(&queries).input(&keys).input(&given).input(&gate).input(&beta).input(&state);
    let run = run.output::<f32>(attention.len()).same_as(1);
    let ran = run.threadgroups((size / simdgroups, heads, sequences), (32, simdgroups, 1));
    ran.output_at::<f32>(7).is_within(&attention, 1e-5);
}

pub(super) fn convolution(corpus: &Corpus) {
    for (suffix, taps, tokens, batch) in
        [("", 3, 1, 0), ("_4", 4, 1, 0), ("_batched", 5, 9, 16), ("_batched_4", 4, 40, 32), ("_batched", 3, 4, 2)]
    {
        for silu in [false, true] {
            let (rows, sequences) = (11, 2);
            let from = Tensor::of::<f32>([tokens + taps - 1, rows, sequences, 1]).with_gaps([8, 4, 0]);
            let (kernel, to) =
                (Tensor::of::<f32>([taps, rows, 1, 1]), Tensor::of::<f32>([rows, tokens, sequences, 1]));
            let mut random = Random::new(161);
            let (x, c): (Vec<f32>, Vec<f32>) =
                (random.numbers(from.len(), -1.0, 1.0), random.numbers(kernel.len(), -1.0, 1.0));
            let mut constants = vec![(901, Bool(silu)), (902, Int(taps as i32))];
            if batch > 0 {
                constants.push((900, Short(batch as i16)));
            }
            let name = format!("kernel_ssm_conv_f32_f32{suffix}");
            let run = Run::with_constants(corpus, "ssm", name, &constants);
            let run = run.structure(&Fields::new().tensor("0", &from).tensor("1", &kernel).tensor("", &to));
            let run = run.input(&from.lay_out(&x)).input(&c).output::<f32>(to.len());
            let ran = match batch {
                0 => run.threadgroups((rows, tokens, sequences), (1, 1, 1)),
                _ => run.threadgroups((rows, tokens.div_ceil(batch), sequences), (batch, 1, 1)),
            };
            let want: Vec<f64> = to
                .indices()
                .map(|[row, token, sequence, _]| {
                    let start = (sequence * rows + row) * (tokens + taps - 1) + token;
                    let sum: f64 =
                        (0..taps).map(|at| f64::from(x[start + at]) * f64::from(c[row * taps + at])).sum();
                    if silu { sum / (1.0 + (-sum).exp()) } else { sum }
                })
                .collect();
            ran.output::<f32>().is_within(&want, 2e-6);
        }
    }
}

pub(super) fn scan(corpus: &Corpus) {
    // One decay for each component, or one for each head.
    for (state, decays) in [(32, 32), (64, 1), (128, 1)] {
        one_scan(corpus, state, decays);
    }
}

fn one_scan(corpus: &Corpus, state: usize, decays: usize) {
    let (inner, heads, groups, tokens, sequences, stored) = (3, 4, 2, 7, 2, 5);
    let s0 = Tensor::of::<f32>([state, inner, heads, stored]);
    let x = Tensor::of::<f32>([inner, heads, tokens, sequences]);
    let dt = Tensor::of::<f32>([heads, tokens, sequences, 1]);
    let a = Tensor::of::<f32>([decays, heads, 1, 1]);
    let b = Tensor::of::<f32>([state, groups, tokens, sequences]);
    let mut random = Random::new(162);
    let mut numbers = |tensor: &Tensor, low, high| -> Vec<f32> { random.numbers(tensor.len(), low, high) };
    let (s, xs, dts) = (numbers(&s0, -1.0, 1.0), numbers(&x, -1.0, 1.0), numbers(&dt, -1.0, 1.0));
    let (decay, bs, cs) = (numbers(&a, -1.0, -0.1), numbers(&b, -1.0, 1.0), numbers(&b, -1.0, 1.0));
    let ids = [3i32, 1];

    let (mut out, mut states) = (vec![0.0; x.len()], Vec::new());
    for (sequence, id) in ids.into_iter().enumerate() {
        for (head, row) in (0..heads * inner).map(|at| (at / inner, at % inner)) {
            let from = ((id as usize * heads + head) * inner + row) * state;
            let mut now = values(&s[from..from + state]);
            for token in 0..tokens {
                let step = sequence * tokens + token;
                let time = f64::from(dts[step * heads + head]).exp().ln_1p();
                let input = f64::from(xs[(step * heads + head) * inner + row]) * time;
                let group = (step * groups + head * groups / heads) * state;
                let mut sum = 0.0;
                for (at, s) in now.iter_mut().enumerate() {
                    let decay = (time * f64::from(decay[head * decays + at % decays])).exp();
                    *s = *s * decay + f64::from(bs[group + at]) * input;
                    sum += *s * f64::from(cs[group + at]);
                }
                out[(step * heads + head) * inner + row] = sum;
            }
            states.extend(now);
        }
    }
    out.extend(states);

    let fields = Fields::new()
        .tensor("0", &s0)
        .tensor("1", &x)
        .tensor("2", &dt)
        .tensor("3", &a)
        .tensor("4", &b)
        .tensor("5", &b)
        .set("d_state", state)
        .set("d_inner", inner)
        .set("n_head", heads)
        .set("n_group", groups)
        .set("n_seq_tokens", tokens)
        .set("n_seq_tokens_total", tokens)
        .set("token_offset", 0)
        .set("n_seqs", sequences)
        .set("K", 1)
        .set("s_off", 4 * x.len())
        .set("ns12", x.nb[2] / 4)
        .set("ns21", dt.nb[1] / 4)
        .set("ns42", b.nb[2] / 4)
        .set("ns52", b.nb[2] / 4)
        .set("nb0", 4);
    let run = Run::new(corpus, "ssm", "kernel_ssm_scan_f32").structure(&fields);
    let run = run.input(&s).input(&xs).input(&dts).input(&decay).input(&bs).input(&cs).input(&ids);
    let simdgroups = state / 32;
    let run = run.output::<f32>(out.len()).threadgroup_memory(4 * (simdgroups * 32 + 2 * simdgroups));
    run.threadgroups((inner, heads, sequences), (state, 1, 1)).output::<f32>().is_within(&out, 1e-5);
}
