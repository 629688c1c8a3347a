//! Statements, and the variables that they declare.
//!
//! ```text
//! statement ──┬── locals       variables of the function, tables in constant memory
//!             ├── switch
//!             └── range_for
//! ```

mod locals;
mod range_for;
mod statement;
mod switch;
