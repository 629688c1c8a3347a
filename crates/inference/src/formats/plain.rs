//! Plain formats, which store numbers one by one.

use super::definition::{Definition, in_order};
use super::rounding::half;
use crate::weights::TensorType;
use half::{bf16, f16};

pub(super) const F32: Definition = Definition {
    name: "f32",
    tensor_type: TensorType::F32,
    file_type: 0,
    narrow: &[],
    tile_offset: in_order,
    rounding: 0.0,
    quantize: |numbers, out| out.extend(numbers[0].to_le_bytes()),
    dequantize: |block| vec![f64::from(f32::from_le_bytes([block[0], block[1], block[2], block[3]]))],
};

pub(super) const F16: Definition = Definition {
    name: "f16",
    tensor_type: TensorType::F16,
    file_type: 1,
    narrow: &[],
    tile_offset: in_order,
    rounding: 1.0 / 2048.0,
    quantize: |numbers, out| out.extend(f16::from_f32(numbers[0]).to_le_bytes()),
    dequantize: |block| vec![half(block, 0)],
};

pub(super) const BF16: Definition = Definition {
    name: "bf16",
    tensor_type: TensorType::BF16,
    file_type: 32,
    narrow: &[],
    tile_offset: in_order,
    rounding: 1.0 / 256.0,
    quantize: |numbers, out| out.extend(bf16::from_f32(numbers[0]).to_le_bytes()),
    dequantize: |block| vec![f64::from(bf16::from_le_bytes([block[0], block[1]]))],
};
