//! Hand-written reference loops for the CPU, in Rust with AVX-512 where available. Kernels are compared with them.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;
#[cfg(test)]
mod tests;

use crate::measure::{self, Effort, Statistics};
use metalworks_inference::formats::Format;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Formats with a reference product.
pub(crate) const FORMATS: [Format; 3] = [Format::Q8_0, Format::Q4_0, Format::Q4_1];

/// Independent chains of multiply-adds, each in its own register, and their length.
const CHAINS: usize = 12;
const ROUNDS: usize = 4096;

fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return avx512::is_there();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Instructions that the loops use.
pub(crate) fn instructions() -> &'static str {
    if has_avx512() { "AVX-512" } else { "plain loops" }
}

/// Runs `part` on each thread; returns the time until all have finished.
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

/// GB/s of a copy that touches `bytes` bytes, by all threads together.
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

/// GFLOP/s of multiply-adds, and the instructions used.
pub(crate) fn multiply_adds(threads: usize, effort: &Effort) -> (f64, String) {
    let lanes = if has_avx512() { 16 } else { plain::LANES };
    let statistics = statistics(effort, threads, |_| {
        #[cfg(target_arch = "x86_64")]
        if has_avx512() {
            // SAFETY: the CPU has the instructions.
            black_box(unsafe { avx512::multiply_adds(black_box(0.5), ROUNDS) });
            return;
        }
        black_box(plain::multiply_adds(black_box(0.5), ROUNDS));
    });
    ((threads * lanes * CHAINS * ROUNDS * 2) as f64 / statistics.min_ns, instructions().into())
}

/// y = W x for one of [`FORMATS`], with blocks row by row as in files.
fn gemv(format: Format, blocks: &[u8], x: &[f32], y: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the CPU has the instructions.
        unsafe { avx512::gemv(format, blocks, x, y) };
        return;
    }
    plain::gemv(format, blocks, x, y);
}

/// Measures [`gemv`]; threads share the rows.
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
