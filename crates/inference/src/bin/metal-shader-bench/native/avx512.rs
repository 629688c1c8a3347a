//! Loops for CPUs with AVX-512: the arithmetic of the kernels, in f32, on rows as in files.
//!
//! Four rows share the loads of x. 16 weights become 16 floats in one register: bytes by extension and conversion,
//! nibbles by a table look-up, which also applies their offset.

use super::CHAINS;
use metalworks_inference::formats::Format;
use std::arch::x86_64::*;

/// Rows that share the loads of x.
const ROWS: usize = 4;

pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("f16c")
}

#[target_feature(enable = "avx512f")]
pub(super) fn multiply_adds(a: f32, rounds: usize) -> f32 {
    // Different start values: equal chains would be merged by the compiler.
    let mut chains: [__m512; CHAINS] = std::array::from_fn(|chain| _mm512_set1_ps(a + chain as f32));
    let a = _mm512_set1_ps(a);
    for _ in 0..rounds {
        for chain in &mut chains {
            *chain = _mm512_fmadd_ps(*chain, a, a);
        }
    }
    chains.into_iter().map(|chain| _mm512_reduce_add_ps(chain)).sum()
}

#[target_feature(enable = "avx512f,avx512bw,f16c")]
pub(super) fn gemv(format: Format, blocks: &[u8], x: &[f32], y: &mut [f32]) {
    match format {
        Format::Q8_0 => rows::<34>(blocks, x, y, |block, x, sum| q8_0(block, x, sum)),
        Format::Q4_0 => {
            let table = _mm512_setr_ps(-8., -7., -6., -5., -4., -3., -2., -1., 0., 1., 2., 3., 4., 5., 6., 7.);
            rows::<18>(blocks, x, y, |block, x, sum| q4_0(block, x, sum, table));
        }
        _ => {
            let table = _mm512_setr_ps(0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.);
            rows::<20>(blocks, x, y, |block, x, sum| q4_1(block, x, sum, table));
        }
    }
}

/// 32 numbers of x, and the sums of the two halves.
type Numbers = [__m512; 3];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,f16c")]
fn rows<const SIZE: usize>(
    blocks: &[u8],
    x: &[f32],
    y: &mut [f32],
    add: impl Fn(&[u8; SIZE], Numbers, __m512) -> __m512,
) {
    let (blocks, x) = (blocks.as_chunks::<SIZE>().0, x.as_chunks::<32>().0);
    for (blocks, y) in blocks.chunks(ROWS * x.len()).zip(y.chunks_mut(ROWS)) {
        // If fewer rows are left, the last is computed several times.
        let row: [&[[u8; SIZE]]; ROWS] =
            std::array::from_fn(|row| &blocks[row.min(y.len() - 1) * x.len()..][..x.len()]);
        let mut sums = [_mm512_setzero_ps(); ROWS];
        for (column, x) in x.iter().enumerate() {
            // SAFETY: there are 32 numbers, with any alignment.
            let [low, high] = unsafe { [_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(x[16..].as_ptr())] };
            let x = [low, high, _mm512_add_ps(low, high)];
            for (sum, row) in sums.iter_mut().zip(row) {
                *sum = add(&row[column], x, *sum);
            }
        }
        for (y, sum) in y.iter_mut().zip(sums) {
            *y = _mm512_reduce_add_ps(sum);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,f16c")]
fn half(low: u8, high: u8) -> __m512 {
    _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes([low, high])))))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,f16c")]
fn q8_0(block: &[u8; 34], x: Numbers, sum: __m512) -> __m512 {
    // SAFETY: there are 32 bytes after the scale, with any alignment.
    let (low, high) =
        unsafe { (_mm_loadu_si128(block[2..].as_ptr().cast()), _mm_loadu_si128(block[18..].as_ptr().cast())) };
    let low = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(low)), x[0]);
    let both = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(high)), x[1], low);
    _mm512_fmadd_ps(half(block[0], block[1]), both, sum)
}

/// 16 bytes times 32 numbers; the low nibbles come first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,f16c")]
fn nibbles(bytes: &[u8; 16], x: Numbers, table: __m512) -> __m512 {
    // SAFETY: there are 16 bytes, with any alignment.
    let bytes = _mm512_cvtepu8_epi32(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) });
    // The look-up uses the lowest four bits.
    let low = _mm512_mul_ps(_mm512_permutexvar_ps(bytes, table), x[0]);
    _mm512_fmadd_ps(_mm512_permutexvar_ps(_mm512_srli_epi32::<4>(bytes), table), x[1], low)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,f16c")]
fn q4_0(block: &[u8; 18], x: Numbers, sum: __m512, table: __m512) -> __m512 {
    let [low, high, bytes @ ..] = block;
    _mm512_fmadd_ps(half(*low, *high), nibbles(bytes, x, table), sum)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,f16c")]
fn q4_1(block: &[u8; 20], x: Numbers, sum: __m512, table: __m512) -> __m512 {
    let [scale_low, scale_high, least_low, least_high, bytes @ ..] = block;
    // Σ (scale·q + least)·x = scale·Σ q·x + least·Σ x
    let sum = _mm512_fmadd_ps(half(*least_low, *least_high), x[2], sum);
    _mm512_fmadd_ps(half(*scale_low, *scale_high), nibbles(bytes, x, table), sum)
}
