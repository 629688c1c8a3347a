//! What to create.

use super::constants::KernelConstants;
use super::key::PipelineKey;
use crate::size::Size;
use std::fmt;

/// A pipeline to create: its key, and what to compile right away.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PipelineConfig {
    key: PipelineKey,
    threads_per_threadgroup: Option<Size>,
}

impl PipelineConfig {
    /// A kernel with constants.
    pub fn new(kernel: &str, constants: impl KernelConstants) -> PipelineConfig {
        PipelineConfig { key: PipelineKey::new(kernel, constants), threads_per_threadgroup: None }
    }

    /// Promises that the volume of every threadgroup is a multiple of 32. Part of the key: a dispatch that breaks the
    /// promise fails.
    pub fn with_full_simdgroups(mut self) -> PipelineConfig {
        self.key = self.key.with_full_simdgroups();
        self
    }

    /// Compiles what threadgroups of this size need; the default is full simdgroups. Not part of the key: it is one
    /// pipeline for all sizes, and it may be declared with several.
    pub fn with_threads_per_threadgroup(mut self, threads: Size) -> PipelineConfig {
        self.threads_per_threadgroup = Some(threads);
        self
    }

    /// What the pipeline is found by.
    pub fn key(&self) -> &PipelineKey {
        &self.key
    }

    /// The size of threadgroups to compile for.
    pub fn threads_per_threadgroup(&self) -> Option<Size> {
        self.threads_per_threadgroup
    }
}

impl From<PipelineKey> for PipelineConfig {
    fn from(key: PipelineKey) -> PipelineConfig {
        PipelineConfig { key, threads_per_threadgroup: None }
    }
}

impl fmt::Display for PipelineConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)?;
        match self.threads_per_threadgroup {
            Some(Size { width, height, depth }) => write!(f, "@{width}x{height}x{depth}"),
            None => Ok(()),
        }
    }
}
