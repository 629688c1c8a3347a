//! Metal's protocols for compute.
use crate::runtime::Class;
pub(crate) static CLASSES: &[&Class] = &[];
