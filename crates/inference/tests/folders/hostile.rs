//! Folders with one error each: the message says what, where, and what to do.

use crate::folder::{Folder, Raw, safetensors, smallest, with_header};
use metalworks_inference::gguf::Gguf;
use metalworks_inference::weights::FileErrorKind::{
    self, Damaged, MissingKey, MissingTensor, NotAModel, Unsupported, WrongPart, WrongValue,
};
use serde_json::{Value as Json, json};

#[track_caller]
fn says(folder: &Folder, kind: FileErrorKind, message: &str) {
    let error = folder.error();
    let text = error.to_string().replace(&folder.path().display().to_string(), "F");
    assert!(error.kind() == kind && text.contains(message), "{:?}: {text}", error.kind());
}

fn with_file(bytes: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.file("config.json", smallest().0.to_string().as_bytes()).file("model.safetensors", bytes);
    folder
}

fn with_config(change: impl FnOnce(&mut Json)) -> Folder {
    let (mut config, tensors) = smallest();
    change(&mut config);
    Folder::of(&config, &tensors)
}

fn with_tensors(change: impl FnOnce(&mut Vec<Raw>)) -> Folder {
    let (config, mut tensors) = smallest();
    change(&mut tensors);
    Folder::of(&config, &tensors)
}

#[test]
fn folders_without_a_model_say_what_is_missing() {
    let folder = Folder::new();
    says(&folder, NotAModel, "F: is a folder without 'config.json'");
    folder.file("a.gguf", b"GGUF");
    says(&folder, NotAModel, "open a file in it, such as 'a.gguf'");
    folder.file("config.json", smallest().0.to_string().as_bytes());
    says(&folder, NotAModel, "has no safetensors file; open 'a.gguf'");
    folder.file("pytorch_model.bin", b"PK");
    says(&folder, NotAModel, "only 'pytorch_model.bin': convert the model");
    let one = safetensors(&smallest().1);
    folder.file("one.safetensors", &one);
    folder.open();
    folder.file("two.safetensors", &one);
    says(&folder, WrongPart, "has 'one.safetensors' and 'two.safetensors', but no 'model.safetensors.index.json'");
    folder.file("model.safetensors", &one);
    folder.open();
    folder.file("model.safetensors.index.json", b"{}");
    says(&folder, WrongPart, "has both 'model.safetensors' and 'model.safetensors.index.json'");
    let error = Gguf::open(folder.path().join("missing")).expect_err("there is nothing").to_string();
    assert!(error.contains("there is no such file"), "{error}");
}

#[test]
fn headers_are_checked_against_the_file() {
    let end = "the file is truncated or corrupt; download it again";
    let entry = |shape: &str, from: u64, to: u64| {
        format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":[{from},{to}]}}"#)
    };
    let header = |text: &str| with_header(text, &[0; 16]);
    let cases: Vec<(Vec<u8>, String)> = vec![
        (Vec::new(), format!("F/model.safetensors: at byte 0: ends within its first 8 bytes: {end}")),
        (u64::MAX.to_le_bytes().to_vec(), format!("the header has {} bytes, more than 100000000: {end}", u64::MAX)),
        (1000u64.to_le_bytes().to_vec(), format!("the header has 1000 bytes, but the file ends after 0: {end}")),
        (header("[]"), "the header is not one of safetensors: invalid type: sequence".into()),
        (header("{"), "the header is not one of safetensors".into()),
        (
            header(&format!(r#"{{"a":{}}}"#, entry("[4]", 0, 20))),
            format!("tensor 'a' ends 4 bytes after the end of the file: {end}"),
        ),
        (
            header(&format!(r#"{{"a":{}}}"#, entry("[4]", 16, 0))),
            "F/model.safetensors: at byte 8: tensor 'a' begins at 16, after its end 0".into(),
        ),
        (
            header(&format!(r#"{{"a":{}}}"#, entry("[3]", 0, 16))),
            "tensor 'a' has 16 bytes, but its shape and type need 12".into(),
        ),
        (
            header(&format!(r#"{{"a":{}}}"#, entry("[4294967296,4294967296]", 0, 16))),
            "tensor 'a': its size overflows".into(),
        ),
        (
            header(&format!(r#"{{"a":{}}}"#, entry("[1,1,1,1,1,1,1,1,4]", 0, 16))),
            "tensor 'a' has 9 dimensions, more than 8".into(),
        ),
        (header(&format!(r#"{{"a":{}}}"#, entry("[-1]", 0, 16))), "tensor 'a': invalid value: integer `-1`".into()),
        (
            header(r#"{"a":{"dtype":"F99","shape":[4],"data_offsets":[0,16]}}"#),
            "tensor 'a': unknown variant `F99`".into(),
        ),
        (header(r#"{"a":{"dtype":"F32","shape":[4]}}"#), "tensor 'a': missing field `data_offsets`".into()),
        (
            header(&format!(r#"{{"a":{},"b":{}}}"#, entry("[4]", 0, 16), entry("[2]", 8, 16))),
            "tensors 'a' and 'b' overlap".into(),
        ),
        (
            header(&format!(r#"{{"a":{},"a":{}}}"#, entry("[2]", 0, 8), entry("[2]", 8, 16))),
            "tensor 'a' is there twice".into(),
        ),
    ];
    for (bytes, message) in cases {
        says(&with_file(&bytes), Damaged, &message);
    }
    says(&with_file(b"version https://git-lfs.github.com/spec/v1\n"), NotAModel, "git lfs pull");
}

#[test]
fn every_truncation_is_an_error() {
    let whole = safetensors(&smallest().1);
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().expect("8 bytes")) as usize;
    let folder = with_file(&whole);
    for len in (0..header).step_by(97).chain([header, whole.len() - 1]) {
        folder.file("model.safetensors", &whole[..len]);
        says(&folder, Damaged, "truncated");
    }
}

#[test]
fn config_is_checked() {
    let set = |key: &'static str, value: Json| with_config(move |config| config[key] = value);
    says(
        &set("hidden_size", json!("256")),
        WrongValue,
        "F/config.json: key 'hidden_size': expected a whole number, found the string \"256\"",
    );
    says(&set("hidden_size", json!(-1)), WrongValue, "expected a whole number, found -1");
    says(&set("hidden_size", json!(0)), WrongValue, "key 'hidden_size': 0 must be 1 to");
    says(
        &set("rms_norm_eps", json!([1])),
        WrongValue,
        "key 'rms_norm_eps': expected a number, found an array of 1",
    );
    says(&set("hidden_size", json!(null)), MissingKey, "F/config.json: there is no key 'hidden_size'");
    says(&set("model_type", json!(7)), WrongValue, "key 'model_type': expected a string, found 7");
    says(&set("model_type", json!(null)), MissingKey, "there is no key 'model_type'");
    says(
        &set("model_type", json!("bert")),
        Unsupported,
        "the model type 'bert' is not supported (layers with attention to later tokens are missing), only llama, mistral, ",
    );
    says(&set("hidden_act", json!("relu")), WrongValue, "the activation 'relu' is not supported, only silu");
    says(&set("rope_scaling", json!(1)), WrongValue, "key 'rope_scaling': expected an object, found 1");
    says(&set("rope_scaling", json!({ "type": "new" })), WrongValue, "RoPE scaling 'new' is not supported yet");
    says(&set("rope_scaling", json!({ "type": "linear" })), MissingKey, "there is no key 'rope_scaling.factor'");
    says(&set("tie_word_embeddings", json!("yes")), WrongValue, "expected true or false");
    says(&set("head_dim", json!(1u64 << 40)), WrongValue, "key 'head_dim': 1099511627776 must be 1 to");
    let folder = with_config(|_| ());
    for (text, message) in
        [("", "not valid JSON"), ("[1]", "expected an object, found an array of 1"), ("{\"a\":", "not valid JSON")]
    {
        folder.file("config.json", text.as_bytes());
        says(&folder, Damaged, message);
    }
    folder.file("config.json", "[".repeat(100_000).as_bytes());
    says(&folder, Damaged, "recursion limit exceeded");
}

#[test]
fn tensors_are_checked() {
    says(
        &with_tensors(|tensors| tensors[3].name = "model.layers.0.self_attn.z_proj.weight".into()),
        Unsupported,
        "unexpected tensor 'layers.0.self_attn.z_proj.weight' in a model of the type 'llama'",
    );
    says(
        &with_tensors(|tensors| tensors[0].name = "model.layers.x.mlp.up_proj.weight".into()),
        Unsupported,
        "unexpected tensor 'layers.x",
    );
    says(&with_tensors(|tensors| tensors[0].kind = "I32"), Unsupported, "its numbers are I32");
    says(
        &with_tensors(|tensors| {
            let mut twice = tensors[0].clone();
            twice.name = twice.name.replace("model.", "");
            tensors.push(twice);
        }),
        Damaged,
        "is in two files, or under two names",
    );
    let (mut config, mut raw) = smallest();
    config["tie_word_embeddings"] = json!(false);
    raw.retain(|tensor| tensor.name != "lm_head.weight");
    says(
        &Folder::of(&config, &raw),
        MissingTensor,
        "there is no tensor 'lm_head.weight', although 'tie_word_embeddings' is false",
    );
}

#[test]
fn shards_stay_in_the_folder() {
    let (config, raw) = smallest();
    let folder = Folder::new();
    folder.file("config.json", config.to_string().as_bytes());
    let index = |map: Json| {
        folder.file("model.safetensors.index.json", json!({ "weight_map": map }).to_string().as_bytes());
        &folder
    };
    for name in ["../x.safetensors", "/etc/passwd", "a/b.safetensors", "..", "", "x.bin"] {
        says(
            index(json!({ "a": name })),
            WrongValue,
            "key 'weight_map.a': expected the name of a safetensors file",
        );
    }
    says(index(json!({ "a": 1 })), WrongValue, "found 1");
    says(index(json!([])), WrongValue, "key 'weight_map': expected an object");
    says(index(json!({})), WrongValue, "there is no tensor in it");
    says(
        index(json!({ "a": "x.safetensors" })),
        WrongPart,
        "'x.safetensors' is missing, which 'model.safetensors.index.json' names",
    );
    folder.file("x.safetensors", &safetensors(&raw));
    says(index(json!({ "a": "x.safetensors" })), WrongPart, "F/x.safetensors: tensor 'a' is not in it");
    folder.file("model.safetensors.index.json", b"{}");
    says(&folder, MissingKey, "there is no key 'weight_map'");
    // A link to itself.
    folder.remove("x.safetensors");
    std::os::unix::fs::symlink("x.safetensors", folder.path().join("x.safetensors")).expect("a link can be made");
    says(index(json!({ "a": "x.safetensors" })), FileErrorKind::Io, "F/x.safetensors: cannot be read");
}

#[test]
fn quantization_is_checked() {
    let mlx = |value: Json| with_config(move |config| config["quantization"] = value);
    says(
        &mlx(json!({ "bits": 7, "group_size": 64 })),
        WrongValue,
        "key 'quantization.bits': 7 is none of [2, 3, 4, 5, 6, 8]",
    );
    says(&mlx(json!({ "bits": 4, "group_size": 48 })), WrongValue, "48 is none of [32, 64, 128]");
    says(&mlx(json!({ "bits": 4 })), MissingKey, "there is no key 'quantization.group_size'");
    says(
        &mlx(json!({ "bits": 4, "group_size": 64, "mode": "nvfp4" })),
        Unsupported,
        "MLX's quantization 'nvfp4' is not supported",
    );
    says(&mlx(json!(4)), WrongValue, "key 'quantization': expected an object");
    let method = with_config(|config| config["quantization_config"] = json!({ "quant_method": "gptq" }));
    says(&method, Unsupported, "the quantization 'gptq' is not supported, only fp8, mxfp4 and MLX's");
    let quantized = |change: &dyn Fn(&mut Vec<Raw>)| {
        let (mut config, mut raw) = smallest();
        config["quantization"] = json!({ "bits": 4, "group_size": 64 });
        let at = raw.iter().position(|tensor| tensor.name.ends_with("0.mlp.up_proj.weight")).expect("there is one");
        let (mut parts, _) = crate::quantized::affine(&raw[at], 4, 64, "F16");
        raw.remove(at);
        change(&mut parts);
        raw.extend(parts);
        Folder::of(&config, &raw)
    };
    quantized(&|_| ()).open();
    says(&quantized(&|parts| drop(parts.remove(1))), Damaged, "there is no tensor 'layers.0.mlp.up_proj.scales'");
    says(&quantized(&|parts| drop(parts.remove(2))), Damaged, "there is no tensor 'layers.0.mlp.up_proj.biases'");
    says(
        &quantized(&|parts| parts[1].shape = vec![256, 8]),
        Damaged,
        "its scales are F16 256×8, but 512×4 are expected",
    );
    says(&quantized(&|parts| parts[2].kind = "BF16"), Damaged, "its scales are F16 and its biases BF16");
    says(
        &quantized(&|parts| parts[0].shape = vec![512 * 32, 1]),
        Damaged,
        "are not whole groups of 64 numbers of 4 bits",
    );
    let float8 = with_tensors(|tensors| {
        let at = tensors.iter().position(|tensor| tensor.shape.len() == 2).expect("there is one");
        let name = tensors[at].name.clone();
        let bytes = tensors[at].bytes.len() / 4;
        tensors[at] = Raw::new(&name, "F8_E4M3", &tensors[at].shape.clone(), vec![0; bytes]);
    });
    says(&float8, Damaged, "it is FP8, but there is no tensor");
}
