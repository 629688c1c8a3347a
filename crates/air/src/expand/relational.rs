//! `all`, `any`, hints, `is_function_constant_defined`, packing.

use super::{Expansion, Result};
use crate::ir::{IntPredicate, Type, Value};

impl<'m> Expansion<'m> {
    /// `None` for a function that is not one of these.
    pub(super) fn relational(
        &mut self,
        base: &str,
        arguments: &[Value<'m>],
        result: Type<'m>,
    ) -> Result<Option<Value<'m>>> {
        let &[x, ..] = arguments else { return Ok(None) };
        if base.starts_with("pack.") || base.starts_with("unpack.") {
            return self.pack(base, x, result);
        }
        Ok(Some(match base {
            "all" => self.fold(x, |left, right| self.b.and(left, right)),
            "any" => self.fold(x, |left, right| self.b.or(left, right)),
            // A promise that all threads of the SIMD-group agree, for `llvm.assume`.
            "is_uniform" => result.all_ones(),
            // Specialization answers for the constants that have a value.
            "is_function_constant_defined" => result.zero(),
            "normalize_function_constant_predicate" => {
                self.b.zext(self.b.icmp(IntPredicate::LLVMIntNE, x, x.ty().zero()), result)
            }
            _ => return Ok(None),
        }))
    }

    /// All components of a vector, combined.
    fn fold(&self, vector: Value<'m>, combine: impl Fn(Value<'m>, Value<'m>) -> Value<'m>) -> Value<'m> {
        let length = if vector.ty().is_vector() { vector.ty().length() } else { 1 };
        let first = self.component(vector, 0);
        (1..length).fold(first, |left, index| combine(left, self.component(vector, index)))
    }

    /// The library packs and unpacks `float`; its names have an underscore for each of AIR's dots.
    fn pack(&mut self, base: &str, x: Value<'m>, result: Type<'m>) -> Result<Option<Value<'m>>> {
        let name = base.replace('.', "_");
        if base.starts_with("pack.") {
            let x = self.widened(x);
            let function = self.library_function(&name, result, &[x.ty()])?;
            return Ok(function.map(|function| self.b.call(function, &[x])));
        }
        let function = self.library_function(&name, self.floats(result), &[x.ty()])?;
        Ok(function.map(|function| self.narrowed(self.b.call(function, &[x]), result)))
    }
}
