//! Declarations: namespaces, aliases, enums, variables and functions, in the order of the source.
//!
//! ```text
//! declare ─┬─ enums, globals           constants are evaluated when they are declared or first used
//!          └─ functions ── signatures ── instances ── bodies ── member_initializers
//!               │            parameters    one function   checked when needed
//!               │            and result    per argument set
//!               └─ redeclarations
//! attributes ─ their arguments          alignment ─ alignas and aligned
//!                                       recursion ─ refused at the end, over all calls
//! ```
//!
//! A signature is computed when a function is declared or chosen, and kept for each set of template arguments. A body
//! waits in a queue until the declaration at hand is done.

mod alignment;
mod attributes;
mod bodies;
mod declare;
mod enums;
mod functions;
mod globals;
mod instances;
mod member_initializers;
mod recursion;
mod redeclarations;
mod signatures;

pub(super) use alignment::AlignedThing;
pub(super) use functions::add_function_entity;
pub(super) use recursion::refuse_recursion;
pub(super) use signatures::type_without_qualifiers;
