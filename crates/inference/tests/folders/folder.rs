//! Folders written for tests, most of them from synthetic GGUF files.

use metalworks_inference::gguf::Gguf;
use metalworks_inference::synthetic::SyntheticModel;
use metalworks_inference::weights::FileError;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tensor of a safetensors file: name, type, shape, bytes.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

impl Raw {
    pub(crate) fn new(name: &str, kind: &'static str, shape: &[u64], bytes: Vec<u8>) -> Raw {
        Raw { name: name.to_owned(), kind, shape: shape.to_vec(), bytes }
    }

    pub(crate) fn f32(name: &str, shape: &[u64], numbers: &[f32]) -> Raw {
        Raw::new(name, "F32", shape, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    /// Numbers of an F32 tensor.
    pub(crate) fn floats(&self) -> Vec<f32> {
        assert_eq!(self.kind, "F32");
        self.bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

/// Bytes of a safetensors file.
pub(crate) fn safetensors(tensors: &[Raw]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for Raw { name, kind, shape, bytes } in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        header.insert(name.clone(), json!({ "dtype": kind, "shape": shape, "data_offsets": [start, data.len()] }));
    }
    with_header(&Json::Object(header).to_string(), &data)
}

/// A file with this header.
pub(crate) fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// A folder, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("folders-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a folder can be created");
        Folder(path)
    }

    /// A folder with these files.
    pub(crate) fn of(config: &Json, tensors: &[Raw]) -> Folder {
        let folder = Folder::new();
        folder.file("config.json", config.to_string().as_bytes());
        folder.file("model.safetensors", &safetensors(tensors));
        folder
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> &Folder {
        std::fs::write(self.0.join(name), content).expect("a file can be written");
        self
    }

    pub(crate) fn remove(&self, name: &str) -> &Folder {
        std::fs::remove_file(self.0.join(name)).expect("the file exists");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn open(&self) -> Gguf {
        Gguf::open(&self.0).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn error(&self) -> FileError {
        Gguf::open(&self.0).expect_err("the folder is invalid")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A synthetic model, such as `llama-tiny:f32`.
pub(crate) fn synthetic(name: &str) -> Gguf {
    let model: SyntheticModel = name.parse().expect("the name is valid");
    model.with_seed(3).open().expect("the model is valid")
}

/// `config.json` and tensors of the smallest model.
pub(crate) fn smallest() -> (Json, Vec<Raw>) {
    static MODEL: OnceLock<(Json, Vec<Raw>)> = OnceLock::new();
    let of_model = || {
        let model = synthetic("llama-tiny:f32");
        (config(&model), tensors(&model))
    };
    MODEL.get_or_init(of_model).clone()
}

/// `config.json` of a GGUF file.
pub(crate) fn config(model: &Gguf) -> Json {
    let architecture = model.architecture().expect("there is one");
    let count = |key: &str| model.get::<u64>(&format!("{architecture}.{key}")).expect("the key exists");
    let number = |key: &str| f64::from(model.get::<f32>(&format!("{architecture}.{key}")).expect("the key exists"));
    json!({
        "model_type": architecture,
        "num_hidden_layers": count("block_count"),
        "hidden_size": count("embedding_length"),
        "intermediate_size": count("feed_forward_length"),
        "num_attention_heads": count("attention.head_count"),
        "num_key_value_heads": count("attention.head_count_kv"),
        "head_dim": count("attention.key_length"),
        "max_position_embeddings": count("context_length"),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon"),
        "rope_theta": number("rope.freq_base"),
        "hidden_act": "silu",
        "vocab_size": model.weights().tensor("token_embd.weight").expect("it exists").dimensions[1],
    })
}

/// Tensors of a GGUF file in F32, F16 or BF16 by their names in folders, the halves of heads not interleaved.
pub(crate) fn tensors(model: &Gguf) -> Vec<Raw> {
    let head = config(model)["head_dim"].as_u64().expect("a number") as usize;
    let is_llama = model.architecture() == Ok("llama");
    let mut raw = Vec::new();
    for tensor in model.weights().tensors().iter().filter(|tensor| tensor.name != "rope_freqs.weight") {
        let mut bytes = model.weights().data(tensor).to_vec();
        if is_llama && (tensor.name.contains("attn_q.") || tensor.name.contains("attn_k.")) {
            let rows = *tensor.dimensions.last().expect("a matrix") as usize;
            let row_bytes = bytes.len() / rows;
            let stored = bytes.clone();
            for row in 0..rows {
                let (start, pair) = (row / head * head, row % head);
                let to = start + pair % 2 * (head / 2) + pair / 2;
                bytes[to * row_bytes..][..row_bytes].copy_from_slice(&stored[row * row_bytes..][..row_bytes]);
            }
        }
        let kind = match tensor.kind.name() {
            "F32" => "F32",
            "F16" => "F16",
            "BF16" => "BF16",
            other => panic!("{other} is quantized"),
        };
        let shape: Vec<u64> = tensor.dimensions.iter().rev().copied().collect();
        raw.push(Raw { name: name(&tensor.name), kind, shape, bytes });
    }
    raw
}

/// Name in folders of a tensor of GGUF files.
fn name(gguf: &str) -> String {
    const NAMES: [(&str, &str); 11] = [
        ("attn_norm", "input_layernorm"),
        ("attn_q", "self_attn.q_proj"),
        ("attn_k", "self_attn.k_proj"),
        ("attn_v", "self_attn.v_proj"),
        ("attn_output", "self_attn.o_proj"),
        ("attn_q_norm", "self_attn.q_norm"),
        ("attn_k_norm", "self_attn.k_norm"),
        ("ffn_norm", "post_attention_layernorm"),
        ("ffn_gate", "mlp.gate_proj"),
        ("ffn_up", "mlp.up_proj"),
        ("ffn_down", "mlp.down_proj"),
    ];
    let (module, end) = gguf.rsplit_once('.').expect("a name has an end");
    let module = match module.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
        Some((layer, part)) => {
            let (_, name) = NAMES.iter().find(|(gguf, _)| *gguf == part).expect("a known tensor");
            format!("model.layers.{layer}.{name}")
        }
        None => match module {
            "token_embd" => "model.embed_tokens".into(),
            "output_norm" => "model.norm".into(),
            _ => "lm_head".into(),
        },
    };
    format!("{module}.{end}")
}
