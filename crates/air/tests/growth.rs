//! The size of generated code grows about linearly with the size of programs, in libraries, for simdgroups and as machine
//! code. Instructions and bytes are counted, not seconds.
#![cfg(llvm)]

use abi::{Constants, Lanes};
use metalworks_air::wave::Target;
use metalworks_air::{MathMode, compile_kernel, specialize_kernel};
use std::fmt::Write;

fn compilation(source: &str) -> msl::Compilation {
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

/// Lines of the code of a simdgroup.
fn wide_lines(source: &str) -> Result<usize, String> {
    wide_text(source).map(|text| text.lines().count())
}

fn wide_text(source: &str) -> Result<String, String> {
    let compilation = compilation(source);
    let entry = compilation.program.kernels().next().expect("a kernel");
    let specialized = specialize_kernel(&compilation.program, entry, MathMode::Fast, &Constants::new());
    let target = Target::host().expect("a host");
    let text = metalworks_air::wave::llvm_text(&specialized.expect("specialized"), &target, Lanes::Row);
    text.map_err(|error| error.to_string())
}

/// Lines of the AIR in a library.
fn air_lines(source: &str) -> usize {
    let compilation = compilation(source);
    let entry = compilation.program.kernels().next().expect("a kernel");
    let function = compile_kernel(&compilation, entry, MathMode::Fast).expect("AIR");
    let text = metalworks_air::bitcode_text(function.bitcode().expect("bitcode"), &entry.name).expect("text");
    text.lines().count()
}

/// Bytes of machine code for CPUs of one kind, so that they are the same everywhere.
fn machine_bytes(source: &str) -> usize {
    let compilation = compilation(source);
    let entry = compilation.program.kernels().next().expect("a kernel");
    let specialized = specialize_kernel(&compilation.program, entry, MathMode::Fast, &Constants::new());
    let target = Target::named("x86-64-v3").expect("LLVM knows it");
    let kernels = metalworks_air::wave::compile(&specialized.expect("specialized"), &target, &[Lanes::Row]);
    kernels.expect("machine code").iter().map(|kernel| kernel.object.len()).sum()
}

/// Checks that a program twice as large has at most two and a half times the code.
#[track_caller]
fn grows_linearly(size: usize, program: impl Fn(usize) -> String) {
    let [small, large] = [size / 2, size].map(|size| machine_bytes(&program(size)));
    assert!(large <= small * 5 / 2 + 4096, "{}: {small} bytes, {size}: {large} bytes", size / 2);
    let [small, large] = [size, 2 * size].map(|size| wide_lines(&program(size)).expect("wide code"));
    assert!(large <= small * 5 / 2 + 50, "{size}: {small} lines, {}: {large} lines", 2 * size);
    let [small, large] = [size, 2 * size].map(|size| air_lines(&program(size)));
    assert!(large <= small * 5 / 2 + 50, "{size}: {small} lines of AIR, {}: {large} lines", 2 * size);
}

fn kernel(before: &str, body: &str) -> String {
    format!("{before}\nkernel void k(device int *o, uint i [[thread_position_in_grid]]) {{\n{body}\n}}\n")
}

/// Functions that each call the one before twice.
fn doubling(functions: usize, body: &str) -> String {
    let mut text = format!("int f0(int x) {{ {body} return x * 7 + 3; }}\n");
    for i in 1..functions {
        let before = i - 1;
        writeln!(text, "int f{i}(int x) {{ return f{before}(x) + f{before}(x * 3 + 1); }}").expect("text");
    }
    kernel(&text, &format!("o[i] = f{}(int(i));", functions - 1))
}

#[test]
fn divergent_switches() {
    grows_linearly(60, |cases| {
        let mut body =
            String::from("int x = o[i], y = int(i);\nfor (int n = 0; n < o[0]; n++) { switch ((x ^ y) & 511) {\n");
        for case in 0..cases {
            writeln!(body, "case {case}: x = x * {} + y; y ^= x >> {}; break;", 2 * case + 3, case % 13)
                .expect("text");
        }
        kernel("", &(body + "default: x++; } }\no[i] = x + y;"))
    });
}

/// Masks of long code stay in memory. As registers, they took 10 s for 1,000 cases and 44 s for 5,000.
#[test]
fn divergent_switches_of_a_thousand_cases() {
    let program = |cases: usize, around: [&str; 2]| {
        let case = |n: usize| format!("case {n}: x = x * {} + o[{n}]; break;\n", 2 * n + 3);
        let cases: String = (0..cases).map(case).collect();
        kernel("", &format!("int x = o[i];\n{} switch (x) {{ {cases} }} {}\no[i] = x;", around[0], around[1]))
    };
    let text = wide_text(&program(1000, ["while (x > 0) {", "x -= 3; }"])).expect("wide code");
    let masks = text.lines().filter(|line| line.contains("phi <32 x i1>")).count();
    assert!(masks < 100, "{masks} masks in registers");
    let [small, large] = [800, 1600].map(|cases| machine_bytes(&program(cases, ["", ""])));
    assert!(large <= small * 5 / 2, "{small} bytes, {large} bytes");
}

/// LLVM makes a switch of each of these conditions, and after each part another one of those that follow: 450 parts took 15 s.
#[test]
fn conditions_of_many_parts() {
    let part = |n: usize| format!("x == {n} && o[{n}] > x");
    grows_linearly(100, |parts| {
        let condition = (0..parts).map(part).collect::<Vec<_>>().join(" || ");
        kernel("", &format!("int x = o[i];\nif ({condition}) o[i] = 7;"))
    });
}

/// No lanes wait for the rest of the kernel before they return.
#[test]
fn returns_in_a_row() {
    let program = |returns: usize| {
        let test = |n: usize| format!("if (x == {n}) {{ o[i] = n; return; }} x = x * 3 + o[x & 255];\n");
        let tests: String = (0..returns).map(test).collect();
        kernel("", &format!("int x = o[i], n = int(i);\n{tests}o[i] = x;"))
    };
    let [small, large] = [150, 300].map(|returns| wide_lines(&program(returns)).expect("wide code"));
    assert!(large <= small * 5 / 2, "{small} lines, {large} lines");
}

/// Most accesses to memory in a row, without a label or the end of a block between them.
fn longest_row(text: &str) -> usize {
    let (mut longest, mut row) = (0, 0);
    for line in text.lines() {
        let is_end = !line.starts_with(' ') || line.contains("@llvm.codeview.annotation(");
        row = if is_end { 0 } else { row + usize::from(line.contains(" = load ") || line.contains("  store ")) };
        longest = longest.max(row);
    }
    longest
}

/// LLVM's scheduler looks at all accesses in a row at once: it took 10 s for an array of 2,000 numbers.
#[test]
fn initializers_of_local_arrays() {
    for item in ["x * {n} + 1", "{n} * 7"] {
        let program = |count: usize| {
            let items: Vec<String> = (0..count).map(|n| item.replace("{n}", &n.to_string())).collect();
            let (items, last) = (items.join(", "), count - 1);
            kernel("", &format!("int x = o[i];\nint a[{count}] = {{ {items} }};\no[i] = a[x & {last}];"))
        };
        let [small, large] = [1000, 2000].map(|count| {
            let text = wide_text(&program(count)).expect("wide code");
            assert!(longest_row(&text) <= 512, "{item}, {count}: {} accesses", longest_row(&text));
            text.lines().count()
        });
        assert!(large <= small * 5 / 2, "{item}: {small} lines, {large} lines");
        let [small, large] = [400, 1600].map(|count| machine_bytes(&program(count)));
        assert!(large <= small * 6, "{item}: {small} bytes, {large} bytes");
    }
}

/// Zeros of a long array are a loop, not a store each: 4,444 of them took LLVM seconds, and more than 16,384 were refused.
#[test]
fn zeros_of_local_arrays() {
    for (element, count) in [("int", 4_444), ("uchar", 9_001), ("short", 30_000), ("int", 100_000)] {
        let body = format!(
            "{element} a[{count}] = {{1, 2, {element}(o[i])}};\nfor (int n = 0; n < o[0]; n++) a[o[n]]++;\n"
        );
        let text = wide_text(&kernel("", &(body + "o[i] = a[o[1]];"))).expect("wide code");
        assert!(text.lines().count() < 2_000, "{element}, {count}: {} lines", text.lines().count());
    }
}

/// So are copies: four assignments of 4,444 numbers took 20 seconds, and 50 took minutes.
#[test]
fn assignments_of_long_arrays() {
    let cases = [("", "int", 4_444), ("", "uchar", 9_001), ("", "short", 30_000), ("volatile", "int", 20_000)];
    for (volatile, element, count) in cases {
        let class = format!("struct Long {{ {element} v[{count}]; }};\n");
        let body = format!(
            "Long a = {{{{1, 2}}}}; a = a = a; {volatile} Long b = a;\n\
             for (int n = 0; n < o[0]; n++) b.v[o[n]] += 1;\no[i] = b.v[o[1]] + a.v[o[2]];"
        );
        let text = wide_text(&kernel(&class, &body)).expect("wide code");
        assert!(text.lines().count() < 2_000, "{element}, {count}: {} lines", text.lines().count());
    }
}

/// LLVM's code generators would take a minute for a thousand terms.
#[test]
fn numbers_in_a_long_sum_are_added_up() {
    let program = |terms: usize| {
        let terms: String = (0..terms).map(|n| format!("x += y * {} + 1;\n", 7 * n + 3)).collect();
        kernel("", &format!("int x = 0, y = o[i];\n{terms}o[i] = x;"))
    };
    let adds = |text: &str| text.lines().filter(|line| line.contains(" = add ")).count();
    assert!(adds(&wide_text(&program(1000)).expect("wide code")) < 1100);
    assert!(machine_bytes(&program(1000)) < 100_000);
}

#[test]
fn divergent_branches_in_a_row() {
    grows_linearly(40, |branches| {
        let mut body = String::from("int x = o[i], y = int(i);\nfor (int n = 0; n < o[0]; n++) {\n");
        for branch in 0..branches {
            let bit = branch % 29;
            writeln!(body, "if (x >> {bit} & 1) {{ y += x * {branch}; x ^= o[y & 15]; }} else {{ x += y >> 3; o[x & 15] = y; }}")
                .expect("text");
        }
        kernel("", &(body + "}\no[i] = x + y;"))
    });
}

#[test]
fn nested_branches() {
    grows_linearly(12, |depth| {
        let mut body = String::from("int x = o[i];\n");
        for level in 0..depth {
            writeln!(body, "if (x > {level}) {{ x += o[x & 7];").expect("text");
        }
        let ends: String = (0..depth).map(|level| format!("}} else {{ x -= {level}; }}")).collect();
        kernel("", &(body + &ends + "\no[i] = x;"))
    });
}

/// Lanes that have left an inner loop wait in all those around it.
#[test]
fn nested_loops() {
    let program = |depth: usize| {
        let mut body = String::from("int x = o[i];\n");
        for level in 0..depth {
            let next = level + 1;
            writeln!(
                body,
                "for (int n{level} = 0; n{level} < (x & {next}); n{level}++) {{ if (x > {level}) x += o[x & 7];"
            )
            .expect("text");
        }
        kernel("", &(body + &"}".repeat(depth) + "\no[i] = x;"))
    };
    for depth in [8, 16, 32] {
        let [small, large] = [depth, 2 * depth].map(|depth| wide_lines(&program(depth)).expect("wide code"));
        assert!(large <= small * 5 / 2, "{depth}: {small} lines, {}: {large} lines", 2 * depth);
    }
}

#[test]
fn templates() {
    grows_linearly(40, |depth| {
        let before = "template <int N> struct Sum { static int of(device int *o, int x) {\n\
            if (x > N) x += o[N]; return Sum<N - 1>::of(o, x ^ N); } };\n\
            template <> struct Sum<0> { static int of(device int *, int x) { return x; } };";
        kernel(before, &format!("o[i] = Sum<{depth}>::of(o, o[i]);"))
    });
}

#[test]
fn arguments() {
    grows_linearly(60, |count| {
        let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
        let (parameters, sum) = (list(&|n| format!("int a{n}")), list(&|n| format!("x = x * 3 ^ a{n}")));
        let function = format!("int f({parameters}) {{ int x = 1; {sum}; return x; }}");
        kernel(&function, &format!("o[i] = f({});", list(&|n| format!("o[i + {n}]"))))
    });
}

#[test]
fn arguments_and_calls_of_one_function() {
    grows_linearly(60, |calls| {
        let function =
            "int f(int x, int y) { for (int n = 0; n < y; n++) x = x > n ? x * 3 + n : y - x; return x; }";
        let calls: String = (0..calls).map(|call| format!("o[i + {call}] = f(o[{call}], o[i]);\n")).collect();
        kernel(function, &calls)
    });
}

/// Structs with two members of the struct before: the last of 25 has 33 million numbers.
#[test]
fn types_that_double() {
    let program = |depth: usize, initialized: usize| {
        let structs: String = (1..depth).map(|n| format!("struct S{n} {{ S{0} a, b; }};\n", n - 1)).collect();
        let structs = format!("struct S0 {{ int a; }};\n{structs}");
        format!(
            "{structs}kernel void k(device S{0} *o, device S{initialized} *p) {{\n\
             S{initialized} x = {{}}; *p = x; o[1] = o[0];\n}}\n",
            depth - 1
        )
    };
    let [small, large] = [12, 24].map(|depth| air_lines(&program(depth, 4)));
    assert!(large <= small * 5 / 2 + 50, "{small} lines, {large} lines");
}

/// As above, of argument buffers, and without resources to the end: each struct is looked at once.
#[test]
fn argument_buffers_that_double() {
    for member in ["int a;", "device int *a;", "int a; texture2d<float> t [[id(3)]];"] {
        let structs: String = (1..40).map(|n| format!("struct S{n} {{ S{0} a, b; }};\n", n - 1)).collect();
        let source = format!(
            "#include <metal_stdlib>\nusing namespace metal;\nstruct S0 {{ {member} }};\n{structs}\
             kernel void k(constant S39 &o, device int *p) {{ p[0] = 1; }}\n"
        );
        assert!(air_lines(&source) < 1000, "{member}");
    }
}

#[test]
fn calls_that_double_stay_calls() {
    // 40 functions would be 2 to the power of 40 calls. The first few are inlined into one.
    let [small, large] = [22, 40].map(|functions| {
        let source = doubling(functions, "");
        let (wide, air) = (wide_lines(&source).expect("wide code"), air_lines(&source));
        assert!(air < 40_000, "{functions}: {air} lines of AIR");
        wide
    });
    assert!(large < 16_000 && large <= small * 5 / 2, "{small} lines, {large} lines");
    // A kernel that is small enough is inlined as before.
    let source = doubling(6, "");
    let compilation = compilation(&source);
    let entry = compilation.program.kernels().next().expect("a kernel");
    let function = compile_kernel(&compilation, entry, MathMode::Fast).expect("AIR");
    let text = metalworks_air::bitcode_text(function.bitcode().expect("bitcode"), "k").expect("text");
    assert_eq!(text.lines().filter(|line| line.starts_with("define")).count(), 1, "{text}");
}

/// Threads come to a kept function at different times, so functions between lanes must be inlined.
#[test]
fn calls_that_double_and_wait_for_others_are_refused() {
    let source = doubling(40, "simdgroup_barrier(mem_flags::mem_none);");
    let source = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let error = wide_lines(&source).expect_err("it is too large");
    assert!(error.contains("would be inlined to more than"), "{error}");
    assert!(air_lines(&source) < 40_000);
}

/// As deep as the parser lets them be: recursion has room for them.
#[test]
fn long_chains() {
    for link in ["+ x", "? o[1] : x", "|| o[x] > 1", "= o[1]"] {
        let program = kernel("", &format!("int x = o[i];\no[i] = o[2] {};", link.repeat(4000)));
        assert!(air_lines(&program) > 5, "{link}");
    }
    let branches: String = (0..4000).map(|n| format!("if (x == {n}) o[i] = {};\nelse ", n * 7)).collect();
    let program = kernel("", &format!("int x = o[i];\n{branches} o[i] = 1;"));
    assert!(air_lines(&program) > 4000);
}
