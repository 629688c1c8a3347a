//! Constants, and the program's variables: those of a threadgroup lie in its memory, constant ones are copied.

use super::parts::{Part, Parts};
use super::types::components;
use super::widen::Widener;
use crate::ir::{Type, TypeKind, Value};

impl<'m> Widener<'_, 'm> {
    /// The components of a constant, or of a value without a slot.
    pub(super) fn constant(&mut self, value: Value<'m>) -> Parts<'m> {
        let types = components(value.ty());
        if value.is_undef() || (value.ty().is_pointer() && value.is_null()) {
            let zero = |ty: &Type<'m>| if value.is_undef() { ty.poison() } else { ty.zero() };
            return types.iter().map(|ty| Part::Uniform(zero(ty))).collect();
        }
        if value.is_global_variable() {
            return vec![Part::Uniform(self.global(value))];
        }
        if value.is_constant_expression() {
            return self.instruction(value).unwrap_or_else(|_| vec![Part::Uniform(types[0].poison()); types.len()]);
        }
        match value.ty().kind() {
            TypeKind::LLVMVectorTypeKind | TypeKind::LLVMArrayTypeKind | TypeKind::LLVMStructTypeKind => {
                let mut parts = Vec::new();
                let mut index = 0;
                while parts.len() < types.len() {
                    match value.constant_element(index) {
                        Some(element) => parts.extend(self.constant(element)),
                        None => parts.push(Part::Uniform(types[parts.len()].poison())),
                    }
                    index += 1;
                }
                parts
            }
            TypeKind::LLVMBFloatTypeKind => vec![Part::Uniform(self.b.bitcast(value, types[0]))],
            _ if value.mentions_global() => vec![Part::Uniform(self.refuse_address(value))],
            _ => vec![Part::Uniform(value)],
        }
    }

    /// An address in another module cannot be copied.
    fn refuse_address(&self, value: Value<'m>) -> Value<'m> {
        self.refuse(&format!("the constant '{}', which holds an address,", value.name()), components(value.ty())[0])
    }

    /// The address of a global: a threadgroup variable lies in the threadgroup's memory, a constant is copied.
    fn global(&mut self, global: Value<'m>) -> Value<'m> {
        if let Some(&offset) = self.entry.threadgroup_variables.get(&global) {
            let offset = Type::int(self.b.context(), 64).constant(i64::from(offset));
            return self.b.offset(self.entry.threadgroup_memory, offset);
        }
        if let Some(&copy) = self.globals.get(&global) {
            return copy;
        }
        let ty = global.global_type();
        let initializer = global.initializer().unwrap_or_else(|| ty.zero());
        if initializer.mentions_global() {
            return self.refuse_address(global);
        }
        let copy = self.b.module.add_global(c"constant", initializer);
        copy.make_private_constant();
        copy.set_alignment(global.alignment().max(16));
        self.globals.insert(global, copy);
        copy
    }
}
