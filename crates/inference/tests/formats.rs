//! Block formats and file types against the package gguf and llama.cpp, bit by bit.
//!
//! ```text
//! scripts/formats-reference.py ── data/formats.json: SHA-256 of numbers, blocks and types ── compare
//! ```

use metalworks_inference::formats::{Format, dequantize};
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::quantize::{FileType, Quantization, quantize_blocks};
use metalworks_inference::weights::TensorType;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct References {
    formats: Vec<FormatReference>,
    models: Vec<ModelReference>,
}

#[derive(Deserialize)]
struct FormatReference {
    format: String,
    seed: u64,
    /// Offsets of 16-bit scales.
    scales: Vec<usize>,
    first_numbers: Vec<f32>,
    dequantized: String,
    first_bytes: String,
    quantized: String,
}

#[derive(Deserialize)]
struct ModelReference {
    architecture: String,
    layers: u32,
    heads: u32,
    kv_heads: u32,
    columns: u64,
    experts: u32,
    tied: bool,
    types: BTreeMap<String, TypesReference>,
}

#[derive(Deserialize)]
struct TypesReference {
    sha256: String,
    /// Matrices by type, for messages.
    count: BTreeMap<String, usize>,
}

const BLOCKS: usize = 64;

fn references() -> References {
    serde_json::from_str(include_str!("data/formats.json")).expect("the references can be read")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SplitMix64, as in the script.
fn words(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(move |step| {
        let mut z = seed.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[test]
fn every_block_format_has_a_reference() {
    let names: Vec<String> = references().formats.into_iter().map(|reference| reference.format).collect();
    let missing =
        Format::in_gguf().filter(|format| !format.is_plain()).find(|format| !names.contains(&format.to_string()));
    assert_eq!(missing, None);
}

fn format(name: &str) -> Format {
    Format::ALL.into_iter().find(|format| format.to_string() == name).expect("the format is known")
}

#[test]
fn random_blocks_have_the_numbers_of_gguf() {
    for reference in references().formats {
        let format = format(&reference.format);
        let size = format.block_size();
        let words = words(reference.seed, (BLOCKS * size).div_ceil(8));
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.truncate(BLOCKS * size);
        for block in bytes.chunks_exact_mut(size) {
            reference.scales.iter().for_each(|offset| block[offset + 1] &= 0xbf);
            if format == Format::MXFP4 {
                block[0] = 64 + block[0] / 2;
            }
        }
        let numbers: Vec<f32> = dequantize(format, &bytes).iter().map(|&number| number as f32).collect();
        assert_eq!(numbers[..4], reference.first_numbers, "{format}");
        let found: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(sha256(&found), reference.dequantized, "{format}");
    }
}

#[test]
fn random_numbers_have_the_blocks_of_llama_cpp() {
    for reference in references().formats {
        let format = format(&reference.format);
        let len = format.block_len();
        let mut numbers: Vec<f32> = words(1000 + reference.seed, BLOCKS * len)
            .map(|word| (word >> 40) as f32 / (1u32 << 23) as f32 - 1.0)
            .map(|uniform| uniform * uniform * uniform)
            .collect();
        for (index, block) in numbers.chunks_exact_mut(len).enumerate() {
            let factor = if index == 13 { 0.0 } else { 2f32.powi(index as i32 % 9 - 6) };
            // The zeros of the script have no sign.
            block.iter_mut().for_each(|number| *number = if index == 13 { 0.0 } else { *number * factor });
        }
        let blocks = quantize_blocks(format, &numbers).expect("whole blocks");
        let first: String = blocks[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(first, reference.first_bytes, "{format}");
        assert_eq!(sha256(&blocks), reference.quantized, "{format}");
    }
}

impl ModelReference {
    /// A model with all matrices, of zeros.
    fn model(&self) -> Gguf {
        let key = |name: &str| format!("{}.{name}", self.architecture);
        let mut builder = Builder::new()
            .key("general.architecture", self.architecture.as_str())
            .key(&key("block_count"), self.layers)
            .key(&key("attention.head_count"), self.heads)
            .key(&key("attention.head_count_kv"), self.kv_heads)
            .key(&key("expert_count"), self.experts);
        let (columns, experts) = (self.columns, u64::from(self.experts));
        let mut add = |name: &str, dimensions: &[u64]| {
            builder = std::mem::take(&mut builder).tensor(name, TensorType::F32, dimensions);
        };
        add("token_embd.weight", &[columns, 64]);
        for layer in 0..self.layers {
            let part = |name: &str| format!("blk.{layer}.{name}.weight");
            add(&part("attn_norm"), &[columns]);
            for name in ["attn_q", "attn_k", "attn_v", "attn_output"] {
                add(&part(name), &[columns, 4]);
            }
            if experts > 0 {
                add(&part("ffn_gate_inp"), &[columns, experts]);
            }
            for name in ["ffn_gate", "ffn_up", "ffn_down"] {
                match experts {
                    0 => add(&part(name), &[columns, 4]),
                    _ => add(&part(&format!("{name}_exps")), &[columns, 2, experts]),
                }
            }
        }
        add("output_norm.weight", &[columns]);
        if !self.tied {
            add("output.weight", &[columns, 64]);
        }
        let sizes: Vec<u64> = self.sizes();
        let bytes = builder.to_bytes(|index, out| out.write_all(&vec![0; sizes[index] as usize]));
        Gguf::from_bytes(bytes.expect("the model is valid")).expect("the model is valid")
    }

    /// Bytes of the tensors, in their order.
    fn sizes(&self) -> Vec<u64> {
        let (row, experts) = (4 * self.columns, u64::from(self.experts));
        let layer: Vec<u64> = match experts {
            0 => [row].into_iter().chain([4 * row; 7]).collect(),
            _ => {
                [row].into_iter().chain([4 * row; 4]).chain([experts * row]).chain([2 * experts * row; 3]).collect()
            }
        };
        let mut sizes = vec![64 * row];
        (0..self.layers).for_each(|_| sizes.extend(&layer));
        sizes.push(row);
        sizes.extend((!self.tied).then_some(64 * row));
        sizes
    }
}

#[test]
fn file_types_have_the_mixtures_of_llama_cpp() {
    for reference in references().models {
        let model = reference.model();
        assert_eq!(reference.types.len(), FileType::all().count());
        for (name, expected) in &reference.types {
            let file_type: FileType = name.parse().expect("the file type is known");
            let quantization = Quantization::new(&model, file_type, false).expect("it can be converted");
            let matrices = quantization.conversions().iter().filter(|tensor| tensor.dimensions.len() > 1);
            let mut lines = Vec::new();
            let mut count = BTreeMap::new();
            for tensor in matrices {
                lines.push(format!("{} {}\n", tensor.name, tensor.to.0));
                *count.entry(tensor.to.0.to_string()).or_insert(0) += 1;
            }
            lines.sort();
            let what = format!("{} of {} layers to {name}", reference.architecture, reference.layers);
            assert_eq!(count, expected.count, "{what}");
            assert_eq!(sha256(lines.concat().as_bytes()), expected.sha256, "{what}");
        }
    }
}

/// A model of one matrix of 300 rows.
fn small(kind: TensorType, number: f32) -> Gguf {
    let builder = Builder::new()
        .key("general.architecture", "llama")
        .key("split.count", 1u16)
        .tensor("blk.0.attn_q.weight", kind, &[256, 300])
        .tensor("blk.0.attn_norm.weight", TensorType::F32, &[2]);
    let mut numbers: Vec<f32> = words(5, 256 * 300).map(|word| (word >> 40) as f32 / (1u32 << 24) as f32).collect();
    numbers[256 * 7 + 3] = number;
    let bytes = builder.to_bytes(|index, out| match (index, kind.format()) {
        (0, Some(format)) => {
            out.write_all(&metalworks_inference::formats::quantize(format, &numbers).expect("whole blocks"))
        }
        (0, None) => out.write_all(&vec![0; (kind.block_size() * 256 * 300) as usize]),
        _ => out.write_all(&[0, 0, 128, 63, 0, 0, 0, 64]),
    });
    Gguf::from_bytes(bytes.expect("the model is valid")).expect("the model is valid")
}

#[test]
fn files_do_not_depend_on_the_number_of_threads() {
    let model = small(TensorType::F16, 0.5);
    let quantization = Quantization::new(&model, FileType::Q4_K_M, false).expect("it can be converted");
    let folder = std::env::temp_dir().join(format!("metalworks-formats-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let files = [1, 2, 7].map(|threads| {
        let path = folder.join(format!("{threads}.gguf"));
        let mut last = (0, 0);
        quantization
            .write_file(&path, threads, &mut |done, total| last = (done, total))
            .expect("it can be written");
        assert_eq!((last.0, last.1), (300 * 144 + 8, 300 * 144 + 8), "all is done");
        let bytes = std::fs::read(&path).expect("it is there");
        assert_eq!(bytes.len() as u64, quantization.size().expect("it is valid"));
        bytes
    });
    assert!(files[0] == files[1] && files[0] == files[2]);
    let written = Gguf::from_bytes(files[0].clone()).expect("it can be read");
    assert_eq!(written.get::<u32>("general.file_type"), Ok(15));
    assert_eq!(written.get::<u32>("general.quantization_version"), Ok(2));
    assert!(written.metadata().find("split.count").is_none());
    let norm = written.weights().tensor("blk.0.attn_norm.weight").expect("it is there");
    assert_eq!(written.weights().data(norm), [0, 0, 128, 63, 0, 0, 0, 64], "copied");
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}

#[test]
fn numbers_that_are_no_weights_are_refused() {
    let path = std::env::temp_dir().join(format!("metalworks-refused-{}.gguf", std::process::id()));
    for (number, to, message) in [
        (f32::NAN, FileType::Q4_0, "tensor 'blk.0.attn_q.weight', row 7: NaN is no weight"),
        (f32::INFINITY, FileType::Q6_K, "tensor 'blk.0.attn_q.weight', row 7: inf is no weight"),
        (1e9, FileType::F16, "tensor 'blk.0.attn_q.weight', row 7: its weights are too large for F16"),
        (1e9, FileType::Q8_0, "tensor 'blk.0.attn_q.weight', row 7: its weights are too large for Q8_0"),
    ] {
        let model = small(TensorType::F32, number);
        let quantization = Quantization::new(&model, to, false).expect("types are known");
        let error = quantization.write_file(&path, 2, &mut |_, _| ()).expect_err("it is refused");
        assert_eq!(error.to_string(), message);
        assert!(!path.exists(), "nothing is left");
    }
}

#[test]
fn rounding_twice_needs_permission() {
    let model = small(TensorType::Q8_0, 0.5);
    let error = Quantization::new(&model, FileType::Q4_0, false).map(drop).expect_err("it is refused");
    assert!(error.to_string().contains("is Q8_0 already, and would be rounded a second time for Q4_0"), "{error}");
    let quantization = Quantization::new(&model, FileType::Q4_0, true).expect("it is allowed");
    assert_eq!(quantization.conversions()[0].to, (TensorType::Q4_0, 300 * 256 / 32 * 18));
    let copied = Quantization::new(&model, FileType::Q8_0, false).expect("nothing is rounded");
    assert!(copied.conversions().iter().all(|conversion| !conversion.changes()));
    let error =
        Quantization::new(&small(TensorType::I32, 0.0), FileType::F16, true).map(drop).expect_err("no weights");
    assert!(
        error.to_string().contains("'blk.0.attn_q.weight' is I32, which cannot be converted to F16"),
        "{error}"
    );
}
