//! Folders of Hugging Face and MLX, as models in the names of GGUF.
//!
//! ```text
//! config.json ── config: keys by the tables of families ────────────┐
//! tokenizer.json, … ── vocabulary, pre_tokenizers: keys ────────────┼── Gguf: Metadata, Weights
//! *.safetensors ── safetensors ── tensors: names, quantization ─────┘
//! ```
//!
//! Tensors whose form is that of GGUF files are mapped from the files as they are. The others are derived when they are
//! read ([`crate::weights`]). RoPE pairs the halves of a head in folders of Llama: a key says so, rows are not permuted.
//! The contents of a folder are untrusted, like those of a GGUF file.

mod config;
mod families;
mod json;
mod pre_tokenizers;
mod quantization;
mod safetensors;
mod tensors;
mod value_heads;
mod vocabulary;

use crate::gguf::{Container, Gguf, Metadata};
use crate::weights::{FileError, FileErrorKind, WeightFile};
use config::Config;
use json::JsonFile;
use quantization::Quantization;
use safetensors::{Stored, printable};
use std::collections::BTreeMap;
use std::path::Path;
use vocabulary::TokenizerFiles;

pub(crate) use config::{ADJACENT, HALVES};
pub(crate) use vocabulary::{BY_MERGES, IGNORE_MERGES, SPACE_IF_NONE, SPACE_ONCE};

const INDEX: &str = "model.safetensors.index.json";
const SINGLE: &str = "model.safetensors";

/// Opens a folder. With `interleave`, rows of query and key heads are permuted as in GGUF files.
pub(crate) fn open(folder: &Path, interleave: bool) -> Result<Gguf, FileError> {
    read(folder, interleave).map_err(|error| error.of(Some(folder)))
}

fn read(folder: &Path, interleave: bool) -> Result<Gguf, FileError> {
    let Some(config_file) = JsonFile::open(&folder.join("config.json"))? else { return Err(no_model(folder)) };
    let root = config_file.object();
    let mut metadata = Metadata::default();
    let config = Config::read(root, interleave, &mut metadata)?;
    let quantization = Quantization::read(root)?;
    let (files, stored) = open_files(folder)?;
    if metadata.find("general.name").is_none()
        && let Some(name) = folder.canonicalize().ok().as_deref().and_then(Path::file_name)
    {
        metadata.set("general.name", name.to_string_lossy().into_owned());
    }
    let (weights, left_out) = tensors::weights(&config, &quantization, interleave, files, stored, &metadata)?;
    let rows = weights.find("token_embd.weight").and_then(|tensor| tensor.dimensions.get(1).copied());
    let mut notes = Vec::new();
    add_tokenizer(folder, root, rows.unwrap_or(0) as usize, &mut metadata, &mut notes)?;
    if left_out > 0 {
        notes.push(format!("{left_out} tensors of other parts, such as an encoder of images, are left out"));
    }
    let container = match &quantization {
        Quantization::Mlx(_) => Container::Mlx,
        _ => Container::HuggingFace,
    };
    notes.extend(conversion(&quantization));
    Ok(Gguf::from_folder(folder, container, quantization.describe(), notes, metadata, weights))
}

/// A note on the conversion of quantized matrices at load.
fn conversion(quantization: &Quantization) -> Option<String> {
    match quantization {
        Quantization::None | Quantization::Mxfp4 => None,
        Quantization::Mlx(_) => Some(
            "MLX's numbers are laid out as blocks of 32 with f16 scales at load: 2 to 4 bits as Q4_1, 5 as Q5_1, 6 and 8 \
             as AFFINE8"
                .into(),
        ),
        Quantization::Float8(_) => Some("FP8 is widened to BF16 at load".into()),
    }
}

/// Error for a folder without `config.json`.
fn no_model(folder: &Path) -> FileError {
    let mut names: Vec<String> = match folder.read_dir() {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect(),
        Err(error) => return FileError::new(FileErrorKind::Io, format!("cannot be read: {error}")),
    };
    names.sort();
    let message = match names.iter().find(|name| name.ends_with(".gguf")) {
        Some(name) => {
            format!("is a folder without 'config.json': open a file in it, such as '{}'", printable(name))
        }
        None => "is a folder without 'config.json': a folder of Hugging Face or MLX has it".to_owned(),
    };
    FileError::new(FileErrorKind::NotAModel, message)
}

/// Opens the safetensors files: the only one, or those of the index.
fn open_files(folder: &Path) -> Result<(Vec<WeightFile>, Vec<Stored>), FileError> {
    let index = JsonFile::open(&folder.join(INDEX))?;
    let has_single = folder.join(SINGLE).exists();
    let names = match &index {
        Some(_) if has_single => {
            let message =
                format!("has both '{SINGLE}' and '{INDEX}': it is not clear which is the model; remove one");
            return Err(FileError::new(FileErrorKind::WrongPart, message));
        }
        Some(index) => shards(index)?,
        None if has_single => BTreeMap::from([(SINGLE.to_owned(), Vec::new())]),
        None => BTreeMap::from([(only_file(folder)?, Vec::new())]),
    };
    let (mut files, mut tensors) = (Vec::new(), Vec::new());
    for (name, expected) in names {
        let path = folder.join(&name);
        if !path.exists() && !path.is_symlink() {
            let message = format!("'{}' is missing, which '{INDEX}' names: download it too", printable(&name));
            return Err(FileError::new(FileErrorKind::WrongPart, message));
        }
        let file = WeightFile::open(&path)?;
        let found = safetensors::read(file.bytes(), files.len()).map_err(|error| error.of(Some(&path)))?;
        let names: std::collections::HashSet<&str> = found.iter().map(|tensor| tensor.name.as_str()).collect();
        if let Some(missing) = expected.iter().find(|tensor| !names.contains(tensor.as_str())) {
            let message = format!("tensor '{}' is not in it, although '{INDEX}' says so", printable(missing));
            return Err(FileError::new(FileErrorKind::WrongPart, message).of(Some(&path)));
        }
        tensors.extend(found);
        files.push(file);
    }
    Ok((files, tensors))
}

/// Files of an index, and the tensors that must be in each.
fn shards(index: &JsonFile) -> Result<BTreeMap<String, Vec<String>>, FileError> {
    let root = index.object();
    let map = root.required("weight_map", root.object("weight_map", "weight_map.")?)?;
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (tensor, file) in map.entries() {
        let name = file.as_str().unwrap_or_default();
        // A path could lead out of the folder.
        let is_name =
            Path::new(name).file_name().is_some_and(|file| file == name) && name.ends_with(".safetensors");
        if !is_name {
            let found = json::describe(file);
            return Err(map.wrong(
                &printable(tensor),
                format_args!("expected the name of a safetensors file, found {found}"),
            ));
        }
        files.entry(name.to_owned()).or_default().push(tensor.clone());
    }
    match files.is_empty() {
        true => Err(root.wrong("weight_map", "there is no tensor in it")),
        false => Ok(files),
    }
}

/// The name of the only safetensors file.
fn only_file(folder: &Path) -> Result<String, FileError> {
    let failed = |error: std::io::Error| FileError::new(FileErrorKind::Io, format!("cannot be read: {error}"));
    let entries = folder.read_dir().map_err(failed)?.flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let with_end = |end: &str| names.iter().filter(|name| name.ends_with(end)).cloned().collect::<Vec<String>>();
    let mut found = with_end(".safetensors");
    found.sort();
    match found.as_slice() {
        [name] => Ok(name.clone()),
        [first, second, ..] => {
            let message = format!(
                "has '{}' and '{}', but no '{INDEX}': it is not clear which is the model",
                printable(first),
                printable(second)
            );
            Err(FileError::new(FileErrorKind::WrongPart, message))
        }
        [] => {
            let message = match (with_end(".bin").first(), with_end(".gguf").first()) {
                (Some(name), _) => {
                    format!("has no safetensors file, only '{}': convert the model", printable(name))
                }
                (None, Some(name)) => format!("has no safetensors file; open '{}' in it", printable(name)),
                (None, None) => "has no safetensors file: download the model's weights too".to_owned(),
            };
            Err(FileError::new(FileErrorKind::NotAModel, message))
        }
    }
}

/// Adds tokenizer and chat template. A folder may lack them: then it has no text.
fn add_tokenizer(
    folder: &Path,
    model: json::Object<'_>,
    least: usize,
    metadata: &mut Metadata,
    notes: &mut Vec<String>,
) -> Result<(), FileError> {
    let open = |name: &str| JsonFile::open(&folder.join(name));
    let (config, generation) = (open("tokenizer_config.json")?, open("generation_config.json")?);
    let config = config.as_ref().map(JsonFile::object);
    match open("tokenizer.json")? {
        Some(tokenizer) => {
            let generation = generation.as_ref().map(JsonFile::object);
            let files = TokenizerFiles { tokenizer: tokenizer.object(), config, generation, model };
            files.add_keys(least, metadata)?;
        }
        None => notes.push("there is no 'tokenizer.json': texts have no tokens".into()),
    }
    let separate = folder.join("chat_template.jinja");
    if separate.exists() {
        let file = WeightFile::open(&separate)?;
        let text = std::str::from_utf8(file.bytes())
            .map_err(|_| FileError::new(FileErrorKind::Damaged, "is not UTF-8").of(Some(&separate)))?;
        metadata.set("tokenizer.chat_template", text);
        return Ok(());
    }
    let in_json = open("chat_template.json")?;
    for file in [in_json.as_ref().map(JsonFile::object), config].into_iter().flatten() {
        let template = match file.find("chat_template") {
            // Several, by name.
            Some(serde_json::Value::Array(templates)) => {
                let named =
                    |template: &&serde_json::Value| template.get("name").is_some_and(|name| name == "default");
                let default = templates.iter().find(named).or(templates.first());
                default.and_then(|template| template.get("template")).and_then(serde_json::Value::as_str)
            }
            _ => file.text("chat_template")?,
        };
        if let Some(template) = template {
            metadata.set("tokenizer.chat_template", template);
            break;
        }
    }
    Ok(())
}
