//! Delta-nets in folders: norms without 1, and folders that MLX has converted, which have it.

use crate::folder::{Folder, Raw, config, synthetic};
use crate::logits::{converted, error, logits};
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

/// Value heads with the same keys are adjacent in folders, but not in GGUF files.
#[test]
fn folders_with_more_value_heads_run_and_are_converted() {
    let model = synthetic("qwen35-equal-tiny:f32");
    let mut config = delta_net_config(&model);
    for (keys, is_mlx) in [(2, false), (1, true)] {
        config["linear_num_key_heads"] = json!(keys);
        let folder = Folder::of(&config, &with_key_heads(&tensors(&model, is_mlx), keys));
        let opened = folder.open();
        assert_eq!(opened.get("metalworks.delta_net.adjacent"), Ok(true));
        let file = converted(&folder);
        assert_eq!(file.get_optional::<bool>("metalworks.delta_net.adjacent"), Ok(None));
        let found = error(&logits(&file), &logits(&opened));
        assert!(found < 1e-10, "{keys} key heads: {found:e}");
    }
    let mut damaged = with_key_heads(&tensors(&model, false), 2);
    let gate = damaged.iter_mut().find(|tensor| tensor.name.ends_with("in_proj_z.weight")).expect("there is one");
    *gate = Raw::f32(&gate.name, &[8, 256], &[0.0; 8 * 256]);
    config["linear_num_key_heads"] = json!(2);
    let folder = Folder::of(&config, &damaged);
    let message = Gguf::open_to_convert(folder.path()).expect_err("rows are missing").to_string();
    assert!(message.contains("in_proj_z.weight': F32 8×256 should have 256 rows"), "{message}");
}

/// The same tensors with fewer key heads, of 64 rows each: 4 before.
fn with_key_heads(tensors: &[Raw], heads: usize) -> Vec<Raw> {
    let fewer = |tensor: &Raw| {
        let is_changed = ["in_proj_qkv.weight", "conv1d.weight"].iter().any(|end| tensor.name.ends_with(end));
        if !is_changed {
            return tensor.clone();
        }
        let row = tensor.bytes.len() / tensor.shape[0] as usize;
        let part = |index: usize, count: usize| &tensor.bytes[index * 256 * row..][..count * 64 * row];
        let bytes = [part(0, heads), part(1, heads), part(2, 4)].concat();
        let mut shape = tensor.shape.clone();
        shape[0] = ((2 * heads + 4) * 64) as u64;
        Raw::new(&tensor.name, "F32", &shape, bytes)
    };
    tensors.iter().map(fewer).collect()
}
