//! What a person would write for this processor: loops in Rust, with AVX-512 where there is that. Kernels are compared
//! with them.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

use crate::measure::{self, Effort, Statistics};
use inference::formats::Format;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Formats that there is a product for.
pub(crate) const FORMATS: [Format; 3] = [Format::Q8_0, Format::Q4_0, Format::Q4_1];

/// Chains of multiply-adds, each in a register of its own, and how long they are.
const CHAINS: usize = 12;
const ROUNDS: usize = 4096;

fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return avx512::is_there();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Which instructions the loops use.
pub(crate) fn instructions() -> &'static str {
    if has_avx512() { "AVX-512" } else { "plain loops" }
}

/// Runs `part` for each thread and says how long all of them took.
fn time(threads: usize, part: impl Fn(usize) + Sync) -> Duration {
    let (part, begin) = (&part, Instant::now());
    if threads <= 1 {
        part(0);
    } else {
        std::thread::scope(|scope| (0..threads).for_each(|thread| drop(scope.spawn(move || part(thread)))));
    }
    begin.elapsed()
}

fn statistics(effort: &Effort, threads: usize, part: impl Fn(usize) + Sync) -> Statistics {
    let repeats = match threads {
        1 => measure::repeats(effort, time(1, &part)),
        _ => measure::repeats(effort, time(1, &part)).max(8),
    };
    let run = || Ok::<_, Infallible>(time(threads, |thread| (0..repeats).for_each(|_| part(thread))));
    let _ = run();
    let Ok(statistics) = measure::sample(effort, repeats, run);
    statistics
}

/// GB/s of a copy that touches so many bytes, by all threads together.
pub(crate) fn copy(bytes: usize, threads: usize, effort: &Effort) -> f64 {
    let share = bytes / 2 / threads;
    let buffers: Vec<_> =
        (0..threads).map(|_| std::sync::Mutex::new((vec![1u8; share], vec![2u8; share]))).collect();
    let statistics = statistics(effort, threads, |thread| {
        if let Ok(mut buffers) = buffers[thread].lock() {
            let (from, to) = &mut *buffers;
            to.copy_from_slice(black_box(from));
            black_box(to);
        }
    });
    (2 * share * threads) as f64 / statistics.min_ns
}

/// GFLOP/s of multiply-adds, and with which instructions.
pub(crate) fn multiply_adds(threads: usize, effort: &Effort) -> (f64, String) {
    let lanes = if has_avx512() { 16 } else { plain::LANES };
    let statistics = statistics(effort, threads, |_| {
        #[cfg(target_arch = "x86_64")]
        if has_avx512() {
            // SAFETY: the processor has the instructions.
            black_box(unsafe { avx512::multiply_adds(black_box(0.5), ROUNDS) });
            return;
        }
        black_box(plain::multiply_adds(black_box(0.5), ROUNDS));
    });
    ((threads * lanes * CHAINS * ROUNDS * 2) as f64 / statistics.min_ns, instructions().into())
}

/// y = W x for one of [`FORMATS`], whose blocks are in rows as files have them: rows `first` and following.
fn gemv(format: Format, blocks: &[u8], x: &[f32], y: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the processor has the instructions.
        unsafe { avx512::gemv(format, blocks, x, y) };
        return;
    }
    plain::gemv(format, blocks, x, y);
}

/// Measures [`gemv`]; threads divide the rows.
pub(crate) fn measure_gemv(
    format: Format,
    [rows, columns]: [usize; 2],
    blocks: &[u8],
    threads: usize,
    effort: &Effort,
) -> Statistics {
    let x: Vec<f32> = (0..columns).map(|i| (i % 17) as f32 / 17.0 - 0.5).collect();
    let row_bytes = columns / format.block_len() * format.block_size();
    let share = rows.div_ceil(threads);
    let parts: Vec<_> = blocks.chunks(share * row_bytes).map(|blocks| (blocks, blocks.len() / row_bytes)).collect();
    let results: Vec<_> = parts.iter().map(|(_, rows)| std::sync::Mutex::new(vec![0.0f32; *rows])).collect();
    statistics(effort, parts.len(), |thread| {
        if let Ok(mut y) = results[thread].lock() {
            gemv(format, black_box(parts[thread].0), black_box(&x), &mut y);
            black_box(&mut *y);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_plain_loop_and_with_single_weights() {
        let device = compute::Device::cpu().unwrap();
        let maker = inference::cases::Maker::new(&device, 1 << 20, inference::cases::Purpose::Measure);
        let (rows, columns) = (7, 96);
        let x: Vec<f32> = (0..columns).map(|i| (i % 13) as f32 - 6.0).collect();
        for format in FORMATS {
            let blocks = maker.blocks(format, rows * columns / 32);
            let (mut fast, mut slow) = (vec![f32::NAN; rows], vec![f32::NAN; rows]);
            gemv(format, &blocks, &x, &mut fast);
            plain::gemv(format, &blocks, &x, &mut slow);
            for (row, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
                let row = &blocks[row * 3 * format.block_size()..][..3 * format.block_size()];
                let exact: f64 = (0..columns).map(|i| weight(format, row, i) * f64::from(x[i])).sum();
                assert!((f64::from(*fast) - exact).abs() < 1e-3, "{format}: {fast} {exact}");
                assert!((f64::from(*slow) - exact).abs() < 1e-3, "{format}: {slow} {exact}");
            }
        }
    }

    fn weight(format: Format, row: &[u8], i: usize) -> f64 {
        let block = &row[i / 32 * format.block_size()..][..format.block_size()];
        let half = |at: usize| f64::from(half::f16::from_le_bytes([block[at], block[at + 1]]).to_f32());
        let nibble = |at: usize| f64::from(block[at + i % 16] >> (i % 32 / 16 * 4) & 15);
        match format {
            Format::Q8_0 => half(0) * f64::from(block[2 + i % 32] as i8),
            Format::Q4_0 => half(0) * (nibble(2) - 8.0),
            _ => half(0) * nibble(4) + half(2),
        }
    }

    #[test]
    fn rates_are_rates() {
        let effort = Effort { samples: 3, min_time: Duration::ZERO, clock: measure::Clock::Wall, quick: true };
        assert!(copy(1 << 16, 2, &effort) > 0.0);
        assert!(multiply_adds(1, &effort).0 > 0.0);
        let blocks = vec![0; 5 * 34];
        assert_eq!(measure_gemv(Format::Q8_0, [5, 32], &blocks, 2, &effort).samples, 3);
    }
}
