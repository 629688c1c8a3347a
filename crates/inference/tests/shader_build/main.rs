//! The build of the shader library: runs the build script's own code on small folders of shaders.

mod bindings;
mod errors;
mod fold;
#[path = "../../build/mod.rs"]
#[allow(dead_code, reason = "the build script uses more of it")]
mod library;
mod metallib;
mod select;

use std::fs;
use std::path::Path;

/// Empty folders for shaders, includes, operations and results.
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

/// A valid shader.
const TWICE: &str = "#include <metal_stdlib>
using namespace metal;
template <typename T>
kernel void twice(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= T(2); }
template [[host_name(\"twice_f32\")]] [[kernel]] decltype(twice<float>) twice<float>;
template [[host_name(\"twice_f16\")]] [[kernel]] decltype(twice<half>) twice<half>;
";
