//! Models that can be quantized: metadata and tensors with GGUF's names and shapes, from any file format.

use std::ops::Range;
use std::path::Path;

use crate::formats;
use crate::gguf::{Gguf, Metadata};
use crate::weights::{FileError, TensorInfo, TensorType};
use half::{bf16, f16};

/// A model to quantize. Several threads read different rows at the same time.
pub trait QuantizeInput: Sync {
    /// Metadata, with GGUF's keys.
    fn metadata(&self) -> &Metadata;

    /// Tensors, with GGUF's names and shapes. Their types are those of the input, for the rules and for sizes.
    fn tensors(&self) -> &[TensorInfo];

    /// Path of the input, for messages.
    fn path(&self) -> Option<&Path>;

    /// Bytes of rows of a tensor, in its type.
    fn read_rows(&self, tensor: &TensorInfo, rows: Range<u64>) -> Result<Vec<u8>, FileError>;

    /// Numbers of rows of a tensor.
    fn read_numbers(&self, tensor: &TensorInfo, rows: Range<u64>) -> Result<Vec<f32>, FileError> {
        let bytes = self.read_rows(tensor, rows)?;
        Ok(match tensor.kind {
            TensorType::F32 => bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            TensorType::F16 => {
                bytes.as_chunks().0.iter().map(|&bytes| f16::from_le_bytes(bytes).to_f32()).collect()
            }
            TensorType::BF16 => {
                bytes.as_chunks().0.iter().map(|&bytes| bf16::from_le_bytes(bytes).to_f32()).collect()
            }
            _ => formats::dequantize(tensor.format()?, &bytes).into_iter().map(|number| number as f32).collect(),
        })
    }
}

impl QuantizeInput for Gguf {
    fn metadata(&self) -> &Metadata {
        Gguf::metadata(self)
    }

    fn tensors(&self) -> &[TensorInfo] {
        self.weights().tensors()
    }

    fn path(&self) -> Option<&Path> {
        Gguf::path(self)
    }

    fn read_rows(&self, tensor: &TensorInfo, rows: Range<u64>) -> Result<Vec<u8>, FileError> {
        let row = tensor.columns() / tensor.kind.block_len() * tensor.kind.block_size();
        let range = (rows.start * row) as usize..(rows.end * row) as usize;
        let mut buffer = Vec::new();
        self.weights().read(tensor, range, &mut buffer).map(<[u8]>::to_vec)
    }
}
