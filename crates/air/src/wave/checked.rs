//! The checks of shader validation, on 32 lanes: `crate::instrument` has put them into the code of one thread.
//!
//! An access whose object is known is compared with its bounds in place, and the runtime is called only if some lane is
//! outside; then the lanes that may make it do, a read gives 0 to the others, and a write of theirs is dropped:
//!
//! ```text
//! within bounds? ── yes ──────────────────────────────────────┬─ access ───────────────────┬─ goes on
//!       └─ no, or not known ── Checks::access ── all lanes? ──┘                            │
//!                                                   └─ access by the lanes that may ───────┘
//! ```

use super::entry::field;
use super::lanes::{first_active, lane_numbers, lanes_of, mask_bits, splat};
use super::memory::{Access, part_type};
use super::parts::{Part, Parts};
use super::types::{bytes, components, offsets};
use super::widen::Widener;
use super::{Error, Result};
use crate::ir::{Block, IntPredicate, Opcode, Type, Value};
use crate::thread::name::Shuffle;
use crate::{instrument, log};
use abi::{Checks, Dispatch, Object, Site, Threadgroup};
use std::mem::offset_of;

/// The alignment of checked accesses: misaligned ones are reported, and made.
const UNALIGNED: u32 = 1;

/// Lanes of a quad.
const QUAD: i64 = 4;

/// The result of the checks of an access.
struct Verdict<'m> {
    /// Reached if all lanes may make it.
    all: Block<'m>,
    /// Reached if some may not.
    some: Block<'m>,
    /// The lanes that may, as 32 bits.
    allowed: Value<'m>,
}

impl<'m> Widener<'_, 'm> {
    /// Emits a call of one of the functions that `instrument` declares.
    pub(super) fn checked(&mut self, call: Value<'m>, name: &str) -> Result<Parts<'m>> {
        let operands = call.arguments();
        // Read first: afterwards there are several blocks.
        let parts: Vec<Parts<'m>> = operands.iter().map(|&operand| self.get(operand)).collect();
        match name {
            instrument::CHECK => self.checked_condition(&operands, parts[0][0], parts[2][0])?,
            instrument::BARRIER => self.checked_barrier(&operands)?,
            instrument::SHUFFLE => self.checked_shuffle(&operands, parts[2][0])?,
            instrument::TOGETHER => self.checked_together(&operands)?,
            instrument::STEP => self.checked_step(&operands)?,
            _ if name.starts_with(log::MESSAGE) => self.message(&parts),
            _ if name.starts_with(instrument::LOAD) => return self.checked_load(call, &operands, &parts),
            _ if name.starts_with(instrument::STORE) => self.checked_store(&operands, &parts)?,
            _ if name.starts_with(instrument::POINTER) => return self.checked_pointer(&operands, &parts),
            // Checked where it is used.
            _ if name.starts_with(instrument::MATRIX) => return Ok(parts[0].clone()),
            _ => return Err(Error::Internal(format!("the function '{name}'"))),
        }
        Ok(Vec::new())
    }

    fn site(&self, number: Value<'m>) -> Result<(u32, Site)> {
        let number = number.as_int().and_then(|number| usize::try_from(number).ok());
        let site = number.and_then(|number| self.sites.get(number));
        let number = number.unwrap_or_default() as u32;
        site.map(|site| (number, site.clone())).ok_or_else(|| Error::Internal("a check without a place".into()))
    }

    fn int(&self, bits: u32) -> Type<'m> {
        Type::int(self.b.context(), bits)
    }

    fn new_block(&self) -> Block<'m> {
        Block::append(self.entry.body, "")
    }

    /// Hands a message of `os_log` to the runtime: the words of its arguments, 32 lanes of each. Level and texts are
    /// those of the first active lane.
    fn message(&mut self, parts: &[Parts<'m>]) {
        let (b, int, pointer) = (&self.b, self.int(32), Type::pointer(self.b.context()));
        let first = self.mask.map_or_else(|| int.zero(), |mask| first_active(b, mask));
        let shared = |part: Part<'m>| part.uniform().unwrap_or_else(|| b.extract(part.lanes(b), first));
        let fixed: Vec<Value<'m>> = parts[..log::FIXED].iter().map(|parts| shared(parts[0])).collect();
        let words = &parts[log::FIXED..];
        let lanes = lanes_of(int);
        let memory = b.entry_alloca(lanes.array(words.len().max(1) as u64), 64);
        for (number, word) in words.iter().enumerate() {
            let at = self.int(64).constant((number * size_of::<[u32; abi::LANES]>()) as i64);
            b.store(word[0].lanes(b), b.offset(memory, at), 64);
        }
        let function = field(b, self.entry.threadgroup, offset_of!(Threadgroup, log), pointer);
        let count = int.constant(words.len() as i64);
        let mut all = vec![self.entry.threadgroup, self.entry.index, self.active_bits()];
        all.extend(fixed);
        all.extend([memory, count]);
        let types: Vec<Type<'m>> = all.iter().map(|argument| argument.ty()).collect();
        b.call_pointer(Type::void(b.context()).function(&types), function, &all);
    }

    /// The lanes that run, as 32 bits.
    fn active_bits(&self) -> Value<'m> {
        self.mask.map_or_else(|| self.int(32).all_ones(), |mask| mask_bits(&self.b, mask))
    }

    /// The lanes that exist, as 32 bits.
    fn existing_bits(&self) -> Value<'m> {
        self.entry.mask.map_or_else(|| self.int(32).all_ones(), |mask| mask_bits(&self.b, mask))
    }

    /// The runtime's structure.
    fn checks(&self) -> Value<'m> {
        let pointer = Type::pointer(self.b.context());
        field(&self.b, self.entry.threadgroup, offset_of!(Threadgroup, checks), pointer)
    }

    /// Calls a function of the runtime's structure with the structure, the simdgroup, the place, and these.
    fn call_runtime(&self, at: usize, site: u32, result: Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let (b, pointer) = (&self.b, Type::pointer(self.b.context()));
        let checks = self.checks();
        let function = field(b, checks, at, pointer);
        let mut all = vec![checks, self.entry.simdgroup, self.int(32).constant(site.into())];
        all.extend(arguments);
        let types: Vec<Type<'m>> = all.iter().map(|argument| argument.ty()).collect();
        b.call_pointer(result.function(&types), function, &all)
    }

    /// The end of an object, in bytes from its base; none if it is not known.
    fn object_size(&self, object: &Object) -> Option<Value<'m>> {
        let (b, wide) = (&self.b, self.int(64));
        let slot = |index: &u32, most: usize| Some(*index as usize).filter(|index| *index < most);
        match object {
            Object::Buffer(index) => {
                let at = slot(index, abi::call::ARGUMENT_SLOTS)? * size_of::<u64>();
                Some(field(b, self.entry.dispatch, offset_of!(Dispatch, buffer_sizes) + at, wide))
            }
            Object::ThreadgroupArgument(index) => {
                let at = slot(index, abi::call::ARGUMENT_SLOTS)? * size_of::<u32>();
                let size =
                    field(b, self.entry.dispatch, offset_of!(Dispatch, threadgroup_sizes) + at, self.int(32));
                Some(b.zext(size, wide))
            }
            Object::ThreadgroupVariable { size, .. } | Object::Constant { size, .. } => {
                Some(wide.constant(i64::try_from(*size).ok()?))
            }
            Object::Private { .. } | Object::Unknown | Object::OneOf(_) => None,
        }
    }

    /// True, as a scalar, if all active lanes are within bounds; none if that cannot be said here.
    fn is_within(&self, pointer: Part<'m>, base: Part<'m>, site: &Site) -> Option<Value<'m>> {
        let (b, wide) = (&self.b, self.int(64));
        let base = b.cast(Opcode::LLVMPtrToInt, base.uniform()?, wide);
        let size = self.object_size(&site.object)?;
        // The first offset that is outside: 0 if the object is smaller than the access.
        let beyond = b.add(size, wide.constant(1));
        let end = b.intrinsic("llvm.usub.sat", &[wide], &[beyond, wide.constant(site.bytes.into())]);
        let low_bits = wide.constant(i64::from(site.alignment.max(1)) - 1);
        let holds = |address: Value<'m>| {
            let (base, end, low_bits) = match address.ty().is_vector() {
                true => (splat(b, base), splat(b, end), splat(b, low_bits)),
                false => (base, end, low_bits),
            };
            let inside = b.icmp(IntPredicate::LLVMIntULT, b.sub(address, base), end);
            if site.alignment <= 1 {
                return inside;
            }
            let low = b.and(address, low_bits);
            b.and(inside, b.icmp(IntPredicate::LLVMIntEQ, low, low.ty().zero()))
        };
        let number = |pointer: Value<'m>, ty: Type<'m>| b.cast(Opcode::LLVMPtrToInt, pointer, ty);
        Some(match (pointer, self.mask) {
            (Part::Uniform(pointer), _) => holds(number(pointer, wide)),
            (Part::Ramp { base: first, stride, .. }, None) => {
                let first = number(first, wide);
                let reach = wide.constant(stride.checked_mul(abi::LANES as i64 - 1)?);
                b.and(holds(first), holds(b.add(first, reach)))
            }
            (pointer, mask) => {
                let inside = holds(number(pointer.lanes(b), lanes_of(wide)));
                let inside = mask.map_or(inside, |mask| b.select(mask, inside, inside.ty().all_ones()));
                let bits = mask_bits(b, inside);
                b.icmp(IntPredicate::LLVMIntEQ, bits, bits.ty().all_ones())
            }
        })
    }

    /// Checks an access. The builder is left in no block: the caller goes on in those of the result.
    fn judge(
        &self,
        pointer: Part<'m>,
        base: Part<'m>,
        number: u32,
        site: &Site,
        written: &[Part<'m>],
    ) -> Verdict<'m> {
        let [all, some, ask] = [0; 3].map(|_| self.new_block());
        let b = &self.b;
        // The runtime does not know where the program's constants are: it gets distances.
        let is_constant = matches!(site.object, Object::Constant { .. });
        let always_asks = (self.entry.every_access && !is_constant) || site.is_to_const;
        let inline = if always_asks { None } else { self.is_within(pointer, base, site) };
        match inline {
            Some(within) => b.branch_if(within, all, ask),
            None => b.branch(ask),
        }
        b.at_end(ask);
        let (wide, null) = (self.int(64), Type::pointer(b.context()).zero());
        let start = base.uniform().filter(|_| is_constant).map(|base| b.cast(Opcode::LLVMPtrToInt, base, wide));
        let number_of = |pointer: Value<'m>| {
            let address = b.cast(Opcode::LLVMPtrToInt, pointer, wide);
            start.map_or(address, |start| b.sub(address, start))
        };
        let (first, stride, lanes) = match pointer {
            pointer if matches!(site.object, Object::OneOf(_)) => {
                let numbers = |part: Part<'m>| b.cast(Opcode::LLVMPtrToInt, part.lanes(b), lanes_of(wide));
                (wide.zero(), wide.zero(), self.spilled_pair([numbers(pointer), numbers(base)]))
            }
            Part::Uniform(pointer) => (number_of(pointer), wide.zero(), null),
            Part::Ramp { base, stride, lanes: None } => (number_of(base), wide.constant(stride), null),
            pointer => {
                let lanes = b.cast(Opcode::LLVMPtrToInt, pointer.lanes(b), lanes_of(wide));
                let lanes = start.map_or(lanes, |start| b.sub(lanes, splat(b, start)));
                (wide.zero(), wide.zero(), self.spilled(lanes))
            }
        };
        let values =
            if self.entry.every_access && !written.is_empty() { self.spilled(self.hash(written)) } else { null };
        let arguments = [self.active_bits(), first, stride, lanes, values];
        let allowed = self.call_runtime(offset_of!(Checks, access), number, self.int(32), &arguments);
        let is_allowed = b.icmp(IntPredicate::LLVMIntEQ, allowed, allowed.ty().all_ones());
        b.branch_if(is_allowed, all, some);
        Verdict { all, some, allowed }
    }

    /// A number for each lane that tells the values which it writes from others.
    fn hash(&self, written: &[Part<'m>]) -> Value<'m> {
        let (b, wide) = (&self.b, self.int(64));
        let bits = |part: &Part<'m>| {
            let lanes = part.lanes(b);
            let scalar = lanes.ty().scalar();
            if scalar.is_pointer() {
                return b.cast(Opcode::LLVMPtrToInt, lanes, lanes_of(wide));
            }
            let size = if scalar.is_int() { scalar.int_bits() } else { bytes(scalar) as u32 * 8 };
            let number = if scalar.is_int() { lanes } else { b.bitcast(lanes, lanes_of(self.int(size))) };
            if size == 64 { number } else { b.zext(number, lanes_of(wide)) }
        };
        let start = bits(&written[0]);
        written[1..].iter().fold(start, |hash, part| {
            // An odd number with bits all over, as in Knuth's multiplicative hashing.
            let mixed = b.mul(hash, lanes_of(wide).constant(0x9E37_79B9_7F4A_7C15_u64 as i64));
            b.xor(mixed, bits(part))
        })
    }

    /// A vector in memory, for the runtime.
    fn spilled(&self, lanes: Value<'m>) -> Value<'m> {
        let memory = self.b.entry_alloca(lanes.ty(), 64);
        self.b.store(lanes, memory, 64);
        memory
    }

    /// Two vectors of 64-bit numbers in memory, for the runtime.
    fn spilled_pair(&self, pair: [Value<'m>; 2]) -> Value<'m> {
        let (b, wide) = (&self.b, self.int(64));
        let memory = b.entry_alloca(lanes_of(wide).array(2), 64);
        for (index, lanes) in pair.into_iter().enumerate() {
            let at = b.offset(memory, wide.constant((index * size_of::<[u64; abi::LANES]>()) as i64));
            b.store(lanes, at, 64);
        }
        memory
    }

    /// The active lanes that may make an access.
    fn allowed_mask(&self, allowed: Value<'m>) -> Value<'m> {
        let lanes = self.b.bitcast(allowed, lanes_of(self.int(1)));
        self.mask.map_or(lanes, |mask| self.b.select(mask, lanes, mask.ty().zero()))
    }

    fn checked_load(&mut self, call: Value<'m>, operands: &[Value<'m>], parts: &[Parts<'m>]) -> Result<Parts<'m>> {
        let (number, site) = self.site(operands[2])?;
        let (pointer, ty) = (parts[0][0], call.ty());
        let (types, offsets) = (components(ty), offsets(self.layout, ty));
        let verdict = self.judge(pointer, parts[1][0], number, &site, &[]);
        let b = &self.b;
        b.at_end(verdict.all);
        let values = self.access(pointer, &offsets, UNALIGNED).load(&types);
        let after_all = b.block();
        b.at_end(verdict.some);
        let mask = self.allowed_mask(verdict.allowed);
        let spared = match pointer {
            Part::Uniform(_) => types.iter().map(|ty| ty.zero()).collect(),
            pointer => {
                let pointer = Part::Lanes(pointer.lanes(b));
                let access = Access { mask: Some(mask), ..self.access(pointer, &offsets, UNALIGNED) };
                // Seldom run: turns are functions, where gathers may be long code in place.
                let loaded = match access.can_take_turns(&types) {
                    true => access.gather_in_turns(&types),
                    false => access.load(&types),
                };
                let zeroed = |part: Part<'m>| {
                    let lanes = part.lanes(b);
                    b.select(mask, lanes, lanes.ty().zero())
                };
                loaded.into_iter().map(zeroed).collect::<Vec<Value<'m>>>()
            }
        };
        let after_some = b.block();
        let join = self.new_block();
        b.branch(join);
        b.at_end(after_all);
        let uniform = matches!(pointer, Part::Uniform(_));
        let full: Vec<Value<'m>> = values
            .into_iter()
            .map(|part| part.uniform().filter(|_| uniform).unwrap_or_else(|| part.lanes(b)))
            .collect();
        b.branch(join);
        b.at_end(join);
        let merged = |(full, spared): (Value<'m>, Value<'m>)| {
            let phi = b.phi(full.ty());
            b.add_incoming(phi, full, after_all);
            b.add_incoming(phi, spared, after_some);
            if uniform { Part::Uniform(phi) } else { Part::Lanes(phi) }
        };
        Ok(full.into_iter().zip(spared).map(merged).collect())
    }

    fn checked_store(&mut self, operands: &[Value<'m>], parts: &[Parts<'m>]) -> Result<()> {
        let (number, site) = self.site(operands[3])?;
        let (values, pointer) = (&parts[0], parts[1][0]);
        let offsets = offsets(self.layout, operands[0].ty());
        let verdict = self.judge(pointer, parts[2][0], number, &site, values);
        let join = self.new_block();
        let b = &self.b;
        b.at_end(verdict.all);
        self.access(pointer, &offsets, UNALIGNED).store(values);
        b.branch(join);
        b.at_end(verdict.some);
        if !matches!(pointer, Part::Uniform(_)) {
            let (mask, pointer) = (Some(self.allowed_mask(verdict.allowed)), Part::Lanes(pointer.lanes(b)));
            let access = Access { mask, ..self.access(pointer, &offsets, UNALIGNED) };
            let types: Vec<Type<'m>> = values.iter().map(|part| part_type(*part)).collect();
            match access.can_take_turns(&types) {
                true => access.scatter_in_turns(values, &types),
                false => access.store(values),
            }
        }
        b.branch(join);
        b.at_end(join);
        Ok(())
    }

    /// The pointer, or one to spare memory.
    fn checked_pointer(&mut self, operands: &[Value<'m>], parts: &[Parts<'m>]) -> Result<Parts<'m>> {
        let (number, site) = self.site(operands[2])?;
        let pointer = parts[0][0];
        let verdict = self.judge(pointer, parts[1][0], number, &site, &[]);
        let b = &self.b;
        b.at_end(verdict.all);
        let full = pointer.uniform().unwrap_or_else(|| pointer.lanes(b));
        let join = self.new_block();
        b.branch(join);
        b.at_end(verdict.some);
        let at = if site.operation.is_read() { offset_of!(Checks, zeros) } else { offset_of!(Checks, dump) };
        let spare = field(b, self.checks(), at, Type::pointer(b.context()));
        let spared = match pointer {
            Part::Uniform(_) => spare,
            pointer => b.select(self.allowed_mask(verdict.allowed), pointer.lanes(b), splat(b, spare)),
        };
        b.branch(join);
        b.at_end(join);
        let phi = b.phi(full.ty());
        b.add_incoming(phi, full, verdict.all);
        b.add_incoming(phi, spared, verdict.some);
        Ok(vec![if full.ty().is_vector() { Part::Lanes(phi) } else { Part::Uniform(phi) }])
    }

    /// Loads or stores a matrix if all its elements are within bounds. `emit` does it.
    pub(super) fn checked_matrix(
        &mut self,
        marker: Value<'m>,
        addresses: &[Value<'m>; 2],
        result: &[Type<'m>],
        emit: impl FnOnce(&Self) -> Vec<Value<'m>>,
    ) -> Result<Vec<Value<'m>>> {
        let operands = marker.arguments();
        let (number, _) = self.site(operands[2])?;
        let b = &self.b;
        let memory = self.spilled_pair(*addresses);
        let allowed = self.call_runtime(offset_of!(Checks, matrix), number, self.int(32), &[memory]);
        let [go, skip, join] = [0; 3].map(|_| self.new_block());
        let is_allowed = b.icmp(IntPredicate::LLVMIntNE, allowed, allowed.ty().zero());
        b.branch_if(is_allowed, go, skip);
        b.at_end(go);
        let values = emit(self);
        let after = b.block();
        b.branch(join);
        b.at_end(skip);
        b.branch(join);
        b.at_end(join);
        let merged = |(value, ty): (Value<'m>, &Type<'m>)| {
            let phi = b.phi(value.ty());
            b.add_incoming(phi, value, after);
            b.add_incoming(phi, lanes_of(*ty).zero(), skip);
            phi
        };
        Ok(values.into_iter().zip(result).map(merged).collect())
    }

    /// Reports the lanes of `bad`, 32 bits, if there are any.
    fn report(&self, number: u32, bad: Value<'m>, values: Option<Value<'m>>) {
        let b = &self.b;
        let [cold, go] = [0; 2].map(|_| self.new_block());
        b.branch_if(b.icmp(IntPredicate::LLVMIntNE, bad, bad.ty().zero()), cold, go);
        b.at_end(cold);
        let values = values.map_or_else(|| Type::pointer(b.context()).zero(), |values| self.spilled(values));
        self.call_runtime(offset_of!(Checks, failed), number, Type::void(b.context()), &[bad, values]);
        b.branch(go);
        b.at_end(go);
    }

    fn checked_condition(&mut self, operands: &[Value<'m>], holds: Part<'m>, value: Part<'m>) -> Result<()> {
        let (number, _) = self.site(operands[1])?;
        let b = &self.b;
        let active = self.active_bits();
        let bad = match holds {
            Part::Uniform(holds) => b.select(holds, active.ty().zero(), active),
            holds => {
                let lanes = b.not(holds.lanes(b));
                // The condition of an inactive lane may be undefined.
                mask_bits(b, self.mask.map_or(lanes, |mask| b.select(mask, lanes, mask.ty().zero())))
            }
        };
        self.report(number, bad, Some(value.lanes(b)));
        Ok(())
    }

    fn checked_barrier(&mut self, operands: &[Value<'m>]) -> Result<()> {
        let (number, _) = self.site(operands[0])?;
        let active = self.active_bits();
        self.call_runtime(offset_of!(Checks, barrier), number, Type::void(self.b.context()), &[active]);
        Ok(())
    }

    fn checked_together(&mut self, operands: &[Value<'m>]) -> Result<()> {
        let (number, _) = self.site(operands[0])?;
        if self.mask.is_some() {
            let missing = self.b.xor(self.existing_bits(), self.active_bits());
            self.report(number, missing, None);
        }
        Ok(())
    }

    fn checked_shuffle(&mut self, operands: &[Value<'m>], lane: Part<'m>) -> Result<()> {
        let (number, _) = self.site(operands[0])?;
        let Some(mask) = self.mask else { return Ok(()) };
        let kind = operands[1].as_int().and_then(|kind| usize::try_from(kind).ok()).unwrap_or(0);
        let kinds = instrument::SHUFFLES.len();
        let width = if kind < kinds { abi::LANES as i64 } else { QUAD };
        let b = &self.b;
        let lanes = lanes_of(self.int(32));
        let low = |value: Value<'m>, width: i64| b.and(value, lanes.constant(width - 1));
        // Numbers within the simdgroup, or within a quad of it.
        let (all, by) = (lane_numbers(self.int(32)), lane.lanes(b));
        let own = low(all, width);
        let within = match instrument::SHUFFLES.get(kind % kinds).unwrap_or(&Shuffle::Lane) {
            Shuffle::Xor => b.xor(own, by),
            Shuffle::Up => b.sub(own, by),
            Shuffle::Down => b.add(own, by),
            Shuffle::RotateUp => low(b.sub(own, by), width),
            Shuffle::RotateDown => low(b.add(own, by), width),
            Shuffle::Lane | Shuffle::FillUp | Shuffle::FillDown => by,
        };
        // A lane outside of the simdgroup or quad is not read.
        let exists = b.icmp(IntPredicate::LLVMIntULT, within, lanes.constant(width));
        let from = b.add(b.sub(all, own), within);
        let bits = splat(b, self.active_bits());
        let shifted = b.and(b.binary(Opcode::LLVMLShr, bits, low(from, abi::LANES as i64)), lanes.constant(1));
        let missing = b.icmp(IntPredicate::LLVMIntEQ, shifted, lanes.zero());
        let bad = b.select(exists, missing, missing.ty().zero());
        let bad = mask_bits(b, b.select(mask, bad, bad.ty().zero()));
        self.report(number, bad, Some(b.zext(from, lanes_of(self.int(64)))));
        Ok(())
    }

    /// Counts an iteration; the simdgroup ends when none is left.
    fn checked_step(&mut self, operands: &[Value<'m>]) -> Result<()> {
        let (number, _) = self.site(operands[0])?;
        let (b, wide) = (&self.b, self.int(64));
        let at = wide.constant(offset_of!(Checks, steps) as i64);
        let place = b.offset(self.checks(), at);
        let left = b.load(wide, place, 8);
        let [cold, go] = [0; 2].map(|_| self.new_block());
        b.branch_if(b.icmp(IntPredicate::LLVMIntEQ, left, wide.zero()), cold, go);
        b.at_end(cold);
        let null = Type::pointer(b.context()).zero();
        let arguments = [self.active_bits(), null];
        self.call_runtime(offset_of!(Checks, failed), number, Type::void(b.context()), &arguments);
        b.branch(self.entry.end);
        b.at_end(go);
        b.store(b.sub(left, wide.constant(1)), place, 8);
        Ok(())
    }

    /// The call that stands for the check of a matrix's pointer.
    pub(super) fn marker_of(&self, pointer: Value<'m>) -> Option<Value<'m>> {
        let is_marker = pointer.is(Opcode::LLVMCall)
            && pointer.callee().is_some_and(|callee| callee.name().starts_with(instrument::MATRIX));
        is_marker.then_some(pointer)
    }
}
