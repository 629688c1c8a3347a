//! Embedded sources, with includes folded in.

use crate::{folders, library};
use std::fs;
use std::path::{Path, PathBuf};

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
    // Diagnostics have the locations in the original files.
    let broken = text.replace("return a();", "return c();").replace("a() + b()", "d() + b()");
    let messages = msl::compile_source("k", &broken, &msl::Options::default()).render_diagnostics(false);
    for expected in
        ["b.metal:4:27: error: use of undeclared identifier 'c'", "k.metal:4:55: error: use of undeclared"]
    {
        assert!(messages.contains(expected), "no '{expected}' in\n{messages}");
    }
}

#[test]
fn embedded_sources_compile_alone_to_the_same_kernels() {
    use metalworks_inference::metal::kernels::{ALL, SHADERS};
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
            // The folded source has file names without folders.
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
