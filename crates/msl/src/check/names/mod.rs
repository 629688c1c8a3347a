//! Names: what identifiers, paths and written types mean.
//!
//! ```text
//! lookup ── undeclared ── suggest                    paths; the error for an unknown name
//! type_names ──┬── compound_types                    written types
//!              └── type_traits                       questions of the standard library about types
//! notices                                            deprecated and unavailable names
//! ```

mod compound_types;
mod lookup;
mod notices;
mod suggest;
mod type_names;
mod type_traits;
mod undeclared;

pub(super) use compound_types::{adjust_param_type, space_or_thread};
pub(super) use lookup::{Found, Qualifier};
pub(super) use suggest::closest;
pub(super) use type_names::{DEPENDENT, ERROR, builtin_type};
pub(super) use undeclared::did_you_mean;
