//! Every kernel of the library with values for its constants, as in a model of 8 billion weights.

use compute::{ConstantBits, PipelineConfig};
use inference::metal::kernels;
use inference::metal::library::Shader;
use msl::reflect::{FunctionConstant, Kernel};

/// Values for constants: in kernels whose names begin with something, a constant, its value. The first that fits counts.
const VALUES: &[(&str, &str, u32)] = &[
    ("head_rms_norm", "DIM", 128),
    ("", "DIM", 4096),
    ("", "STRIDE", 4096),
    ("", "VOCABULARY", 128_256),
    ("", "SIMDGROUPS", 4),
    ("", "K", 4096),
    ("", "BATCH", 1),
    ("", "SPLIT", 4),
    ("", "BIAS", 0),
    ("", "RESIDUAL", 0),
    ("", "TILED", 1),
];

/// The kernels of a shader, or why one has no values.
pub(crate) fn configs(shader: &Shader) -> Vec<Result<PipelineConfig, String>> {
    let reflection = msl::compile_source(shader.name, shader.source, &msl::Options::default()).reflect();
    reflection.kernels.iter().map(|kernel| config(kernel, &reflection.function_constants)).collect()
}

/// All kernels that have values.
pub(crate) fn all() -> Vec<PipelineConfig> {
    kernels::SHADERS.into_iter().flat_map(configs).filter_map(Result::ok).collect()
}

fn config(kernel: &Kernel, constants: &[FunctionConstant]) -> Result<PipelineConfig, String> {
    let mut values: Vec<(&str, ConstantBits)> = Vec::new();
    for constant in constants.iter().filter(|constant| kernel.function_constants.contains(&constant.index)) {
        let fits =
            |(kernels, name, _): &&(&str, &str, u32)| kernel.name.starts_with(kernels) && constant.name == *name;
        let what = format!("kernel '{}' has the constant {} {}", kernel.name, constant.ty, constant.name);
        let (_, _, value) = *VALUES.iter().find(fits).ok_or(format!("{what}: it needs a value in defaults.rs"))?;
        let value = match constant.ty.as_str() {
            "bool" => (value != 0).into(),
            "uint" => value.into(),
            "int" => (value as i32).into(),
            "float" => (value as f32).into(),
            _ => return Err(format!("{what}: the type is new to defaults.rs")),
        };
        values.push((&constant.name, value));
    }
    Ok(PipelineConfig::new(&kernel.name, values.as_slice()))
}
