//! Delta-nets in folders: norms without 1, and folders that MLX has converted, which have it.

use crate::folder::{Folder, Raw, config, synthetic};
use crate::logits::{error, logits};
use metalworks_inference::gguf::Gguf;
use serde_json::{Value as Json, json};

/// Names of a layer's tensors in GGUF files, and in folders.
const NAMES: [(&str, &str); 19] = [
    ("attn_norm.weight", "input_layernorm.weight"),
    ("post_attention_norm.weight", "post_attention_layernorm.weight"),
    ("attn_q.weight", "self_attn.q_proj.weight"),
    ("attn_k.weight", "self_attn.k_proj.weight"),
    ("attn_v.weight", "self_attn.v_proj.weight"),
    ("attn_output.weight", "self_attn.o_proj.weight"),
    ("attn_q_norm.weight", "self_attn.q_norm.weight"),
    ("attn_k_norm.weight", "self_attn.k_norm.weight"),
    ("attn_qkv.weight", "linear_attn.in_proj_qkv.weight"),
    ("attn_gate.weight", "linear_attn.in_proj_z.weight"),
    ("ssm_beta.weight", "linear_attn.in_proj_b.weight"),
    ("ssm_alpha.weight", "linear_attn.in_proj_a.weight"),
    ("ssm_conv1d.weight", "linear_attn.conv1d.weight"),
    ("ssm_a", "linear_attn.A_log"),
    ("ssm_dt.bias", "linear_attn.dt_bias"),
    ("ssm_norm.weight", "linear_attn.norm.weight"),
    ("ssm_out.weight", "linear_attn.out_proj.weight"),
    ("ffn_gate.weight", "mlp.gate_proj.weight"),
    ("ffn_up.weight", "mlp.up_proj.weight"),
];

fn tensors(model: &Gguf, is_mlx: bool) -> Vec<Raw> {
    let mut raw = Vec::new();
    for tensor in model.weights().tensors() {
        let (layer, part) = match tensor.name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
            Some((layer, part)) => (format!("model.layers.{layer}."), part),
            None => (String::new(), tensor.name.as_str()),
        };
        let name = match part {
            "token_embd.weight" => "model.embed_tokens.weight",
            "output_norm.weight" => "model.norm.weight",
            "ffn_down.weight" => "mlp.down_proj.weight",
            _ => NAMES.iter().find(|(gguf, _)| *gguf == part).expect("a known tensor").1,
        };
        let mut shape: Vec<u64> = tensor.dimensions.iter().rev().copied().collect();
        if part == "ssm_conv1d.weight" {
            shape.insert(if is_mlx { 2 } else { 1 }, 1);
        }
        let number = |number: f32| match part {
            "ssm_a" => (-number).ln(),
            "ssm_norm.weight" => number,
            _ if part.ends_with("norm.weight") && !is_mlx => number - 1.0,
            _ => number,
        };
        let bytes = model.weights().data(tensor).as_chunks::<4>().0;
        let numbers: Vec<f32> = bytes.iter().map(|&bytes| number(f32::from_le_bytes(bytes))).collect();
        raw.push(Raw::f32(&format!("{layer}{name}"), &shape, &numbers));
    }
    raw
}

fn delta_net_config(model: &Gguf) -> Json {
    let mut config = config(model);
    let more = json!({
        "model_type": "qwen3_5_text", "tie_word_embeddings": true, "partial_rotary_factor": 0.25,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 64, "linear_value_head_dim": 64,
        "linear_num_key_heads": 4, "linear_num_value_heads": 4,
        "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
    });
    for (key, value) in more.as_object().expect("an object") {
        config[key] = value.clone();
    }
    config
}

#[test]
fn folders_of_both_projects_have_the_logits_of_the_gguf_file() {
    let model = synthetic("qwen35-equal-tiny:f32");
    let (config, expected) = (delta_net_config(&model), logits(&model));
    for is_mlx in [false, true] {
        let folder = Folder::of(&config, &tensors(&model, is_mlx));
        let found = error(&logits(&folder.open()), &expected);
        assert!(found < 1e-10, "MLX: {is_mlx}: {found:e}");
    }
}

#[test]
fn folders_with_more_value_heads_run_but_are_not_converted() {
    let model = synthetic("qwen35-equal-tiny:f32");
    let mut config = delta_net_config(&model);
    config["linear_num_key_heads"] = json!(2);
    let folder = Folder::of(&config, &tensors(&model, false));
    assert_eq!(folder.open().get("metalworks.delta_net.adjacent"), Ok(true));
    let message = Gguf::open_to_convert(folder.path()).expect_err("rows have another order").to_string();
    assert!(message.contains("2 key heads and 4 value heads cannot be written as a GGUF file yet"), "{message}");
}
