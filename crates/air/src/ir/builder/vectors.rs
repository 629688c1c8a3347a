//! Elements of vectors and members of aggregates.

use super::*;
use crate::ir::values::value;

impl<'m> Builder<'m> {
    pub(crate) fn extract(&self, vector: Value<'m>, index: Value<'m>) -> Value<'m> {
        assert!(vector.ty().is_vector() && index.ty().is_int(), "an element of {}", vector.text());
        value!(LLVMBuildExtractElement(self.raw(), self.operand(vector), self.operand(index), NO_NAME))
    }

    pub(crate) fn insert(&self, vector: Value<'m>, element: Value<'m>, index: Value<'m>) -> Value<'m> {
        assert!(vector.ty().is_vector() && index.ty().is_int(), "an element of {}", vector.text());
        assert!(vector.ty().element() == element.ty(), "{} in {}", element.text(), vector.text());
        let (vector, element, index) = (self.operand(vector), self.operand(element), self.operand(index));
        value!(LLVMBuildInsertElement(self.raw(), vector, element, index, NO_NAME))
    }

    /// A shuffle with a fixed pattern; -1 for an element that may be anything.
    pub(crate) fn shuffle(&self, left: Value<'m>, right: Value<'m>, pattern: &[i32]) -> Value<'m> {
        assert!(left.ty() == right.ty(), "a shuffle of {} and {}", left.text(), right.text());
        let length = 2 * left.ty().length();
        assert!(pattern.iter().all(|&index| index < length as i32), "a shuffle beyond element {length}");
        let int = Type::int(self.context(), 32);
        let part = |&index: &i32| if index < 0 { int.poison() } else { int.constant(index.into()) };
        let pattern = Value::constant_vector(&pattern.iter().map(part).collect::<Vec<Value>>());
        let (left, right) = (self.operand(left), self.operand(right));
        value!(LLVMBuildShuffleVector(self.raw(), left, right, pattern.raw(), NO_NAME))
    }

    /// An element of an array.
    pub(crate) fn extract_element(&self, array: Value<'m>, index: u32) -> Value<'m> {
        let is_there = array.ty().is_array() && u64::from(index) < array.ty().array_length();
        assert!(is_there, "element {index} of {}", array.text());
        value!(LLVMBuildExtractValue(self.raw(), self.operand(array), index, NO_NAME))
    }

    pub(crate) fn extract_value(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        let is_there = aggregate.ty().is_struct() && (index as usize) < aggregate.ty().members().len();
        assert!(is_there, "member {index} of {}", aggregate.text());
        value!(LLVMBuildExtractValue(self.raw(), self.operand(aggregate), index, NO_NAME))
    }
}
