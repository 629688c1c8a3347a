//! Unit tests of rounding, and of blocks with arbitrary contents.

use super::rounding::extreme;
use super::*;

fn check(format: Format, numbers: &[f32]) {
    let bytes = quantize(format, numbers).expect("whole blocks");
    assert_eq!(Some(bytes.len()), format.row_size(numbers.len()));
    let blocks = dequantize(format, &bytes);
    for (numbers, blocks) in numbers.chunks(format.block_len()).zip(blocks.chunks(format.block_len())) {
        let largest = f64::from(extreme(numbers)).abs();
        for (&number, &block) in numbers.iter().zip(blocks) {
            let error = (f64::from(number) - block).abs();
            assert!(error <= format.rounding() * largest + 1e-7, "{format}: {number} became {block} of {largest}");
        }
    }
}

#[test]
fn quantization_error_is_within_the_bound() {
    let waves: Vec<f32> = (0..1024).map(|i| (i as f32 * 0.7).sin() * (1.0 + (i as f32 * 0.01).cos())).collect();
    let positive: Vec<f32> = waves.iter().map(|number| number.abs() + 0.01).collect();
    let negative: Vec<f32> = positive.iter().map(|number| -number * 100.0).collect();
    for format in Format::ALL {
        for numbers in [&waves, &positive, &negative] {
            check(format, numbers);
        }
    }
}

#[test]
fn zeros_stay_zeros() {
    for format in Format::ALL {
        let bytes = quantize(format, &[0.0; 256]).expect("whole blocks");
        assert!(dequantize(format, &bytes).iter().all(|&number| number == 0.0), "{format}");
        assert_eq!(quantize(format, &[]), Some(vec![]));
    }
}

#[test]
fn quantizing_twice_changes_nothing() {
    let numbers: Vec<f32> = (0..512).map(|i| ((i * 37 % 101) as f32 - 50.0) / 30.0).collect();
    for format in [Format::F16, Format::BF16, Format::Q8_0, Format::Q4_0, Format::Q5_0] {
        let once = quantize(format, &numbers).expect("whole blocks");
        let again: Vec<f32> = dequantize(format, &once).iter().map(|&number| number as f32).collect();
        assert_eq!(dequantize(format, &quantize(format, &again).expect("whole blocks")), dequantize(format, &once));
    }
}

#[test]
fn rejects_partial_blocks() {
    assert_eq!(quantize(Format::Q8_0, &[1.0; 33]), None);
    assert_eq!(quantize(Format::Q4_K, &[1.0; 32]), None);
}

#[test]
fn nan_and_infinity_do_not_crash() {
    for format in Format::ALL {
        for number in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE] {
            let mut numbers = [0.5; 256];
            numbers[7] = number;
            assert!(quantize(format, &numbers).is_some());
        }
    }
}

#[test]
fn units_cover_a_block_and_a_tile() {
    for format in Format::ALL {
        let mut end = 0;
        for (offset, size) in format.units() {
            assert_eq!(offset, end, "{format:?}");
            assert!((32 * format.tile_offset(offset)).is_multiple_of(size), "{format:?}");
            end += size;
        }
        assert_eq!(end, format.block_size(), "{format:?}");
        let mut places: Vec<(usize, usize)> =
            format.units().map(|(offset, size)| (format.tile_offset(offset), size)).collect();
        places.sort_unstable();
        let ends = places.iter().scan(0, |end, &(start, size)| {
            (start == *end).then(|| *end += size)?;
            Some(*end)
        });
        assert_eq!(ends.last(), Some(format.block_size()), "{format:?}: side by side in a tile, too");
    }
}

#[test]
fn names_are_those_of_gguf() {
    for format in Format::ALL {
        assert_eq!(format.to_string().to_uppercase(), format.tensor_type().name());
    }
}
