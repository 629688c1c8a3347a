//! Matrices that files have as one, with alternating rows, are read as one tensor each.

use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::synthetic::SyntheticModel;
use std::path::Path;

/// A tensor: name, dimensions, numbers.
type Floats = (String, Vec<u64>, Vec<u8>);

fn synthetic() -> Gguf {
    let model: SyntheticModel = "qwen3next-tiny:f32".parse().expect("the name is valid");
    model.open().expect("the model is valid")
}

fn rows(model: &Gguf, name: &str, columns: u64) -> Vec<Vec<u8>> {
    let tensor = model.weights().tensor(name).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tensor.columns(), columns);
    model.weights().data(tensor).chunks(4 * columns as usize).map(<[u8]>::to_vec).collect()
}

/// The rows of matrices, of each as many as it has in a group.
fn alternating(matrices: &[(&[Vec<u8>], usize)]) -> Vec<u8> {
    let groups = matrices[0].0.len() / matrices[0].1;
    let group = |index: usize| {
        matrices.iter().flat_map(move |(rows, count)| rows[index * count..(index + 1) * count].concat())
    };
    (0..groups).flat_map(group).collect()
}

/// The fused matrices of a layer, as older and newer files have them. It has 2 key heads of 64, and 8 experts.
fn fused(model: &Gguf, layer: u32) -> [Floats; 3] {
    let name = |part: &str| format!("blk.{layer}.{part}.weight");
    let rows = |part: &str| rows(model, &name(part), 256);
    let [qkv, gate, beta, alpha] = ["attn_qkv", "attn_gate", "ssm_beta", "ssm_alpha"].map(rows);
    let mixed = alternating(&[(&qkv[..128], 64), (&qkv[128..256], 64), (&qkv[256..], 128), (&gate, 128)]);
    let gates = alternating(&[(&beta, 2), (&alpha, 2)]);
    let both = alternating(&[(&rows("ffn_gate_exps"), 256), (&rows("ffn_up_exps"), 256)]);
    [
        (name("ssm_in"), vec![256, 768], mixed),
        (name("ssm_ba"), vec![256, 8], gates),
        (name("ffn_gate_up_exps"), vec![256, 512, 8], both),
    ]
}

/// The file with these tensors in place of those that layer 0 has for them.
fn with_fused(model: &Gguf, tensors: &[Floats]) -> Vec<u8> {
    const APART: [&str; 6] = ["attn_qkv", "attn_gate", "ssm_beta", "ssm_alpha", "ffn_gate_exps", "ffn_up_exps"];
    let keys = model.metadata().iter();
    let mut builder = keys.fold(Builder::new(), |builder, (key, value)| builder.key(key, value.clone()));
    let is_apart = |name: &str| APART.iter().any(|part| name == format!("blk.0.{part}.weight"));
    let mut data = Vec::new();
    for tensor in model.weights().tensors().iter().filter(|tensor| !is_apart(&tensor.name)) {
        builder = builder.tensor(&tensor.name, tensor.kind, &tensor.dimensions);
        data.push(model.weights().data(tensor).to_vec());
    }
    for (name, dimensions, bytes) in tensors {
        builder = builder.tensor(name, metalworks_inference::weights::TensorType::F32, dimensions);
        data.push(bytes.clone());
    }
    builder.to_bytes(|index, out| out.write_all(&data[index])).expect("memory can be written to")
}

#[test]
fn fused_matrices_are_taken_apart_unless_they_are_converted() {
    let model = synthetic();
    let bytes = with_fused(&model, &fused(&model, 0));
    let found = Gguf::from_bytes(bytes.clone()).expect("the file is valid");
    assert_eq!(found.weights().tensors().len(), model.weights().tensors().len());
    for tensor in model.weights().tensors() {
        let same = found.weights().tensor(&tensor.name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(same.dimensions, tensor.dimensions, "{}", tensor.name);
        assert!(found.weights().data(same) == model.weights().data(tensor), "{}", tensor.name);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fused-{}.gguf", std::process::id()));
    std::fs::write(&path, bytes).expect("a file can be written");
    let kept = Gguf::open_to_convert(&path).expect("the file is valid");
    assert!(kept.weights().find("blk.0.ssm_in.weight").is_some());
    assert!(kept.weights().find("blk.0.ssm_alpha.weight").is_none());
    std::fs::remove_file(&path).expect("the file exists");
}

#[test]
fn fused_matrices_without_whole_groups_are_damage() {
    let model = synthetic();
    let [mixed, mut gates, both] = fused(&model, 0);
    gates.1 = vec![256, 7];
    gates.2.truncate(7 * 256 * 4);
    let error = Gguf::from_bytes(with_fused(&model, &[mixed, gates, both])).expect_err("a row is missing");
    let message = error.to_string();
    assert!(message.contains("'blk.0.ssm_ba.weight': 256×7 are not the rows of whole groups"), "{message}");
}
