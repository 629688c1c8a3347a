//! Long sums with a number in many terms, such as a thousand times `r += x * 5 + 1`. LLVM's code generators move the numbers
//! through the sum one by one, in time that grows faster than its square: a minute for that sum. Here the numbers are added
//! up, and one of them is left. Short sums stay as they are.

use crate::ir::{Builder, Opcode, Value};
use rustc_hash::FxHashMap;

/// Sums with fewer numbers are left to LLVM.
const MANY: usize = 32;

/// A value as another one plus a number.
#[derive(Clone, Copy)]
struct Sum<'m> {
    base: Value<'m>,
    number: i64,
}

/// Adds up the numbers in long sums of `kernel`. Instructions that are no longer used stay.
pub(crate) fn gather(kernel: Value) {
    let instructions: Vec<Value> = kernel.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    let mut counts: FxHashMap<Value, usize> = FxHashMap::default();
    for &instruction in &instructions {
        let count = match number_added(instruction) {
            Some((base, _)) => counts.get(&base).copied().unwrap_or(0).saturating_add(1),
            None if is_sum(instruction) => part_counts(instruction, &counts),
            None => continue,
        };
        counts.insert(instruction, count);
    }
    if counts.values().max().is_none_or(|&most| most < MANY) {
        return;
    }
    let b = Builder::new(kernel.module().expect("a function is in a module"));
    let mut sums: FxHashMap<Value, Sum> = FxHashMap::default();
    for instruction in instructions {
        if let Some((base, number)) = number_added(instruction) {
            sums.insert(instruction, Sum { base, number });
        } else if is_sum(instruction) {
            add_up(&b, instruction, &mut sums);
        }
    }
}

fn part_counts(sum: Value, counts: &FxHashMap<Value, usize>) -> usize {
    sum.operands().iter().filter_map(|operand| counts.get(operand)).fold(0, |sum, count| sum.saturating_add(*count))
}

/// Replaces `(a + 1) + (b + 2)` by `(a + b) + 3`.
fn add_up<'m>(b: &Builder<'m>, sum: Value<'m>, sums: &mut FxHashMap<Value<'m>, Sum<'m>>) {
    let part = |value: Value<'m>| sums.get(&value).copied().filter(|_| value.users().len() == 1);
    let [left, right] = [0, 1].map(|operand| part(sum.operand(operand)));
    if left.is_none() && right.is_none() {
        return;
    }
    let whole = |operand: usize| Sum { base: sum.operand(operand), number: 0 };
    let (left, right) = (left.unwrap_or(whole(0)), right.unwrap_or(whole(1)));
    b.before(sum);
    let (base, number) = match sum.opcode() {
        Opcode::LLVMSub => (b.sub(left.base, right.base), left.number.wrapping_sub(right.number)),
        _ => (b.add(left.base, right.base), left.number.wrapping_add(right.number)),
    };
    let unused = 64 - base.ty().int_bits();
    let number = number << unused >> unused;
    let new = b.add(base, base.ty().constant(number));
    sum.replace_all_uses_with(new);
    if new.is_instruction() {
        sums.insert(new, Sum { base, number });
    }
}

/// The parts of `x + 5`, also where it is written as `x | 5` or `x - 5`.
fn number_added(instruction: Value) -> Option<(Value, i64)> {
    if !is_number(instruction) {
        return None;
    }
    let number = |operand: usize| instruction.operand(operand).as_int();
    match instruction.opcode() {
        Opcode::LLVMAdd => Some((instruction.operand(0), number(1)?)),
        Opcode::LLVMOr if instruction.is_disjoint() => Some((instruction.operand(0), number(1)?)),
        Opcode::LLVMSub => Some((instruction.operand(0), number(1)?.wrapping_neg())),
        _ => None,
    }
}

fn is_sum(instruction: Value) -> bool {
    is_number(instruction) && matches!(instruction.opcode(), Opcode::LLVMAdd | Opcode::LLVMSub)
}

fn is_number(value: Value) -> bool {
    value.ty().is_int() && value.ty().int_bits() <= 64
}
