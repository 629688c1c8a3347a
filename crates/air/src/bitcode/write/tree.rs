//! A bitstream as a tree of blocks and records.

use crate::bitcode::bitstream::{self, Error, Visitor, walk};

#[derive(Debug)]
pub(super) struct Record {
    pub(super) code: u64,
    pub(super) operands: Vec<u64>,
    pub(super) blob: Vec<u8>,
}

/// A block: its records, and the blocks in it. Their order among each other means nothing in the blocks that are read.
#[derive(Default, Debug)]
pub(super) struct Block {
    pub(super) id: u64,
    pub(super) records: Vec<Record>,
    pub(super) blocks: Vec<Block>,
}

impl Block {
    /// The first block in this one with this number.
    pub(super) fn block(&self, id: u64) -> Option<&Block> {
        self.blocks.iter().find(|block| block.id == id)
    }
}

/// The blocks of a bitstream, without the magic number at its beginning.
pub(super) fn read(stream: &[u8]) -> super::Result<Vec<Block>> {
    let mut tree = Tree { open: vec![Block::default()] };
    walk(stream, &mut tree).map_err(|error| match error {
        Error::End => "LLVM's bitcode ends too early".to_owned(),
        Error::Malformed(problem) => format!("LLVM's bitcode cannot be read: {problem}"),
    })?;
    Ok(tree.open.swap_remove(0).blocks)
}

struct Tree {
    /// The blocks that are being read; the first holds all.
    open: Vec<Block>,
}

impl Visitor for Tree {
    fn enter(&mut self, _: usize, id: u64) -> bool {
        self.open.push(Block { id, ..Block::default() });
        true
    }

    fn record(&mut self, _: u64, record: bitstream::Record) -> bitstream::Result<()> {
        let bitstream::Record { code, operands, blob } = record;
        let block = self.open.last_mut().expect("the outermost block stays");
        block.records.push(Record { code, operands, blob: blob.to_vec() });
        Ok(())
    }

    fn leave(&mut self, _: u64) -> bitstream::Result<()> {
        let block = self.open.pop().expect("a block was entered");
        self.open.last_mut().expect("the outermost block stays").blocks.push(block);
        Ok(())
    }
}
