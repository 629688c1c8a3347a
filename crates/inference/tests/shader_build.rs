//! What the build makes of a folder of shaders, and what it refuses: the build script's own code on folders of these
//! tests.

#[path = "../build/mod.rs"]
#[allow(dead_code, reason = "the build script uses more of it")]
mod library;

use library::metallib::{Compiler, apple};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with `shaders`, `include` and `out`, empty whatever an earlier run left.
fn folders(test: &str) -> library::Folders {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shader_build").join(test);
    let _ = fs::remove_dir_all(&root);
    let folder = |name: &str| {
        let path = root.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    library::Folders {
        shaders: folder("shaders"),
        include: folder("include"),
        operations: folder("operations"),
        out: folder("out"),
    }
}

/// A kernel that is right.
const TWICE: &str = "#include <metal_stdlib>
using namespace metal;
template <typename T>
kernel void twice(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= T(2); }
template [[host_name(\"twice_f32\")]] [[kernel]] decltype(twice<float>) twice<float>;
template [[host_name(\"twice_f16\")]] [[kernel]] decltype(twice<half>) twice<half>;
";

/// The message for one shader that is refused.
fn refused(test: &str, shader: &str) -> String {
    let folders = folders(test);
    fs::write(folders.shaders.join("wrong.metal"), shader).unwrap();
    library::build(&folders, None).expect_err("it must be refused")
}

#[test]
fn a_mistake_has_a_caret() {
    let folders = folders("caret");
    fs::write(folders.shaders.join("right.metal"), TWICE).unwrap();
    fs::write(folders.shaders.join("wrong.metal"), TWICE.replace("x[i] *=", "x[j] *=")).unwrap();
    let message = library::build(&folders, None).expect_err("j is not declared");
    let place =
        format!("{}:4:86: error: use of undeclared identifier 'j'", folders.shaders.join("wrong.metal").display());
    assert!(message.contains(&place), "{message}");
    let caret = message.lines().find(|line| line.trim() == "^").expect("a line with the caret");
    assert_eq!(caret.len(), 86, "{message}");
    assert!(!folders.out.join("kernels.rs").exists(), "nothing is generated from a library with a mistake");
}

#[test]
fn all_shaders_are_looked_at_and_a_mistake_in_an_include_is_shown_once() {
    let folders = folders("all");
    fs::write(folders.include.join("shared.metal"), "int shared_number() { return missing; }\n").unwrap();
    for name in ["a", "b"] {
        fs::write(folders.shaders.join(format!("{name}.metal")), format!("#include \"shared.metal\"\n{TWICE}"))
            .unwrap();
    }
    fs::write(folders.shaders.join("c.metal"), TWICE.replace("T(2)", "T(two)")).unwrap();
    let message = library::build(&folders, None).expect_err("two mistakes");
    assert_eq!(message.matches("'missing'").count(), 1, "{message}");
    assert_eq!(message.matches("'two'").count(), 1, "{message}");
}

#[test]
fn warnings_are_passed_on_and_heads_become_documentation() {
    let folders = folders("warnings");
    let shader =
        format!("// twice: x = 2·x\n//   for each x\n{}", TWICE.replace("{ x[i]", "{ int unused = 1; x[i]"));
    fs::write(folders.shaders.join("twice.metal"), shader).unwrap();
    let warnings = library::build(&folders, None).unwrap();
    assert!(warnings.contains("twice.metal:6:88: warning: unused variable 'unused'"), "{warnings}");
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    let expected =
        "/// `twice.metal`:\n///\n/// ```text\n/// twice: x = 2·x\n///   for each x\n/// ```\npub mod twice {";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn host_names_are_unique() {
    let folders = folders("unique");
    fs::write(folders.shaders.join("a.metal"), TWICE).unwrap();
    fs::write(folders.shaders.join("b.metal"), TWICE).unwrap();
    let message = library::build(&folders, None).expect_err("the names are used twice");
    assert!(message.contains("another kernel has the host name 'twice_f32'"), "{message}");
    assert!(message.contains("a.metal:5: note: it is here"), "{message}");
}

#[test]
fn what_cannot_be_bound_is_refused() {
    let memory =
        "kernel void k(device float* x [[buffer(0)]], threadgroup float* t [[threadgroup(0)]]) { x[0] = t[0]; }";
    assert!(refused("memory", memory).contains("the argument 't' of 'k' is no buffer"));
    let vector = "constant float2 C [[function_constant(0)]];
        kernel void k(device float* x [[buffer(0)]]) { x[0] = C.x; }";
    assert!(refused("vector", vector).contains("the function constant 'C' of 'k' has the type 'float2'"));
    let flag = "struct P { bool flag; };
        kernel void k(device float* x [[buffer(0)]], constant P& p [[buffer(1)]]) { x[0] = p.flag ? 1 : 0; }";
    assert!(refused("flag", flag).contains("the field 'flag' of 'P' has the type 'bool'"));
    let nothing = "kernel void k(constant uint& n [[buffer(0)]]) {}";
    assert!(refused("nothing", nothing).contains("'k' has no buffer"));
}

#[test]
fn instantiations_agree_about_constants() {
    let different = "constant uint A [[function_constant(0)]];
        template <typename T> struct Traits { static uint get() { return A; } };
        template <> struct Traits<int> { static uint get() { return 0; } };
        template <typename T> kernel void k(device T* x [[buffer(0)]]) { x[0] = T(Traits<T>::get()); }
        template [[host_name(\"k_float\")]] kernel void k<float>(device float*);
        template [[host_name(\"k_int\")]] kernel void k<int>(device int*);";
    let message = refused("constants", different);
    assert!(message.contains("'k_float' and 'k_int'") && message.contains("A against none"), "{message}");
}

#[test]
fn bindings_follow_the_signature() {
    let folders = folders("bindings");
    let shader = "constant uint DIM [[function_constant(3)]];
        constant bool USE_BIAS [[function_constant(4)]];
        struct Params { uint rows; float3 origin; ushort last; };
        kernel void k(device const float* in [[buffer(0)]],
                      device float* bias [[buffer(2), function_constant(USE_BIAS)]],
                      constant Params& p [[buffer(1)]],
                      constant uint& n [[buffer(5)]]) {
            if (USE_BIAS) { bias[0] = in[0] + float(p.rows + n + DIM); }
        }";
    fs::write(folders.shaders.join("things.metal"), shader).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    for expected in [
        "pub mod things {",
        "pub struct KConstants {",
        "pub dim: u32,",
        "pub use_bias: bool,",
        "pub r#in: BufferSlice<'a>,",
        "pub bias: Option<BufferSlice<'a>>,",
        "pub p: &'a Params,",
        "pub n: u32,",
        "pub const K: Kernel<K>",
        "#[repr(C, align(16))]",
        "pub _padding0: [u8; 12],",
        "pub origin: [f32; 3],",
        "assert!(size_of::<Params>() == 48 && align_of::<Params>() == 16);",
        "assert!(std::mem::offset_of!(Params, last) == 32);",
        "self.n.bind(encoder, 5)?;",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
}

#[test]
fn includes_are_folded_in_once_and_lines_keep_their_names() {
    let folders = folders("fold");
    let guarded = |name: &str, text: &str| format!("#ifndef {name}\n#define {name}\n{text}\n#endif\n");
    fs::write(folders.include.join("a.metal"), guarded("A", "inline float a() { return 1.0f; }")).unwrap();
    let b = guarded("B", "#include \"a.metal\"\ninline float b() { return a(); }");
    fs::write(folders.include.join("b.metal"), b).unwrap();
    let shader = "#include <metal_stdlib>\n#include \"a.metal\"\n# include \"b.metal\"\n\
                  kernel void k(device float* x [[buffer(0)]]) { x[0] = a() + b(); }\n";
    fs::write(folders.shaders.join("k.metal"), shader).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("k.metal")).unwrap();
    assert_eq!(text.matches("float a()").count(), 1, "{text}");
    assert!(text.contains("#include <metal_stdlib>") && !text.contains("include \""), "{text}");
    assert!(text.contains("#line 4 \"k.metal\"\nkernel void k"), "{text}");
    assert!(text.contains("#line 1 \"a.metal\"\n#ifndef A"), "{text}");
    let alone = msl::compile_source("k", &text, &msl::Options::default());
    assert!(!alone.has_errors(), "{}", alone.render_diagnostics(false));
    // What goes wrong in it is where it was written.
    let broken = text.replace("return a();", "return c();").replace("a() + b()", "d() + b()");
    let messages = msl::compile_source("k", &broken, &msl::Options::default()).render_diagnostics(false);
    for expected in
        ["b.metal:4:27: error: use of undeclared identifier 'c'", "k.metal:4:55: error: use of undeclared"]
    {
        assert!(messages.contains(expected), "no '{expected}' in\n{messages}");
    }
}

#[test]
fn what_is_embedded_compiles_alone_to_the_same_kernels() {
    use inference::metal::kernels::{ALL, SHADERS};
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/metal");
    let options =
        |include_dirs: Vec<PathBuf>| msl::Options { include_dirs, warnings: true, ..msl::Options::default() };
    for shader in SHADERS {
        let alone = msl::compile_source(shader.name, shader.source, &options(Vec::new()));
        assert!(alone.diagnostics.is_empty(), "{}", alone.render_diagnostics(false));
        let file = sources.join("shaders").join(shader.name).with_extension("metal");
        let with_includes = msl::compile_file(&file, &options(vec![sources.join("include")])).unwrap();
        let kernels = |compilation: &msl::Compilation| {
            let reflection = compilation.reflect();
            let kernels = reflection.kernels.into_iter();
            // The text that stands alone has the names of its files only.
            let name = |file: &str| file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            let kernels = kernels.map(|kernel| msl::reflect::Kernel { file: name(&kernel.file), ..kernel });
            (kernels.collect::<Vec<_>>(), reflection.function_constants)
        };
        let (found, constants) = kernels(&alone);
        assert!(
            (&found, &constants) == (&kernels(&with_includes).0, &kernels(&with_includes).1),
            "{}",
            shader.name
        );
        let mut names: Vec<&str> = found.iter().map(|kernel| kernel.name.as_str()).collect();
        let mut generated: Vec<&str> =
            ALL.iter().filter(|kernel| kernel.shader.name == shader.name).map(|kernel| kernel.name).collect();
        names.sort();
        generated.sort();
        assert_eq!(names, generated);
    }
}

/// A script that stands for `xcrun`: it notes how it was called and does as `then` says.
#[cfg(unix)]
fn fake_xcrun(folders: &library::Folders, then: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folders.out.join("xcrun");
    let log = folders.out.join("calls");
    // The library is the argument after -o.
    let find = "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done";
    fs::write(&path, format!("#!/bin/sh\necho \"$@\" >> '{}'\n{find}\n{then}\n", log.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
#[cfg(unix)]
fn apples_compiler_is_called_with_pinned_flags() {
    let folders = folders("xcrun");
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    let xcrun = fake_xcrun(&folders, "[ -z \"$out\" ] || printf 'MTLB and more' > \"$out\"");
    assert!(apple::has_metal(&xcrun));
    library::build(&folders, Some(&Compiler::Apple(xcrun))).unwrap();
    let calls = fs::read_to_string(folders.out.join("calls")).unwrap();
    let path = |path: PathBuf| path.display().to_string();
    let expected = format!(
        "-sdk macosx metal --version\n-sdk macosx metal -std=metal3.1 -mmacosx-version-min=14.0 -O2 -ffast-math -I {} -o {} {}\n",
        path(folders.include.clone()),
        path(folders.out.join("twice.metallib")),
        path(folders.shaders.join("twice.metal")),
    );
    assert_eq!(calls, expected);
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    assert!(text.contains(&embedded("twice", "Apple")), "{text}");
}

#[test]
#[cfg(unix)]
fn a_compiler_that_fails_or_writes_nothing_is_noticed() {
    for (then, expected) in [
        ("echo 'twice.metal:3: error: no' >&2; exit 1", "twice.metal:3: error: no"),
        ("true", "wrote no library"),
        ("printf '' > \"$out\"", "wrote 0 bytes that are no Metal library"),
        ("printf 'hello' > \"$out\"", "wrote 5 bytes that are no Metal library"),
    ] {
        let folders = folders("failing");
        fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
        fs::write(folders.out.join("twice.metallib"), "MTLB of an earlier build").unwrap();
        let xcrun = fake_xcrun(&folders, then);
        let message = library::build(&folders, Some(&Compiler::Apple(xcrun))).expect_err(then);
        assert!(message.contains(expected), "{then}: {message}");
    }
}

/// The code that embeds a library.
fn embedded(name: &str, compiler: &str) -> String {
    let data = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.metallib\"))");
    format!("metallib: Some(PrecompiledLibrary {{ data: {data}, compiler: LibraryCompiler::{compiler} }})")
}

#[test]
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
fn our_compiler_writes_a_library_for_each_shader() {
    let folders = folders("ours");
    fs::write(folders.include.join("two.metal"), "inline float two() { return 2.0f; }\n").unwrap();
    let thrice = "kernel void thrice(device float* x [[buffer(0)]]) { x[0] += x[0] * two(); }\n";
    fs::write(folders.shaders.join("thrice.metal"), format!("#include \"two.metal\"\n{thrice}")).unwrap();
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    library::build(&folders, Compiler::choose(false, None).as_ref()).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    for (name, kernels) in [("thrice", &["thrice"][..]), ("twice", &["twice_f32", "twice_f16"])] {
        let bytes = fs::read(folders.out.join(name).with_extension("metallib")).unwrap();
        let library = air::metallib::Library::parse(&bytes).unwrap();
        let names: Vec<&str> = library.functions().iter().map(|function| function.name()).collect();
        assert_eq!(names, kernels);
        assert!(text.contains(&embedded(name, "Metalworks")), "{text}");
    }
}

#[test]
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
fn a_shader_that_our_compiler_cannot_lower_fails_the_build() {
    let folders = folders("unsupported");
    let shader = "float missing(float x);
        kernel void k(device float* x [[buffer(0)]]) { x[0] = missing(x[0]); }";
    fs::write(folders.shaders.join("lacking.metal"), shader).unwrap();
    let message = library::build(&folders, Compiler::choose(false, None).as_ref()).expect_err("nothing defines it");
    let expected =
        "lacking.metal:1:7: error: kernel 'k': a call of 'missing', which is declared and never defined,";
    assert!(message.contains(expected), "{message}");
    assert!(library::build(&folders, None).is_ok(), "the source alone is fine");
}

#[test]
fn without_a_compiler_the_source_is_embedded_alone() {
    let folders = folders("alone");
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    assert!(text.contains("metallib: None"), "{text}");
    assert!(!folders.out.join("twice.metallib").exists());
}

#[test]
fn the_switch_leaves_libraries_out_whatever_the_target() {
    for for_macos in [false, true] {
        assert!(Compiler::choose(for_macos, Some("0")).is_none());
    }
    let ours = Compiler::choose(false, None);
    assert_eq!(ours.is_some(), cfg!(all(feature = "compiler", not(target_os = "macos"))));
}

/// A library with a template in an include, instantiated by two shaders.
fn products(folders: &library::Folders) -> String {
    let include = "#ifndef P\n#define P\n#include <metal_stdlib>\nusing namespace metal;
        constant constexpr uint TILE = 4 * 8;
        struct q4_0 { static constant constexpr uint BLOCK = 32, BYTES = 18; };
        struct q8_0 { static constant constexpr uint BLOCK = 32, BYTES = 34; };
        template <typename T> struct Plain { static constant constexpr uint BLOCK = 32, BYTES = 32 * sizeof(T); };
        template <typename F, typename T>
        kernel void product(device const uchar* w [[buffer(0)]], device T* y [[buffer(1)]],
                            constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
            y[i] = T(w[i % n] * F::BYTES + F::BLOCK);
        }\n#endif\n";
    let instance = |name: &str, types: &str| {
        format!(
            "template [[host_name(\"product_{name}\")]] [[kernel]] decltype(product<{types}>) product<{types}>;\n"
        )
    };
    let both = |name: &str, ty: &str| {
        instance(&format!("{name}_f32"), &format!("{ty}, float"))
            + &instance(&format!("{name}_f16"), &format!("{ty}, half"))
    };
    fs::write(folders.include.join("product.metal"), include).unwrap();
    let shader = |instances: String| format!("#include \"product.metal\"\n{instances}");
    fs::write(folders.shaders.join("quantized.metal"), shader(both("q4_0", "q4_0") + &both("q8_0", "q8_0")))
        .unwrap();
    fs::write(folders.shaders.join("plain.metal"), shader(both("f16", "Plain<half>"))).unwrap();
    library::build(folders, None).unwrap();
    fs::read_to_string(folders.out.join("kernels.rs")).unwrap()
}

#[test]
fn a_template_of_an_include_is_one_family_with_a_choice_by_types() {
    let text = products(&folders("select"));
    assert_eq!(text.matches("pub struct ProductArgs<'a>").count(), 1, "{text}");
    let select = "pub const fn select(format: Format, activation: Activation) -> Kernel<Product> {";
    for expected in [
        "pub mod product {",
        select,
        "(Format::Q4_0, Activation::F32,) => PRODUCT_Q4_0_F32,",
        "(Format::F16, Activation::F16,) => PRODUCT_F16_F16,",
        "pub const TILE: usize = 32;",
        "pub const N_INDEX: usize = 2;",
        "(Format::Q8_0, 32, 34),",
        "(Format::F16, 32, 64),",
        "ArgumentInfo { name: \"y\", element_size: 2 }",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
}

#[test]
fn a_choice_that_not_every_type_has_is_an_option() {
    let folders = folders("option");
    let rows = "template <typename W, typename T> kernel void rows(device const W* w [[buffer(0)]], device T* y [[buffer(1)]]) {
            y[0] = T(w[0]);
        }
        template [[host_name(\"rows_bf16_f32\")]] [[kernel]] decltype(rows<bfloat, float>) rows<bfloat, float>;
        struct Halve { static float of(float x) { return x / 2.0f; } };
        struct Square { static float of(float x) { return x * x; } };
        template <typename T, typename Function> kernel void apply(device T* x [[buffer(0)]]) { x[0] = T(Function::of(x[0])); }
        template [[host_name(\"halve\")]] [[kernel]] decltype(apply<float, Halve>) apply<float, Halve>;
        template [[host_name(\"square\")]] [[kernel]] decltype(apply<float, Square>) apply<float, Square>;\n";
    fs::write(folders.shaders.join("few.metal"), rows).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    for expected in [
        "pub const fn select(format: Format, activation: Activation) -> Option<Kernel<Rows>> {",
        "(Format::BF16, Activation::F32,) => Some(ROWS_BF16_F32),\n_ => None,",
        "pub enum ApplyFunction {",
        "(Activation::F32, ApplyFunction::Square,) => Some(SQUARE),",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
}

#[test]
fn a_function_constant_means_the_same_in_all_shaders() {
    let folders = folders("meanings");
    let shader = |name: &str, constant: &str, index: u32, ty: &str| {
        let kernel = format!("kernel void {name}(device float* x [[buffer(0)]]) {{ x[0] = float({constant}); }}");
        format!("constant {ty} {constant} [[function_constant({index})]];\n{kernel}\n")
    };
    fs::write(folders.shaders.join("a.metal"), shader("a", "DIM", 0, "uint")).unwrap();
    fs::write(folders.shaders.join("b.metal"), shader("b", "ROWS", 0, "uint")).unwrap();
    let message = library::build(&folders, None).expect_err("0 is DIM and ROWS");
    let expected = "b.metal: function constant 0 is 'ROWS', but 'DIM' in a.metal: an index means the same in all shaders; the \
                    first free one is 1";
    assert!(message.contains(expected), "{message}");
    fs::write(folders.shaders.join("b.metal"), shader("b", "DIM", 3, "int")).unwrap();
    let message = library::build(&folders, None).expect_err("DIM is 0 and 3");
    assert!(
        message.contains("b.metal: 'DIM' is the function constant 3 (int), but 0 (uint) in a.metal"),
        "{message}"
    );
    fs::write(folders.shaders.join("b.metal"), shader("b", "DIM", 0, "uint")).unwrap();
    assert!(library::build(&folders, None).is_ok(), "the same constant in two shaders");
}

#[test]
fn a_new_kernel_is_two_files() {
    let folders = folders("two_files");
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    fs::write(folders.operations.join("twice.rs"), "pub(crate) const OPERATIONS: &[Operation] = &[];\n").unwrap();
    fs::write(folders.operations.join("mod.rs"), "// The registry's own file is no operation.\n").unwrap();
    library::build(&folders, None).unwrap();
    let kernels = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    assert!(kernels.contains("name: \"twice_f32\"") && kernels.contains("name: \"twice_f16\""), "{kernels}");
    let operations = fs::read_to_string(folders.out.join("operations.rs")).unwrap();
    let path = std::path::absolute(folders.operations.join("twice.rs")).unwrap();
    assert!(
        operations.contains(&format!("#[path = {:?}]\nmod twice;\npub use twice::*;", path.display().to_string())),
        "{operations}"
    );
    assert!(operations.contains("TABLES: [&[Operation]; 1] = [\n    twice::OPERATIONS,\n];"), "{operations}");
}
