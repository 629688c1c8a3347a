//! The line of an instruction, as lowered and after everything was inlined.

use crate::lower::{MathMode, ProgramSource, lower};
use crate::specialize;
use abi::Constants;
use inkwell::context::Context;

const SOURCE: &str = "#include <metal_stdlib>
using namespace metal;
#define SCALED(x) ((x) * \\
        2.0f)
template <typename T> struct Sum {
    T total;
    void add(T value) {
        total = total + value;
    }
};
float halved(float x) {
    return x
        / 2.0f;
}
kernel void k(device float *x [[buffer(0)]],
              device const float *y [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
    _Pragma(\"METAL fp contract(off)\") Sum<float> sum = {0.0f};
    sum.add(y[i]);
    x[i] =
        halved(sum.total) - SCALED(y[0]);
    if (i > 7) {
        threadgroup_barrier(mem_flags::mem_none);
    }
}
";

fn text() -> (String, String) {
    let compilation = msl::compile_source("shaders/k.metal", SOURCE, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("a kernel");
    let context = Context::create();
    let source = ProgramSource::from(&compilation).with_locations();
    let module = lower(&context, source, entry, MathMode::Safe).expect("it can be lowered");
    module.verify().unwrap_or_else(|error| panic!("{error}"));
    let bitcode = crate::bitcode::write::write(&module).expect("it can be written");
    let specialized = specialize(&bitcode, "k", &Constants::new()).expect("it has no constants");
    (module.print_to_string().to_string(), specialized.text().expect("it is valid"))
}

/// The node `!7` of the text.
fn node<'t>(text: &'t str, reference: &str) -> &'t str {
    let start = format!("\n{reference} = ");
    let at = text.find(&start).unwrap_or_else(|| panic!("no {reference} in\n{text}"));
    text[at + start.len()..].lines().next().unwrap_or_default()
}

/// The value of a field in a node.
fn field<'t>(node: &'t str, name: &str) -> &'t str {
    let value = node.split(&format!("{name}: ")).nth(1).unwrap_or_else(|| panic!("no {name} in {node}"));
    value.split([',', ')']).next().unwrap_or_default()
}

/// The location of the one instruction with `instruction` in it.
#[track_caller]
fn location<'t>(text: &'t str, instruction: &str) -> &'t str {
    let mut lines = text.lines().filter(|line| line.starts_with("  ") && line.contains(instruction));
    let line = lines.next().unwrap_or_else(|| panic!("no {instruction} in\n{text}"));
    assert!(lines.next().is_none(), "{instruction} is there twice in\n{text}");
    let reference = line.split("!dbg ").nth(1).unwrap_or_else(|| panic!("no location: {line}"));
    node(text, reference.split([',', ' ']).next().unwrap_or_default())
}

#[test]
fn instructions_are_where_they_were_written() {
    let (lowered, specialized) = text();
    for text in [&lowered, &specialized] {
        let line = |instruction: &str| field(location(text, instruction), "line").parse::<u32>().expect("a number");
        assert_eq!(line("= fadd"), 8);
        assert_eq!(line("= fdiv"), 12);
        assert_eq!(line("= fsub"), 21);
        // The line that uses the macro.
        assert_eq!(line("= fmul"), 21);
        assert_eq!(line("= icmp ugt"), 22);
        assert_eq!(line("call void @air.wg.barrier"), 23);
    }
}

#[test]
fn inlined_functions_keep_their_names() {
    let (_, text) = text();
    let add = location(&text, "= fadd");
    let scope = node(&text, field(add, "scope"));
    assert_eq!(field(scope, "name"), "\"Sum<float>::add\"");
    assert_eq!(field(scope, "line"), "7");
    assert_eq!(field(node(&text, field(scope, "file")), "filename"), "\"shaders/k.metal\"");
    let call = node(&text, field(add, "inlinedAt"));
    assert_eq!(field(call, "line"), "19");
    let kernel = node(&text, field(call, "scope"));
    assert_eq!((field(kernel, "name"), field(kernel, "line")), ("\"k\"", "15"));
}

#[test]
fn line_directives_are_obeyed() {
    let text = "kernel void k(device float *x) {\n#line 40 \"other.metal\"\n  x[0] = x[1] + x[2];\n}\n";
    let compilation = msl::compile_source("k.metal", text, &msl::Options::default());
    let entry = compilation.program.kernels().next().expect("a kernel");
    let context = Context::create();
    let source = ProgramSource::from(&compilation).with_locations();
    let module = lower(&context, source, entry, MathMode::Fast).expect("it can be lowered");
    let text = module.print_to_string().to_string();
    let add = location(&text, "= fadd");
    assert_eq!(field(add, "line"), "40");
    let block = node(&text, field(add, "scope"));
    assert_eq!(field(node(&text, field(block, "file")), "filename"), "\"other.metal\"");
    let kernel = node(&text, field(block, "scope"));
    assert_eq!(field(node(&text, field(kernel, "file")), "filename"), "\"k.metal\"");
}

#[test]
fn without_being_asked_for_there_are_no_locations() {
    let compilation = msl::compile_source("k.metal", "kernel void k() {}", &msl::Options::default());
    let entry = compilation.program.kernels().next().expect("a kernel");
    let context = Context::create();
    for source in [ProgramSource::from(&compilation.program).with_locations(), ProgramSource::from(&compilation)] {
        let module = lower(&context, source, entry, MathMode::Fast).expect("it can be lowered");
        let text = module.print_to_string().to_string();
        assert!(!text.contains("DISubprogram") && !text.contains("Debug Info Version"), "{text}");
    }
}
