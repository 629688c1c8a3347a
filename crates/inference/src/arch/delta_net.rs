//! Layers of gated delta-nets among those with attention.

use super::DeltaNetLayer;
use super::keys::Keys;
use crate::error::Result;
use crate::metal::operations::CONV_WIDTH;

/// Attention is the mixer of every fourth layer, unless the metadata says otherwise.
const DEFAULT_INTERVAL: usize = 4;

/// Gated delta-nets of the layers; `None` for those with attention.
pub(super) fn layers(keys: &Keys<'_>, count: usize) -> Result<Vec<Option<DeltaNetLayer>>> {
    if !keys.architecture.delta_net {
        return Ok(vec![None; count]);
    }
    let shape = DeltaNetLayer {
        heads: keys.count("ssm.time_step_rank")?,
        key_heads: keys.count("ssm.group_count")?,
        head_dim: keys.count("ssm.state_size")?,
    };
    let DeltaNetLayer { heads, key_heads, head_dim } = shape;
    let (width, inner) = (shape.width(), keys.count("ssm.inner_size")?);
    if inner != width {
        return keys.reject(format_args!("{heads} recurrent heads of {head_dim} are {width} wide, not {inner}"));
    }
    if !heads.is_multiple_of(key_heads) {
        return keys
            .reject(format_args!("{heads} recurrent value heads are not a multiple of {key_heads} key heads"));
    }
    if !head_dim.is_multiple_of(32) || head_dim > 256 {
        return keys.reject(format_args!(
            "the dimension of recurrent heads is {head_dim}: it must be a multiple of 32, at most 256"
        ));
    }
    let conv = keys.count("ssm.conv_kernel")?;
    if conv != CONV_WIDTH {
        return keys.reject(format_args!("a convolution over {conv} tokens is not supported, only {CONV_WIDTH}"));
    }
    if let Some(recurrent) = keys.flags("attention.recurrent_layers", count)? {
        return Ok(recurrent.into_iter().map(|is_recurrent| is_recurrent.then_some(shape)).collect());
    }
    let interval = keys.optional_count("full_attention_interval")?.unwrap_or(DEFAULT_INTERVAL);
    Ok((1..=count).map(|layer| (!layer.is_multiple_of(interval)).then_some(shape)).collect())
}
