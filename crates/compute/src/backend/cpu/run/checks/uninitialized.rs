//! Buffers that the host declares uninitialized: the bytes that kernels, copies and fills have written.

use crate::backend::Memory;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The declared buffers of a device.
#[derive(Default)]
pub(crate) struct Uninitialized {
    buffers: Vec<Declared>,
}

struct Declared {
    /// Memory that was freed may be another buffer's.
    memory: Weak<Memory>,
    addresses: Range<u64>,
    /// A bit for each byte that was written.
    written: Vec<u64>,
}

impl Uninitialized {
    /// Nothing of the buffer is written yet.
    pub(super) fn declare(&mut self, memory: &Arc<Memory>) {
        let start = memory.address() as u64;
        let addresses = start..start + memory.len() as u64;
        self.buffers.retain(|other| other.memory.strong_count() > 0 && other.addresses.start != start);
        let written = vec![0; memory.len().div_ceil(64)];
        self.buffers.push(Declared { memory: Arc::downgrade(memory), addresses, written });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Forgets buffers that are freed.
    pub(super) fn clean(&mut self) {
        self.buffers.retain(|declared| declared.memory.strong_count() > 0);
    }

    /// Bytes are written.
    pub(super) fn write(&mut self, bytes: Range<u64>) {
        for declared in &mut self.buffers {
            for (word, bits) in declared.words(&bytes) {
                declared.written[word] |= bits;
            }
        }
    }

    /// True if some of the bytes belong to a declared buffer and were not written.
    pub(super) fn is_unwritten(&self, bytes: Range<u64>) -> bool {
        self.buffers
            .iter()
            .any(|declared| declared.words(&bytes).any(|(word, bits)| declared.written[word] & bits != bits))
    }
}

impl Declared {
    /// The words of the bits of these bytes, and their bits in each.
    fn words(&self, bytes: &Range<u64>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let Range { start, end } = self.addresses;
        let (first, last) = (bytes.start.clamp(start, end) - start, bytes.end.clamp(start, end) - start);
        (first / 64..last.div_ceil(64)).map(move |word| {
            let from = first.saturating_sub(word * 64);
            let to = (last - word * 64).min(64);
            let below = |count: u64| if count >= 64 { u64::MAX } else { (1 << count) - 1 };
            (word as usize, below(to) & !below(from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart() {
        let mut uninitialized = Uninitialized {
            buffers: vec![Declared { memory: Weak::new(), addresses: 1000..1200, written: vec![0; 4] }],
        };
        assert!(!uninitialized.is_unwritten(900..1000));
        assert!(uninitialized.is_unwritten(996..1004));
        uninitialized.write(996..1004);
        assert!(!uninitialized.is_unwritten(996..1004));
        assert!(uninitialized.is_unwritten(1003..1005));
        uninitialized.write(1004..1199);
        assert!(!uninitialized.is_unwritten(1000..1199));
        assert!(uninitialized.is_unwritten(1199..1300));
        uninitialized.clean();
        assert!(uninitialized.is_empty());
    }
}
