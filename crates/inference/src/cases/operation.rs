//! Operations as cases are made of them. The files of [`crate::metal::operations`] have them in tables.

use super::case::Case;
use super::data::{Maker, Problem, Workload};
use crate::formats::Format;

/// An operation: its kernels, the types and sizes that it is measured and checked with, and the work that it does.
#[derive(Debug)]
pub struct Operation {
    /// A case is called like this, with the types of numbers behind it.
    pub name: &'static str,
    /// Its kernels are called like this.
    pub(crate) kernels: &'static [&'static str],
    pub(crate) variants: Variants,
    /// Sizes to measure: numbers, or those of a model.
    pub(crate) shape: &'static str,
    /// Sizes to check results with: small, and multiples of nothing. Those of K are rounded up to whole blocks.
    pub(crate) checks: &'static [&'static str],
    /// Bytes that must be read and written at least, caches being perfect.
    pub(crate) bytes: fn(&Case) -> f64,
    /// Additions and multiplications; a function like exp counts as one.
    pub(crate) flops: fn(&Case) -> f64,
    pub(crate) build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
}

/// Types of numbers that an operation is there for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variants {
    /// `_q8_0_f32`: weights and activations.
    Weights(&'static [Format]),
    /// `_f32`: activations.
    Activations,
    /// `_f32_kv_f16`: activations and cache.
    Attention,
    /// `_f32_f16`: activations and cache.
    Cache,
    /// All is f32.
    One,
}

/// All operations, by file.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    crate::metal::operations::TABLES.into_iter().flatten()
}

/// Kernels that no case runs, and why.
pub const NOT_COVERED: &[(&str, &str)] = &[];
