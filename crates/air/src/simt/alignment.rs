//! The largest power of two that an address is a multiple of: the one that is known, and the one that it can be at most.
//!
//! A GPU ends a program that loads at an address which is no multiple of the size, where CPUs and Apple's GPUs go on. Kernels
//! cast pointers into blocks of 18 or 22 bytes to pointers to words, so that the alignment which a load promises is sometimes
//! impossible, and pointers to numbers in rows of any length to pointers to vectors, so that it depends on the length. Only
//! the beginnings of buffers are taken to be as aligned as accesses to them promise.

use crate::ir::{Address, Block, Layout, ModuleRef, Opcode, Type, Value};

/// Values that are looked at for one address, at most: some are reached on many ways.
const VALUES: u32 = 256;

/// Bits of any address.
const ALL: u32 = 64;

/// True if a pointer is a multiple of `bytes`, if all threadgroup variables are.
pub(super) fn is_aligned(module: ModuleRef, pointer: Value, bytes: u32) -> bool {
    Alignment::new(module, Trust::Nothing).zeros(pointer) >= bytes.trailing_zeros()
}

/// Lowers the alignment of loads and stores to what is possible. Code then accesses memory in smaller pieces.
pub(super) fn correct(module: ModuleRef) {
    for (access, pointer, _) in accesses(module) {
        let most = Alignment::new(module, Trust::Nothing).most_zeros(pointer);
        if most < access.alignment().trailing_zeros() {
            access.set_alignment(1 << most);
        }
    }
}

/// Lowers the alignment of loads and stores of vectors to what is known for every distance in their address: each element
/// may be accessed by itself.
pub(super) fn distrust_distances(module: ModuleRef) {
    let layout = Layout::of(module);
    for (access, pointer, ty) in accesses(module).into_iter().filter(|(_, _, ty)| ty.is_vector()) {
        let known = Alignment::new(module, Trust::Pointers).zeros(pointer);
        if known < access.alignment().trailing_zeros() {
            access.set_alignment((1 << known).max(layout.size(ty.element()) as u32));
        }
    }
}

/// All loads and stores that are not atomic, with their addresses and types.
fn accesses<'m>(module: ModuleRef<'m>) -> Vec<(Value<'m>, Value<'m>, Type<'m>)> {
    let instructions = module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions);
    let access = |instruction: Value<'m>| match instruction.opcode() {
        Opcode::LLVMLoad if !instruction.is_atomic() => {
            Some((instruction, instruction.operand(0), instruction.ty()))
        }
        Opcode::LLVMStore if !instruction.is_atomic() => {
            Some((instruction, instruction.operand(1), instruction.operand(0).ty()))
        }
        _ => None,
    };
    instructions.filter_map(access).collect()
}

/// Values that count as multiples of everything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Nothing,
    /// Pointers that come from outside, or from memory.
    Pointers,
}

struct Alignment<'m> {
    layout: Layout<'m>,
    trust: Trust,
    /// Values whose bits are being looked for. A phi that leads to itself adds nothing to its other values.
    open: Vec<Value<'m>>,
    /// The number of values that may still be looked at.
    left: u32,
}

impl<'m> Alignment<'m> {
    fn new(module: ModuleRef<'m>, trust: Trust) -> Alignment<'m> {
        Alignment { layout: Layout::of(module), trust, open: Vec::new(), left: VALUES }
    }

    /// The number of lowest bits that are zero.
    fn zeros(&mut self, value: Value<'m>) -> u32 {
        if let Some(number) = value.as_int() {
            return number.trailing_zeros();
        }
        if value.is_global() {
            return super::THREADGROUP_ALIGNMENT.max(value.alignment()).trailing_zeros();
        }
        if self.open.contains(&value) {
            return ALL;
        }
        if !(value.is_instruction() || value.is_constant_expression()) || self.left == 0 {
            return self.of_unknown(value);
        }
        self.left -= 1;
        self.open.push(value);
        let zeros = self.of_operation(value);
        self.open.pop();
        zeros
    }

    fn of_unknown(&self, value: Value<'m>) -> u32 {
        if self.trust == Trust::Pointers && value.ty().is_pointer() { ALL } else { 0 }
    }

    fn of_operation(&mut self, value: Value<'m>) -> u32 {
        match value.opcode() {
            Opcode::LLVMGetElementPtr => self.of_address(value),
            Opcode::LLVMPHI => self.least(value.incoming().into_iter().map(|(value, _)| value)),
            Opcode::LLVMSelect => self.least([value.operand(1), value.operand(2)]),
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMOr | Opcode::LLVMXor => self.least(value.operands()),
            Opcode::LLVMAnd => self.zeros(value.operand(0)).max(self.zeros(value.operand(1))),
            Opcode::LLVMMul => (self.zeros(value.operand(0)) + self.zeros(value.operand(1))).min(ALL),
            Opcode::LLVMShl => match value.operand(1).as_int() {
                Some(by) => (self.zeros(value.operand(0)) + u32::try_from(by).unwrap_or(0)).min(ALL),
                None => self.zeros(value.operand(0)),
            },
            Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc | Opcode::LLVMFreeze => {
                self.zeros(value.operand(0))
            }
            Opcode::LLVMCall => {
                let name = value.callee().and_then(Value::intrinsic_name);
                let chooses = ["llvm.umin", "llvm.umax", "llvm.smin", "llvm.smax"];
                match name.is_some_and(|name| chooses.contains(&name.as_str())) {
                    true => self.least(value.arguments()),
                    false => self.of_unknown(value),
                }
            }
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => self.zeros(value.operand(0)),
            Opcode::LLVMAlloca => value.alignment().trailing_zeros(),
            _ => self.of_unknown(value),
        }
    }

    fn least(&mut self, values: impl IntoIterator<Item = Value<'m>>) -> u32 {
        values.into_iter().fold(ALL, |least, value| if least == 0 { 0 } else { least.min(self.zeros(value)) })
    }

    /// The number of lowest bits that can be zero for all values of the variables in it. A variable by itself, and one times
    /// a power of two, may be a multiple of anything; times 22, it is one of 2.
    fn most_zeros(&mut self, value: Value<'m>) -> u32 {
        if let Some(number) = value.as_int() {
            return most_of_number(number);
        }
        if !value.is_instruction() || self.open.contains(&value) || self.left == 0 {
            return ALL;
        }
        self.left -= 1;
        self.open.push(value);
        let zeros = match value.opcode() {
            Opcode::LLVMGetElementPtr => self.most_of_address(value),
            Opcode::LLVMPHI => self.most(value.incoming().into_iter().map(|(value, _)| value)),
            Opcode::LLVMSelect => self.most([value.operand(1), value.operand(2)]),
            Opcode::LLVMAdd | Opcode::LLVMSub => self.most(value.operands()),
            Opcode::LLVMZExt
            | Opcode::LLVMSExt
            | Opcode::LLVMTrunc
            | Opcode::LLVMBitCast
            | Opcode::LLVMAddrSpaceCast => self.most_zeros(value.operand(0)),
            Opcode::LLVMMul => match [value.operand(0), value.operand(1)].map(|factor| (factor, factor.as_int())) {
                [(other, None), (_, Some(factor))] | [(_, Some(factor)), (other, None)] => {
                    self.times(other, factor.unsigned_abs())
                }
                _ => ALL,
            },
            _ => ALL,
        };
        self.open.pop();
        zeros
    }

    fn most(&mut self, values: impl IntoIterator<Item = Value<'m>>) -> u32 {
        values.into_iter().map(|value| self.most_zeros(value)).min().unwrap_or(ALL)
    }

    /// [`Alignment::most_zeros`] of a product.
    fn times(&mut self, value: Value<'m>, factor: u64) -> u32 {
        match value.as_int() {
            Some(number) => most_of_number(number.wrapping_mul(factor as i64)),
            None if factor == 0 => ALL,
            None if factor.is_power_of_two() => (factor.trailing_zeros() + self.most_zeros(value)).min(ALL),
            None => factor.trailing_zeros() + self.zeros(value),
        }
    }

    fn most_of_address(&mut self, pointer: Value<'m>) -> u32 {
        let Some(Address { base, terms, offset }) = Address::of(pointer, self.layout) else { return ALL };
        let most = terms.into_iter().map(|(value, factor)| self.times(value, factor.unsigned_abs())).min();
        most.unwrap_or(ALL).min(most_of_number(offset)).min(self.most_zeros(base))
    }

    fn of_address(&mut self, address: Value<'m>) -> u32 {
        let operands = address.operands();
        let mut stepped: Type<'m> = address.source_element_type();
        let mut least = self.zeros(operands[0]);
        for (position, &index) in operands[1..].iter().enumerate() {
            let zeros = if position == 0 {
                self.layout.size(stepped).trailing_zeros() + self.zeros(index)
            } else if stepped.is_struct() {
                let Some(member) = index.as_int().and_then(|index| usize::try_from(index).ok()) else { return 0 };
                let offset = self.layout.offset(stepped, member);
                stepped = stepped.members()[member];
                offset.trailing_zeros()
            } else {
                stepped = stepped.element();
                self.layout.size(stepped).trailing_zeros() + self.zeros(index)
            };
            least = least.min(zeros);
        }
        least
    }
}

fn most_of_number(number: i64) -> u32 {
    if number == 0 { ALL } else { number.trailing_zeros() }
}
