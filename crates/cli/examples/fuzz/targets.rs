//! The readers, each with the inputs that are mutated.

use super::mutate::{self, Random};
use super::words::{HTTP, JINJA, JSON, METAL};
use super::{compiled, npy, saved, server};
use abi::Constants;
use compute::BinaryArchive;
use inference::arch::Hyperparameters;
use inference::chat::{ChatTemplate, Message, RenderOptions, TemplateLimits};
use inference::gguf::{Builder, Gguf};
use inference::models::{ModelSource, PullOptions};
use inference::quantize::{FileType, Quantization};
use inference::synthetic::SyntheticModel;
use inference::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use inference::weights::TensorType;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A reader.
pub(crate) struct FuzzTarget {
    pub(crate) name: &'static str,
    /// Seeds beyond those of the corpus.
    made: fn() -> Vec<Vec<u8>>,
    /// Words to insert, for texts.
    words: &'static [&'static str],
    /// True if it accepts the input.
    pub(crate) read: fn(&[u8]) -> bool,
}

/// Targets, the fast ones first.
static TARGETS: [FuzzTarget; 14] = [
    target("npy", no_seeds, &[], |bytes| npy::read(bytes).is_ok()),
    target("saved-chat", no_seeds, JSON, read_saved_chat),
    target("gguf", models, &[], read_gguf),
    target("folder", no_seeds, JSON, read_folder),
    target("safetensors", safetensors, &[], read_safetensors),
    target("quantize", models, &[], quantize),
    target("archive", compiled::archives, &[], read_archive),
    target("pull", no_seeds, HTTP, pull),
    target("source", no_seeds, METAL, check_source),
    target("library", compiled::libraries, &[], read_library),
    target("object", compiled::objects, &[], |bytes| air::read_object(bytes).is_ok()),
    target("bitcode", compiled::bitcode, &[], read_bitcode),
    target("template", no_seeds, JINJA, render_template),
    target("compile", no_seeds, METAL, compile_source),
];

const fn target(
    name: &'static str,
    made: fn() -> Vec<Vec<u8>>,
    words: &'static [&'static str],
    read: fn(&[u8]) -> bool,
) -> FuzzTarget {
    FuzzTarget { name, made, words, read }
}

impl FuzzTarget {
    /// Seeds: those of the corpus by name, then those that are made.
    pub(crate) fn seeds(&self, corpus: &Path) -> Vec<Vec<u8>> {
        let entries = std::fs::read_dir(corpus.join(self.name)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let kept = paths.iter().map(|path| std::fs::read(path).expect("the corpus can be read"));
        kept.chain((self.made)()).collect()
    }

    /// An input.
    pub(crate) fn input(&self, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        let seed = &seeds[random.below(seeds.len())];
        match std::str::from_utf8(seed) {
            Ok(text) if !self.words.is_empty() => match random.below(8) {
                0 => mutate::bytes(seed, random),
                1 | 2 => mutate::same_kinds(text, random).into_bytes(),
                _ => mutate::text(text, self.words, random).into_bytes(),
            },
            _ => mutate::bytes(seed, random),
        }
    }
}

pub(crate) fn all() -> &'static [FuzzTarget] {
    &TARGETS
}

pub(crate) fn find(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|target| target.name == name)
}

pub(crate) fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/fuzz/corpus")
}

/// Folder for files: one in memory, if there is one.
pub(crate) fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// A file of this process, for readers of paths.
pub(crate) fn own(name: &str) -> PathBuf {
    scratch().join(format!("metalworks-fuzz-{}-{name}", std::process::id()))
}

/// A file of this process with these bytes, removed on drop.
struct OwnFile(PathBuf);

impl OwnFile {
    fn new(bytes: &[u8]) -> OwnFile {
        let path = own("input");
        std::fs::write(&path, bytes).expect("a file can be written");
        OwnFile(path)
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn no_seeds() -> Vec<Vec<u8>> {
    Vec::new()
}

/// A model of some kilobytes: metadata and tensors of a synthetic one, with smaller matrices.
fn models() -> Vec<Vec<u8>> {
    let model: SyntheticModel = "llama-tiny:f32".parse().expect("a synthetic model");
    let model = model.open().expect("it is valid");
    // The vocabulary stays; heads have the smallest size that is supported.
    let small = |size: u64| if size == 384 { size } else { (size / 8).max(32) };
    let mut sizes = Vec::new();
    let mut builder = Builder::new();
    for (key, value) in model.metadata().iter() {
        builder = builder.key(key, value.clone());
    }
    for key in ["embedding_length", "feed_forward_length", "rope.dimension_count"] {
        let size: u64 = model.get(&format!("llama.{key}")).expect("the key is there");
        builder = builder.key(&format!("llama.{key}"), small(size) as u32);
    }
    for key in ["block_count", "attention.head_count", "attention.head_count_kv"] {
        builder = builder.key(&format!("llama.{key}"), 1u32);
    }
    for key in ["attention.key_length", "attention.value_length"] {
        builder = builder.key(&format!("llama.{key}"), 32u32);
    }
    for tensor in model.weights().tensors().iter().filter(|tensor| !tensor.name.starts_with("blk.1.")) {
        let dimensions: Vec<u64> = tensor.dimensions.iter().map(|&size| small(size)).collect();
        let kind = if dimensions.len() > 1 { TensorType::F16 } else { TensorType::F32 };
        sizes.push(dimensions.iter().product::<u64>() as usize * if kind == TensorType::F16 { 2 } else { 4 });
        builder = builder.tensor(&tensor.name, kind, &dimensions);
    }
    vec![builder.to_bytes(|index, out| out.write_all(&vec![0; sizes[index]])).expect("memory can be written")]
}

fn read_gguf(bytes: &[u8]) -> bool {
    Gguf::from_bytes(bytes.to_vec()).is_ok_and(|model| use_model(&model))
}

/// Reads everything of a model but its chat template.
fn use_model(model: &Gguf) -> bool {
    let weights = model.weights();
    let mut buffer = Vec::new();
    for tensor in weights.tensors() {
        let _ = (tensor.format(), tensor.shape());
        if tensor.size() < 1 << 16 {
            let _ = weights.read(tensor, 0..tensor.size() as usize, &mut buffer);
        }
    }
    let shape = Hyperparameters::read(model);
    let vocabulary = Vocabulary::from_metadata(model.metadata());
    let tokenizer = vocabulary.ok().and_then(|vocabulary| Tokenizer::new(&vocabulary).ok());
    if let Some(tokenizer) = &tokenizer {
        let options = EncodeOptions { add_special: true, parse_special: true };
        let ids = tokenizer.encode("<s>Hello, world: 12 ä\u{1f600}\n", options);
        let _ = tokenizer.decode(&ids, true);
    }
    shape.is_ok() && tokenizer.is_some()
}

fn quantize(bytes: &[u8]) -> bool {
    let Ok(model) = Gguf::from_bytes(bytes.to_vec()) else { return false };
    let types: Vec<FileType> = FileType::all().collect();
    let to = types[bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>() % types.len()];
    let Ok(quantization) = Quantization::new(&model, to, true) else { return false };
    if quantization.size().is_ok_and(|size| size < 1 << 20) {
        let path = own("quantized");
        let written = quantization.write_file(&path, 1, &mut |_, _| {});
        let _ = std::fs::remove_file(&path);
        return written.is_ok();
    }
    false
}

/// Files of a text: `=== NAME`, and its content. Safetensors files are the text of their header, after a line with the
/// number of bytes of data, which are 0.
fn files_of(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = String::from_utf8_lossy(text);
    let mut files = Vec::new();
    for part in text.split("=== ").skip(1).take(16) {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if !is_plain || name.is_empty() || name.len() > 100 || name.starts_with('.') {
            continue;
        }
        let content = match name.ends_with(".safetensors") {
            true => {
                let (data, header) = content.split_once('\n').unwrap_or((content, ""));
                let data = data.parse::<usize>().unwrap_or(0).min(1 << 20);
                [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; data]].concat()
            }
            false => content.as_bytes().to_vec(),
        };
        files.push((name.to_owned(), content));
    }
    files
}

fn read_files(files: &[(String, Vec<u8>)]) -> bool {
    let folder = own("folder");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, content) in files {
        std::fs::write(folder.join(name), content).expect("a file can be written");
    }
    let accepted = Gguf::open(&folder).is_ok_and(|model| use_model(&model));
    std::fs::remove_dir_all(&folder).expect("it is ours");
    accepted
}

fn read_folder(bytes: &[u8]) -> bool {
    read_files(&files_of(bytes))
}

/// Files of a folder, whose safetensors file is fuzzed.
const FOLDER: &[u8] = include_bytes!("corpus/folder/llama");

fn safetensors() -> Vec<Vec<u8>> {
    files_of(FOLDER)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".safetensors"))
        .map(|(_, bytes)| bytes)
        .collect()
}

fn read_safetensors(bytes: &[u8]) -> bool {
    let mut files = files_of(FOLDER);
    for (name, content) in &mut files {
        if name.ends_with(".safetensors") {
            *content = bytes.to_vec();
        }
    }
    read_files(&files)
}

fn read_saved_chat(bytes: &[u8]) -> bool {
    let file = OwnFile::new(bytes);
    saved::load(&file.0.to_string_lossy()).is_ok()
}

fn read_archive(bytes: &[u8]) -> bool {
    let file = OwnFile::new(bytes);
    BinaryArchive::open(&file.0).map(|archive| archive.info()).is_ok()
}

/// Pulls a model from a server with these answers: of a list, and of the file.
fn pull(bytes: &[u8]) -> bool {
    let folder = own("models");
    let options = PullOptions {
        folder: Some(folder.clone()),
        endpoint: Some(server::script(bytes).to_owned()),
        pause: Duration::ZERO,
    };
    let source: ModelSource = "user/repo".parse().expect("a name");
    let pulled = source.pull_with(&options, &mut |_| {});
    let _ = std::fs::remove_dir_all(&folder);
    pulled.is_ok()
}

/// Of the latest version of the language, which has the most.
fn check(bytes: &[u8]) -> msl::Compilation {
    let latest = msl::LanguageVersion::ALL.last().copied().expect("there are versions");
    let options = msl::Options { std: latest, ..msl::Options::default() };
    msl::compile_source("fuzz.metal", &String::from_utf8_lossy(bytes), &options)
}

/// Without a code generator, which takes most of the time.
fn check_source(bytes: &[u8]) -> bool {
    let compilation = check(bytes);
    let _ = compilation.render_diagnostics(false);
    !compilation.has_errors()
}

/// Up to a library, and to code for CPUs.
fn compile_source(bytes: &[u8]) -> bool {
    let compilation = check(bytes);
    if compilation.has_errors() {
        return false;
    }
    let Ok(compiled) = air::compile(air::ProgramSource::from(&compilation), air::MathMode::Fast) else {
        return false;
    };
    let target = air::wave::Target::host().expect("a CPU");
    let Ok(library) = air::metallib::Library::parse(&compiled.library) else { return false };
    library.functions().iter().all(|function| {
        let bitcode = function.bitcode().expect("we wrote it");
        let specialized = air::specialize(bitcode, function.name(), &Constants::new());
        specialized.is_ok_and(|code| air::wave::compile(&code, &target, &[abi::Lanes::Row]).is_ok())
    })
}

fn read_library(bytes: &[u8]) -> bool {
    let Ok(library) = air::metallib::Library::parse(bytes) else { return false };
    let _ = (library.install_name(), library.linked_libraries(), air::metallib::stored_uuid(bytes));
    for function in library.functions() {
        let _ = function.bitcode();
    }
    air::reflect::reflect_library(&library, |_| true).is_ok()
}

fn read_bitcode(bytes: &[u8]) -> bool {
    air::specialize(bytes, "add_arrays", &Constants::new()).is_ok()
}

/// Limits of most renderings: one that ends at the usual ones takes as long as hundreds of others.
const LOW_LIMITS: TemplateLimits =
    TemplateLimits { instructions: 200_000, time: Duration::from_millis(500), memory: 64 << 20 };

/// A sixteenth with the usual limits.
fn render_template(bytes: &[u8]) -> bool {
    let messages = [Message::new("system", "Be brief."), Message::new("user", "Hi, a b")];
    let sum: usize = bytes.iter().map(|&byte| usize::from(byte)).sum();
    let limits = if sum.is_multiple_of(16) { TemplateLimits::default() } else { LOW_LIMITS };
    let options = RenderOptions { limits, ..RenderOptions::default() };
    let template = ChatTemplate::new(&String::from_utf8_lossy(bytes), "<s>", "</s>");
    template.and_then(|template| template.render(&messages, &options)).is_ok()
}
