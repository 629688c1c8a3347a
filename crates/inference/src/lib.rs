//! Language models on Metal kernels: from a GGUF file to text, on an Apple GPU, any CPU, or an NVIDIA GPU.
//!
//! ```text
//! models ── gguf ── weights ──┐                 ┌── tokenizer, chat: text to tokens and back
//!                     arch ───┴── plan ── generate ── Session
//!                                  │
//!                metal: shaders, operations, pipelines ── compute
//! ```
//!
//! # Generate text
//!
//! [`gguf::Gguf`] opens a file; [`plan::Plan`] puts its weights on a device and records the kernels of a step;
//! [`generate::Session`] adds the tokenizer and the chat template. [`models`] finds and downloads files;
//! [`synthetic`] makes small ones with random weights, for tests:
//!
//! ```
//! # #[cfg(llvm)] {
//! use metalworks_inference::generate::{Session, StopReason, TextRequest};
//! use metalworks_inference::metal::MetalDevice;
//! use metalworks_inference::plan::{Plan, PlanOptions};
//! use metalworks_inference::synthetic::SyntheticModel;
//! use std::sync::atomic::AtomicBool;
//!
//! # let in_memory = compute::BinaryArchive::new();
//! # let device = MetalDevice::with_device(compute::Device::cpu()?, in_memory)?;
//! # /*
//! let device = MetalDevice::system_default()?;
//! # */
//! // Gguf::open("model.gguf")? for a real one.
//! let model = "llama-tiny:q8_0".parse::<SyntheticModel>()?.open()?;
//! let plan = Plan::load(&device, &model, &PlanOptions::default(), |_progress| {})?;
//! let mut session = Session::new(plan, &model)?;
//!
//! // Set it from another thread to stop.
//! let cancelled = AtomicBool::new(false);
//! let mut request = TextRequest::new(&cancelled);
//! request.max_tokens = Some(5);
//! request.ignore_end = true;
//! let mut text = String::new();
//! let generated = session.complete("Once upon a time", &request, |piece| text.push_str(piece))?;
//! assert_eq!((generated.tokens, generated.stop), (5, StopReason::MaxTokens));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`generate::Session::answer`] answers the messages of a conversation. The [`plan`] keeps the KV cache: a prompt that
//! begins like the last one is evaluated from where they differ.
//!
//! # Use the kernels
//!
//! [`metal`] is the shader library without the models: products with weights in all of GGUF's usual [`formats`],
//! attention, norms, rotary positions, sampling. An [operation](metal::operations) is a function that takes a struct of
//! named buffers and sizes, checks them, chooses a kernel and its constants for the device, and encodes a dispatch:
//! `examples/gemv.rs` multiplies your own weights. Kernels of your own join them by
//! [`add_library`](metal::MetalDevice::add_library).
//!
//! # Measure and check
//!
//! [`selftest`] compares every kernel on a device with a reference, which `metalworks doctor` prints; [`cases`] has its
//! inputs. [`profile`] says where the time of a model goes. The program `metal-shader-bench` measures kernels.
//!
//! # Limits
//!
//! A plan has one sequence, or several that are decoded together ([`plan::PlanOptions::sequences`]); a session uses
//! one. Both are for one thread at a time: methods take `&mut self`. [`arch`] lists the architectures; a file of another one is an [`Error::Model`]
//! that names it. Devices are those of the crate `metalworks-compute`, which also explains features and compilers.

pub mod arch;
pub mod cases;
pub mod chat;
mod error;
mod folders;
pub mod formats;
pub mod generate;
pub mod gguf;
pub mod metal;
pub mod models;

pub mod plan;
pub mod profile;
pub mod quantize;

pub mod selftest;
pub mod synthetic;
pub mod tokenizer;
pub mod weights;

pub use error::{Error, Result};

/// Tests the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
