//! Text: how tokens are chosen.

mod sampling;

pub use sampling::Sampling;
