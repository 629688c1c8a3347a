//! Functions: entry points with their AIR signature, and those that they call.

use super::symbols::symbol;
use super::types::space_number;
use super::{Error, Lowering, Result};
use inkwell::AddressSpace as LlvmSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, PointerType};
use inkwell::values::{BasicValueEnum, FunctionValue, GlobalValue, PointerValue};
use msl::program::{BindingKind, EntryPoint, Function, FunctionId, LocalId, VisibleFunction};
use msl::types::{AddressSpace, Ty};

/// The function whose body is being lowered.
pub(crate) struct Frame<'ctx, 'p> {
    pub(crate) value: FunctionValue<'ctx>,
    pub(crate) source: &'p Function,
    pub(crate) id: FunctionId,
    /// The memory of each variable; `None` until it is declared.
    pub(crate) locals: Vec<Option<PointerValue<'ctx>>>,
    /// The memory for a result that is no register type.
    pub(crate) result: Option<PointerValue<'ctx>>,
    /// The targets of `break` and `continue`, innermost last; a switch has no `continue`.
    pub(crate) targets: Vec<(BasicBlock<'ctx>, Option<BasicBlock<'ctx>>)>,
    /// Pragmas about floating point in force, the latest last.
    pub(crate) fp_pragmas: Vec<&'p str>,
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// The kernel itself, with its body.
    pub(super) fn entry_point(&mut self, entry: &EntryPoint) -> Result<()> {
        let source = self.program.function(entry.function);
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        for binding in &entry.bindings {
            let local = &source.locals[binding.param.0 as usize];
            let what = match binding.kind {
                BindingKind::Buffer(_) | BindingKind::Threadgroup(_) | BindingKind::Builtin(_) => None,
                BindingKind::FunctionTable(_) => {
                    let space = LlvmSpace::from(space_number(AddressSpace::Device));
                    params.push(self.context.ptr_type(space).into());
                    continue;
                }
                BindingKind::Texture(_) => Some("a texture argument"),
                BindingKind::Sampler(_) => Some("a sampler argument"),
                BindingKind::Other(_) => Some("an argument of a graphics function"),
            };
            if let Some(what) = what {
                return Err(Error::Unsupported { what: what.into(), span: local.span });
            }
            if !self.is_register(local.ty.ty) {
                let what = format!("an argument of type '{}'", self.program.types.name(local.ty.ty));
                return Err(Error::Unsupported { what, span: local.span });
            }
            self.here = local.span;
            params.push(self.register_type(local.ty.ty)?.into());
        }
        self.here = source.span;
        let ty = self.context.void_type().fn_type(&params, false);
        let value = self.module.add_function(&entry.name, ty, None);
        let position = self.enter_function(value, Some((&entry.name, source.span)));
        self.body(value, entry.function, 0)?;
        self.leave_function(position);
        let std = self.program.std;
        crate::metadata::emit(self, entry, value, (std.major, std.minor))?;
        Ok(())
    }

    /// A function that a host links to kernels.
    pub(super) fn visible_function(&mut self, function: &VisibleFunction) -> Result<()> {
        let value = self.linked_function(function.function, &function.name)?;
        let std = self.program.std;
        crate::metadata::emit_visible(self, function, value, (std.major, std.minor))
    }

    /// A function that kernels of other libraries call.
    pub(super) fn export(&mut self, id: FunctionId) -> Result<()> {
        self.linked_function(id, &symbol(self.program, id))?;
        let std = self.program.std;
        crate::metadata::emit_export(self, id, (std.major, std.minor))
    }

    fn linked_function(&mut self, id: FunctionId, name: &str) -> Result<FunctionValue<'ctx>> {
        self.linked = Some((id, name.into()));
        self.function(id)
    }

    /// The LLVM function for `id`; its body is lowered the first time.
    pub(super) fn function(&mut self, id: FunctionId) -> Result<FunctionValue<'ctx>> {
        if let Some(value) = self.functions.get(&id) {
            return Ok(*value);
        }
        let source = self.program.function(id);
        let in_memory = source.result != Ty::VOID && !self.is_register(source.result);
        let thread = self.thread_pointer();
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        if in_memory {
            params.push(thread.into());
        }
        for param in &source.params {
            let ty = source.locals[param.0 as usize].ty.ty;
            params.push(match self.is_register(ty) {
                true => self.register_type(ty)?.into(),
                false => thread.into(),
            });
        }
        let ty = match source.result {
            Ty::VOID => self.context.void_type().fn_type(&params, false),
            _ if in_memory => self.context.void_type().fn_type(&params, false),
            result => self.register_type(result)?.fn_type(&params, false),
        };
        if self.may_import && source.body.is_none() && self.program.external_functions.binary_search(&id).is_ok() {
            let value = self.module.add_function(&symbol(self.program, id), ty, None);
            // It may have a barrier in it.
            for name in ["convergent", "nounwind"] {
                let kind = Attribute::get_named_enum_kind_id(name);
                value.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
            }
            self.functions.insert(id, value);
            return Ok(value);
        }
        let value = match &self.linked {
            Some((linked, name)) if *linked == id => self.module.add_function(name, ty, None),
            _ => {
                let name = source.name.replace(|c: char| !(c.is_alphanumeric() || c == '_'), "_");
                let name = format!("{name}.{}", id.0);
                let value = self.module.add_function(&name, ty, Some(Linkage::Internal));
                let inline = if source.no_inline { "noinline" } else { "alwaysinline" };
                let kind = Attribute::get_named_enum_kind_id(inline);
                value.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
                value
            }
        };
        self.functions.insert(id, value);
        if source.body.is_none() && source.builtin.is_none() {
            let what = format!("a call of '{}', which is declared and never defined,", source.name);
            return Err(Error::Unsupported { what, span: source.span });
        }
        let here = self.builder.get_insert_block();
        let frame = self.frame.take();
        let position = self.enter_function(value, Some((&source.name, source.span)));
        match source.builtin {
            None => self.body(value, id, usize::from(in_memory))?,
            Some(_) => self.builtin_body(value, id, usize::from(in_memory))?,
        }
        self.leave_function(position);
        self.frame = frame;
        if let Some(block) = here {
            self.builder.position_at_end(block);
        }
        Ok(value)
    }

    /// The body of a function of the library that is used as a value.
    fn builtin_body(&mut self, value: FunctionValue<'ctx>, id: FunctionId, first_param: usize) -> Result<()> {
        let source = self.program.function(id);
        let result = (first_param == 1).then(|| value.get_nth_param(0).expect("a result").into_pointer_value());
        self.begin(value, id, result)?;
        let arguments: Vec<BasicValueEnum<'ctx>> = value.get_param_iter().skip(first_param).collect();
        match self.builtin(source, &arguments, result, source.span)?.filter(|_| first_param == 0) {
            Some(result) if source.result != Ty::VOID => self.builder.build_return(Some(&result))?,
            _ => self.builder.build_return(None)?,
        };
        Ok(())
    }

    fn body(&mut self, value: FunctionValue<'ctx>, id: FunctionId, first_param: usize) -> Result<()> {
        let source = self.program.function(id);
        let result = (first_param == 1).then(|| value.get_nth_param(0).expect("a result").into_pointer_value());
        self.begin(value, id, result)?;
        for (index, param) in source.params.iter().enumerate() {
            let argument = value.get_nth_param((first_param + index) as u32).expect("an argument");
            let ty = source.locals[param.0 as usize].ty;
            if self.is_register(ty.ty) {
                let place = self.alloca(ty.ty)?;
                self.store(place, ty, argument)?;
                self.frame_mut().locals[param.0 as usize] = Some(place);
            } else if argument.into_pointer_value().get_type() == self.thread_pointer() {
                self.frame_mut().locals[param.0 as usize] = Some(argument.into_pointer_value());
            } else {
                // A function table: the struct holds its address.
                let place = self.alloca(ty.ty)?;
                self.builder.build_store(place, argument)?;
                self.frame_mut().locals[param.0 as usize] = Some(place);
            }
        }
        let body = source.body.as_deref().ok_or_else(|| Error::Internal("a function without a body".into()))?;
        self.zero_threadgroup_variables(body)?;
        self.block(body)?;
        if self.is_open() {
            match source.result {
                Ty::VOID => self.builder.build_return(None)?,
                _ if result.is_some() => self.builder.build_return(None)?,
                // Falling off the end of a function that returns a value is undefined.
                _ => self.builder.build_unreachable()?,
            };
        }
        Ok(())
    }

    /// The body of a function that no source has: `build` adds its code, which may evaluate globals.
    pub(crate) fn synthesize(
        &mut self,
        value: FunctionValue<'ctx>,
        like: FunctionId,
        build: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let position = self.enter_function(value, None);
        self.begin(value, like, None)?;
        build(self)?;
        self.builder.build_return(None)?;
        self.leave_function(position);
        Ok(())
    }

    fn thread_pointer(&self) -> PointerType<'ctx> {
        self.context.ptr_type(LlvmSpace::from(space_number(AddressSpace::Thread)))
    }

    /// Enters a function: a block for its variables, and one for the code that follows.
    fn begin(
        &mut self,
        value: FunctionValue<'ctx>,
        id: FunctionId,
        result: Option<PointerValue<'ctx>>,
    ) -> Result<()> {
        let source = self.program.function(id);
        let entry = self.context.append_basic_block(value, "entry");
        let start = self.context.append_basic_block(value, "start");
        self.builder.position_at_end(entry);
        self.builder.build_unconditional_branch(start)?;
        self.builder.position_at_end(start);
        let locals = vec![None; source.locals.len()];
        let fp_pragmas = source.fp_pragmas.iter().map(|pragma| pragma.as_str()).collect();
        self.frame = Some(Frame { value, source, id, locals, result, targets: Vec::new(), fp_pragmas });
        Ok(())
    }

    pub(crate) fn frame(&self) -> &Frame<'ctx, 'p> {
        self.frame.as_ref().expect("inside a function")
    }

    pub(crate) fn frame_mut(&mut self) -> &mut Frame<'ctx, 'p> {
        self.frame.as_mut().expect("inside a function")
    }

    /// True if control can still reach the end of the current block.
    pub(crate) fn is_open(&self) -> bool {
        self.builder.get_insert_block().is_some_and(|block| block.get_terminator().is_none())
    }

    pub(crate) fn new_block(&self, name: &str) -> BasicBlock<'ctx> {
        self.context.append_basic_block(self.frame().value, name)
    }

    /// Room for a value of type `ty`, made once, when the function is entered.
    pub(crate) fn alloca(&self, ty: Ty) -> Result<PointerValue<'ctx>> {
        self.aligned_alloca(ty, 1)
    }

    /// Private memory of some bytes.
    pub(crate) fn entry_bytes(&self, size: u64, align: u32) -> Result<PointerValue<'ctx>> {
        let entry = self.frame().value.get_first_basic_block().expect("an entry block");
        let builder = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        let place = builder.build_alloca(self.context.i8_type().array_type(size as u32), "")?;
        let instruction = place.as_instruction().expect("an alloca is an instruction");
        instruction.set_alignment(align).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(place)
    }

    /// [`Self::alloca`], aligned to at least `min_align` bytes.
    fn aligned_alloca(&self, ty: Ty, min_align: u64) -> Result<PointerValue<'ctx>> {
        let memory = self.memory_type(ty)?;
        let align = self.layout(ty)?.align.max(min_align);
        let entry = self.frame().value.get_first_basic_block().expect("an entry block");
        let builder = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        let place = builder.build_alloca(memory, "")?;
        if let Some(instruction) = place.as_instruction() {
            let _ = instruction.set_alignment(align as u32);
        }
        Ok(place)
    }

    /// The memory of a variable; allocated the first time.
    pub(crate) fn local(&mut self, id: LocalId) -> Result<PointerValue<'ctx>> {
        if let Some(place) = self.frame().locals[id.0 as usize] {
            return Ok(place);
        }
        let local = &self.frame().source.locals[id.0 as usize];
        let place = match local.space {
            AddressSpace::Threadgroup => self.threadgroup_variable(self.frame().id, id)?.as_pointer_value(),
            _ => self.aligned_alloca(local.ty.ty, local.min_align)?,
        };
        self.frame_mut().locals[id.0 as usize] = Some(place);
        Ok(place)
    }
}

impl<'ctx> Lowering<'ctx, '_> {
    /// A variable in threadgroup memory; made the first time.
    pub(crate) fn threadgroup_variable(&mut self, function: FunctionId, id: LocalId) -> Result<GlobalValue<'ctx>> {
        if let Some(global) = self.threadgroup.get(&(function, id)) {
            return Ok(*global);
        }
        let local = &self.program.function(function).locals[id.0 as usize];
        let memory = self.memory_type(local.ty.ty)?;
        let space = LlvmSpace::from(space_number(local.space));
        let global = self.module.add_global(memory, Some(space), &local.name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&undefined(memory));
        global.set_alignment(self.layout(local.ty.ty)?.align.max(local.min_align) as u32);
        self.threadgroup.insert((function, id), global);
        Ok(global)
    }
}

/// An undefined value of a type.
pub(crate) fn undefined(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    match ty {
        BasicTypeEnum::ArrayType(ty) => ty.get_undef().into(),
        BasicTypeEnum::FloatType(ty) => ty.get_undef().into(),
        BasicTypeEnum::IntType(ty) => ty.get_undef().into(),
        BasicTypeEnum::PointerType(ty) => ty.get_undef().into(),
        BasicTypeEnum::StructType(ty) => ty.get_undef().into(),
        BasicTypeEnum::VectorType(ty) => ty.get_undef().into(),
        BasicTypeEnum::ScalableVectorType(ty) => ty.get_undef().into(),
    }
}
