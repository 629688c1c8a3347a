//! The metadata of a module with one kernel.
//!
//! An argument of a kernel is a list: its position, its kind, then names before values, in this order:
//!
//! ```text
//! i32 position
//! ["air.function_constant", {ptr predicate, "bool", "name"}]           only if that constant is true
//! "air.buffer" | "air.indirect_buffer"                                  the second for an argument buffer
//!     ["air.buffer_size", i32 size]                                     a reference, to exactly one element, or an
//!                                                                       array parameter: the size of all elements
//!     "air.location_index", i32 index, i32 1
//!     "air.read" | "air.read_write"                                     by const of the pointee
//!     "air.address_space", i32 1 | 2 | 3
//!     ["air.struct_type_info", {field, …}]
//!     "air.arg_type_size", i32, "air.arg_type_align_size", i32
//! | "air.texture", "air.location_index", i32 index, i32 1, "air.sample" | "air.read" | "air.write" | "air.read_write"
//! | "air.sampler", "air.location_index", i32 index, i32 1
//! | "air.visible_function_table", "air.location_index", i32 index, i32 1
//! | "air.thread_position_in_grid" and kin
//! "air.arg_type_name", "float", "air.arg_name", "x"
//! ["air.arg_unused"]
//! ```
//!
//! [`super::structs`] has the fields. Threadgroup arguments, textures and samplers do not occur in `mlx.metallib`: the
//! first are written like other buffers, the others as Apple's compiler does elsewhere.

use super::constants::{Predicates, initializer};
use crate::lower::{AirVersion, Error, Lowering, MathMode, Result};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, GlobalValue, MetadataValue};
use msl::Program;
use msl::program::{Binding, BindingKind, EntryPoint, ExprKind, Function, FunctionId, GlobalId, Local, LocalId};
use msl::reflect::ArgumentBuffers;
use msl::source::{Presumed, SourceMap};
use msl::types::{AddressSpace, Layout, QualTy, Ty, TyKind};
use msl::walk;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;

/// The name of an atomic type, and of the field in it.
pub(crate) const ATOMIC: (&str, &str) = ("metal::_atomic", "__s");

/// An argument that is a visible function table.
pub(crate) const FUNCTION_TABLE: &str = "air.visible_function_table";

/// The mark of an argument that no code uses.
pub(crate) const UNUSED: &str = "air.arg_unused";

/// Lists of our own, which Apple's tools pass over.
pub(crate) const ORIGIN_KERNEL: &CStr = c"metalworks.kernel";
pub(crate) const ORIGIN_CONSTANTS: &CStr = c"metalworks.function_constants";
pub(crate) const ORIGIN_THREADGROUP: &CStr = c"metalworks.threadgroup";

/// Module flags: how modules are linked with others, the flag, its value. 7: the larger value counts.
const FLAGS: [(u64, &str, u64); 8] = [
    (1, "wchar_size", 4),
    (7, "frame-pointer", 2),
    (7, "air.max_device_buffers", 31),
    (7, "air.max_constant_buffers", 31),
    (7, "air.max_threadgroup_buffers", 31),
    (7, "air.max_textures", 128),
    (7, "air.max_read_write_textures", 8),
    (7, "air.max_samplers", 16),
];

/// Adds all metadata of a module whose kernel is `function`, and the globals that these need.
pub(crate) fn emit<'ctx>(
    lowering: &mut Lowering<'ctx, '_>,
    entry: &EntryPoint,
    function: FunctionValue<'ctx>,
    std: (u32, u32),
) -> Result<()> {
    let reached = walk::live(lowering.program, [entry.function], conditions_of(entry));
    let predicates = Predicates::new(lowering, entry.function, &reached, conditions_of(entry))?;
    let threadgroup = msl::reflect::threadgroup_locals(lowering.program, entry.function, &reached.functions);
    for &(function, local) in &threadgroup {
        lowering.threadgroup_variable(function, local)?;
    }
    let nodes = Nodes::new(lowering.context, &lowering.module, lowering.program);
    nodes.module(lowering.math, std)?;
    nodes.kernel(entry, function, &predicates)?;
    nodes.function_constants(&reached)?;
    nodes.origin(function, lowering.sources.map(|sources| (sources, entry)))?;
    for place in threadgroup {
        if let Some(global) = lowering.threadgroup.get(&place) {
            nodes.threadgroup_variable(place, *global)?;
        }
    }
    Ok(())
}

/// The constants that decide whether arguments exist.
fn conditions_of(entry: &EntryPoint) -> impl Iterator<Item = GlobalId> {
    entry.bindings.iter().filter_map(|binding| binding.condition)
}

/// Makes nodes.
pub(super) struct Nodes<'ctx, 'm> {
    pub(super) context: &'ctx Context,
    pub(super) module: &'m Module<'ctx>,
    pub(super) program: &'m Program,
    /// The nodes of structs: one for each, however often it is a member; none while it is made.
    pub(super) structs: RefCell<HashMap<Ty, Option<BasicMetadataValueEnum<'ctx>>>>,
    pub(super) argument_buffers: ArgumentBuffers<'m>,
}

pub(super) type Operands<'ctx> = Vec<BasicMetadataValueEnum<'ctx>>;

impl<'ctx, 'm> Nodes<'ctx, 'm> {
    pub(super) fn new(context: &'ctx Context, module: &'m Module<'ctx>, program: &'m Program) -> Nodes<'ctx, 'm> {
        Nodes {
            context,
            module,
            program,
            structs: RefCell::default(),
            argument_buffers: ArgumentBuffers::new(&program.types),
        }
    }

    /// Nodes that do not depend on the kernel.
    pub(super) fn module(&self, math: MathMode, (major, minor): (u32, u32)) -> Result<()> {
        let flags = "llvm.module.flags";
        // Apple's compiler writes the version of its SDK here; this is the system that the triple is for.
        let number = |value| self.context.i32_type().const_int(value, false);
        let air = AirVersion::of(self.program.std);
        let sdk = self.context.i32_type().const_array(&[number(air.macos.into()), number(0)]);
        self.add(flags, &[self.number(2), self.text("SDK Version"), sdk.into()])?;
        for (behavior, flag, value) in FLAGS {
            self.add(flags, &[self.number(behavior), self.text(flag), self.number(value)])?;
        }
        self.add("llvm.ident", &[self.text("Metalworks")])?;
        self.add("air.version", &[self.number(2), self.number(air.minor.into()), self.number(0)])?;
        let (major, minor) = (self.number(major.into()), self.number(minor.into()));
        self.add("air.language_version", &[self.text("Metal"), major, minor, self.number(0)])?;
        let fast_math = match math {
            MathMode::Fast => "air.compile.fast_math_enable",
            // Fast math assumes that there is no NaN.
            MathMode::Relaxed | MathMode::Safe => "air.compile.fast_math_disable",
        };
        for option in ["air.compile.denorms_disable", fast_math, "air.compile.framebuffer_fetch_enable"] {
            self.add("air.compile_options", &[self.text(option)])?;
        }
        Ok(())
    }

    fn kernel(
        &self,
        entry: &EntryPoint,
        function: FunctionValue<'ctx>,
        predicates: &Predicates<'ctx>,
    ) -> Result<()> {
        let source = self.program.function(entry.function);
        let used = used_locals(source);
        let mut arguments: Operands = Vec::new();
        for (position, binding) in entry.bindings.iter().enumerate() {
            let local = source.locals.get(binding.param.0 as usize);
            let local = local.ok_or_else(|| Error::Internal("a binding has no parameter".into()))?;
            let mut argument = vec![self.number(position as u64)];
            self.condition(binding, predicates, &mut argument);
            self.argument(binding, local, &mut argument)?;
            if !used.contains(&binding.param) {
                argument.push(self.text(UNUSED));
            }
            arguments.push(self.node(&argument));
        }
        let pointer = function.as_global_value().as_pointer_value();
        let mut kernel = vec![pointer.into(), self.node(&[]), self.node(&arguments)];
        if let Some(threads) = entry.max_total_threads {
            kernel.push(self.node(&[self.text("air.max_work_group_size"), self.number(threads.into())]));
        }
        self.add("air.kernel", &kernel)
    }

    fn condition(&self, binding: &Binding, predicates: &Predicates<'ctx>, out: &mut Operands<'ctx>) {
        let Some(condition) = binding.condition else { return };
        let Some(predicate) = predicates.get(condition) else { return };
        let name = self.text(&self.program.global(condition).name);
        let node = self.node(&[predicate.as_pointer_value().into(), self.text("bool"), name]);
        out.extend([self.text("air.function_constant"), node]);
    }

    pub(super) fn argument(&self, binding: &Binding, local: &Local, out: &mut Operands<'ctx>) -> Result<()> {
        let types = &self.program.types;
        let type_name = match &binding.kind {
            BindingKind::Buffer(index) | BindingKind::Threadgroup(index) => {
                let (pointee, is_reference) = match *types.kind(local.ty.ty) {
                    TyKind::Pointer(pointee) => (pointee, false),
                    TyKind::Reference { to, .. } => (to, true),
                    _ => return Err(unsupported("a buffer that is no pointer or reference", local)),
                };
                let bound_size = self.bound_size(binding, pointee.ty, is_reference);
                self.buffer(self.location(*index), pointee, bound_size, out);
                match types.kind(pointee.ty) {
                    TyKind::Atomic(_) => self.type_name(pointee.ty),
                    _ => msl::reflect::element_name(self.program, binding, pointee.ty),
                }
            }
            BindingKind::FunctionTable(index) => {
                out.push(self.text(FUNCTION_TABLE));
                out.extend(self.location(*index));
                types.full_name(local.ty.ty)
            }
            BindingKind::Texture(index) => {
                let (name, access) = texture(&types.name(local.ty.ty));
                out.push(self.text("air.texture"));
                out.extend(self.location(*index));
                out.push(self.text(access));
                name
            }
            BindingKind::Sampler(index) => {
                out.push(self.text("air.sampler"));
                out.extend(self.location(*index));
                "sampler".into()
            }
            BindingKind::Builtin(attribute) => {
                out.push(self.text(&format!("air.{attribute}")));
                types.full_name(local.ty.ty)
            }
            BindingKind::Other(attribute) if attribute.is_empty() => {
                return Err(unsupported("an argument of a graphics function", local));
            }
            // Inputs of intersection functions. No kernel has any.
            BindingKind::Other(attribute) => {
                out.push(self.text(&format!("air.{attribute}")));
                match *types.kind(local.ty.ty) {
                    TyKind::Pointer(to) | TyKind::Reference { to, .. } => {
                        let layout = self.layout(to.ty);
                        self.struct_type_info(to.ty, out);
                        out.extend([self.text("air.arg_type_size"), self.number(layout.size)]);
                        out.extend([self.text("air.arg_type_align_size"), self.number(layout.align)]);
                        types.full_name(to.ty)
                    }
                    _ => types.full_name(local.ty.ty),
                }
            }
        };
        out.extend([self.text("air.arg_type_name"), self.text(&type_name)]);
        out.extend([self.text("air.arg_name"), self.text(&local.name)]);
        Ok(())
    }

    /// The size of the memory behind a parameter, where its type says it: a reference, or an array. An array of one
    /// element has none, since it would read as a reference.
    fn bound_size(&self, binding: &Binding, pointee: Ty, is_reference: bool) -> Option<u64> {
        let size = self.layout(pointee).size;
        match (&binding.kind, binding.array_len) {
            _ if is_reference => Some(size),
            (BindingKind::Buffer(_), Some(len @ 2..)) => size.checked_mul(len),
            _ => None,
        }
    }

    pub(super) fn buffer(
        &self,
        location: [BasicMetadataValueEnum<'ctx>; 3],
        pointee: QualTy,
        bound_size: Option<u64>,
        out: &mut Operands<'ctx>,
    ) {
        let layout = self.layout(pointee.ty);
        let is_indirect =
            pointee.space != Some(AddressSpace::Threadgroup) && self.argument_buffers.is_one(pointee.ty);
        out.push(self.text(if is_indirect { "air.indirect_buffer" } else { "air.buffer" }));
        if let Some(size) = bound_size {
            out.extend([self.text("air.buffer_size"), self.number(size)]);
        }
        out.extend(location);
        let is_read_only = pointee.is_const || pointee.space == Some(AddressSpace::Constant);
        out.push(self.text(if is_read_only { "air.read" } else { "air.read_write" }));
        let space = crate::lower::types::space_number(pointee.space.unwrap_or(AddressSpace::Device));
        out.extend([self.text("air.address_space"), self.number(space.into())]);
        self.struct_type_info(pointee.ty, out);
        out.extend([self.text("air.arg_type_size"), self.number(layout.size)]);
        out.extend([self.text("air.arg_type_align_size"), self.number(layout.align)]);
    }

    fn location(&self, index: u32) -> [BasicMetadataValueEnum<'ctx>; 3] {
        [self.text("air.location_index"), self.number(index.into()), self.number(1)]
    }

    pub(super) fn function_constants(&self, reached: &walk::Reachable) -> Result<()> {
        let program = self.program;
        for &id in &reached.globals {
            let global = program.global(id);
            let Some(constant) = global.function_constant else { continue };
            let pointer = initializer(self.context, self.module, program, id).as_pointer_value();
            let ty = self.text(&program.types.full_name(global.ty.ty));
            let is_used = self.context.bool_type().const_all_ones();
            let index = self.number(constant.index.into());
            self.add(
                "air.function_constants",
                &[pointer.into(), ty, self.text(&global.name), index, is_used.into()],
            )?;
        }
        Ok(())
    }

    /// Facts for reflection that AIR has no place for: the file and line of the kernel, and all function constants of
    /// the program.
    fn origin(&self, function: FunctionValue<'ctx>, source: Option<(&SourceMap, &EntryPoint)>) -> Result<()> {
        for constant in msl::reflect::function_constants(self.program) {
            let mut node =
                vec![self.text(&constant.name), self.text(&constant.ty), self.number(constant.index.into())];
            node.push(self.number(constant.required.into()));
            node.extend(constant.default.as_deref().map(|default| self.text(default)));
            self.add(text_of(ORIGIN_CONSTANTS), &node)?;
        }
        let Some((sources, entry)) = source else { return Ok(()) };
        let Presumed { file, line, .. } = sources.presumed(sources.outermost(entry.span));
        let function = function.as_global_value().as_pointer_value();
        self.add(text_of(ORIGIN_KERNEL), &[function.into(), self.text(file), self.number(line.into())])
    }

    /// The name and type of a variable in threadgroup memory.
    fn threadgroup_variable(&self, place: (FunctionId, LocalId), global: GlobalValue<'ctx>) -> Result<()> {
        let local = &self.program.function(place.0).locals[place.1.0 as usize];
        let ty = self.text(&self.program.types.full_name(local.ty.ty));
        self.add(text_of(ORIGIN_THREADGROUP), &[global.as_pointer_value().into(), self.text(&local.name), ty])
    }

    pub(super) fn type_name(&self, ty: Ty) -> String {
        match self.program.types.kind(ty) {
            TyKind::Atomic(_) => ATOMIC.0.into(),
            _ => self.program.types.full_name(ty),
        }
    }

    pub(super) fn layout(&self, ty: Ty) -> Layout {
        self.program.types.layout(ty).unwrap_or(Layout { size: 0, align: 0 })
    }

    pub(super) fn number(&self, value: u64) -> BasicMetadataValueEnum<'ctx> {
        self.context.i32_type().const_int(value, false).into()
    }

    /// A string; without zeros, which LLVM's interface would cut it at.
    pub(super) fn text(&self, text: &str) -> BasicMetadataValueEnum<'ctx> {
        self.context.metadata_string(&text.replace('\0', "")).into()
    }

    pub(super) fn node(&self, operands: &[BasicMetadataValueEnum<'ctx>]) -> BasicMetadataValueEnum<'ctx> {
        let node: MetadataValue = self.context.metadata_node(operands);
        node.into()
    }

    pub(super) fn add(&self, name: &str, operands: &[BasicMetadataValueEnum<'ctx>]) -> Result<()> {
        let node = self.context.metadata_node(operands);
        self.module.add_global_metadata(name, &node).map_err(|error| Error::Internal(error.to_string()))
    }
}

fn text_of(name: &CStr) -> &str {
    name.to_str().unwrap_or_default()
}

/// The parameters and variables that a body mentions.
fn used_locals(function: &Function) -> BTreeSet<LocalId> {
    let mut used = BTreeSet::new();
    walk::walk_exprs(function.body.as_deref().unwrap_or_default(), &mut |expr| {
        if let ExprKind::Local(id) = expr.kind {
            used.insert(id);
        }
    });
    used
}

/// Apple's name for a texture type, and its access: `texture2d<float, access::write>` is `texture2d<float, write>`.
/// Coherence is left out, since no module of Apple's was at hand that names it.
pub(super) fn texture(name: &str) -> (String, &'static str) {
    let name = &*name.replace(", memory_coherence::memory_coherence_device", "");
    let accesses =
        [("read_write", "air.read_write"), ("write", "air.write"), ("read", "air.read"), ("sample", "air.sample")];
    for (word, access) in accesses {
        if name.contains(&format!("access::{word}>")) {
            return (name.replace("access::", ""), access);
        }
    }
    (name.strip_suffix('>').map_or(name.into(), |name| format!("{name}, sample>")), "air.sample")
}

fn unsupported(what: &str, local: &Local) -> Error {
    Error::Unsupported { what: what.into(), span: local.span }
}
