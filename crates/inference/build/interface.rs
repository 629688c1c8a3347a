//! The host's view of a shader: families of kernels, function constants, and constants that host and shader share.
//!
//! The instantiations of one template (`rms_norm_f32`, `rms_norm_f16`) are a family: they take the same arguments and
//! function constants, so that the host selects one by its types and binds them all the same way. A template in an
//! include may have instantiations in several shaders. A kernel without a template is a family of one.

use super::names;
use msl::Compilation;
pub(crate) use msl::reflect::Kernel;
use msl::reflect::{Argument, ArgumentKind, FunctionConstant};
use msl::source::Span;

/// Kernels with the same arguments and function constants.
#[derive(Clone)]
pub(crate) struct Family {
    /// The file that defines it, without `.metal`: its Rust module.
    pub(crate) module: String,
    /// Name of the template or kernel.
    pub(crate) name: String,
    /// Arguments of its first kernel.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) constants: Vec<FunctionConstant>,
    pub(crate) instances: Vec<Instance>,
}

/// One kernel of a family.
#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) kernel: Kernel,
    /// Template arguments: `q4_0`, `float`.
    pub(crate) types: Vec<String>,
}

/// A shared constant: `constant constexpr uint TILE_ROWS = 32;`
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SharedConstant {
    /// The file that defines it, without `.metal`.
    pub(crate) module: String,
    /// Qualified by its struct, if it is a member: `q4_0::BLOCK`.
    pub(crate) name: String,
    pub(crate) value: i128,
}

/// Families of a program, in source order.
pub(crate) fn families(compilation: &Compilation) -> Result<Vec<Family>, String> {
    let reflection = compilation.reflect();
    let mut families: Vec<Family> = Vec::new();
    for (entry, kernel) in compilation.program.kernels().zip(reflection.kernels) {
        let function = compilation.program.function(entry.function);
        let (name, types) = template(&function.name);
        let constants = reflection.function_constants.iter();
        let constants = constants.filter(|constant| kernel.function_constants.contains(&constant.index)).cloned();
        let constants: Vec<FunctionConstant> = constants.collect();
        check(&kernel, &constants)?;
        let module = stem(compilation, function.span);
        let arguments = kernel.arguments.clone();
        add(
            &mut families,
            Family { module, name, arguments, constants, instances: vec![Instance { kernel, types }] },
        )?;
    }
    Ok(families)
}

/// Adds a family, or merges its instances with those of the same template.
pub(crate) fn add(families: &mut Vec<Family>, family: Family) -> Result<(), String> {
    match families.iter_mut().find(|known| (&known.module, &known.name) == (&family.module, &family.name)) {
        Some(known) => {
            alike(known, &family)?;
            known.instances.extend(family.instances);
        }
        None => families.push(family),
    }
    Ok(())
}

/// Integer constants of our own files.
pub(crate) fn shared_constants(compilation: &Compilation) -> Vec<SharedConstant> {
    let globals = compilation.program.globals.iter();
    let own = globals.filter(|global| !compilation.sources.file(global.span.file).builtin);
    let constant = |global: &msl::program::Global| match global.value {
        Some(msl::program::Value::Int(value)) => {
            Some(SharedConstant { module: stem(compilation, global.span), name: global.name.to_string(), value })
        }
        _ => None,
    };
    own.filter_map(constant).collect()
}

/// Name of the file of `span`, without folder and `.metal`.
fn stem(compilation: &Compilation, span: Span) -> String {
    let file = compilation.sources.presumed(compilation.sources.outermost(span)).file;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".metal").unwrap_or(name).to_owned()
}

/// Name and arguments of a template: `gemv`, `Plain<half>` and `float` for `metalworks::gemv<Plain<half>, float>`.
fn template(function: &str) -> (String, Vec<String>) {
    let (path, arguments) = function.split_once('<').unwrap_or((function, ""));
    let name = path.rsplit("::").next().unwrap_or(path).to_owned();
    let (mut types, mut depth) = (vec![String::new()], 0);
    for letter in arguments.strip_suffix('>').unwrap_or(arguments).chars() {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        match types.last_mut() {
            Some(last) if letter != ',' || depth > 0 => last.push(letter),
            _ => types.push(String::new()),
        }
    }
    let types = types.iter().map(|ty| ty.trim().to_owned()).filter(|ty| !ty.is_empty()).collect();
    (name, types)
}

/// Rejects kernels that the generated code cannot bind.
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

/// Checks that the instantiations of a template look the same to the host, except for the types of elements.
fn alike(family: &Family, other: &Family) -> Result<(), String> {
    let name = |family: &Family| family.instances.first().map_or(String::new(), |one| one.kernel.name.clone());
    let (first, second) = (name(family), name(other));
    let seen = |argument: &Argument| {
        let bytes = argument.is_reference.then(|| (argument.element_type.clone(), argument.fields.clone()));
        (argument.name.clone(), argument.index, argument.access, argument.function_constant.clone(), bytes)
    };
    if !family.arguments.iter().map(seen).eq(other.arguments.iter().map(seen)) {
        return Err(format!("'{first}' and '{second}' instantiate one template with different arguments"));
    }
    if family.constants != other.constants {
        return Err(format!(
            "'{first}' and '{second}' instantiate one template but use different function constants: {} against {}",
            list(&family.constants),
            list(&other.constants)
        ));
    }
    Ok(())
}

fn list(constants: &[FunctionConstant]) -> String {
    let names: Vec<&str> = constants.iter().map(|constant| constant.name.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
