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

    /// Adds an attribute without a value (`convergent`) to a function.
    pub(crate) fn add_attribute(self, name: &str) {
        assert!(self.is_function(), "no function: {}", self.text());
        let context = self.ty().context();
        let attribute = llvm!(LLVMCreateEnumAttribute(context.raw(), kind(name), 0));
        llvm!(LLVMAddAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, attribute))
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

    /// Adds an attribute of text (`"no-builtins"`) to a function.
    pub(crate) fn add_text_attribute(self, name: &str, value: &str) {
        assert!(self.is_function(), "no function: {}", self.text());
        let attribute = llvm!(LLVMCreateStringAttribute(
            self.ty().context().raw(),
            name.as_ptr().cast(),
            name.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32,
        ));
        llvm!(LLVMAddAttributeAtIndex(self.raw(), LLVMAttributeFunctionIndex, attribute))
    }
}
