//! Rotary position embeddings of a model, and the schemes that extend its context.

use super::keys::Keys;
use crate::error::Result;
use crate::metal::operations::rope_frequencies;

/// One of the rotations of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RopeKind {
    /// Rotation of most models: for all positions of the context.
    Global,
}

/// A rotation.
#[derive(Clone, PartialEq, Debug)]
pub struct Rope {
    /// Base of the frequencies.
    pub base: f64,
    /// Rotated dimensions of a head.
    pub rotary: usize,
    /// Divisor of positions.
    pub scale: f64,
}

impl Rope {
    pub(super) fn read(keys: &Keys<'_>, head_dim: usize) -> Result<Rope> {
        let rope = Rope {
            base: keys.optional("rope.freq_base")?.unwrap_or(10_000.0),
            rotary: keys.optional_count("rope.dimension_count")?.unwrap_or(head_dim),
            scale: scale(keys)?,
        };
        if !(rope.base.is_finite() && rope.base > 0.0) {
            return keys.reject(format_args!("the RoPE base is {}: it must be above 0", rope.base));
        }
        Ok(rope)
    }

    /// Angle of each pair per position. Some models store `factors`.
    pub fn frequencies(&self, factors: Option<&[f32]>) -> Vec<f32> {
        let mut frequencies = rope_frequencies(self.base, self.rotary, factors);
        frequencies.iter_mut().for_each(|frequency| *frequency /= self.scale as f32);
        frequencies
    }
}

/// Divisor of positions: 1 for Llama 3, which has a tensor of factors instead.
fn scale(keys: &Keys<'_>) -> Result<f64> {
    let old: Option<f64> = keys.optional("rope.scale_linear")?;
    let kind = keys.optional::<&str>("rope.scaling.type")?.unwrap_or("linear");
    let factor = match kind {
        "none" => 1.0,
        "linear" => keys.optional("rope.scaling.factor")?.or(old).unwrap_or(1.0),
        // Files of Llama 3 may name the scheme; the tensor has its factors.
        "llama3" => 1.0,
        _ => return keys.reject(format_args!("RoPE scaling '{kind}' is not supported yet")),
    };
    // Old files have 0 for no scaling.
    match factor {
        0.0 => Ok(1.0),
        factor if factor.is_finite() && factor > 0.0 => Ok(factor),
        factor => keys.reject(format_args!("the RoPE scaling factor is {factor}: it must be above 0")),
    }
}
