//! A third back end, written against the public traits alone: a GPU with its own memory that counts all its work.
//!
//! ```text
//! compute::Device ── the traits of compute::backend ── toy ── compute::Device of the CPU, which the toy owns
//!   device      properties, limits; connects the other parts
//!   buffer      private memory of the inner device; the host's bytes go through staging memory
//!   library     libraries and functions of the inner device
//!   pipeline    pipeline states of the inner device, within the toy's limits
//!   recording   prepared tables
//!   encode      steps of a submission as calls on inner encoders
//!   queue       a thread per queue, which completes submissions in order
//!   counts      counts of the work done
//! ```
//!
//! It differs from the CPU where a device may: the host cannot access its memory, private memory begins as garbage,
//! work completes on another thread, and the limits are lower. Tests of other crates include this folder with
//! `#[path]`.
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
