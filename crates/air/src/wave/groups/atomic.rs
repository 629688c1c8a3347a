//! Atomic functions: `air.atomic.global.add.u.i32(pointer, value, order, scope, volatile)`.
//!
//! The lanes take turns. If all access the same object, one operation with their combined value is enough, unless each
//! needs the value that it found there. Every order of memory is taken as `relaxed`, the only one
//! that Metal's atomic functions accept; a fence orders everything.

use super::Call;
use super::name::{Group, Name, Operation, Prefix, Reduction};
use super::number::Number;
use super::{prefix, reduce};
use crate::ir::{AtomicOp, Block, Builder, IntPredicate, Type, Value};
use crate::wave::lanes::{Mask, first_active, lanes_of, mask_bits, splat, splatted};

/// A call of an atomic function.
pub(in crate::wave) struct Atomic<'a, 'm> {
    pub(in crate::wave) name: &'a str,
    /// As in the call, each a scalar where it is the same in all lanes, otherwise with one element per lane. Pointers
    /// are in address space 0. Operands after the last value (order, scope, volatile) are ignored.
    pub(in crate::wave) arguments: &'a [Value<'m>],
    /// The active lanes; at least one is.
    pub(in crate::wave) mask: Mask<'m>,
    /// True if something uses the result.
    pub(in crate::wave) is_result_used: bool,
}

/// Emits the call of an atomic function: one vector of lanes, or nothing when it returns nothing or nothing uses it.
/// The code may have loops: the builder is in another block afterwards. `None` when the name is another one.
pub(in crate::wave) fn atomic<'m>(
    b: &Builder<'m>,
    call: &Atomic<'_, 'm>,
) -> Option<Result<Vec<Value<'m>>, String>> {
    let name = call.name.strip_prefix("air.atomic.")?;
    if name == "fence" {
        b.fence();
        return Some(Ok(Vec::new()));
    }
    Some(emit(b, call, name))
}

fn emit<'m>(b: &Builder<'m>, call: &Atomic<'_, 'm>, name: &str) -> Result<Vec<Value<'m>>, String> {
    let unsupported = || format!("the atomic function '{}' is not supported", call.name);
    let name = name.strip_prefix("global.").or_else(|| name.strip_prefix("local.")).ok_or_else(unsupported)?;
    let (operation, suffix) = match name.strip_prefix("cmpxchg.weak.") {
        Some(suffix) => ("cmpxchg", suffix),
        None => name.split_once('.').ok_or_else(unsupported)?,
    };
    let number = Number::parse(suffix);
    let pointer = call.pointer(0)?;
    match operation {
        "load" => load(b, call, pointer, element(b, suffix).ok_or_else(unsupported)?),
        "store" => store(b, call, pointer, call.argument(1)?),
        "cmpxchg" => compare_exchange(b, call, pointer, call.pointer(1)?, call.argument(2)?),
        _ => {
            let operation = modification(operation, number).ok_or_else(unsupported)?;
            modify(b, call, pointer, call.argument(1)?, number, operation)
        }
    }
}

impl<'m> Atomic<'_, 'm> {
    fn argument(&self, index: usize) -> Result<Value<'m>, String> {
        self.arguments.get(index).copied().ok_or_else(|| format!("'{}' lacks argument {index}", self.name))
    }

    /// A pointer, as a scalar if it is known to be the same in all lanes.
    fn pointer(&self, index: usize) -> Result<Value<'m>, String> {
        let pointer = self.argument(index)?;
        if !pointer.ty().scalar().is_pointer() {
            return Err(format!("argument {index} of '{}' is no pointer", self.name));
        }
        Ok(if pointer.ty().is_vector() { splatted(pointer).unwrap_or(pointer) } else { pointer })
    }
}

/// The type of the object, as the end of a name says it.
fn element<'m>(b: &Builder<'m>, suffix: &str) -> Option<Type<'m>> {
    Some(match suffix.rsplit('.').next()? {
        "f32" => Type::float(b.context()),
        "i8" => Type::int(b.context(), 8),
        "i16" => Type::int(b.context(), 16),
        "i32" => Type::int(b.context(), 32),
        "i64" => Type::int(b.context(), 64),
        _ => return None,
    })
}

/// A fetch-and-modify operation, and the reduction that makes several of them one.
#[derive(Clone, Copy)]
struct Modification {
    operation: AtomicOp,
    together: Option<Reduction>,
}

fn modification(operation: &str, number: Number) -> Option<Modification> {
    use AtomicOp::*;
    let is_float = number == Number::Float;
    let is_signed = number == Number::Signed;
    let (operation, together) = match operation {
        "add" if is_float => (LLVMAtomicRMWBinOpFAdd, Some(Reduction::Sum)),
        "sub" if is_float => (LLVMAtomicRMWBinOpFSub, Some(Reduction::Sum)),
        "min" if is_float => (LLVMAtomicRMWBinOpFMin, Some(Reduction::Min)),
        "max" if is_float => (LLVMAtomicRMWBinOpFMax, Some(Reduction::Max)),
        "add" => (LLVMAtomicRMWBinOpAdd, Some(Reduction::Sum)),
        "sub" => (LLVMAtomicRMWBinOpSub, Some(Reduction::Sum)),
        "min" if is_signed => (LLVMAtomicRMWBinOpMin, Some(Reduction::Min)),
        "max" if is_signed => (LLVMAtomicRMWBinOpMax, Some(Reduction::Max)),
        "min" => (LLVMAtomicRMWBinOpUMin, Some(Reduction::Min)),
        "max" => (LLVMAtomicRMWBinOpUMax, Some(Reduction::Max)),
        "and" => (LLVMAtomicRMWBinOpAnd, Some(Reduction::And)),
        "or" => (LLVMAtomicRMWBinOpOr, Some(Reduction::Or)),
        "xor" => (LLVMAtomicRMWBinOpXor, Some(Reduction::Xor)),
        "xchg" => (LLVMAtomicRMWBinOpXchg, None),
        _ => return None,
    };
    Some(Modification { operation, together })
}

fn modify<'m>(
    b: &Builder<'m>,
    call: &Atomic<'_, 'm>,
    pointer: Value<'m>,
    value: Value<'m>,
    number: Number,
    modification: Modification,
) -> Result<Vec<Value<'m>>, String> {
    let Modification { operation, together } = modification;
    if let Some(reduction) = together.filter(|_| !pointer.ty().is_vector()) {
        let lanes = if value.ty().is_vector() { value } else { splat(b, value) };
        let across = Call { name: call.name, arguments: &[], mask: call.mask, result: value.ty(), fast_math: 0 };
        if !call.is_result_used {
            b.atomic_rmw(operation, pointer, reduce::scalar(b, &across, number, reduction, lanes));
            return Ok(Vec::new());
        }
        if reduction == Reduction::Sum && number != Number::Float {
            // Integers wrap around: a lane finds the old value plus the sum of the lanes before it.
            let found = b.atomic_rmw(operation, pointer, reduce::scalar(b, &across, number, reduction, lanes));
            let kind = Prefix::Exclusive;
            let name = Name { group: Group::Simd, operation: Operation::Prefix(reduction, kind), number };
            let before = prefix::prefix(b, &across, &name, reduction, kind, lanes);
            let is_subtraction = operation == AtomicOp::LLVMAtomicRMWBinOpSub;
            let found = splat(b, found);
            return Ok(vec![if is_subtraction { b.sub(found, before) } else { b.add(found, before) }]);
        }
    }
    let result = call.is_result_used.then(|| value.ty().scalar());
    let [pointer, value] = [pointer, value].map(|value| Slot::of(b, value));
    Ok(each_active_lane(b, call.mask, result, |lane| {
        b.atomic_rmw(operation, pointer.get(b, lane), value.get(b, lane))
    }))
}

fn load<'m>(
    b: &Builder<'m>,
    call: &Atomic<'_, 'm>,
    pointer: Value<'m>,
    ty: Type<'m>,
) -> Result<Vec<Value<'m>>, String> {
    if !pointer.ty().is_vector() {
        return Ok(vec![splat(b, b.atomic_load(ty, pointer, bytes(ty)))]);
    }
    let pointer = Slot::of(b, pointer);
    Ok(each_active_lane(b, call.mask, Some(ty), |lane| b.atomic_load(ty, pointer.get(b, lane), bytes(ty))))
}

fn store<'m>(
    b: &Builder<'m>,
    call: &Atomic<'_, 'm>,
    pointer: Value<'m>,
    value: Value<'m>,
) -> Result<Vec<Value<'m>>, String> {
    let align = bytes(value.ty().scalar());
    if !pointer.ty().is_vector() {
        // Any of the lanes may be the last.
        let value = match value.ty().is_vector() {
            true => b.extract(value, first_active(b, call.mask)),
            false => value,
        };
        b.atomic_store(value, pointer, align);
        return Ok(Vec::new());
    }
    let [pointer, value] = [pointer, value].map(|value| Slot::of(b, value));
    each_active_lane(b, call.mask, None, |lane| b.atomic_store(value.get(b, lane), pointer.get(b, lane), align));
    Ok(Vec::new())
}

/// Returns the old value, and writes it over the expected value, in the lane's own memory.
fn compare_exchange<'m>(
    b: &Builder<'m>,
    call: &Atomic<'_, 'm>,
    pointer: Value<'m>,
    expected: Value<'m>,
    desired: Value<'m>,
) -> Result<Vec<Value<'m>>, String> {
    let ty = desired.ty().scalar();
    let align = bytes(ty);
    // Bits are compared, also those of floating-point numbers.
    let bits = Type::int(b.context(), 8 * align);
    let [pointer, expected, desired] = [pointer, expected, desired].map(|value| Slot::of(b, value));
    let result = call.is_result_used.then_some(ty);
    Ok(each_active_lane(b, call.mask, result, |lane| {
        let expected = expected.get(b, lane);
        let old = b.load(bits, expected, align);
        let new = b.bitcast(desired.get(b, lane), bits);
        let found = b.extract_value(b.compare_exchange(pointer.get(b, lane), old, new), 0);
        b.store(found, expected, align);
        b.bitcast(found, ty)
    }))
}

/// The size of a number in memory.
fn bytes(ty: Type) -> u32 {
    if ty.is_int() { ty.int_bits() / 8 } else { 4 }
}

/// The elements of a vector in memory: extracting one by a variable index would store the whole vector, in every round
/// of the loop. A value that is the same in all lanes needs no memory.
#[derive(Clone, Copy)]
enum Slot<'m> {
    Scalar(Value<'m>),
    Lanes(Value<'m>, Type<'m>),
}

impl<'m> Slot<'m> {
    fn of(b: &Builder<'m>, value: Value<'m>) -> Slot<'m> {
        if !value.ty().is_vector() {
            return Slot::Scalar(value);
        }
        let memory = b.entry_alloca(value.ty(), 64);
        b.store(value, memory, 64);
        Slot::Lanes(memory, value.ty().element())
    }

    fn get(self, b: &Builder<'m>, lane: Value<'m>) -> Value<'m> {
        match self {
            Slot::Scalar(value) => value,
            Slot::Lanes(memory, ty) => b.load(ty, element_address(b, memory, ty, lane), element_size(ty)),
        }
    }
}

fn element_size(ty: Type) -> u32 {
    if ty.is_pointer() { 8 } else { bytes(ty) }
}

fn element_address<'m>(b: &Builder<'m>, memory: Value<'m>, ty: Type<'m>, lane: Value<'m>) -> Value<'m> {
    b.offset(memory, b.mul(lane, lane.ty().constant(element_size(ty).into())))
}

/// A loop over the active lanes. The value that `emit` returns for a lane is its element of the result, if there is
/// one.
fn each_active_lane<'m>(
    b: &Builder<'m>,
    mask: Mask<'m>,
    result: Option<Type<'m>>,
    emit: impl FnOnce(Value<'m>) -> Value<'m>,
) -> Vec<Value<'m>> {
    let long = Type::int(b.context(), 64);
    let results = result.map(|ty| (ty, b.entry_alloca(lanes_of(ty), 64)));
    let bits = mask_bits(b, mask);
    let (before, function) = (b.block(), b.block().function());
    let [head, turn, after] = ["lanes", "lane", "lanes.done"].map(|name| Block::append(function, name));
    b.branch(head);

    b.at_end(head);
    let left = b.phi(bits.ty());
    b.add_incoming(left, bits, before);
    b.branch_if(b.icmp(IntPredicate::LLVMIntNE, left, bits.ty().zero()), turn, after);

    b.at_end(turn);
    let never_zero = Type::int(b.context(), 1).constant(1);
    let lane = b.zext(b.intrinsic("llvm.cttz", &[bits.ty()], &[left, never_zero]), long);
    let value = emit(lane);
    if let Some((ty, memory)) = results {
        b.store(value, element_address(b, memory, ty, lane), element_size(ty));
    }
    let rest = b.and(left, b.sub(left, bits.ty().constant(1)));
    b.add_incoming(left, rest, b.block());
    b.branch(head);

    b.at_end(after);
    results.map(|(ty, memory)| b.load(lanes_of(ty), memory, 64)).into_iter().collect()
}
