//! Lanes that read or write one after the other, each several elements at once. The code for that is long: in a kernel
//! with many such accesses it is a function that they call, one for each type.

use super::entry::SPARE_BYTES;
use super::lanes::{lanes_of, splat};
use super::memory::{Access, from_memory, memory_type, to_memory};
use super::parts::{Part, every, interleave};
use super::types::bytes;
use crate::ir::{Block, Builder, ModuleRef, Type, Value};
use abi::LANES;

/// The most calls of such a function that are inlined.
const INLINED_AT_MOST: usize = 8;

const GATHER: &str = "gather";
const SCATTER: &str = "scatter";

impl<'m> Access<'_, 'm> {
    /// True if turns are better than the machine's own instructions, which are slow, and are missing for small
    /// elements.
    pub(super) fn takes_turns(&self, types: &[Type<'m>]) -> bool {
        (types.len() > 1 || bytes(types[0]) < 4) && self.can_take_turns(types)
    }

    /// True if lanes can take turns at all.
    pub(super) fn can_take_turns(&self, types: &[Type<'m>]) -> bool {
        let fits = bytes(types[0]) * types.len() as u64 <= SPARE_BYTES;
        fits && !types[0].is_pointer() && self.side_by_side(types)
    }

    /// Each lane's pointer; a lane that is switched off may have any, and gets one to spare memory.
    fn harmless_pointers(&self) -> Value<'m> {
        let pointers = self.pointer.lanes(self.b);
        match self.mask {
            Some(mask) => self.b.select(mask, pointers, splat(self.b, self.spare)),
            None => pointers,
        }
    }

    pub(super) fn gather_in_turns(&self, types: &[Type<'m>]) -> Vec<Part<'m>> {
        let (piece, count) = (memory_type(types[0]).vector(types.len()), types.len());
        let wide = self.b.call(self.function(GATHER, piece), &[self.harmless_pointers()]);
        (0..count)
            .map(|i| {
                let part = if count == 1 { wide } else { every(self.b, wide, i, count) };
                Part::Lanes(from_memory(self.b, part, types[0]))
            })
            .collect()
    }

    pub(super) fn scatter_in_turns(&self, values: &[Part<'m>], types: &[Type<'m>]) {
        let parts: Vec<Value<'m>> =
            values.iter().zip(types).map(|(part, ty)| to_memory(self.b, part.lanes(self.b), *ty)).collect();
        let piece = memory_type(types[0]).vector(types.len());
        let wide = interleave(self.b, &parts);
        self.b.call(self.function(SCATTER, piece), &[self.harmless_pointers(), wide]);
    }

    /// The function in which each lane reads or writes a `piece`.
    fn function(&self, kind: &str, piece: Type<'m>) -> Value<'m> {
        let module = self.b.module;
        let volatile = if self.is_volatile { ".volatile" } else { "" };
        let name = format!("{kind}.{}.{}{volatile}", piece.text().replace([' ', '<', '>'], ""), self.align);
        if let Some(function) = module.function(&name) {
            return function;
        }
        let b = Builder::new(module);
        let context = b.context();
        let pointers = lanes_of(Type::pointer(context));
        let wide = piece.element().vector(LANES * piece.length());
        let is_gather = kind == GATHER;
        let ty =
            if is_gather { wide.function(&[pointers]) } else { Type::void(context).function(&[pointers, wide]) };
        let function = module.add_function(&name, ty);
        function.make_internal();
        function.add_attribute("nounwind");
        b.at_end(Block::append(function, "entry"));
        let parameters = function.parameters();
        let pointer = |lane: i64| b.extract(parameters[0], Type::int(context, 64).constant(lane));
        if is_gather {
            let load = |lane| {
                let load = b.load(piece, pointer(lane), self.align);
                load.set_volatile(self.is_volatile);
                load
            };
            let pieces = (0..LANES as i64).map(load).collect();
            b.ret_value(joined(&b, pieces));
        } else {
            let length = piece.length() as i32;
            for lane in 0..LANES as i32 {
                let pattern: Vec<i32> = (lane * length..(lane + 1) * length).collect();
                let part = b.shuffle(parameters[1], wide.poison(), &pattern);
                b.store(part, pointer(lane.into()), self.align).set_volatile(self.is_volatile);
            }
            b.ret();
        }
        function
    }
}

/// Vectors of one length, one after the other; a power of two of them.
fn joined<'m>(b: &Builder<'m>, mut pieces: Vec<Value<'m>>) -> Value<'m> {
    while pieces.len() > 1 {
        let pattern: Vec<i32> = (0..2 * pieces[0].ty().length() as i32).collect();
        pieces = pieces.chunks(2).map(|pair| b.shuffle(pair[0], pair[1], &pattern)).collect();
    }
    pieces[0]
}

/// Decides which of these functions are inlined.
pub(super) fn settle(module: ModuleRef) {
    for function in module.functions() {
        let name = function.name();
        if name.starts_with(GATHER) || name.starts_with(SCATTER) {
            let inlined = function.users().len() <= INLINED_AT_MOST;
            function.add_attribute(if inlined { "alwaysinline" } else { "noinline" });
        }
    }
}
