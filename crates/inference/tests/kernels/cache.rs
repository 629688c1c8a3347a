//! A KV cache for tests, and the layout of its numbers.

use crate::tensor::Tensor;
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::KvCache;

/// Keys and values of one layer, initially all poison.
pub(crate) struct Cache {
    pub(crate) keys: Tensor,
    pub(crate) values: Tensor,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) capacity: usize,
    pub(crate) ty: Activation,
}

impl Cache {
    pub(crate) fn poisoned(heads: usize, head_dim: usize, capacity: usize, ty: Activation) -> Cache {
        let poisoned = || Tensor::poisoned(ty, heads * head_dim * capacity);
        Cache { keys: poisoned(), values: poisoned(), heads, head_dim, capacity, ty }
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
