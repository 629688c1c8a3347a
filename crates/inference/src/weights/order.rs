//! Orders of rows and columns that differ between files.

/// Order in which rows are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowOrder {
    Stored,
    /// Heads of this many rows, whose halves are interleaved: RoPE pairs neighbours afterwards.
    Interleaved(usize),
    /// Of each `of` rows, `rows` from `first` on: one of several matrices whose rows alternate.
    Slices {
        of: usize,
        first: usize,
        rows: usize,
    },
    /// After the first `skip` rows, heads of this size.
    Heads {
        skip: usize,
        size: usize,
        order: HeadOrder,
    },
}

/// Order of value heads that share keys: head p takes the place of the one before it that has the same keys in GGUF files,
/// where these are `key_heads` apart, while in folders they are adjacent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeadOrder {
    pub(crate) key_heads: usize,
    /// Value heads of a key head.
    pub(crate) values: usize,
}

impl RowOrder {
    /// Row of the file that becomes row `row`.
    pub(super) fn source(self, row: usize) -> usize {
        match self {
            RowOrder::Stored => row,
            RowOrder::Interleaved(head) => {
                let (start, row) = (row / head * head, row % head);
                start + row % 2 * (head / 2) + row / 2
            }
            RowOrder::Slices { of, first, rows } => row / rows * of + first + row % rows,
            RowOrder::Heads { skip, .. } if row < skip => row,
            RowOrder::Heads { skip, size, order } => {
                let row = row - skip;
                skip + order.source(row / size) * size + row % size
            }
        }
    }
}

impl HeadOrder {
    /// Head of the folder that becomes head `head`.
    fn source(self, head: usize) -> usize {
        head % self.key_heads * self.values + head / self.key_heads
    }

    /// Puts the heads of a row into this order.
    pub(super) fn arrange(self, row: &mut [u8]) {
        let stored = row.to_vec();
        let size = row.len() / (self.key_heads * self.values);
        for (head, bytes) in row.chunks_exact_mut(size.max(1)).enumerate() {
            bytes.copy_from_slice(&stored[self.source(head) * size..][..size]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_heads_pair_neighbours() {
        let rows: Vec<usize> = (0..8).map(|row| RowOrder::Interleaved(4).source(row)).collect();
        assert_eq!(rows, [0, 2, 1, 3, 4, 6, 5, 7]);
    }

    #[test]
    fn value_heads_with_the_same_keys_come_apart() {
        let order = HeadOrder { key_heads: 2, values: 3 };
        let heads = RowOrder::Heads { skip: 1, size: 2, order };
        let rows: Vec<usize> = (0..13).map(|row| heads.source(row)).collect();
        assert_eq!(rows, [0, 1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12]);
        let mut row = [0, 1, 2, 3, 4, 5];
        order.arrange(&mut row);
        assert_eq!(row, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn matrices_are_taken_apart() {
        let rows = |order: RowOrder| (0..4).map(|row| order.source(row)).collect::<Vec<_>>();
        assert_eq!(rows(RowOrder::Slices { of: 2, first: 0, rows: 1 }), [0, 2, 4, 6]);
        assert_eq!(rows(RowOrder::Slices { of: 2, first: 1, rows: 1 }), [1, 3, 5, 7]);
        assert_eq!(rows(RowOrder::Slices { of: 4, first: 0, rows: 2 }), [0, 1, 4, 5]);
        assert_eq!(rows(RowOrder::Slices { of: 6, first: 3, rows: 2 }), [3, 4, 9, 10]);
    }
}
