//! Writes the function of a cycle.

use super::frames::Frame;
use super::passing::Passing;
use super::{ALIGNMENT, RESULT, calls_among, source_name};
use crate::calls::{STACK, cost, fail_function, graph};
use crate::ir::{Block, Builder, IntPredicate, Layout, Opcode, Rewrite, Type, Value};
use crate::thread::{Error, Result};

/// The bytes of a stack, for each thread.
const STACK_BYTES: u64 = 16 << 10;

/// The calls that a stack has room for, if they need no more than [`MOST_BYTES`].
const LEAST_FRAMES: u64 = 64;

const MOST_BYTES: u64 = 256 << 10;

/// The largest frame, so that a stack has room for some.
const MOST_FRAME: u64 = 64 << 10;

/// The blocks between a call and a return that are looked at.
const MOST_BLOCKS: usize = 16;

/// The state after the last return.
const EXIT: i64 = 0;

/// A function of the cycle.
struct Member<'m> {
    function: Value<'m>,
    start: Block<'m>,
    /// The variables of the cycle that its parameters arrive in.
    parameters: Vec<Value<'m>>,
    /// The variable of the cycle for its result.
    result: Option<Value<'m>>,
    sites: Vec<Site<'m>>,
    frame: Frame<'m>,
}

/// A call of a member.
struct Site<'m> {
    call: Value<'m>,
    callee: usize,
    /// The block after the call.
    resume: Block<'m>,
    /// The caller returns the result, and needs its frame no more.
    is_last: bool,
}

/// Converts all cycles. The functions are left without recursion; messages of failures are added.
pub(in crate::calls) fn convert(rewrite: &Rewrite, failures: &mut Vec<String>) -> Result<()> {
    for (number, cycle) in graph::groups(rewrite.module()).into_iter().enumerate() {
        Machine::new(rewrite, &cycle, number, failures)?.write();
    }
    Ok(())
}

struct Machine<'m> {
    rewrite: &'m Rewrite<'m>,
    b: Builder<'m>,
    layout: Layout<'m>,
    int: Type<'m>,
    /// The function of the cycle.
    function: Value<'m>,
    passing: Passing<'m>,
    members: Vec<Member<'m>>,
    stack: Value<'m>,
    state: Value<'m>,
    /// The offset of the current frame.
    frame: Value<'m>,
    dispatch: Block<'m>,
    overflow: Block<'m>,
    capacity: u64,
    /// The blocks that each state begins with.
    states: Vec<(i64, Block<'m>)>,
}

impl<'m> Machine<'m> {
    fn new(
        rewrite: &'m Rewrite<'m>,
        cycle: &[Value<'m>],
        number: usize,
        failures: &mut Vec<String>,
    ) -> Result<Machine<'m>> {
        let module = rewrite.module();
        let (context, layout) = (module.context(), Layout::of(module));
        let b = Builder::new(module);
        let (int, pointer) = (Type::int(context, 32), Type::pointer(context));
        let passing = Passing::new(cycle);
        let mut types = vec![int];
        types.extend(passing.results.iter().map(|_| pointer));
        types.extend(&passing.parameters);
        let function = module.add_function("cycle", Type::void(context).function(&types));
        function.make_internal();
        let [entry, dispatch, exit, overflow] =
            ["entry", "dispatch", "exit", "overflow"].map(|name| Block::append(function, name));
        b.at_end(entry);
        let variable = |ty: Type<'m>| b.alloca(ty, layout.align(ty));
        let (state, frame) = (variable(int), variable(int));
        let arguments = function.parameters();
        let (places, arguments) = arguments[1..].split_at(passing.results.len());
        let results: Vec<Value<'m>> = passing.results.iter().map(|&ty| variable(ty)).collect();
        let arrivals: Vec<Value<'m>> = passing.parameters.iter().map(|&ty| variable(ty)).collect();
        for (&arrival, &argument) in arrivals.iter().zip(arguments) {
            b.store(argument, arrival, layout.align(argument.ty()));
        }
        let mut members = Vec::new();
        for &member in cycle {
            let arrives = passing.arrives(member);
            let parameters: Vec<Value<'m>> = arrives.iter().map(|&position| arrivals[position]).collect();
            take_parameters(&b, layout, member, &parameters);
            b.at_end(entry);
            let sites = sites(cycle, member);
            let resumes: Vec<Block<'m>> =
                sites.iter().filter(|site| !site.is_last).map(|site| site.resume).collect();
            let frame = Frame::new(member, &resumes, layout);
            let result = passing.result(member).map(|position| results[position]);
            members.push(Member { function: member, start: member.blocks()[0], parameters, result, sites, frame });
        }
        let largest = members.iter().map(|member| member.frame.size).max().unwrap_or(16);
        if largest > MOST_FRAME {
            return Err(Error::Unsupported(format!(
                "recursion of '{}', which needs {largest} bytes of private memory for each call,",
                source_name(cycle[0])
            )));
        }
        let capacity = STACK_BYTES.max((LEAST_FRAMES * largest).min(MOST_BYTES)) / 16 * 16;
        failures.push(format!(
            "call stack of {capacity} bytes exhausted: recursion deeper than {}",
            capacity / largest
        ));
        let stack = module.add_function(&format!("{STACK}{number}.{capacity}"), pointer.function(&[]));
        let stack = b.call(stack, &[]);
        b.store(int.constant(EXIT), stack, 4);
        b.store(function.parameters()[0], state, 4);
        b.store(int.zero(), frame, 4);
        b.branch(dispatch);
        b.at_end(exit);
        for (&variable, &place) in results.iter().zip(places) {
            let ty = variable.allocated_type();
            b.store(b.load(ty, variable, layout.align(ty)), place, layout.align(ty));
        }
        b.ret();
        b.at_end(overflow);
        b.call(fail_function(module), &[int.constant(failures.len() as i64)]);
        b.unreachable();
        let states = vec![(EXIT, exit)];
        Ok(Machine {
            rewrite,
            b,
            layout,
            int,
            function,
            passing,
            members,
            stack,
            state,
            frame,
            dispatch,
            overflow,
            capacity,
            states,
        })
    }

    fn write(mut self) {
        let starts: Vec<i64> = (0..self.members.len()).map(|member| 1 + member as i64).collect();
        let members = std::mem::take(&mut self.members);
        self.states.extend(starts.iter().copied().zip(members.iter().map(|member| member.start)));
        for member in &members {
            for site in &member.sites {
                self.call(site, member, &members[site.callee], starts[site.callee]);
            }
            self.returns(member);
            self.variables(member);
            for block in member.function.blocks() {
                block.move_to(self.function);
            }
        }
        self.b.at_end(self.dispatch);
        let state = self.b.load(self.int, self.state, 4);
        self.b.switch(state, self.states[0].1, &self.states[1..]);
        for (member, &start) in members.iter().zip(&starts) {
            self.enter(member, start);
        }
    }

    /// The address of the byte at `offset` in the current frame.
    fn address(&self, offset: u64) -> Value<'m> {
        let frame = self.b.load(self.int, self.frame, 4);
        self.at(self.b.add(frame, self.int.constant(offset as i64)))
    }

    fn at(&self, offset: Value<'m>) -> Value<'m> {
        self.b.offset(self.stack, self.b.zext(offset, Type::int(self.b.context(), 64)))
    }

    /// Goes to a state.
    fn go(&self, state: Value<'m>) {
        self.b.store(state, self.state, 4);
        self.b.branch(self.dispatch);
    }

    fn call(&mut self, site: &Site<'m>, caller: &Member<'m>, callee: &Member<'m>, start: i64) {
        let (block, arguments) = (site.call.block(), site.call.arguments());
        self.rewrite.erase_terminator(block);
        self.b.at_end(block);
        let frame = self.b.load(self.int, self.frame, 4);
        let begin = match site.is_last {
            true => frame,
            false => self.b.add(frame, self.int.constant(caller.frame.size as i64)),
        };
        if !site.is_last || callee.frame.size > caller.frame.size {
            let most = self.int.constant((self.capacity - callee.frame.size) as i64);
            let fits = self.b.icmp(IntPredicate::LLVMIntULE, begin, most);
            let push = Block::append(block.function(), "push");
            self.b.branch_if(fits, push, self.overflow);
            self.b.at_end(push);
        }
        for (&argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            self.b.store(argument, parameter, self.layout.align(argument.ty()));
        }
        if !site.is_last {
            let state = self.states.len() as i64;
            self.b.store(self.int.constant(state), self.at(begin), 4);
            self.b.store(begin, self.frame, 4);
            self.states.push((state, site.resume));
        }
        self.go(self.int.constant(start));
        if let Some(result) = callee.result
            && let Some(variable) = result_variable(site.resume)
        {
            variable.replace_all_uses_with(result);
        }
        self.rewrite.erase(site.call);
        if !site.is_last {
            self.b.before(site.resume.first_instruction().expect("a block has an end"));
            let frame = self.b.load(self.int, self.frame, 4);
            self.b.store(self.b.sub(frame, self.int.constant(caller.frame.size as i64)), self.frame, 4);
        }
    }

    fn returns(&self, member: &Member<'m>) {
        for block in member.function.blocks() {
            let Some(end) = block.terminator().filter(|end| end.is(Opcode::LLVMRet)) else { continue };
            let value = end.operands().first().copied();
            self.rewrite.erase_terminator(block);
            self.b.at_end(block);
            if let (Some(value), Some(result)) = (value, member.result) {
                self.b.store(value, result, self.layout.align(value.ty()));
            }
            let state = self.b.load(self.int, self.address(0), 4);
            self.go(state);
        }
    }

    /// Moves the variables of a function to its frame, or to the start of the cycle.
    fn variables(&self, member: &Member<'m>) {
        for &variable in &member.frame.outside {
            if variable.has_use() {
                self.b.before(self.stack);
                let ty = variable.allocated_type();
                variable.replace_all_uses_with(self.b.alloca(ty, variable.alignment().max(1)));
            }
            self.rewrite.erase(variable);
        }
        let start = member.start.instructions();
        for variable in start.into_iter().filter(|one| one.is(Opcode::LLVMAlloca)) {
            let Some(slot) = member.frame.offsets.get(&variable) else { continue };
            for user in variable.users() {
                self.b.before(user);
                let address = self.address(slot.offset);
                if slot.is_plain {
                    self.access(user, address);
                } else {
                    for (index, operand) in user.operands().into_iter().enumerate() {
                        if operand == variable {
                            user.set_operand(index, address);
                        }
                    }
                }
            }
            self.rewrite.erase(variable);
        }
    }

    /// Puts an access to a frame in the place of one to a variable. Small integers are 32 bits there.
    fn access(&self, user: Value<'m>, address: Value<'m>) {
        let is_load = user.is(Opcode::LLVMLoad);
        let ty = if is_load { user.ty() } else { user.operand(0).ty() };
        let wide = ty.is_int() && ty.int_bits() < 32;
        let memory = if wide { self.int } else { ty };
        let align = self.layout.align(memory).min(ALIGNMENT);
        if is_load {
            let value = self.b.load(memory, address, align);
            user.replace_all_uses_with(if wide { self.b.trunc(value, ty) } else { value });
        } else {
            let value = user.operand(0);
            self.b.store(if wide { self.b.zext(value, memory) } else { value }, address, align);
        }
        self.rewrite.erase(user);
    }

    /// The new body of a function: it starts the cycle.
    fn enter(&self, member: &Member<'m>, start: i64) {
        let b = &self.b;
        member.function.remove_text_attribute(cost::KEPT);
        b.at_end(Block::append(member.function, "entry"));
        let place = |&ty: &Type<'m>| b.alloca(ty, self.layout.align(ty));
        let places: Vec<Value<'m>> = self.passing.results.iter().map(place).collect();
        let mut parameters: Vec<Value<'m>> = self.passing.parameters.iter().map(|ty| ty.poison()).collect();
        for (position, parameter) in
            self.passing.arrives(member.function).into_iter().zip(member.function.parameters())
        {
            parameters[position] = parameter;
        }
        b.call(self.function, &[&[self.int.constant(start)], &places[..], &parameters].concat());
        match self.passing.result(member.function) {
            Some(position) => {
                let ty = self.passing.results[position];
                b.ret_value(b.load(ty, places[position], self.layout.align(ty)));
            }
            None => b.ret(),
        }
    }
}

/// Has a function read its parameters from the variables that they arrive in. Each gets a variable of its own, which
/// may have to outlive a call.
fn take_parameters<'m>(b: &Builder<'m>, layout: Layout<'m>, function: Value<'m>, arrive: &[Value<'m>]) {
    let start = function.blocks()[0];
    for (parameter, &arrives) in function.parameters().into_iter().zip(arrive) {
        if !parameter.has_use() {
            continue;
        }
        let (ty, align) = (parameter.ty(), layout.align(parameter.ty()));
        let users = parameter.users();
        b.before(start.first_instruction().expect("a block has an end"));
        let own = b.alloca(ty, align);
        for user in users {
            for (index, operand) in user.operands().into_iter().enumerate() {
                if operand == parameter {
                    b.before(user);
                    user.set_operand(index, b.load(ty, own, align));
                }
            }
        }
        let first = start.instructions().into_iter().find(|one| !one.is(Opcode::LLVMAlloca));
        b.before(first.expect("a block has an end"));
        b.store(b.load(ty, arrives, align), own, align);
    }
}

/// The calls in a function of members of its cycle.
fn sites<'m>(cycle: &[Value<'m>], function: Value<'m>) -> Vec<Site<'m>> {
    let site = |call: Value<'m>| {
        let callee = cycle.iter().position(|&other| Some(other) == call.callee()).expect("a member");
        let resume = call.block().terminator().expect("a block has an end").successors()[0];
        Site { call, callee, resume, is_last: call.is_tail_call() && only_returns(resume) }
    };
    calls_among(cycle, function).into_iter().map(site).collect()
}

/// True if a function does nothing after a call but return its result.
fn only_returns(resume: Block<'_>) -> bool {
    // The result itself, and the variables that it is copied to on the way.
    let mut same: Vec<Value> = result_variable(resume).into_iter().collect();
    let mut block = resume;
    for _ in 0..MOST_BLOCKS {
        for instruction in block.instructions() {
            match instruction.opcode() {
                Opcode::LLVMLoad if same.contains(&instruction.operand(0)) => same.push(instruction),
                Opcode::LLVMStore if same.contains(&instruction.operand(0)) => {
                    if !instruction.operand(1).is(Opcode::LLVMAlloca) {
                        return false;
                    }
                    same.push(instruction.operand(1));
                }
                Opcode::LLVMRet => return instruction.operands().iter().all(|value| same.contains(value)),
                Opcode::LLVMBr if instruction.condition().is_none() => {}
                _ => return false,
            }
        }
        let Some(&[next]) = block.terminator().map(Value::successors).as_deref() else { return false };
        block = next;
    }
    false
}

/// The variable that a call leaves its result in, which the block after it reads first.
fn result_variable(resume: Block<'_>) -> Option<Value<'_>> {
    let first = resume.first_instruction().filter(|first| first.is(Opcode::LLVMLoad))?;
    let variable = first.operand(0);
    (variable.is(Opcode::LLVMAlloca) && variable.name().starts_with(RESULT)).then_some(variable)
}
