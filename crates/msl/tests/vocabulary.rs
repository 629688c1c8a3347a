//! Every attribute, qualifier and pragma that the front end accepts has the effect that the table says: a snippet for
//! each, and `docs/language.md`, which shows the table.

use metalworks_msl::vocabulary::{ATTRIBUTES, Effect, Form, PRAGMAS, QUALIFIERS, Subject, Word};
use metalworks_msl::{Compilation, LanguageVersion, Options, Severity};
use std::fmt::Write;
use std::path::Path;

fn compile(text: &str, warnings: bool) -> Compilation {
    let source = format!("#include <metal_stdlib>\nusing namespace metal;\n{text}\n");
    // The first version with `coherent`.
    let options = Options { warnings, std: LanguageVersion::new(3, 2), ..Options::default() };
    metalworks_msl::compile_source("test.metal", &source, &options)
}

fn messages(compilation: &Compilation, severity: Severity) -> Vec<&str> {
    let wanted = compilation.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity);
    wanted.map(|diagnostic| diagnostic.message.as_str()).collect()
}

/// The ways to write the attribute `name`.
fn spelled(word: &Word, name: &str, argument: &str) -> Vec<String> {
    let mut written = Vec::new();
    for form in word.forms {
        match form {
            Form::Bracket => written.push(format!("[[{name}{argument}]]")),
            Form::Gnu => {
                written.push(format!("__attribute__(({name}{argument}))"));
                written.push(format!("__attribute__((__{name}__{argument}))"));
                written.push(format!("[[gnu::{name}{argument}]]"));
            }
            Form::Clang => written.push(format!("[[clang::{name}{argument}]]")),
            Form::Keyword | Form::Pragma => written.push(format!("{name}{argument}")),
        }
    }
    written
}

/// Arguments for attributes that need some.
fn argument(name: &str) -> &'static str {
    match name {
        "aligned" | "alignas" => "(16)",
        "ext_vector_type" => "(4)",
        "buffer" | "texture" | "sampler" | "threadgroup" | "function_constant" | "id" | "color" | "attribute" => {
            "(0)"
        }
        "host_name" => "(\"other\")",
        "max_total_threads_per_threadgroup" => "(64)",
        "visibility" | "type_visibility" => "(\"hidden\")",
        "annotate" => "(\"text\")",
        "availability" => "(macos, unavailable)",
        "vector_size" => "(16)",
        _ => "",
    }
}

/// A program with the attribute at one of its subjects.
fn program(subject: Subject, attribute: &str) -> String {
    match subject {
        Subject::Function => format!("{attribute} void f() {{}}"),
        Subject::Parameter => format!("void f(int x {attribute}) {{}}"),
        Subject::Variable => format!("constant int x {attribute} = 1;"),
        Subject::Member => format!("struct S {{ int x {attribute}; }};"),
        Subject::Class => format!("struct {attribute} S {{ int x; }};"),
        Subject::Enum => format!("enum {attribute} E {{ one }};"),
        Subject::Enumerator => format!("enum E {{ one {attribute} }};"),
        Subject::Alias => format!("typedef int T {attribute};"),
        Subject::Namespace => format!("namespace {attribute} N {{}}"),
        Subject::Lambda => format!("void f() {{ auto g = []() {attribute} {{ return 1; }}; (void)g(); }}"),
        Subject::Statement => {
            format!("void f(int n) {{ switch (n) {{ case 1: {attribute}; case 2: break; }} }}")
        }
    }
}

#[test]
fn attributes_are_recognized_where_they_may_stand() {
    const SUBJECTS: &[Subject] = &[
        Subject::Function,
        Subject::Parameter,
        Subject::Variable,
        Subject::Member,
        Subject::Class,
        Subject::Enum,
        Subject::Enumerator,
        Subject::Alias,
        Subject::Namespace,
        Subject::Lambda,
    ];
    for word in ATTRIBUTES {
        for name in word.spellings {
            // The stage of a function is no attribute of it.
            let is_stage = matches!(*name, "kernel" | "vertex" | "fragment" | "object" | "mesh" | "intersection");
            for written in spelled(word, name, argument(name)) {
                for &subject in SUBJECTS {
                    if is_stage && subject != Subject::Function
                        || written == "alignas(16)" && subject == Subject::Alias
                    {
                        continue;
                    }
                    // `[[x]]` behind a parameter list is about the type in C++.
                    let text = program(subject, &written);
                    // The library takes much longer to compile than this.
                    let compilation = metalworks_msl::compile_source("test.metal", &text, &Options::default());
                    let all = compilation.render_diagnostics(false);
                    assert!(!all.contains("unknown attribute"), "{text}\n{all}");
                    let misplaced = all.contains("attribute only applies to");
                    match word.effect {
                        Effect::Refused(_) => assert!(all.contains("is not supported"), "{text}\n{all}"),
                        _ => assert_eq!(misplaced, !word.subjects.contains(&subject), "{text}\n{all}"),
                    }
                }
            }
        }
    }
}

/// A declaration with the name of a word in place of `@`, and the effect that only this word has.
type Case = (&'static str, &'static str, Outcome);

/// Consequence of compiling a snippet, with `-W`.
enum Outcome {
    /// Neither errors nor warnings; assertions in the snippet hold.
    Silent,
    Error(&'static str),
    Warning(&'static str),
    /// A property of the program.
    Program(fn(&metalworks_msl::Program) -> bool),
}

use Outcome::{Error, Program, Silent, Warning};

const HONOURED: &[Case] = &[
    ("packed", "struct __attribute__((packed)) S { char a; int b; }; static_assert(sizeof(S) == 5, \"\");", Silent),
    ("packed", "enum __attribute__((packed)) E { a, b = 255 }; static_assert(sizeof(E) == 1, \"\");", Silent),
    ("packed", "enum __attribute__((packed)) E { a = -1, b = 255 }; static_assert(sizeof(E) == 2, \"\");", Silent),
    (
        "packed",
        "struct __attribute__((packed)) S { char a; int b; }; thread int *f(thread S &s) { return &s.b; }",
        Warning(
            "taking address of packed member 'b' of class or structure 'S' may result in an unaligned pointer value",
        ),
    ),
    ("aligned", "struct __attribute__((aligned(16))) S { char a; }; static_assert(sizeof(S) == 16, \"\");", Silent),
    ("alignas", "struct alignas(16) S { char a; }; static_assert(alignof(S) == 16, \"\");", Silent),
    (
        "alignas",
        "void f(device float *p) { alignas(64) float x = p[0]; p[1] = x; }",
        Program(|program| program.functions.iter().any(|f| f.locals.iter().any(|local| local.min_align == 64))),
    ),
    (
        "ext_vector_type",
        "typedef float V __attribute__((ext_vector_type(3))); static_assert(sizeof(V) == 16, \"\"); \
      float f(V v) { return v.z + float3(v).x; }",
        Silent,
    ),
    (
        "ext_vector_type",
        "typedef float V __attribute__((ext_vector_type(8)));",
        Error("'ext_vector_type' attribute"),
    ),
    ("deprecated", "[[deprecated(\"use g\")]] void f() {} void h() { f(); }", Warning("'f' is deprecated: use g")),
    ("deprecated", "struct S { int x [[deprecated]]; }; int h(S s) { return s.x; }", Warning("'x' is deprecated")),
    ("deprecated", "constant int x [[deprecated]] = 1; int h() { return x; }", Warning("'x' is deprecated")),
    (
        "unavailable",
        "__attribute__((unavailable(\"no\"))) void f() {} void h() { f(); }",
        Error("'f' is unavailable: no"),
    ),
    (
        "nodiscard",
        "[[nodiscard]] int f() { return 1; } void h() { f(); }",
        Warning("ignoring return value of function declared with 'nodiscard' attribute"),
    ),
    (
        "nodiscard",
        "struct [[nodiscard]] S { int x; }; S f() { return S{1}; } void h() { f(); }",
        Warning("ignoring return value of type declared with 'nodiscard' attribute"),
    ),
    ("nodiscard", "[[nodiscard]] int f() { return 1; } void h() { (void)f(); int x = f(); (void)x; }", Silent),
    (
        "warn_unused_result",
        "__attribute__((warn_unused_result)) int f() { return 1; } void h() { f(); }",
        Warning("ignoring return value of function declared with 'warn_unused_result' attribute"),
    ),
    ("maybe_unused", "void f() { [[maybe_unused]] int x = 1; }", Silent),
    ("unused", "void f() { int x __attribute__((unused)) = 1; }", Silent),
    (
        "noinline",
        "__attribute__((noinline)) void f() {} kernel void k() { f(); }",
        Program(|program| program.functions.iter().any(|f| f.name == "f" && f.no_inline)),
    ),
    ("kernel", "[[kernel]] void k() {}", Program(|program| program.kernels().count() == 1)),
    ("object", "[[object]] void k() {}", Program(|program| program.kernels().count() == 0)),
    (
        "visible",
        "[[visible]] int f(int x) { return x; }",
        Program(|program| program.visible_functions.iter().any(|function| function.name == "f")),
    ),
    (
        "stitchable",
        "[[stitchable]] int f(int x) { return x; }",
        Program(|program| program.visible_functions.iter().any(|function| function.name == "f")),
    ),
    (
        "intersection",
        "[[intersection(triangle)]] bool f() { return true; }",
        Program(|program| program.intersection_functions.len() == 1),
    ),
    (
        "host_name",
        "[[host_name(\"other\")]] kernel void k() {}",
        Program(|program| program.kernels().any(|kernel| kernel.name == "other")),
    ),
    (
        "max_total_threads_per_threadgroup",
        "[[max_total_threads_per_threadgroup(64)]] kernel void k() {}",
        Program(|program| program.kernels().any(|kernel| kernel.max_total_threads == Some(64))),
    ),
    (
        "buffer",
        "kernel void k(device int *x [[buffer(7)]]) {}",
        Program(|program| {
            program
                .kernels()
                .any(|kernel| kernel.bindings[0].kind == metalworks_msl::program::BindingKind::Buffer(7))
        }),
    ),
    (
        "buffer",
        "kernel void k(device int *x [[buffer(7)]] [[clang::unused]]) {}",
        Program(|program| {
            program
                .kernels()
                .any(|kernel| kernel.bindings[0].kind == metalworks_msl::program::BindingKind::Buffer(7))
        }),
    ),
    (
        "function_constant",
        "constant int x [[function_constant(3)]]; kernel void k(device int *p) { p[0] = x; }",
        Program(|program| {
            program.globals.iter().any(|global| global.function_constant.is_some_and(|c| c.index == 3))
        }),
    ),
    ("id", "struct S { device int *x [[id(5)]]; }; kernel void k(constant S &s) {}", Silent),
    ("thread_position_in_grid", "kernel void k(uint2 i [[thread_position_in_grid]]) {}", Silent),
    (
        "thread_position_in_grid",
        "kernel void k(float i [[thread_position_in_grid]]) {}",
        Error("thread_position_in_grid"),
    ),
    (
        "thread_index_in_simdgroup",
        "kernel void k(uint2 i [[thread_index_in_simdgroup]]) {}",
        Error("thread_index_in_simdgroup"),
    ),
    (
        "stage_in",
        "struct I { float4 p [[position]]; }; fragment float4 f(I i [[stage_in]]) { return i.p; }",
        Silent,
    ),
    (
        "flat",
        "struct I { float4 p [[position]]; int n [[flat]]; }; fragment float4 f(I i [[stage_in]]) { return i.n; }",
        Silent,
    ),
    (
        "imageblock",
        "struct I { float4 p [[position]]; }; fragment float4 f(I i [[stage_in]]) { return i.p; }",
        Silent,
    ),
    ("payload", "struct I { float4 p [[position]]; }; fragment float4 f(I i [[stage_in]]) { return i.p; }", Silent),
    ("origin", "struct I { float4 p [[position]]; }; fragment float4 f(I i [[stage_in]]) { return i.p; }", Silent),
    // --- qualifiers
    ("const", "void f() { const int x = 1; x = 2; }", Error("const")),
    (
        "volatile",
        "void f(device int *p) { volatile int x = p[0]; p[1] = x; }",
        Program(|program| program.functions.iter().any(|f| f.locals.iter().any(|local| local.ty.is_volatile))),
    ),
    (
        "coherent",
        "void f(coherent device int *p, coherent(device) device int *q, coherent(system) device int *r) {}",
        Program(|program| {
            use metalworks_msl::types::Coherence::{Device, System};
            let pointee = |ty| program.types.pointee(ty).and_then(|pointee| pointee.coherence);
            program.functions.iter().any(|function| {
                let found: Vec<_> = function.locals.iter().filter_map(|local| pointee(local.ty.ty)).collect();
                found == [Device, Device, System]
            })
        }),
    ),
    (
        "mutable",
        "struct S { mutable int n; int m; int get() const thread { n += 1; return n; } }; \
      int f() { const S s = {1, 2}; s.n = 3; return s.get(); }",
        Silent,
    ),
    ("mutable", "struct S { int m; int get() const thread { m += 1; return m; } };", Error("const")),
    ("mutable", "struct S { mutable const int m; };", Error("'mutable' and 'const' cannot be mixed")),
    ("mutable", "struct S { mutable thread int &m; };", Error("'mutable' cannot be applied to references")),
    ("mutable", "mutable constant int x = 1;", Error("'mutable' can only be applied to member variables")),
    (
        "mutable",
        "struct S { mutable int n; }; kernel void k(constant S &s) { s.n = 1; }",
        Error("constant address space"),
    ),
    ("static", "struct S { static constant int n = 2; }; static_assert(S::n == 2, \"\");", Silent),
    ("static", "void f() { static int n; }", Error("static local variable must reside in constant address space")),
    ("extern", "extern constant int x; constant int x = 1; int f() { return x; }", Silent),
    ("constexpr", "constexpr int f(int n) { return n + 1; } static_assert(f(1) == 2, \"\");", Silent),
    ("final", "struct S final { int x; }; struct T : S {};", Error("base 'S' is marked 'final'")),
    ("override", "struct S { int f() override { return 1; } };", Error("only virtual member functions")),
    ("explicit", "struct S { explicit S(int); }; void g(S); void f() { g(1); }", Error("no matching function")),
    ("friend", "class S { int n; friend int f(thread S &s) { return s.n; } };", Silent),
    ("typedef", "typedef int T; static_assert(sizeof(T) == 4, \"\");", Silent),
    ("virtual", "struct S { virtual void f() {} };", Error("virtual functions are not supported in Metal")),
    ("thread_local", "thread_local constant int x = 1;", Error("thread-local storage is not supported in Metal")),
    ("thread", "void g(thread int *); void f(device int *p) { g(p); }", Error("no matching function")),
    ("kernel", "kernel void k() {}", Program(|program| program.kernels().count() == 1)),
    // --- pragmas
    ("once", "#pragma once\nkernel void k() {}", Warning("#pragma once in main file")),
    ("pack", "#pragma pack(1)\nstruct S { char a; int b; }; static_assert(sizeof(S) == 5, \"\");", Silent),
    (
        "options",
        "#pragma options align=packed\nstruct S { char a; int b; };",
        Error("'#pragma options' is not supported"),
    ),
    ("message", "#pragma message(\"hello\")", Warning("hello")),
    ("GCC error", "#pragma GCC error \"stop\"", Error("stop")),
    (
        "GCC diagnostic",
        "void f() {\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Wunused-variable\"\n\
      int x = 1;\n#pragma clang diagnostic pop\n}",
        Silent,
    ),
    (
        "GCC diagnostic",
        "void f() {\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n\
      #pragma GCC diagnostic pop\nint x = 1;\n}",
        Warning("unused variable 'x'"),
    ),
    (
        "GCC diagnostic",
        "#pragma GCC diagnostic error \"-Wunused\"\nvoid f() { int x = 1; }",
        Error("unused variable 'x'"),
    ),
    ("GCC system_header", "#pragma GCC system_header\nvoid f() { int x = 1; }", Silent),
    (
        "unroll",
        "kernel void k(device int *p) {\n#pragma unroll(4)\nfor (int i = 0; i < 8; ++i) p[i] = i; }",
        Program(unrolls),
    ),
    (
        "unroll",
        "kernel void k(device int *p) {\n#pragma unroll\np[0] = 1; }",
        Error("expected a for, while, or do-while loop to follow '#pragma unroll'"),
    ),
    (
        "nounroll",
        "kernel void k(device int *p) {\n#pragma nounroll\nfor (int i = 0; i < 8; ++i) p[i] = i; }",
        Program(unrolls),
    ),
    (
        "clang loop",
        "void f() {\n#pragma clang loop vectorize_width(4) interleave(enable) distribute(enable)\nfor (;;) {} }",
        Silent,
    ),
    ("clang loop", "void f() {\n#pragma clang loop magic(4)\nfor (;;) {} }", Error("invalid option 'magic'")),
    (
        "METAL fp",
        "#pragma METAL fp math_mode(safe)\nkernel void k() {}",
        Program(|program| program.functions.iter().any(|f| f.name == "k" && f.fp_pragmas == ["math_mode(safe)"])),
    ),
    ("METAL fp", "#pragma METAL fp math_mode(quick)", Error("unexpected argument 'quick'")),
    ("METAL internals", "#pragma METAL internals : enable", Silent),
    ("mark", "#pragma mark - Section\n#pragma unused(x)", Silent),
    (
        "clang attribute",
        "#pragma clang attribute push(__attribute__((packed)), apply_to = record)",
        Error("'#pragma clang' is not supported"),
    ),
    ("clang assume_nonnull", "#pragma clang assume_nonnull begin", Silent),
    ("GCC poison", "#pragma GCC poison printf", Silent),
    ("unknown", "#pragma sparkle", Warning("unknown pragma ignored")),
    ("unknown", "[[sparkle]] void f() {}", Warning("unknown attribute 'sparkle' ignored")),
    ("unknown", "[[acme::sparkle]] void f() {}", Warning("unknown attribute 'acme::sparkle' ignored")),
    ("unknown", "__attribute__((sparkle)) void f() {}", Warning("unknown attribute 'sparkle' ignored")),
    (
        "unknown",
        "__attribute__((packed)) struct S { int x; };",
        Warning("attribute 'packed' is ignored, place it after \"struct\" to apply attribute to type declaration"),
    ),
    (
        "unknown",
        "#if __has_attribute(packed) && __has_attribute(__noinline__) && !__has_attribute(cleanup)\n\
      #else\n#error wrong\n#endif",
        Silent,
    ),
];

fn unrolls(program: &metalworks_msl::Program) -> bool {
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    let mut found = false;
    for body in bodies {
        metalworks_msl::walk::walk_stmts(body, &mut |stmt| {
            if let metalworks_msl::program::StmtKind::Loop { pragmas, .. } = &stmt.kind {
                found |= !pragmas.is_empty();
            }
        });
    }
    found
}

#[test]
fn each_word_has_its_effect() {
    for (name, text, outcome) in HONOURED {
        let compilation = compile(text, true);
        let all = compilation.render_diagnostics(false);
        let (errors, warnings) =
            (messages(&compilation, Severity::Error), messages(&compilation, Severity::Warning));
        match outcome {
            Silent => assert!(errors.is_empty() && warnings.is_empty(), "{name}: {text}\n{all}"),
            Error(message) => assert!(errors.iter().any(|it| it.contains(message)), "{name}: {text}\n{all}"),
            Warning(message) => {
                assert!(errors.is_empty(), "{name}: {text}\n{all}");
                assert!(warnings.iter().any(|it| it.contains(message)), "{name}: {text}\n{all}");
            }
            Program(holds) => {
                assert!(errors.is_empty(), "{name}: {text}\n{all}");
                assert!(holds(&compilation.program), "{name}: {text}");
            }
        }
    }
    for word in ATTRIBUTES.iter().chain(QUALIFIERS).chain(PRAGMAS) {
        let is_tested = HONOURED.iter().any(|(name, ..)| word.spellings.contains(name));
        let needs_test = matches!(word.effect, Effect::Honoured(_));
        assert!(is_tested || !needs_test, "{:?} has no snippet", word.spellings);
    }
}

#[test]
fn words_without_effect_are_silent() {
    for word in QUALIFIERS.iter().filter(|word| matches!(word.effect, Effect::NoEffect(_))) {
        for name in word.spellings {
            let text = match *name {
                "register" => "void f(register int x) { register int y = x; (void)y; }".to_string(),
                "inline" => "inline int f() { return 1; }".to_string(),
                "noexcept" => "int f() noexcept { return 1; }".to_string(),
                name => format!("void f(device float *{name} p) {{ p[0] = 1; }}"),
            };
            let compilation = compile(&text, true);
            assert!(compilation.diagnostics.is_empty(), "{text}\n{}", compilation.render_diagnostics(false));
        }
    }
    for word in PRAGMAS.iter().filter(|word| matches!(word.effect, Effect::NoEffect(_))) {
        for name in word.spellings.iter().filter(|name| **name != "clang loop") {
            let compilation = compile(&format!("#pragma {name} anything"), true);
            assert!(compilation.diagnostics.is_empty(), "{name}\n{}", compilation.render_diagnostics(false));
        }
    }
    for word in PRAGMAS.iter().filter(|word| matches!(word.effect, Effect::Refused(_))) {
        for name in word.spellings {
            let compilation = compile(&format!("#pragma {name} anything"), false);
            let all = compilation.render_diagnostics(false);
            assert!(all.contains("is not supported"), "{name}\n{all}");
        }
    }
}

// --- docs/language.md --------------------------------------------------------------------------------------------

fn table(words: &[Word]) -> String {
    let mut text = String::from("| Name | Forms | On | Effect |\n| --- | --- | --- | --- |\n");
    for word in words {
        let names: Vec<String> = word.spellings.iter().map(|name| format!("`{name}`")).collect();
        let forms: Vec<&str> = word
            .forms
            .iter()
            .map(|form| match form {
                Form::Bracket => "`[[x]]`",
                Form::Gnu => "`__attribute__((x))`, `[[gnu::x]]`",
                Form::Clang => "`[[clang::x]]`",
                Form::Keyword => "keyword",
                Form::Pragma => "`#pragma x`",
            })
            .collect();
        let effect = match word.effect {
            Effect::Honoured(text) => format!("honoured: {text}"),
            Effect::NoEffect(text) => format!("without effect: {text}"),
            Effect::Refused(text) => format!("refused: {text}"),
        };
        let subjects = word.subjects_text();
        let _ = writeln!(text, "| {} | {} | {subjects} | {effect} |", names.join(", "), forms.join(", "));
    }
    text
}

/// The document: with `BLESS=1` its tables are written anew.
#[test]
fn the_document_shows_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let text = std::fs::read_to_string(&path).expect("docs/language.md");
    let mut expected = text.clone();
    for (name, words) in [("attributes", ATTRIBUTES), ("qualifiers", QUALIFIERS), ("pragmas", PRAGMAS)] {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->"));
        let start = expected.find(&begin).expect("the table's beginning") + begin.len();
        let stop = expected.find(&end).expect("the table's end");
        expected.replace_range(start..stop, &table(words));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the document can be written");
    }
    assert!(
        text == expected,
        "docs/language.md is out of date: BLESS=1 cargo test -p metalworks-msl --test vocabulary"
    );
}
