//! The metadata of modules without a kernel: visible functions, functions of ray tracing and of dynamic libraries.

use super::constants::Predicates;
use super::emit::Nodes;
use crate::lower::{Lowering, Result};
use inkwell::values::FunctionValue;
use msl::program::{FunctionId, GlobalId, IntersectionFunction, VisibleFunction};
use msl::types::Ty;
use msl::walk;

/// Adds the metadata of a module with a visible function:
///
/// ```text
/// !air.visible = {ptr function, {{"air.visible_output", "air.arg_type_name", "float"}}, {input, …}}
/// input: i32 position, "air.visible_input", "air.arg_type_name", "float", "air.arg_name", "x"
/// ```
///
/// as in public output of Apple's compiler.
pub(crate) fn emit_visible<'ctx>(
    lowering: &mut Lowering<'ctx, '_>,
    visible: &VisibleFunction,
    function: FunctionValue<'ctx>,
    std: (u32, u32),
) -> Result<()> {
    linked_module(lowering, visible.function, std)?;
    let program = lowering.program;
    let nodes = Nodes::new(lowering.context, &lowering.module, program);
    let source = program.function(visible.function);
    let name = |ty: Ty| [nodes.text("air.arg_type_name"), nodes.text(&program.types.full_name(ty))];
    let output = [&[nodes.text("air.visible_output")], &name(source.result)[..]].concat();
    let outputs = if source.result == Ty::VOID { Vec::new() } else { vec![nodes.node(&output)] };
    let mut inputs = Vec::new();
    for (position, param) in (0u64..).zip(&source.params) {
        let Some(local) = source.locals.get(param.0 as usize) else { continue };
        let mut input = vec![nodes.number(position), nodes.text("air.visible_input")];
        input.extend(name(local.ty.ty));
        input.extend([nodes.text("air.arg_name"), nodes.text(&local.name)]);
        inputs.push(nodes.node(&input));
    }
    let pointer = function.as_global_value().as_pointer_value();
    nodes.add("air.visible", &[pointer.into(), nodes.node(&outputs), nodes.node(&inputs)])
}

/// Adds the metadata of any function that is linked to kernels, and its function constants.
fn linked_module(lowering: &mut Lowering, function: FunctionId, std: (u32, u32)) -> Result<()> {
    let reached = walk::reachable(lowering.program, [function], []);
    let is_set = |id: &GlobalId| {
        let global = lowering.program.global(*id);
        global.function_constant.is_some() || global.init.is_some()
    };
    if reached.globals.iter().any(is_set) {
        Predicates::new(lowering, function, &reached, [])?;
    }
    let nodes = Nodes::new(lowering.context, &lowering.module, lowering.program);
    nodes.module(lowering.math, std)?;
    nodes.function_constants(&reached)
}

/// Adds the metadata of a module with a function of a dynamic library.
pub(crate) fn emit_export(lowering: &mut Lowering, function: FunctionId, std: (u32, u32)) -> Result<()> {
    linked_module(lowering, function, std)
}

/// Adds the metadata of a module with a function of ray tracing:
///
/// ```text
/// !air.intersection = {ptr function, {output, …}, {argument, …}, "air.bounding_box", "air.instancing", …}
/// output: "air.accept_intersection", "air.arg_type_name", "bool", "air.arg_name", "accept"
/// ```
///
/// as in public output of Apple's compiler. Arguments are those of kernels, and `air.origin` and kin.
pub(crate) fn emit_intersection<'ctx>(
    lowering: &mut Lowering<'ctx, '_>,
    intersection: &IntersectionFunction,
    function: FunctionValue<'ctx>,
    std: (u32, u32),
) -> Result<()> {
    let program = lowering.program;
    let entry = &program.entry_points[intersection.entry];
    linked_module(lowering, entry.function, std)?;
    let nodes = Nodes::new(lowering.context, &lowering.module, program);
    let source = program.function(entry.function);
    let fields = program.types.struct_id(source.result).map(|id| &program.types.struct_(id).fields[..]);
    let mut outputs = Vec::new();
    for (index, word) in intersection.outputs.iter().enumerate() {
        let (ty, name) = match fields.map(|fields| fields.get(index)) {
            Some(Some(field)) => (field.ty.ty, &*field.name),
            Some(None) => continue,
            None => (source.result, ""),
        };
        let mut output = vec![nodes.text(&format!("air.{word}"))];
        output.extend([nodes.text("air.arg_type_name"), nodes.text(&program.types.full_name(ty))]);
        if !name.is_empty() {
            output.extend([nodes.text("air.arg_name"), nodes.text(name)]);
        }
        outputs.push(nodes.node(&output));
    }
    let mut arguments = Vec::new();
    for (position, binding) in (0u64..).zip(&entry.bindings) {
        let Some(local) = source.locals.get(binding.param.0 as usize) else { continue };
        let mut argument = vec![nodes.number(position)];
        nodes.argument(binding, local, &mut argument)?;
        arguments.push(nodes.node(&argument));
    }
    let pointer = function.as_global_value().as_pointer_value();
    let mut node = vec![pointer.into(), nodes.node(&outputs), nodes.node(&arguments)];
    node.extend(intersection.tags.iter().map(|tag| nodes.text(&format!("air.{tag}"))));
    nodes.add("air.intersection", &node)
}
