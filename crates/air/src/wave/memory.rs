//! Loads and stores. The address decides: one scalar access when all lanes share it, one vector access when they lie
//! side by side, wide accesses and shuffles when they lie a small step apart, and a gather or scatter for the rest.
//!
//! LLVM knows no volatile masked access. Where the lanes' addresses differ, each active lane makes its volatile access
//! by itself; where all share one address, the simdgroup makes one, as a GPU does.

use super::lanes::{Mask, lanes_of, mask_bits};
use super::parts::{Part, anything, every, interleave};
use super::types::bytes;
use super::widen::Widener;
use crate::ir::{Builder, Type, Value};
use abi::LANES;

/// The largest step, in elements, for which whole stretches of memory are loaded and taken apart.
const WIDEST_STEP: usize = 8;

/// The largest alignment that is relied on. Kernels that cast pointers to vectors run on GPUs, which ignore alignment,
/// and would trap on a CPU, where unaligned accesses are as fast.
const MOST_ALIGNMENT: u32 = 8;

/// One access by the active lanes (all of them where there is no mask).
pub(super) struct Access<'a, 'm> {
    pub(super) b: &'a Builder<'m>,
    /// An address for each lane.
    pub(super) pointer: Part<'m>,
    /// A constant distance from it for each component, in bytes.
    pub(super) offsets: &'a [u64],
    /// The known alignment of component 0.
    pub(super) align: u32,
    pub(super) mask: Option<Mask<'m>>,
    /// True if nothing writes there while the kernel runs.
    pub(super) is_constant: bool,
    /// True if each run of the code accesses memory, and no access is merged with another.
    pub(super) is_volatile: bool,
    /// True if a load of all lanes side by side stays behind those before it.
    pub(super) is_in_order: bool,
    /// Memory that lanes which are switched off may read and write.
    pub(super) spare: Value<'m>,
}

impl<'m> Widener<'_, 'm> {
    /// An access by the lanes that run the current block.
    pub(super) fn access<'s>(&'s self, pointer: Part<'m>, offsets: &'s [u64], align: u32) -> Access<'s, 'm> {
        let (align, mask, spare) = (align.min(MOST_ALIGNMENT), self.mask, self.entry.spare);
        let (is_constant, is_volatile, is_in_order) = (false, false, false);
        Access { b: &self.b, pointer, offsets, align, mask, is_constant, is_volatile, is_in_order, spare }
    }
}

impl<'m> Access<'_, 'm> {
    /// Loads components of these types.
    pub(super) fn load(&self, types: &[Type<'m>]) -> Vec<Part<'m>> {
        match self.pointer {
            Part::Uniform(pointer) => self
                .each(types)
                .map(|(ty, offset, align)| Part::Uniform(self.load_scalar(ty, self.at(pointer, offset), align)))
                .collect(),
            _ if self.is_volatile => self.gather(types),
            Part::Ramp { base, stride, .. } => match self.step(types, stride) {
                Some(step) => self.load_wide(types, base, step),
                None => self.gather(types),
            },
            Part::Lanes(_) => self.gather(types),
        }
    }

    /// Stores the components.
    pub(super) fn store(&self, values: &[Part<'m>]) {
        let types: Vec<Type<'m>> = values.iter().map(|part| part_type(*part)).collect();
        match self.pointer {
            Part::Uniform(pointer) => {
                for (value, (ty, offset, align)) in values.iter().zip(self.each(&types)) {
                    let value = value.uniform().unwrap_or_else(|| self.last_active(value.lanes(self.b)));
                    let value = to_memory(self.b, value, ty);
                    self.b.store(value, self.at(pointer, offset), align).set_volatile(self.is_volatile);
                }
            }
            _ if self.is_volatile => self.scatter(values, &types),
            Part::Ramp { base, stride, .. } => match self.step(&types, stride) {
                Some(step) => self.store_wide(values, &types, base, step),
                None => self.scatter(values, &types),
            },
            Part::Lanes(_) => self.scatter(values, &types),
        }
    }

    fn load_value(&self, ty: Type<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        // LLVM has no weaker word for a load that keeps its place.
        let keeps_its_place = self.is_volatile || self.is_in_order;
        if self.is_constant && !keeps_its_place {
            return self.b.load_invariant(ty, pointer, align);
        }
        let load = self.b.load(ty, pointer, align);
        load.set_volatile(keeps_its_place);
        load
    }

    fn load_scalar(&self, ty: Type<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        from_memory(self.b, self.load_value(memory_type(ty), pointer, align), ty)
    }

    /// Each component's type, offset and alignment.
    fn each<'t>(&'t self, types: &'t [Type<'m>]) -> impl Iterator<Item = (Type<'m>, u64, u32)> + 't {
        let align =
            |offset: u64| if offset == 0 { self.align } else { self.align.min(1 << offset.trailing_zeros()) };
        types.iter().zip(self.offsets).map(move |(ty, &offset)| (*ty, offset, align(offset)))
    }

    /// An access to each component by itself, with its type.
    fn components<'t>(&'t self, types: &'t [Type<'m>]) -> impl Iterator<Item = (Access<'t, 'm>, Type<'m>)> + 't {
        let pointers = self.pointer.lanes(self.b);
        self.each(types).map(move |(ty, offset, align)| {
            let pointer = Part::Lanes(self.at(pointers, offset));
            (Access { pointer, offsets: &[0], align, ..*self }, ty)
        })
    }

    fn at(&self, pointer: Value<'m>, offset: u64) -> Value<'m> {
        if offset == 0 {
            pointer
        } else {
            self.b.offset(pointer, Type::int(self.b.context(), 64).constant(offset as i64))
        }
    }

    /// The step between lanes in elements, when the components are side by side and it is small.
    fn step(&self, types: &[Type<'m>], stride: i64) -> Option<usize> {
        let size = bytes(types[0]);
        let stride = usize::try_from(stride).ok()?;
        let step = stride / size as usize;
        let fits =
            stride.is_multiple_of(size as usize) && step >= types.len() && step <= WIDEST_STEP.max(types.len());
        (self.side_by_side(types) && fits && !types[0].is_pointer()).then_some(step)
    }

    /// True if the components are of one type and lie without gaps.
    pub(super) fn side_by_side(&self, types: &[Type<'m>]) -> bool {
        let size = bytes(types[0]);
        types.iter().zip(self.offsets).zip(0..).all(|((ty, &offset), i)| *ty == types[0] && offset == i * size)
    }

    /// The mask for `count` elements of memory, of which each lane owns `own` in every `step`.
    fn wide_mask(&self, step: usize, own: usize, count: usize) -> Option<Mask<'m>> {
        let bit = Type::int(self.b.context(), 1);
        match self.mask {
            Some(mask) if step == 1 => Some(mask),
            Some(mask) => {
                let pattern: Vec<i32> =
                    (0..count).map(|i| if i % step < own { (i / step) as i32 } else { LANES as i32 }).collect();
                Some(self.b.shuffle(mask, mask.ty().zero(), &pattern))
            }
            None if own == step => None,
            None => Some(Value::constant_vector(
                &(0..count).map(|i| bit.constant(i64::from(i % step < own))).collect::<Vec<Value<'m>>>(),
            )),
        }
    }

    fn load_wide(&self, types: &[Type<'m>], base: Value<'m>, step: usize) -> Vec<Part<'m>> {
        let (ty, own) = (types[0], types.len());
        let wide = memory_type(ty).vector(LANES * step);
        let loaded = match self.wide_mask(step, own, LANES * step) {
            None => self.load_value(wide, base, self.align),
            Some(mask) => {
                let call = self.b.intrinsic("llvm.masked.load", &[wide, base.ty()], &[base, mask, wide.poison()]);
                call.set_argument_align(0, self.align);
                call
            }
        };
        (0..own)
            .map(|i| {
                let part = if step == 1 { loaded } else { every(self.b, loaded, i, step) };
                Part::Lanes(from_memory(self.b, part, ty))
            })
            .collect()
    }

    fn store_wide(&self, values: &[Part<'m>], types: &[Type<'m>], base: Value<'m>, step: usize) {
        let mut parts: Vec<Value<'m>> =
            values.iter().zip(types).map(|(part, ty)| to_memory(self.b, part.lanes(self.b), *ty)).collect();
        // Between the components of one lane and those of the next there may be bytes that no lane writes.
        parts.resize(step, anything(memory_type(types[0])));
        let wide = interleave(self.b, &parts);
        match self.wide_mask(step, types.len(), LANES * step) {
            None => {
                self.b.store(wide, base, self.align);
            }
            Some(mask) => {
                let call = self.b.intrinsic("llvm.masked.store", &[wide.ty(), base.ty()], &[wide, base, mask]);
                call.set_argument_align(1, self.align);
            }
        }
    }

    fn every_lane(&self) -> Mask<'m> {
        self.mask.unwrap_or_else(|| lanes_of(Type::int(self.b.context(), 1)).all_ones())
    }

    /// Each lane reads from an address of its own. CPUs have an instruction for that, which is slow, and none for small
    /// elements; for these and for several elements side by side, the lanes take turns.
    fn gather(&self, types: &[Type<'m>]) -> Vec<Part<'m>> {
        if self.takes_turns(types) {
            return self.gather_in_turns(types);
        }
        if self.is_volatile {
            return self.components(types).flat_map(|(access, ty)| access.gather_in_turns(&[ty])).collect();
        }
        let pointers = self.pointer.lanes(self.b);
        self.each(types)
            .map(|(ty, offset, align)| {
                let (pointers, wide) = (self.at(pointers, offset), lanes_of(memory_type(ty)));
                let arguments = [pointers, self.every_lane(), anything(memory_type(ty))];
                let call = self.b.intrinsic("llvm.masked.gather", &[wide, pointers.ty()], &arguments);
                call.set_argument_align(0, align);
                Part::Lanes(from_memory(self.b, call, ty))
            })
            .collect()
    }

    fn scatter(&self, values: &[Part<'m>], types: &[Type<'m>]) {
        if self.takes_turns(types) {
            return self.scatter_in_turns(values, types);
        }
        if self.is_volatile {
            for (value, (access, ty)) in values.iter().zip(self.components(types)) {
                access.scatter_in_turns(&[*value], &[ty]);
            }
            return;
        }
        let pointers = self.pointer.lanes(self.b);
        for (value, (ty, offset, align)) in values.iter().zip(self.each(types)) {
            let (pointers, value) = (self.at(pointers, offset), to_memory(self.b, value.lanes(self.b), ty));
            let arguments = [value, pointers, self.every_lane()];
            let call = self.b.intrinsic("llvm.masked.scatter", &[value.ty(), pointers.ty()], &arguments);
            call.set_argument_align(1, align);
        }
    }

    /// Of several lanes that write to one place the last one wins.
    fn last_active(&self, lanes: Value<'m>) -> Value<'m> {
        let int = Type::int(self.b.context(), 32);
        let index = match self.mask {
            None => int.constant(LANES as i64 - 1),
            Some(mask) => {
                let bits = mask_bits(self.b, mask);
                let above = self.b.intrinsic(
                    "llvm.ctlz",
                    &[bits.ty()],
                    &[bits, Type::int(self.b.context(), 1).constant(1)],
                );
                self.b.sub(int.constant(LANES as i64 - 1), above)
            }
        };
        self.b.extract(lanes, index)
    }
}

/// The type of a part's scalar.
pub(super) fn part_type(part: Part) -> Type {
    match part {
        Part::Uniform(value) | Part::Ramp { base: value, .. } => value.ty(),
        Part::Lanes(value) => value.ty().element(),
    }
}

/// A truth value takes a byte in memory.
pub(super) fn memory_type(ty: Type) -> Type {
    if ty.is_int() && ty.int_bits() < 8 { Type::int(ty.context(), 8) } else { ty }
}

pub(super) fn from_memory<'m>(b: &Builder<'m>, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
    if memory_type(ty) == ty {
        return value;
    }
    let to = if value.ty().is_vector() { ty.vector(value.ty().length()) } else { ty };
    b.trunc(value, to)
}

pub(super) fn to_memory<'m>(b: &Builder<'m>, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
    if memory_type(ty) == ty {
        return value;
    }
    let memory = memory_type(ty);
    b.zext(value, if value.ty().is_vector() { memory.vector(value.ty().length()) } else { memory })
}
