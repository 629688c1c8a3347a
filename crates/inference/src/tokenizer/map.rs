//! Hash maps with untrusted keys.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use rustc_hash::FxSeededState;

/// Hash map with a fast hash. The random seed makes it harder to craft a file whose keys collide.
pub(super) type Map<K, V> = HashMap<K, V, FxSeededState>;

pub(super) fn with_capacity<K, V>(capacity: usize) -> Map<K, V> {
    let seed = RandomState::new().hash_one(0u8) as usize;
    Map::with_capacity_and_hasher(capacity, FxSeededState::with_seed(seed))
}
