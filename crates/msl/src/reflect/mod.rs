//! The interface of kernels for a host: arguments and their bindings, function constants, threadgroup memory.
//!
//! Everything is in the order of the source, except function constants, which are sorted by index.

mod argument_buffers;
mod arguments;
mod constants;
mod specialize;
#[cfg(test)]
mod tests;

pub use argument_buffers::{ArgumentBuffers, Ids, Resource};
pub use arguments::element_name;
pub use specialize::specialize;

use crate::parse::ast::Stage;
use crate::program::{BindingKind, EntryPoint, ExprKind, Function, FunctionId, LocalId, Program};
use crate::source::SourceMap;
use crate::types::{AddressSpace, Layout};
use crate::walk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All that a host can call or set in a program.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Reflection {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Vertex, fragment and other functions that a host can ask for.
    pub functions: Vec<OtherFunction>,
    /// The function constants, by index.
    pub function_constants: Vec<FunctionConstant>,
}

/// A kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// The name that the host uses.
    pub name: String,
    /// Arguments that the host binds, in the order of the parameters.
    pub arguments: Vec<Argument>,
    /// Built-in values: positions and sizes.
    pub builtins: Vec<Builtin>,
    /// The indices of the function constants that it depends on, through its code, the globals that this reads, and
    /// the conditions of its arguments.
    pub function_constants: Vec<u32>,
    /// The threadgroup variables of the kernel and of the functions that it reaches.
    pub threadgroup_memory: Vec<ThreadgroupVariable>,
    /// The bytes that these take one after the other, each at its alignment. Arguments in threadgroup memory come
    /// on top.
    pub static_threadgroup_memory: u64,
    /// `[[max_total_threads_per_threadgroup(n)]]`
    pub max_total_threads_per_threadgroup: Option<u32>,
    /// The file that defines or instantiates it; for one that comes from a macro, the file that uses the macro.
    pub file: String,
    /// The line there, from 1. Both as `#line` has them.
    pub line: u32,
}

/// A function that is not a kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OtherFunction {
    /// The name that the host uses.
    pub name: String,
    /// `vertex`, `fragment`, `visible` or `other`.
    pub stage: String,
}

/// An argument that the host binds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// Kind of resource.
    pub kind: ArgumentKind,
    /// The index within its kind; 0 for [`ArgumentKind::Other`].
    pub index: u32,
    /// The parameter's type: `const device float *`; see [`pointer_type`].
    #[serde(rename = "type")]
    pub ty: String,
    /// The address space that the parameter points to; empty for textures, samplers and others that are no pointers.
    pub address_space: String,
    /// Access of the kernel to it.
    pub access: Access,
    /// Type behind the parameter's pointer, without qualifiers; the parameter's type where that is no pointer.
    pub element_type: String,
    /// The size of an element in bytes; 0 where it has none, such as a texture.
    pub element_size: u64,
    /// The alignment of an element in bytes; 0 where it has none.
    pub element_align: u64,
    /// The parameter is a reference: exactly one element is bound.
    pub is_reference: bool,
    /// Number of elements of a parameter that is written as an array of several: 3 for `constant long strides[3]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_length: Option<u64>,
    /// The fields of an element that is a struct, those of base classes and unnamed members included.
    pub fields: Vec<FieldInfo>,
    /// The function constant without which the argument does not exist.
    pub function_constant: Option<String>,
    /// The kernel uses it. An argument that is not used needs no binding. Known for specialized kernels; the front end
    /// alone, which does not optimize, says `true`.
    #[serde(default = "used", skip_serializing_if = "is_used")]
    pub is_used: bool,
}

/// Descriptions that do not say otherwise are of arguments that are used.
fn used() -> bool {
    true
}

fn is_used(is_used: &bool) -> bool {
    *is_used
}

/// Kind of resource behind an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentKind {
    /// `[[buffer(n)]]`
    Buffer,
    /// `[[threadgroup(n)]]`
    #[serde(rename = "threadgroup")]
    ThreadgroupMemory,
    /// `[[texture(n)]]`
    Texture,
    /// `[[sampler(n)]]`
    Sampler,
    /// `[[buffer(n)]]` of a `visible_function_table`.
    VisibleFunctionTable,
    /// `[[stage_in]]` and the like.
    Other,
}

/// Access of a kernel to an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// Both.
    ReadWrite,
}

/// A field of a struct that an argument points to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FieldInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its place in the element, in bytes; for a bit-field that of the aligned unit of its type that holds it.
    pub offset: u64,
    /// Its size in bytes; 0 where it has none.
    pub size: u64,
    /// Its id, if the struct is an argument buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
}

/// A parameter that Metal provides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Builtin {
    /// The parameter's name.
    pub name: String,
    /// The attribute's name: `thread_position_in_grid`.
    pub attribute: String,
    /// The parameter's type.
    #[serde(rename = "type")]
    pub ty: String,
}

/// A function constant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FunctionConstant {
    /// Its name.
    pub name: String,
    /// The index in `[[function_constant(index)]]`.
    pub index: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Value that the program takes if it is not set: the constant `d` of a global that is initialized with
    /// `is_function_constant_defined(c) ? c : d`.
    pub default: Option<String>,
    /// No code tests `is_function_constant_defined(it)`. Uses outside of such a test are not examined.
    pub required: bool,
}

/// A variable in threadgroup memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThreadgroupVariable {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u64,
}

/// The type of a parameter that points to memory: `const device float *`, `constant mlx::steel::GEMMParams &`. For
/// constant memory, `const` is left out.
pub fn pointer_type(element: &str, space: &str, access: Access, is_reference: bool) -> String {
    let qualifier = if access == Access::Read && space != "constant" { "const " } else { "" };
    let declarator = if is_reference { "&" } else { "*" };
    format!("{qualifier}{space} {element} {declarator}")
}

/// Describes `program`.
pub fn reflect(program: &Program, sources: &SourceMap) -> Reflection {
    let others = program.entry_points.iter().filter(|entry| entry.stage != Stage::Kernel);
    let others = others.map(|entry| (&entry.name, stage(entry.stage)));
    let visible = program.visible_functions.iter().map(|function| (&function.name, "visible"));
    Reflection {
        kernels: program.kernels().map(|entry| kernel(program, sources, entry)).collect(),
        functions: others
            .chain(visible)
            .map(|(name, stage)| OtherFunction { name: name.to_string(), stage: stage.into() })
            .collect(),
        function_constants: function_constants(program).to_vec(),
    }
}

/// The function constants of `program`, by index.
pub fn function_constants(program: &Program) -> &[FunctionConstant] {
    program.function_constants.get_or_init(|| constants::function_constants(program))
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Kernel => "kernel",
        Stage::Vertex => "vertex",
        Stage::Fragment => "fragment",
        Stage::Other => "other",
    }
}

fn kernel(program: &Program, sources: &SourceMap, entry: &EntryPoint) -> Kernel {
    let function = program.function(entry.function);
    let conditions = entry.bindings.iter().filter_map(|binding| binding.condition);
    let reached = walk::live(program, [entry.function], conditions);
    let constants: BTreeSet<u32> = reached
        .globals
        .iter()
        .filter_map(|&id| program.global(id).function_constant)
        .map(|constant| constant.index)
        .collect();
    let (threadgroup_memory, static_threadgroup_memory) =
        threadgroup_memory(program, entry.function, &reached.functions);
    let place = sources.presumed(sources.outermost(entry.span));
    Kernel {
        name: entry.name.to_string(),
        arguments: entry
            .bindings
            .iter()
            .filter_map(|binding| arguments::argument(program, function, binding))
            .collect(),
        builtins: builtins(program, function, entry),
        function_constants: constants.into_iter().collect(),
        threadgroup_memory,
        static_threadgroup_memory,
        max_total_threads_per_threadgroup: entry.max_total_threads,
        file: place.file.into(),
        line: place.line,
    }
}

fn builtins(program: &Program, function: &Function, entry: &EntryPoint) -> Vec<Builtin> {
    let builtin = |binding: &crate::program::Binding| {
        let BindingKind::Builtin(attribute) = &binding.kind else { return None };
        let local = function.locals.get(binding.param.0 as usize)?;
        Some(Builtin {
            name: local.name.to_string(),
            attribute: attribute.to_string(),
            ty: program.types.full_name(local.ty.ty),
        })
    };
    entry.bindings.iter().filter_map(builtin).collect()
}

/// The threadgroup variables, and the memory that they take.
fn threadgroup_memory(
    program: &Program,
    kernel: FunctionId,
    reached: &BTreeSet<FunctionId>,
) -> (Vec<ThreadgroupVariable>, u64) {
    let mut variables = Vec::new();
    let mut total = 0u64;
    for (function, local) in threadgroup_locals(program, kernel, reached) {
        let local = &program.function(function).locals[local.0 as usize];
        let layout = program.types.layout(local.ty.ty).unwrap_or(Layout { size: 0, align: 1 });
        total = layout.align_up(total).saturating_add(layout.size);
        variables.push(ThreadgroupVariable {
            name: local.name.to_string(),
            ty: program.types.full_name(local.ty.ty),
            size: layout.size,
            align: layout.align,
        });
    }
    (variables, total)
}

/// The threadgroup variables that a kernel mentions, its own first, then those of the functions that it reaches. One
/// that no code mentions takes no memory.
pub fn threadgroup_locals(
    program: &Program,
    kernel: FunctionId,
    reached: &BTreeSet<FunctionId>,
) -> Vec<(FunctionId, LocalId)> {
    let others = reached.iter().copied().filter(|&id| id != kernel);
    let mut found = Vec::new();
    for id in std::iter::once(kernel).chain(others) {
        let function = program.function(id);
        let own = function.locals.iter().enumerate().skip(function.params.len());
        let own = own.filter(|(_, local)| local.space == AddressSpace::Threadgroup);
        let excluded = walk::excluded_locals(function.body.as_deref().unwrap_or_default());
        let own = own.map(|(index, _)| LocalId(index as u32)).filter(|local| !excluded.contains(local));
        let own: Vec<LocalId> = own.collect();
        if own.is_empty() {
            continue;
        }
        let mut mentioned = BTreeSet::new();
        walk::walk_exprs(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Local(id) = expr.kind {
                mentioned.insert(id);
            }
        });
        found.extend(own.into_iter().filter(|local| mentioned.contains(local)).map(|local| (id, local)));
    }
    found
}
