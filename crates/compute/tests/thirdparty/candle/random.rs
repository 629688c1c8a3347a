//! Random numbers: the generator is integer arithmetic, so that the numbers are known.

use crate::corpus::Corpus;
use crate::numbers::values;
use crate::run::Run;
use half::f16;

const SEED: [u32; 2] = [299_792_458, 7];

/// candle's generator: three Tausworthe generators and a linear congruential one, whose state is a float.
struct HybridTaus(f32);

impl HybridTaus {
    fn new(seed: u64, thread: u64) -> HybridTaus {
        const FACTORS: [u64; 4] =
            [0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c834, 0x1082_276b_f3a2_7251, 0xf86c_6a11_d0c1_8e95];
        let mut seeds = [seed, thread, 1, 1];
        for (seed, factor) in seeds.iter_mut().zip(FACTORS) {
            *seed = seed.wrapping_mul(factor).wrapping_mul(1_099_087_573);
        }
        let seeds = seeds.map(|seed| seed as u32);
        let first = taus(seeds[0], [13, 19, 12], 4_294_967_294)
            ^ taus(seeds[1], [2, 25, 4], 4_294_967_288)
            ^ taus(seeds[2], [3, 11, 17], 4_294_967_280)
            ^ lcg(seeds[0]);
        let state = [seeds[1], seeds[2], seeds[3]].iter().fold(first, |state, seed| step(state ^ seed));
        HybridTaus(to_float(state))
    }

    fn next(&mut self) -> f32 {
        let number = self.0;
        // The conversion saturates, as Metal's does.
        self.0 = to_float(step((self.0 * 4_294_967_296.0) as u32));
        number
    }
}

fn step(state: u32) -> u32 {
    taus(state, [13, 19, 12], 429_496_729)
        ^ taus(state, [2, 25, 4], 4_294_967_288)
        ^ taus(state, [3, 11, 17], 429_496_280)
        ^ lcg(state)
}

fn taus(z: u32, [left, right, last]: [u32; 3], mask: u32) -> u32 {
    ((z & mask) << last) ^ (((z << left) ^ z) >> right)
}

fn lcg(z: u32) -> u32 {
    z.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

fn to_float(bits: u32) -> f32 {
    bits as f32 * 2.328_306_4e-10
}

/// The numbers of both draws of each thread, as the kernels lay them out.
fn reference(length: usize, seed_first: bool, pair: impl Fn(f32, f32) -> (f64, f64)) -> Vec<f64> {
    let seed = u64::from(SEED[0]) << 32 | u64::from(SEED[1]);
    let mut numbers = vec![0.0; length];
    let last = length - 1 + length % 2;
    for thread in 0..length.div_ceil(2) {
        let mut generator = HybridTaus::new(seed, thread as u64);
        let first = generator.next();
        // The first thread draws the next seed, too, between its numbers or after them.
        if seed_first && thread == 0 {
            generator.next();
        }
        let (first, second) = pair(first, generator.next());
        numbers[thread] = first;
        if thread > 0 || length.is_multiple_of(2) {
            numbers[last - thread] = second;
        }
    }
    numbers
}

pub(super) fn uniform(corpus: &Corpus) {
    // One simdgroup: of others, it is not known whether they see the seed before or after it changes.
    for length in [63, 64] {
        let run = Run::new(corpus, "random", "rand_uniform_f32").value(length as u64).value(-3f32).value(5f32);
        let ran = run.in_out(&SEED).output::<f32>(length).linear(length.div_ceil(2));
        ran.output_at::<f32>(4).is_within(&reference(length, true, |a, b| (scaled(a), scaled(b))), 1e-6);
        assert!(ran.content::<u32>(3) != SEED, "the seed changes");
    }
    // Many: what is known of them together.
    let run = Run::new(corpus, "random", "rand_uniform_f16").value(10_001u64).value(-3f32).value(5f32);
    let ran = run.in_out(&SEED).output::<f16>(10_001).linear(5001);
    let output = ran.output_at::<f16>(4);
    let numbers = values(&output.numbers);
    let mean = numbers.iter().sum::<f64>() / 10_001.0;
    assert!(numbers.iter().all(|number| (-3.0..=5.0).contains(number)) && (mean - 1.0).abs() < 0.1, "mean {mean}");
    output.was_compared();
}

fn scaled(number: f32) -> f64 {
    f64::from(number) * 8.0 - 3.0
}

pub(super) fn normal(corpus: &Corpus) {
    for length in [63, 64] {
        let run = Run::new(corpus, "random", "rand_normal_f32").value(length as u64).value(2f32).value(0.5f32);
        let ran = run.in_out(&SEED).output::<f32>(length).linear(length.div_ceil(2));
        let box_muller = |a: f32, b: f32| {
            let (size, angle) = (0.5 * (-2.0 * f64::from(a).ln()).sqrt(), std::f64::consts::TAU * f64::from(b));
            (size * angle.cos() + 2.0, size * angle.sin() + 2.0)
        };
        ran.output_at::<f32>(4).is_within(&reference(length, false, box_muller), 1e-5);
    }
}
