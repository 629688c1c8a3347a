//! Reading. Every offset may be wrong, and tables may be shared: each is checked against the buffer, and no more parts
//! are read than could lie side by side in it, so that a small buffer cannot stand for a large tree.

use super::{DEFAULT_SPACE, FunctionReflection, ReflectedBuffer, ReflectedField, ReflectionNode, kind};
use crate::metallib::{ParseError, Problem};
use std::borrow::Cow;
use std::cell::Cell;

type Result<T> = std::result::Result<T, ParseError>;

/// A buffer, and the number of parts that may still be read.
struct Buffer<'a> {
    bytes: &'a [u8],
    left: Cell<usize>,
}

/// A table in a buffer.
#[derive(Clone, Copy)]
struct Table<'a, 'b> {
    buffer: &'b Buffer<'a>,
    start: usize,
    /// The vtable, without the two sizes before its entries.
    entries: &'a [u8],
}

impl<'a> FunctionReflection<'a> {
    /// Reads a FlatBuffer. Parts that are not known are left out and listed in `unknown`.
    pub fn parse(bytes: &'a [u8]) -> Result<FunctionReflection<'a>> {
        let buffer = Buffer { bytes, left: Cell::new(bytes.len() / 4) };
        if bytes.get(4..8) != Some(b"AIRR") {
            return Err(buffer.error(4, Problem::Identifier));
        }
        let root = buffer.table(buffer.target(0)?)?;
        let mut reflection = FunctionReflection {
            version: root
                .position(0)?
                .map_or(Ok([0; 3]), |at| Ok([buffer.u32(at)?, buffer.u32(at + 4)?, buffer.u32(at + 8)?]))?,
            kernels: root.uints(4)?,
            constants: root.uints(9)?,
            ..FunctionReflection::default()
        };
        for variable in root.tables(10)? {
            reflection.threadgroup.push((variable.uint(0)?, variable.uint(1)?));
            variable.known(&[0, 1], "a threadgroup variable", &mut reflection.unknown)?;
        }
        root.known(&[0, 1, 4, 9, 10], "the root", &mut reflection.unknown)?;
        for (index, node) in root.tables(1)?.into_iter().enumerate() {
            let node = read_node(node, index, &mut reflection.unknown)?;
            reflection.nodes.push(node);
        }
        Ok(reflection)
    }
}

fn read_node<'a>(node: Table<'a, '_>, index: usize, unknown: &mut Vec<String>) -> Result<ReflectionNode<'a>> {
    let at = format!("node {index}");
    let kind = node.uint(0)?;
    node.known(&[0, 1], &at, unknown)?;
    let content = || node.table(1)?.ok_or_else(|| node.buffer.error(node.start, Problem::MissingPart("content")));
    Ok(match kind {
        kind::KERNEL => {
            let kernel = content()?;
            kernel.known(&[0, 2, 6], &at, unknown)?;
            let (name, arguments, max_threads) = (kernel.text(0)?, kernel.uints(2)?, kernel.opt_uint(6)?);
            ReflectionNode::Kernel { name, arguments, max_threads }
        }
        kind::MAX_THREADS => {
            let limit = content()?;
            limit.known(&[0], &at, unknown)?;
            ReflectionNode::MaxThreads(limit.uint(0)?)
        }
        kind::BUFFER => ReflectionNode::Buffer(read_buffer(content()?, &at, unknown)?),
        kind::BUILTIN..=0x41fff => {
            let builtin = content()?;
            builtin.known(&[0, 1, 2, 3], &at, unknown)?;
            ReflectionNode::Builtin {
                number: (kind - kind::BUILTIN) as u16,
                is_conditional: builtin.byte(0, 0)? != 0,
                type_name: builtin.text(1)?,
                name: builtin.text(2)?,
                is_unused: builtin.byte(3, 0)? != 0,
            }
        }
        kind::CONSTANT => {
            let constant = content()?;
            constant.known(&[0, 1, 2, 3], &at, unknown)?;
            ReflectionNode::Constant {
                type_name: constant.text(0)?,
                name: constant.text(1)?,
                index: constant.uint(2)?,
                is_used: constant.byte(3, 0)? != 0,
            }
        }
        kind::STRUCT => {
            let content = content()?;
            content.known(&[0], &at, unknown)?;
            let fields = content.tables(0)?;
            let fields = fields.into_iter().map(|field| read_field(field, &at, unknown));
            ReflectionNode::Struct(fields.collect::<Result<_>>()?)
        }
        kind => {
            unknown.push(format!("{at} of kind {kind:#x}"));
            ReflectionNode::Other { kind }
        }
    })
}

fn read_buffer<'a>(table: Table<'a, '_>, at: &str, unknown: &mut Vec<String>) -> Result<ReflectedBuffer<'a>> {
    table.known(&[0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12], at, unknown)?;
    Ok(ReflectedBuffer {
        is_conditional: table.byte(0, 0)? != 0,
        buffer_size: table.uint(1)?,
        index: table.uint(2)?,
        count: table.uint(3)?,
        access: table.byte(4, 0)?,
        address_space: table.byte(5, DEFAULT_SPACE)?,
        struct_type: table.opt_uint(6)?,
        type_size: table.uint(8)?,
        type_align: table.uint(9)?,
        type_name: table.text(10)?,
        name: table.text(11)?,
        is_unused: table.byte(12, 0)? != 0,
    })
}

fn read_field<'a>(table: Table<'a, '_>, at: &str, unknown: &mut Vec<String>) -> Result<ReflectedField<'a>> {
    table.known(&[0, 1, 2, 3, 4, 5], at, unknown)?;
    Ok(ReflectedField {
        struct_type: table.opt_uint(0)?,
        offset: table.uint(1)?,
        size: table.uint(2)?,
        length: table.uint(3)?,
        type_name: table.text(4)?,
        name: table.text(5)?,
    })
}

impl<'a> Buffer<'a> {
    fn error(&self, at: usize, problem: Problem) -> ParseError {
        ParseError { problem, offset: Some(at as u64), at: "reflection buffer".into() }
    }

    fn range(&self, at: usize, length: usize) -> Result<&'a [u8]> {
        let end = at.saturating_add(length);
        let limit = self.bytes.len() as u64;
        let outside = || self.error(at.min(self.bytes.len()), Problem::OutOfBounds { end: end as u64, limit });
        self.bytes.get(at..end).ok_or_else(outside)
    }

    fn u16(&self, at: usize) -> Result<u16> {
        let bytes = self.range(at, 2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&self, at: usize) -> Result<u32> {
        let bytes = self.range(at, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The object that the offset at `at` refers to.
    fn target(&self, at: usize) -> Result<usize> {
        Ok(at.saturating_add(self.u32(at)? as usize))
    }

    /// Notes that `count` more parts are read.
    fn take(&self, at: usize, count: usize) -> Result<()> {
        let left = self.left.get().checked_sub(count);
        self.left.set(left.ok_or_else(|| self.error(at, Problem::Count(count as u64)))?);
        Ok(())
    }

    fn table(&self, start: usize) -> Result<Table<'a, '_>> {
        self.take(start, 1)?;
        let back = i64::from(self.u32(start)? as i32);
        let outside = || self.error(start, Problem::OutOfBounds { end: 0, limit: self.bytes.len() as u64 });
        let vtable = usize::try_from(start as i64 - back).map_err(|_| outside())?;
        let size = usize::from(self.u16(vtable)?);
        let entries = self.range(vtable, size)?.get(4..).unwrap_or_default();
        Ok(Table { buffer: self, start, entries })
    }

    /// The start and number of a vector's elements of 4 bytes.
    fn vector(&self, start: usize) -> Result<(usize, usize)> {
        let count = self.u32(start)? as usize;
        self.range(start.saturating_add(4), count.saturating_mul(4))?;
        self.take(start, count)?;
        Ok((start + 4, count))
    }
}

impl<'a, 'b> Table<'a, 'b> {
    /// The position of a field, if it is there.
    fn position(&self, slot: usize) -> Result<Option<usize>> {
        let entry = self.entries.get(slot * 2..slot * 2 + 2).map(|entry| u16::from_le_bytes([entry[0], entry[1]]));
        Ok(entry.filter(|&entry| entry != 0).map(|entry| self.start + usize::from(entry)))
    }

    /// Reports fields other than these.
    fn known(&self, slots: &[usize], at: &str, unknown: &mut Vec<String>) -> Result<()> {
        for slot in 0..self.entries.len() / 2 {
            if !slots.contains(&slot) && self.position(slot)?.is_some() {
                // An entry of the vtable takes two bytes.
                self.buffer.take(self.start, 1)?;
                unknown.push(format!("field {slot} of {at}"));
            }
        }
        Ok(())
    }

    fn opt_uint(&self, slot: usize) -> Result<Option<u32>> {
        self.position(slot)?.map(|at| self.buffer.u32(at)).transpose()
    }

    fn uint(&self, slot: usize) -> Result<u32> {
        Ok(self.opt_uint(slot)?.unwrap_or(0))
    }

    fn byte(&self, slot: usize, default: u8) -> Result<u8> {
        Ok(self.position(slot)?.map(|at| self.buffer.range(at, 1)).transpose()?.map_or(default, |bytes| bytes[0]))
    }

    fn text(&self, slot: usize) -> Result<Cow<'a, str>> {
        let Some(at) = self.position(slot)? else { return Ok(Cow::Borrowed("")) };
        let at = self.buffer.target(at)?;
        let length = self.buffer.u32(at)? as usize;
        let bytes = self.buffer.range(at + 4, length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.buffer.error(at, Problem::Text))?;
        Ok(Cow::Borrowed(text))
    }

    fn table(&self, slot: usize) -> Result<Option<Table<'a, 'b>>> {
        let at = self.position(slot)?.map(|at| self.buffer.target(at)).transpose()?;
        at.map(|at| self.buffer.table(at)).transpose()
    }

    fn uints(&self, slot: usize) -> Result<Vec<u32>> {
        let Some(at) = self.position(slot)? else { return Ok(Vec::new()) };
        let (start, count) = self.buffer.vector(self.buffer.target(at)?)?;
        (0..count).map(|index| self.buffer.u32(start + index * 4)).collect()
    }

    fn tables(&self, slot: usize) -> Result<Vec<Table<'a, 'b>>> {
        let Some(at) = self.position(slot)? else { return Ok(Vec::new()) };
        let (start, count) = self.buffer.vector(self.buffer.target(at)?)?;
        (0..count).map(|index| self.buffer.table(self.buffer.target(start + index * 4)?)).collect()
    }
}
