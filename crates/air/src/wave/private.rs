//! Private memory: the arrays of each thread. The lanes' copies are interleaved unit by unit, so that all lanes reading
//! the same element read one vector. The unit is the smallest access to an array; arrays that one pointer can point
//! into share it, and share a frame. A pointer to private memory is the offset that it would have in a frame of one
//! lane alone.
//!
//! A frame is fenced: accesses outside of it, in either direction, go to the unused bytes at its end. Some kernels step
//! out of their own arrays, MLX's layer norm among them, which has no effect on a GPU; here the next bytes are the
//! stack of the process. If an offset is known, so is the result, and the fence costs nothing.

use super::graph::Graph;
use super::lanes::{lanes_of, ramp};
use super::memory::{Access, part_type};
use super::parts::{Part, every, interleave};
use super::types::{bytes, components};
use super::widen::Widener;
use crate::ir::{Builder, Layout, Opcode, Type, Value};
use abi::LANES;
use rustc_hash::FxHashMap;

/// A frame: arrays that are laid out together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Bytes that the lanes' copies are interleaved by.
    pub(super) unit: u64,
    /// Bytes for one lane.
    size: u64,
}

/// Unused bytes at the end of a frame, for one lane: more than any unit.
const FENCE: u64 = 16;

impl Frame {
    /// Bytes for all lanes.
    pub(super) fn bytes(self) -> u64 {
        (self.size + FENCE) * LANES as u64
    }
}

/// The private memory of a function.
pub(super) struct Private<'m> {
    pub(super) frames: Vec<Frame>,
    /// The frame of each pointer.
    frame_of: FxHashMap<Value<'m>, usize>,
    /// The offset of each array in its frame.
    pub(super) offsets: FxHashMap<Value<'m>, u64>,
}

impl<'m> Private<'m> {
    pub(super) fn new(graph: &Graph<'m>, layout: Layout<'m>) -> Private<'m> {
        let mut classes = Classes::default();
        let mut arrays = Vec::new();
        let mut accesses = Vec::new();
        let mut all_alike = false;
        for instruction in graph.blocks.iter().flat_map(|block| block.instructions()) {
            let is_pointer = |value: Value<'m>| value.ty().is_pointer() && value.ty().address_space() == 0;
            match instruction.opcode() {
                Opcode::LLVMAlloca => {
                    classes.add(instruction);
                    arrays.push(instruction);
                }
                Opcode::LLVMLoad => {
                    if is_pointer(instruction.operand(0)) {
                        accesses.push((instruction.operand(0), smallest(instruction)));
                    }
                    all_alike |= is_pointer(instruction);
                }
                Opcode::LLVMStore => {
                    if is_pointer(instruction.operand(1)) {
                        accesses.push((instruction.operand(1), smallest(instruction.operand(0))));
                    }
                    all_alike |= is_pointer(instruction.operand(0));
                }
                Opcode::LLVMCall => {
                    let pointers = instruction.arguments().into_iter().filter(|&argument| is_pointer(argument));
                    accesses.extend(pointers.map(|pointer| (pointer, super::calls::access_unit(instruction))));
                }
                Opcode::LLVMIntToPtr => all_alike |= is_pointer(instruction),
                _ if is_pointer(instruction) => {
                    for operand in instruction.operands().into_iter().filter(|&operand| is_pointer(operand)) {
                        classes.join(instruction, operand);
                    }
                }
                _ => {}
            }
        }
        if all_alike {
            for pair in arrays.windows(2) {
                classes.join(pair[0], pair[1]);
            }
        }
        classes.lay_out(&arrays, &accesses, layout)
    }

    /// The number of the frame that a pointer points into.
    pub(super) fn frame_of(&self, pointer: Value<'m>) -> usize {
        self.frame_of.get(&pointer).copied().unwrap_or(0)
    }

    /// Bytes for all lanes.
    pub(super) fn bytes(&self) -> u64 {
        self.frames.iter().map(|frame| frame.bytes()).sum()
    }
}

/// The smallest component of a value.
fn smallest(value: Value) -> u64 {
    components(value.ty()).into_iter().map(bytes).min().unwrap_or(8)
}

/// Classes of pointers that may point into the same array.
#[derive(Default)]
struct Classes<'m> {
    numbers: FxHashMap<Value<'m>, usize>,
    parents: Vec<usize>,
}

impl<'m> Classes<'m> {
    fn add(&mut self, value: Value<'m>) -> usize {
        let next = self.parents.len();
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.parents.push(next);
        }
        number
    }

    fn find(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }

    fn join(&mut self, a: Value<'m>, b: Value<'m>) {
        let (a, b) = (self.add(a), self.add(b));
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a] = b;
    }

    fn lay_out(mut self, arrays: &[Value<'m>], accesses: &[(Value<'m>, u64)], layout: Layout<'m>) -> Private<'m> {
        let mut frames = Vec::new();
        let mut frame_numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut offsets = FxHashMap::default();
        for &array in arrays {
            let number = self.add(array);
            let class = self.find(number);
            let frame = *frame_numbers.entry(class).or_insert_with(|| {
                frames.push(Frame { unit: 8, size: 0 });
                frames.len() - 1
            });
            let size = layout.size(array.allocated_type()) * array.operand(0).as_int().unwrap_or(1).unsigned_abs();
            offsets.insert(array, frames[frame].size);
            frames[frame].size += size.next_multiple_of(16);
        }
        let mut frame_of = FxHashMap::default();
        let values: Vec<Value<'m>> = self.numbers.keys().copied().collect();
        for value in values {
            let number = self.add(value);
            if let Some(&frame) = frame_numbers.get(&self.find(number)) {
                frame_of.insert(value, frame);
            }
        }
        for (pointer, unit) in accesses {
            if let Some(&frame) = frame_of.get(pointer) {
                frames[frame].unit = frames[frame].unit.min(*unit);
            }
        }
        Private { frames, frame_of, offsets }
    }
}

impl<'m> Widener<'_, 'm> {
    /// The memory of unit `offset / unit` at a pointer into a frame, for each lane.
    fn private_address(&self, frame: usize, pointer: Part<'m>, offset: u64) -> Part<'m> {
        let b = &self.b;
        let (memory, Frame { unit, size }) = (self.frames[frame], self.private.frames[frame]);
        let (int, wide) = (Type::int(b.context(), 32), Type::int(b.context(), 64));
        let fenced = |at: Value<'m>| match at.as_int().and_then(|at| u64::try_from(at).ok()) {
            Some(at) => int.constant((at + offset).min(size) as i64),
            None => {
                let at = b.add(at, at.ty().constant(offset as i64));
                b.intrinsic("llvm.umin", &[at.ty()], &[at, at.ty().constant(size as i64)])
            }
        };
        match pointer {
            Part::Uniform(at) => {
                let bytes = b.mul(b.zext(fenced(at), wide), wide.constant(LANES as i64));
                Part::Ramp { base: b.offset(memory, bytes), stride: unit as i64, lanes: None }
            }
            varying => {
                let at = b.mul(fenced(varying.lanes(b)), lanes_of(int).constant(LANES as i64));
                let at = b.add(at, ramp(int, 0, unit as i64));
                Part::Lanes(b.offset(memory, b.zext(at, lanes_of(wide))))
            }
        }
    }

    pub(super) fn load_private(
        &self,
        frame: usize,
        pointer: Part<'m>,
        offset: u64,
        ty: Type<'m>,
        is_volatile: bool,
    ) -> Part<'m> {
        let unit = self.private.frames[frame].unit;
        let (size, piece) = (bytes(ty), Type::int(self.b.context(), unit as u32 * 8));
        let load = |offset: u64, ty: Type<'m>| {
            let pointer = self.private_address(frame, pointer, offset);
            let access = Access { is_volatile, ..self.access(pointer, &[0], unit as u32) };
            access.load(&[ty])[0].lanes(&self.b)
        };
        if size == unit {
            return Part::Lanes(load(offset, ty));
        }
        let pieces: Vec<Value<'m>> = (0..size / unit).map(|i| load(offset + i * unit, piece)).collect();
        let joined = interleave(&self.b, &pieces);
        let bits = lanes_of(Type::int(self.b.context(), size as u32 * 8));
        Part::Lanes(as_type(&self.b, self.b.bitcast(joined, bits), lanes_of(ty)))
    }

    pub(super) fn store_private(
        &self,
        frame: usize,
        pointer: Part<'m>,
        offset: u64,
        part: Part<'m>,
        is_volatile: bool,
    ) {
        let unit = self.private.frames[frame].unit;
        let ty = part_type(part);
        let size = bytes(ty);
        let store = |offset: u64, part: Part<'m>| {
            let pointer = self.private_address(frame, pointer, offset);
            Access { is_volatile, ..self.access(pointer, &[0], unit as u32) }.store(&[part]);
        };
        if size == unit {
            return store(offset, part);
        }
        let count = (size / unit) as usize;
        let lanes = part.lanes(&self.b);
        let bits = as_bits(&self.b, lanes, lanes_of(Type::int(self.b.context(), size as u32 * 8)));
        let pieces = self.b.bitcast(bits, Type::int(self.b.context(), unit as u32 * 8).vector(LANES * count));
        for i in 0..count {
            store(offset + i as u64 * unit, Part::Lanes(every(&self.b, pieces, i, count)));
        }
    }
}

/// Bits as another type of the same size; pointers need a cast of their own.
fn as_type<'m>(b: &Builder<'m>, bits: Value<'m>, ty: Type<'m>) -> Value<'m> {
    let pointer = ty.scalar().is_pointer();
    b.cast(if pointer { Opcode::LLVMIntToPtr } else { Opcode::LLVMBitCast }, bits, ty)
}

fn as_bits<'m>(b: &Builder<'m>, value: Value<'m>, bits: Type<'m>) -> Value<'m> {
    let scalar = value.ty().scalar();
    if scalar.is_pointer() {
        return b.cast(Opcode::LLVMPtrToInt, value, bits);
    }
    if scalar.is_int() { b.zext(value, bits) } else { b.bitcast(value, bits) }
}
