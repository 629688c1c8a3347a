//! Visible functions of libraries, which are linked to kernels.

use crate::archive::key::Key;
use crate::backend::{self, LinkedFunction};
use crate::device::Device;
use crate::error::{Error, Result, usage};
use crate::library::Library;
use abi::Constants;
use std::sync::Arc;

/// A function with the attribute `[[visible]]`, with fixed function constants. A clone is the same function.
#[derive(Clone)]
pub struct VisibleFunction {
    library: Library,
    name: Arc<str>,
    function: Arc<dyn backend::VisibleFunction>,
    digest: Option<[u8; 32]>,
}

/// The functions that a kernel can call through visible function tables, as Metal's `MTLLinkedFunctions`.
#[derive(Clone, Default, Debug)]
pub struct LinkedFunctions {
    /// Functions that tables can hold, with different names.
    pub functions: Vec<VisibleFunction>,
}

impl Library {
    /// A function with the attribute `[[visible]]`, with values for its function constants.
    pub fn new_visible_function(&self, name: &str, constants: &Constants) -> Result<VisibleFunction> {
        let function = self.backend().new_visible_function(name, constants)?;
        let function = function.ok_or_else(|| {
            Error::Usage(match self.function_names().iter().any(|other| other == name) {
                true => format!("'{name}' is a kernel, not a visible function"),
                false => format!("the library has no visible function '{name}'"),
            })
        })?;
        let digest = self.backend().digest(name).map(|digest| Key::new(&digest, name, constants, "visible").0);
        Ok(VisibleFunction { library: self.clone(), name: name.into(), function, digest })
    }
}

impl VisibleFunction {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for VisibleFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VisibleFunction").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl LinkedFunctions {
    /// The functions for a pipeline request, checked to belong to the device.
    pub(crate) fn for_device(&self, device: &Device, kernel: &str) -> Result<Vec<LinkedFunction>> {
        if !self.functions.is_empty() && !device.backend().has_function_tables() {
            let what = format!("linking functions on {}", device.name());
            return Err(Error::Unsupported { kernel: kernel.into(), what });
        }
        let mut linked: Vec<LinkedFunction> = Vec::new();
        for VisibleFunction { library, name, function, digest } in &self.functions {
            library.for_device(device, name)?;
            if linked.iter().any(|other| other.name == *name) {
                return usage(format!("kernel '{kernel}': two linked functions have the name '{name}'"));
            }
            linked.push(LinkedFunction { name: name.clone(), function: function.clone(), digest: *digest });
        }
        Ok(linked)
    }
}
