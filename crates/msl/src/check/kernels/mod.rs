//! Entry points: their form, the bindings of their parameters, and explicit instantiations of kernel templates.
//!
//! ```text
//! instantiations ──┐
//! declarations ────┴── entry_points ── bindings ── inputs, written
//!                        │               buffer, texture, sampler and threadgroup indices, built-in values
//!                        └── stages ── stage_values
//!                            results     inputs and outputs of graphics functions
//! ```

mod bindings;
mod entry_points;
mod inputs;
mod instantiations;
mod stage_values;
mod stages;
mod written;

use stages::StageKind;
