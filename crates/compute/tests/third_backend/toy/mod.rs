//! A third back end, written against the public traits alone: a GPU with memory of its own that counts everything it does.
//!
//! ```text
//! compute::Device ── the traits of compute::backend ── toy ── compute::Device of the CPU, which the toy owns
//!   device      properties, limits; where the other parts meet
//!   buffer      private memory of the inner device; the host's bytes go through staging memory
//!   library     libraries and functions of the inner device
//!   pipeline    pipeline states of the inner device, within the toy's limits
//!   recording   tables made ready
//!   encode      steps of a submission as calls on inner encoders
//!   queue       a thread for each queue, which completes submissions when it gets to them
//!   counts      how much of everything was done
//! ```
//!
//! It differs from the CPU wherever a device may: the host never reaches its memory, private memory begins as garbage, work is
//! completed on another thread, and the limits are lower. Tests of other crates include this folder with `#[path]`.
#![allow(dead_code, unused_imports, reason = "each test that includes the toy uses a part of it")]

mod buffer;
mod counts;
mod device;
mod encode;
mod library;
mod pipeline;
mod queue;
mod recording;

pub(crate) use counts::Counts;
pub(crate) use device::{Fault, Toy, ToyOptions};
