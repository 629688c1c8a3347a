//! Memory for buffers of medium size that the host fills, such as the weights of a model: side by side in large
//! mappings, which the system can back with huge pages.
//!
//! A matrix of a small model has less than a huge page, and would get small ones if it were mapped by itself: then a CPU
//! that streams weights looks up an address for every 4 KiB, and its prefetcher stops as often.
//!
//! Nothing is used twice: a mapping is filled from its beginning to its end, and unmapped with its last buffer. Before
//! that, the pages of a buffer that is gone are given back.

use crate::backend::pages::{self, HugeMapping};
use crate::error::Result;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of buffers that are put side by side. Smaller ones are too many to have pages of their own here, larger ones
/// are mapped alone.
const LEAST: usize = 32 << 10;
const MOST: usize = 8 << 20;

/// Bytes of a mapping.
const REGION: usize = 64 << 20;

/// The mapping from which buffers are allocated.
#[derive(Default)]
pub(super) struct Arena {
    current: Mutex<Option<Filling>>,
}

struct Filling {
    mapping: Arc<HugeMapping>,
    used: usize,
}

impl Arena {
    /// Allocates zeroed memory, if it is of medium size.
    pub(super) fn allocate(&self, len: usize) -> Result<Option<ArenaPart>> {
        let Some(page) = pages::page_size().filter(|_| (LEAST..=MOST).contains(&len)) else { return Ok(None) };
        let size = len.next_multiple_of(page);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let mut filling = match current.take() {
            Some(filling) if filling.used + size <= filling.mapping.len() => filling,
            _ => Filling { mapping: Arc::new(pages::huge(REGION)?), used: 0 },
        };
        // SAFETY: the part ends within the mapping.
        let base = unsafe { filling.mapping.base().add(filling.used) };
        filling.used += size;
        let part = ArenaPart { base, size, _mapping: filling.mapping.clone() };
        *current = Some(filling);
        Ok(Some(part))
    }
}

/// Pages of one buffer.
pub(super) struct ArenaPart {
    base: NonNull<u8>,
    size: usize,
    /// Keeps the pages mapped.
    _mapping: Arc<HugeMapping>,
}

impl ArenaPart {
    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Gives the memory back. From then on, the pages are zeros.
    pub(super) fn discard(&self) {
        // SAFETY: no other buffer has these pages, and they are mapped as long as this part exists.
        unsafe { pages::discard(self.base, self.size) };
    }
}

impl Drop for ArenaPart {
    fn drop(&mut self) {
        self.discard();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(arena: &Arena, len: usize) -> ArenaPart {
        arena.allocate(len).expect("there is memory").expect("it is of medium size")
    }

    /// The bytes of a part.
    fn bytes(part: &mut ArenaPart) -> &mut [u8] {
        // SAFETY: the part is borrowed.
        unsafe { std::slice::from_raw_parts_mut(part.base.as_ptr(), part.size) }
    }

    #[test]
    fn buffers_lie_side_by_side() {
        let arena = Arena::default();
        let mut parts: Vec<ArenaPart> = [LEAST, MOST, 100_001].iter().map(|&len| part(&arena, len)).collect();
        assert!(parts[0].base.addr().get().is_multiple_of(pages::HUGE_PAGE));
        for (number, pair) in parts.windows(2).enumerate() {
            assert_eq!(pair[0].base.addr().get() + pair[0].size, pair[1].base.addr().get(), "{number}");
        }
        for (number, part) in parts.iter_mut().enumerate() {
            assert!(bytes(part).iter().all(|&byte| byte == 0));
            bytes(part).fill(number as u8 + 1);
        }
        parts[1].discard();
        let sums: Vec<usize> =
            parts.iter_mut().map(|part| bytes(part).iter().map(|&byte| byte as usize).sum()).collect();
        assert_eq!(sums, [LEAST, 0, 3 * parts[2].size], "only one part is gone");
    }

    #[test]
    fn other_sizes_are_left_to_mappings_of_their_own() {
        let arena = Arena::default();
        assert!(arena.allocate(LEAST - 1).expect("nothing is allocated").is_none());
        assert!(arena.allocate(MOST + 1).expect("nothing is allocated").is_none());
    }

    #[test]
    fn a_full_mapping_is_followed_by_another() {
        let arena = Arena::default();
        let mut parts: Vec<ArenaPart> = (0..20).map(|_| part(&arena, MOST)).collect();
        for (number, part) in parts.iter_mut().enumerate() {
            bytes(part)[0] = number as u8;
        }
        // A buffer outlives the others of its mapping.
        parts.retain_mut(|part| bytes(part)[0].is_multiple_of(7));
        assert_eq!(parts.iter_mut().map(|part| bytes(part)[0]).collect::<Vec<_>>(), [0, 7, 14]);
    }

    /// Huge pages behind the bytes, as Linux counts them.
    #[test]
    #[ignore = "needs Linux with /sys/kernel/mm/transparent_hugepage/enabled set to madvise or always, and free memory"]
    fn the_system_grants_huge_pages() {
        let arena = Arena::default();
        let mut parts: Vec<ArenaPart> = (0..40).map(|_| part(&arena, 1 << 20)).collect();
        parts.iter_mut().for_each(|part| bytes(part).fill(1));
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux lists mappings");
        let start = format!("{:x}-", parts[0].base.addr().get());
        let mapping = maps.split("VmFlags").find(|mapping| mapping.contains(&start)).expect("it is mapped");
        let huge = mapping.lines().find_map(|line| line.strip_prefix("AnonHugePages:")).expect("it has a number");
        let huge: usize = huge.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(huge >= 36 << 10, "{huge} KiB of 40 MiB are huge pages:\n{mapping}");
    }
}
