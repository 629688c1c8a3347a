//! The shape of an instruction's result, from the shapes of its operands.

use super::{ALL_BITS, Ramp, Shape, Shapes, member_start, shuffle_pattern};
use crate::bytes::Dot;
use crate::instrument::{LOAD, MATRIX, POINTER};
use crate::ir::{IntPredicate, Opcode, TypeKind, Value};
use crate::thread::name::Name;
use crate::thread::types::components;

impl<'m> Shapes<'m> {
    pub(super) fn transfer(&self, instruction: Value<'m>, deferred: bool) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        match instruction.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl | Opcode::LLVMOr => {
                self.arithmetic(instruction)
            }
            Opcode::LLVMAnd | Opcode::LLVMLShr => self.low_or_high_bits(instruction),
            Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc => self.resize(instruction),
            Opcode::LLVMFreeze | Opcode::LLVMBitCast if components(instruction.operand(0).ty()).len() == count => {
                let same = components(instruction.ty()) == components(instruction.operand(0).ty());
                if same { self.of(instruction.operand(0)) } else { self.pointwise(instruction) }
            }
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => {
                self.of(instruction.operand(0))
            }
            Opcode::LLVMGetElementPtr => vec![self.address(instruction)],
            Opcode::LLVMSelect => self.select(instruction),
            Opcode::LLVMPHI => self.phi(instruction, deferred),
            Opcode::LLVMICmp => self.compare(instruction),
            Opcode::LLVMLoad => {
                let pointer = instruction.operand(0);
                let private = pointer.ty().address_space() == 0;
                let shape = self.of(pointer)[0];
                vec![if !private && shape.is_uniform() { shape } else { Shape::Varying }; count]
            }
            Opcode::LLVMAlloca => vec![Shape::UNIFORM],
            Opcode::LLVMExtractElement => {
                let vector = self.of(instruction.operand(0));
                match instruction.operand(1).as_int() {
                    Some(index) => vec![vector.get(index as usize).copied().unwrap_or(Shape::Unknown)],
                    None => vec![self.uniform_if(self.all_uniform(&instruction.operands()))],
                }
            }
            Opcode::LLVMInsertElement => {
                let mut shapes = self.of(instruction.operand(0));
                match instruction.operand(2).as_int() {
                    Some(index) => {
                        if let Some(shape) = shapes.get_mut(index as usize) {
                            *shape = self.of(instruction.operand(1))[0];
                        }
                        shapes
                    }
                    None => vec![self.uniform_if(self.all_uniform(&instruction.operands())); count],
                }
            }
            Opcode::LLVMShuffleVector => {
                let both: Vec<Value<'m>> = instruction.operands()[..2].to_vec();
                shuffle_pattern(instruction)
                    .into_iter()
                    .map(|pick| pick.map_or(Shape::Unknown, |(side, at)| self.of(both[side])[at]))
                    .collect()
            }
            Opcode::LLVMExtractValue => {
                let start = member_start(instruction.operand(0).ty(), &instruction.indices());
                self.of(instruction.operand(0))[start..start + count].to_vec()
            }
            Opcode::LLVMInsertValue => {
                let mut shapes = self.of(instruction.operand(0));
                let start = member_start(instruction.ty(), &instruction.indices());
                for (offset, shape) in self.of(instruction.operand(1)).into_iter().enumerate() {
                    shapes[start + offset] = shape;
                }
                shapes
            }
            Opcode::LLVMCall if instruction.callee().is_some_and(|callee| callee.name().starts_with(MATRIX)) => {
                self.of(instruction.operand(0))
            }
            Opcode::LLVMCall => {
                let uniform = is_uniform_call(instruction, || self.all_uniform(&instruction.arguments()));
                vec![self.uniform_if(uniform); count]
            }
            _ => self.pointwise(instruction),
        }
    }

    fn uniform_if(&self, uniform: bool) -> Shape {
        if uniform { Shape::UNIFORM } else { Shape::Varying }
    }

    /// Component by component: uniform when all operands are.
    fn pointwise(&self, instruction: Value<'m>) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        let operands: Vec<Vec<Shape>> =
            instruction.operands().into_iter().map(|operand| self.of(operand)).collect();
        if operands.iter().any(|operand| operand.len() != count) {
            let uniform = operands.iter().flatten().all(|shape| shape.is_uniform());
            return vec![self.uniform_if(uniform); count];
        }
        (0..count).map(|i| self.uniform_if(operands.iter().all(|operand| operand[i].is_uniform()))).collect()
    }

    fn arithmetic(&self, instruction: Value<'m>) -> Vec<Shape> {
        let opcode = instruction.opcode();
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        let no_wrap = match opcode {
            Opcode::LLVMOr => true,
            // `nuw` holds for the lanes that get here. The first one, where the ramp begins, may not be among them: in
            // `if (i >= n) { x[i - n] }` it is just the one that wraps.
            Opcode::LLVMSub => false,
            _ => instruction.has_no_unsigned_wrap(),
        };
        let bits = instruction.ty().scalar().int_bits();
        let disjoint = opcode != Opcode::LLVMOr || instruction.is_disjoint();
        let one = |i: usize| -> Shape {
            let (Shape::Ramp(x), Shape::Ramp(y)) = (a[i], b[i]) else {
                return if a[i] == Shape::Varying || b[i] == Shape::Varying {
                    Shape::Varying
                } else {
                    Shape::Unknown
                };
            };
            let uniform = a[i].is_uniform() && b[i].is_uniform();
            if !disjoint && !uniform {
                return Shape::Varying;
            }
            let (exact, no_wrap) = (x.exact && y.exact, no_wrap && x.no_wrap && y.no_wrap);
            let by = element(right, i);
            let (stride, zeros) = match opcode {
                Opcode::LLVMAdd | Opcode::LLVMOr => (x.stride.checked_add(y.stride), x.zeros.min(y.zeros)),
                Opcode::LLVMSub => (x.stride.checked_sub(y.stride), x.zeros.min(y.zeros)),
                Opcode::LLVMMul => {
                    let stride = match (x.stride, y.stride) {
                        (0, 0) => Some(0),
                        (stride, 0) => by.and_then(|by| stride.checked_mul(by)),
                        (0, stride) => element(left, i).and_then(|by| stride.checked_mul(by)),
                        _ => None,
                    };
                    (stride, x.zeros.saturating_add(y.zeros))
                }
                _ => {
                    let by = by.and_then(|by| u32::try_from(by).ok()).filter(|&by| by < 32);
                    let stride = match (x.stride, y.stride) {
                        (0, 0) => Some(0),
                        (stride, 0) => by.and_then(|by| stride.checked_mul(1 << by)),
                        _ => None,
                    };
                    (stride, x.zeros.saturating_add(by.unwrap_or(0)))
                }
            };
            // A number has no more bits than its type, and beyond them it wraps.
            let zeros = zeros.min(bits);
            stride.map_or(Shape::Varying, |stride| Shape::Ramp(Ramp::new(stride, exact, no_wrap, zeros)))
        };
        (0..a.len()).map(one).collect()
    }

    /// A ramp in fewer bits may wrap around between two lanes. In 32 bits the lanes beyond the wrap are too far away
    /// for an address, and the ramp is still good for one; a `uchar` or `short` wraps within any buffer.
    fn resize(&self, instruction: Value<'m>) -> Vec<Shape> {
        let opcode = instruction.opcode();
        let from_bits = instruction.operand(0).ty().scalar().int_bits();
        let bits = instruction.ty().scalar().int_bits();
        let one = |shape: Shape| match shape {
            shape if shape.is_uniform() => shape,
            Shape::Ramp(_) if from_bits == 1 || bits == 1 => Shape::Varying,
            Shape::Ramp(ramp) if opcode == Opcode::LLVMTrunc => {
                Shape::Ramp(Ramp::new(ramp.stride, ramp.exact, false, ramp.zeros.min(bits)))
            }
            Shape::Ramp(ramp) => {
                let stays = match opcode {
                    Opcode::LLVMZExt => ramp.no_wrap,
                    _ => ramp.stays_within(ramp.zeros.min(from_bits - 1)),
                };
                if !stays && from_bits < 32 {
                    return Shape::Varying;
                }
                let no_wrap = opcode == Opcode::LLVMZExt || stays && ramp.no_wrap;
                Shape::Ramp(Ramp::new(ramp.stride, ramp.exact && stays, no_wrap, ramp.zeros))
            }
            other => other,
        };
        self.of(instruction.operand(0)).into_iter().map(one).collect()
    }

    fn address(&self, instruction: Value<'m>) -> Shape {
        let operands = instruction.operands();
        let mut total = self.of(operands[0])[0];
        let mut stepped = instruction.source_element_type();
        for (position, &index) in operands[1..].iter().enumerate() {
            let shape = self.of(index)[0];
            let scale = if position == 0 {
                self.layout.size(stepped) as i64
            } else if let TypeKind::LLVMStructTypeKind = stepped.kind() {
                let member = index.as_int().unwrap_or(0) as usize;
                stepped = stepped.members()[member];
                continue;
            } else {
                stepped = stepped.element();
                self.layout.size(stepped) as i64
            };
            total = match (total, shape) {
                (Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
                (Shape::Ramp(a), Shape::Ramp(b)) => {
                    let stride = b.stride.checked_mul(scale).and_then(|step| a.stride.checked_add(step));
                    let ramp = |stride| Shape::Ramp(Ramp::new(stride, a.exact && b.exact, true, 0));
                    stride.map_or(Shape::Varying, ramp)
                }
                _ => Shape::Unknown,
            };
        }
        total
    }

    fn select(&self, instruction: Value<'m>) -> Vec<Shape> {
        let (condition, yes, no) =
            (self.of(instruction.operand(0)), self.of(instruction.operand(1)), self.of(instruction.operand(2)));
        (0..yes.len())
            .map(|i| {
                let condition = if condition.len() == 1 { condition[0] } else { condition[i] };
                if condition.is_uniform() { yes[i].join(no[i]) } else { Shape::Varying }
            })
            .collect()
    }

    fn phi(&self, instruction: Value<'m>, deferred: bool) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        let mut incoming: Vec<Value<'m>> = instruction.incoming().into_iter().map(|(value, _)| value).collect();
        incoming.retain(|value| !value.is_undef() && *value != instruction);
        // Lanes come to a deferred block at different times: even one value may have changed in between.
        let constant = incoming.iter().all(|value| *value == incoming[0] && !value.is_instruction());
        if deferred && !constant {
            return vec![Shape::Varying; count];
        }
        let start = vec![Shape::Unknown; count];
        incoming
            .into_iter()
            .fold(start, |all, value| all.into_iter().zip(self.of(value)).map(|(a, b)| a.join(b)).collect())
    }

    /// `tid & 31` is a ramp again and `tid >> 5` is the same in all lanes, when lane 0 is at a multiple of 32.
    fn low_or_high_bits(&self, instruction: Value<'m>) -> Vec<Shape> {
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        let is_and = instruction.opcode() == Opcode::LLVMAnd;
        let one = |i: usize| match (a[i], b[i]) {
            (Shape::Ramp(x), Shape::Ramp(y)) if a[i].is_uniform() && b[i].is_uniform() => {
                Shape::uniform(if is_and { x.zeros.max(y.zeros) } else { 0 })
            }
            (Shape::Ramp(x), Shape::Ramp(_)) if x.exact => {
                let by = element(right, i).and_then(|by| u64::try_from(by).ok()).unwrap_or(0);
                let bits = if is_and { by.trailing_ones() } else { by.min(ALL_BITS.into()) as u32 };
                let is_mask = !is_and || by.count_ones() == bits;
                match (is_mask && bits > 0, is_and) {
                    (true, true) if x.stays_within(bits.min(x.zeros)) => {
                        Shape::Ramp(Ramp::new(x.stride, true, true, x.zeros))
                    }
                    (true, false) if x.stays_within(bits) => Shape::UNIFORM,
                    _ => Shape::Varying,
                }
            }
            (Shape::Varying, _) | (_, Shape::Varying) | (Shape::Ramp(_), Shape::Ramp(_)) => Shape::Varying,
            _ => Shape::Unknown,
        };
        (0..a.len()).map(one).collect()
    }

    fn compare(&self, instruction: Value<'m>) -> Vec<Shape> {
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        if left.ty().scalar().is_pointer() {
            return self.pointwise(instruction);
        }
        let predicate = instruction.int_predicate();
        let one = |i: usize| {
            let uniform = a[i].is_uniform() && b[i].is_uniform();
            uniform || lanes_agree(predicate, a[i], b[i], element(right, i))
        };
        (0..a.len()).map(|i| self.uniform_if(one(i))).collect()
    }
}

/// True if all lanes get the same result from a call; `same_arguments` says if they pass the same arguments.
fn is_uniform_call(call: Value, same_arguments: impl Fn() -> bool) -> bool {
    let name = call.callee().map(Value::name).unwrap_or_default();
    let is_pure = name.starts_with("llvm.") || Dot::named(&name).is_some();
    // A checked load of one address has one result, and its pointer is one.
    let is_checked = [LOAD, POINTER].iter().any(|start| name.starts_with(start));
    Name::parse(&name).is_some_and(|name| name.is_uniform()) || ((is_pure || is_checked) && same_arguments())
}

/// True if a comparison has one result for all lanes although its left side is a ramp: as `base + lane < n` has, when
/// both are multiples of 32. Then the bases compare as the lanes do.
fn lanes_agree(predicate: IntPredicate, left: Shape, right: Shape, constant: Option<i64>) -> bool {
    use IntPredicate::*;
    let (Shape::Ramp(x), Shape::Ramp(y)) = (left, right) else { return false };
    if !x.exact || !y.exact {
        return false;
    }
    if x.stride == y.stride && matches!(predicate, LLVMIntEQ | LLVMIntNE) {
        return true;
    }
    let zeros = match predicate {
        LLVMIntULT | LLVMIntUGE | LLVMIntSLT | LLVMIntSGE => y.zeros,
        // More than 31 is at least 32.
        LLVMIntUGT | LLVMIntULE | LLVMIntSGT | LLVMIntSLE => {
            constant.and_then(|value| value.checked_add(1)).map_or(0, i64::trailing_zeros)
        }
        _ => return false,
    };
    y.stride == 0 && x.stays_within(x.zeros.min(zeros))
}

/// Element `index` of an integer constant, or the constant itself.
fn element(value: Value, index: usize) -> Option<i64> {
    if value.ty().is_vector() { value.constant_element(index)?.as_int() } else { value.as_int() }
}
