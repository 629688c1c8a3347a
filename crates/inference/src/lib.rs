//! Language models on Metal kernels.

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

pub mod selftest;
pub mod synthetic;
pub mod tokenizer;
pub mod weights;

pub use error::{Error, Result};
