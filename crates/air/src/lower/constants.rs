//! Constants: as registers, and as the bytes of globals.

use super::types::space_number;
use super::{Error, Lowering, Result};
use inkwell::AddressSpace as LlvmSpace;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, PointerValue};
use msl::program::{FunctionId, GlobalId, Value};
use msl::types::{AddressSpace, FloatKind, QualTy, Ty, TyKind};

/// The target of a pointer in a constant.
#[derive(Clone, Copy)]
enum Pointee<'v> {
    Function(FunctionId),
    String(&'v str),
}

impl<'ctx> Lowering<'ctx, '_> {
    /// A constant of a register type.
    pub(super) fn constant(&mut self, value: &Value, ty: Ty) -> Result<BasicValueEnum<'ctx>> {
        let llvm = self.register_type(ty)?;
        Ok(match (value, self.program.types.kind(ty).clone()) {
            (Value::Bool(value), _) => llvm.into_int_type().const_int(u64::from(*value), false).into(),
            (Value::Int(value), _) if llvm.is_int_type() => {
                llvm.into_int_type().const_int(*value as u64, true).into()
            }
            (Value::Float(value), _) if llvm.is_float_type() => llvm.into_float_type().const_float(*value).into(),
            (Value::Null | Value::Int(0), _) if llvm.is_pointer_type() => {
                llvm.into_pointer_type().const_null().into()
            }
            (Value::Aggregate(parts), TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. }) => {
                let mut vector = llvm.into_vector_type().get_undef();
                for (index, part) in parts.iter().enumerate() {
                    let part = self.constant(part, element)?;
                    let index = self.context.i32_type().const_int(index as u64, false);
                    vector = self.builder.build_insert_element(vector, part, index, "")?;
                }
                vector.into()
            }
            (Value::Str(text), _) => self.string(text).into(),
            (Value::Function(id), _) => self.function(*id)?.as_global_value().as_pointer_value().into(),
            _ => {
                return Err(Error::Internal(format!(
                    "the constant {value:?} is no '{}'",
                    self.program.types.name(ty)
                )));
            }
        })
    }

    /// A string in constant memory.
    pub(super) fn string(&self, text: &str) -> PointerValue<'ctx> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.constant_bytes(&bytes, 1, "string")
    }

    /// Bytes in constant memory.
    pub(super) fn constant_bytes(&self, bytes: &[u8], align: u64, name: &str) -> PointerValue<'ctx> {
        let i8_type = self.context.i8_type();
        let values: Vec<_> = bytes.iter().map(|&byte| i8_type.const_int(u64::from(byte), false)).collect();
        let data = i8_type.const_array(&values);
        let space = LlvmSpace::from(space_number(AddressSpace::Constant));
        let global = self.module.add_global(data.get_type(), Some(space), name);
        global.set_linkage(Linkage::Internal);
        global.set_constant(true);
        global.set_unnamed_addr(true);
        global.set_initializer(&data);
        global.set_alignment(align as u32);
        global.as_pointer_value()
    }

    /// Bytes in constant memory, with pointers to functions and strings among them.
    fn constant_pointers(
        &mut self,
        bytes: &[u8],
        pointers: &[(usize, Pointee)],
        align: u64,
        name: &str,
    ) -> Result<PointerValue<'ctx>> {
        const POINTER: usize = 8;
        let i8_type = self.context.i8_type();
        let plain = |bytes: &[u8]| {
            let values: Vec<_> = bytes.iter().map(|&byte| i8_type.const_int(u64::from(byte), false)).collect();
            BasicValueEnum::from(i8_type.const_array(&values))
        };
        let mut parts: Vec<BasicValueEnum<'ctx>> = Vec::new();
        let mut at = 0;
        for &(offset, pointee) in pointers {
            if offset > at {
                parts.push(plain(&bytes[at..offset]));
            }
            parts.push(match pointee {
                Pointee::Function(function) => self.function(function)?.as_global_value().as_pointer_value().into(),
                Pointee::String(text) => self.string(text).into(),
            });
            at = offset + POINTER;
        }
        if at < bytes.len() {
            parts.push(plain(&bytes[at..]));
        }
        let data = self.context.const_struct(&parts, true);
        let space = LlvmSpace::from(space_number(AddressSpace::Constant));
        let global = self.module.add_global(data.get_type(), Some(space), name);
        global.set_linkage(Linkage::Internal);
        global.set_constant(true);
        global.set_unnamed_addr(true);
        global.set_initializer(&data);
        global.set_alignment(align as u32);
        Ok(global.as_pointer_value())
    }

    /// The functions and strings that a constant points to, with their offsets, in order.
    fn pointers_in<'v>(
        &self,
        value: &'v Value,
        ty: Ty,
        offset: usize,
        found: &mut Vec<(usize, Pointee<'v>)>,
    ) -> Result<()> {
        let types = &self.program.types;
        match (value, types.kind(ty)) {
            (Value::Function(id), _) => found.push((offset, Pointee::Function(*id))),
            (Value::Str(text), _) => found.push((offset, Pointee::String(text))),
            (Value::Aggregate(parts), TyKind::Struct(id)) => {
                for (part, field) in parts.iter().zip(&types.struct_(*id).fields) {
                    self.pointers_in(part, field.ty.ty, offset + field.offset as usize, found)?;
                }
            }
            (Value::Aggregate(parts), TyKind::Array { element, .. }) => {
                let stride = self.layout(*element)?.size as usize;
                for (index, part) in parts.iter().enumerate() {
                    self.pointers_in(part, *element, offset + index * stride, found)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The address of a constant at namespace scope.
    pub(crate) fn global(&mut self, id: GlobalId) -> Result<PointerValue<'ctx>> {
        if let Some(place) = self.globals.get(&id) {
            return Ok(*place);
        }
        let global = self.program.global(id);
        let place = if global.function_constant.is_some() {
            crate::metadata::function_constant_global(self, id)?
        } else if crate::metadata::is_set_at_start(self, id) {
            crate::metadata::variable(self, id)?.as_pointer_value()
        } else if let Some(init) = &global.init {
            // Depends on function constants: evaluated where it is used, and folded when those are set.
            let place = self.alloca(global.ty.ty)?;
            self.initialize(place, init, QualTy::plain(init.ty.ty))?;
            return Ok(place);
        } else {
            let layout = self.layout(global.ty.ty)?;
            let mut bytes = vec![0; layout.size as usize];
            let mut pointers = Vec::new();
            if let Some(value) = &global.value {
                self.write_bytes(value, global.ty.ty, &mut bytes)?;
                self.pointers_in(value, global.ty.ty, 0, &mut pointers)?;
            }
            let align = layout.align.max(global.min_align);
            match pointers[..] {
                [] => self.constant_bytes(&bytes, align, &global.name),
                _ => self.constant_pointers(&bytes, &pointers, align, &global.name)?,
            }
        };
        self.globals.insert(id, place);
        Ok(place)
    }

    /// The constant with the host's value, for the address from which code reads a function constant.
    pub(super) fn host_value(&self, place: PointerValue<'ctx>) -> Option<PointerValue<'ctx>> {
        let (&id, _) = self.globals.iter().find(|&(_, &global)| global == place)?;
        self.program.global(id).function_constant.map(|_| crate::metadata::host_value(self, id))
    }

    /// The bytes of a constant in memory.
    pub(super) fn write_bytes(&self, value: &Value, ty: Ty, bytes: &mut [u8]) -> Result<()> {
        let types = &self.program.types;
        let bad = || Error::Internal(format!("the constant {value:?} has no bytes as '{}'", types.name(ty)));
        match (value, types.kind(ty)) {
            (Value::Unknown, _) => {}
            (Value::Bool(value), _) => bytes[0] = u8::from(*value),
            (Value::Int(value), _) => {
                let len = bytes.len();
                bytes.copy_from_slice(&value.to_le_bytes()[..len]);
            }
            (Value::Float(value), TyKind::Float(kind)) => match kind {
                FloatKind::Float => bytes.copy_from_slice(&(*value as f32).to_le_bytes()),
                FloatKind::Half => bytes.copy_from_slice(&half::f16::from_f64(*value).to_le_bytes()),
                FloatKind::BFloat => bytes.copy_from_slice(&half::bf16::from_f64(*value).to_le_bytes()),
            },
            // Functions and strings are put in afterwards.
            (Value::Null | Value::Function(_) | Value::Str(_), _) => {}
            (Value::Aggregate(parts), kind) => {
                let (element, stride) = match kind {
                    TyKind::Struct(id) => {
                        let fields = parts.iter().zip(&types.struct_(*id).fields);
                        for (part, field) in fields.filter(|(_, field)| !field.is_padding()) {
                            let size = match field.bits {
                                Some((first, width)) => (first + width).div_ceil(8) as usize,
                                None => self.layout(field.ty.ty)?.size as usize,
                            };
                            let offset = field.offset as usize;
                            self.write_field(part, field, &mut bytes[offset..offset + size])?;
                        }
                        return Ok(());
                    }
                    TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. } => {
                        (*element, self.layout(*element)?.size)
                    }
                    TyKind::Array { element, .. } => (*element, self.layout(*element)?.size),
                    TyKind::Matrix { columns, rows, element } => {
                        let stride = self.layout(ty)?.size / u64::from(*columns);
                        let scalar = self.layout(*element)?.size as usize;
                        for (column, part) in parts.iter().enumerate() {
                            let Value::Aggregate(column_parts) = part else { return Err(bad()) };
                            for (row, part) in column_parts.iter().take(usize::from(*rows)).enumerate() {
                                let at = column * stride as usize + row * scalar;
                                self.write_bytes(part, *element, &mut bytes[at..at + scalar])?;
                            }
                        }
                        return Ok(());
                    }
                    _ => return Err(bad()),
                };
                let stride = stride as usize;
                for (index, part) in parts.iter().enumerate() {
                    self.write_bytes(part, element, &mut bytes[index * stride..(index + 1) * stride])?;
                }
            }
            _ => return Err(bad()),
        }
        Ok(())
    }

    fn write_field(&self, value: &Value, field: &msl::types::Field, bytes: &mut [u8]) -> Result<()> {
        let Some((first, width)) = field.bits else { return self.write_bytes(value, field.ty.ty, bytes) };
        let value = match value {
            Value::Int(value) => *value,
            Value::Bool(value) => i128::from(*value),
            _ => return Ok(()),
        };
        let mut unit = [0; 16];
        unit[..bytes.len()].copy_from_slice(bytes);
        let mask = (1u128 << width) - 1;
        let merged = u128::from_le_bytes(unit) | ((value as u128 & mask) << first);
        bytes.copy_from_slice(&merged.to_le_bytes()[..bytes.len()]);
        Ok(())
    }
}
