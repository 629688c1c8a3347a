//! The frame of a function: the variables that live longer than a call.

use super::RESULT;
use crate::ir::{Block, Layout, Opcode, Value};
use rustc_hash::FxHashMap;

/// The frame of one function.
pub(super) struct Frame<'m> {
    /// The offset of each variable that is in the frame.
    pub(super) offsets: FxHashMap<Value<'m>, Slot>,
    /// Variables that need no place in it.
    pub(super) outside: Vec<Value<'m>>,
    /// Bytes, a multiple of the alignment of every frame.
    pub(super) size: u64,
}

/// A variable in a frame.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) offset: u64,
    /// Its address is known only by its loads and stores.
    pub(super) is_plain: bool,
}

/// Bytes at the start of a frame, for the state to return to.
const HEADER: u64 = 4;

impl<'m> Frame<'m> {
    /// The frame of a function with calls after which `resumes` go on.
    pub(super) fn new(function: Value<'m>, resumes: &[Block<'m>], layout: Layout<'m>) -> Frame<'m> {
        let blocks = function.blocks();
        let variables: Vec<Value<'m>> =
            blocks[0].instructions().into_iter().filter(|one| one.is(Opcode::LLVMAlloca)).collect();
        let plain: Vec<Value<'m>> = variables.iter().copied().filter(|&one| is_plain(one)).collect();
        let lasting = lasting(&blocks, &plain, resumes);
        let mut frame = Frame { offsets: FxHashMap::default(), outside: Vec::new(), size: HEADER };
        for variable in variables {
            let position = plain.iter().position(|&other| other == variable);
            if variable.name().starts_with(RESULT) || position.is_some_and(|position| !lasting[position]) {
                frame.outside.push(variable);
                continue;
            }
            let count = variable.operand(0).as_int().unwrap_or(1).unsigned_abs();
            let size = layout.size(variable.allocated_type()).saturating_mul(count);
            // Lanes are interleaved by the smallest access: small numbers are stored as 32 bits.
            let (size, align) = match position {
                Some(_) => (size.max(4), u64::from(layout.align(variable.allocated_type())).max(4)),
                None => (size, u64::from(variable.alignment().max(1))),
            };
            let offset = frame.size.next_multiple_of(align.min(16));
            frame.offsets.insert(variable, Slot { offset, is_plain: position.is_some() });
            frame.size = offset.saturating_add(size);
        }
        frame.size = frame.size.saturating_add(15) / 16 * 16;
        frame
    }
}

/// True if a variable is only loaded and stored, as a whole.
fn is_plain(variable: Value) -> bool {
    let ty = variable.allocated_type();
    variable.operand(0).as_int() == Some(1)
        && variable.users().into_iter().all(|user| match user.opcode() {
            Opcode::LLVMLoad => user.ty() == ty && !user.is_volatile(),
            Opcode::LLVMStore => user.operand(0) != variable && user.operand(0).ty() == ty && !user.is_volatile(),
            _ => false,
        })
}

/// For each of the variables: true if it is read after a call, before it is written.
fn lasting<'m>(blocks: &[Block<'m>], variables: &[Value<'m>], resumes: &[Block<'m>]) -> Vec<bool> {
    let numbers: FxHashMap<Value<'m>, usize> = variables.iter().copied().zip(0..).collect();
    let block_numbers: FxHashMap<Block<'m>, usize> = blocks.iter().copied().zip(0..).collect();
    let words = variables.len().div_ceil(64);
    let mut live = vec![vec![0u64; words]; blocks.len()];
    let mut written = live.clone();
    for (block, (live, written)) in blocks.iter().zip(live.iter_mut().zip(&mut written)) {
        for instruction in block.instructions() {
            let (pointer, is_store) = match instruction.opcode() {
                Opcode::LLVMLoad => (instruction.operand(0), false),
                Opcode::LLVMStore => (instruction.operand(1), true),
                _ => continue,
            };
            let Some(&number) = numbers.get(&pointer) else { continue };
            let (word, bit) = (number / 64, 1 << (number % 64));
            if is_store {
                written[word] |= bit;
            } else if written[word] & bit == 0 {
                live[word] |= bit;
            }
        }
    }
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| block.terminator().map(Value::successors).unwrap_or_default())
        .map(|nexts| nexts.iter().map(|next| block_numbers[next]).collect())
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..blocks.len()).rev() {
            for &next in &successors[block] {
                for word in 0..words {
                    let new = live[block][word] | live[next][word] & !written[block][word];
                    changed |= new != live[block][word];
                    live[block][word] = new;
                }
            }
        }
    }
    let mut lasting = vec![false; variables.len()];
    for resume in resumes {
        let live = &live[block_numbers[resume]];
        for (number, lasting) in lasting.iter_mut().enumerate() {
            *lasting |= live[number / 64] >> (number % 64) & 1 == 1;
        }
    }
    lasting
}
