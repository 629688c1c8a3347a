//! Execution of a single thread.

use super::interpret::Results;
use super::program::*;

/// The variables of a call.
pub(super) struct Frame {
    pub(super) variables: Vec<i64>,
    arrays: Vec<Vec<i64>>,
}

/// Control flow after a statement.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(i64),
}

impl Frame {
    pub(super) fn new(variables: usize, arrays: &[ArrayType]) -> Frame {
        Frame { variables: vec![0; variables], arrays: arrays.iter().map(|array| vec![0; array.length]).collect() }
    }
}

/// One thread in one call.
pub(super) struct Lane<'a> {
    pub(super) program: &'a Program,
    pub(super) results: &'a mut Results,
    pub(super) number: usize,
    pub(super) lane: usize,
    pub(super) frame: &'a mut Frame,
    pub(super) types: (&'a [Type], &'a [ArrayType]),
}

impl Lane<'_> {
    pub(super) fn set(&mut self, variable: Variable, value: i64) {
        self.frame.variables[variable] = self.types.0[variable].wrap(value);
    }

    pub(super) fn statements(&mut self, body: &[Statement]) -> Flow {
        for statement in body {
            match self.statement(statement) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &Statement) -> Flow {
        match statement {
            Statement::Set(variable, value) => {
                let value = self.expression(value);
                self.set(*variable, value);
            }
            Statement::SetElement(array, index, value) => {
                let (index, value) = (self.index(index, self.types.1[*array].length), self.expression(value));
                self.frame.arrays[*array][index] = self.types.1[*array].element.wrap(value);
            }
            Statement::UpdateVector(array, operator, value) => {
                let value = self.expression(value);
                let element = self.types.1[*array].element;
                let vector = &mut self.frame.arrays[*array];
                vector.rotate_left(1);
                for component in vector {
                    *component = element.wrap(binary(*operator, Type::Ulong, *component, element.wrap(value)));
                }
            }
            Statement::Output(index, value) => {
                let (index, value) = (self.index(index, OUTPUTS), self.expression(value));
                let out = &mut self.results.out[self.number * OUTPUTS + index];
                *out = out.wrapping_add(value as u32);
            }
            Statement::Count(index, value) => {
                let (index, value) = (self.index(index, COUNTERS), self.expression(value));
                self.results.counters[index] = self.results.counters[index].wrapping_add(value as u32);
            }
            Statement::ThroughPointer(condition, first, second, value) => {
                let (array, index) = if self.condition(condition) { first } else { second };
                let ArrayType { element, length, .. } = self.types.1[*array];
                let (index, value) = (self.index(index, length), element.wrap(self.expression(value)));
                let target = &mut self.frame.arrays[*array][index];
                *target = element.wrap(*target ^ value);
            }
            Statement::If(condition, then, other) => {
                return if self.condition(condition) { self.statements(then) } else { self.statements(other) };
            }
            Statement::Loop(a_loop) => return self.a_loop(a_loop),
            Statement::Switch(value, cases) => {
                let value = self.index(value, 8) as u32;
                let labelled = cases.iter().position(|case| case.labels.contains(&value));
                let start = labelled.or_else(|| cases.iter().position(|case| case.labels.is_empty()));
                for case in start.map_or(&[][..], |start| &cases[start..]) {
                    match self.statements(&case.body) {
                        Flow::Next if case.breaks => break,
                        Flow::Next => {}
                        Flow::Break => break,
                        flow => return flow,
                    }
                }
            }
            Statement::Break => return Flow::Break,
            Statement::Continue => return Flow::Continue,
            Statement::Return(value) => {
                return Flow::Return(value.as_ref().map_or(0, |value| Type::Uint.wrap(self.expression(value))));
            }
            Statement::Call(variable, function, a, b, array) => {
                let (a, b) = (self.expression(a), self.expression(b));
                let result = self.call(*function, a, b, *array);
                self.set(*variable, result);
            }
        }
        Flow::Next
    }

    fn a_loop(&mut self, a_loop: &Loop) -> Flow {
        let mut count = 0;
        loop {
            // `while` counts before it compares the rest of its condition, the others afterwards.
            let is_first_of_do = a_loop.kind == LoopKind::DoWhile && count == 0;
            self.set(a_loop.counter, count);
            if !is_first_of_do {
                let bound = self.loop_bound(a_loop);
                if a_loop.kind == LoopKind::While {
                    self.set(a_loop.counter, count + 1);
                }
                if count >= bound || !a_loop.condition.as_ref().is_none_or(|condition| self.condition(condition)) {
                    return Flow::Next;
                }
            }
            match self.statements(&a_loop.body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                flow => return flow,
            }
            count += 1;
        }
    }

    fn loop_bound(&mut self, a_loop: &Loop) -> i64 {
        self.index(&a_loop.bound, 8) as i64
    }

    fn call(&mut self, function: usize, a: i64, b: i64, array: Array) -> i64 {
        let program = self.program;
        let function = &program.functions[function];
        let mut frame = Frame::new(function.variables.len(), &function.arrays);
        frame.variables[0] = Type::Uint.wrap(a);
        frame.variables[1] = Type::Uint.wrap(b);
        frame.arrays[0] = std::mem::take(&mut self.frame.arrays[array]);
        let types = (function.variables.as_slice(), function.arrays.as_slice());
        let (number, lane) = (self.number, self.lane);
        let mut callee = Lane { program, results: self.results, number, lane, frame: &mut frame, types };
        let flow = callee.statements(&function.body);
        self.frame.arrays[array] = std::mem::take(&mut frame.arrays[0]);
        match flow {
            Flow::Return(value) => value,
            _ => 0,
        }
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Compare(comparison, ty, a, b) => {
                let (a, b) = (ty.wrap(self.expression(a)), ty.wrap(self.expression(b)));
                let order = if *ty == Type::Ulong { (a as u64).cmp(&(b as u64)) } else { a.cmp(&b) };
                match comparison {
                    Comparison::Less => order.is_lt(),
                    Comparison::LessEqual => order.is_le(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterEqual => order.is_ge(),
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                }
            }
            Condition::Not(inner) => !self.condition(inner),
            Condition::And(a, b) => self.condition(a) && self.condition(b),
            Condition::Or(a, b) => self.condition(a) || self.condition(b),
            Condition::Bump(variable, limit) => {
                let value = self.frame.variables[*variable];
                self.set(*variable, value + 1);
                value < i64::from(*limit)
            }
        }
    }

    pub(super) fn index(&mut self, index: &Expression, length: usize) -> usize {
        self.expression(index) as usize & (length - 1)
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> i64 {
        match expression {
            Expression::Literal(ty, value) => ty.wrap(*value),
            Expression::Variable(variable) => self.frame.variables[*variable],
            Expression::Thread => self.number as i64,
            Expression::Lane => self.lane as i64,
            Expression::Uniform => i64::from(self.program.uniform),
            Expression::Element(array, index) => {
                let index = self.index(index, self.types.1[*array].length);
                self.frame.arrays[*array][index]
            }
            Expression::Input(index) => i64::from(self.program.input[self.index(index, INPUTS)]),
            Expression::Table(index) => i64::from(self.program.table[self.index(index, TABLE)]),
            Expression::Cast(ty, value) => ty.wrap(self.expression(value)),
            Expression::Binary(operator, ty, a, b) => {
                let (a, b) = (ty.wrap(self.expression(a)), ty.wrap(self.expression(b)));
                ty.wrap(binary(*operator, *ty, a, b))
            }
            Expression::Negate(ty, value) => ty.wrap(ty.wrap(self.expression(value)).wrapping_neg()),
            Expression::Complement(ty, value) => ty.wrap(!ty.wrap(self.expression(value))),
            Expression::CountOnes(value) => i64::from((self.expression(value) as u32).count_ones()),
            Expression::LeadingZeros(value) => i64::from((self.expression(value) as u32).leading_zeros()),
            Expression::Float(a, b, c) => {
                let (a, b, c) = (self.expression(a) & 1023, self.expression(b) & 1023, self.expression(c) & 1023);
                a * b + c
            }
            Expression::Choice(condition, a, b) => {
                let chosen = if self.condition(condition) { a } else { b };
                Type::Uint.wrap(self.expression(chosen))
            }
            Expression::Truth(condition) => i64::from(self.condition(condition)),
        }
    }
}

/// On operands of the type, which has 32 or 64 bits.
fn binary(operator: Operator, ty: Type, a: i64, b: i64) -> i64 {
    let count = (b & i64::from(ty.bits() - 1)) as u32;
    let divisor = b & 255 | 1;
    let is_ulong = ty == Type::Ulong;
    match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Subtract => a.wrapping_sub(b),
        Operator::Multiply => a.wrapping_mul(b),
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::ShiftLeft => a.wrapping_shl(count),
        Operator::ShiftRight if is_ulong => (a as u64 >> count) as i64,
        Operator::ShiftRight => a >> count,
        Operator::Divide if is_ulong => (a as u64 / divisor as u64) as i64,
        Operator::Divide => a / divisor,
        Operator::Remainder if is_ulong => (a as u64 % divisor as u64) as i64,
        Operator::Remainder => a % divisor,
        Operator::Min if is_ulong => (a as u64).min(b as u64) as i64,
        Operator::Min => a.min(b),
        Operator::Max if is_ulong => (a as u64).max(b as u64) as i64,
        Operator::Max => a.max(b),
        Operator::Rotate if ty.bits() == 32 => i64::from((a as u32).rotate_left(count)),
        Operator::Rotate => (a as u64).rotate_left(count) as i64,
    }
}
