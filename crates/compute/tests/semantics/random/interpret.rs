//! Runs a program directly: each thread on its own, statement by statement; only [`GroupStatement`]s involve several threads.

use super::lane::{Flow, Frame, Lane};
use super::program::*;

/// Results of a program.
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
    away: Option<Away>,
    frame: Frame,
}

/// The reason why a thread takes no part in the following items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Away {
    /// Until the next iteration of the loop around it.
    Continued,
    /// Until after the loop around it.
    Broken,
    Returned,
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
                    threads.push(Thread { number, lane: threads.len() % 32, away: None, frame });
                }
            }
        }
        Threadgroup { program, results, threads }
    }

    fn run(mut self) {
        let everyone: Vec<usize> = (0..self.threads.len()).collect();
        self.items(&self.program.items, everyone);
        for thread in self.threads.iter().filter(|thread| thread.away.is_none()) {
            for (variable, value) in thread.frame.variables.iter().enumerate() {
                let out = &mut self.results.out[thread.number * OUTPUTS + variable % OUTPUTS];
                *out = out.wrapping_add(*value as u32);
            }
        }
    }

    /// Runs items with those of the given threads that are active.
    fn items(&mut self, items: &[GroupStatement], mut active: Vec<usize>) {
        for item in items {
            active.retain(|thread| self.threads[*thread].away.is_none());
            match item {
                GroupStatement::Alone(body) => {
                    for thread in &active {
                        if let Flow::Return(_) = self.lane(*thread).statements(body) {
                            self.threads[*thread].away = Some(Away::Returned);
                        }
                    }
                }
                GroupStatement::Simd(variable, collective, value) => {
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
                GroupStatement::Exchange(variable, value, index) => {
                    let shared: Vec<i64> =
                        active.iter().map(|thread| self.lane(*thread).expression(value) as u32 as i64).collect();
                    for thread in &active {
                        let index = self.lane(*thread).expression(index) as u32 as usize;
                        self.lane(*thread).set(*variable, shared[index % shared.len()]);
                    }
                }
                GroupStatement::If(condition, then, other) => {
                    let (yes, no): (Vec<usize>, Vec<usize>) =
                        active.iter().partition(|thread| self.lane(**thread).condition(condition));
                    self.items(then, yes);
                    self.items(other, no);
                }
                GroupStatement::Repeat(counter, body) => {
                    let bound = Expression::Literal(Type::Uint, i64::from(self.program.uniform & 3) + 1);
                    self.a_loop(*counter, &bound, body, active.clone());
                }
                GroupStatement::Loop(counter, bound, body) => self.a_loop(*counter, bound, body, active.clone()),
                GroupStatement::BreakIf(condition) => self.leave(&active, condition, Away::Broken),
                GroupStatement::ContinueIf(condition) => self.leave(&active, condition, Away::Continued),
            }
        }
    }

    /// Runs a loop that threads leave one after the other.
    fn a_loop(&mut self, counter: Variable, bound: &Expression, body: &[GroupStatement], threads: Vec<usize>) {
        let mut active = threads.clone();
        for iteration in 0.. {
            for thread in &active {
                self.lane(*thread).set(counter, iteration);
            }
            active.retain(|thread| (iteration as usize) < self.lane(*thread).index(bound, 8));
            if active.is_empty() {
                break;
            }
            self.items(body, active.clone());
            self.come_back(&active, Away::Continued);
            active.retain(|thread| self.threads[*thread].away.is_none());
        }
        self.come_back(&threads, Away::Broken);
    }

    fn leave(&mut self, threads: &[usize], condition: &Condition, how: Away) {
        for thread in threads {
            if self.lane(*thread).condition(condition) {
                self.threads[*thread].away = Some(how);
            }
        }
    }

    fn come_back(&mut self, threads: &[usize], from: Away) {
        for thread in threads {
            self.threads[*thread].away.take_if(|away| *away == from);
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
