//! Kernels of MLX's headers, reflected from the source, against the same kernels in the library that Apple's compiler
//! made of them.
#![cfg(llvm)]

#[path = "../../../compute/tests/mlx_sources/mod.rs"]
mod mlx_sources;

use metalworks_air::metallib::reflection::{FunctionReflection, ReflectionNode};
use metalworks_air::metallib::{Function, Library};
use metalworks_air::reflect::reflect_library;
use mlx_sources::{instance, source_for};
use msl::reflect::{Argument, Kernel};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Kernels compared of each template.
const PER_TEMPLATE: usize = 24;

/// Kernels compiled of each template.
const COMPILED_PER_TEMPLATE: usize = 4;

fn corpus() -> PathBuf {
    PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus")).join("mlx")
}

/// The interface of one of Apple's kernels.
fn apples(library: &Library, name: &str) -> Kernel {
    let reflection = reflect_library(library, |candidate| candidate == name);
    reflection.unwrap_or_else(|error| panic!("{name}: {error}")).kernels.pop().expect("it is a kernel")
}

/// `count` kernels of each template in the library that the headers define, spread over their names; by family, whose
/// kernels are compiled together. Also returns the number of kernels that are not in the headers.
fn sample<'n>(library: &'n Library, count: usize) -> (BTreeMap<&'static str, Vec<&'n str>>, usize) {
    let mut templates: BTreeMap<(&'static str, String), Vec<&str>> = BTreeMap::new();
    let mut others = 0;
    for name in library.functions().iter().map(Function::name) {
        match instance(name) {
            Some(instance) => {
                let template = instance.template.split('<').next().unwrap_or_default().to_owned();
                templates.entry((instance.family(), template)).or_default().push(name);
            }
            None => others += 1,
        }
    }
    let mut families: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
    for ((family, _), names) in templates {
        let step = names.len().div_ceil(count);
        families.entry(family).or_default().extend(names.into_iter().step_by(step));
    }
    (families, others)
}

fn compile(names: &[&str]) -> msl::Compilation {
    let source = source_for(names).expect("kernels of one family");
    let options = msl::Options { include_dirs: vec![corpus()], ..msl::Options::default() };
    let compilation = msl::compile_source("mlx.metal", &source, &options);
    assert!(!compilation.has_errors(), "{source}{}", compilation.render_diagnostics(false));
    compilation
}

/// A difference that remains: in what, in kernels with one of these beginnings, parts of our list that Apple's has not,
/// and the reason.
struct Known {
    what: &'static str,
    kernels: &'static [&'static str],
    missing: &'static str,
    #[allow(dead_code, reason = "for the reader")]
    reason: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        what: "threadgroup memory",
        kernels: &["gemv_"],
        missing: "tgp_memory",
        reason: "with one simdgroup per row it is passed on and never accessed: Apple's optimizer removes it",
    },
    Known {
        what: "threadgroup memory",
        kernels: &["steel_attention_"],
        missing: "Q_smem",
        reason: "for large heads it is passed on and never accessed: Apple's optimizer removes it",
    },
    Known {
        what: "function constants",
        kernels: &["fft_mem_", "bluestein_fft_mem_", "rader_fft_mem_", "four_step_mem_"],
        missing: "0",
        reason: "'inv_' is stored in an object and never read if the input is real: Apple's optimizer removes it",
    },
];

/// Kernels whose threadgroup memory Apple's optimizer aligns more than its type is, to access pairs of floats at once.
const ALIGNED: &[&str] = &["contig_scan_"];

/// True if the difference is a known one.
fn is_known(kernel: &str, what: &str, ours: &[String], apples: &[String]) -> bool {
    KNOWN.iter().any(|known| {
        let is_named = known.what == what && known.kernels.iter().any(|start| kernel.starts_with(start));
        let is_missing = |part: &&String| part.rsplit(' ').next() == Some(known.missing);
        is_named && ours.iter().filter(|part| !is_missing(part)).eq(apples)
    })
}

#[test]
#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
#[ignore = "needs MLX's headers and mlx.metallib (scripts/corpus.sh); run by make air"]
fn sources_and_apples_library_agree() {
    let file = std::fs::read(corpus().join("mlx.metallib")).expect("the library is there");
    let library = Library::parse(&file).expect("it is a library");
    let (families, others) = sample(&library, PER_TEMPLATE);
    let mut differences = Vec::new();
    let mut count = 0;
    for names in families.values() {
        for kernel in compile(names).reflect().kernels.iter().filter(|kernel| names.contains(&&*kernel.name)) {
            count += 1;
            compare(kernel, &apples(&library, &kernel.name), &mut differences);
        }
    }
    println!("{count} kernels compared; no source for {others} of {}", library.functions().len());
    assert!(count > 1500, "only {count} kernels");
    assert!(others < 500, "no source for {others}");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

fn compare(ours: &Kernel, apples: &Kernel, differences: &mut Vec<String>) {
    let name = &ours.name;
    let mut differ = |what: &str, ours: Vec<String>, apples: Vec<String>| {
        if ours != apples && !is_known(name, what, &ours, &apples) {
            differences.push(format!("{name}: {what}:\n    ours    {ours:?}\n    Apple's {apples:?}"));
        }
    };
    let names = |kernel: &Kernel| kernel.arguments.iter().map(|argument| argument.name.clone()).collect();
    differ("arguments", names(ours), names(apples));
    for (ours, apples) in ours.arguments.iter().zip(&apples.arguments) {
        // A source does not know which arguments are used after optimization.
        let described = |argument: &Argument| vec![format!("{:?}", Argument { is_used: true, ..argument.clone() })];
        differ(&ours.name, described(ours), described(apples));
    }
    let builtins = |kernel: &Kernel| kernel.builtins.iter().map(|builtin| format!("{builtin:?}")).collect();
    differ("built-ins", builtins(ours), builtins(apples));
    let constants = |kernel: &Kernel| kernel.function_constants.iter().map(u32::to_string).collect();
    differ("function constants", constants(ours), constants(apples));
    let limit = |kernel: &Kernel| vec![format!("{:?}", kernel.max_total_threads_per_threadgroup)];
    differ("threads", limit(ours), limit(apples));
    differ("threadgroup memory", threadgroup(ours), threadgroup(apples));
}

/// In one order: Apple's optimizer has its own.
fn threadgroup(kernel: &Kernel) -> Vec<String> {
    let variables = kernel.threadgroup_memory.iter();
    let is_aligned = ALIGNED.iter().any(|start| kernel.name.starts_with(start));
    let align = |align: u64| if is_aligned { "any".into() } else { align.to_string() };
    let mut variables: Vec<_> = variables
        .map(|found| format!("{} bytes, align {}: {}", found.size, align(found.align), found.name))
        .collect();
    variables.sort();
    variables
}

/// The reflection list of a library that we make of the sources has Apple's entries, except for function constants and
/// threadgroup memory, which the other test compares, and for arguments that only an optimizer finds to be unused.
#[test]
#[ignore = "needs MLX's headers and mlx.metallib (scripts/corpus.sh); run by make air"]
fn compiled_kernels_have_apples_reflection_buffers() {
    let file = std::fs::read(corpus().join("mlx.metallib")).expect("the library is there");
    let library = Library::parse(&file).expect("it is a library");
    let (families, _) = sample(&library, COMPILED_PER_TEMPLATE);
    let mut count = 0;
    for names in families.values() {
        let compilation = compile(names);
        for entry in compilation.program.kernels().filter(|entry| names.contains(&entry.name.as_str())) {
            let name = entry.name.as_str();
            let ours = metalworks_air::compile_kernel(&compilation, entry, metalworks_air::MathMode::Safe);
            let ours = ours.unwrap_or_else(|error| panic!("{name}: {error}"));
            let apples = library.function(name).expect("the same name");
            assert_eq!(arguments(&ours), arguments(apples), "{name}");
            count += 1;
        }
    }
    assert!(count >= 300, "only {count} kernels");
}

/// The nodes of a kernel's reflection buffer but those of function constants, all as if they were used.
fn arguments<'a>(function: &'a Function) -> Vec<ReflectionNode<'a>> {
    let buffer = function.reflection.as_deref().expect("it has a reflection buffer");
    let mut nodes = FunctionReflection::parse(buffer).expect("it can be read").nodes;
    nodes.retain(|node| !matches!(node, ReflectionNode::Constant { .. }));
    for node in &mut nodes {
        match node {
            ReflectionNode::Buffer(buffer) => buffer.is_unused = false,
            ReflectionNode::Builtin { is_unused, .. } => *is_unused = false,
            _ => {}
        }
    }
    nodes
}
