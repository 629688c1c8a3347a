//! What Rust sees of a shader: families of kernels.
//!
//! The instantiations of one template (`rms_norm_f32`, `rms_norm_f16`) are a family: they take the same arguments and
//! function constants, so that the host can choose between them and bind once. A kernel without a template is a family
//! of one.

use super::names;
use msl::Compilation;
pub(crate) use msl::reflect::Kernel;
use msl::reflect::{Argument, ArgumentKind, FunctionConstant};

/// Kernels with the same arguments and function constants.
pub(crate) struct Family {
    /// The name of the template, or of the kernel.
    pub(crate) name: String,
    /// As the first of its kernels has them.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) constants: Vec<FunctionConstant>,
    pub(crate) kernels: Vec<Kernel>,
}

/// The families of a program, in the order of the source.
pub(crate) fn families(compilation: &Compilation) -> Result<Vec<Family>, String> {
    let reflection = compilation.reflect();
    let mut families: Vec<Family> = Vec::new();
    for (entry, kernel) in compilation.program.kernels().zip(reflection.kernels) {
        let name = template_name(&compilation.program.function(entry.function).name);
        let constants = reflection.function_constants.iter();
        let constants = constants.filter(|constant| kernel.function_constants.contains(&constant.index)).cloned();
        let constants: Vec<FunctionConstant> = constants.collect();
        check(&kernel, &constants)?;
        match families.iter_mut().find(|family| family.name == name) {
            Some(family) => {
                alike(family, &kernel, &constants)?;
                family.kernels.push(kernel);
            }
            None => {
                let arguments = kernel.arguments.clone();
                families.push(Family { name, arguments, constants, kernels: vec![kernel] });
            }
        }
    }
    Ok(families)
}

/// `rms_norm` of `metalworks::rms_norm<float>`.
fn template_name(function: &str) -> String {
    let plain = function.split('<').next().unwrap_or(function);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

/// Only what the generated code can bind.
fn check(kernel: &Kernel, constants: &[FunctionConstant]) -> Result<(), String> {
    let name = &kernel.name;
    for argument in &kernel.arguments {
        if argument.kind != ArgumentKind::Buffer {
            let advice = "declare threadgroup memory in the kernel, pass everything else in buffers";
            return Err(format!("the argument '{}' of '{name}' is no buffer: {advice}", argument.name));
        }
    }
    if kernel.arguments.iter().all(|argument| argument.is_reference) {
        return Err(format!("'{name}' has no buffer: it could not do anything"));
    }
    if let Some(constant) = constants.iter().find(|constant| names::scalar(&constant.ty).is_none()) {
        let (constant, ty) = (&constant.name, &constant.ty);
        return Err(format!("the function constant '{constant}' of '{name}' has the type '{ty}': use a number"));
    }
    Ok(())
}

/// The instantiations of a template must look the same to the host, but for the types of elements.
fn alike(family: &Family, kernel: &Kernel, constants: &[FunctionConstant]) -> Result<(), String> {
    let first = &family.kernels[0].name;
    let seen = |argument: &Argument| {
        let bytes = argument.is_reference.then(|| (argument.element_type.clone(), argument.fields.clone()));
        (argument.name.clone(), argument.index, argument.access, argument.function_constant.clone(), bytes)
    };
    if !family.arguments.iter().map(seen).eq(kernel.arguments.iter().map(seen)) {
        return Err(format!("'{first}' and '{}' instantiate one template with different arguments", kernel.name));
    }
    if family.constants != constants {
        return Err(format!(
            "'{first}' and '{}' instantiate one template but use different function constants: {} against {}",
            kernel.name,
            list(&family.constants),
            list(constants)
        ));
    }
    Ok(())
}

fn list(constants: &[FunctionConstant]) -> String {
    let names: Vec<&str> = constants.iter().map(|constant| constant.name.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
