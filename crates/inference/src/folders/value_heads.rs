//! Value heads of delta-nets that have more of them than key heads: those with the same keys are adjacent in folders, and
//! `key_heads` apart in GGUF files of most architectures.

use super::config::{ADJACENT, Config};
use crate::arch::Architecture;
use crate::gguf::Metadata;
use crate::weights::{FileError, HeadOrder, RowOrder};

/// Order of the value heads in a GGUF file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueHeads {
    order: HeadOrder,
    /// Rows of queries and keys, which are before those of values.
    before: usize,
    /// Rows of a head.
    size: usize,
}

/// Order of a tensor's rows, or of its columns.
pub(super) enum TensorOrder {
    Rows(RowOrder),
    Columns(HeadOrder),
}

impl ValueHeads {
    /// The order for a GGUF file, if it differs from that of the folder. Without a conversion, the metadata tell it.
    pub(super) fn read(
        config: &Config<'_>,
        convert: bool,
        metadata: &mut Metadata,
    ) -> Result<Option<ValueHeads>, FileError> {
        let text = config.text;
        let count = |key: &str| text.count(key).map(|count| count.and_then(|count| usize::try_from(count).ok()));
        let (keys, values) = (count("linear_num_key_heads")?, count("linear_num_value_heads")?);
        let Some((key_heads, heads)) = keys.zip(values).filter(|(keys, values)| keys != values) else {
            return Ok(None);
        };
        if Architecture::find(config.family.architecture).is_ok_and(|architecture| architecture.adjacent_heads) {
            return Ok(None);
        }
        if !convert {
            metadata.set(ADJACENT, true);
            return Ok(None);
        }
        let size = text.required("linear_key_head_dim", count("linear_key_head_dim")?)?;
        let before = size.checked_mul(key_heads).and_then(|rows| rows.checked_mul(2));
        match before.filter(|_| key_heads > 0 && heads > 0 && heads.is_multiple_of(key_heads) && heads < 1 << 24) {
            Some(before) => {
                let order = HeadOrder { key_heads, values: heads / key_heads };
                Ok(Some(ValueHeads { order, before, size }))
            }
            None => Err(text.wrong(
                "linear_num_value_heads",
                format_args!("{heads} are no multiple of {key_heads} key heads of {size}"),
            )),
        }
    }

    /// The order of a tensor with so many rows and columns; `None` if it has no value heads. The error is its right size.
    pub(super) fn order(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Option<TensorOrder>, (&'static str, usize)> {
        let (order, heads) = (self.order, self.order.key_heads * self.order.values);
        let (skip, size) = match name.split('.').nth(2).unwrap_or_default() {
            "attn_qkv" | "ssm_conv1d" => (self.before, self.size),
            "attn_gate" => (0, self.size),
            "ssm_alpha" | "ssm_beta" => (0, 1),
            "ssm_a" | "ssm_dt" | "ssm_out" => {
                let size = if name.ends_with("ssm_out.weight") { self.size } else { 1 };
                return match columns == heads * size {
                    true => Ok(Some(TensorOrder::Columns(order))),
                    false => Err(("columns", heads * size)),
                };
            }
            _ => return Ok(None),
        };
        let all = skip + heads * size;
        // MLX's convolutions have a row for each number.
        let taps = rows / all;
        match taps > 0 && rows == taps * all {
            true => Ok(Some(TensorOrder::Rows(RowOrder::Heads { skip: taps * skip, size: taps * size, order }))),
            false => Err(("rows", all)),
        }
    }
}
