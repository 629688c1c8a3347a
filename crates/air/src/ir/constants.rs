//! Constants.

use super::values::value;
use super::*;
use inkwell::llvm_sys::core::*;

impl<'m> Type<'m> {
    pub(crate) fn undef(self) -> Value<'m> {
        assert!(self.is_sized(), "undef of {}", self.text());
        value!(LLVMGetUndef(self.raw()))
    }

    pub(crate) fn poison(self) -> Value<'m> {
        assert!(self.is_sized(), "poison of {}", self.text());
        value!(LLVMGetPoison(self.raw()))
    }

    pub(crate) fn zero(self) -> Value<'m> {
        assert!(self.is_sized(), "zero of {}", self.text());
        value!(LLVMConstNull(self.raw()))
    }

    /// An integer with all bits set, or a vector of it.
    pub(crate) fn all_ones(self) -> Value<'m> {
        assert!(self.scalar().is_int(), "all ones of {}", self.text());
        value!(LLVMConstAllOnes(self.raw()))
    }

    /// An integer of this type, or a vector of it in every element.
    pub(crate) fn constant(self, number: i64) -> Value<'m> {
        if self.is_vector() {
            return Value::constant_vector(&vec![self.element().constant(number); self.length()]);
        }
        assert!(self.is_int(), "an integer of the type {}", self.text());
        value!(LLVMConstInt(self.raw(), number as u64, 1))
    }

    /// A floating-point number of this type, or a vector of it in every element.
    pub(crate) fn real(self, number: f64) -> Value<'m> {
        if self.is_vector() {
            return Value::constant_vector(&vec![self.element().real(number); self.length()]);
        }
        assert!(self.is_floating_point(), "a floating-point number of the type {}", self.text());
        value!(LLVMConstReal(self.raw(), number))
    }

    /// A number as a pointer of this type.
    pub(crate) fn pointer_number(self, number: i64) -> Value<'m> {
        assert!(self.is_pointer(), "{} is no pointer type", self.text());
        value!(LLVMConstIntToPtr(Type::int(self.context(), 64).constant(number).raw(), self.raw()))
    }

    /// A constant array or structure of this type.
    pub(crate) fn constant_aggregate(self, parts: &[Value<'m>]) -> Value<'m> {
        if self.is_array() {
            assert!(parts.len() as u64 == self.array_length(), "the elements of {}", self.text());
            return self.element().constant_array(parts);
        }
        let types = parts.iter().map(|part| part.ty());
        assert!(
            parts.iter().all(|part| part.is_constant()) && types.eq(self.members()),
            "members of {}",
            self.text()
        );
        let mut raw: Vec<LLVMValueRef> = parts.iter().map(|one| one.raw()).collect();
        let count = raw.len() as u32;
        if llvm!(LLVMIsLiteralStruct(self.raw())) == 0 {
            return value!(LLVMConstNamedStruct(self.raw(), raw.as_mut_ptr(), count));
        }
        let packed = llvm!(LLVMIsPackedStruct(self.raw()));
        value!(LLVMConstStructInContext(self.context().raw(), raw.as_mut_ptr(), count, packed))
    }

    /// A constant array with elements of this type.
    pub(crate) fn constant_array(self, elements: &[Value<'m>]) -> Value<'m> {
        assert!(self.is_sized(), "an array of {}", self.text());
        assert!(elements.iter().all(|one| one.is_constant() && one.ty() == self), "constants of one type");
        let mut raw: Vec<LLVMValueRef> = elements.iter().map(|one| one.raw()).collect();
        value!(LLVMConstArray2(self.raw(), raw.as_mut_ptr(), raw.len() as u64))
    }
}

impl<'m> Value<'m> {
    pub(crate) fn constant_vector(parts: &[Value<'m>]) -> Value<'m> {
        let [first, ..] = parts else { panic!("a vector without elements") };
        let ty = first.ty();
        assert!(ty.is_element(), "a vector of {}", ty.text());
        assert!(parts.iter().all(|part| part.is_constant() && part.ty() == ty), "constants of one type");
        let mut raw: Vec<LLVMValueRef> = parts.iter().map(|part| part.raw()).collect();
        value!(LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32))
    }

    /// A constant pointer in another address space.
    pub(crate) fn in_address_space_of(self, pointer: Type<'m>) -> Value<'m> {
        assert!(self.is_constant() && self.ty().is_pointer() && pointer.is_pointer(), "a constant pointer");
        assert!(self.ty().context() == pointer.context(), "types of two contexts");
        if self.ty() == pointer {
            return self;
        }
        value!(LLVMConstAddrSpaceCast(self.raw(), pointer.raw()))
    }

    pub(crate) fn is_constant(self) -> bool {
        llvm!(LLVMIsConstant(self.raw())) != 0
    }

    pub(crate) fn is_undef(self) -> bool {
        llvm!(LLVMIsUndef(self.raw())) != 0
    }

    pub(crate) fn is_null(self) -> bool {
        llvm!(LLVMIsNull(self.raw())) != 0
    }

    pub(crate) fn is_constant_expression(self) -> bool {
        !llvm!(LLVMIsAConstantExpr(self.raw())).is_null()
    }

    /// The value of an integer constant of at most 64 bits, sign-extended.
    pub(crate) fn as_int(self) -> Option<i64> {
        let is_constant = !llvm!(LLVMIsAConstantInt(self.raw())).is_null();
        let fits = is_constant && self.ty().is_int() && self.ty().int_bits() <= 64;
        fits.then(|| llvm!(LLVMConstIntGetSExtValue(self.raw())))
    }

    /// An element of a constant vector, array or structure.
    pub(crate) fn constant_element(self, index: usize) -> Option<Value<'m>> {
        let ty = self.ty();
        if !self.is_constant() || !(ty.is_vector() || ty.is_array() || ty.is_struct()) {
            return None;
        }
        let index = u32::try_from(index).ok()?;
        // LLVM returns null for an index beyond the end.
        llvm!(Value::from_raw(LLVMGetAggregateElement(self.raw(), index)))
    }
}
