//! Writes FlatBuffers, from the end to the start, with the padding and sharing of Google's `FlatBufferBuilder`, so that
//! equal contents are equal bytes.

use std::collections::HashMap;

/// A buffer that grows towards its start.
#[derive(Default)]
pub(super) struct Builder {
    /// The bytes from the last one to the first.
    reversed: Vec<u8>,
    strings: HashMap<String, Offset>,
    vtables: Vec<Offset>,
}

/// The distance of an object from the end of the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Offset(u32);

/// A field of a table, by its slot. Scalars are left out by the caller if they have their default.
pub(super) enum Slot {
    Byte(u16, u8),
    Uint(u16, u32),
    Uints(u16, [u32; 3]),
    Offset(u16, Offset),
}

impl Builder {
    fn here(&self) -> Offset {
        // Lengths and offsets of FlatBuffers have 32 bits; `finish` checks that the whole fits.
        Offset(self.reversed.len() as u32)
    }

    /// Pads, so that after `length` more bytes the position is a multiple of `alignment`.
    fn align(&mut self, length: usize, alignment: usize) {
        let end = self.reversed.len() + length;
        self.reversed.resize(self.reversed.len() + end.next_multiple_of(alignment) - end, 0);
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    fn uint(&mut self, value: u32) {
        self.align(0, 4);
        self.push(&value.to_le_bytes());
    }

    fn reference(&mut self, to: Offset) {
        self.align(0, 4);
        let distance = self.here().0.wrapping_sub(to.0).wrapping_add(4);
        self.push(&distance.to_le_bytes());
    }

    /// A string; equal ones are stored once.
    pub(super) fn string(&mut self, text: &str) -> Offset {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        self.align(text.len() + 1, 4);
        self.reversed.push(0);
        self.push(text.as_bytes());
        self.uint(text.len() as u32);
        let offset = self.here();
        self.strings.insert(text.to_owned(), offset);
        offset
    }

    pub(super) fn uints(&mut self, values: &[u32]) -> Offset {
        self.align(values.len() * 4, 4);
        values.iter().rev().for_each(|value| self.uint(*value));
        self.uint(values.len() as u32);
        self.here()
    }

    pub(super) fn references(&mut self, values: &[Offset]) -> Offset {
        self.align(values.len() * 4, 4);
        values.iter().rev().for_each(|value| self.reference(*value));
        self.uint(values.len() as u32);
        self.here()
    }

    /// A table. As in code that FlatBuffers generates, wide fields come first, and later slots before earlier ones.
    pub(super) fn table(&mut self, slots: &[Slot]) -> Offset {
        let is_byte = |slot: &&Slot| matches!(slot, Slot::Byte(..));
        let wide = slots.iter().rev().filter(|slot| !is_byte(slot));
        self.table_in_order(wide.chain(slots.iter().rev().filter(is_byte)))
    }

    /// A table whose fields are added in this order.
    pub(super) fn table_in_order<'s>(&mut self, slots: impl IntoIterator<Item = &'s Slot>) -> Offset {
        let start = self.reversed.len();
        let mut positions: Vec<(u16, usize)> = Vec::new();
        for slot in slots {
            let number = match slot {
                Slot::Byte(number, value) => {
                    self.reversed.push(*value);
                    number
                }
                Slot::Uint(number, value) => {
                    self.uint(*value);
                    number
                }
                Slot::Uints(number, values) => {
                    values.iter().rev().for_each(|value| self.uint(*value));
                    number
                }
                Slot::Offset(number, to) => {
                    self.reference(*to);
                    number
                }
            };
            positions.push((*number, self.reversed.len()));
        }
        self.uint(0);
        let table = self.reversed.len();
        let slots = positions.iter().map(|(number, _)| usize::from(*number) + 1).max().unwrap_or(0);
        let mut vtable = vec![0u16; 2 + slots];
        vtable[0] = vtable.len() as u16 * 2;
        vtable[1] = (table - start) as u16;
        for (number, position) in positions {
            vtable[2 + usize::from(number)] = (table - position) as u16;
        }
        self.vtable(table, &vtable);
        Offset(table as u32)
    }

    /// Ends a table by its vtable, or by a reference to an equal one.
    fn vtable(&mut self, table: usize, vtable: &[u16]) {
        let bytes: Vec<u8> = vtable.iter().flat_map(|entry| entry.to_le_bytes()).rev().collect();
        let is_equal = |known: &&Offset| {
            (known.0 as usize)
                .checked_sub(bytes.len())
                .is_some_and(|start| self.reversed[start..].starts_with(&bytes))
        };
        let shared = self.vtables.iter().find(is_equal).copied();
        let vtable = shared.unwrap_or_else(|| {
            self.reversed.extend(&bytes);
            let offset = self.here();
            self.vtables.push(offset);
            offset
        });
        let distance = vtable.0.wrapping_sub(table as u32).to_be_bytes();
        self.reversed[table - 4..table].copy_from_slice(&distance);
    }

    /// The buffer, unless it is too large for its offsets.
    pub(super) fn finish(mut self, root: Offset, identifier: [u8; 4]) -> Option<Vec<u8>> {
        self.align(8, 4);
        self.push(&identifier);
        self.reference(root);
        self.reversed.reverse();
        (self.reversed.len() <= i32::MAX as usize).then_some(self.reversed)
    }
}
