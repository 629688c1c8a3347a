//! Loops for any CPU.

use super::CHAINS;
use half::f16;
use metalworks_inference::formats::Format;

/// Adjacent numbers, as many as fit into a vector register of most CPUs.
pub(super) const LANES: usize = 4;

pub(super) fn multiply_adds(a: f32, rounds: usize) -> f32 {
    let mut chains = [[a; LANES]; CHAINS];
    for _ in 0..rounds {
        for number in chains.as_flattened_mut() {
            *number = *number * a + a;
        }
    }
    chains.as_flattened().iter().sum()
}

pub(super) fn gemv(format: Format, blocks: &[u8], x: &[f32], y: &mut [f32]) {
    let row_bytes = x.len() / 32 * format.block_size();
    for (row, y) in blocks.chunks_exact(row_bytes).zip(y) {
        let blocks = row.chunks_exact(format.block_size()).zip(x.as_chunks::<32>().0);
        *y = blocks.map(|(block, x)| dot(format, block, x)).sum();
    }
}

fn dot(format: Format, block: &[u8], x: &[f32; 32]) -> f32 {
    let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
    let (low, high) = x.split_at(16);
    let nibbles = |bytes: &[u8], from: f32| -> f32 {
        let products = bytes.iter().zip(low.iter().zip(high));
        products.map(|(byte, (l, h))| (f32::from(byte & 15) - from) * l + (f32::from(byte >> 4) - from) * h).sum()
    };
    match format {
        Format::Q8_0 => half(0) * block[2..].iter().zip(x).map(|(&q, x)| f32::from(q as i8) * x).sum::<f32>(),
        Format::Q4_0 => half(0) * nibbles(&block[2..], 8.0),
        _ => half(0) * nibbles(&block[4..], 0.0) + half(2) * x.iter().sum::<f32>(),
    }
}
