//! Descriptions of pipelines to create.

use super::constants::KernelConstants;
use super::key::PipelineKey;
use crate::backend::Simdgroups;
use std::fmt;

/// A pipeline to create.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PipelineConfig {
    key: PipelineKey,
}

impl PipelineConfig {
    /// A kernel with constants.
    pub fn new(kernel: &str, constants: impl KernelConstants) -> PipelineConfig {
        PipelineConfig { key: PipelineKey::new(kernel, constants) }
    }

    /// Promises that the volume of every threadgroup is a multiple of 32. Part of the key: a dispatch that breaks the
    /// promise fails.
    pub fn with_full_simdgroups(self) -> PipelineConfig {
        self.with_simdgroups(Simdgroups::Full)
    }

    /// Makes a promise about the simdgroups of all dispatches. Part of the key.
    pub fn with_simdgroups(mut self, simdgroups: Simdgroups) -> PipelineConfig {
        self.key = self.key.with_simdgroups(simdgroups);
        self
    }

    /// The key of the pipeline.
    pub fn key(&self) -> &PipelineKey {
        &self.key
    }
}

impl From<PipelineKey> for PipelineConfig {
    fn from(key: PipelineKey) -> PipelineConfig {
        PipelineConfig { key }
    }
}

impl fmt::Display for PipelineConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}
