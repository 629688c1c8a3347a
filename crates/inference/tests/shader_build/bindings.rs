//! Generated bindings: arguments, parameters, constants, documentation, operations.

use crate::{TWICE, folders, library};
use std::fs;

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
fn returns_warnings_and_turns_heads_into_documentation() {
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
fn a_new_kernel_takes_two_files() {
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
