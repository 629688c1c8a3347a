//! Function constants in a module.
//!
//! ```text
//! @_Z9has_batch.MTL_FC_INIT_10_b   constant without a value, in section air.fc_initializer: the host's value goes here
//! @_ZL9has_batch                   the variable that the code of a library reads
//! @__metal_implicit_fc_pred_0      i8 0: whether an argument exists; metadata of the argument point to it
//! @llvm.compiler.used              keeps these
//! @llvm.global_ctors               the static initializer, or none
//! static initializer               in section air.static_init: copies the host's values into the variables,
//!                                  pred_0 = normalize_function_constant_predicate(has_batch)
//! ```
//!
//! That is Apple's form, and that of our libraries. In a module that is compiled at once there are no variables: the
//! code reads the constants themselves, and the static initializer sets the predicates only. A condition that is
//! computed from function constants is computed in it. So are other constants that are computed from function
//! constants, unless by loops.
//!
//! The name of the global tells the linker the index and the type, mangled as in the Itanium C++ ABI. Only `b` and `i`
//! occur in `mlx.metallib`; the other letters are those of Apple's mangled function names.

use super::objects;
use crate::lower::{Error, Lowering, Result};
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, InstructionValue, PointerValue, UnnamedAddress,
};
use msl::Program;
use msl::program::{FunctionId, GlobalId, StmtKind};
use msl::types::{FloatKind, IntKind, QualTy, Ty, TyKind, Types};
use msl::walk::{self, Reachable};
use std::collections::BTreeSet;

const CONSTANT_SPACE: u16 = 2;
const STATIC_INIT: &str = "_GLOBAL__sub_I_metalworks";
const STATIC_INIT_SECTION: &str = "air.static_init";
const NORMALIZE: &str = "air.normalize_function_constant_predicate.i8";

/// The variable from which code reads a function constant; a `bool` is a byte.
pub(crate) fn function_constant_global<'ctx>(
    lowering: &Lowering<'ctx, '_>,
    id: GlobalId,
) -> Result<PointerValue<'ctx>> {
    match lowering.is_for_library {
        true => Ok(variable(lowering, id)?.as_pointer_value()),
        false => Ok(host_value(lowering, id)),
    }
}

/// The constant with the host's value.
pub(crate) fn host_value<'ctx>(lowering: &Lowering<'ctx, '_>, id: GlobalId) -> PointerValue<'ctx> {
    initializer(lowering.context, &lowering.module, lowering.program, id).as_pointer_value()
}

/// True if the static initializer computes a constant from function constants, which code then reads from a variable.
/// Others are computed where they are used.
pub(crate) fn is_set_at_start(lowering: &Lowering, id: GlobalId) -> bool {
    lowering.program.global(id).init.is_some() && !has_loops(lowering.program, id)
}

/// True if a constant is computed by code with loops, which LLVM does not evaluate over memory.
fn has_loops(program: &Program, id: GlobalId) -> bool {
    let reached = walk::reachable(program, [], [id]);
    let mut found = false;
    for function in reached.functions {
        let body = program.function(function).body.as_deref().unwrap_or_default();
        walk::walk_stmts(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Loop { .. }));
    }
    found
}

/// The copy of a function constant, or of one computed from them, that code reads; made the first time.
pub(crate) fn variable<'ctx>(lowering: &Lowering<'ctx, '_>, id: GlobalId) -> Result<GlobalValue<'ctx>> {
    let (program, module) = (lowering.program, &lowering.module);
    let name = mangled_internal(&program.global(id).name);
    if let Some(global) = module.get_global(&name) {
        return Ok(global);
    }
    let ty = program.global(id).ty.ty;
    let memory = objects::object_type(lowering, ty)?;
    let global = module.add_global(memory, Some(AddressSpace::from(CONSTANT_SPACE)), &name);
    global.set_linkage(Linkage::Internal);
    global.set_unnamed_address(UnnamedAddress::Global);
    global.set_initializer(&undef(memory));
    let align = program.types.layout(ty).map_or(1, |layout| layout.align);
    global.set_alignment(align.max(program.global(id).min_align) as u32);
    Ok(global)
}

/// The global of a function constant; made the first time.
pub(super) fn initializer<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    program: &Program,
    id: GlobalId,
) -> GlobalValue<'ctx> {
    let name = initializer_name(program, id);
    if let Some(global) = module.get_global(&name) {
        return global;
    }
    let ty = program.global(id).ty.ty;
    let memory = memory_type(context, &program.types, ty);
    let global = module.add_global(memory, Some(AddressSpace::from(CONSTANT_SPACE)), &name);
    global.set_linkage(Linkage::Internal);
    global.set_unnamed_address(UnnamedAddress::Global);
    global.set_externally_initialized(true);
    global.set_constant(true);
    global.set_initializer(&undef(memory));
    global.set_section(Some("air.fc_initializer"));
    global.set_alignment(program.types.layout(ty).map_or(1, |layout| layout.align as u32));
    global
}

/// `_Z9has_batch.MTL_FC_INIT_10_b`
fn initializer_name(program: &Program, id: GlobalId) -> String {
    let global = program.global(id);
    let index = global.function_constant.map_or(0, |constant| constant.index);
    format!("{}.MTL_FC_INIT_{index}_{}", mangled(&global.name), type_code(&program.types, global.ty.ty))
}

/// The name of a variable as the Itanium C++ ABI mangles it: `_Z1a`, `_ZN2ns1aE`.
fn mangled(name: &str) -> String {
    let parts: Vec<&str> = name.split("::").filter(|part| !part.is_empty()).collect();
    let encoded: String = parts.iter().map(|part| format!("{}{part}", part.len())).collect();
    if parts.len() > 1 { format!("_ZN{encoded}E") } else { format!("_Z{encoded}") }
}

/// The name of a variable that only its file sees: `_ZL1a`, `_ZN2nsL1aE`.
fn mangled_internal(name: &str) -> String {
    let parts: Vec<&str> = name.split("::").filter(|part| !part.is_empty()).collect();
    let Some((last, outer)) = parts.split_last() else { return "_ZL".into() };
    let last = format!("L{}{last}", last.len());
    let outer: String = outer.iter().map(|part| format!("{}{part}", part.len())).collect();
    if outer.is_empty() { format!("_Z{last}") } else { format!("_ZN{outer}{last}E") }
}

/// A type as the Itanium C++ ABI mangles it.
fn type_code(types: &Types, ty: Ty) -> String {
    match types.kind(ty) {
        TyKind::Int(kind) => match kind {
            IntKind::Char => "c",
            IntKind::UChar => "h",
            IntKind::Short => "s",
            IntKind::UShort => "t",
            IntKind::Int => "i",
            IntKind::UInt => "j",
            IntKind::Long => "l",
            IntKind::ULong => "m",
        }
        .into(),
        TyKind::Float(kind) => match kind {
            FloatKind::Half => "Dh",
            FloatKind::BFloat => "DF16b",
            FloatKind::Float => "f",
        }
        .into(),
        TyKind::Vector { element, len } => format!("Dv{len}_{}", type_code(types, *element)),
        TyKind::Enum(id) => type_code(types, types.enum_(*id).underlying),
        _ => "b".into(),
    }
}

/// The type in memory of a function constant: a scalar or a vector.
fn memory_type<'ctx>(context: &'ctx Context, types: &Types, ty: Ty) -> BasicTypeEnum<'ctx> {
    match types.kind(ty) {
        TyKind::Int(kind) => match kind.bits() {
            8 => context.i8_type().into(),
            16 => context.i16_type().into(),
            32 => context.i32_type().into(),
            _ => context.i64_type().into(),
        },
        TyKind::Float(FloatKind::Half) => context.f16_type().into(),
        TyKind::Float(FloatKind::BFloat) => context.bf16_type().into(),
        TyKind::Float(FloatKind::Float) => context.f32_type().into(),
        TyKind::Vector { element, len } => match memory_type(context, types, *element) {
            BasicTypeEnum::FloatType(element) => element.vec_type(u32::from(*len)).into(),
            BasicTypeEnum::IntType(element) => element.vec_type(u32::from(*len)).into(),
            other => other,
        },
        TyKind::Enum(id) => memory_type(context, types, types.enum_(*id).underlying),
        _ => context.i8_type().into(),
    }
}

fn undef(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    match ty {
        BasicTypeEnum::FloatType(ty) => ty.get_undef().into(),
        BasicTypeEnum::IntType(ty) => ty.get_undef().into(),
        BasicTypeEnum::VectorType(ty) => ty.get_undef().into(),
        BasicTypeEnum::ArrayType(ty) => ty.get_undef().into(),
        BasicTypeEnum::StructType(ty) => ty.get_undef().into(),
        BasicTypeEnum::PointerType(ty) => ty.get_undef().into(),
        other => other.const_zero(),
    }
}

/// The globals that say whether arguments exist, one for each condition.
pub(crate) struct Predicates<'ctx> {
    globals: Vec<(GlobalId, GlobalValue<'ctx>)>,
}

impl<'ctx> Predicates<'ctx> {
    /// Makes them for these conditions, together with the static initializer that sets them and, in a library, the
    /// copies of the function constants that the kernel reaches.
    pub(crate) fn new(
        lowering: &mut Lowering<'ctx, '_>,
        kernel: FunctionId,
        reached: &Reachable,
        conditions: impl IntoIterator<Item = GlobalId>,
    ) -> Result<Predicates<'ctx>> {
        let mut predicates = Predicates { globals: Vec::new() };
        for condition in conditions {
            if predicates.get(condition).is_none() {
                let global = predicates.add(lowering.context, &lowering.module);
                predicates.globals.push((condition, global));
            }
        }
        if !predicates.globals.is_empty() {
            let globals: Vec<_> = predicates.globals.iter().map(|(_, global)| *global).collect();
            keep(lowering.context, &lowering.module, &globals);
        }
        let is_copied = |id: &GlobalId| {
            let is_constant = lowering.program.global(*id).function_constant.is_some();
            lowering.is_for_library && is_constant || is_set_at_start(lowering, *id)
        };
        let mut copied = Vec::new();
        let meant: BTreeSet<GlobalId> = reached.globals.iter().copied().filter(is_copied).collect();
        let mut seen = BTreeSet::new();
        meant.iter().for_each(|id| in_order(lowering.program, *id, &mut seen, &mut copied));
        copied.retain(|id| meant.contains(id));
        let mut initializer = None;
        if !predicates.globals.is_empty() || !copied.is_empty() {
            initializer = Some(static_initializer(lowering, kernel, &copied, &predicates)?);
        }
        constructors(lowering.context, &lowering.module, initializer);
        Ok(predicates)
    }

    /// The predicate for a condition.
    pub(super) fn get(&self, condition: GlobalId) -> Option<GlobalValue<'ctx>> {
        self.globals.iter().find(|(id, _)| *id == condition).map(|(_, global)| *global)
    }

    fn add(&self, context: &'ctx Context, module: &Module<'ctx>) -> GlobalValue<'ctx> {
        let name = format!("__metal_implicit_fc_pred_{}", self.globals.len());
        let byte = context.i8_type();
        let global = module.add_global(byte, Some(AddressSpace::from(CONSTANT_SPACE)), &name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&byte.const_zero());
        global.set_alignment(1);
        global
    }
}

/// Adds a constant to a list, after those that it is computed from.
fn in_order(program: &Program, id: GlobalId, seen: &mut BTreeSet<GlobalId>, list: &mut Vec<GlobalId>) {
    if !seen.insert(id) {
        return;
    }
    for before in walk::reachable(program, [], [id]).globals {
        in_order(program, before, seen, list);
    }
    list.push(id);
}

/// The function that runs before a kernel does: it copies function constants and sets the predicates.
fn static_initializer<'ctx>(
    lowering: &mut Lowering<'ctx, '_>,
    kernel: FunctionId,
    copied: &[GlobalId],
    predicates: &Predicates<'ctx>,
) -> Result<FunctionValue<'ctx>> {
    let ty = lowering.context.void_type().fn_type(&[], false);
    let function = lowering.module.add_function(STATIC_INIT, ty, Some(Linkage::Internal));
    function.set_section(Some(STATIC_INIT_SECTION));
    lowering.synthesize(function, kernel, |lowering| {
        for &id in copied {
            let global = lowering.program.global(id);
            let place = variable(lowering, id)?.as_pointer_value();
            match &global.init {
                Some(init) if !lowering.is_register(global.ty.ty) => {
                    let object = lowering.alloca(global.ty.ty)?;
                    lowering.initialize(object, init, QualTy::plain(init.ty.ty))?;
                    objects::copy(lowering, global.ty.ty, place, object)?;
                }
                Some(init) if global.function_constant.is_none() => {
                    lowering.initialize(place, init, QualTy::plain(init.ty.ty))?
                }
                _ => {
                    let value = lowering.load(host_value(lowering, id), global.ty)?;
                    lowering.store(place, global.ty, value)?;
                }
            }
        }
        for (condition, predicate) in &predicates.globals {
            set(lowering, *condition, *predicate)?;
        }
        Ok(())
    })?;
    Ok(function)
}

/// Code that sets a predicate. The condition may be computed from function constants.
fn set<'ctx>(lowering: &mut Lowering<'ctx, '_>, condition: GlobalId, predicate: GlobalValue<'ctx>) -> Result<()> {
    let byte = lowering.context.i8_type();
    let source = lowering.global(condition)?;
    let value = lowering.builder.build_load(byte, source, "")?;
    if let Some(load) = value.as_instruction_value() {
        set_bool_range(lowering.context, load)?;
    }
    let normalize = lowering
        .module
        .get_function(NORMALIZE)
        .unwrap_or_else(|| lowering.module.add_function(NORMALIZE, byte.fn_type(&[byte.into()], false), None));
    let call = lowering.builder.build_call(normalize, &[value.into()], "")?;
    let normalized = call.try_as_basic_value().basic().ok_or_else(|| internal("a call has no value"))?;
    lowering.builder.build_store(predicate.as_pointer_value(), normalized)?;
    Ok(())
}

/// A `bool` in memory is 0 or 1.
fn set_bool_range<'ctx>(context: &'ctx Context, load: InstructionValue<'ctx>) -> Result<()> {
    let byte = context.i8_type();
    let range = context.metadata_node(&[byte.const_int(0, false).into(), byte.const_int(2, false).into()]);
    load.set_metadata(range, context.get_kind_id("range")).map_err(|_| internal("a load takes no metadata"))
}

/// `llvm.global_ctors` with this function in it; Apple's modules have it even if it is empty.
fn constructors<'ctx>(context: &'ctx Context, module: &Module<'ctx>, function: Option<FunctionValue<'ctx>>) {
    let (number, pointer) = (context.i32_type(), context.ptr_type(AddressSpace::default()));
    let entry_type = context.struct_type(&[number.into(), pointer.into(), pointer.into()], false);
    let entries: Vec<_> = function
        .into_iter()
        .map(|function| {
            let function = function.as_global_value().as_pointer_value();
            let priority = number.const_int(65535, false);
            entry_type.const_named_struct(&[priority.into(), function.into(), pointer.const_null().into()])
        })
        .collect();
    let list = entry_type.const_array(&entries);
    let global = module.add_global(list.get_type(), None, "llvm.global_ctors");
    global.set_linkage(Linkage::Appending);
    global.set_initializer(&list);
}

/// `llvm.compiler.used`: globals that no code mentions, but metadata do.
fn keep<'ctx>(context: &'ctx Context, module: &Module<'ctx>, globals: &[GlobalValue<'ctx>]) {
    let pointer = context.ptr_type(AddressSpace::default());
    let casts: Vec<_> =
        globals.iter().map(|global| global.as_pointer_value().const_address_space_cast(pointer)).collect();
    let list = pointer.const_array(&casts);
    let global = module.add_global(list.get_type(), None, "llvm.compiler.used");
    global.set_linkage(Linkage::Appending);
    global.set_section(Some("llvm.metadata"));
    global.set_initializer(&list);
}

fn internal(what: &str) -> Error {
    Error::Internal(what.into())
}
