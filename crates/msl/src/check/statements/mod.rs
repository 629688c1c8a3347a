//! Statements, and the variables that they declare.
//!
//! ```text
//! statement ──┬── locals       variables of the function, tables in constant memory
//!             ├── bindings     `auto [a, b] = e;`
//!             ├── switch
//!             └── range_for
//! ```

mod bindings;
mod locals;
mod range_for;
mod statement;
mod switch;
