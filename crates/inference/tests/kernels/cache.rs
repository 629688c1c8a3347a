//! A KV cache for tests, and the layout of its numbers.

use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::CacheType;
use metalworks_inference::metal::operations::{CacheRows, KvCache};

/// Keys and values of one layer, initially all poison.
pub(crate) struct Cache {
    pub(crate) keys: Tensor,
    pub(crate) values: Tensor,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) capacity: usize,
    pub(crate) ty: CacheType,
}

impl Cache {
    pub(crate) fn poisoned(heads: usize, head_dim: usize, capacity: usize, ty: impl Into<CacheType>) -> Cache {
        let ty = ty.into();
        let [key, value] = ty.bytes(head_dim).expect("heads are whole blocks");
        let poisoned = |bytes: usize| match ty.plain() {
            Some(plain) => Tensor::poisoned(plain, heads * head_dim * capacity),
            None => Tensor::poisoned(Type::Bytes, heads * bytes * capacity),
        };
        Cache { keys: poisoned(key), values: poisoned(value), heads, head_dim, capacity, ty }
    }

    /// The argument of an operation.
    pub(crate) fn cache(&self) -> KvCache<'_> {
        KvCache {
            keys: self.keys.slice(),
            values: self.values.slice(),
            heads: self.heads,
            head_dim: self.head_dim,
            capacity: self.capacity,
            ty: self.ty,
            sequences: 1,
            rows: CacheRows::Sequence(0),
            is_ring: false,
        }
    }

    /// Index of number i of a key: 32 positions lie side by side.
    pub(crate) fn key_index(&self, head: usize, position: usize, i: usize) -> usize {
        let tile = head * self.capacity / 32 + position / 32;
        (tile * self.head_dim + i) * 32 + position % 32
    }

    /// Index of number i of a value.
    pub(crate) fn value_index(&self, head: usize, position: usize, i: usize) -> usize {
        (head * self.capacity + position) * self.head_dim + i
    }

    pub(crate) fn contents(&self) -> Vec<u8> {
        [self.keys.contents(), self.values.contents()].concat()
    }

    /// Keys and values of some positions: `[positions, heads, head_dim]` each. All others must still be poison.
    pub(crate) fn rows(&self, positions: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let (keys, values) = (self.keys.numbers(), self.values.numbers());
        let mut found = (Vec::new(), Vec::new());
        for &position in positions {
            for (head, i) in (0..self.heads).flat_map(|head| (0..self.head_dim).map(move |i| (head, i))) {
                found.0.push(keys[self.key_index(head, position as usize, i)]);
                found.1.push(values[self.value_index(head, position as usize, i)]);
            }
        }
        let written = |numbers: &[f64]| numbers.iter().filter(|number| !number.is_nan()).count();
        assert_eq!(written(&keys), found.0.len(), "keys at these positions and no others");
        assert_eq!(written(&values), found.1.len(), "values at these positions and no others");
        found
    }
}
