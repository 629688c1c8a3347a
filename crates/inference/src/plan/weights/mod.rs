//! Buffers for the tensors of a file, in the layout that is fastest for kernels. Tensors that already have it in the
//! file are mapped; the others are filled later ([`super::fill`]).

mod attention;
mod delta_net;
mod experts;
mod feed_forward;

pub(super) use attention::AttentionWeights;
pub(super) use delta_net::DeltaNetWeights;
pub(super) use experts::{ExpertWeight, ExpertsWeights, SharedExpertWeights};
pub(super) use feed_forward::{DenseWeights, FeedForwardWeights};

use super::fill::copied_bytes;
use crate::arch::{LayerTensors, MixerTensors, ModelTensors, NormTensors, RopeFactors};
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::metal::Tuning;
use crate::metal::layout::{Layout, LayoutError, Matrix};
use crate::metal::library::BufferSlice;
use crate::weights::{TensorInfo, Weights};
use compute::{Buffer, Device, StorageMode};

/// A weight matrix.
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

/// Weights of a norm of the residual stream.
pub(super) struct Norm {
    pub(super) weight: Vector,
    pub(super) bias: Option<Vector>,
}

pub(super) struct ModelWeights {
    pub(super) embedding: Weight,
    pub(super) layers: Vec<LayerWeights>,
    pub(super) output_norm: Norm,
    output: Option<Weight>,
    /// Divisors of the RoPE frequencies of layers that see all positions.
    pub(super) rope_factors: Option<Vec<f32>>,
    pub(super) memory: WeightMemory,
}

/// Bytes of a plan's weights, by location.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct WeightMemory {
    /// Tensors that were copied, most of them to another layout.
    pub copied: u64,
    /// Tensors that are used from their mapped files.
    pub mapped: u64,
}

pub(super) struct LayerWeights {
    /// Norm before the mixer, or before both blocks.
    pub(super) mixer_norm: Option<Norm>,
    pub(super) mixer: MixerWeights,
    /// Norm after the mixer.
    pub(super) mixer_post_norm: Option<Norm>,
    /// Norm before the feed-forward network.
    pub(super) feed_forward_norm: Option<Norm>,
    pub(super) feed_forward: FeedForwardWeights,
    /// Norm after the feed-forward network.
    pub(super) feed_forward_post_norm: Option<Norm>,
}

impl LayerWeights {
    /// True if gate and up of its feed-forward network need memory each.
    pub(super) fn gate_is_apart(&self, tuning: &Tuning, tokens: usize) -> bool {
        match &self.feed_forward {
            FeedForwardWeights::Dense(dense) => dense.gate_is_apart(tuning, tokens),
            // The others have memory of their own.
            FeedForwardWeights::Experts(experts) => {
                experts.shared.as_ref().is_some_and(|shared| shared.network.gate_is_apart(tuning, tokens))
            }
        }
    }
}

/// Weights of the part that combines positions.
pub(super) enum MixerWeights {
    Attention(AttentionWeights),
    DeltaNet(DeltaNetWeights),
}

impl Weight {
    pub(super) fn matrix(&self) -> Matrix<'_> {
        let Weight { format, layout, rows, columns, .. } = *self;
        Matrix { data: (&self.buffer).into(), format, layout, rows, columns }
    }

    /// True if both have the same format, layout and columns, as fused kernels require.
    pub(super) fn is_stored_like(&self, other: &Weight) -> bool {
        let like = |weight: &Weight| (weight.format, weight.layout, weight.columns);
        like(self) == like(other)
    }

    /// True if products can take packed vectors.
    pub(super) fn takes_packed(&self) -> bool {
        !self.format.is_plain()
    }

    /// True if products take its rows 32 numbers at a time.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.layout == Layout::Tiles || self.format.block_len() > 1
    }
}

impl WeightMemory {
    pub(super) fn total(&self) -> u64 {
        self.copied + self.mapped
    }
}

impl Vector {
    pub(super) fn slice(&self) -> BufferSlice<'_> {
        (&self.buffer).into()
    }
}

impl ModelWeights {
    /// The matrix of the LM head.
    pub(super) fn head(&self) -> &Weight {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}

/// A tensor whose buffer is not filled yet.
pub(super) struct Unfilled {
    pub(super) tensor: TensorInfo,
    pub(super) buffer: Buffer,
    pub(super) contents: Contents,
}

/// Contents of a tensor's buffer.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    /// `count` matrices, one after the other.
    Matrices { format: Format, layout: Layout, count: usize, rows: usize, columns: usize },
    /// Numbers as `f32`.
    Vector,
}

/// Allocates buffers for tensors. Reads only the tensors that the host needs.
pub(super) struct Loader<'a> {
    pub(super) device: &'a Device,
    pub(super) tuning: Tuning,
    pub(super) weights: &'a Weights,
    pub(super) memory: WeightMemory,
    /// Tensors to fill, in this order.
    pub(super) unfilled: Vec<Unfilled>,
}

impl Loader<'_> {
    /// Allocates the buffers of a model. `is_extended`: the context is longer than the original one.
    pub(super) fn model(&mut self, tensors: &ModelTensors, is_extended: bool) -> Result<ModelWeights> {
        // A table that is only used for look-ups is as fast in blocks.
        let only_looked_up = self.tuning.maps_weights && tensors.output.is_some();
        let embedding_layout = only_looked_up.then_some(Layout::Blocks);
        Ok(ModelWeights {
            embedding: self.matrix_in(embedding_layout, &tensors.embedding)?,
            layers: tensors.layers.iter().map(|layer| self.layer(layer)).collect::<Result<_>>()?,
            output_norm: self.norm(&tensors.output_norm)?,
            output: tensors.output.as_ref().map(|output| self.matrix(output)).transpose()?,
            rope_factors: self.rope_factors(&tensors.rope_factors, is_extended)?,
            memory: self.memory,
        })
    }

    fn layer(&mut self, tensors: &LayerTensors) -> Result<LayerWeights> {
        Ok(LayerWeights {
            mixer_norm: self.optional_norm(tensors.mixer_norm.as_ref())?,
            mixer: match &tensors.mixer {
                MixerTensors::Attention(attention) => MixerWeights::Attention(self.attention(attention)?),
                MixerTensors::DeltaNet(delta_net) => MixerWeights::DeltaNet(self.delta_net(delta_net)?),
            },
            mixer_post_norm: self.optional_norm(tensors.mixer_post_norm.as_ref())?,
            feed_forward_norm: self.optional_norm(tensors.feed_forward_norm.as_ref())?,
            feed_forward: self.feed_forward(&tensors.feed_forward)?,
            feed_forward_post_norm: self.optional_norm(tensors.feed_forward_post_norm.as_ref())?,
        })
    }

    fn matrix(&mut self, tensor: &TensorInfo) -> Result<Weight> {
        self.matrix_in(None, tensor)
    }

    /// A matrix in the given layout, by default in the one that is fastest for products.
    fn matrix_in(&mut self, layout: Option<Layout>, tensor: &TensorInfo) -> Result<Weight> {
        self.matrices_in(layout, tensor, 1)
    }

    /// `count` matrices of the same size, one after the other.
    fn matrices_in(&mut self, layout: Option<Layout>, tensor: &TensorInfo, count: usize) -> Result<Weight> {
        let format = tensor.format()?;
        let size = |index: usize| usize::try_from(tensor.dimensions.get(index).copied().unwrap_or(1));
        let (Ok(columns), Ok(rows)) = (size(0), size(1)) else {
            return Err(Error::Model(format!("tensor '{}' is larger than any memory", tensor.name)));
        };
        let layout = layout.unwrap_or_else(|| self.tuning.layout(format, columns));
        let failed = |error| Error::Model(format!("tensor '{}': {error}", tensor.name));
        let all = |bytes: usize| bytes.checked_mul(count).ok_or(LayoutError::TooLarge(rows, columns));
        let bytes = layout.matrix_bytes(format, rows, columns).and_then(all).map_err(failed)?;
        let expected = Layout::Blocks.matrix_bytes(format, rows, columns).and_then(all).map_err(failed)?;
        let found = tensor.size() as usize;
        if expected != found {
            return Err(failed(LayoutError::WrongSize { expected, found }));
        }
        let mapped = if layout == Layout::Blocks { self.mapped(tensor)? } else { None };
        let contents = Contents::Matrices { format, layout, count, rows, columns };
        let buffer = mapped.map_or_else(|| self.unfilled(tensor, bytes, contents), Ok)?;
        Ok(Weight { buffer: buffer.read_only(), format, layout, rows, columns })
    }

    fn vector(&mut self, tensor: &TensorInfo) -> Result<Vector> {
        // Kernels may read four numbers of a vector at a time. Safetensors files are aligned to 8 bytes only.
        let is_mapped = vector_format(tensor)? == Format::F32 && tensor.range.start.is_multiple_of(16);
        let mapped = if is_mapped { self.mapped(tensor)? } else { None };
        let bytes = usize::try_from(tensor.elements()).ok().and_then(|count| count.checked_mul(size_of::<f32>()));
        let buffer = match (mapped, bytes) {
            (Some(buffer), _) => buffer,
            (None, Some(bytes)) => self.unfilled(tensor, bytes, Contents::Vector)?,
            (None, None) => {
                return Err(Error::Model(format!("tensor '{}' is larger than any memory", tensor.name)));
            }
        };
        Ok(Vector { buffer: buffer.read_only() })
    }

    fn norm(&mut self, tensors: &NormTensors) -> Result<Norm> {
        let weight = self.vector(&tensors.weight)?;
        Ok(Norm { weight, bias: self.optional_vector(tensors.bias.as_ref())? })
    }

    fn optional_norm(&mut self, tensors: Option<&NormTensors>) -> Result<Option<Norm>> {
        tensors.map(|tensors| self.norm(tensors)).transpose()
    }

    fn optional_vector(&mut self, tensor: Option<&TensorInfo>) -> Result<Option<Vector>> {
        tensor.map(|tensor| self.vector(tensor)).transpose()
    }

    fn rope_factors(&mut self, factors: &RopeFactors, is_extended: bool) -> Result<Option<Vec<f32>>> {
        Ok(match factors {
            RopeFactors::None => None,
            RopeFactors::One(factors) => Some(self.read(factors)?),
            RopeFactors::ByContext([short, long]) => {
                let [short, long] = [self.read(short)?, self.read(long)?];
                Some(if is_extended { long } else { short })
            }
        })
    }

    fn vectors<const N: usize>(&mut self, tensors: Option<&[TensorInfo; N]>) -> Result<Option<[Vector; N]>> {
        let Some(tensors) = tensors else { return Ok(None) };
        let vectors: Vec<Vector> = tensors.iter().map(|tensor| self.vector(tensor)).collect::<Result<_>>()?;
        Ok(vectors.try_into().ok())
    }

    /// A buffer to fill later: in place by the host, or by copies if weights are staged.
    fn unfilled(&mut self, tensor: &TensorInfo, bytes: usize, contents: Contents) -> Result<Buffer> {
        let buffer = match self.tuning.staging {
            Some(_) => self.device.new_buffer_with_storage_mode(copied_bytes(bytes), StorageMode::Private)?,
            None => self.device.new_buffer(bytes.max(1))?,
        };
        buffer.set_label(&tensor.name);
        self.memory.copied += tensor.size();
        self.unfilled.push(Unfilled { tensor: tensor.clone(), buffer: buffer.clone(), contents });
        Ok(buffer)
    }

    /// Maps a tensor of a file; `None` if it is not in a file, not aligned there, or not to be mapped.
    fn mapped(&mut self, tensor: &TensorInfo) -> Result<Option<Buffer>> {
        let is_aligned = tensor.range.start.is_multiple_of(4);
        match self.weights.path(tensor) {
            Some(path) if self.tuning.maps_weights && is_aligned && tensor.size() > 0 => {
                let buffer = self.device.new_buffer_with_file(path, tensor.range.clone())?;
                buffer.set_label(&tensor.name);
                self.memory.mapped += tensor.size();
                Ok(Some(buffer))
            }
            _ => Ok(None),
        }
    }

    /// Reads a vector that the host needs.
    fn read(&mut self, tensor: &TensorInfo) -> Result<Vec<f32>> {
        let floats = floats(self.weights, tensor)?;
        self.weights.forget(tensor);
        self.memory.copied += tensor.size();
        Ok(floats)
    }
}

/// Numbers of a vector.
pub(super) fn floats(weights: &Weights, tensor: &TensorInfo) -> Result<Vec<f32>> {
    let mut buffer = Vec::new();
    let bytes = weights.read(tensor, 0..tensor.size() as usize, &mut buffer)?;
    let halves = || bytes.as_chunks::<2>().0.iter();
    Ok(match vector_format(tensor)? {
        Format::F16 => halves().map(|&bytes| half::f16::from_le_bytes(bytes).to_f32()).collect(),
        Format::BF16 => halves().map(|&bytes| half::bf16::from_le_bytes(bytes).to_f32()).collect(),
        _ => bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
    })
}

/// Format of a vector, which must not be quantized.
fn vector_format(tensor: &TensorInfo) -> Result<Format> {
    match tensor.format()? {
        format @ (Format::F32 | Format::F16 | Format::BF16) => Ok(format),
        format => {
            let name = &tensor.name;
            Err(Error::Model(format!("tensor '{name}' is a vector in {format}: it must be f32 or f16")))
        }
    }
}
