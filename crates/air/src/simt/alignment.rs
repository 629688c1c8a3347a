//! The largest power of two that an address is known to be a multiple of.

use crate::ir::{Layout, ModuleRef, Opcode, Type, Value};

/// Values that are looked at for one address, at most: some are reached on many ways.
const VALUES: u32 = 256;

/// Bits of any address.
const ALL: u32 = 64;

/// True if a pointer is a multiple of `bytes`, if all threadgroup variables are.
pub(super) fn is_aligned(module: ModuleRef, pointer: Value, bytes: u32) -> bool {
    Alignment { layout: Layout::of(module), open: Vec::new(), left: VALUES }.zeros(pointer)
        >= bytes.trailing_zeros()
}

struct Alignment<'m> {
    layout: Layout<'m>,
    /// Values whose bits are being looked for. A phi that leads to itself adds nothing to its other values.
    open: Vec<Value<'m>>,
    /// The number of values that may still be looked at.
    left: u32,
}

impl<'m> Alignment<'m> {
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
            return 0;
        }
        self.left -= 1;
        self.open.push(value);
        let zeros = self.of_operation(value);
        self.open.pop();
        zeros
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
                    false => 0,
                }
            }
            _ => 0,
        }
    }

    fn least(&mut self, values: impl IntoIterator<Item = Value<'m>>) -> u32 {
        values.into_iter().fold(ALL, |least, value| if least == 0 { 0 } else { least.min(self.zeros(value)) })
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
