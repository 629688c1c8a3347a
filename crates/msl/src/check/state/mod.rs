//! The state of the checker besides its tables.

mod function;

pub(super) use function::FunctionState;
