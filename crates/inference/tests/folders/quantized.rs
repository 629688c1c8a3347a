//! Quantized matrices are converted without loss: compared with the formulas, number by number.

use crate::folder::{Folder, Raw, smallest};
use half::{bf16, f16};
use metalworks_inference::formats::dequantize;
use metalworks_inference::gguf::Container;
use metalworks_inference::weights::TensorType;
use serde_json::json;

/// Quantizes a matrix as MLX stores it: weight, scales and biases. Returns also the numbers `scale · q + bias`.
pub(crate) fn affine(tensor: &Raw, bits: u32, group: usize, scale_type: &'static str) -> (Vec<Raw>, Vec<f32>) {
    let numbers = tensor.floats();
    let rounded = |number: f32| match scale_type {
        "F16" => (f16::from_f32(number).to_f32(), f16::from_f32(number).to_le_bytes()),
        _ => (bf16::from_f32(number).to_f32(), bf16::from_f32(number).to_le_bytes()),
    };
    let max = (1u32 << bits) - 1;
    let (mut words, mut scales, mut biases, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut bit_buffer, mut bit_count) = (0u64, 0);
    for numbers in numbers.chunks(group) {
        let low = numbers.iter().copied().fold(f32::INFINITY, f32::min);
        let high = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let (scale, scale_bytes) = rounded((high - low) / max as f32);
        let (bias, bias_bytes) = rounded(low);
        scales.extend(scale_bytes);
        biases.extend(bias_bytes);
        for number in numbers {
            let quant = ((number - bias) / scale).round().clamp(0.0, max as f32) as u32;
            values.push(scale * quant as f32 + bias);
            bit_buffer |= u64::from(quant) << bit_count;
            bit_count += bits;
            while bit_count >= 8 {
                words.push(bit_buffer as u8);
                bit_buffer >>= 8;
                bit_count -= 8;
            }
        }
    }
    let module = tensor.name.strip_suffix(".weight").expect("a weight");
    let (rows, columns) = (tensor.shape[0], tensor.shape[1]);
    let groups = [rows, columns / group as u64];
    let parts = vec![
        Raw::new(&tensor.name, "U32", &[rows, columns * u64::from(bits) / 32], words),
        Raw::new(&format!("{module}.scales"), scale_type, &groups, scales),
        Raw::new(&format!("{module}.biases"), scale_type, &groups, biases),
    ];
    (parts, values)
}

/// Weights have scales in half precision: one that it cannot express is an error, not infinity.
#[test]
fn scales_beyond_half_precision_are_an_error() {
    let (mut config, mut tensors) = smallest();
    config["quantization"] = json!({ "group_size": 32, "bits": 4 });
    let index = tensors.iter().position(|tensor| tensor.name.ends_with("gate_proj.weight")).expect("there is one");
    let (mut parts, _) = affine(&tensors.remove(index), 4, 32, "BF16");
    parts[1].bytes[..2].copy_from_slice(&bf16::from_f32(1e6).to_le_bytes());
    tensors.extend(parts);
    let model = Folder::of(&config, &tensors).open();
    let weights = model.weights();
    let tensor = weights.tensor("blk.0.ffn_gate.weight").expect("it exists");
    let error = weights.read(tensor, 0..64, &mut Vec::new()).expect_err("1e6 is no half");
    assert!(error.to_string().contains("exceeds half precision"), "{error}");
}

/// FP8 of arbitrary bytes, with a scale for each tile.
pub(crate) fn float8(tensor: &Raw, tile: [u64; 2]) -> Vec<Raw> {
    let (rows, columns) = (tensor.shape[0], tensor.shape[1]);
    // Magnitudes from 2^-4 to below 2, of both signs.
    let bytes = tensor.bytes.as_chunks::<4>().0.iter().map(|bytes| (0x18 + bytes[1] % 0x28) | (bytes[2] & 0x80));
    let tiles = [rows.div_ceil(tile[0]), columns.div_ceil(tile[1])];
    let scales: Vec<f32> = (0..tiles[0] * tiles[1]).map(|i| 0.01 + 0.0013 * i as f32).collect();
    let module = tensor.name.strip_suffix(".weight").expect("a weight");
    vec![
        Raw::new(&tensor.name, "F8_E4M3", &tensor.shape, bytes.collect()),
        Raw::f32(&format!("{module}.weight_scale_inv"), &tiles, &scales),
    ]
}

/// The same matrix in BF16, from the definition of FP8.
pub(crate) fn widened(parts: &[Raw], tile: [u64; 2]) -> Vec<u8> {
    let [weight, scales] = parts else { panic!("a weight and its scales") };
    let (columns, scale_columns) = (weight.shape[1], scales.shape[1]);
    let scales = scales.floats();
    let number = |(i, &byte): (usize, &u8)| {
        let (row, column) = (i as u64 / columns, i as u64 % columns);
        let scale = scales[(row / tile[0] * scale_columns + column / tile[1]) as usize];
        let (exponent, fraction) = (i32::from(byte >> 3 & 15), f32::from(byte & 7) / 8.0);
        let magnitude = match exponent {
            0 => fraction * 2f32.powi(-6),
            _ => (1.0 + fraction) * 2f32.powi(exponent - 7),
        };
        bf16::from_f32(if byte & 0x80 == 0 { magnitude } else { -magnitude } * scale).to_le_bytes()
    };
    weight.bytes.iter().enumerate().flat_map(number).collect()
}

fn matrix(name: &str, rows: u64, columns: u64) -> Raw {
    let mut state = 7u32;
    let numbers: Vec<f32> = (0..rows * columns)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        })
        .collect();
    Raw::f32(name, &[rows, columns], &numbers)
}

const Q: &str = "model.layers.0.self_attn.q_proj.weight";

/// A folder with the matrix `Q` in another form.
fn with_q(parts: &[Raw], change: impl FnOnce(&mut serde_json::Value)) -> Folder {
    let (mut config, mut raw) = smallest();
    raw.retain(|tensor| tensor.name != Q);
    raw.extend_from_slice(parts);
    change(&mut config);
    Folder::of(&config, &raw)
}

#[test]
fn mlx_numbers_of_all_widths_are_exact() {
    for bits in [2, 3, 4, 5, 6, 8] {
        for (group, scale_type) in [(32, "F16"), (64, "BF16"), (128, "F16"), (128, "BF16")] {
            let (parts, _) = affine(&matrix(Q, 256, 256), bits, group, scale_type);
            let folder = with_q(&parts, |config| {
                config["quantization"] = json!({ "bits": bits, "group_size": group, "mode": "affine" });
            });
            let opened = folder.open();
            assert_eq!(opened.container(), Container::Mlx);
            let tensor = opened.weights().tensor("blk.0.attn_q.weight").expect("it is there");
            assert_eq!(tensor.dimensions, [256, 256]);
            let found = dequantize(tensor.format().expect("kernels read it"), opened.weights().data(tensor));
            let read = |bytes: &[u8], index: usize| match scale_type {
                "F16" => f64::from(f16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])),
                _ => f64::from(bf16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])),
            };
            for (i, &found) in found.iter().enumerate() {
                let quant = (0..bits as usize).fold(0, |quant, bit| {
                    let at = i * bits as usize + bit;
                    quant | u32::from(parts[0].bytes[at / 8] >> (at % 8) & 1) << bit
                });
                let expected =
                    read(&parts[1].bytes, i / group) * f64::from(quant) + read(&parts[2].bytes, i / group);
                assert_eq!(found, expected, "{bits} bits, groups of {group}, {scale_type}, number {i}");
            }
        }
    }
}

#[test]
fn modules_may_have_their_own_quantization() {
    let (parts, _) = affine(&matrix(Q, 256, 256), 8, 32, "F16");
    let folder = with_q(&parts, |config| {
        config["quantization"] = json!({
            "bits": 4, "group_size": 64, "model.layers.0.self_attn.q_proj": { "bits": 8, "group_size": 32 },
            "model.layers.1.self_attn.q_proj": false,
        });
    });
    let opened = folder.open();
    assert_eq!(opened.weights().tensor("blk.0.attn_q.weight").expect("it is there").kind, TensorType::AFFINE8);
    assert_eq!(opened.quantization(), Some("MLX, 4 bits in groups of 64; 1 matrix differs"));
}

#[test]
fn mxfp4_keeps_nibbles_and_exponents() {
    let weight = Raw::new(Q, "U32", &[256, 32], (0..256 * 128).map(|i| (i * 73 % 251) as u8).collect());
    let name = "model.layers.0.self_attn.q_proj.scales";
    let scales = Raw::new(name, "U8", &[256, 8], (0..256 * 8).map(|i| 110 + (i % 20) as u8).collect());
    let folder = with_q(&[weight.clone(), scales.clone()], |config| {
        config["quantization"] = json!({ "bits": 4, "group_size": 32, "mode": "mxfp4" });
    });
    let opened = folder.open();
    let tensor = opened.weights().tensor("blk.0.attn_q.weight").expect("it is there");
    assert_eq!((tensor.kind, tensor.size()), (TensorType::MXFP4, 256 * 8 * 17));
    for (index, block) in opened.weights().data(tensor).chunks(17).enumerate() {
        assert_eq!(block[0], scales.bytes[index]);
        for i in 0..32 {
            let number = index * 32 + i;
            let expected = weight.bytes[number / 2] >> (number % 2 * 4) & 15;
            assert_eq!(block[1 + i % 16] >> (i / 16 * 4) & 15, expected, "number {number}");
        }
    }
}

#[test]
fn fp8_has_scales_for_tensors_rows_and_tiles() {
    let cases: [([u64; 2], &[u64]); 5] =
        [([256, 256], &[]), ([256, 256], &[1]), ([1, 256], &[256, 1]), ([1, 256], &[256]), ([128, 128], &[2, 2])];
    for (tile, shape) in cases {
        let mut parts = float8(&matrix(Q, 256, 256), tile);
        let expected = widened(&parts, tile);
        parts[1].shape = shape.to_vec();
        let folder = with_q(&parts, |config| {
            config["quantization_config"] = json!({ "quant_method": "fp8" });
        });
        let opened = folder.open();
        let tensor = opened.weights().tensor("blk.0.attn_q.weight").expect("it is there");
        assert_eq!(tensor.kind, TensorType::BF16);
        assert!(opened.weights().data(tensor) == expected, "{shape:?}");
        let mut buffer = Vec::new();
        let piece = opened.weights().read(tensor, 1001..77_777, &mut buffer).expect("it can be read");
        assert!(piece == &expected[1001..77_777], "{shape:?}: a piece");
        // The lower half of the rows, as architectures split a matrix.
        let mut part = tensor.clone();
        part.range.start += tensor.size() / 2;
        assert!(opened.weights().data(&part) == &expected[expected.len() / 2..], "{shape:?}: a part");
        let piece = opened.weights().read(&part, 5..77, &mut buffer).expect("it can be read");
        assert!(piece == &expected[expected.len() / 2 + 5..][..72], "{shape:?}: a piece of the part");
    }
}
