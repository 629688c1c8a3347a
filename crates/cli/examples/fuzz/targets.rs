//! The readers, each with the inputs that are mutated.

use super::mutate::{self, Random};
use super::npy;
use abi::Constants;
use compute::{BinaryArchive, ComputePipelineDescriptor, FunctionDescriptor};
use inference::chat::{ChatTemplate, Message, RenderOptions};
use inference::gguf::Gguf;
use inference::tokenizer::{Tokenizer, Vocabulary};
use std::path::PathBuf;

/// A reader.
pub(crate) struct FuzzTarget {
    pub(crate) name: &'static str,
    seeds: Vec<Vec<u8>>,
    /// Words to insert, for texts.
    words: &'static [&'static str],
    pub(crate) read: fn(&[u8]),
}

impl FuzzTarget {
    /// An input.
    pub(crate) fn input(&self, random: &mut Random) -> Vec<u8> {
        let seed = &self.seeds[random.below(self.seeds.len())];
        match std::str::from_utf8(seed) {
            Ok(text) if !self.words.is_empty() && random.below(8) > 0 => {
                mutate::text(text, self.words, random).into_bytes()
            }
            _ => mutate::bytes(seed, random),
        }
    }
}

const METAL: &[&str] = &[
    "kernel",
    "void",
    "device",
    "constant",
    "float4",
    "half",
    "uint",
    "template",
    "typename",
    "struct",
    "[[",
    "]]",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "::",
    "#define X(a) a a\n",
    "#include <metal_stdlib>\n",
    "#if ",
    "...",
    "1e999",
    "0x",
    "if",
    "for",
    "return",
    "static_assert",
    "constexpr",
    "operator",
    "&&",
    "%",
    "/",
    "0",
    "4294967296",
    "\"",
    "'",
    "\\\n",
];

const JINJA: &[&str] = &[
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{%- ",
    "{# ",
    " #}",
    "for i in range(99999)",
    "endfor",
    "if ",
    "endif",
    "else",
    "set x = ",
    "macro m(a)",
    "endmacro",
    "m(x)",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "|tojson",
    "|list",
    "|join",
    "|indent(9)",
    "|replace('a','b')",
    "|sort",
    "|batch(3)",
    "|slice(3)",
    " ~ ",
    " + ",
    " * ",
    " ** ",
    " // ",
    " % ",
    "[::-1]",
    "[:-1]",
    "not ",
    " in ",
    " is ",
    "defined",
    "namespace(x=1)",
    "messages",
    "loop.index",
    ".split(',')",
    ".items()",
    ".strip()",
    "9999999999999999999",
    "-1",
    "''",
    "'a' * 99999999",
    "none",
    "true",
    "raise_exception('x')",
    "strftime_now('%Y')",
    "recursive",
    "loop(x)",
    "do ",
];

const TEMPLATES: [&str; 3] = [
    "{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content']|trim }}{% endfor %}",
    "{%- if messages[0].role == 'system' %}{%- set loop_messages = messages[1:] %}{%- else %}\
     {%- set loop_messages = messages %}{%- endif %}{%- for m in loop_messages %}{%- if (m.role == 'user') != \
     (loop.index0 % 2 == 0) %}{{ raise_exception('roles') }}{%- endif %}{{ bos_token ~ m.content }}{%- endfor %}",
    "{%- set ns = namespace(x=[], last=-1) %}{%- for m in messages[::-1] %}{%- set ns.x = ns.x + [m] %}{%- set ns.last = \
     loop.index %}{%- endfor %}{%- macro show(a, b=2) %}{{ a|tojson(indent=b) }}{%- endmacro %}{{ show(ns.x) }}{{ \
     ns.x|map(attribute='role')|join(', ') }}{{ messages[0].content.split(' ')|length }}",
];

pub(crate) fn all() -> Vec<FuzzTarget> {
    let sources: Vec<Vec<u8>> =
        ["add_arrays", "gemv"].map(|name| std::fs::read(examples(name)).unwrap_or_default()).into();
    let gguf = model();
    let [library, bitcode, archive] = compiled();
    let npy =
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n".to_vec();
    let npy = [npy, vec![0; 24]].concat();
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let target = |name, seeds: Vec<Vec<u8>>, words, read| {
        let kept = std::fs::read_dir(corpus().join(name)).into_iter().flatten().flatten();
        let kept = kept.filter_map(|entry| std::fs::read(entry.path()).ok());
        FuzzTarget { name, seeds: seeds.into_iter().chain(kept).collect(), words, read }
    };
    vec![
        target("source", sources, METAL, source),
        target("library", vec![library], &[], read_library),
        target("bitcode", vec![bitcode], &[], read_bitcode),
        target("archive", vec![archive], &[], read_archive),
        target("gguf", vec![gguf], &[], read_gguf),
        target("npy", vec![npy], &[], |bytes| drop(npy::read(bytes))),
        target("template", texts(&TEMPLATES), JINJA, template),
    ]
}

fn examples(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(format!("{name}.metal"))
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/fuzz/corpus")
}

/// A file of this process, for readers of paths.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("metalworks-fuzz-{}-{name}", std::process::id()))
}

/// A small model with its vocabulary, without its weights' bulk.
fn model() -> Vec<u8> {
    let mut bytes = Vec::new();
    let model: inference::synthetic::SyntheticModel = "llama-tiny:q4_0".parse().expect("a synthetic model");
    model.write(&mut bytes, &mut |_, _| {}).expect("memory can be written");
    bytes
}

/// A library, the bitcode of its kernel, and an archive with its code.
fn compiled() -> [Vec<u8>; 3] {
    let source = std::fs::read_to_string(examples("add_arrays")).expect("an example");
    let compilation = msl::compile_source("add_arrays.metal", &source, &msl::Options::default());
    let library =
        air::compile(air::ProgramSource::from(&compilation), air::MathMode::Fast).expect("a library").library;
    let parsed = air::metallib::Library::parse(&library).expect("we wrote it");
    let bitcode =
        parsed.function("add_arrays").expect("it is there").bitcode().expect("its hash is right").to_vec();
    let device = compute::Device::cpu().expect("a CPU");
    let opened = device.new_library_with_source(&source, &Default::default()).expect("a library");
    let constants = Constants::new();
    let function = FunctionDescriptor { library: &opened, name: "add_arrays", constants: &constants };
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
    device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor).expect("a pipeline");
    let path = scratch("seed");
    archive.serialize(&path).expect("it can be written");
    let bytes = std::fs::read(&path).expect("it was written");
    let _ = std::fs::remove_file(&path);
    [library, bitcode, bytes]
}

fn source(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let compilation = msl::compile_source("fuzz.metal", &text, &msl::Options::default());
    let _ = compilation.render_diagnostics(false);
    if !compilation.has_errors() {
        let _ = air::compile(air::ProgramSource::from(&compilation), air::MathMode::Fast);
    }
}

fn read_library(bytes: &[u8]) {
    let Ok(library) = air::metallib::Library::parse(bytes) else { return };
    for function in library.functions() {
        let _ = function.bitcode();
    }
    let _ = air::reflect::reflect_library(&library, |_| true);
}

fn read_bitcode(bytes: &[u8]) {
    let _ = air::specialize(bytes, "add_arrays", &Constants::new());
}

fn read_archive(bytes: &[u8]) {
    let path = scratch("archive");
    std::fs::write(&path, bytes).expect("a file");
    if let Ok(archive) = BinaryArchive::open(&path) {
        let _ = archive.info();
    }
}

fn read_gguf(bytes: &[u8]) {
    let Ok(model) = Gguf::from_bytes(bytes.to_vec()) else { return };
    for tensor in model.weights().tensors() {
        let _ = (model.weights().data(tensor).len(), tensor.format(), tensor.shape());
    }
    let Ok(vocabulary) = Vocabulary::from_metadata(model.metadata()) else { return };
    if let Ok(tokenizer) = Tokenizer::new(&vocabulary) {
        let _ = ChatTemplate::from_metadata(model.metadata(), &tokenizer);
    }
}

fn template(bytes: &[u8]) {
    let messages = [Message::new("system", "Be brief."), Message::new("user", "Hi, a b")];
    let template = ChatTemplate::new(&String::from_utf8_lossy(bytes), "<s>", "</s>");
    let _ = template.and_then(|template| template.render(&messages, &RenderOptions::default()));
}
