//! Models in folders have the logits of the same models in GGUF files, which are compared with transformers elsewhere.

use crate::folder::{Folder, Raw, config, safetensors, smallest, synthetic, tensors};
use crate::until_exit::until_exit;
use compute::{BinaryArchive, Device};
use metalworks_inference::formats::{Activation, Format, dequantize};
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::plan::{Plan, PlanOptions};
use serde_json::json;
use std::sync::OnceLock;

fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<&MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let archive = BinaryArchive::user_cache().expect("the cache can be found");
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        until_exit(MetalDevice::with_device(device, archive).expect("the shader library is valid"))
    })
}

/// Logits after a prompt, and after one more token.
pub(crate) fn logits(model: &Gguf) -> Vec<f32> {
    let options = PlanOptions {
        context: Some(1024),
        chunk: Some(32),
        cache: Activation::F32.into(),
        ..PlanOptions::default()
    };
    let mut plan = Plan::load(device(), model, &options, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let tokens: Vec<u32> = (0..21).map(|i| i * 37 % 256).collect();
    plan.push(&tokens[..20]).expect("there is room");
    let mut logits = plan.logits().expect("the model runs");
    plan.push(&tokens[20..]).expect("there is room");
    logits.extend(plan.logits().expect("the model runs"));
    logits
}

/// Normalized mean square error.
pub(crate) fn error(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |number: f32| f64::from(number).powi(2);
    let error: f64 = found.iter().zip(expected).map(|(found, expected)| square(found - expected)).sum();
    error / expected.iter().map(|&number| square(number)).sum::<f64>()
}

#[test]
fn folders_have_the_logits_of_gguf_files() {
    for name in ["llama-tiny:f32", "qwen2-tiny:bf16", "qwen3-tiny:f16"] {
        let model = synthetic(name);
        let folder = Folder::of(&config(&model), &tensors(&model));
        // Sums of RoPE's pairs are the same numbers, so only their order could differ.
        let found = error(&logits(&folder.open()), &logits(&model));
        assert!(found < 1e-12, "{name}: {found:e}");
    }
}

/// Qwen3-MoE's weights of experts, unlike Mixtral's, sum to 1 only if its configuration says so.
#[test]
fn weights_of_experts_are_normalized_if_the_configuration_says_so() {
    let (mut config, tensors) = smallest();
    for (key, value) in [("num_experts", 4), ("num_experts_per_tok", 2), ("moe_intermediate_size", 256)] {
        config[key] = json!(value);
    }
    config["model_type"] = json!("qwen3_moe");
    for (flag, expected) in [(None, false), (Some(false), false), (Some(true), true)] {
        if let Some(flag) = flag {
            config["norm_topk_prob"] = json!(flag);
        }
        let model = Folder::of(&config, &tensors).open();
        assert_eq!(model.get::<bool>("qwen3moe.expert_weights_norm").ok(), Some(expected));
    }
}

#[test]
fn tied_embeddings_and_the_rope_scaling_of_llama_3() {
    let model = synthetic("llama3-tiny:f32");
    let mut config = config(&model);
    config["tie_word_embeddings"] = json!(true);
    config["rope_parameters"] = json!({
        "rope_type": "llama3", "rope_theta": config["rope_theta"], "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
    });
    let mut raw = tensors(&model);
    // Files of tied models may have the matrix twice.
    let mut copy =
        raw.iter().find(|tensor| tensor.name == "model.embed_tokens.weight").expect("there is one").clone();
    copy.name = "lm_head.weight".into();
    raw.push(copy);
    let folder = Folder::of(&config, &raw);
    let opened = folder.open();
    let factors =
        |model: &Gguf| model.weights().data(model.weights().tensor("rope_freqs.weight").unwrap()).to_vec();
    assert_eq!(factors(&opened), factors(&model));
    assert!(error(&logits(&opened), &logits(&model)) < 1e-12);
}

#[test]
fn tensors_in_several_files_are_found() {
    let model = synthetic("llama-tiny:f32");
    let raw = tensors(&model);
    let folder = Folder::new();
    folder.file("config.json", config(&model).to_string().as_bytes());
    let (first, second) = raw.split_at(7);
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    folder.file(names[0], &safetensors(first)).file(names[1], &safetensors(second));
    let map: serde_json::Map<String, serde_json::Value> = [(first, names[0]), (second, names[1])]
        .iter()
        .flat_map(|(part, file)| part.iter().map(move |tensor| (tensor.name.clone(), json!(file))))
        .collect();
    folder.file("model.safetensors.index.json", json!({ "weight_map": map }).to_string().as_bytes());
    let opened = folder.open();
    assert_eq!(opened.weights().files().iter().filter(|file| file.path().is_some()).count(), 2);
    assert!(error(&logits(&opened), &logits(&model)) < 1e-12);
}

/// A GGUF file of the opened folder, as a conversion writes it.
pub(crate) fn converted(folder: &Folder) -> Gguf {
    let model = Gguf::open_to_convert(folder.path()).expect("the folder is valid");
    let mut builder =
        model.metadata().iter().fold(Builder::new(), |builder, (key, value)| builder.key(key, value.clone()));
    let weights = model.weights();
    for tensor in weights.tensors() {
        builder = builder.tensor(&tensor.name, tensor.kind, &tensor.dimensions);
    }
    let mut buffer = Vec::new();
    let bytes = builder.to_bytes(|index, out| {
        let tensor = &weights.tensors()[index];
        // In odd pieces, as a conversion may read.
        let size = tensor.size() as usize;
        for start in (0..size).step_by(999) {
            let read = weights.read(tensor, start..size.min(start + 999), &mut buffer);
            out.write_all(read.expect("the tensor can be read"))?;
        }
        Ok(())
    });
    Gguf::from_bytes(bytes.expect("memory can be written to")).expect("the file is valid")
}

#[test]
fn heads_are_interleaved_for_gguf_files() {
    let model = synthetic("llama-tiny:f32");
    let folder = Folder::of(&config(&model), &tensors(&model));
    let file = converted(&folder);
    for tensor in model.weights().tensors() {
        let same = file.weights().tensor(&tensor.name).expect("the tensor is there");
        assert_eq!(file.weights().data(same), model.weights().data(tensor), "{}", tensor.name);
    }
    assert!(error(&logits(&file), &logits(&model)) < 1e-12);
}

#[test]
fn mlx_folders_have_the_logits_of_their_numbers() {
    let model = synthetic("llama-tiny:f32");
    let raw = tensors(&model);
    for (bits, group, scale_type) in [(4, 64, "F16"), (8, 32, "BF16"), (6, 128, "F16")] {
        let (mut quantized, mut plain) = (Vec::new(), Vec::new());
        for tensor in &raw {
            if tensor.shape.len() < 2 {
                quantized.push(tensor.clone());
                plain.push(tensor.clone());
                continue;
            }
            let (parts, numbers) = crate::quantized::affine(tensor, bits, group, scale_type);
            quantized.extend(parts);
            plain.push(Raw::f32(&tensor.name, &tensor.shape, &numbers));
        }
        let mut config = config(&model);
        let reference = Folder::of(&config, &plain);
        config["quantization"] = json!({ "bits": bits, "group_size": group });
        let folder = Folder::of(&config, &quantized);
        let found = error(&logits(&folder.open()), &logits(&reference.open()));
        assert!(found < 1e-11, "{bits} bits, groups of {group}: {found:e}");
    }
}

#[test]
fn fp8_folders_have_the_logits_of_their_numbers() {
    let model = synthetic("qwen3-tiny:f32");
    let (mut quantized, mut plain) = (Vec::new(), Vec::new());
    for tensor in tensors(&model) {
        if tensor.shape.len() < 2 || tensor.name.contains("embed") || tensor.name.contains("lm_head") {
            quantized.push(tensor.clone());
            plain.push(tensor);
            continue;
        }
        let parts = crate::quantized::float8(&tensor, [128, 128]);
        plain.push(Raw::new(&tensor.name, "BF16", &tensor.shape, crate::quantized::widened(&parts, [128, 128])));
        quantized.extend(parts);
    }
    let mut config = config(&model);
    let reference = Folder::of(&config, &plain);
    config["quantization_config"] = json!({ "quant_method": "fp8", "weight_block_size": [128, 128] });
    let folder = Folder::of(&config, &quantized);
    assert_eq!(logits(&folder.open()), logits(&reference.open()));
    assert_eq!(dequantize(Format::BF16, &[0x80, 0x3f]), [1.0]);
}

/// Subfolders of the folder that an environment variable names.
fn folders(variable: &str) -> Vec<std::path::PathBuf> {
    let folder = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is set: see the script"));
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the folder exists").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

#[test]
#[ignore = "needs folders of transformers: METALWORKS_FOLDERS=$(scripts/folder-reference.py models)"]
fn folders_of_transformers_have_its_logits() {
    let mut failed = Vec::new();
    for path in folders("METALWORKS_FOLDERS") {
        let reference = std::fs::read_to_string(path.join("reference.json")).expect("there is a reference");
        let reference: serde_json::Value = serde_json::from_str(&reference).expect("the reference is valid");
        let expected: Vec<Vec<f32>> = serde_json::from_value(reference["logits"].clone()).expect("numbers");
        let found = std::panic::catch_unwind(|| {
            let model = Gguf::open(&path).unwrap_or_else(|error| panic!("{error}"));
            error(&logits(&model), &expected.concat())
        });
        if !found.as_ref().is_ok_and(|&found| found < 1e-10) {
            failed.push(format!("{}: {:e}", path.display(), found.unwrap_or(f64::NAN)));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "needs folders of MLX: METALWORKS_MLX_FOLDERS=$(scripts/folder-reference.py mlx)"]
fn folders_of_mlx_have_its_numbers() {
    for path in folders("METALWORKS_MLX_FOLDERS") {
        let model = Gguf::open(&path).unwrap_or_else(|error| panic!("{error}"));
        let tensor = model.weights().tensor("blk.0.attn_q.weight").expect("it is there");
        let expected = std::fs::read(path.join("reference.f32")).expect("there is a reference");
        let expected = expected.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
        let found = dequantize(tensor.format().expect("kernels read it"), model.weights().data(tensor));
        assert_eq!(found.len(), expected.len());
        // MLX multiplies and adds in f32: at most two roundings of numbers of this size.
        let wrong =
            found.iter().zip(expected).filter(|(found, expected)| (**found - f64::from(*expected)).abs() > 1e-8);
        assert_eq!(wrong.count(), 0, "{}", path.display());
    }
}
