//! Kernels compiled to PTX: those of the shader library, the examples, and (ignored otherwise) those of others.
//!
//! With `METALWORKS_PTX` set, the PTX of every kernel is written to that folder, for `scripts/ptxas.sh`.
#![cfg(llvm)]

mod code;
mod corpus;
mod fragments;
mod library;

use abi::{ConstantValue, Constants, SimtKernel, Threadgroups};
use metalworks_air::MathMode;
use metalworks_air::simt::{Architecture, Error, compile};
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn architecture() -> Architecture {
    Architecture::named("sm_90a").expect("it is known")
}

/// The kernel `name` of a compilation with values for the constants that it uses.
fn kernel(
    compilation: &msl::Compilation,
    name: &str,
    threadgroups: Threadgroups,
    math: MathMode,
) -> Result<SimtKernel, Error> {
    kernel_with(compilation, name, threadgroups, math, &[])
}

/// The same with other values of some function constants.
fn kernel_with(
    compilation: &msl::Compilation,
    name: &str,
    threadgroups: Threadgroups,
    math: MathMode,
    others: &[(&str, ConstantValue)],
) -> Result<SimtKernel, Error> {
    let entry = compilation.program.kernels().find(|entry| entry.name == name).expect("the kernel");
    let reflection = msl::reflect::reflect(&compilation.program, &compilation.sources);
    let mut constants = Constants::new();
    for constant in &reflection.function_constants {
        let other = others.iter().find(|(name, _)| *name == constant.name).map(|(_, value)| value.clone());
        if let Some(value) = other.or_else(|| value(&constant.name, &constant.ty)) {
            constants.set(constant.index, value);
        }
    }
    let specialized = metalworks_air::specialize_kernel(compilation, entry, math, &constants);
    let specialized = specialized.map_err(|error| Error::Invalid(error.to_string()))?;
    let compiled = compile(&specialized, &architecture(), threadgroups)?;
    write(&compiled);
    Ok(compiled)
}

/// Writes the PTX where `METALWORKS_PTX` says.
fn write(kernel: &SimtKernel) {
    let Some(folder) = std::env::var_os("METALWORKS_PTX") else { return };
    let name: String = kernel.name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let path = Path::new(&folder).join(format!("{name}.{}.ptx", kernel.threadgroups.name()));
    std::fs::write(path, &kernel.ptx).expect("the folder can be written");
}

/// A representative value of a function constant.
fn value(name: &str, ty: &str) -> Option<ConstantValue> {
    let number = match name {
        "K" | "DIM" | "STRIDE" => 4096,
        "BATCH" | "SOFT_CAP" | "WINDOW" => u32::from(name == "BATCH"),
        "SPLIT" | "SIMDGROUPS" => 8,
        "CHUNK" | "HEADS" => 32,
        "ROWS" => 2,
        "HEAD_DIM" | "ROTARY" => 128,
        "GROUP" | "QUERIES" => 4,
        "TOP_K" => 40,
        "VOCABULARY" => 128_256,
        "BIAS" | "WIDE" => 0,
        _ => 1,
    };
    Some(match ty {
        "bool" => ConstantValue::Bool(number != 0),
        "uint" => ConstantValue::Uint(number),
        "int" => ConstantValue::Int(number as i32),
        "ushort" => ConstantValue::Ushort(number as u16),
        "short" => ConstantValue::Short(number as i16),
        "float" => ConstantValue::Float(number as f32),
        "char" => ConstantValue::Char(number as i8),
        "uchar" => ConstantValue::Uchar(number as u8),
        "long" => ConstantValue::Long(number.into()),
        "half" => ConstantValue::Half(half::f16::from_f32(number as f32)),
        _ => {
            let (element, count) = ty.split_at_checked(ty.len() - 1)?;
            let count = count.parse().ok().filter(|count| (2..=4).contains(count))?;
            ConstantValue::Vector(vec![value(name, element)?; count])
        }
    })
}
