//! How many tokens are computed at once.
//!
//! There is a table of dispatches for a handful of sizes. What is left over is filled up with tokens that nobody looks at,
//! if they are few: they come behind the others, which do not see them, and the next tokens take their places.

/// Sizes for prompts, beside 1 for single tokens.
const SIZES: [usize; 4] = [512, 128, 32, 8];

/// As many rows may be wasted as filling up the smallest chunk wastes.
const MOST_WASTED: usize = 7;

/// The sizes that a plan has, in falling order: at most `most` tokens at once, and no more than there are positions.
pub(super) fn sizes(most: usize, capacity: usize) -> Vec<usize> {
    SIZES.into_iter().filter(|&size| size <= most && size <= capacity).chain([1]).collect()
}

/// The size for the next chunk of `pending` tokens, of which there is at least one, where there is room for `room`.
pub(super) fn next(sizes: &[usize], pending: usize, room: usize) -> usize {
    let fits = |size: usize| size <= room;
    let filled_up = sizes.iter().rev().copied().find(|&size| size >= pending && fits(size));
    let whole = sizes.iter().copied().find(|&size| size <= pending && fits(size)).unwrap_or(1);
    match filled_up {
        Some(size) if size - pending <= MOST_WASTED => size,
        _ => whole,
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
    fn prompts_are_divided() {
        assert_eq!(chunks(1, 100), [1]);
        assert_eq!(chunks(2, 100), [8]);
        assert_eq!(chunks(2, 7), [1, 1], "there is no room to fill up");
        assert_eq!(chunks(31, 100), [32]);
        assert_eq!(chunks(33, 100), [32, 1]);
        assert_eq!(chunks(20, 100), [8, 8, 8]);
        assert_eq!(chunks(200, 1000), [128, 32, 32, 8]);
        assert_eq!(chunks(1300, 4096), [512, 512, 128, 128, 8, 8, 8]);
        assert_eq!(chunks(506, 4096), [512]);
    }

    #[test]
    fn small_plans_have_small_chunks() {
        assert_eq!(sizes(128, 64), [32, 8, 1]);
        assert_eq!(sizes(1, 4096), [1]);
    }
}
