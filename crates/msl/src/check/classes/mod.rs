//! Structs, classes and unions.
//!
//! ```text
//! declare ──┬── define ── fields      members, bases, layout
//!           └── templates             primary templates and specializations, as written
//! duplicates                          members that a class declares twice
//! outside, outside_values             members that are defined after their class, values of static ones
//! packing                             members that may lie at any byte
//! bases, inherited, access            inheritance, also of constructors; private and protected members
//! resources                           classes of the library that have no members
//! ```
//!
//! The members of an ordinary class are checked when it is defined, those of an instantiation when they are used.

mod access;
mod bases;
mod declare;
mod define;
mod duplicates;
mod fields;
mod inherited;
mod outside;
mod outside_values;
mod packing;
mod resources;
mod templates;
pub(super) use resources::ResourceKind;
pub(super) use templates::refuse_duplicate_params;
