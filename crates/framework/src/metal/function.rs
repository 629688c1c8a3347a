//! Functions of a library.

use super::argument_encoder;
use super::constants::{self, ConstantValues};
use super::library::{Library, Listed, ListedConstant, known};
use crate::debug;
use crate::foundation::copied;
use crate::foundation::dictionary::Pairs;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::{Fields, Id, Object, Strong};
use compute::{ConstantsProblem, Error, FunctionConstantValues};
use std::sync::OnceLock;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FunctionKind {
    Kernel,
    Visible,
}

/// A function, with its constants set or not.
pub(crate) struct Function {
    pub(crate) library: Strong,
    pub(crate) listed: Listed,
    pub(crate) constants: FunctionConstantValues,
    /// A kernel whose constants are set is specialized already.
    pub(crate) kernel: Option<compute::Function>,
    pub(crate) visible: Option<compute::VisibleFunction>,
    label: Fields<Strong>,
    /// The name that the program gave to the function with these constants.
    pub(crate) specialized_name: OnceLock<String>,
}

impl Function {
    /// A function without values for its constants; `None` if there is none of this name.
    pub(crate) fn general(library: Object<Library>, name: &str) -> Option<Strong> {
        let listed = library.function(name)?.clone();
        let constants = FunctionConstantValues::new();
        // One with constants is only asked about them.
        let visible = match listed.kind {
            FunctionKind::Visible if listed.constants.is_empty() => {
                library.library.new_visible_function(name, &constants).ok()
            }
            _ => None,
        };
        Some(Function::strong(library, listed, constants, None, visible))
    }

    /// A function with values for its constants.
    pub(crate) fn create(library: Object<Library>, name: &str, values: &[ConstantValues]) -> Result<Strong, Error> {
        let Some(listed) = library.function(name) else {
            return Err(Error::NoFunction { name: name.into(), similar: None });
        };
        let constants = known(listed, values);
        match Function::specialized(library, listed, &constants) {
            // Apple documents an error for a constant that a function needs. Macs take zero: ggml's `acc` leaves one unset.
            Err(Error::Constants { problem: ConstantsProblem::Unset(unset), .. }) if debug::is_off() => {
                Function::specialized(library, listed, &with_zeros(listed, constants, &unset))
            }
            made => made,
        }
    }

    fn specialized(
        library: Object<Library>,
        listed: &Listed,
        constants: &FunctionConstantValues,
    ) -> Result<Strong, Error> {
        let (mut kernel, mut visible) = (None, None);
        match listed.kind {
            FunctionKind::Kernel => kernel = Some(library.library.new_function(&listed.name, constants)?),
            FunctionKind::Visible => {
                visible = Some(library.library.new_visible_function(&listed.name, constants)?);
            }
        }
        Ok(Function::strong(library, listed.clone(), constants.clone(), kernel, visible))
    }

    fn strong(
        library: Object<Library>,
        listed: Listed,
        constants: FunctionConstantValues,
        kernel: Option<compute::Function>,
        visible: Option<compute::VisibleFunction>,
    ) -> Strong {
        let (library, label) = (library.strong(), Fields::default());
        let specialized_name = OnceLock::new();
        Strong::new(Function { library, listed, constants, kernel, visible, label, specialized_name })
    }
}

/// Adds zeros for constants that are named as in [`ConstantsProblem::Unset`].
fn with_zeros(listed: &Listed, mut values: FunctionConstantValues, unset: &[String]) -> FunctionConstantValues {
    for ListedConstant { name, index, data_type, .. } in &listed.constants {
        let start = format!("'{name}' (index {index}, ");
        if unset.iter().any(|constant| constant.starts_with(&start))
            && let (Ok(index), Some(zero)) = (u32::try_from(*index), constants::zero(*data_type))
        {
            values.set(index, zero);
        }
    }
    values
}

class! {
    FUNCTION = "MTLDebugFunction": NS_OBJECT, new Function, ["MTLFunction"]
    absent { "patchType", "patchControlPointCount", "vertexAttributes", }
    methods {
        - "device" (this) -> Id { this.library.cast::<Library>().map_or(Id::NIL, |library| library.device.id()) }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "name" (this) -> Id {
            string::new(this.specialized_name.get().unwrap_or(&this.listed.name)).autorelease()
        }
        - "functionType" (this) -> usize {
            match this.listed.kind { FunctionKind::Kernel => 3, FunctionKind::Visible => 5 }
        }
        - "options" (_this) -> usize { 0 }
        - "newArgumentEncoderWithBufferIndex:" (this, index: usize) -> Id {
            argument_encoder::of_function(this, HERE, index, std::ptr::null_mut())
        }
        - "newArgumentEncoderWithBufferIndex:reflection:" (this, index: usize, reflection: *mut Id) -> Id {
            argument_encoder::of_function(this, HERE, index, reflection)
        }
        - "stageInputAttributes" (_this) -> Id { Id::NIL }
        - "functionConstantsDictionary" (this) -> Id {
            let pairs = this.listed.constants.iter();
            let pairs = pairs.map(|constant| (string::new(&constant.name), Strong::new(constant.clone())));
            Pairs::strong(pairs.collect()).autorelease()
        }
    }
}

class! {
    FUNCTION_CONSTANT = "MTLFunctionConstant": NS_OBJECT, new ListedConstant, []
    methods {
        - "name" (this) -> Id { string::new(&this.name).autorelease() }
        - "type" (this) -> usize { this.data_type }
        - "index" (this) -> usize { this.index }
        - "required" (this) -> bool { this.required }
    }
}
