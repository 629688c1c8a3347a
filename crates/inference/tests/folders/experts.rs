//! Mixtures of experts in folders: fused gate and up projections, a shared expert, and MXFP4.

use crate::folder::{Folder, Raw, config, synthetic};
use crate::logits::{error, logits};
use metalworks_inference::formats::dequantize;
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::weights::{TensorInfo, TensorType};
use serde_json::{Value as Json, json};

/// Names of a layer's tensors in GGUF files, and in folders.
const NAMES: [(&str, &str); 15] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("attn_sinks", "self_attn.sinks"),
    ("ffn_norm", "post_attention_layernorm"),
    ("post_attention_norm", "post_attention_layernorm"),
    ("ffn_gate_inp_shexp", "mlp.shared_expert_gate"),
    ("ffn_gate_shexp", "mlp.shared_expert.gate_proj"),
    ("ffn_up_shexp", "mlp.shared_expert.up_proj"),
    ("ffn_down_shexp", "mlp.shared_expert.down_proj"),
    ("token_embd", "model.embed_tokens"),
    ("output_norm", "model.norm"),
    ("output", "lm_head"),
];

fn is_expert(tensor: &TensorInfo) -> bool {
    tensor.name.contains("_exps.")
}

/// All tensors but those of experts as F32; `router` is the name of the router.
fn others(model: &Gguf, router: &str) -> Vec<Raw> {
    let tensors = model.weights().tensors().iter().filter(|tensor| !is_expert(tensor));
    let raw = |tensor: &TensorInfo| {
        let (module, end) = tensor.name.rsplit_once('.').expect("a name has an end");
        let (layer, part) = match module.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
            Some((layer, part)) => (format!("model.layers.{layer}."), part),
            None => (String::new(), module),
        };
        let found = NAMES.iter().find(|(gguf, _)| *gguf == part).map(|(_, name)| *name);
        let name = format!("{layer}{}.{end}", found.unwrap_or(router)).replace("sinks.weight", "sinks");
        let shape: Vec<u64> = match part {
            "ffn_gate_inp_shexp" => vec![1, tensor.dimensions[0]],
            _ => tensor.dimensions.iter().rev().copied().collect(),
        };
        Raw::f32(&name, &shape, &numbers(model, tensor))
    };
    tensors.map(raw).collect()
}

fn numbers(model: &Gguf, tensor: &TensorInfo) -> Vec<f32> {
    let format = tensor.format().expect("kernels read it");
    dequantize(format, model.weights().data(tensor)).into_iter().map(|number| number as f32).collect()
}

/// The model with all tensors but those of experts in F32.
fn with_plain_others(model: &Gguf) -> Gguf {
    let mut builder =
        model.metadata().iter().fold(Builder::new(), |builder, (key, value)| builder.key(key, value.clone()));
    let weights = model.weights();
    for tensor in weights.tensors() {
        let kind = if is_expert(tensor) { tensor.kind } else { TensorType::F32 };
        builder = builder.tensor(&tensor.name, kind, &tensor.dimensions);
    }
    let bytes = builder.to_bytes(|index, out| {
        let tensor = &weights.tensors()[index];
        match is_expert(tensor) {
            true => out.write_all(weights.data(tensor)),
            false => numbers(model, tensor).iter().try_for_each(|number| out.write_all(&number.to_le_bytes())),
        }
    });
    Gguf::from_bytes(bytes.expect("memory can be written to")).expect("the copy is valid")
}

/// A matrix of all experts: rows, and bytes of each.
fn expert_rows(model: &Gguf, layer: u64, part: &str, end: &str) -> (TensorInfo, Vec<Vec<u8>>) {
    let tensor = model.weights().tensor(&format!("blk.{layer}.ffn_{part}_exps.{end}")).expect("it is there");
    let data = model.weights().data(tensor);
    let rows = match end {
        "bias" => tensor.elements(),
        _ => tensor.elements() / tensor.columns(),
    };
    (tensor.clone(), data.chunks(data.len() / rows as usize).map(<[u8]>::to_vec).collect())
}

/// Numbers and scales of rows of MXFP4, with neighbours in a byte.
fn mxfp4(rows: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let (mut numbers, mut scales) = (Vec::new(), Vec::new());
    for block in rows.iter().flat_map(|row| row.chunks(17)) {
        scales.push(block[0]);
        let nibble = |i: usize| block[1 + i % 16] >> (i / 16 * 4) & 15;
        numbers.extend((0..16).map(|i| nibble(2 * i) | nibble(2 * i + 1) << 4));
    }
    (numbers, scales)
}

fn gpt_oss_config(model: &Gguf) -> Json {
    let mut config = config(model);
    let more = json!({
        "model_type": "gpt_oss", "num_local_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 256,
        "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"], "swiglu_limit": 7.0,
        "rope_scaling": { "rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 64,
            "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false },
        "quantization_config": { "quant_method": "mxfp4" },
    });
    for (key, value) in more.as_object().expect("an object") {
        config[key] = value.clone();
    }
    config
}

#[test]
fn gpt_oss_with_mxfp4_experts_has_the_logits_of_its_gguf_file() {
    let model = synthetic("gpt-oss-tiny:mxfp4");
    let expected = logits(&with_plain_others(&model));
    let (mut raw, mut mlx) = (others(&model, "mlp.router"), others(&model, "mlp.router"));
    for layer in 0..2 {
        let prefix = format!("model.layers.{layer}.mlp.experts.");
        // Rows of gate and up projections alternate.
        for end in ["weight", "bias"] {
            let [(_, gate), (_, up)] = ["gate", "up"].map(|part| expert_rows(&model, layer, part, end));
            let both: Vec<Vec<u8>> = gate.into_iter().zip(up).flat_map(|(gate, up)| [gate, up]).collect();
            let (_, down) = expert_rows(&model, layer, "down", end);
            for (part, rows, count) in [("gate_up_proj", both, 512), ("down_proj", down, 256)] {
                if end == "bias" {
                    raw.push(Raw::new(&format!("{prefix}{part}_bias"), "F32", &[8, count], rows.concat()));
                    continue;
                }
                let (numbers, scales) = mxfp4(&rows);
                raw.push(Raw::new(&format!("{prefix}{part}_blocks"), "U8", &[8, count, 8, 16], numbers));
                raw.push(Raw::new(&format!("{prefix}{part}_scales"), "U8", &[8, count, 8], scales));
            }
        }
        for part in ["gate", "up", "down"] {
            let (numbers, scales) = mxfp4(&expert_rows(&model, layer, part, "weight").1);
            let (_, bias) = expert_rows(&model, layer, part, "bias");
            mlx.push(Raw::new(&format!("{prefix}{part}_proj.weight"), "U32", &[8, 256, 32], numbers));
            mlx.push(Raw::new(&format!("{prefix}{part}_proj.scales"), "U8", &[8, 256, 8], scales));
            mlx.push(Raw::new(&format!("{prefix}{part}_proj.bias"), "F32", &[8, 256], bias.concat()));
        }
    }
    let mut config = gpt_oss_config(&model);
    let folder = Folder::of(&config, &raw);
    assert_eq!(folder.open().quantization(), Some("MXFP4 experts"));
    assert!(error(&logits(&folder.open()), &expected) < 1e-12);
    config["quantization"] = json!({ "bits": 4, "group_size": 32, "mode": "mxfp4" });
    let folder = Folder::of(&config, &mlx);
    assert!(error(&logits(&folder.open()), &expected) < 1e-12);

    let wrong = raw.iter().filter(|tensor| !tensor.name.ends_with("1.mlp.experts.down_proj_scales"));
    config["quantization"] = Json::Null;
    let message = Folder::of(&config, &wrong.cloned().collect::<Vec<_>>()).error().to_string();
    assert!(message.contains("'layers.1.mlp.experts.down_proj': it is MXFP4, but there is no tensor"), "{message}");
}

/// A matrix of all experts with columns in place of rows.
fn transposed(name: &str, rows: &[Vec<u8>], outputs: usize) -> Raw {
    let inputs = rows[0].len() / 4;
    let mut bytes = Vec::new();
    for matrix in rows.chunks(outputs) {
        for input in 0..inputs {
            bytes.extend(matrix.iter().flat_map(|row| &row[4 * input..][..4]));
        }
    }
    Raw::new(name, "F32", &[8, inputs as u64, outputs as u64], bytes)
}

#[test]
fn experts_of_gpt_oss_that_are_not_quantized_are_transposed() {
    let model = synthetic("gpt-oss-tiny:f32");
    let mut raw = others(&model, "mlp.router");
    for layer in 0..2 {
        let prefix = format!("model.layers.{layer}.mlp.experts.");
        for end in ["weight", "bias"] {
            let [gate, up, down] = ["gate", "up", "down"].map(|part| expert_rows(&model, layer, part, end).1);
            let both: Vec<Vec<u8>> = gate.into_iter().zip(up).flat_map(|(gate, up)| [gate, up]).collect();
            for (part, rows, outputs) in [("gate_up_proj", both, 512), ("down_proj", down, 256)] {
                raw.push(match end {
                    "weight" => transposed(&format!("{prefix}{part}"), &rows, outputs),
                    _ => Raw::new(&format!("{prefix}{part}_bias"), "F32", &[8, outputs as u64], rows.concat()),
                });
            }
        }
    }
    let mut config = gpt_oss_config(&model);
    config["quantization_config"] = Json::Null;
    let found = error(&logits(&Folder::of(&config, &raw).open()), &logits(&model));
    assert!(found < 1e-12, "{found:e}");

    let mut flat = raw.clone();
    let down = flat.iter_mut().find(|tensor| tensor.name.ends_with("down_proj")).expect("there is one");
    down.shape = vec![8 * 256, 256];
    let message = Folder::of(&config, &flat).error().to_string();
    assert!(message.contains("F32 2048×256 are not the matrices of experts"), "{message}");
    config["swiglu_limit"] = json!(5.0);
    let message = Folder::of(&config, &raw).error().to_string();
    assert!(message.contains("'swiglu_limit'") && message.contains("5 is not supported"), "{message}");
}

#[test]
fn shared_experts_and_fused_projections_have_the_logits_of_their_gguf_file() {
    let model = synthetic("qwen2-moe-tiny:f32");
    let mut raw = others(&model, "mlp.gate");
    for layer in 0..2 {
        let [gate, up, down] = ["gate", "up", "down"].map(|part| expert_rows(&model, layer, part, "weight").1);
        // Each expert has the rows of the gate projection first.
        let both = gate.chunks(256).zip(up.chunks(256)).flat_map(|(gate, up)| [gate.concat(), up.concat()]);
        let prefix = format!("model.layers.{layer}.mlp.experts.");
        let both = both.collect::<Vec<_>>().concat();
        raw.push(Raw::new(&format!("{prefix}gate_up_proj"), "F32", &[8, 512, 256], both));
        raw.push(Raw::new(&format!("{prefix}down_proj"), "F32", &[8, 256, 256], down.concat()));
    }
    let mut config = config(&model);
    let more = json!({
        "model_type": "qwen2_moe", "num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 256,
        "shared_expert_intermediate_size": 512, "norm_topk_prob": false,
    });
    for (key, value) in more.as_object().expect("an object") {
        config[key] = value.clone();
    }
    let folder = Folder::of(&config, &raw);
    assert!(error(&logits(&folder.open()), &logits(&model)) < 1e-12);
}
