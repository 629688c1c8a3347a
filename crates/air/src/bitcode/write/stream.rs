//! The bitstream that is written: entries of numbers with a fixed or a variable number of bits.

/// The width of the numbers that begin the entries of our blocks.
const WIDTH: u32 = 4;

/// The encoding of a record, by the number that a block gives it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Field {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    /// All further operands.
    ArrayFixed(u32),
    ArrayVariable(u32),
    Blob,
}

/// An encoding that a block knows: its number, and the fields after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Abbreviation {
    pub(super) number: u32,
    pub(super) fields: &'static [Field],
}

/// A bitstream under construction.
#[derive(Default)]
pub(super) struct Stream {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet.
    pending: u64,
    count: u32,
    /// For each open block, the position of its length.
    blocks: Vec<usize>,
}

impl Stream {
    /// Bits so far.
    pub(super) fn position(&self) -> usize {
        self.bytes.len() * 8 + self.count as usize
    }

    pub(super) fn fixed(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 32 && (width == 32 && value <= u64::from(u32::MAX) || value < 1 << width));
        self.pending |= value << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    pub(super) fn variable(&mut self, mut value: u64, width: u32) {
        let high = 1 << (width - 1);
        while value >= high {
            self.fixed(value & (high - 1) | high, width);
            value >>= width - 1;
        }
        self.fixed(value, width);
    }

    fn align(&mut self) {
        if self.count > 0 {
            self.fixed(0, 8 - self.count);
        }
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
    }

    fn width(&self) -> u32 {
        if self.blocks.is_empty() { 2 } else { WIDTH }
    }

    /// Begins a block.
    pub(super) fn enter(&mut self, block: u64) {
        self.fixed(1, self.width());
        self.variable(block, 8);
        self.variable(WIDTH.into(), 4);
        self.align();
        self.blocks.push(self.bytes.len());
        self.bytes.extend([0; 4]);
    }

    /// Ends the block that was begun last.
    pub(super) fn leave(&mut self) {
        self.fixed(0, self.width());
        self.align();
        let length = self.blocks.pop().expect("a block is open");
        let words = (self.bytes.len() - length - 4) / 4;
        self.bytes[length..length + 4].copy_from_slice(&(words as u32).to_le_bytes());
    }

    /// Defines an encoding, for this block or in the block of encodings.
    pub(super) fn define(&mut self, abbreviation: Abbreviation) {
        self.fixed(2, self.width());
        let arrays = abbreviation
            .fields
            .iter()
            .filter(|field| matches!(field, Field::ArrayFixed(_) | Field::ArrayVariable(_)));
        self.variable((abbreviation.fields.len() + arrays.count()) as u64, 5);
        for field in abbreviation.fields {
            match *field {
                Field::Literal(value) => {
                    self.fixed(1, 1);
                    self.variable(value, 8);
                }
                Field::Fixed(width) => self.encoding(1, Some(width)),
                Field::Variable(width) => self.encoding(2, Some(width)),
                Field::ArrayFixed(width) => {
                    self.encoding(3, None);
                    self.encoding(1, Some(width));
                }
                Field::ArrayVariable(width) => {
                    self.encoding(3, None);
                    self.encoding(2, Some(width));
                }
                Field::Blob => self.encoding(5, None),
            }
        }
    }

    fn encoding(&mut self, code: u64, width: Option<u32>) {
        self.fixed(0, 1);
        self.fixed(code, 3);
        if let Some(width) = width {
            self.variable(width.into(), 5);
        }
    }

    /// Writes a record without an encoding of its own.
    pub(super) fn record(&mut self, code: u64, operands: &[u64]) {
        self.fixed(3, self.width());
        self.variable(code, 6);
        self.variable(operands.len() as u64, 6);
        for operand in operands {
            self.variable(*operand, 6);
        }
    }

    /// Writes a record in an encoding, or without if it does not fit in there.
    pub(super) fn abbreviated(&mut self, abbreviation: Abbreviation, code: u64, operands: &[u64]) {
        if !fits(abbreviation.fields, code, operands) {
            return self.record(code, operands);
        }
        self.fixed(abbreviation.number.into(), self.width());
        let mut operands = operands.iter().copied();
        for field in &abbreviation.fields[1..] {
            match *field {
                Field::Literal(_) => drop(operands.next()),
                Field::Fixed(width) => self.fixed(operands.next().unwrap_or(0), width),
                Field::Variable(width) => self.variable(operands.next().unwrap_or(0), width),
                Field::ArrayFixed(width) => {
                    self.variable(operands.len() as u64, 6);
                    operands.by_ref().for_each(|operand| self.fixed(operand, width));
                }
                Field::ArrayVariable(width) => {
                    self.variable(operands.len() as u64, 6);
                    operands.by_ref().for_each(|operand| self.variable(operand, width));
                }
                Field::Blob => self.blob(&[]),
            }
        }
    }

    /// Writes a record that ends with a blob.
    pub(super) fn with_blob(&mut self, abbreviation: Abbreviation, operands: &[u64], blob: &[u8]) {
        self.fixed(abbreviation.number.into(), self.width());
        let mut operands = operands.iter().copied();
        for field in &abbreviation.fields[1..] {
            match *field {
                Field::Variable(width) => self.variable(operands.next().unwrap_or(0), width),
                Field::Blob => self.blob(blob),
                _ => unreachable!("blobs follow numbers of variable width"),
            }
        }
    }

    fn blob(&mut self, blob: &[u8]) {
        self.variable(blob.len() as u64, 6);
        self.align();
        self.bytes.extend_from_slice(blob);
        self.align();
    }

    /// Appends whole blocks that were written as a stream of their own.
    pub(super) fn append(&mut self, blocks: &Stream) {
        assert!(self.count == 0 && self.bytes.len().is_multiple_of(4), "blocks follow blocks");
        self.bytes.extend_from_slice(&blocks.bytes);
    }

    /// Writes a record of one number of 32 bits that is set later, and returns its place.
    pub(super) fn reserve(&mut self, abbreviation: Abbreviation) -> usize {
        self.fixed(abbreviation.number.into(), self.width());
        let position = self.position();
        self.fixed(0, 32);
        position
    }

    /// Sets a number that was reserved.
    pub(super) fn set(&mut self, position: usize, value: u32) {
        for bit in 0..32 {
            let (byte, shift) = ((position + bit) / 8, (position + bit) % 8);
            self.bytes[byte] |= (((value >> bit) & 1) as u8) << shift;
        }
    }

    /// The bytes, once all blocks have ended.
    pub(super) fn finish(mut self) -> Vec<u8> {
        assert!(self.blocks.is_empty(), "a block is open");
        self.align();
        self.bytes
    }

    /// A stream of blocks that stand in a block of another stream.
    pub(super) fn nested() -> Stream {
        // Only the width of entries depends on the block around; this one is never closed.
        Stream { blocks: vec![usize::MAX], ..Stream::default() }
    }
}

/// True if a record can be written with these fields.
fn fits(fields: &[Field], code: u64, operands: &[u64]) -> bool {
    if fields.first() != Some(&Field::Literal(code)) {
        return false;
    }
    let mut rest = operands;
    for field in &fields[1..] {
        let narrow = |value: &u64, width: u32| *value < 1 << width;
        match (*field, rest) {
            (Field::ArrayFixed(width), all) => return all.iter().all(|value| narrow(value, width)),
            (Field::ArrayVariable(_), _) => return true,
            (Field::Literal(value), [first, ..]) if value != *first => return false,
            (Field::Fixed(width), [first, ..]) if !narrow(first, width) => return false,
            (Field::Blob, _) | (_, []) => return false,
            (_, [_, others @ ..]) => rest = others,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::super::bitstream::{self, Record, Visitor, walk};
    use super::{Abbreviation, Field, Stream};

    const PAIRS: Abbreviation = Abbreviation {
        number: 4,
        fields: &[Field::Literal(7), Field::Fixed(3), Field::Variable(6), Field::ArrayFixed(8)],
    };
    const TEXT: Abbreviation =
        Abbreviation { number: 5, fields: &[Field::Literal(9), Field::Variable(6), Field::Blob] };

    #[derive(Default)]
    struct Events(Vec<String>);

    impl Visitor for Events {
        fn enter(&mut self, depth: usize, block: u64) -> bool {
            self.0.push(format!("enter {block} at {depth}"));
            true
        }

        fn record(&mut self, block: u64, record: Record) -> bitstream::Result<()> {
            self.0.push(format!("{block}: {} {:?} {:?}", record.code, record.operands, record.blob));
            Ok(())
        }

        fn leave(&mut self, block: u64) -> bitstream::Result<()> {
            self.0.push(format!("leave {block}"));
            Ok(())
        }
    }

    #[test]
    fn the_reader_reads_it() {
        let mut stream = Stream::default();
        stream.enter(8);
        stream.define(PAIRS);
        stream.define(TEXT);
        stream.record(1, &[2, u64::MAX]);
        stream.abbreviated(PAIRS, 7, &[5, 1000, 1, 255]);
        stream.abbreviated(PAIRS, 7, &[8, 1000]);
        stream.with_blob(TEXT, &[77], b"hello");
        let mut inner = Stream::nested();
        inner.enter(12);
        inner.record(3, &[]);
        inner.leave();
        stream.enter(17);
        stream.leave();
        stream.append(&inner);
        stream.leave();
        let mut events = Events::default();
        walk(&stream.finish(), &mut events).expect("it can be read");
        assert_eq!(
            events.0,
            [
                "enter 8 at 0",
                "8: 1 [2, 18446744073709551615] []",
                "8: 7 [5, 1000, 1, 255] []",
                "8: 7 [8, 1000] []",
                "8: 9 [77] [104, 101, 108, 108, 111]",
                "enter 17 at 1",
                "leave 17",
                "enter 12 at 1",
                "12: 3 [] []",
                "leave 12",
                "leave 8"
            ]
        );
    }
}
