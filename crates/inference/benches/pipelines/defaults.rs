//! Every kernel of the library with function constants as in a model of 8 billion parameters.

use compute::{ConstantBits, PipelineConfig, Simdgroups};
use metalworks_inference::metal::kernels;
use metalworks_inference::metal::library::Shader;
use msl::reflect::{FunctionConstant, Kernel};

/// Prefix of kernel names, constant, value. The first match counts.
const VALUES: &[(&str, &str, f64)] = &[
    ("head_rms_norm", "DIM", 128.0),
    ("", "DIM", 4096.0),
    ("", "STRIDE", 4096.0),
    ("", "VOCABULARY", 128_256.0),
    ("", "SIMDGROUPS", 4.0),
    ("top_k", "K", 40.0),
    ("", "K", 4096.0),
    ("", "BATCH", 1.0),
    ("", "SPLIT", 4.0),
    ("gemv_rows", "ROWS", 2.0),
    ("", "ROWS", 4.0),
    ("", "BIAS", 0.0),
    ("", "RESIDUAL", 0.0),
    ("", "TILED", 1.0),
    ("", "D", 128.0),
    ("", "HEADS", 32.0),
    ("", "GROUP", 4.0),
    ("", "SCALE", 0.088),
    ("", "SOFT_CAP", 0.0),
    ("", "WINDOW", 0.0),
    ("", "INDEXED", 1.0),
    ("", "HEAD_DIM", 128.0),
    ("", "ROTARY", 128.0),
    ("", "NEOX", 0.0),
    ("", "LOGITS", 1.0),
    ("", "ARGMAX", 0.0),
];

/// Value of a constant that is not in the table: small enough for any count.
const GUESS: f64 = 4.0;

/// Configuration of a kernel, and the names of its constants that are guesses.
pub(crate) struct KernelDefaults {
    pub(crate) config: PipelineConfig,
    pub(crate) guessed: Vec<String>,
}

/// Returns the kernels of a shader. A constant of an unknown type is an error.
pub(crate) fn of_shader(shader: &Shader) -> Result<Vec<KernelDefaults>, String> {
    let reflection = msl::compile_source(shader.name, shader.source, &msl::Options::default()).reflect();
    reflection.kernels.iter().map(|kernel| default(kernel, &reflection.function_constants)).collect()
}

/// Returns all kernels.
pub(crate) fn all() -> Result<Vec<PipelineConfig>, String> {
    let mut all = Vec::new();
    for shader in kernels::SHADERS {
        all.extend(of_shader(shader)?.into_iter().map(|default| default.config));
    }
    Ok(all)
}

fn default(kernel: &Kernel, constants: &[FunctionConstant]) -> Result<KernelDefaults, String> {
    let mut values: Vec<(&str, ConstantBits)> = Vec::new();
    let mut guessed = Vec::new();
    for constant in constants.iter().filter(|constant| kernel.function_constants.contains(&constant.index)) {
        let FunctionConstant { name, ty, .. } = constant;
        let fits = |(kernels, known, _): &&(&str, &str, f64)| kernel.name.starts_with(kernels) && name == known;
        let value = VALUES.iter().find(fits).map_or_else(
            || {
                guessed.push(name.clone());
                GUESS
            },
            |(_, _, value)| *value,
        );
        let value = match ty.as_str() {
            "bool" => (value != 0.0).into(),
            "uint" => (value as u32).into(),
            "int" => (value as i32).into(),
            "float" => (value as f32).into(),
            _ => {
                return Err(format!("the constant {name} of '{}' has an unknown type: {ty}", kernel.name));
            }
        };
        values.push((name, value));
    }
    let config = PipelineConfig::new(&kernel.name, values.as_slice());
    // Operations declare their pipelines this way.
    Ok(KernelDefaults { config: config.with_simdgroups(Simdgroups::Rows), guessed })
}
