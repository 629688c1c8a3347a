//! Rotary position embeddings of a model, and the schemes that extend its context.

use super::LocalRope;
use super::keys::Keys;
use crate::error::Result;
use crate::metal::operations::rope_frequencies;
use std::f64::consts::TAU;

/// One of the rotations of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RopeKind {
    /// Of layers that see all positions, and of all layers in most models.
    Global,
    /// Of layers with a window, if they have one of their own.
    Local,
}

/// A rotation.
#[derive(Clone, PartialEq, Debug)]
pub struct Rope {
    /// Base of the frequencies.
    pub base: f64,
    /// Rotated dimensions of a head.
    pub rotary: usize,
    /// Scheme that extends the context.
    pub scaling: RopeScaling,
    /// Factor of rotated queries and keys, besides that of the scheme.
    pub magnitude: f64,
    /// Context length before the extension.
    pub original_context: usize,
    /// Limits of YaRN are not rounded to whole pairs.
    pub exact_yarn: bool,
}

/// Scheme that extends the context.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RopeScaling {
    /// Positions are divided by a factor, which may be 1.
    Linear(f64),
    /// YaRN: low frequencies are divided by the factor, high ones kept, those between mixed.
    Yarn {
        /// Of the context.
        factor: f64,
        /// Share of the original frequency in high ones.
        extrapolation: f64,
        /// Frequencies with more turns than this in the original context are high.
        fast: f64,
        /// Frequencies with fewer turns than this are low.
        slow: f64,
    },
}

impl Rope {
    /// Reads the rotation of layers that see all positions.
    pub(super) fn read(keys: &Keys<'_>, head_dim: usize) -> Result<Rope> {
        let original_context = match keys.optional_count("rope.scaling.original_context_length")? {
            Some(context) => context,
            None => keys.count("context_length")?,
        };
        let rotary = keys.optional_count("rope.dimension_count")?.unwrap_or(head_dim);
        let base = keys.optional("rope.freq_base")?.unwrap_or(10_000.0);
        // Hunyuan VL's, by which converters of other models multiply the base.
        let stretch = match keys.positive_or_none("rope.scaling.alpha")? {
            Some(alpha) if rotary > 2 => alpha.powf(rotary as f64 / (rotary as f64 - 2.0)),
            _ => 1.0,
        };
        let rope = Rope {
            base: base * stretch,
            rotary,
            scaling: RopeScaling::read(keys)?,
            magnitude: keys.positive("rope.scaling.attn_factor")?.unwrap_or(1.0),
            original_context,
            exact_yarn: keys.architecture.exact_yarn,
        };
        rope.check(keys)?;
        Ok(rope)
    }

    /// Reads the rotation of layers with a window; `None` if it is that of all layers.
    pub(super) fn read_local(&self, keys: &Keys<'_>) -> Result<Option<Rope>> {
        let base: Option<f64> = keys.optional("rope.freq_base_swa")?;
        let unscaled = |base| Rope { base, scaling: RopeScaling::Linear(1.0), magnitude: 1.0, ..self.clone() };
        let local = match keys.architecture.local_rope {
            LocalRope::Global => base.map(|base| Rope { base, ..self.clone() }),
            LocalRope::Unscaled => Some(unscaled(base.unwrap_or(self.base))),
            LocalRope::Base(default) => Some(unscaled(base.unwrap_or(default))),
        };
        local.iter().try_for_each(|rope| rope.check(keys))?;
        Ok(local)
    }

    fn check(&self, keys: &Keys<'_>) -> Result<()> {
        if !(self.base.is_finite() && self.base > 0.0) {
            return keys.reject(format_args!("the RoPE base is {}: it must be above 0", self.base));
        }
        Ok(())
    }

    /// Angle of each pair per position. Some models store `factors`.
    pub fn frequencies(&self, factors: Option<&[f32]>) -> Vec<f32> {
        let mut frequencies = rope_frequencies(self.base, self.rotary, factors);
        match self.scaling {
            RopeScaling::Linear(factor) => {
                frequencies.iter_mut().for_each(|frequency| *frequency /= factor as f32);
            }
            RopeScaling::Yarn { factor, extrapolation, fast, slow } => {
                let pair = |turns: f64| self.pair_of(turns);
                let (first, last) = match self.exact_yarn {
                    true => (pair(fast), pair(slow)),
                    false => (pair(fast).floor(), pair(slow).ceil()),
                };
                let (first, last) = (first.max(0.0), last.min(self.rotary as f64 - 1.0));
                for (index, frequency) in frequencies.iter_mut().enumerate() {
                    let ramp = ((index as f64 - first) / (last - first).max(0.001)).clamp(0.0, 1.0);
                    let kept = (1.0 - ramp) * extrapolation;
                    *frequency = (f64::from(*frequency) * (kept + (1.0 - kept) / factor)) as f32;
                }
            }
        }
        frequencies
    }

    /// Pair that turns this many times in the original context: a fraction.
    fn pair_of(&self, turns: f64) -> f64 {
        let wavelength = self.original_context as f64 / turns;
        self.rotary as f64 * (wavelength / TAU).ln() / (2.0 * self.base.ln())
    }

    /// Factor of rotated queries and keys.
    pub fn magnitude(&self) -> f32 {
        let scheme = match self.scaling {
            RopeScaling::Yarn { factor, .. } if factor > 1.0 => 1.0 + 0.1 * factor.ln(),
            RopeScaling::Yarn { .. } | RopeScaling::Linear(_) => 1.0,
        };
        (self.magnitude * scheme) as f32
    }
}

impl RopeScaling {
    fn read(keys: &Keys<'_>) -> Result<RopeScaling> {
        let kind = keys.optional::<&str>("rope.scaling.type")?.unwrap_or("linear");
        let old: Option<f64> = keys.optional("rope.scale_linear")?;
        // Old files have 0 for no scaling.
        let factor = match keys.optional("rope.scaling.factor")?.or(old).unwrap_or(1.0) {
            0.0 => 1.0,
            factor if factor.is_finite() && factor > 0.0 => factor,
            factor => {
                return keys.reject(format_args!("the RoPE scaling factor is {factor}: it must be above 0"));
            }
        };
        match kind {
            // Files of Llama 3 and of LongRoPE have tensors of factors.
            "none" | "llama3" | "longrope" => Ok(RopeScaling::Linear(1.0)),
            "linear" => Ok(RopeScaling::Linear(factor)),
            "yarn" => Ok(RopeScaling::Yarn {
                factor,
                extrapolation: keys.positive("rope.scaling.yarn_ext_factor")?.unwrap_or(1.0),
                fast: keys.positive("rope.scaling.yarn_beta_fast")?.unwrap_or(32.0),
                slow: keys.positive("rope.scaling.yarn_beta_slow")?.unwrap_or(1.0),
            }),
            _ => keys.reject(format_args!("RoPE scaling '{kind}' is not supported")),
        }
    }
}
