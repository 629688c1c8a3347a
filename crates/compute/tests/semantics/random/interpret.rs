//! Runs a program directly: each thread on its own, statement by statement; only [`Item`]s involve several threads.

use super::program::*;

/// What a program leaves behind.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Results {
    pub(super) out: Vec<u32>,
    pub(super) counters: Vec<u32>,
}

/// Runs all threads of a program.
pub(super) fn interpret(program: &Program) -> Results {
    let [width, height, depth] = program.grid;
    let mut results = Results { out: vec![0; width * height * depth * OUTPUTS], counters: vec![0; COUNTERS] };
    let steps = |axis: usize| (0..program.grid[axis]).step_by(program.group[axis]);
    for z in steps(2) {
        for y in steps(1) {
            for x in steps(0) {
                Threadgroup::new(program, [x, y, z], &mut results).run();
            }
        }
    }
    results
}

struct Threadgroup<'a> {
    program: &'a Program,
    results: &'a mut Results,
    threads: Vec<Thread>,
}

struct Thread {
    number: usize,
    lane: usize,
    has_returned: bool,
    frame: Frame,
}

/// The variables of a call.
struct Frame {
    variables: Vec<i64>,
    arrays: Vec<Vec<i64>>,
}

/// How a statement ended.
enum Flow {
    Next,
    Break,
    Continue,
    Return(i64),
}

impl<'a> Threadgroup<'a> {
    fn new(program: &'a Program, first: [usize; 3], results: &'a mut Results) -> Threadgroup<'a> {
        let mut threads = Vec::new();
        let range = |axis: usize| first[axis]..(first[axis] + program.group[axis]).min(program.grid[axis]);
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let number = (z * program.grid[1] + y) * program.grid[0] + x;
                    let frame = Frame::new(program.variables.len(), &program.arrays);
                    threads.push(Thread { number, lane: threads.len() % 32, has_returned: false, frame });
                }
            }
        }
        Threadgroup { program, results, threads }
    }

    fn run(mut self) {
        let everyone: Vec<usize> = (0..self.threads.len()).collect();
        self.items(&self.program.items, everyone);
        for thread in self.threads.iter().filter(|thread| !thread.has_returned) {
            for (variable, value) in thread.frame.variables.iter().enumerate() {
                let out = &mut self.results.out[thread.number * OUTPUTS + variable % OUTPUTS];
                *out = out.wrapping_add(*value as u32);
            }
        }
    }

    /// Runs items with those of the given threads that have not returned.
    fn items(&mut self, items: &[Item], mut active: Vec<usize>) {
        for item in items {
            active.retain(|thread| !self.threads[*thread].has_returned);
            match item {
                Item::Alone(body) => {
                    for thread in &active {
                        if let Flow::Return(_) = self.lane(*thread).statements(body) {
                            self.threads[*thread].has_returned = true;
                        }
                    }
                }
                Item::Simd(variable, collective, value) => {
                    for simdgroup in active.chunk_by(|a, b| a / 32 == b / 32) {
                        let lanes: Vec<(usize, u32)> = simdgroup
                            .iter()
                            .map(|thread| (thread % 32, self.lane(*thread).expression(value) as u32))
                            .collect();
                        for (thread, result) in simdgroup.iter().zip(combine(*collective, &lanes)) {
                            self.lane(*thread).set(*variable, i64::from(result));
                        }
                    }
                }
                Item::Exchange(variable, value, index) => {
                    let shared: Vec<i64> =
                        active.iter().map(|thread| self.lane(*thread).expression(value) as u32 as i64).collect();
                    for thread in &active {
                        let index = self.lane(*thread).expression(index) as u32 as usize;
                        self.lane(*thread).set(*variable, shared[index % shared.len()]);
                    }
                }
                Item::If(condition, then, other) => {
                    let (yes, no): (Vec<usize>, Vec<usize>) =
                        active.iter().partition(|thread| self.lane(**thread).condition(condition));
                    self.items(then, yes);
                    self.items(other, no);
                }
                Item::Repeat(counter, body) => {
                    let count = i64::from(self.program.uniform & 3) + 1;
                    for iteration in 0..=count {
                        active.retain(|thread| !self.threads[*thread].has_returned);
                        for thread in &active {
                            self.lane(*thread).set(*counter, iteration);
                        }
                        if iteration < count {
                            self.items(body, active.clone());
                        }
                    }
                }
            }
        }
    }

    fn lane(&mut self, thread: usize) -> Lane<'_> {
        let Thread { number, lane, frame, .. } = &mut self.threads[thread];
        let program = self.program;
        let types = (program.variables.as_slice(), program.arrays.as_slice());
        Lane { program, results: self.results, number: *number, lane: *lane, frame, types }
    }
}

/// The result of a SIMD-group function in each of the active lanes.
fn combine(collective: Collective, lanes: &[(usize, u32)]) -> Vec<u32> {
    let values = || lanes.iter().map(|(_, value)| *value);
    let all_get = |value: u32| vec![value; lanes.len()];
    // Shuffles are only made where all 32 lanes are active.
    let from = |source: fn(usize, u32) -> usize| {
        lanes.iter().map(|(lane, value)| lanes[source(*lane, *value)].1).collect()
    };
    match collective {
        Collective::Sum => all_get(values().fold(0, u32::wrapping_add)),
        Collective::Min => all_get(values().min().unwrap_or(0)),
        Collective::Max => all_get(values().max().unwrap_or(0)),
        Collective::And => all_get(values().fold(!0, |a, b| a & b)),
        Collective::Or => all_get(values().fold(0, |a, b| a | b)),
        Collective::Xor => all_get(values().fold(0, |a, b| a ^ b)),
        Collective::PrefixInclusive => values()
            .scan(0u32, |sum, value| {
                *sum = sum.wrapping_add(value);
                Some(*sum)
            })
            .collect(),
        Collective::PrefixExclusive => {
            values().scan(0u32, |sum, value| Some(std::mem::replace(sum, sum.wrapping_add(value)))).collect()
        }
        Collective::Ballot => all_get(lanes.iter().fold(0, |bits, (lane, value)| bits | (value & 1) << lane)),
        Collective::Any => all_get(u32::from(values().any(|value| value & 7 == 1))),
        Collective::All => all_get(u32::from(values().all(|value| value & 7 != 1))),
        Collective::First => all_get(lanes.first().map_or(0, |lane| lane.1)),
        Collective::IsFirst => {
            values().enumerate().map(|(index, value)| value.wrapping_add(u32::from(index == 0))).collect()
        }
        Collective::Shuffle => from(|_, value| (value >> 3 & 31) as usize),
        Collective::ShuffleXor => from(|lane, _| lane ^ 5),
        Collective::RotateDown => from(|lane, _| (lane + 3) % 32),
    }
}

impl Frame {
    fn new(variables: usize, arrays: &[ArrayType]) -> Frame {
        Frame { variables: vec![0; variables], arrays: arrays.iter().map(|array| vec![0; array.length]).collect() }
    }
}

/// One thread in one call.
struct Lane<'a> {
    program: &'a Program,
    results: &'a mut Results,
    number: usize,
    lane: usize,
    frame: &'a mut Frame,
    types: (&'a [Type], &'a [ArrayType]),
}

impl Lane<'_> {
    fn set(&mut self, variable: Variable, value: i64) {
        self.frame.variables[variable] = self.types.0[variable].wrap(value);
    }

    fn statements(&mut self, body: &[Statement]) -> Flow {
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

    fn condition(&mut self, condition: &Condition) -> bool {
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

    fn index(&mut self, index: &Expression, length: usize) -> usize {
        self.expression(index) as usize & (length - 1)
    }

    fn expression(&mut self, expression: &Expression) -> i64 {
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
