//! Templates: arguments, deduction, specialization, instantiation.
//!
//! ```text
//! arguments ── bind, objects              explicit arguments, fitted to the parameters
//! deduce ───── deduce_args                arguments from the types of a call
//! choose ───── ordering                   the specialization that fits best
//! instantiate ─ complete                  classes, aliases and variables for given arguments
//! packs                                   parameter packs and their expansion
//! ```

mod arguments;
mod bind;
mod choose;
mod complete;
mod deduce;
mod deduce_args;
mod instantiate;
mod objects;
mod ordering;
mod packs;

pub(super) use arguments::{Given, MOST_ARGS};
pub(super) use complete::{MAX_INSTANTIATION_DEPTH, count_instantiation};
pub(super) use deduce::{Deduction, Match};
pub(super) use instantiate::new_class_instance;
pub(super) use ordering::MADE_UP;
