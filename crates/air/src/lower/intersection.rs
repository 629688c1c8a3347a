//! Functions of ray tracing: an entry point around the function of the source, with the result as a packed struct.

use super::{Error, Lowering, Result};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, PointerValue};
use msl::program::{BindingKind, EntryPoint, IntersectionFunction};
use msl::types::{QualTy, Ty};

impl<'ctx> Lowering<'ctx, '_> {
    /// The function, with its body.
    pub(super) fn intersection_function(&mut self, function: &IntersectionFunction) -> Result<()> {
        let program = self.program;
        let entry = &program.entry_points[function.entry];
        let params = self.intersection_params(entry)?;
        let inner = self.function(entry.function)?;
        let outputs = self.outputs(entry)?;
        let types: Vec<BasicTypeEnum<'ctx>> =
            outputs.iter().map(|(ty, _)| self.register_type(ty.ty)).collect::<Result<_>>()?;
        let is_struct = program.types.struct_id(program.function(entry.function).result).is_some();
        let result: BasicTypeEnum<'ctx> = match (is_struct, &types[..]) {
            (false, [ty]) => *ty,
            _ => self.context.struct_type(&types, true).into(),
        };
        let value = self.module.add_function(&entry.name, result.fn_type(&params, false), None);
        let position = self.enter_function(value, Some((&entry.name, program.function(entry.function).span)));
        self.builder.position_at_end(self.context.append_basic_block(value, ""));
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> =
            value.get_param_iter().map(BasicMetadataValueEnum::from).collect();
        let result = match is_struct {
            false => {
                let call = self.builder.build_call(inner, &arguments, "")?;
                call.try_as_basic_value().basic().ok_or_else(|| Error::Internal("a call has no value".into()))?
            }
            true => {
                let memory = self.memory_type(program.function(entry.function).result)?;
                let place = self.builder.build_alloca(memory, "")?;
                arguments.insert(0, place.into());
                self.builder.build_call(inner, &arguments, "")?;
                self.packed(place, &outputs, result)?
            }
        };
        self.builder.build_return(Some(&result))?;
        self.leave_function(position);
        let std = program.std;
        crate::metadata::emit_intersection(self, function, value, (std.major, std.minor))
    }

    fn intersection_params(&mut self, entry: &EntryPoint) -> Result<Vec<BasicMetadataTypeEnum<'ctx>>> {
        let source = self.program.function(entry.function);
        let mut params = Vec::new();
        for binding in &entry.bindings {
            let local = &source.locals[binding.param.0 as usize];
            let what = match binding.kind {
                BindingKind::Texture(_) => Some("a texture argument"),
                BindingKind::Sampler(_) => Some("a sampler argument"),
                BindingKind::FunctionTable(_) => Some("a function table of an intersection function"),
                _ if !self.is_register(local.ty.ty) => Some("a struct argument of an intersection function"),
                _ => None,
            };
            if let Some(what) = what {
                return Err(Error::Unsupported { what: what.into(), span: local.span });
            }
            params.push(self.register_type(local.ty.ty)?.into());
        }
        Ok(params)
    }

    /// The types of the result's members, and their offsets.
    fn outputs(&self, entry: &EntryPoint) -> Result<Vec<(QualTy, u64)>> {
        let types = &self.program.types;
        let source = self.program.function(entry.function);
        let Some(id) = types.struct_id(source.result) else { return Ok(vec![(QualTy::plain(source.result), 0)]) };
        let fields = types.struct_(id).fields.iter().map(|field| (field.ty, field.offset)).collect::<Vec<_>>();
        match fields.iter().all(|(ty, _)| self.is_register(ty.ty) && ty.ty != Ty::VOID) {
            true => Ok(fields),
            false => {
                let what = "a result with structs in it".into();
                Err(Error::Unsupported { what, span: source.span })
            }
        }
    }

    /// The members of a struct in memory as a value.
    fn packed(
        &mut self,
        place: PointerValue<'ctx>,
        outputs: &[(QualTy, u64)],
        ty: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let mut result = ty.into_struct_type().get_undef();
        for (index, (field, offset)) in (0u32..).zip(outputs) {
            let offset = self.context.i64_type().const_int(*offset, false);
            // SAFETY: the offset is that of a member of the struct.
            let member = unsafe { self.builder.build_gep(self.context.i8_type(), place, &[offset], "")? };
            let value = self.load(member, *field)?;
            result = self.builder.build_insert_value(result, value, index, "")?.into_struct_value();
        }
        Ok(result.into())
    }
}
