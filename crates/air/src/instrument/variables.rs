//! Private variables that are read before they are written.
//!
//! A variable has a flag for each of its parts: elements of arrays, components of vectors, fields of structures. A write
//! sets those of the parts that it writes; they must be set where the parts are read. A variable whose address goes
//! elsewhere is not followed.

use super::arithmetic::widened;
use super::early::Early;
use super::provenance::content_size;
use crate::ir::{IntPredicate, Opcode, Type, Value};
use abi::Operation;

/// Parts of larger variables would not become registers anyway.
const MOST_PARTS: u64 = 64;

/// An instruction that accesses a variable.
struct VariableUse<'m> {
    instruction: Value<'m>,
    /// Bytes before it, besides those of the index.
    offset: u64,
    /// An index that is not constant, and the bytes of its elements.
    index: Option<(Value<'m>, u64)>,
    bytes: u64,
    is_write: bool,
}

/// The bytes that a use reads or writes, from its first one.
enum Extent {
    /// Each of these ranges.
    All(Vec<(u64, u64)>),
    /// It is not known which: at least one must have been written.
    Any,
    Nothing,
}

pub(super) fn follow<'m>(pass: &Early<'m>, variable: Value<'m>) {
    if variable.operand(0).as_int() != Some(1) {
        return;
    }
    let size = content_size(&pass.layout, variable.allocated_type());
    let Some(uses) = uses(pass, variable) else { return };
    // A variable that is never read needs nothing.
    if uses.iter().all(|used| used.is_write) {
        return;
    }
    let granule = uses.iter().fold(size, |granule, used| {
        let stride = used.index.map_or(0, |(_, stride)| stride);
        let bytes = component_bytes(pass, used.instruction).unwrap_or(used.bytes);
        [used.offset, stride, bytes].into_iter().fold(granule, gcd)
    });
    let count = size.checked_div(granule).unwrap_or(0);
    if !(1..=MOST_PARTS).contains(&count) {
        return;
    }
    let flag = pass.int(8);
    pass.b.before(variable);
    let flags = pass.b.alloca(flag.array(count), 1);
    let Some(next) = variable.block().instructions().into_iter().skip_while(|other| *other != variable).nth(1)
    else {
        return;
    };
    // A variable of an inlined function begins anew with each call.
    let begins = variable.users().into_iter().filter(|user| is_intrinsic(*user, "llvm.lifetime.start"));
    for begin in std::iter::once(next).chain(begins) {
        pass.b.before(begin);
        for index in 0..count {
            let at = pass.b.offset(flags, pass.int(64).constant(index as i64));
            pass.b.store(flag.zero(), at, 1);
        }
    }
    let flags = Flags { pass, flags, granule, count };
    for used in &uses {
        if used.is_write {
            flags.set(used);
        } else {
            flags.check(used, variable.allocated_type().is_array());
        }
    }
}

fn is_intrinsic(value: Value, name: &str) -> bool {
    let is_call = value.is_instruction() && value.is(Opcode::LLVMCall);
    is_call && value.callee().and_then(Value::intrinsic_name).is_some_and(|found| found == name)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The accesses to a variable; none if its address goes elsewhere.
fn uses<'m>(pass: &Early<'m>, variable: Value<'m>) -> Option<Vec<VariableUse<'m>>> {
    let mut found = Vec::new();
    let mut pending = vec![(variable, 0u64, None)];
    while let Some((address, offset, index)) = pending.pop() {
        for user in address.users() {
            let used =
                |bytes: u64, is_write: bool| VariableUse { instruction: user, offset, index, bytes, is_write };
            match user.opcode() {
                Opcode::LLVMLoad => found.push(used(content_size(&pass.layout, user.ty()), false)),
                Opcode::LLVMStore if user.operand(1) == address && user.operand(0) != address => {
                    found.push(used(content_size(&pass.layout, user.operand(0).ty()), true));
                }
                Opcode::LLVMStore if user.operand(0) == address => {
                    let copies = copies(user)?;
                    pending.extend(copies.into_iter().map(|copy| (copy, offset, index)));
                }
                Opcode::LLVMGetElementPtr if user.operand(0) == address => {
                    let operands = user.operands();
                    let [_, by] = operands[..] else { return None };
                    let stride = pass.layout.size(user.source_element_type());
                    match by.as_int() {
                        Some(by) => {
                            let offset = offset.checked_add_signed(by.checked_mul(stride as i64)?)?;
                            pending.push((user, offset, index));
                        }
                        None if index.is_none() && by.ty().is_int() && by.ty().int_bits() <= 64 => {
                            pending.push((user, offset, Some((by, stride))));
                        }
                        None => return None,
                    }
                }
                Opcode::LLVMCall => {
                    let name = user.callee().and_then(Value::intrinsic_name).unwrap_or_default();
                    let arguments = user.arguments();
                    match name.as_str() {
                        _ if name.starts_with("llvm.lifetime.") => {}
                        "llvm.memcpy" | "llvm.memmove" | "llvm.memset" => {
                            let bytes = arguments[2].as_int().and_then(|bytes| u64::try_from(bytes).ok())?;
                            found.push(used(bytes, arguments[0] == address));
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    }
    let size = content_size(&pass.layout, variable.allocated_type());
    let is_inside = |used: &VariableUse| used.bytes > 0 && used.offset + used.bytes <= size;
    found.iter().all(is_inside).then_some(found)
}

/// The addresses that are read from a variable which holds one and no other: a parameter of an inlined function, such as
/// `this`. None if the store is to another place.
fn copies<'m>(store: Value<'m>) -> Option<Vec<Value<'m>>> {
    let holder = store.operand(1);
    if !(holder.is_instruction() && holder.is(Opcode::LLVMAlloca)) {
        return None;
    }
    let users = holder.users().into_iter().filter(|user| *user != store);
    let users: Vec<Value<'m>> = users.filter(|user| !is_lifetime(*user)).collect();
    users.iter().all(|user| user.is(Opcode::LLVMLoad) && user.ty().is_pointer()).then_some(users)
}

fn is_lifetime(value: Value) -> bool {
    ["llvm.lifetime.start", "llvm.lifetime.end"].iter().any(|name| is_intrinsic(value, name))
}

/// The vector that an access reads or writes.
fn vector_of<'m>(instruction: Value<'m>) -> Option<Type<'m>> {
    let ty = match instruction.opcode() {
        Opcode::LLVMLoad => instruction.ty(),
        Opcode::LLVMStore => instruction.operand(0).ty(),
        _ => return None,
    };
    ty.is_vector().then_some(ty)
}

fn component_bytes(pass: &Early, instruction: Value) -> Option<u64> {
    vector_of(instruction).map(|ty| pass.layout.size(ty.element()))
}

struct Flags<'a, 'm> {
    pass: &'a Early<'m>,
    flags: Value<'m>,
    /// Bytes of a part.
    granule: u64,
    count: u64,
}

impl<'m> Flags<'_, 'm> {
    /// The first flag of a use, and a condition that it is inside of the variable.
    fn first(&self, used: &VariableUse<'m>) -> (Value<'m>, Option<Value<'m>>) {
        let (b, wide) = (&self.pass.b, self.pass.int(64));
        let offset = wide.constant((used.offset / self.granule) as i64);
        let Some((index, stride)) = used.index else { return (offset, None) };
        let parts = used.bytes.div_ceil(self.granule);
        let index = b.mul(widened(b, index, wide), wide.constant((stride / self.granule) as i64));
        let at = b.add(index, offset);
        // An index outside is found elsewhere, and must not lead outside of the flags.
        let end = wide.constant((self.count + 1).saturating_sub(parts) as i64);
        let inside = b.icmp(IntPredicate::LLVMIntULT, at, end);
        (b.select(inside, at, wide.zero()), Some(inside))
    }

    fn at(&self, first: Value<'m>, part: u64) -> Value<'m> {
        let b = &self.pass.b;
        b.offset(self.flags, b.add(first, self.pass.int(64).constant(part as i64)))
    }

    /// The numbers of the parts in ranges of bytes.
    fn parts(&self, ranges: &[(u64, u64)]) -> Vec<u64> {
        ranges.iter().flat_map(|(start, end)| start / self.granule..end.div_ceil(self.granule)).collect()
    }

    fn set(&self, used: &VariableUse<'m>) {
        self.pass.b.before(used.instruction);
        let ranges = match inserted(used.instruction) {
            Some(components) => components_in_bytes(self.pass, used.instruction, components),
            None => vec![(0, used.bytes)],
        };
        let (first, _) = self.first(used);
        for part in self.parts(&ranges) {
            self.pass.b.store(self.pass.int(8).constant(1), self.at(first, part), 1);
        }
    }

    fn check(&self, used: &VariableUse<'m>, is_structure: bool) {
        let (b, instruction) = (&self.pass.b, used.instruction);
        let all = || self.parts(&[(0, used.bytes)]);
        let (parts, is_any) = match demanded(self.pass, used, is_structure) {
            Extent::All(ranges) => (self.parts(&ranges), false),
            Extent::Any => (all(), true),
            Extent::Nothing => return,
        };
        b.before(instruction);
        let (first, inside) = self.first(used);
        let flag = self.pass.int(8);
        let written = parts.into_iter().map(|part| {
            let set = b.load(flag, self.at(first, part), 1);
            b.icmp(IntPredicate::LLVMIntNE, set, flag.zero())
        });
        let Some(holds) = written.reduce(|one, other| if is_any { b.or(one, other) } else { b.and(one, other) })
        else {
            return;
        };
        let holds = inside.map_or(holds, |inside| b.or(holds, b.not(inside)));
        self.pass.check(instruction, holds, Operation::Uninitialized, self.pass.int(64).zero(), (0, 0));
    }
}

/// The components that a store changes, as bits, if it writes a vector back that was loaded from the same place.
fn inserted(store: Value) -> Option<u32> {
    if !store.is(Opcode::LLVMStore) || !store.operand(0).ty().is_vector() {
        return None;
    }
    let (mut value, mut components) = (store.operand(0), 0);
    while value.is_instruction() && value.is(Opcode::LLVMInsertElement) {
        components |= 1 << value.operand(2).as_int().filter(|index| (0..32).contains(index))?;
        value = value.operand(0);
    }
    let is_same = value.is_instruction() && value.is(Opcode::LLVMLoad) && value.operand(0) == store.operand(1);
    (is_same && components != 0).then_some(components)
}

fn components_in_bytes(pass: &Early, access: Value, components: u32) -> Vec<(u64, u64)> {
    let bytes = component_bytes(pass, access).unwrap_or(0);
    let numbers = (0..32).filter(|index| components >> index & 1 != 0);
    numbers.map(|index| (index * bytes, (index + 1) * bytes)).collect()
}

/// The bytes that the program needs of a read.
fn demanded(pass: &Early, used: &VariableUse, is_structure: bool) -> Extent {
    let read = used.instruction;
    if !read.is(Opcode::LLVMLoad) {
        // Padding is copied, too. A copy of a variable may have parts that are not used.
        let is_private = read.operand(0).ty().address_space() == 0;
        return if is_private { Extent::Nothing } else { Extent::Any };
    }
    let Some(ty) = vector_of(read) else {
        // A bit-field is written by changing some bits of what is there.
        let is_merged = is_structure && is_merged(read, MOST_STEPS);
        return if is_merged { Extent::Nothing } else { Extent::All(vec![(0, used.bytes)]) };
    };
    let demand = components(read, ty.length(), MOST_STEPS);
    match demand.bits {
        0 if demand.is_known => Extent::Nothing,
        0 => Extent::Any,
        bits => Extent::All(components_in_bytes(pass, read, bits)),
    }
}

/// Uses of uses beyond this number are not followed.
const MOST_STEPS: u32 = 8;

/// True for a value that becomes a part of what is stored to private memory, by operators on bits alone.
fn is_merged(value: Value, steps: u32) -> bool {
    steps > 0
        && value.users().into_iter().any(|user| match user.opcode() {
            Opcode::LLVMAnd | Opcode::LLVMOr | Opcode::LLVMTrunc | Opcode::LLVMZExt => is_merged(user, steps - 1),
            Opcode::LLVMStore => user.operand(0) == value && user.operand(1).ty().address_space() == 0,
            _ => false,
        })
}

/// The components of a vector that code needs.
#[derive(Clone, Copy, Default)]
struct Demand {
    bits: u32,
    /// True if no use may need others.
    is_known: bool,
}

fn components(vector: Value, length: usize, steps: u32) -> Demand {
    let all = if length >= 32 { u32::MAX } else { (1 << length) - 1 };
    let known = |bits: u32| Demand { bits, is_known: true };
    let unknown = Demand::default();
    if steps == 0 {
        return unknown;
    }
    let of_user = |user: Value| {
        let through = || match user.ty().is_vector() && user.ty().length() == length {
            true => components(user, length, steps - 1),
            false => unknown,
        };
        match user.opcode() {
            Opcode::LLVMExtractElement => match user.operand(1).as_int() {
                Some(index) if (0..32).contains(&index) => known(1 << index),
                _ => unknown,
            },
            Opcode::LLVMInsertElement if user.operand(0) == vector => match user.operand(2).as_int() {
                Some(index) if (0..32).contains(&index) => {
                    let demand = through();
                    Demand { bits: demand.bits & !(1 << index), ..demand }
                }
                _ => unknown,
            },
            Opcode::LLVMShuffleVector => {
                let first = if user.operand(0) == vector { 0 } else { length };
                let pattern = user.shuffle_pattern().into_iter().filter_map(|index| usize::try_from(index).ok());
                let picks = pattern.filter_map(|index| index.checked_sub(first));
                known(picks.filter(|index| *index < length.min(32)).fold(0, |bits, index| bits | 1 << index))
            }
            Opcode::LLVMStore if user.operand(0) == vector => {
                let (source, to) = (vector, user.operand(1));
                let goes_back =
                    inserted(user).is_some() || (source.is(Opcode::LLVMLoad) && source.operand(0) == to);
                match to.ty().address_space() {
                    0 if goes_back => known(0),
                    0 => unknown,
                    _ => known(all),
                }
            }
            Opcode::LLVMCall => {
                let name = user.callee().map(Value::name).unwrap_or_default();
                match name.starts_with("air.") || name.starts_with("llvm.") {
                    true if user.ty().is_vector() => through(),
                    true if !user.ty().is_void() => known(all),
                    _ => unknown,
                }
            }
            Opcode::LLVMPHI | Opcode::LLVMRet => unknown,
            _ => through(),
        }
    };
    let users = vector.users();
    users.into_iter().map(of_user).fold(known(0), |one, other| Demand {
        bits: one.bits | other.bits,
        is_known: one.is_known && other.is_known,
    })
}
