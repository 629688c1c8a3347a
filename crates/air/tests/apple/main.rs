//! Our libraries beside Apple's: kernels of MLX, compiled from the headers in its wheel, and the same functions of
//! `mlx.metallib`, field by field. Every difference is in a list, with its reason.
//!
//! `make air` downloads both and runs these tests; they are ignored otherwise, because they need the download.
#![cfg(llvm)]

mod describe;

use describe::{Fields, describe};
use metalworks_air::MathMode;
use metalworks_air::inkwell::context::Context;
use metalworks_air::inkwell::memory_buffer::MemoryBuffer;
use metalworks_air::inkwell::module::Module;
use metalworks_air::inkwell::values::AnyValue;
use metalworks_air::metallib::Library;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"))
}

fn apples_library() -> Vec<u8> {
    let path = corpus().join("mlx/mlx.metallib");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fields of every kernel in the files beside this one, compiled by us.
fn ours() -> BTreeMap<String, Fields> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/apple");
    let options = msl::Options { include_dirs: vec![corpus().join("mlx")], ..msl::Options::default() };
    let mut kernels = BTreeMap::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&dir).expect("the folder").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    for file in files {
        let compilation = msl::compile_file(&file, &options).unwrap_or_else(|error| panic!("{error}"));
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        for entry in compilation.program.kernels() {
            // Without lines, as Apple's.
            let source = metalworks_air::ProgramSource::from(&compilation);
            let function = metalworks_air::compile_kernel(source, entry, MathMode::Safe).expect("it compiles");
            let text = metalworks_air::bitcode_text(function.bitcode().expect("we wrote it"), &entry.name)
                .expect("a module");
            kernels.insert(entry.name.to_string(), describe(&text, &entry.name));
        }
    }
    kernels
}

/// The reason for which a field may differ; `None` where it may not.
fn reason(field: &str, ours: Option<&str>, apples: Option<&str>) -> Option<&'static str> {
    let (ours, apples) = (ours.unwrap_or_default(), apples.unwrap_or_default());
    let words = |text: &str| -> BTreeSet<String> { text.split(' ').map(str::to_owned).collect() };
    if field == "llvm.ident" {
        return Some("the compiler is another one");
    }
    if field == "flag !\"SDK Version\"" {
        return Some("there is no SDK: ours is the version of the system that the triple is for");
    }
    if field == "attributes" {
        let extra: BTreeSet<String> = words(ours).difference(&words(apples)).cloned().collect();
        let missing: BTreeSet<String> = words(apples).difference(&words(ours)).cloned().collect();
        if missing.is_empty() && extra == BTreeSet::from(["mustprogress".to_owned()]) {
            return Some("Apple's inliner drops it when it inlines a function without it, such as an initializer");
        }
    }
    if field.starts_with("declaration ") || field.starts_with("call ") {
        // The optimizer decides which calls are left; the next test compares the functions of the whole library.
        return (ours.is_empty() || apples.is_empty())
            .then_some("one optimizer left a call that the other removed");
    }
    None
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn modules_say_what_apples_say() {
    let bytes = apples_library();
    let library = Library::parse(&bytes).expect("Apple wrote it");
    let ours = ours();
    assert!(ours.len() >= 39, "only {} kernels", ours.len());
    let mut failures = Vec::new();
    let mut compared = 0;
    for (name, ours) in &ours {
        let function = library.function(name).unwrap_or_else(|| panic!("Apple's library has no '{name}'"));
        let text = metalworks_air::bitcode_text(function.bitcode().expect("bitcode"), name).expect("a module");
        let apples = describe(&text, name);
        let fields: BTreeSet<&String> = ours.keys().chain(apples.keys()).collect();
        for field in fields {
            let (one, other) = (ours.get(field).map(String::as_str), apples.get(field).map(String::as_str));
            compared += 1;
            if one != other && reason(field, one, other).is_none() {
                failures.push(format!("{name}: {field}\n  ours:   {one:?}\n  Apple's: {other:?}"));
            }
        }
    }
    report(&format!("{} kernels, {compared} fields compared", ours.len()));
    assert!(failures.is_empty(), "{} differences\n{}", failures.len(), failures.join("\n"));
}

/// The functions of AIR that modules declare: name, and declarations with their attributes, without types of pointers.
type Declarations = BTreeMap<String, BTreeSet<String>>;

/// Adds the declarations of a module.
fn add_declarations(bitcode: &[u8], declarations: &mut Declarations) {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "module");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).expect("a module");
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy().into_owned();
        if name.starts_with("air.") {
            let text = function.print_to_string().to_string();
            // "; Function Attrs: …", "declare … #3"
            let text: Vec<&str> = text.lines().map(|line| line.split(" #").next().unwrap_or_default()).collect();
            declarations.entry(name).or_default().insert(text.join(" ").trim().to_owned());
        }
    }
}

/// Adds the types of the values that a module computes and of the memory that it allocates.
fn add_types(bitcode: &[u8], types: &mut BTreeSet<String>) {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "module");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).expect("a module");
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    for instruction in blocks.flat_map(|block| block.get_instructions()) {
        types.insert(instruction.get_type().print_to_string().to_string());
    }
}

/// True for a type that values in registers have in Metal: numbers of 8 to 64 bits, vectors of up to 4, simdgroup
/// matrices.
fn is_metals(ty: &str) -> bool {
    let (len, element) = match ty.strip_prefix('<').and_then(|ty| ty.strip_suffix('>')) {
        Some(vector) => vector.split_once(" x ").unwrap_or_default(),
        None => ("1", ty),
    };
    let elements = ["i1", "i8", "i16", "i32", "i64", "half", "bfloat", "float"];
    ty == "void"
        || ty.starts_with("ptr")
        || elements.contains(&element) && ["1", "2", "3", "4", "64"].contains(&len)
}

/// The declarations of all kernels below a folder, compiled by us, and the types in them that Metal does not have.
fn add_folder(
    dir: &Path,
    options: &msl::Options,
    declarations: &mut Declarations,
    odd_types: &mut BTreeSet<String>,
) -> usize {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    let mut kernels = 0;
    for file in files {
        let compilation = msl::compile_file(&file, options).unwrap_or_else(|error| panic!("{error}"));
        if compilation.has_errors() {
            continue; // A part of another file.
        }
        for entry in compilation.program.kernels() {
            let source = metalworks_air::ProgramSource::from(&compilation);
            let function = metalworks_air::compile_kernel(source, entry, MathMode::Fast);
            let function = function.unwrap_or_else(|error| panic!("{}: {}: {error}", file.display(), entry.name));
            let bitcode = function.bitcode().expect("we wrote it");
            add_declarations(bitcode, declarations);
            let mut own = BTreeSet::new();
            add_types(bitcode, &mut own);
            own.retain(|ty| !is_metals(ty));
            odd_types.extend(own.into_iter().map(|ty| format!("{ty} in {}", entry.name)));
            kernels += 1;
        }
    }
    kernels
}

/// Functions that `mlx.metallib` does not have for any type, with the evidence for them.
const EVIDENCE: [(&str, &str); 10] = [
    ("air.atomic.global.load", "public output of Apple's compiler"),
    ("air.atomic.global.store", "public output of Apple's compiler"),
    ("air.atomic.local.add", "public output of Apple's compiler"),
    ("air.atomic.local.load", "public output of Apple's compiler"),
    ("air.atomic.local.store", "public output of Apple's compiler"),
    ("air.fast_sincos", "Metal.jl calls it with the same arguments"),
    ("air.fast_trunc", "public output of Apple's compiler"),
    ("air.sign", "Metal.jl calls it, also for floats of fast mathematics"),
    ("air.simdgroup_matrix_8x8_init_diag", "public output of Apple's compiler"),
    ("air.simd_shuffle_up", "public output of Apple's compiler"),
];

/// A name without types: `air.simd_sum` of `air.simd_sum.v4f32`.
fn base(name: &str) -> String {
    let is_type = |part: &str| {
        let part =
            part.strip_prefix('p').map_or(part, |part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let part =
            part.strip_prefix('v').map_or(part, |part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        ["bf16", "f16", "f32", "i1", "i8", "i16", "i32", "i64", "s", "u", "f"].contains(&part)
    };
    let parts: Vec<&str> = name.split('.').filter(|part| !is_type(part)).collect();
    parts.join(".")
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn functions_of_air_are_apples() {
    let bytes = apples_library();
    let library = Library::parse(&bytes).expect("Apple wrote it");
    let mut apples = Declarations::new();
    library
        .functions()
        .iter()
        .for_each(|function| add_declarations(function.bitcode().expect("it has"), &mut apples));
    let (mut ours, mut odd_types) = (Declarations::new(), BTreeSet::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ggml = corpus().join("ggml");
    let ggml_options = msl::Options {
        include_dirs: vec![ggml.clone(), ggml.join("ggml-metal")],
        defines: vec![("GGML_METAL_HAS_BF16".into(), Some("1".into()))],
        ..msl::Options::default()
    };
    let shaders = root.join("../inference/src/metal");
    let shader_options = msl::Options { include_dirs: vec![shaders.join("include")], ..msl::Options::default() };
    let mlx_options = msl::Options { include_dirs: vec![corpus().join("mlx")], ..msl::Options::default() };
    let kernels = add_folder(&corpus().join("candle"), &msl::Options::default(), &mut ours, &mut odd_types)
        + add_folder(&ggml.join("ggml-metal/kernels"), &ggml_options, &mut ours, &mut odd_types)
        + add_folder(&shaders.join("shaders"), &shader_options, &mut ours, &mut odd_types)
        + add_folder(&root.join("tests/apple"), &mlx_options, &mut ours, &mut odd_types);
    let bases: BTreeSet<String> = apples.keys().map(|name| base(name)).collect();
    let mut failures = Vec::new();
    let mut same = 0;
    for (name, declarations) in &ours {
        let known = apples.get(name);
        let base = base(name);
        // The same function for another type, or the fast variant of one: MLX is compiled without fast mathematics.
        let is_variant = bases.contains(&base) || bases.contains(&base.replacen("air.fast_", "air.", 1));
        let is_known = is_variant || EVIDENCE.iter().any(|(name, _)| *name == base);
        match known {
            Some(known) if known.is_superset(declarations) => same += 1,
            Some(known) => failures.push(format!("{name}\n  ours:    {declarations:?}\n  Apple's: {known:?}")),
            None if is_known => {}
            None => failures.push(format!("{name}: Apple's library has no such function: {declarations:?}")),
        }
    }
    report(&format!(
        "{kernels} kernels, {} functions of AIR; {same} are as in Apple's library, which has {}",
        ours.len(),
        apples.len()
    ));
    failures.extend(odd_types.iter().map(|ty| format!("Metal has no {ty}")));
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The values that a module promises to be uniform, in order: `i32 load`, `i32 1024`, `i1 icmp`.
fn promises(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut promises = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((result, call)) = line.split_once(" = tail call i1 @air.is_uniform.") else { continue };
        let next = lines.get(index + 1).copied().unwrap_or_default();
        assert!(next.contains(&format!("@llvm.assume(i1 {result})")), "{line} is not assumed, but {next}");
        let (ty, rest) = call.split_once('(').expect("arguments");
        let value = rest.split([' ', ')']).nth(1).expect("an argument");
        let definition = format!("{value} = ");
        let opcode = lines.iter().find_map(|line| line.strip_prefix(&*definition)?.split(' ').next());
        promises.push(format!("{ty} {}", opcode.unwrap_or(value)));
    }
    promises
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn uniform_values_are_promised_where_apples_are() {
    let bytes = apples_library();
    let library = Library::parse(&bytes).expect("Apple wrote it");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/apple/gemv.metal");
    let options = msl::Options { include_dirs: vec![corpus().join("mlx")], ..msl::Options::default() };
    let compilation = msl::compile_file(&file, &options).unwrap_or_else(|error| panic!("{error}"));
    for entry in compilation.program.kernels() {
        let source = metalworks_air::ProgramSource::from(&compilation);
        let ours = metalworks_air::compile_kernel(source, entry, MathMode::Safe).expect("it compiles");
        let apples = library.function(&entry.name).expect("Apple's library has it");
        let [ours, apples] = [ours.bitcode(), apples.bitcode()].map(|bitcode| {
            let bitcode = bitcode.expect("bitcode");
            promises(&metalworks_air::bitcode_text(bitcode, &entry.name).expect("a module"))
        });
        assert!(apples.len() >= 6, "{}: {apples:?}", entry.name);
        assert_eq!(ours, apples, "{}", entry.name);
    }
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
