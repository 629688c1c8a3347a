//! Language models on Metal kernels.

pub mod metal;
