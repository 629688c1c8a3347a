//! Arrays in buffers, surrounded by poison.

use crate::device::device;
use compute::Buffer;
use half::{bf16, f16};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::library::BufferSlice;

/// Bytes of poison before and after every array, which nothing may write.
const GUARD: usize = 256;

/// As bytes of any floating-point type it is NaN, as bytes of an unsigned integer the maximum.
const POISON: u8 = 0xff;

/// Type of the elements.
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

    /// Appends the bytes that the type stores for `value`.
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

    /// An input of integers.
    pub(crate) fn integers(values: &[u32]) -> Tensor {
        Tensor::with_bytes(Type::U32, bytemuck::cast_slice(values))
    }

    /// An input of raw bytes.
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

    /// The argument of an operation.
    pub(crate) fn slice(&self) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, GUARD, self.len * self.ty.size())
    }

    /// `len` elements from `first` on.
    pub(crate) fn part(&self, first: usize, len: usize) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, GUARD + first * self.ty.size(), len * self.ty.size())
    }

    /// Current bytes. Panics if anything around them was written.
    pub(crate) fn contents(&self) -> Vec<u8> {
        let all: Vec<u8> = self.buffer.read();
        let end = all.len() - GUARD;
        let touched = |bytes: &[u8]| bytes.iter().any(|&byte| byte != POISON);
        assert!(!touched(&all[..GUARD]), "something was written before the array");
        assert!(!touched(&all[end..]), "something was written after the array");
        all[GUARD..end].to_vec()
    }

    /// Current numbers; those of an input are exactly what a kernel reads.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.contents().chunks_exact(self.ty.size()).map(|bytes| self.ty.load(bytes)).collect()
    }
}
