//! The same loops in Rust, written so that the compiler vectorizes them for this machine: sums are kept in 32
//! accumulators, as a compiler may not reorder them.

use half::f16;

const LANES: usize = 32;

/// Compiles a function for AVX-512 as well, and calls that where it can run.
macro_rules! vectorized {
    ($(#[doc = $doc:literal])* pub(crate) fn $name:ident($($arg:ident: $ty:ty),*) $body:block) => {
        $(#[doc = $doc])*
        pub(crate) fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn body($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c,bmi2")]
                unsafe fn avx512($($arg: $ty),*) {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,f16c,bmi2")]
                unsafe fn avx2($($arg: $ty),*) {
                    body($($arg),*)
                }
                if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq") {
                    // SAFETY: the features were checked.
                    return unsafe { avx512($($arg),*) };
                }
                // SAFETY: the kernel compiler requires them, too.
                return unsafe { avx2($($arg),*) };
            }
            #[allow(unreachable_code, reason = "the way of other machines")]
            body($($arg),*)
        }
    };
}

fn total(parts: [f32; LANES]) -> f32 {
    let mut parts = parts;
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            parts[i] += parts[i + half];
        }
        half /= 2;
    }
    parts[0]
}

/// e^x as a polynomial, for a loop that vectorizes; good to about 2 ulp between -87 and 88.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let n = (x * std::f32::consts::LOG2_E + 12_582_912.0) - 12_582_912.0;
    let r = n.mul_add(-0.693_359_4, x);
    let r = n.mul_add(2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4f32;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p.mul_add(r, c);
    }
    let p = (p * r).mul_add(r, r) + 1.0;
    p * f32::from_bits((((n as i32) + 127) << 23) as u32)
}

vectorized! {
    pub(crate) fn add(a: &[f32], b: &[f32], result: &mut [f32]) {
        for ((result, a), b) in result.iter_mut().zip(a).zip(b) {
            *result = a + b;
        }
    }
}

vectorized! {
    pub(crate) fn silu_mul(a: &[f32], b: &[f32], result: &mut [f32]) {
        for ((result, x), b) in result.iter_mut().zip(a).zip(b) {
            *result = x / (1.0 + exp(-x)) * b;
        }
    }
}

vectorized! {
    pub(crate) fn row_sum(x: &[f32], k: usize, result: &mut [f32]) {
        for (row, result) in x.chunks_exact(k).zip(result) {
            let mut sums = [0.0; LANES];
            let (chunks, rest) = row.as_chunks::<LANES>();
            for chunk in chunks {
                for i in 0..LANES {
                    sums[i] += chunk[i];
                }
            }
            *result = total(sums) + rest.iter().sum::<f32>();
        }
    }
}

vectorized! {
    pub(crate) fn softmax(x: &[f32], k: usize, result: &mut [f32]) {
        for (row, out) in x.chunks_exact(k).zip(result.chunks_exact_mut(k)) {
            let mut largest = [f32::NEG_INFINITY; LANES];
            for chunk in row.as_chunks::<LANES>().0 {
                for i in 0..LANES {
                    largest[i] = if largest[i] > chunk[i] { largest[i] } else { chunk[i] };
                }
            }
            let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
            let mut sums = [0.0; LANES];
            for (chunk, out) in row.as_chunks::<LANES>().0.iter().zip(out.as_chunks_mut::<LANES>().0) {
                for i in 0..LANES {
                    let e = exp(chunk[i] - largest);
                    sums[i] += e;
                    out[i] = e;
                }
            }
            let scale = 1.0 / total(sums);
            for out in out {
                *out *= scale;
            }
        }
    }
}

vectorized! {
    pub(crate) fn gemv_f16(weights: &[u16], x: &[f32], result: &mut [f32]) {
        for (row, result) in weights.chunks_exact(x.len()).zip(result) {
            let mut sums = [0.0; LANES];
            for (w, x) in row.as_chunks::<LANES>().0.iter().zip(x.as_chunks::<LANES>().0) {
                for i in 0..LANES {
                    sums[i] = half_to_float(w[i]).mul_add(x[i], sums[i]);
                }
            }
            *result = total(sums);
        }
    }
}

/// Half to float in integer operations, which vectorize; denormal halves become zero.
#[inline(always)]
fn half_to_float(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = ((bits & 0x7fff) << 13) + (112 << 23);
    let magnitude = if bits & 0x7c00 == 0 { 0 } else { magnitude };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

vectorized! {
    /// Blocks of 34 bytes: a scale and 32 signed bytes.
    pub(crate) fn gemv_q8_0(weights: &[u8], x: &[f32], result: &mut [f32]) {
        for (row, result) in weights.chunks_exact(x.len() / 32 * 34).zip(result) {
            let mut sums = [0.0; LANES];
            for (block, x) in row.as_chunks::<34>().0.iter().zip(x.as_chunks::<LANES>().0) {
                let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
                for i in 0..LANES {
                    sums[i] = scale.mul_add(f32::from(block[2 + i] as i8) * x[i], sums[i]);
                }
            }
            *result = total(sums);
        }
    }
}

vectorized! {
    /// 32 bytes for two blocks: low halves, then high halves.
    pub(crate) fn gemv_q4_0(quants: &[u8], scales: &[u16], x: &[f32], result: &mut [f32]) {
        let (row_bytes, row_scales) = (x.len() / 2, x.len() / 32);
        let rows = quants.chunks_exact(row_bytes).zip(scales.chunks_exact(row_scales));
        for ((row, scales), result) in rows.zip(result) {
            let mut sums = [0.0; LANES];
            let blocks = row.as_chunks::<LANES>().0.iter().zip(scales.as_chunks::<2>().0);
            for ((bytes, scales), x) in blocks.zip(x.as_chunks::<64>().0) {
                let [low, high] = scales.map(|bits| f16::from_bits(bits).to_f32());
                for i in 0..LANES {
                    let first = f32::from((bytes[i] & 15) as i8 - 8) * x[i];
                    let second = f32::from((bytes[i] >> 4) as i8 - 8) * x[32 + i];
                    sums[i] += low.mul_add(first, high * second);
                }
            }
            *result = total(sums);
        }
    }
}
