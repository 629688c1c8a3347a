//! Tensors of a file in buffers of the device, in the layout that kernels like best. What is in the file as they like it
//! stays there.

use crate::arch::{LayerTensors, ModelTensors};
use crate::error::{Error, Result};
use crate::metal::Tuning;
use crate::metal::format::Format;
use crate::metal::layout::{Layout, Matrix};
use crate::metal::library::BufferSlice;
use crate::weights::{TensorInfo, Weights};
use compute::{Buffer, Device};

/// A matrix of weights.
pub(super) struct Weight {
    buffer: Buffer,
    format: Format,
    layout: Layout,
    rows: usize,
    columns: usize,
}

/// A vector of `f32`.
pub(super) struct Vector {
    buffer: Buffer,
}

pub(super) struct ModelWeights {
    pub(super) embedding: Weight,
    pub(super) layers: Vec<LayerWeights>,
    pub(super) output_norm: Vector,
    output: Option<Weight>,
    /// What frequencies of rotations are divided by.
    pub(super) rope_factors: Option<Vec<f32>>,
    pub(super) memory: WeightMemory,
}

/// Where the weights of a plan are, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct WeightMemory {
    /// Of tensors that were copied, most of them into another layout.
    pub copied: u64,
    /// Of tensors that are used where they are in their files.
    pub mapped: u64,
}

pub(super) struct LayerWeights {
    pub(super) attention_norm: Vector,
    pub(super) q: Weight,
    pub(super) k: Weight,
    pub(super) v: Weight,
    pub(super) biases: Option<[Vector; 3]>,
    pub(super) head_norms: Option<[Vector; 2]>,
    pub(super) attention_output: Weight,
    pub(super) feed_forward_norm: Vector,
    pub(super) gate: Weight,
    pub(super) up: Weight,
    pub(super) down: Weight,
}

impl Weight {
    pub(super) fn matrix(&self) -> Matrix<'_> {
        let Weight { format, layout, rows, columns, .. } = *self;
        Matrix { data: (&self.buffer).into(), format, layout, rows, columns }
    }

    /// Stored alike, so that kernels can take both at once. Those take tiles alone.
    pub(super) fn is_like(&self, other: &Weight) -> bool {
        let like = |weight: &Weight| (weight.format, weight.layout, weight.columns);
        like(self) == like(other)
    }

    /// Whether its rows are taken 32 numbers at a time.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.layout == Layout::Tiles || self.format.block_len() > 1
    }
}

impl Vector {
    pub(super) fn slice(&self) -> BufferSlice<'_> {
        (&self.buffer).into()
    }
}

impl ModelWeights {
    /// The matrix that scores all tokens.
    pub(super) fn head(&self) -> &Weight {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}

/// Brings tensors onto the device, one after the other; what was read of the file is given back at once, so that there is
/// never more than the model and one tensor in memory.
pub(super) struct Loader<'a> {
    pub(super) device: &'a Device,
    pub(super) tuning: Tuning,
    pub(super) weights: &'a Weights,
    /// Is told how many bytes are done, of all.
    pub(super) progress: &'a mut dyn FnMut(u64, u64),
    pub(super) memory: WeightMemory,
    pub(super) total: u64,
}

impl<'a> Loader<'a> {
    pub(super) fn model(&mut self, tensors: &ModelTensors<'_>) -> Result<ModelWeights> {
        // A table that is only looked up in is as good in blocks.
        let only_looked_up = self.tuning.maps_weights && tensors.output.is_some();
        let embedding_layout = only_looked_up.then_some(Layout::Blocks);
        Ok(ModelWeights {
            embedding: self.matrix_in(embedding_layout, tensors.embedding)?,
            layers: tensors.layers.iter().map(|layer| self.layer(layer)).collect::<Result<_>>()?,
            output_norm: self.vector(tensors.output_norm)?,
            output: tensors.output.map(|output| self.matrix(output)).transpose()?,
            rope_factors: tensors.rope_factors.map(|factors| self.floats(factors)).transpose()?,
            memory: self.memory,
        })
    }

    fn layer(&mut self, tensors: &LayerTensors<'_>) -> Result<LayerWeights> {
        Ok(LayerWeights {
            attention_norm: self.vector(tensors.attention_norm)?,
            q: self.matrix(tensors.q)?,
            k: self.matrix(tensors.k)?,
            v: self.matrix(tensors.v)?,
            biases: self.vectors(tensors.biases)?,
            head_norms: self.vectors(tensors.head_norms)?,
            attention_output: self.matrix(tensors.attention_output)?,
            feed_forward_norm: self.vector(tensors.feed_forward_norm)?,
            gate: self.matrix(tensors.gate)?,
            up: self.matrix(tensors.up)?,
            down: self.matrix(tensors.down)?,
        })
    }

    fn matrix(&mut self, tensor: &TensorInfo) -> Result<Weight> {
        self.matrix_in(None, tensor)
    }

    /// A matrix in this layout, or else in that which products like best.
    fn matrix_in(&mut self, layout: Option<Layout>, tensor: &TensorInfo) -> Result<Weight> {
        let format = tensor.format()?;
        let size = |index: usize| usize::try_from(tensor.dimensions.get(index).copied().unwrap_or(1));
        let (Ok(columns), Ok(rows)) = (size(0), size(1)) else {
            return Err(Error::Model(format!("tensor '{}' is larger than any memory", tensor.name)));
        };
        let layout = layout.unwrap_or_else(|| self.tuning.layout(format, columns));
        let failed = |error| Error::Model(format!("tensor '{}': {error}", tensor.name));
        let bytes = layout.matrix_bytes(format, rows, columns).map_err(failed)?;
        let mapped = if layout == Layout::Blocks { self.mapped(tensor)? } else { None };
        let buffer = match mapped {
            Some(buffer) => buffer,
            None => {
                let buffer = self.device.new_buffer(bytes.max(1))?;
                // SAFETY: the memory is there as long as the buffer, and nobody else has it yet.
                let memory = unsafe { std::slice::from_raw_parts_mut(buffer.contents(), bytes) };
                layout.lay_out(format, rows, columns, self.weights.data(tensor), memory).map_err(failed)?;
                self.copied(tensor);
                buffer
            }
        };
        buffer.set_label(&tensor.name);
        Ok(Weight { buffer: buffer.read_only(), format, layout, rows, columns })
    }

    fn vector(&mut self, tensor: &TensorInfo) -> Result<Vector> {
        let mapped = if tensor.format()? == Format::F32 { self.mapped(tensor)? } else { None };
        let buffer = match mapped {
            Some(buffer) => buffer,
            None => self.device.new_buffer_with_bytes(bytemuck::cast_slice(&self.floats(tensor)?))?,
        };
        buffer.set_label(&tensor.name);
        Ok(Vector { buffer: buffer.read_only() })
    }

    /// A tensor as a part of its file, where that is possible: it is in one, and its numbers are aligned there.
    fn mapped(&mut self, tensor: &TensorInfo) -> Result<Option<Buffer>> {
        let is_aligned = tensor.range.start.is_multiple_of(4);
        match self.weights.path(tensor) {
            Some(path) if self.tuning.maps_weights && is_aligned && tensor.size() > 0 => {
                let buffer = self.device.new_buffer_with_file(path, tensor.range.clone())?;
                self.memory.mapped += tensor.size();
                self.done();
                Ok(Some(buffer))
            }
            _ => Ok(None),
        }
    }

    fn vectors<const N: usize>(&mut self, tensors: Option<[&TensorInfo; N]>) -> Result<Option<[Vector; N]>> {
        let Some(tensors) = tensors else { return Ok(None) };
        let vectors: Vec<Vector> = tensors.iter().map(|tensor| self.vector(tensor)).collect::<Result<_>>()?;
        Ok(vectors.try_into().ok())
    }

    fn floats(&mut self, tensor: &TensorInfo) -> Result<Vec<f32>> {
        let bytes = self.weights.data(tensor);
        let floats = match tensor.format()? {
            Format::F32 => bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            Format::F16 => {
                bytes.as_chunks::<2>().0.iter().map(|&bytes| half::f16::from_le_bytes(bytes).to_f32()).collect()
            }
            Format::BF16 => {
                bytes.as_chunks::<2>().0.iter().map(|&bytes| half::bf16::from_le_bytes(bytes).to_f32()).collect()
            }
            format => {
                let name = &tensor.name;
                return Err(Error::Model(format!(
                    "tensor '{name}' is a vector in {format}: it must be f32 or f16"
                )));
            }
        };
        self.copied(tensor);
        Ok(floats)
    }

    /// A tensor was read, for the last time.
    fn copied(&mut self, tensor: &TensorInfo) {
        self.weights.forget(tensor);
        self.memory.copied += tensor.size();
        self.done();
    }

    fn done(&mut self) {
        (self.progress)(self.memory.copied + self.memory.mapped, self.total);
    }
}
