//! Kernels of MLX's headers, reflected from the source, against the same kernels in the library that Apple's compiler
//! made of them.
#![cfg(llvm)]

mod families;
mod pattern;

use air::metallib::reflection::{FunctionReflection, ReflectionNode};
use air::metallib::{Function, Library};
use air::reflect::reflect_library;
use families::{FAMILIES, Family};
use msl::reflect::{Argument, Kernel};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Kernels compared of each family, spread over its names.
const PER_FAMILY: usize = 16;

/// Kernels compiled of each family.
const COMPILED_PER_FAMILY: usize = 4;

fn corpus() -> PathBuf {
    PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus")).join("mlx")
}

/// The interface of one of Apple's kernels.
fn apples(library: &Library, name: &str) -> Kernel {
    let reflection = reflect_library(library, |candidate| candidate == name);
    reflection.unwrap_or_else(|error| panic!("{name}: {error}")).kernels.pop().expect("it is a kernel")
}

/// A type of Apple's metadata in the words of a source.
fn spelled(ty: &str) -> String {
    if ty == "bfloat" { "bfloat16_t".into() } else { ty.into() }
}

/// The kernels of families with the same headers, by name.
type Unit = BTreeMap<String, String>;

/// `count` kernels of a family: the name, and the instance of a template that it names. Takes all its names from
/// `names`.
fn instances(family: &Family, library: &Library, names: &mut Vec<&str>, count: usize) -> Unit {
    let (_, pattern, template) = family;
    let named: Vec<_> = names.iter().filter_map(|name| Some((*name, pattern::matches(pattern, name)?))).collect();
    assert!(!named.is_empty(), "no kernel is named {pattern}");
    names.retain(|name| pattern::matches(pattern, name).is_none());
    let step = named.len().div_ceil(count);
    let instance = |(name, holes): &(&str, _)| {
        let argument = |argument: &str| {
            let kernel = apples(library, name);
            let found = kernel.arguments.iter().find(|found| found.name == argument);
            spelled(&found.unwrap_or_else(|| panic!("{name} has no argument '{argument}'")).element_type)
        };
        ((*name).to_owned(), pattern::fill(template, holes, argument))
    };
    named.iter().step_by(step).map(instance).collect()
}

fn compile(headers: &[&str], unit: &Unit) -> msl::Compilation {
    let include = |header: &&str| format!("#include \"mlx/backend/metal/kernels/{header}\"\n");
    let mut source: String = headers.iter().map(include).collect();
    for (name, instance) in unit {
        let instance = instance.split_once('<').expect("a template");
        let (template, arguments) = (instance.0, instance.1.strip_suffix('>').expect("its end"));
        source += &format!("instantiate_kernel(\"{name}\", {template}, {arguments})\n");
    }
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
        kernels: &["rader_fft_mem_", "four_step_mem_"],
        missing: "0",
        reason: "'inv_' is stored in an object and never read if the input is real: Apple's optimizer removes it",
    },
];

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
    let mut names: Vec<&str> = library.functions().iter().map(Function::name).collect();
    let mut units: BTreeMap<&[&str], Unit> = BTreeMap::new();
    for family in FAMILIES {
        units.entry(family.0).or_default().extend(instances(family, &library, &mut names, PER_FAMILY));
    }
    let mut differences = Vec::new();
    let mut count = 0;
    for (headers, unit) in units {
        for kernel in compile(headers, &unit).reflect().kernels {
            count += 1;
            compare(&kernel, &apples(&library, &kernel.name), &mut differences);
        }
    }
    println!("{count} kernels compared; no family for {} of {}", names.len(), library.functions().len());
    assert!(count > 1500, "only {count} kernels");
    assert!(names.len() < 500, "no family for {}", names.len());
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
    let mut variables: Vec<_> =
        variables.map(|found| format!("{} bytes, align {}: {}", found.size, found.align, found.name)).collect();
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
    let mut names: Vec<&str> = library.functions().iter().map(Function::name).collect();
    let mut units: BTreeMap<&[&str], Unit> = BTreeMap::new();
    for family in FAMILIES {
        units.entry(family.0).or_default().extend(instances(family, &library, &mut names, COMPILED_PER_FAMILY));
    }
    let mut count = 0;
    for (headers, unit) in units {
        let compilation = compile(headers, &unit);
        for entry in compilation.program.kernels() {
            let name = entry.name.as_str();
            let ours = air::compile_kernel(&compilation, entry, air::MathMode::Safe);
            let ours = ours.unwrap_or_else(|error| panic!("{name}: {error}"));
            let apples = library.function(name).expect("the same name");
            assert_eq!(arguments(&ours), arguments(apples), "{name}");
            count += 1;
        }
    }
    assert!(count >= 2 * FAMILIES.len(), "only {count} kernels");
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
