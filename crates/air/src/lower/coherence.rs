//! Accesses of coherent device memory, which AIR writes as calls: `air.load.system_coherent.volatile.i32.p1i32(pointer)`.
//!
//! MLX's fences have those of words in Apple's form. The names for other numbers follow from LLVM's way to name types.
//! A struct or array is copied in words.

use super::types::space_number;
use super::{Error, Lowering, Result};
use inkwell::AddressSpace as LlvmSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::{BasicType, BasicTypeEnum, FloatType, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, PointerValue};
use msl::types::{AddressSpace, Coherence, QualTy};

/// Objects of more bytes are not copied from or to coherent memory, as each word is a call.
const MAX_COPY: u64 = 4096;

/// The kind of an access of coherent memory.
#[derive(Clone, Copy)]
pub(super) struct Access {
    coherence: Coherence,
    is_volatile: bool,
    align: u32,
}

impl Access {
    /// `air.load.device_coherent.f32.p1f32`
    fn function_name(self, operation: &str, ty: &str) -> String {
        let scope = match self.coherence {
            Coherence::Device => "device",
            Coherence::System => "system",
        };
        let volatile = if self.is_volatile { ".volatile" } else { "" };
        format!("air.{operation}.{scope}_coherent{volatile}.{ty}.p1{ty}")
    }
}

impl<'ctx> Lowering<'ctx, '_> {
    /// The kind of an access through `pointer` if it is one of coherent memory. Other memory than the device's has one
    /// thread or threadgroup that sees it.
    pub(super) fn coherent(&self, pointer: PointerValue<'ctx>, qualified: QualTy, align: u32) -> Option<Access> {
        let is_device =
            pointer.get_type().get_address_space() == LlvmSpace::from(space_number(AddressSpace::Device));
        let coherence = qualified.coherence.filter(|_| is_device)?;
        Some(Access { coherence, is_volatile: qualified.is_volatile, align })
    }

    /// Reads a value of a type as it is in memory.
    pub(super) fn read_coherent(
        &self,
        pointer: PointerValue<'ctx>,
        ty: BasicTypeEnum<'ctx>,
        access: Access,
    ) -> Result<BasicValueEnum<'ctx>> {
        if let BasicTypeEnum::PointerType(pointer_ty) = ty {
            let address = self.read_coherent(pointer, self.context.i64_type().into(), access)?;
            return Ok(self.builder.build_int_to_ptr(address.into_int_value(), pointer_ty, "")?.into());
        }
        let name = access.function_name("load", &self.coherent_name(ty)?);
        let called =
            self.call_coherent(&name, ty.fn_type(&[pointer.get_type().into()], false), &[pointer.into()])?;
        self.state_alignment(called, 0, access.align);
        let value = called.try_as_basic_value().basic();
        value.ok_or_else(|| Error::Internal("a load without a value".into()))
    }

    /// Writes a value as it is in memory.
    pub(super) fn write_coherent(
        &self,
        pointer: PointerValue<'ctx>,
        value: BasicValueEnum<'ctx>,
        access: Access,
    ) -> Result<()> {
        if let BasicValueEnum::PointerValue(value) = value {
            let address = self.builder.build_ptr_to_int(value, self.context.i64_type(), "")?;
            return self.write_coherent(pointer, address.into(), access);
        }
        let name = access.function_name("store", &self.coherent_name(value.get_type())?);
        let params = [value.get_type().into(), pointer.get_type().into()];
        let ty = self.context.void_type().fn_type(&params, false);
        let called = self.call_coherent(&name, ty, &[value.into(), pointer.into()])?;
        self.state_alignment(called, 1, access.align);
        Ok(())
    }

    /// Copies an object of `size` bytes; a side with an access is coherent.
    pub(super) fn copy_coherent(
        &self,
        (to, write): (PointerValue<'ctx>, Option<Access>),
        (from, read): (PointerValue<'ctx>, Option<Access>),
        size: u64,
        align: u32,
    ) -> Result<()> {
        if size > MAX_COPY {
            let what = format!("a copy of {size} bytes from or to coherent memory, more than {MAX_COPY}");
            return Err(Error::Unsupported { what, span: self.here });
        }
        let mut at = 0;
        while at < size {
            let fits = |bytes: &u64| *bytes <= u64::from(align) && at + bytes <= size && at.is_multiple_of(*bytes);
            let bytes = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
            let word = match bytes {
                4 => self.context.i32_type(),
                2 => self.context.i16_type(),
                _ => self.context.i8_type(),
            };
            let (target, source) = (self.offset(to, at)?, self.offset(from, at)?);
            let part = |access: Access| Access { align: bytes as u32, ..access };
            let value = match read {
                Some(access) => self.read_coherent(source, word.into(), part(access))?,
                None => {
                    let loaded = self.builder.build_load(word, source, "")?;
                    if let Some(instruction) = loaded.as_instruction_value() {
                        let _ = instruction.set_alignment(bytes as u32);
                    }
                    loaded
                }
            };
            match write {
                Some(access) => self.write_coherent(target, value, part(access))?,
                None => {
                    let _ = self.builder.build_store(target, value)?.set_alignment(bytes as u32);
                }
            }
            at += bytes;
        }
        Ok(())
    }

    fn call_coherent(
        &self,
        name: &str,
        ty: FunctionType<'ctx>,
        args: &[BasicMetadataValueEnum<'ctx>],
    ) -> Result<CallSiteValue<'ctx>> {
        let function = self.module.get_function(name).unwrap_or_else(|| {
            let function = self.module.add_function(name, ty, None);
            for name in ["mustprogress", "nofree", "nounwind", "willreturn"] {
                function.add_attribute(AttributeLoc::Function, self.attribute(name, 0));
            }
            function
        });
        Ok(self.builder.build_call(function, args, "")?)
    }

    /// As Apple's compiler does, on each call.
    fn state_alignment(&self, call: CallSiteValue<'ctx>, argument: u32, align: u32) {
        for (name, value) in [("noundef", 0), ("nonnull", 0), ("align", align.into())] {
            call.add_attribute(AttributeLoc::Param(argument), self.attribute(name, value));
        }
    }

    fn attribute(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// LLVM's name of a number or vector in names of functions: `v4f32`.
    fn coherent_name(&self, ty: BasicTypeEnum<'ctx>) -> Result<String> {
        match ty {
            BasicTypeEnum::IntType(int) => Ok(format!("i{}", int.get_bit_width())),
            BasicTypeEnum::FloatType(float) => Ok(self.float_name(float).into()),
            BasicTypeEnum::VectorType(vector) => {
                let element = self.coherent_name(vector.get_element_type())?;
                Ok(format!("v{}{element}", vector.get_size()))
            }
            _ => Err(Error::Unsupported { what: "this type in coherent memory".into(), span: self.here }),
        }
    }

    fn float_name(&self, float: FloatType<'ctx>) -> &'static str {
        match () {
            () if float == self.context.f16_type() => "f16",
            () if float == self.context.bf16_type() => "bf16",
            () => "f32",
        }
    }
}
