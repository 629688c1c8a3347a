//! Diagnostics as printed, and as data for editors.

use insta::assert_snapshot;
use metalworks_msl::{Compilation, Options};

fn compile(text: &str) -> Compilation {
    metalworks_msl::compile_source("test.metal", text, &Options::default())
}

/// The printed diagnostics of a shader.
fn shown(text: &str) -> String {
    compile(text).render_diagnostics(false)
}

#[test]
fn caret_and_ranges() {
    assert_snapshot!(shown("struct S { int a; };\nint f(S s, float x) {\n  return s * (x + 1);\n}\n"), @r"
    test.metal:3:12: error: invalid operands to binary expression ('S' and 'float')
      return s * (x + 1);
             ~ ^ ~~~~~~~
    ");
}

#[test]
fn place_of_an_undeclared_name() {
    assert_snapshot!(shown("kernel void k(device float *out) {\n\tout[0] = missing + 1;\n}\n"), @r"
    test.metal:2:11: error: use of undeclared identifier 'missing'
            out[0] = missing + 1;
                     ^~~~~~~
    ");
}

#[test]
fn did_you_mean() {
    let text = "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float *output) {\n  \
                outptu[0] = clmap(1.0f, 0.0f, 1.0f);\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:4:3: error: use of undeclared identifier 'outptu'; did you mean 'output'?
      outptu[0] = clmap(1.0f, 0.0f, 1.0f);
      ^~~~~~
      output
    test.metal:4:15: error: use of undeclared identifier 'clmap'; did you mean 'clamp'?
      outptu[0] = clmap(1.0f, 0.0f, 1.0f);
                  ^~~~~
                  clamp
    ");
}

#[test]
fn forgotten_include() {
    assert_snapshot!(shown("kernel void k(device float *out) { out[0] = metal::sqrt(2.0f); }\n"), @r"
    test.metal:1:45: error: use of undeclared identifier 'metal'; did you forget '#include <metal_stdlib>'?
    kernel void k(device float *out) { out[0] = metal::sqrt(2.0f); }
                                                ^~~~~
    ");
}

#[test]
fn a_lost_volatile() {
    let text = "struct S { int n; int get() const { return n; } };\nvoid f(device int *p) {}\n\
                kernel void k(volatile device int *p, device int *out) {\n  volatile S s;\n  f(p);\n  \
                *out = s.get();\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:5:3: error: no matching function for call to 'f'
      f(p);
      ^
    test.metal:2:6: note: candidate function not viable: 1st argument ('volatile device int *') would lose volatile qualifier
    void f(device int *p) {}
         ^
    test.metal:6:12: error: no matching member function for call to 'get'
      *out = s.get();
               ^~~
    test.metal:1:23: note: candidate function not viable: 'this' argument has type 'volatile S', but the method is not marked volatile
    struct S { int n; int get() const { return n; } };
                          ^~~
    ");
}

#[test]
fn read_only() {
    assert_snapshot!(shown("kernel void k(constant int *n) {\n  *n = 1;\n}\n"), @r"
    test.metal:2:6: error: read-only variable is not assignable: it is in the constant address space
      *n = 1;
         ^
    ");
}

#[test]
fn pointer_without_an_address_space() {
    assert_snapshot!(shown("float sum(float *p, const int &n);\n"), @r"
    test.metal:1:11: error: pointer type must have explicit address space qualifier
    float sum(float *p, const int &n);
              ^~~~~
    test.metal:1:21: error: reference type must have explicit address space qualifier
    float sum(float *p, const int &n);
                        ^~~~~~~~~
    ");
}

#[test]
fn ambiguous_call() {
    let text = "void f(int a, float b);\nvoid f(float a, int b);\nkernel void k() { f(1, 2); }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:3:19: error: call to 'f' is ambiguous
    kernel void k() { f(1, 2); }
                      ^
    test.metal:1:6: note: candidate function 'void f(int, float)'
    void f(int a, float b);
         ^
    test.metal:2:6: note: candidate function 'void f(float, int)'
    void f(float a, int b);
         ^
    ");
}

#[test]
fn candidates_that_do_not_fit() {
    let text = "void f(device float *p);\nvoid f(int a, int b);\ntemplate <typename T> void f(T a, T b, T c);\n\
                kernel void k(threadgroup float *t) { f(t); f(1, 2, 3.0f); }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:4:39: error: no matching function for call to 'f'
    kernel void k(threadgroup float *t) { f(t); f(1, 2, 3.0f); }
                                          ^
    test.metal:1:6: note: candidate function not viable: no known conversion from 'threadgroup float *' to 'device float *' for 1st argument
    void f(device float *p);
         ^
    test.metal:2:6: note: candidate function not viable: requires 2 arguments, but 1 was provided
    void f(int a, int b);
         ^
    test.metal:3:28: note: candidate function not viable: requires 3 arguments, but 1 was provided
    template <typename T> void f(T a, T b, T c);
                               ^
    test.metal:4:45: error: no matching function for call to 'f'
    kernel void k(threadgroup float *t) { f(t); f(1, 2, 3.0f); }
                                                ^
    test.metal:1:6: note: candidate function not viable: requires 1 argument, but 3 were provided
    void f(device float *p);
         ^
    test.metal:2:6: note: candidate function not viable: requires 2 arguments, but 3 were provided
    void f(int a, int b);
         ^
    test.metal:3:28: note: candidate template ignored: deduced conflicting types for parameter 'T' ('int' vs. 'float')
    template <typename T> void f(T a, T b, T c);
                               ^
    ");
}

#[test]
fn method_of_another_address_space() {
    let text = "struct S { int n; int get() { return n; } };\nkernel void k(device S *s) { s->get(); }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:2:33: error: no matching member function for call to 'get'
    kernel void k(device S *s) { s->get(); }
                                    ^~~
    test.metal:1:23: note: candidate function not viable: 'this' argument has type 'device S', but the method is not marked 'device'
    struct S { int n; int get() { return n; } };
                          ^~~
    ");
}

#[test]
fn macro_expansion() {
    let text =
        "#define ADD(a, b) ((a) + (b))\n#define TWICE(x) ADD(x, missing)\nint f(int n) {\n  return TWICE(n);\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:4:10: error: use of undeclared identifier 'missing'
      return TWICE(n);
             ^~~~~
    test.metal:2:25: note: expanded from macro 'TWICE'
    #define TWICE(x) ADD(x, missing)
                            ^~~~~~~
    ");
}

#[test]
fn macro_argument() {
    let text = "#define ADD(a, b) ((a) + (b))\nint f(int n) {\n  return ADD(n, missing);\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:3:17: error: use of undeclared identifier 'missing'
      return ADD(n, missing);
                    ^~~~~~~
    ");
}

#[test]
fn template_instantiation() {
    let text = "template <typename T> T first(T v) { return v.x; }\ntemplate <typename T> T outer(T v) { return first(v); }\n\
                kernel void k(device int *out) {\n  out[0] = outer(1);\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:1:47: error: member reference base type 'int' is not a structure or union
    template <typename T> T first(T v) { return v.x; }
                                                  ^
    test.metal:2:45: note: in instantiation of function template specialization 'first<int>' requested here
    template <typename T> T outer(T v) { return first(v); }
                                                ^~~~~~~~
    test.metal:4:12: note: in instantiation of function template specialization 'outer<int>' requested here
      out[0] = outer(1);
               ^~~~~~~~
    ");
}

#[test]
fn class_template_instantiation() {
    let text = "template <int N> struct Tile { static_assert(N % 8 == 0, \"N must be a multiple of 8\"); };\nTile<12> f();\n\
                kernel void k() { Tile<4> t; }\n";
    assert_snapshot!(shown(text), @r#"
    test.metal:1:46: error: static assertion failed: N must be a multiple of 8
    template <int N> struct Tile { static_assert(N % 8 == 0, "N must be a multiple of 8"); };
                                                 ^~~~~~~~~~
    test.metal:3:19: note: in instantiation of template class 'Tile<4>' requested here
    kernel void k() { Tile<4> t; }
                      ^~~~
    "#);
}

#[test]
fn explicit_instantiation() {
    let text = "template <typename T> kernel void k(device T *p) { p[0] = p->x; }\n\
                template [[host_name(\"k_float\")]] kernel void k<float>(device float *);\n\
                template [[host_name(\"k_half\")]] kernel void k<half>(device float *);\n";
    assert_snapshot!(shown(text), @r#"
    test.metal:1:62: error: member reference base type 'float' is not a structure or union
    template <typename T> kernel void k(device T *p) { p[0] = p->x; }
                                                                 ^
    test.metal:2:47: note: in instantiation of function template specialization 'k<float>' requested here
    template [[host_name("k_float")]] kernel void k<float>(device float *);
                                                  ^~~~~~~~
    test.metal:3:46: error: explicit instantiation of 'k' does not refer to a function template that fits
    template [[host_name("k_half")]] kernel void k<half>(device float *);
                                                 ^~~~~~~
    test.metal:1:35: note: candidate template ignored: parameter 1 is 'device half *', not 'device float *'
    template <typename T> kernel void k(device T *p) { p[0] = p->x; }
                                      ^
    "#);
}

#[test]
fn redefinition() {
    assert_snapshot!(shown("int f() { return 1; }\nint f() { return 2; }\n"), @r"
    test.metal:2:5: error: redefinition of 'f'
    int f() { return 2; }
        ^
    test.metal:1:5: note: previous definition is here
    int f() { return 1; }
        ^
    ");
}

#[test]
fn kernel_parameters() {
    let text = "kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],\n              \
                device float *c [[buffer(31)]], int3 gid [[thread_position_in_grid]], device int *d [[bufer(1)]]) { return 1; }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:1:8: error: kernel function 'k' must return 'void', not 'int'
    kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],
           ^~~
    test.metal:1:19: error: invalid type 'uint' for input declaration in a kernel function
    kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],
                      ^
    test.metal:1:19: note: a kernel takes pointers and references to device, constant or threadgroup memory, textures, samplers, and built-in values with an attribute such as [[thread_position_in_grid]]
    kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],
                      ^
    test.metal:1:71: error: cannot reserve 'buffer' resource location at index 0: 'a' has it
    kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],
                                                                          ^~~~~~~~~
    test.metal:1:22: note: 'a' is declared here
    kernel int k(uint n, device float *a [[buffer(0)]], device float *b [[buffer(0)]],
                         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    test.metal:2:40: error: 'buffer' attribute parameter is out of bounds: 31 is not between 0 and 30
                  device float *c [[buffer(31)]], int3 gid [[thread_position_in_grid]], device int *d [[bufer(1)]]) { return 1; }
                                           ^~
    test.metal:2:58: error: type 'int3' is not valid for attribute 'thread_position_in_grid': it must be 'ushort', 'ushort2', 'ushort3', 'uint', 'uint2' or 'uint3'
                  device float *c [[buffer(31)]], int3 gid [[thread_position_in_grid]], device int *d [[bufer(1)]]) { return 1; }
                                                             ^~~~~~~~~~~~~~~~~~~~~~~
    test.metal:2:101: error: unknown attribute 'bufer'; did you mean 'buffer'?
                  device float *c [[buffer(31)]], int3 gid [[thread_position_in_grid]], device int *d [[bufer(1)]]) { return 1; }
                                                                                                        ^~~~~~~~
                                                                                                        buffer
    ");
}

#[test]
fn static_assertion() {
    assert_snapshot!(shown("static_assert(sizeof(float3) == 12, \"float3 has padding\");\nstatic_assert(1 > 2);\n"), @r#"
    test.metal:1:15: error: static assertion failed: float3 has padding
    static_assert(sizeof(float3) == 12, "float3 has padding");
                  ^~~~~~~~~~~~~~~~~~~~
    test.metal:2:15: error: static assertion failed
    static_assert(1 > 2);
                  ^~~~~
    "#);
}

#[test]
fn constant_expression() {
    let text =
        "constexpr int at(int i) {\n  int a[2] = {1, 2};\n  return a[i];\n}\nstatic_assert(at(5) == 1, \"\");\n";
    assert_snapshot!(shown(text), @r#"
    test.metal:5:15: error: static assertion expression is not an integral constant expression
    static_assert(at(5) == 1, "");
                  ^~~~~~~~~~
    test.metal:3:12: note: cannot refer to element 5 of array of 2 elements in a constant expression
      return a[i];
               ^
    "#);
}

#[test]
fn narrowing() {
    assert_snapshot!(shown("void f(float x) { int n{x}; }\n"), @r"
    test.metal:1:25: error: non-constant-expression cannot be narrowed from type 'float' to 'int' in initializer list
    void f(float x) { int n{x}; }
                            ^
    test.metal:1:25: note: insert an explicit cast to silence this issue: static_cast<int>(…)
    void f(float x) { int n{x}; }
                            ^
    ");
}

#[test]
fn recursion() {
    let text = "int b(int n);\nint a(int n) { return b(n); }\nint b(int n) { return a(n); }\n\
                fragment int k() { return a(1); }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:2:23: error: recursive call to 'b': recursion is not supported in graphics functions
    int a(int n) { return b(n); }
                          ^~~~
    test.metal:1:5: note: 'b' is declared here
    int b(int n);
        ^
    ");
}

#[test]
fn missing_semicolon() {
    assert_snapshot!(shown("kernel void k(device int *out) {\n  out[0] = 1\n  out[1] = 2;\n}\n"), @r"
    test.metal:2:13: error: expected ';' after expression
      out[0] = 1
                ^
                ;
    ");
}

#[test]
fn several_errors_in_order() {
    let text = "struct S { int a; };\nkernel void k(device S *s, device int *out) {\n  s.a = 1;\n  out[0] = s->b;\n  \
                float4 v = out[0].x;\n  unknown(v);\n}\nFoo f();\n";
    assert_snapshot!(shown(text), @r"
    test.metal:3:5: error: member reference type 'device S *' is a pointer; did you mean to use '->'?
      s.a = 1;
        ^
    test.metal:4:15: error: no member named 'b' in 'S'
      out[0] = s->b;
                  ^
    test.metal:5:21: error: member reference base type 'int' is not a structure or union
      float4 v = out[0].x;
                        ^
    test.metal:6:3: error: use of undeclared identifier 'unknown'
      unknown(v);
      ^~~~~~~
    test.metal:8:1: error: unknown type name 'Foo'
    Foo f();
    ^~~
    ");
}

#[test]
fn one_mistake_is_one_error() {
    let text =
        "kernel void k(device int *out) {\n  Missing m;\n  m.x = 1;\n  auto n = m + 1;\n  out[n] = m(n);\n}\n";
    assert_snapshot!(shown(text), @r"
    test.metal:2:3: error: unknown type name 'Missing'
      Missing m;
      ^~~~~~~
    ");
}

#[test]
fn wide_characters_and_tabs() {
    assert_snapshot!(shown("void f() {\n\t/* größer */ int x = y;\n}\n"), @r"
    test.metal:2:25: error: use of undeclared identifier 'y'
            /* größer */ int x = y;
                                 ^
    ");
}

#[test]
fn include_chain() {
    let dir = std::env::temp_dir().join(format!("msl-diagnostics-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("there is a folder for temporary files");
    std::fs::write(dir.join("inner.h"), "int inner() { return missing; }\n").expect("it can be written");
    std::fs::write(dir.join("outer.h"), "#include \"inner.h\"\n").expect("it can be written");
    let options = Options { include_dirs: vec![dir.clone()], ..Options::default() };
    let text = "// two levels\n#include \"outer.h\"\nkernel void k() {}\n";
    let shown = metalworks_msl::compile_source("test.metal", text, &options).render_diagnostics(false);
    std::fs::remove_dir_all(&dir).expect("it was made above");
    let shown = shown.replace(&dir.display().to_string(), "DIR");
    assert_snapshot!(shown, @r"
    In file included from test.metal:2:
    In file included from DIR/outer.h:1:
    DIR/inner.h:1:22: error: use of undeclared identifier 'missing'
    int inner() { return missing; }
                         ^~~~~~~
    ");
}

#[test]
fn include_not_found() {
    assert_snapshot!(shown("#include \"missing.h\"\n#include <metal_stdlb>\n"), @r#"
    test.metal:1:10: error: 'missing.h' file not found
    #include "missing.h"
             ^~~~~~~~~~~
    note: searched in the built-in headers
    test.metal:2:10: error: 'metal_stdlb' file not found
    #include <metal_stdlb>
             ^~~~~~~~~~~~~
    note: searched in the built-in headers
    "#);
}

#[test]
fn in_a_header_of_the_library() {
    let text = "#include <metal_stdlib>\nusing namespace metal;\nmake_signed_t<float> f();\n";
    assert_snapshot!(shown(text), @r"
    In file included from test.metal:1:
    In file included from <metal_stdlib>:6:
    <metal_type_traits>:222:98: error: no type named 'type' in '_make_signed_impl<float>'
    template <typename _T> struct make_signed { typedef typename _make_signed_impl<remove_cv_t<_T>>::type type; };
                                                                                                     ^~~~
    <metal_type_traits>:223:55: note: in instantiation of template class 'make_signed<float>' requested here
    template <typename _T> using make_signed_t = typename make_signed<_T>::type;
                                                          ^~~~~~~~~~~
    test.metal:3:1: note: in instantiation of template type alias 'make_signed_t' requested here
    make_signed_t<float> f();
    ^~~~~~~~~~~~~
    ");
}

#[test]
fn colour() {
    let shown = compile("int f() { return x; }\n").render_diagnostics(true);
    assert_snapshot!(shown.replace('\u{1b}', "ESC"), @r"
    ESC[1mtest.metal:1:18: ESC[0mESC[0;1;31merror: ESC[0mESC[1muse of undeclared identifier 'x'ESC[0m
    int f() { return x; }
    ESC[0;1;32m                 ^ESC[0m
    ");
}

#[test]
fn warnings_are_off() {
    let text = "#warning careful\nvoid f(int a, unsigned b) { int unused; if (a < b) {} }\n";
    assert_snapshot!(shown(text), @r"
    test.metal:1:2: warning: careful
    #warning careful
     ^~~~~~~
    ");
    let options = Options { warnings: true, ..Options::default() };
    assert_snapshot!(metalworks_msl::compile_source("test.metal", text, &options).render_diagnostics(false), @r"
    test.metal:1:2: warning: careful
    #warning careful
     ^~~~~~~
    test.metal:2:33: warning: unused variable 'unused'
    void f(int a, unsigned b) { int unused; if (a < b) {} }
                                    ^~~~~~
    test.metal:2:47: warning: comparison of integers of different signs: 'int' and 'uint'
    void f(int a, unsigned b) { int unused; if (a < b) {} }
                                                  ^
    ");
}

#[test]
fn places_are_those_of_line_directives() {
    let text = "#line 40 \"a.h\"\n#define BAD missing\nvoid f(int a, int b);\n#line 7 \"k.metal\"\n\
                kernel void k() {\n  f(1);\n  int x = BAD;\n}\n";
    assert_snapshot!(shown(text), @r"
    k.metal:8:3: error: no matching function for call to 'f'
      f(1);
      ^
    a.h:41:6: note: candidate function not viable: requires 2 arguments, but 1 was provided
    void f(int a, int b);
         ^
    k.metal:9:11: error: use of undeclared identifier 'missing'
      int x = BAD;
              ^~~
    a.h:40:13: note: expanded from macro 'BAD'
    #define BAD missing
                ^~~~~~~
    ");
    let compilation = compile(text);
    let json = metalworks_msl::diagnostics::json::to_json(&compilation.diagnostics, &compilation.sources);
    let place = |object: &serde_json::Value| {
        ["file", "line", "column", "end_line", "end_column"].map(|key| object[key].to_string()).join(" ")
    };
    assert_eq!(place(&json[0]), "\"k.metal\" 8 3 8 4");
    assert_eq!(place(&json[0]["notes"][0]), "\"a.h\" 41 6 41 7");
    assert_eq!(place(&json[1]["notes"][0]), "\"a.h\" 40 13 40 20");
}

#[test]
fn json() {
    let text = "#define BAD missing\nint f(int n) {\n  return n + BAD;\n}\nint f(int n) { return outptu; }\n";
    let compilation = compile(text);
    let json = metalworks_msl::diagnostics::json::to_json(&compilation.diagnostics, &compilation.sources);
    assert_snapshot!(serde_json::to_string_pretty(&json).expect("it is JSON"), @r#"
    [
      {
        "column": 14,
        "end_column": 17,
        "end_line": 3,
        "file": "test.metal",
        "id": "undeclared-identifier",
        "line": 3,
        "message": "use of undeclared identifier 'missing'",
        "notes": [
          {
            "column": 13,
            "end_column": 20,
            "end_line": 1,
            "file": "test.metal",
            "line": 1,
            "message": "expanded from macro 'BAD'"
          }
        ],
        "ranges": [],
        "severity": "error",
        "suggestion": null
      },
      {
        "column": 5,
        "end_column": 6,
        "end_line": 5,
        "file": "test.metal",
        "id": "redefinition",
        "line": 5,
        "message": "redefinition of 'f'",
        "notes": [
          {
            "column": 5,
            "end_column": 6,
            "end_line": 2,
            "file": "test.metal",
            "line": 2,
            "message": "previous definition is here"
          }
        ],
        "ranges": [],
        "severity": "error",
        "suggestion": null
      }
    ]
    "#);
}

/// A device without an end is read up to the limit.
#[test]
#[cfg(unix)]
fn a_file_without_end_is_refused() {
    let error = metalworks_msl::compile_file("/dev/zero".as_ref(), &metalworks_msl::Options::default())
        .expect_err("it is too large");
    assert!(error.to_string().contains("it is larger than 64 MiB"), "{error}");
}
