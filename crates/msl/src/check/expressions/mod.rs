//! Expressions: from the syntax tree to typed expressions of the program.
//!
//! ```text
//! operand ──┬── paths, this, members, index            names and parts of objects
//!           ├── member_pointers, member_access          `&C::m`, `.*`, `->*`
//!           ├── operators ── arithmetic, assignment     built-in operators
//!           ├── casts, conditional, lambda, lambda_pointers
//!           ├── unevaluated                             decltype, sizeof
//!           ├── uniform                                 operators on `uniform<T>`
//!           ├── suspicious                              warnings
//!           └── constants                               constant expressions, by the evaluator
//! ```
//!
//! Calls are in `calls`, brace lists in `initialization`.

mod arithmetic;
mod assignment;
mod casts;
mod conditional;
mod constants;
mod index;
mod lambda;
mod lambda_pointers;
mod member_access;
mod member_pointers;
mod members;
mod operand;
mod operators;
mod paths;
mod suspicious;
mod this;
mod unevaluated;
mod uniform;

pub(super) use constants::truth;
pub(super) use operand::{FunctionSet, Operand};
pub(super) use operators::invalid_operands;
pub(super) use this::this_value;
