//! Names: what identifiers, paths and written types mean.
//!
//! ```text
//! lookup ── undeclared ── suggest                    paths; the error for an unknown name
//! type_names ──┬── compound_types                    written types
//!              └── native, type_traits               types and templates that the compiler defines
//! ```

mod compound_types;
mod lookup;
mod native;
mod suggest;
mod type_names;
mod type_traits;
mod undeclared;

pub(super) use compound_types::adjust_param_type;
pub(super) use compound_types::space_or_thread;
pub(super) use native::{NativeTemplate, native_template, native_type};
pub(super) use suggest::closest;
pub(super) use type_names::builtin_type;
pub(super) use type_names::{DEPENDENT, ERROR};
pub(super) use undeclared::did_you_mean;
