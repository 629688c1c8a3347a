//! <metal_logging>. The function and the values of its levels are those of public users of Apple's compiler; the memory of
//! the arguments is inferred: each at its own alignment, at least 4 bytes, small numbers as 32 bits.

use super::call::Call;
use super::shape::{Scalar, Shape};
use super::{Attempt, Error, Output};
use crate::log::{DESCRIPTION, OS_LOG};
use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::values::{BasicValueEnum, IntValue};
use msl::types::{FloatKind, TyKind};

/// An argument in memory.
struct Argument<'ctx> {
    value: BasicValueEnum<'ctx>,
    size: u64,
    align: u64,
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// A method of `os_log`: `air.os_log(subsystem, category, level, format, arguments, size)`.
    pub(super) fn log(&self) -> Attempt<'ctx> {
        let Some(method) = self.name.strip_prefix("os_log::") else { return Ok(None) };
        let (level, format): (IntValue<'ctx>, usize) = match method {
            "log_with_type" => (self.arg(1)?.into_int_value(), 2),
            "log" => (self.i32(0), 1),
            "log_info" => (self.i32(1), 1),
            "log_debug" => (self.i32(2), 1),
            "log_error" => (self.i32(16), 1),
            "log_fault" => (self.i32(17), 1),
            _ => return Ok(None),
        };
        let (context, builder) = (self.lowering.context, &self.lowering.builder);
        let object = self.pointer_arg(0)?;
        let pointer = object.get_type();
        let field = |offset: u64| {
            let index = context.i64_type().const_int(offset, false);
            // SAFETY: the object has two pointers.
            let place = unsafe { builder.build_gep(context.i8_type(), object, &[index], "")? };
            builder.build_load(pointer, place, "")
        };
        let (subsystem, category) = (field(0)?, field(8)?);
        let mut types = String::new();
        let mut arguments = Vec::new();
        for index in format + 1..self.args.len() {
            arguments.push(self.log_argument(index, &mut types)?);
        }
        let place = |at: u64, argument: &Argument<'ctx>| at.next_multiple_of(argument.align);
        let end = arguments.iter().fold(0, |at, argument| place(at, argument) + argument.size);
        let size = end.next_multiple_of(4);
        let memory = self.lowering.entry_bytes(size.max(4), 16)?;
        let mut at = 0;
        for argument in &arguments {
            at = place(at, argument);
            let index = context.i64_type().const_int(at, false);
            // SAFETY: the memory was made for all arguments.
            let target = unsafe { builder.build_gep(context.i8_type(), memory, &[index], "")? };
            let store = builder.build_store(target, argument.value)?;
            store.set_alignment(argument.align as u32).map_err(|_| self.internal("an alignment"))?;
            at += argument.size;
        }
        let location = self.lowering.sources.map(|sources| {
            let place = sources.presumed(sources.outermost(self.span));
            format!("{}:{}:{}", place.file, place.line, place.column)
        });
        let parameters = [
            pointer.into(),
            pointer.into(),
            context.i32_type().into(),
            pointer.into(),
            context.ptr_type(AddressSpace::default()).into(),
            context.i64_type().into(),
        ];
        let function = self.lowering.module.get_function(OS_LOG).unwrap_or_else(|| {
            let function = context.void_type().fn_type(&parameters, false);
            let function = self.lowering.module.add_function(OS_LOG, function, None);
            for name in ["mustprogress", "nounwind", "willreturn"] {
                let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(name);
                function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
            }
            function
        });
        let size = context.i64_type().const_int(size, false);
        let format = self.arg(format)?;
        let all = [subsystem.into(), category.into(), level.into(), format.into(), memory.into(), size.into()];
        let call = builder.build_call(function, &all, "")?;
        let description = format!("{}\n{types}", location.unwrap_or_default());
        call.add_attribute(AttributeLoc::Function, context.create_string_attribute(DESCRIPTION, &description));
        Ok(Some(Output::Nothing))
    }

    /// An argument as it is passed. Adds its type: a letter, and the number of components of a vector.
    fn log_argument(&self, index: usize, types: &mut String) -> Result<Argument<'ctx>, Error> {
        let value = self.arg(index)?;
        let ty = self.param(index).ok_or_else(|| self.internal("an argument is missing"))?;
        if matches!(self.lowering.program.types.kind(ty), TyKind::Pointer(_)) && value.is_pointer_value() {
            types.push_str("p ");
            return Ok(Argument { value, size: 8, align: 8 });
        }
        let shape = Shape::of(&self.lowering.program.types, ty).ok_or_else(|| Error::Unsupported {
            what: format!("a message with an argument of type '{}'", self.lowering.program.types.name(ty)),
            span: self.span,
        })?;
        let (letter, bytes) = match shape.scalar {
            Scalar::Bool => ('u', 1),
            Scalar::Int(kind) => (
                if kind.is_signed() { 'i' } else { 'u' },
                u64::from(self.lowering.int_type(kind).get_bit_width()) / 8,
            ),
            Scalar::Float(FloatKind::Float) => ('f', 4),
            Scalar::Float(FloatKind::Half) => ('h', 2),
            Scalar::Float(FloatKind::BFloat) => ('b', 2),
        };
        let builder = &self.lowering.builder;
        if let Some(len) = shape.len {
            let value = match shape.scalar {
                Scalar::Bool => {
                    let bytes = self.lowering.context.i8_type().vec_type(len);
                    builder.build_int_z_extend(value.into_vector_value(), bytes, "")?.into()
                }
                _ => value,
            };
            // Three components take the room of four.
            let room = u64::from(len).next_power_of_two() * bytes;
            types.push_str(&format!("{letter}{}x{len} ", 8 * bytes));
            return Ok(Argument { value, size: room.next_multiple_of(4), align: room.clamp(4, 16) });
        }
        let int = self.lowering.context.i32_type();
        let (value, bytes) = match (shape.scalar, bytes) {
            (Scalar::Float(FloatKind::Float), _) | (_, 4 | 8) => (value, bytes),
            (Scalar::Float(_), _) => {
                let float = self.lowering.context.f32_type();
                types.push_str("f32 ");
                let value = builder.build_float_ext(value.into_float_value(), float, "")?.into();
                return Ok(Argument { value, size: 4, align: 4 });
            }
            (_, _) if letter == 'i' => (builder.build_int_s_extend(value.into_int_value(), int, "")?.into(), 4),
            (_, _) => (builder.build_int_z_extend(value.into_int_value(), int, "")?.into(), 4),
        };
        types.push_str(&format!("{letter}{} ", 8 * bytes));
        Ok(Argument { value, size: bytes, align: bytes })
    }
}
