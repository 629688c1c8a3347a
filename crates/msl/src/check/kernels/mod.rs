//! Entry points: their form, the bindings of their parameters, and explicit instantiations of kernel templates.
//!
//! ```text
//! instantiations ──┐
//! declarations ────┴── entry_points ── bindings ── inputs
//!                        host name      buffer, texture, sampler and threadgroup indices, built-in values
//! ```

mod bindings;
mod entry_points;
mod inputs;
mod instantiations;
