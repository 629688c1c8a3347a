//! Constants for every kernel of the library, as in a model of 8 billion weights.

use super::Failure;
use compute::{ConstantBits, PipelineConfig};
use inference::metal::library::KernelInfo;

/// The value of a constant in the kernels whose names begin with something.
struct Default {
    kernels: &'static str,
    constant: &'static str,
    value: Value,
}

#[derive(Clone, Copy)]
enum Value {
    Uint(u32),
    Bool(bool),
}

const fn uint(kernels: &'static str, constant: &'static str, value: u32) -> Default {
    Default { kernels, constant, value: Value::Uint(value) }
}

const fn flag(kernels: &'static str, constant: &'static str, value: bool) -> Default {
    Default { kernels, constant, value: Value::Bool(value) }
}

/// The first that fits counts.
const DEFAULTS: &[Default] = &[
    uint("head_rms_norm", "DIM", 128),
    uint("", "DIM", 4096),
    uint("", "STRIDE", 4096),
    uint("", "VOCABULARY", 128_256),
    uint("", "SIMDGROUPS", 4),
    uint("", "K", 4096),
    uint("", "BATCH", 1),
    uint("", "SPLIT", 4),
    flag("", "BIAS", false),
    flag("", "RESIDUAL", false),
    flag("", "TILED", true),
];

/// A kernel with its defaults.
pub(crate) fn config(kernel: &KernelInfo) -> Result<PipelineConfig, Failure> {
    let mut constants: Vec<(&str, ConstantBits)> = Vec::new();
    for constant in kernel.constants {
        let fits =
            |default: &&Default| kernel.name.starts_with(default.kernels) && default.constant == constant.name;
        let default = DEFAULTS.iter().find(fits).ok_or_else(|| {
            format!(
                "kernel '{}' has the constant {}: add a value to benches/pipelines/defaults.rs",
                kernel.name, constant.name
            )
        })?;
        constants.push((
            constant.name,
            match default.value {
                Value::Uint(value) => value.into(),
                Value::Bool(value) => value.into(),
            },
        ));
    }
    Ok(PipelineConfig::new(kernel.name, constants.as_slice()))
}
