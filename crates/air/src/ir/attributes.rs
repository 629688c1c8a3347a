//! Attributes of functions, parameters and calls.

use super::*;
use inkwell::llvm_sys::LLVMAttributeFunctionIndex;
use inkwell::llvm_sys::core::*;

/// The number of an attribute by its name, which LLVM must know.
fn kind(name: &str) -> u32 {
    let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
    assert!(kind != 0, "LLVM has no attribute '{name}'");
    kind
}

fn enum_attribute(context: ContextRef, name: &str, value: u64) -> LLVMAttributeRef {
    llvm!(LLVMCreateEnumAttribute(context.raw(), kind(name), value))
}

fn text_attribute(context: ContextRef, name: &str, value: &str) -> LLVMAttributeRef {
    let (length, value_length) = (name.len() as u32, value.len() as u32);
    llvm!(LLVMCreateStringAttribute(
        context.raw(),
        name.as_ptr().cast(),
        length,
        value.as_ptr().cast(),
        value_length
    ))
}

impl Value<'_> {
    /// The alignment that a call states for a pointer argument, or for each of a vector; 1 where it states none.
    pub(crate) fn argument_align(self, index: u32) -> u32 {
        self.check_argument(index);
        let attribute = llvm!(LLVMGetCallSiteEnumAttribute(self.raw(), index + 1, kind("align")));
        if attribute.is_null() { 1 } else { llvm!(LLVMGetEnumAttributeValue(attribute)) as u32 }
    }

    /// States the alignment of a pointer that a call is given.
    pub(crate) fn set_argument_align(self, index: u32, align: u32) {
        self.check_argument(index);
        let align = align.max(1);
        assert!(align.is_power_of_two(), "an alignment of {align}");
        let context = self.ty().context();
        let attribute = llvm!(LLVMCreateEnumAttribute(context.raw(), kind("align"), align.into()));
        llvm!(LLVMAddCallSiteAttribute(self.raw(), index + 1, attribute))
    }

    fn check_argument(self, index: u32) {
        let argument = self.arguments().get(index as usize).copied();
        assert!(
            argument.is_some_and(|argument| argument.ty().scalar().is_pointer()),
            "argument {index} of {}",
            self.text()
        );
    }

    /// Has every call of a function inlined.
    pub(crate) fn make_inlined(self) {
        assert!(self.is_function(), "no function: {}", self.text());
        for name in ["noinline", "optnone"] {
            llvm!(LLVMRemoveEnumAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, kind(name)));
        }
        self.add_attribute("alwaysinline");
    }

    /// Has no call of a function inlined.
    pub(crate) fn make_separate(self) {
        self.remove_attribute("alwaysinline");
        self.add_attribute("noinline");
    }

    pub(crate) fn remove_attribute(self, name: &str) {
        assert!(self.is_function(), "no function: {}", self.text());
        llvm!(LLVMRemoveEnumAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, kind(name)));
    }

    /// Removes an attribute from each parameter of a function. True if one had it.
    pub(crate) fn remove_parameter_attribute(self, name: &str) -> bool {
        let kind = kind(name);
        let mut found = false;
        for index in 1..=self.parameters().len() as u32 {
            found |= !llvm!(LLVMGetEnumAttributeAtIndex(self.raw(), index, kind)).is_null();
            llvm!(LLVMRemoveEnumAttributeAtIndex(self.raw(), index, kind));
        }
        found
    }

    /// True if a parameter of a function has an attribute.
    pub(crate) fn has_parameter_attribute(self, name: &str) -> bool {
        let (kind, count) = (kind(name), self.parameters().len() as u32);
        (1..=count).any(|index| !llvm!(LLVMGetEnumAttributeAtIndex(self.raw(), index, kind)).is_null())
    }

    /// True if a function has an attribute of text.
    pub(crate) fn has_text_attribute(self, name: &str) -> bool {
        assert!(self.is_function(), "no function: {}", self.text());
        let (bytes, length) = (name.as_ptr().cast(), name.len() as u32);
        !llvm!(LLVMGetStringAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, bytes, length)).is_null()
    }

    /// Adds an attribute without a value (`convergent`) to a function.
    pub(crate) fn add_attribute(self, name: &str) {
        self.add_number_attribute(name, 0);
    }

    /// Adds an attribute with a number (`memory`) to a function.
    pub(crate) fn add_number_attribute(self, name: &str, value: u64) {
        assert!(self.is_function(), "no function: {}", self.text());
        let attribute = enum_attribute(self.ty().context(), name, value);
        llvm!(LLVMAddAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, attribute))
    }

    /// Takes an attribute of text (`"no-nans-fp-math"`) from a function.
    pub(crate) fn remove_text_attribute(self, name: &str) {
        assert!(self.is_function(), "no function: {}", self.text());
        let (bytes, length) = (name.as_ptr().cast(), name.len() as u32);
        llvm!(LLVMRemoveStringAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, bytes, length));
    }

    /// The number of a function's attribute, 0 for one without; `None` where the function does not have it.
    pub(crate) fn attribute(self, name: &str) -> Option<u64> {
        assert!(self.is_function(), "no function: {}", self.text());
        let attribute = llvm!(LLVMGetEnumAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, kind(name)));
        (!attribute.is_null()).then(|| llvm!(LLVMGetEnumAttributeValue(attribute)))
    }

    /// True if a function has any attribute.
    pub(crate) fn has_attributes(self) -> bool {
        assert!(self.is_function(), "no function: {}", self.text());
        llvm!(LLVMGetAttributeCountAtIndex(self.raw(), LLVMAttributeFunctionIndex)) != 0
    }

    /// Adds an attribute to a call.
    pub(crate) fn add_call_attribute(self, name: &str, value: u64) {
        assert!(self.is(Opcode::LLVMCall), "no call: {}", self.text());
        let attribute = enum_attribute(self.ty().context(), name, value);
        llvm!(LLVMAddCallSiteAttribute(self.raw(), LLVMAttributeFunctionIndex, attribute))
    }

    /// Adds an attribute to a parameter of a function. One with a number (`align`, `dereferenceable`) is for pointers.
    pub(crate) fn add_parameter_attribute(self, index: u32, name: &str, value: u64) {
        let parameter = self.parameters().get(index as usize).copied();
        let fits = parameter.is_some_and(|parameter| value == 0 || parameter.ty().is_pointer());
        assert!(fits, "parameter {index} of {}", self.name());
        let attribute = enum_attribute(self.ty().context(), name, value);
        llvm!(LLVMAddAttributeAtIndex(self.raw(), index + 1, attribute))
    }

    /// Passes what a pointer parameter of a function points to by value, as a `ty`.
    pub(crate) fn pass_by_value(self, index: u32, ty: Type) {
        let parameter = self.parameters().get(index as usize).copied();
        let context = self.ty().context();
        let fits = parameter.is_some_and(|parameter| parameter.ty().is_pointer()) && ty.is_sized();
        assert!(fits && ty.context() == context, "parameter {index} of {}", self.name());
        let attribute = llvm!(LLVMCreateTypeAttribute(context.raw(), kind("byval"), ty.raw()));
        llvm!(LLVMAddAttributeAtIndex(self.raw(), index + 1, attribute))
    }

    /// Adds an attribute of text without a value to a parameter of a function.
    pub(crate) fn add_parameter_text_attribute(self, index: u32, name: &str) {
        assert!((index as usize) < self.parameters().len(), "parameter {index} of {}", self.name());
        let attribute = text_attribute(self.ty().context(), name, "");
        llvm!(LLVMAddAttributeAtIndex(self.raw(), index + 1, attribute))
    }

    /// A function's attribute of text (`"target-features"`).
    pub(crate) fn text_attribute(self, name: &str) -> Option<String> {
        assert!(self.is_function(), "no function: {}", self.text());
        let (bytes, length) = (name.as_ptr().cast(), name.len() as u32);
        let attribute = llvm!(LLVMGetStringAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, bytes, length));
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        let value = llvm!(LLVMGetStringAttributeValue(attribute, &mut length));
        // The value has `length` bytes.
        Some(llvm!(text(value, length as usize)))
    }

    /// A call's attribute of text.
    pub(crate) fn call_text_attribute(self, name: &str) -> Option<String> {
        assert!(self.is(Opcode::LLVMCall), "no call: {}", self.text());
        let (bytes, length) = (name.as_ptr().cast(), name.len() as u32);
        let attribute =
            llvm!(LLVMGetCallSiteStringAttribute(self.raw(), LLVMAttributeFunctionIndex, bytes, length));
        if attribute.is_null() {
            return None;
        }
        let mut length = 0;
        let value = llvm!(LLVMGetStringAttributeValue(attribute, &mut length));
        // The value has `length` bytes.
        Some(llvm!(text(value, length as usize)))
    }

    /// Adds an attribute of text (`"no-builtins"`) to a function.
    pub(crate) fn add_text_attribute(self, name: &str, value: &str) {
        assert!(self.is_function(), "no function: {}", self.text());
        let attribute = text_attribute(self.ty().context(), name, value);
        llvm!(LLVMAddAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, attribute))
    }
}
