//! Files of models: `metalworks synthesize` and `metalworks info`.

mod support;

use support::{Run, Scratch, metalworks, metalworks_with_cache};

/// A folder with a model in it.
struct Model {
    scratch: Scratch,
    path: String,
}

impl Model {
    fn new(name: &str) -> Model {
        let scratch = Scratch::new();
        let path = format!("{}/model.gguf", scratch.path());
        let run = metalworks(["synthesize", name, "-o", &path]).exits(0);
        assert!(run.stdout.starts_with(&format!("{path}: {name}, ")), "{}", run.stdout);
        Model { scratch, path }
    }

    fn info(&self, flags: &[&str]) -> Run {
        metalworks(["info", self.path.as_str()].iter().chain(flags))
    }
}

#[test]
fn a_model_is_described() {
    let model = Model::new("qwen3-tiny:q4_k");
    let text = model.info(&[]).exits(0).stdout;
    for line in [
        "GGUF version 3, 982.7 KiB, 1.7 million parameters in 24 tensors",
        "architecture       qwen3",
        "context length     2048",
        "layers             2",
        "heads              4",
        "key/value heads    2",
        "head size          128",
        "rope base          1000000",
        "norm epsilon       0.000001",
        "tokenizer          gpt2",
        "pre-tokenizer      qwen2",
        "vocabulary         384 tokens",
        "token for end      383 <|im_end|>",
        "chat template      yes",
    ] {
        assert!(text.lines().any(|there| there == line), "no '{line}' in:\n{text}");
    }
    let types: Vec<&str> = text.lines().filter(|line| line.contains('%')).collect();
    assert_eq!(types.len(), 3, "{text}");
    assert!(types[0].starts_with("Q4_K       14") && types[1].starts_with("Q8_0        1"), "{text}");
    assert!(!text.contains("blk.0.") && !text.contains("tokenizer.ggml"), "{text}");
}

#[test]
fn tensors_and_metadata_are_printed_on_request() {
    let model = Model::new("llama-tiny:q8_0");
    let text = model.info(&["--tensors", "--metadata"]).exits(0).stdout;
    assert!(text.contains("blk.1.ffn_down.weight     Q8_0  512×256"), "{text}");
    assert!(text.contains("\nllama.rope.freq_base = 10000\n"), "{text}");
    assert!(text.contains("\ntokenizer.ggml.add_bos_token = false\n"), "{text}");
    assert!(text.contains(r#"tokenizer.ggml.merges = ["t h", "Ġ th", "#), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
}

#[test]
fn programs_get_json() {
    let model = Model::new("qwen2-tiny:q5_0");
    let json = model.info(&["--json"]).exits(0).json();
    assert_eq!((&json["architecture"], &json["layers"]), (&"qwen2".into(), &2.into()));
    assert_eq!((&json["vocabulary"], &json["chat_template"]), (&384.into(), &true.into()));
    assert_eq!((&json["types"][0]["type"], &json["types"][0]["supported"]), (&"Q5_0".into(), &true.into()));
    assert_eq!(json["norm_epsilon"], 1e-6);
    assert!(json["tensors"].is_null() && json["metadata"].is_null());
    let json = model.info(&["--json", "--tensors", "--metadata"]).exits(0).json();
    assert_eq!(model.info(&["--format", "json", "--tensors", "--metadata"]).exits(0).json(), json);
    assert_eq!(json["tensors"].as_array().map(Vec::len), json["tensor_count"].as_u64().map(|count| count as usize));
    let bias = json["tensors"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "blk.0.attn_q.bias"));
    assert_eq!(bias.map(|bias| &bias["dimensions"]), Some(&serde_json::json!([256])));
    assert_eq!(json["metadata"]["tokenizer.ggml.tokens"].as_array().map(Vec::len), Some(384));
    assert_eq!(json["metadata"]["qwen2.rope.freq_base"], 1e6);
}

#[test]
fn describes_folders() {
    let scratch = Scratch::new();
    let config = serde_json::json!({
        "model_type": "qwen2", "num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 128, "head_dim": 32,
        "num_attention_heads": 2, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "rope_theta": 1e6,
        "quantization": { "bits": 8, "group_size": 64 },
    });
    let parts = [("weight", "U32", 16, 16 * 4), ("scales", "F16", 1, 2), ("biases", "F16", 1, 2)];
    let (mut header, mut end) = (serde_json::Map::new(), 0);
    for (name, kind, columns, row_bytes) in parts {
        let offsets = [end, end + 64 * row_bytes];
        let entry = serde_json::json!({ "dtype": kind, "shape": [64, columns], "data_offsets": offsets });
        header.insert(format!("model.layers.0.self_attn.q_proj.{name}"), entry);
        end = offsets[1];
    }
    let header = serde_json::Value::Object(header).to_string();
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; end]].concat();
    scratch.file("model/config.json", config.to_string());
    scratch.file("model/model.safetensors", file);
    let folder = scratch.path() + "/model";
    let text = metalworks(["info", &folder, "--tensors"]).exits(0).stdout;
    assert!(text.contains("\nMLX folder, "), "{text}");
    assert!(text.contains("\nquantization     MLX, 8 bits in groups of 64\n"), "{text}");
    assert!(text.contains("\nblk.0.attn_q.weight  AFFINE8  64×64"), "{text}");
    assert!(text.contains("\nnote: there is no 'tokenizer.json'"), "{text}");
    let json = metalworks(["info", &folder, "--json"]).exits(0).json();
    assert_eq!((&json["format"], &json["version"]), (&"mlx".into(), &serde_json::Value::Null));
    metalworks(["run", "-m", &folder, "-p", "x"]).exits(2).says("there is no");
}

#[test]
fn rejects_files_that_are_not_models() {
    let model = Model::new("llama-tiny:q4_0");
    let whole = std::fs::read(&model.path).expect("it is there");
    let cut = model.scratch.file("cut.gguf", &whole[..whole.len() - 1000]);
    metalworks(["info", &cut]).exits(1).says(&format!("metalworks: error: {cut}: at byte "));
    metalworks(["info", &cut])
        .exits(1)
        .says("after the end of the file: the file is truncated or corrupt; download it again");
    // All commands agree.
    for arguments in [
        &["run", "-p", "x", "-m"][..],
        &["bench", "-m"],
        &["tokenize", "x", "-m"],
        &["perplexity", "--file", "README.md", "-m"],
    ] {
        metalworks([arguments, &[&cut]].concat()).exits(1).says("the file is truncated or corrupt");
        metalworks([arguments, &["no/such.gguf"]].concat()).exits(2).says("there is no file 'no/such.gguf'");
    }
    metalworks(["info", "examples/gemv.metal"]).exits(1).says("gemv.metal: at byte 0: is not a GGUF file");
    metalworks(["info", "no/such.gguf"]).exits(2).says("there is no file 'no/such.gguf'");
    metalworks(["info", "examples"]).exits(1).says("examples: is a folder without 'config.json'");
    let part = model.scratch.path() + "/part-00001-of-00002.gguf";
    std::fs::copy(&model.path, &part).expect("there is room");
    metalworks(["info", &part]).exits(0);
}

#[test]
fn names_in_a_model_do_not_control_the_terminal() {
    let builder = inference::gguf::Builder::new().key("general.architecture", "\x1b]0;title\x07\x1b[31m");
    let bytes = builder.to_bytes(|_, _| Ok(())).expect("memory can be written");
    let scratch = Scratch::new();
    let path = scratch.file("model.gguf", bytes);
    let run = metalworks(["run", "-m", &path, "-p", "x"]);
    assert!(run.status != 0 && run.stderr.contains("title"), "{}", run.stderr);
    assert!(!run.stderr.contains(['\x1b', '\x07']), "{:?}", run.stderr);
    let run = metalworks(["info", &path]);
    assert!(!run.stdout.contains(['\x1b', '\x07']) && !run.stderr.contains('\x1b'), "{:?}", run.stdout);
}

#[test]
fn describes_the_default_model_without_a_name() {
    let scratch = Scratch::new();
    let variables = [("METALWORKS_MODELS", scratch.path())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    metalworks_with_cache(["info"], "off", &variables)
        .exits(2)
        .says("is not downloaded: run 'metalworks pull smollm2'");
    metalworks_with_cache(["info", "hf:a/b/c.gguf"], "off", &variables).exits(2).says("pull hf:a/b/c.gguf'");
    scratch.file("hf/a/b/c.gguf", std::fs::read(Model::new("llama3-tiny:f16").path).expect("it is there"));
    let text = metalworks_with_cache(["info", "hf:a/b/c.gguf"], "off", &variables).exits(0).stdout;
    assert!(text.contains("llama3-tiny:f16"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let scratch = Scratch::new();
    let synthesize = |seed: &str, name: &str| {
        let path = format!("{}/{name}", scratch.path());
        metalworks(["synthesize", "llama-tiny:q4_1", "--seed", seed, "-o", &path]).exits(0);
        std::fs::read(path).expect("it was written")
    };
    let first = synthesize("7", "a");
    assert!(first == synthesize("7", "b"), "the same seed");
    assert!(first != synthesize("8", "c"), "another seed");
}

#[test]
fn rejects_unknown_synthetic_models() {
    metalworks(["synthesize", "llama-9b:q4_0", "-o", "x"]).exits(1).says("there is no shape 'llama-9b'; there are");
    metalworks(["synthesize", "llama-8b:q9", "-o", "x"]).exits(1).says("there is no format 'q9'; there are f32");
    metalworks(["synthesize", "llama-tiny:q4_0", "-o", "no/such/x.gguf"])
        .exits(2)
        .says("cannot write 'no/such/x.gguf'");
    let help = metalworks(["synthesize", "--help"]).exits(0).stdout.replace('\n', " ");
    let error = metalworks(["synthesize", "x:f32", "-o", "x"]).exits(1).stderr;
    let shapes = error.trim_end().split_once("there are ").expect("they are told").1;
    assert!(shapes.split(", ").all(|shape| help.contains(&format!(" {shape}"))), "{shapes} in {help}");
}
