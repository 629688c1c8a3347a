//! Pair merging, the core of both tokenizer models.
//!
//! A text is a row of symbols. Some pairs of symbols merge into one symbol, and each such pair has a rank. The pair
//! with the lowest rank is merged first, the leftmost of equal ranks, until no pair is left. A short row is scanned for
//! the lowest rank after every merge, which is fastest up to about twenty symbols. A long row is a linked list with a
//! heap of its pairs: n symbols take O(n log n) time and O(n) memory for any text and any pairs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use super::map::{self, Map};

/// Symbol without a token that is in no pair; also the rank of a missing pair, and the link past the ends of a row.
pub(super) const NONE: u32 = u32::MAX;

/// Longest row merged by scanning; longer ones use a heap.
const MAX_SCANNED: usize = 24;

/// Longest row merged as a whole; longer ones are merged in parts. Keeps positions within 32 bits.
const MAX_ROW: usize = 1 << 30;

#[derive(Clone, Copy)]
struct Merge {
    rank: u32,
    result: u32,
}

const NO_MERGE: Merge = Merge { rank: NONE, result: NONE };

/// Pairs that merge, with their ranks and results.
pub(super) struct Pairs {
    merges: Map<u64, Merge>,
}

impl Pairs {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { merges: map::with_capacity(capacity) }
    }

    /// Adds a pair. Returns false and keeps the first one if the pair exists.
    pub(super) fn insert(&mut self, left: u32, right: u32, rank: u32, result: u32) -> bool {
        match self.merges.entry(key(left, right)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(Merge { rank, result });
                true
            }
        }
    }

    fn get(&self, left: u32, right: u32) -> Merge {
        self.merges.get(&key(left, right)).copied().unwrap_or(NO_MERGE)
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Merges rows. Reuses its memory between rows.
#[derive(Default)]
pub(super) struct Merger {
    /// The row. The caller fills it, and `merge` replaces it by the result.
    pub(super) symbols: Vec<u32>,
    /// Merge of each symbol with the next one in the row.
    merges: Vec<Merge>,
    next: Vec<u32>,
    previous: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Merger {
    /// Merges the row in `symbols`.
    pub(super) fn merge(&mut self, pairs: &Pairs) {
        if self.symbols.len() <= MAX_SCANNED {
            return self.merge_short(pairs);
        }
        if self.symbols.len() <= MAX_ROW {
            return self.merge_long(pairs);
        }
        let row = std::mem::take(&mut self.symbols);
        let mut merged = Vec::new();
        for part in row.chunks(MAX_ROW) {
            self.symbols.clear();
            self.symbols.extend_from_slice(part);
            self.merge_long(pairs);
            merged.append(&mut self.symbols);
        }
        self.symbols = merged;
    }

    fn merge_short(&mut self, pairs: &Pairs) {
        let Self { symbols, merges, .. } = self;
        merges.clear();
        merges.extend(symbols.windows(2).map(|pair| pairs.get(pair[0], pair[1])));
        while let Some((at, lowest)) = merges.iter().copied().enumerate().min_by_key(|(_, merge)| merge.rank) {
            if lowest.rank == NONE {
                return;
            }
            symbols[at] = lowest.result;
            symbols.remove(at + 1);
            merges.remove(at);
            if at < merges.len() {
                merges[at] = pairs.get(symbols[at], symbols[at + 1]);
            }
            if at > 0 {
                merges[at - 1] = pairs.get(symbols[at - 1], symbols[at]);
            }
        }
    }

    /// Merges the row as a linked list. `merges[i]` is the merge of the pair that starts at `i`; a heap entry with
    /// another rank is stale. A symbol that was merged into its predecessor has no pair.
    fn merge_long(&mut self, pairs: &Pairs) {
        let length = self.symbols.len() as u32;
        self.next.clear();
        self.next.extend((1..length).chain([NONE]));
        self.previous.clear();
        self.previous.extend([NONE].into_iter().chain(0..length - 1));
        self.merges.clear();
        self.merges.resize(length as usize, NO_MERGE);
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        for (at, pair) in self.symbols.windows(2).enumerate() {
            let merge = pairs.get(pair[0], pair[1]);
            if merge.rank != NONE {
                self.merges[at] = merge;
                entries.push(Reverse(key(merge.rank, at as u32)));
            }
        }
        self.heap = BinaryHeap::from(entries);

        while let Some(Reverse(entry)) = self.heap.pop() {
            let (rank, left) = ((entry >> 32) as u32, entry as u32);
            let merge = self.merges[left as usize];
            if merge.rank != rank {
                continue;
            }
            let right = self.next[left as usize];
            let after = self.next[right as usize];
            self.symbols[left as usize] = merge.result;
            self.symbols[right as usize] = NONE;
            self.merges[right as usize] = NO_MERGE;
            self.next[left as usize] = after;
            if after != NONE {
                self.previous[after as usize] = left;
            }
            self.update_pair(left, pairs);
            let before = self.previous[left as usize];
            if before != NONE {
                self.update_pair(before, pairs);
            }
        }

        let mut at = 0;
        let mut count = 0;
        while at != NONE {
            self.symbols[count] = self.symbols[at as usize];
            count += 1;
            at = self.next[at as usize];
        }
        self.symbols.truncate(count);
    }

    /// Looks up the pair that starts at `left` after one of its symbols changed.
    fn update_pair(&mut self, left: u32, pairs: &Pairs) {
        let right = self.next[left as usize];
        let merge = if right == NONE {
            NO_MERGE
        } else {
            pairs.get(self.symbols[left as usize], self.symbols[right as usize])
        };
        self.merges[left as usize] = merge;
        if merge.rank != NONE {
            self.heap.push(Reverse(key(merge.rank, left)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quadratic reference, straight from the definition.
    fn reference(mut symbols: Vec<u32>, pairs: &Pairs) -> Vec<u32> {
        loop {
            let merges = symbols.windows(2).map(|pair| pairs.get(pair[0], pair[1]));
            match merges.enumerate().min_by_key(|(_, merge)| merge.rank) {
                Some((at, merge)) if merge.rank != NONE => {
                    symbols.splice(at..at + 2, [merge.result]);
                }
                _ => return symbols,
            }
        }
    }

    #[test]
    fn merges_short_and_long_rows_like_the_reference() {
        let mut state = 1u32;
        let mut random = |limit: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        for round in 0..300 {
            let mut pairs = Pairs::with_capacity(0);
            for result in 4..40 {
                // Ranks repeat: tokens of SentencePiece may have equal scores.
                let rank = random(30);
                pairs.insert(random(result), random(result), rank, result);
            }
            let symbols: Vec<u32> =
                (0..random(200)).map(|_| if random(50) == 0 { NONE } else { random(4) }).collect();
            let mut merger = Merger { symbols: symbols.clone(), ..Merger::default() };
            merger.merge(&pairs);
            assert_eq!(merger.symbols, reference(symbols, &pairs), "round {round}");
        }
    }

    #[test]
    fn merges_a_million_equal_symbols_in_reasonable_time() {
        let mut pairs = Pairs::with_capacity(0);
        for result in 1..20 {
            pairs.insert(result - 1, result - 1, 20 - result, result);
        }
        let mut merger = Merger { symbols: vec![0; 1 << 20], ..Merger::default() };
        merger.merge(&pairs);
        assert_eq!(merger.symbols, [19, 19]);
    }
}
