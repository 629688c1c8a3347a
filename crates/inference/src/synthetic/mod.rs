//! Synthetic models, generated from a seed: with the shapes of real models for benchmarks without a long download, and
//! tiny ones for tests.
//!
//! ```text
//! `llama-8b:q4_k_m` ── shapes, mixture ── metadata, vocabulary ─┐
//!                             └────────── tensors ── numbers ───┴── gguf::Builder ── file or memory
//! ```
//!
//! A name and a seed determine every byte. Weights are scaled so that activations stay near 1 in every layer.

mod delta_net;
mod mixture;
mod numbers;
mod shapes;
mod tensors;
mod vocabulary;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use crate::gguf::{Builder, Gguf};
use crate::weights::{FileError, FileErrorKind};

use mixture::Mixture;
use shapes::{SHAPES, Shape};
use tensors::Tensor;

/// Synthetic model.
///
/// ```
/// let model: metalworks_inference::synthetic::SyntheticModel = "llama-tiny:q4_0".parse()?;
/// assert_eq!(model.open()?.get::<u32>("llama.block_count")?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SyntheticModel {
    shape: &'static Shape,
    mixture: Mixture,
    seed: u64,
}

/// Error of an unknown shape or format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameError(String);

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NameError {}

impl FromStr for SyntheticModel {
    type Err = NameError;

    /// Parses a shape, and a format or a mixture such as `q4_k_m`: `llama-8b:q4_0`.
    fn from_str(name: &str) -> Result<SyntheticModel, NameError> {
        let (shape, format) = name.split_once(':').ok_or_else(|| {
            NameError(format!(
                "'{name}' has no format: name it like {}:q4_0",
                if name.is_empty() { "llama-tiny" } else { name }
            ))
        })?;
        let found = SHAPES.iter().find(|known| known.name == shape).ok_or_else(|| {
            NameError(format!("there is no shape '{shape}'; there are {}", SyntheticModel::shapes().join(", ")))
        })?;
        let mixture =
            Mixture::all().find(|known| known.to_string().eq_ignore_ascii_case(format)).ok_or_else(|| {
                let formats: Vec<String> = Mixture::all().map(|known| known.to_string()).collect();
                NameError(format!("there is no format '{format}'; there are {}", formats.join(", ")))
            })?;
        Ok(SyntheticModel { shape: found, mixture, seed: 0 })
    }
}

impl fmt::Display for SyntheticModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape.name, self.mixture)
    }
}

impl SyntheticModel {
    /// Names of all shapes.
    pub fn shapes() -> Vec<&'static str> {
        SHAPES.iter().map(|shape| shape.name).collect()
    }

    /// Sets the seed. Default: 0.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> SyntheticModel {
        SyntheticModel { seed, ..self }
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> io::Result<u64> {
        self.builder().0.size()
    }

    /// Generates the model in memory.
    pub fn open(&self) -> Result<Gguf, FileError> {
        let (builder, tensors) = self.builder();
        let bytes = builder.to_bytes(|index, out| tensors[index].fill(self.seed, out));
        Gguf::from_bytes(bytes.map_err(|error| FileError::new(FileErrorKind::Io, error.to_string()))?)
    }

    /// Writes the file. Calls `progress` after each tensor with the bytes done and the total.
    pub fn write(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
        let (builder, tensors) = self.builder();
        let total = builder.size()?;
        let mut done = 0;
        builder.write(out, &mut |index, out| {
            tensors[index].fill(self.seed, out)?;
            done += tensors[index].size();
            progress(done, total);
            Ok(())
        })
    }

    /// Writes the file to a path. Removes the incomplete file on failure.
    pub fn write_file(&self, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
        compute::files::replace(path, |out| self.write(out, progress))
    }

    fn builder(&self) -> (Builder, Vec<Tensor>) {
        let tensors = tensors::all(self.shape, self.mixture);
        let mut builder = self.shape.metadata(self.mixture).key("general.name", self.to_string());
        builder = vocabulary::add(builder, self.shape.vocabulary, self.shape.pre_tokenizer);
        for tensor in &tensors {
            builder = builder.tensor(&tensor.name, tensor.format.tensor_type(), &tensor.dimensions);
        }
        (builder, tensors)
    }
}
