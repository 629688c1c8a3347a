//! Definitions of operations, which cases are built from. The files of [`crate::metal::operations`] contain them in
//! tables.

use super::case::Case;
use super::data::{Maker, Problem, Workload};
use crate::formats::Format;

/// An operation: its kernels, the types and sizes to measure and check it with, and its work.
#[derive(Debug)]
pub struct Operation {
    /// Name of its cases, without the suffix of their types.
    pub name: &'static str,
    /// Names of its kernels, without the suffix of their types.
    pub(crate) kernels: &'static [&'static str],
    pub(crate) variants: Variants,
    /// Sizes to measure: numbers, or names of a model's sizes.
    pub(crate) shape: &'static str,
    /// Sizes to check: small, and multiples of nothing. K and D are rounded up to whole blocks.
    pub(crate) checks: &'static [&'static str],
    /// Bytes that must be read and written at least, with perfect caches.
    pub(crate) bytes: fn(&Case) -> f64,
    /// Floating-point operations; a function like exp counts as one.
    pub(crate) flops: fn(&Case) -> f64,
    pub(crate) build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
}

/// Types that an operation exists for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variants {
    /// `_q8_0_f32`: weights and activations.
    Weights(&'static [Format]),
    /// `_f32`: activations.
    Activations,
    /// `_f32_kv_f16`: activations and cache.
    Attention,
    /// `_f32_kv_f16`: activations and cache, which is not quantized.
    PlainCache,
    /// `_f32_f16`: activations and cache.
    Cache,
    /// f32 only.
    One,
}

/// All operations, in the order of their files.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    crate::metal::operations::TABLES.into_iter().flatten()
}

/// Kernels without a case, and the reasons.
pub const NOT_COVERED: &[(&str, &str)] = &[];
