//! Chunk sizes for prefill.
//!
//! There is a table of dispatches for each of a few sizes. The last chunk is padded if that wastes few rows: the
//! padding follows the real tokens, which do not attend to it, and the next tokens overwrite it.

/// Chunk sizes for prefill, besides 1 for decode.
const SIZES: [usize; 4] = [512, 128, 32, 8];

/// Most padding of a chunk: as much as one token in the smallest chunk needs.
const MAX_PADDING: usize = 7;

/// Sizes of a plan in descending order: at most `most` tokens, and at most `capacity` positions.
pub(super) fn sizes(most: usize, capacity: usize) -> Vec<usize> {
    SIZES.into_iter().filter(|&size| size <= most && size <= capacity).chain([1]).collect()
}

/// Size of the next chunk. At least one token is pending, and `room` positions are free.
pub(super) fn next(sizes: &[usize], pending: usize, room: usize) -> usize {
    let fits = |size: usize| size <= room;
    let padded = sizes.iter().rev().copied().find(|&size| size >= pending && fits(size));
    let full = sizes.iter().copied().find(|&size| size <= pending && fits(size)).unwrap_or(1);
    match padded {
        Some(size) if size - pending <= MAX_PADDING => size,
        _ => full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(mut pending: usize, mut room: usize) -> Vec<usize> {
        let (sizes, mut chunks) = (sizes(512, 4096), Vec::new());
        while pending > 0 {
            let size = next(&sizes, pending, room);
            chunks.push(size);
            pending = pending.saturating_sub(size);
            room = room.saturating_sub(size);
        }
        chunks
    }

    #[test]
    fn splits_prompts_into_chunks() {
        assert_eq!(chunks(1, 100), [1]);
        assert_eq!(chunks(2, 100), [8]);
        assert_eq!(chunks(2, 7), [1, 1], "there is no room for padding");
        assert_eq!(chunks(31, 100), [32]);
        assert_eq!(chunks(33, 100), [32, 1]);
        assert_eq!(chunks(20, 100), [8, 8, 8]);
        assert_eq!(chunks(200, 1000), [128, 32, 32, 8]);
        assert_eq!(chunks(1300, 4096), [512, 512, 128, 128, 8, 8, 8]);
        assert_eq!(chunks(506, 4096), [512]);
    }

    #[test]
    fn limits_sizes_by_chunk_and_capacity() {
        assert_eq!(sizes(128, 64), [32, 8, 1]);
        assert_eq!(sizes(1, 4096), [1]);
    }
}
