//! Arrays in buffers, with poison around them.

use crate::device::device;
use compute::Buffer;
use half::{bf16, f16};
use inference::formats::Activation;
use inference::metal::library::BufferSlice;

/// Bytes before and after every array; whatever touches them is noticed.
const GUARD: usize = 256;

/// Bytes of this are NaN in every type of floating-point number, and the largest unsigned one.
const POISON: u8 = 0xff;

/// The type of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    F32,
    F16,
    BF16,
    U32,
    Bytes,
}

impl Type {
    fn size(self) -> usize {
        match self {
            Type::F32 | Type::U32 => 4,
            Type::F16 | Type::BF16 => 2,
            Type::Bytes => 1,
        }
    }

    /// The number that is stored for `value`, as bytes.
    fn store(self, value: f64, into: &mut Vec<u8>) {
        match self {
            Type::F32 => into.extend((value as f32).to_ne_bytes()),
            Type::F16 => into.extend(f16::from_f64(value).to_ne_bytes()),
            Type::BF16 => into.extend(bf16::from_f64(value).to_ne_bytes()),
            Type::U32 => into.extend((value as u32).to_ne_bytes()),
            Type::Bytes => into.push(value as u8),
        }
    }

    fn load(self, bytes: &[u8]) -> f64 {
        match self {
            Type::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
            Type::F16 => f64::from(bytemuck::pod_read_unaligned::<f16>(bytes)),
            Type::BF16 => f64::from(bytemuck::pod_read_unaligned::<bf16>(bytes)),
            Type::U32 => f64::from(bytemuck::pod_read_unaligned::<u32>(bytes)),
            Type::Bytes => f64::from(bytes[0]),
        }
    }
}

impl From<Activation> for Type {
    fn from(activation: Activation) -> Type {
        match activation {
            Activation::F32 => Type::F32,
            Activation::F16 => Type::F16,
        }
    }
}

/// An array in the middle of a buffer.
pub(crate) struct Tensor {
    buffer: Buffer,
    ty: Type,
    len: usize,
}

impl Tensor {
    /// An input: `values` as `ty` stores them.
    pub(crate) fn new(ty: impl Into<Type>, values: &[f64]) -> Tensor {
        let ty = ty.into();
        let mut bytes = Vec::new();
        values.iter().for_each(|&value| ty.store(value, &mut bytes));
        Tensor::with_bytes(ty, &bytes)
    }

    /// An input of whole numbers.
    pub(crate) fn integers(values: &[u32]) -> Tensor {
        Tensor::with_bytes(Type::U32, bytemuck::cast_slice(values))
    }

    /// An input of bytes that are stored as they are.
    pub(crate) fn bytes(bytes: &[u8]) -> Tensor {
        Tensor::with_bytes(Type::Bytes, bytes)
    }

    /// An output: every element is poison until a kernel writes it.
    pub(crate) fn poisoned(ty: impl Into<Type>, len: usize) -> Tensor {
        let ty = ty.into();
        Tensor::with_bytes(ty, &vec![POISON; len * ty.size()])
    }

    fn with_bytes(ty: Type, bytes: &[u8]) -> Tensor {
        let mut all = vec![POISON; GUARD + bytes.len() + GUARD];
        all[GUARD..GUARD + bytes.len()].copy_from_slice(bytes);
        let buffer = device().device().new_buffer_with_bytes(&all).expect("there is memory");
        Tensor { buffer, ty, len: bytes.len() / ty.size() }
    }

    /// What an operation takes.
    pub(crate) fn slice(&self) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, GUARD, self.len * self.ty.size())
    }

    /// `len` elements from `first` on.
    pub(crate) fn part(&self, first: usize, len: usize) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, GUARD + first * self.ty.size(), len * self.ty.size())
    }

    /// What is in it now, bit for bit. Nothing around it may have been written.
    pub(crate) fn contents(&self) -> Vec<u8> {
        let all: Vec<u8> = self.buffer.read();
        let end = all.len() - GUARD;
        let touched = |bytes: &[u8]| bytes.iter().any(|&byte| byte != POISON);
        assert!(!touched(&all[..GUARD]), "something was written before the array");
        assert!(!touched(&all[end..]), "something was written after the array");
        all[GUARD..end].to_vec()
    }

    /// What is in it now, as numbers: of an input, exactly what a kernel reads.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.contents().chunks_exact(self.ty.size()).map(|bytes| self.ty.load(bytes)).collect()
    }
}
