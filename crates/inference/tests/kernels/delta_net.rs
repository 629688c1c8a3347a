//! `delta_net.metal` and `gated_attention.metal`

use crate::compare::{ErrorBound, assert_close};
use crate::device::{device, in_order, rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use compute::Result;
use metalworks_inference::cases;
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::dispatch::Encoding;
use metalworks_inference::metal::operations::CacheRows;
use metalworks_inference::metal::operations::{CausalConv, DeltaNet, causal_conv, delta_net};
use metalworks_inference::metal::operations::{GateHeads, GatedRmsNorm, gate_heads, gated_rms_norm};
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::selftest::{Check, Verdict};

const HEADS: usize = 4;
const KEY_HEADS: usize = 2;
const HEAD_DIM: usize = 64;
const CHANNELS: usize = (2 * KEY_HEADS + HEADS) * HEAD_DIM;

#[test]
fn the_divisions_of_work_for_gpus_compute_the_same() {
    let wanted = ["causal_conv", "delta_net", "delta_net_prompt"];
    let cases = cases::checked().expect("the tables of operations are right");
    let cases: Vec<_> = cases.iter().filter(|case| wanted.contains(&case.operation.name)).collect();
    assert!(cases.len() > 12, "{} cases", cases.len());
    let gpu = MetalDevice::with_tuning(device().device().clone(), None, Tuning::apple(9));
    let gpu = gpu.expect("the library is right");
    for case in cases {
        for adverse in [false, true] {
            let what = format!("{} {}, adverse {adverse}", case.name(), case.shape);
            let check = Check::new(&gpu, case).unwrap_or_else(|problem| panic!("{what}: {problem}"));
            in_order(adverse, || check.run(&gpu)).unwrap_or_else(|problem| panic!("{what}: {problem}"));
            assert_eq!(check.verdict().1, Verdict::Passed, "{what}");
        }
    }
}

/// Inputs, weights and states of a layer.
struct Layer {
    x: Tensor,
    w: Tensor,
    alpha: Tensor,
    beta: Tensor,
    decay: Tensor,
    bias: Tensor,
    conv_state: Tensor,
    state: Tensor,
    convolved: Tensor,
    y: Tensor,
}

impl Layer {
    /// A layer whose states have never been written.
    fn new(tokens: usize) -> Layer {
        let mut random = Random::new(3);
        let mut numbers = |count: usize| Tensor::new(Type::F32, &random.normals(count));
        Layer {
            x: numbers(tokens * CHANNELS),
            w: numbers(CHANNELS * 4),
            alpha: numbers(tokens * HEADS),
            beta: numbers(tokens * HEADS),
            decay: Tensor::new(Type::F32, &[-0.01, -0.1, -1.0, -4.0]),
            bias: numbers(HEADS),
            conv_state: Tensor::poisoned(Type::F32, 3 * CHANNELS),
            state: Tensor::poisoned(Type::F32, HEADS * HEAD_DIM * HEAD_DIM),
            convolved: Tensor::poisoned(Type::F32, tokens * CHANNELS),
            y: Tensor::poisoned(Type::F32, tokens * HEADS * HEAD_DIM),
        }
    }

    /// Computes `count` tokens from `first` on, in a chunk with padding.
    fn chunk(&self, encoding: &mut Encoding<'_>, first: usize, count: usize, tokens: usize) -> Result<()> {
        let activation = Activation::F32;
        let op = CausalConv {
            x: self.x.part(first * CHANNELS, tokens * CHANNELS),
            w: self.w.slice(),
            state: self.conv_state.slice(),
            y: self.convolved.part(first * CHANNELS, tokens * CHANNELS),
            rows: CacheRows::Sequence(0),
            state_stride: 0,
            sequences: 1,
            tokens,
            count,
            first,
            heads: 2 * KEY_HEADS + HEADS,
            normed: 2 * KEY_HEADS,
            head_dim: HEAD_DIM,
            activation,
        };
        causal_conv(encoding, op)?;
        let op = DeltaNet {
            qkv: self.convolved.part(first * CHANNELS, tokens * CHANNELS),
            alpha: self.alpha.part(first * HEADS, tokens * HEADS),
            beta: self.beta.part(first * HEADS, tokens * HEADS),
            decay: self.decay.slice(),
            bias: self.bias.slice(),
            state: self.state.slice(),
            y: self.y.part(first * HEADS * HEAD_DIM, tokens * HEADS * HEAD_DIM),
            rows: CacheRows::Sequence(0),
            state_stride: 0,
            sequences: 1,
            tokens,
            count,
            first,
            heads: HEADS,
            key_heads: KEY_HEADS,
            adjacent: false,
            head_dim: HEAD_DIM,
            activation,
        };
        delta_net(encoding, op)
    }

    fn results(&self) -> [Vec<f64>; 3] {
        [&self.y, &self.state, &self.conv_state].map(Tensor::numbers)
    }
}

#[test]
fn chunks_with_padding_continue_where_single_tokens_do() {
    const TOKENS: usize = 41;
    let single = Layer::new(TOKENS);
    run(|encoding| (0..TOKENS).try_for_each(|token| single.chunk(encoding, token, 1, 1)));
    for tuning in [Tuning::CPU, Tuning::nvidia(132)] {
        let chunks = Layer::new(TOKENS);
        run(|encoding| {
            encoding.tuning = tuning;
            // The last rows of a chunk are padding: real tokens, which must leave no trace.
            for (first, count, tokens) in [(0, 2, 8), (2, 33, 37), (35, 1, 3), (36, 5, 5)] {
                chunks.chunk(encoding, first, count, tokens)?;
            }
            Ok(())
        });
        for (found, expected) in chunks.results().iter().zip(&single.results()) {
            assert_close("chunks", found, expected, ErrorBound::of(Activation::F32));
        }
    }
}

#[test]
fn packed_outputs_are_the_numbers_in_eight_bits() {
    let (rows, heads, head_dim) = (2, 3, 64);
    let mut random = Random::new(5);
    let count = rows * heads * head_dim;
    let (x, z) = (random.normals(count), random.normals(2 * count));
    let (x, z) = (Tensor::new(Type::F32, &x), Tensor::new(Type::F32, &z));
    let w = Tensor::new(Type::F32, &random.normals(head_dim));
    let packed_size = count / 32 * 48;
    for is_norm in [true, false] {
        let plain = Tensor::poisoned(Type::F32, count);
        let packed = Tensor::poisoned(Type::Bytes, packed_size);
        for (y, packed_y) in [(&plain, false), (&packed, true)] {
            let (x, z, w, y, activation) = (x.slice(), z.slice(), w.slice(), y.slice(), Activation::F32);
            run(|encoding| match is_norm {
                true => {
                    let epsilon = 1e-6;
                    let op = GatedRmsNorm { x, z, w, y, rows, heads, head_dim, epsilon, activation, packed_y };
                    gated_rms_norm(encoding, op)
                }
                false => {
                    gate_heads(encoding, GateHeads { a: x, x: z, y, rows, heads, head_dim, activation, packed_y })
                }
            });
        }
        for (numbers, block) in plain.numbers().chunks(32).zip(packed.contents().chunks(48)) {
            let scale = f64::from(f32::from_ne_bytes([block[0], block[1], block[2], block[3]]));
            for (number, &byte) in numbers.iter().zip(&block[16..]) {
                assert!((number - scale * f64::from(byte as i8)).abs() <= 0.51 * scale, "{number} and {byte}");
            }
        }
    }
}

#[test]
fn wrong_arguments_are_rejected() {
    let layer = Layer::new(4);
    let message = |count, tokens| rejected(|encoding| layer.chunk(encoding, 0, count, tokens));
    assert!(message(5, 4).contains("5 of 4 tokens are no padding: it must be 1 to 4"), "{}", message(5, 4));
    assert!(message(0, 4).contains("0 of 4 tokens"), "{}", message(0, 4));
    let conv = |head_dim: usize, x: &Tensor, y: &Tensor, sequence: usize| {
        let op = CausalConv {
            x: x.slice(),
            w: layer.w.slice(),
            state: layer.conv_state.slice(),
            y: y.slice(),
            rows: CacheRows::Sequence(sequence),
            state_stride: 16,
            sequences: 1,
            tokens: 1,
            count: 1,
            first: 0,
            heads: 2,
            normed: 0,
            head_dim,
            activation: Activation::F32,
        };
        rejected(|encoding| causal_conv(encoding, op))
    };
    assert!(conv(48, &layer.x, &layer.y, 0).contains("it must be a multiple of 32, at most 256"));
    assert!(conv(288, &layer.x, &layer.y, 0).contains("it must be a multiple of 32, at most 256"));
    assert!(conv(64, &layer.x, &layer.x, 0).contains("y would be written over x while that is read"));
    assert!(conv(64, &layer.x, &layer.y, 1).contains("sequence 1, but there are 1 states"));
}
