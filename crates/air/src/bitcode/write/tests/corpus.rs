//! Kernels of the shader library and of others: written and read back, they are the same, also after optimization.

use super::{remove_casts, verify_with_14};
use crate::bitcode::write::write;
use crate::compile::lower_verified;
use crate::ir::{ModuleRef, passes};
use crate::lower::{MathMode, ProgramSource};
use inkwell::context::Context;
use inkwell::module::Module;
use std::path::{Path, PathBuf};

fn compile(file: &Path, options: &msl::Options) -> msl::Compilation {
    let compilation = msl::compile_file(file, options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

/// The shaders in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    files
}

fn shader_library() -> (PathBuf, msl::Options) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../inference/src/metal");
    (own.join("shaders"), msl::Options { include_dirs: vec![own.join("include")], ..msl::Options::default() })
}

/// Removes the names of what is in functions, which are not written.
fn remove_names(module: &Module) {
    for function in module.get_functions() {
        function.get_param_iter().for_each(|parameter| parameter.set_name(""));
        for block in function.get_basic_blocks() {
            block.set_name("");
            for instruction in block.get_instructions() {
                if !instruction.get_type().is_void_type() {
                    instruction.set_name("").expect("it has a result");
                }
            }
        }
    }
}

/// The lines of a module but its declarations, and the numbers of attributes: LLVM 22 declares again, at the end, those
/// of its functions that have other names in LLVM 14.
fn bodies(text: &str) -> Vec<String> {
    let of_declarations = ["declare ", "; Function Attrs:", "attributes #"];
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !of_declarations.iter().any(|start| line.starts_with(start)));
    // The order of predecessors is that of a list of uses.
    let lines = lines.map(|line| line.split("; preds").next().unwrap_or(line));
    lines.map(|line| line.split(' ').filter(|word| !word.starts_with('#')).collect::<Vec<_>>().join(" ")).collect()
}

/// The number of kernels in a file; each is written and read back.
fn read_back(file: &Path, options: &msl::Options) -> usize {
    let compilation = compile(file, options);
    // Half of them with debug information.
    let source = ProgramSource::from(&compilation);
    let sources = [source, source.with_locations()];
    let kernels = compilation.program.kernels().zip(sources.into_iter().cycle());
    let mut count = 0;
    for (entry, source) in kernels {
        let context = Context::create();
        let module = lower_verified(&context, source, entry, MathMode::Fast).expect("it can be lowered");
        let bitcode = write(&module).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let mut read = crate::bitcode::parse(&context, &bitcode, &entry.name).expect("it can be read");
        remove_casts(&mut read);
        remove_names(&module);
        let name = module.get_name().to_owned();
        read.set_name(name.to_str().expect("text"));
        let (before, after) = (module.print_to_string().to_string(), read.print_to_string().to_string());
        let (before, after) = (bodies(&before), bodies(&after));
        if let Some((before, after)) = before.iter().zip(&after).find(|(before, after)| before != after) {
            panic!("{}: {}: '{before}' became '{after}'", file.display(), entry.name);
        }
        assert_eq!(before.len(), after.len(), "{}: {}", file.display(), entry.name);
        count += 1;
    }
    count
}

#[test]
fn a_family_of_shaders_is_read_back() {
    let (folder, options) = shader_library();
    assert!(read_back(&folder.join("softmax.metal"), &options) > 0);
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn kernels_are_read_back() {
    let root = PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"));
    let (folder, options) = shader_library();
    let own: usize = files(&folder).iter().map(|file| read_back(file, &options)).sum();
    assert!(own >= 200, "{own}");
    let plain = msl::Options::default();
    let candle: usize = files(&root.join("candle")).iter().map(|file| read_back(file, &plain)).sum();
    assert!(candle >= 1734, "{candle}");
}

/// Optimization leaves instructions and attributes that lowering never makes.
#[test]
#[ignore = "needs LLVM 14; run by make air"]
fn llvm_14_verifies_optimized_kernels() {
    let (folder, options) = shader_library();
    let mut count = 0;
    for file in files(&folder) {
        let compilation = compile(&file, &options);
        for entry in compilation.program.kernels() {
            let context = Context::create();
            let source = ProgramSource::from(&compilation);
            let mut module = lower_verified(&context, source, entry, MathMode::Fast).expect("it can be lowered");
            // As in libraries: otherwise loops become calls of a newer function that fills memory.
            for function in ModuleRef::of(&module).functions() {
                function.add_text_attribute("no-builtins", "");
            }
            passes::run(&mut module, "default<O2>").expect("it can be optimized");
            let bitcode = write(&module).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            verify_with_14(&bitcode, &entry.name);
            crate::bitcode::parse(&context, &bitcode, &entry.name).expect("it can be read");
            count += 1;
        }
    }
    assert!(count >= 200, "{count}");
}
