//! LLVM's bitstream, as far as it must be read to know what is in a module: blocks, abbreviations, records. The format
//! is described in LLVM's documentation ("LLVM Bitcode File Format").

use std::collections::BTreeMap;
use std::rc::Rc;

/// Reason that a bitstream cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Error {
    /// It ends in the middle of an entry.
    End,
    /// An entry breaks the rules of the format.
    Malformed(&'static str),
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// A record: its code, its operands, and its blob if it has one.
pub(super) struct Record<'a> {
    pub(super) code: u64,
    pub(super) operands: Vec<u64>,
    pub(super) blob: &'a [u8],
}

/// The block with the abbreviations of others.
const BLOCK_INFO: u64 = 0;
/// A record in it: the records after it are about this block.
const SET_BLOCK: u64 = 1;

/// More than any module nests.
const MAX_DEPTH: usize = 16;

/// Receives the contents of a bitstream.
pub(super) trait Visitor {
    /// A block begins, inside of `depth` others. It is skipped unless this is true.
    fn enter(&mut self, depth: usize, block: u64) -> bool;

    /// A record in a block that was entered.
    fn record(&mut self, block: u64, record: Record) -> Result<()>;

    /// A block that was entered ends.
    fn leave(&mut self, block: u64) -> Result<()>;
}

/// Walks over a bitstream, the magic number behind it.
pub(super) fn walk(bytes: &[u8], visitor: &mut impl Visitor) -> Result<()> {
    let mut cursor = Cursor { bytes, bit: 0 };
    let mut known: BTreeMap<u64, Vec<Rc<Abbreviation>>> = BTreeMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    loop {
        let width = blocks.last().map_or(2, |block| block.width);
        // A stream that is padded to a multiple of four bytes ends with zeros.
        if blocks.is_empty() && cursor.remaining() < 32 {
            return Ok(());
        }
        match cursor.fixed(width)? {
            0 => {
                let Some(block) = blocks.pop() else {
                    return Err(Error::Malformed("a block ends that never began"));
                };
                cursor.align()?;
                if cursor.bit != block.end {
                    return Err(Error::Malformed("a block is longer or shorter than it says"));
                }
                if block.id != BLOCK_INFO {
                    visitor.leave(block.id)?;
                }
            }
            1 => {
                let id = cursor.variable(8)?;
                let width = cursor.variable(4)?;
                cursor.align()?;
                let words = cursor.fixed(32)?;
                let end = cursor.bit.saturating_add(words * 32);
                if end > cursor.end() || !(2..=32).contains(&width) {
                    return Err(Error::Malformed("a block does not fit"));
                }
                if blocks.len() == MAX_DEPTH {
                    return Err(Error::Malformed("blocks are nested too deep"));
                }
                if id != BLOCK_INFO && !visitor.enter(blocks.len(), id) {
                    cursor.bit = end;
                    continue;
                }
                let abbreviations = known.get(&id).cloned().unwrap_or_default();
                blocks.push(Block { id, width: width as u32, end, abbreviations, about: None });
            }
            2 => {
                let abbreviation = Rc::new(Abbreviation::read(&mut cursor)?);
                let Some(block) = blocks.last_mut() else {
                    return Err(Error::Malformed("a record outside of blocks"));
                };
                match (block.id, block.about) {
                    (BLOCK_INFO, Some(about)) => known.entry(about).or_default().push(abbreviation),
                    (BLOCK_INFO, None) => return Err(Error::Malformed("an abbreviation for no block")),
                    _ => block.abbreviations.push(abbreviation),
                }
            }
            number => {
                let Some(block) = blocks.last_mut() else {
                    return Err(Error::Malformed("a record outside of blocks"));
                };
                let record = match number {
                    3 => cursor.unabbreviated()?,
                    _ => {
                        let abbreviation = block.abbreviations.get(number as usize - 4).cloned();
                        abbreviation.ok_or(Error::Malformed("an abbreviation is not known"))?.record(&mut cursor)?
                    }
                };
                match block.id {
                    BLOCK_INFO if record.code == SET_BLOCK => block.about = record.operands.first().copied(),
                    BLOCK_INFO => {}
                    id => visitor.record(id, record)?,
                }
            }
        }
    }
}

/// A block that is being read.
struct Block {
    id: u64,
    /// The width of the number that begins each entry of it.
    width: u32,
    end: u64,
    abbreviations: Vec<Rc<Abbreviation>>,
    /// In the block with the abbreviations of others: the block that they are for.
    about: Option<u64>,
}

/// The encoding of a record's operands.
struct Abbreviation(Vec<Operand>);

#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    /// All further operands, each as the operand after this one says.
    Array,
    Character,
    Blob,
}

impl Abbreviation {
    fn read(cursor: &mut Cursor) -> Result<Abbreviation> {
        let count = cursor.variable(5)?;
        let mut operands = Vec::new();
        for _ in 0..count {
            operands.push(match cursor.fixed(1)? {
                1 => Operand::Literal(cursor.variable(8)?),
                _ => match cursor.fixed(3)? {
                    1 => Operand::Fixed(width(cursor)?),
                    2 => Operand::Variable(width(cursor)?),
                    3 => Operand::Array,
                    4 => Operand::Character,
                    5 => Operand::Blob,
                    _ => return Err(Error::Malformed("an abbreviation has an unknown encoding")),
                },
            });
        }
        let misplaced = operands.iter().rev().skip(2).any(|one| matches!(one, Operand::Array | Operand::Blob));
        if operands.is_empty() || misplaced || matches!(operands.last(), Some(Operand::Array)) {
            return Err(Error::Malformed("an abbreviation has no end, or ends too early"));
        }
        Ok(Abbreviation(operands))
    }

    fn record<'a>(&self, cursor: &mut Cursor<'a>) -> Result<Record<'a>> {
        let mut values = Vec::new();
        let mut blob: &[u8] = &[];
        for (at, operand) in self.0.iter().enumerate() {
            match operand {
                Operand::Array => {
                    let element = *self.0.get(at + 1).ok_or(Error::Malformed("an array of nothing"))?;
                    for _ in 0..cursor.count()? {
                        values.push(cursor.scalar(element)?);
                    }
                    break;
                }
                Operand::Blob => {
                    let bytes = cursor.variable(6)?;
                    cursor.align()?;
                    let first = (cursor.bit / 8) as usize;
                    cursor.skip(bytes.saturating_mul(8))?;
                    blob = &cursor.bytes[first..(cursor.bit / 8) as usize];
                    cursor.align()?;
                }
                scalar => values.push(cursor.scalar(*scalar)?),
            }
        }
        if values.is_empty() {
            return Err(Error::Malformed("a record without a code"));
        }
        Ok(Record { code: values.remove(0), operands: values, blob })
    }
}

fn width(cursor: &mut Cursor) -> Result<u32> {
    match cursor.variable(5)? {
        width @ 0..=32 => Ok(width as u32),
        _ => Err(Error::Malformed("an abbreviation is too wide")),
    }
}

/// A place in a bitstream.
struct Cursor<'a> {
    bytes: &'a [u8],
    bit: u64,
}

impl<'a> Cursor<'a> {
    fn end(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    fn remaining(&self) -> u64 {
        self.end().saturating_sub(self.bit)
    }

    fn skip(&mut self, bits: u64) -> Result<()> {
        if bits > self.remaining() {
            return Err(Error::End);
        }
        self.bit += bits;
        Ok(())
    }

    fn align(&mut self) -> Result<()> {
        self.skip(self.bit.next_multiple_of(32) - self.bit)
    }

    /// At most 32 bits.
    fn fixed(&mut self, width: u32) -> Result<u64> {
        if u64::from(width) > self.remaining() {
            return Err(Error::End);
        }
        let first = (self.bit / 8) as usize;
        let mut window = [0; 8];
        let length = (self.bytes.len() - first).min(8);
        window[..length].copy_from_slice(&self.bytes[first..first + length]);
        let value = u64::from_le_bytes(window) >> (self.bit % 8) & ((1u64 << width) - 1);
        self.bit += u64::from(width);
        Ok(value)
    }

    fn variable(&mut self, width: u32) -> Result<u64> {
        if width < 2 {
            return self.fixed(width);
        }
        let high = 1 << (width - 1);
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let piece = self.fixed(width)?;
            value |= (piece & (high - 1)).checked_shl(shift).unwrap_or(0);
            if piece & high == 0 {
                return Ok(value);
            }
            shift += width - 1;
            if shift >= 64 + width {
                return Err(Error::Malformed("a number is too long"));
            }
        }
    }

    /// The number of operands: each takes a bit at least, or LLVM would not have written them so.
    fn count(&mut self) -> Result<u64> {
        let count = self.variable(6)?;
        if count > self.remaining() { Err(Error::End) } else { Ok(count) }
    }

    fn scalar(&mut self, operand: Operand) -> Result<u64> {
        match operand {
            Operand::Literal(value) => Ok(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Variable(width) => self.variable(width),
            Operand::Character => {
                const CHARACTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
                Ok(CHARACTERS[self.fixed(6)? as usize].into())
            }
            Operand::Array | Operand::Blob => Err(Error::Malformed("an array of arrays")),
        }
    }

    fn unabbreviated(&mut self) -> Result<Record<'a>> {
        let code = self.variable(6)?;
        let count = self.count()?;
        let operands = (0..count).map(|_| self.variable(6)).collect::<Result<Vec<u64>>>()?;
        Ok(Record { code, operands, blob: &[] })
    }
}
