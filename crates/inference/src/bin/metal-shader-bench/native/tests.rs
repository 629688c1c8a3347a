//! Unit tests of the reference loops.

use super::*;

#[test]
fn products_agree_with_the_plain_loop_and_with_single_weights() {
    let device = compute::Device::cpu().unwrap();
    let maker =
        metalworks_inference::cases::Maker::new(&device, 1 << 20, metalworks_inference::cases::Purpose::Measure);
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
fn rates_are_positive() {
    let effort = Effort { samples: 3, min_time: Duration::ZERO, clock: measure::Clock::Wall, quick: true };
    assert!(copy(1 << 16, 2, &effort) > 0.0);
    assert!(multiply_adds(1, &effort).0 > 0.0);
    let blocks = vec![0; 5 * 34];
    assert_eq!(measure_gemv(Format::Q8_0, [5, 32], &blocks, 2, &effort).samples, 3);
}
