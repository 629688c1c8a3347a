//! Generates programs from a seed.

use super::program::*;
use crate::numbers::Random;

/// The program of a seed, always the same.
pub(super) fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let (grid, group) = shape(&mut random);
    let is_full = group.iter().product::<usize>() % 32 == 0 && (0..3).all(|axis| grid[axis] % group[axis] == 0);
    let functions = (0..random.below(3)).map(|index| function(&mut random, index)).collect::<Vec<_>>();
    // Threads that have returned take no part in later items, and must not miss a barrier.
    let returns = random.chance(2);
    let mut generator = Generator {
        random: &mut random,
        variables: Vec::new(),
        arrays: Vec::new(),
        counters: Vec::new(),
        functions: functions.len(),
        returns: returns.then_some(false),
        budget: 0,
    };
    generator.declare();
    generator.budget = 10 + generator.random.below(40);
    let items =
        generator.items(Together { can_shuffle: is_full && !returns, can_wait: !returns, ..Together::default() });
    let (variables, arrays) = (generator.variables, generator.arrays);
    let uniform = random.next() as u32;
    let input = (0..INPUTS).map(|_| random.number() as u32).collect();
    let table = (0..TABLE).map(|_| random.number() as i32).collect();
    Program { functions, variables, arrays, items, grid, group, uniform, input, table }
}

fn shape(random: &mut Random) -> ([usize; 3], [usize; 3]) {
    let group = random.pick(&[
        [32, 1, 1],
        [64, 1, 1],
        [96, 1, 1],
        [128, 1, 1],
        [32, 2, 1],
        [7, 1, 1],
        [40, 1, 1],
        [8, 4, 1],
        [5, 3, 2],
        [1, 1, 33],
    ]);
    let mut grid = group;
    for size in &mut grid {
        *size *= 1 + random.below(2);
    }
    if random.chance(2) {
        grid[random.below(3)] += random.below(5);
    }
    (grid, group)
}

fn function(random: &mut Random, callable: usize) -> Function {
    let mut generator = Generator {
        random,
        variables: vec![Type::Uint; 2],
        arrays: vec![ArrayType { kind: ArrayKind::Plain, element: PARAMETER.0, length: PARAMETER.1 }],
        counters: Vec::new(),
        functions: callable,
        returns: Some(true),
        budget: 0,
    };
    generator.declare();
    generator.budget = 4 + generator.random.below(12);
    let body = generator.body(StatementContext::default());
    Function { variables: generator.variables, arrays: generator.arrays, body }
}

struct Generator<'a> {
    random: &'a mut Random,
    variables: Vec<Type>,
    arrays: Vec<ArrayType>,
    /// Loop counters: only their loop writes them.
    counters: Vec<Variable>,
    /// Number of callable functions.
    functions: usize,
    /// `None` if threads may not return; `Some(true)` if they return a value.
    returns: Option<bool>,
    /// Statements left.
    budget: usize,
}

/// Context of an item.
#[derive(Clone, Copy, Default)]
struct Together {
    depth: usize,
    /// True if all 32 lanes are active.
    can_shuffle: bool,
    /// True if all threads of the threadgroup are active.
    can_wait: bool,
    /// True in a loop that threads may leave.
    in_loop: bool,
}

/// Context of a statement.
#[derive(Clone, Copy, Default)]
struct StatementContext {
    depth: usize,
    loops: usize,
    can_break: bool,
    can_continue: bool,
}

impl StatementContext {
    fn inside(self) -> StatementContext {
        StatementContext { depth: self.depth + 1, ..self }
    }
}

impl Generator<'_> {
    fn declare(&mut self) {
        for _ in 0..2 + self.random.below(4) {
            let ty = self.random.pick(&Type::ALL);
            self.variables.push(ty);
        }
        // The counter of conditions.
        self.variables.push(Type::Uint);
        self.arrays.push(ArrayType { kind: ArrayKind::Plain, element: PARAMETER.0, length: PARAMETER.1 });
        for _ in 0..self.random.below(3) {
            let element = self.random.pick(&Type::ALL);
            let vector = self.random.chance(3);
            let (kind, length) =
                if vector { (ArrayKind::Vector, 4) } else { (ArrayKind::Plain, self.random.pick(&[1, 2, 4, 16])) };
            self.arrays.push(ArrayType { kind, element, length });
        }
    }

    fn items(&mut self, place: Together) -> Vec<GroupStatement> {
        let inside = Together { depth: place.depth + 1, ..place };
        // Not all threads get there.
        let apart = Together { can_shuffle: false, can_wait: false, ..inside };
        let mut items = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            items.push(match self.random.below(10) {
                0 | 1 => GroupStatement::Simd(self.target(), self.collective(place.can_shuffle), self.value(2)),
                2 if place.can_wait => GroupStatement::Exchange(self.target(), self.value(2), self.value(2)),
                3 if place.depth < 3 => {
                    let condition = self.condition(2, true);
                    GroupStatement::If(condition, self.items(apart), self.items(apart))
                }
                4 if place.depth < 2 => {
                    let counter = self.counter();
                    GroupStatement::Repeat(counter, self.items(Together { in_loop: false, ..inside }))
                }
                5 if place.depth < 2 => {
                    let (bound, counter) = (self.value(1), self.counter());
                    GroupStatement::Loop(counter, bound, self.items(Together { in_loop: true, ..apart }))
                }
                6 if place.in_loop => GroupStatement::BreakIf(self.condition(1, true)),
                7 if place.in_loop => GroupStatement::ContinueIf(self.condition(1, true)),
                _ => {
                    self.budget = self.budget.max(6);
                    GroupStatement::Alone(self.body(StatementContext::default()))
                }
            });
        }
        items
    }

    fn collective(&mut self, can_shuffle: bool) -> Collective {
        use Collective::*;
        let always =
            [Sum, Min, Max, And, Or, Xor, PrefixInclusive, PrefixExclusive, Ballot, Any, All, First, IsFirst];
        match can_shuffle && self.random.chance(3) {
            true => self.random.pick(&[Shuffle, ShuffleXor, RotateDown]),
            false => self.random.pick(&always),
        }
    }

    fn counter(&mut self) -> Variable {
        self.variables.push(Type::Uint);
        self.counters.push(self.variables.len() - 1);
        self.variables.len() - 1
    }

    /// A variable to write to.
    fn target(&mut self) -> Variable {
        loop {
            let variable = self.random.below(self.variables.len());
            if !self.counters.contains(&variable) {
                return variable;
            }
        }
    }

    fn body(&mut self, place: StatementContext) -> Vec<Statement> {
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(5) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            body.push(self.statement(place));
        }
        body
    }

    fn statement(&mut self, place: StatementContext) -> Statement {
        let nests = place.depth < 5;
        match self.random.below(20) {
            0..=2 if nests => {
                let condition = self.condition(2, true);
                let then = self.body(place.inside());
                let other = if self.random.chance(2) { self.body(place.inside()) } else { Vec::new() };
                Statement::If(condition, then, other)
            }
            3..=4 if nests && place.loops < 3 => self.a_loop(place),
            5 if nests => self.switch(place),
            6 if place.can_break => Statement::If(self.condition(1, true), vec![Statement::Break], Vec::new()),
            7 if place.can_continue => {
                Statement::If(self.condition(1, true), vec![Statement::Continue], Vec::new())
            }
            8 if place.can_break && place.depth > 2 => Statement::Break,
            9 if place.can_continue && place.depth > 2 => Statement::Continue,
            10 => match self.returns {
                Some(with_value) if place.depth > 0 => {
                    let value = with_value.then(|| self.value(2));
                    Statement::If(self.condition(2, true), vec![Statement::Return(value)], Vec::new())
                }
                _ => Statement::Set(self.target(), self.value(3)),
            },
            11 => Statement::Count(self.value(1), self.value(2)),
            12 | 13 => Statement::Output(self.value(1), self.value(2)),
            14 | 15 => {
                let array = self.random.below(self.arrays.len());
                Statement::SetElement(array, self.value(1), self.value(2))
            }
            16 => match self.arrays.iter().position(|array| array.kind == ArrayKind::Vector) {
                Some(vector) if self.random.chance(2) => {
                    let operator = self.random.pick(&[Operator::Add, Operator::Multiply, Operator::Xor]);
                    Statement::UpdateVector(vector, operator, self.value(2))
                }
                _ => self.through_pointer(),
            },
            17 if self.functions > 0 => {
                let (a, b) = (self.value(2), self.value(2));
                Statement::Call(self.target(), self.random.below(self.functions), a, b, 0)
            }
            _ => Statement::Set(self.target(), self.value(3)),
        }
    }

    fn a_loop(&mut self, place: StatementContext) -> Statement {
        let kind = self.random.pick(&[LoopKind::For, LoopKind::While, LoopKind::DoWhile]);
        let bound = match self.random.below(3) {
            0 => Expression::Literal(Type::Uint, 1 + self.random.below(6) as i64),
            1 => Expression::Uniform,
            _ => self.value(1),
        };
        let condition = self.random.chance(3).then(|| self.condition(1, true));
        // It does not exist yet where the bound is made: a bound must not read it.
        let counter = self.counter();
        let place =
            StatementContext { loops: place.loops + 1, can_break: true, can_continue: true, ..place.inside() };
        Statement::Loop(Loop { kind, counter, bound, condition, body: self.body(place) })
    }

    fn switch(&mut self, place: StatementContext) -> Statement {
        let value = self.value(2);
        let place = StatementContext { can_break: true, ..place.inside() };
        let mut labels: Vec<u32> = (0..8).collect();
        let mut cases = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let count = 1 + self.random.below(2);
            let chosen = (0..count).map(|_| labels.remove(self.random.below(labels.len()))).collect();
            cases.push(Case { labels: chosen, body: self.body(place), breaks: self.random.below(3) > 0 });
        }
        if self.random.chance(2) {
            let default = Case { labels: Vec::new(), body: self.body(place), breaks: self.random.chance(2) };
            cases.insert(self.random.below(cases.len() + 1), default);
        }
        Statement::Switch(value, cases)
    }

    fn through_pointer(&mut self) -> Statement {
        let is_plain = |array: &ArrayType| array.kind == ArrayKind::Plain;
        let first = self.random.below(self.arrays.len());
        let second = self.random.below(self.arrays.len());
        let fits = is_plain(&self.arrays[first])
            && is_plain(&self.arrays[second])
            && self.arrays[first].element == self.arrays[second].element;
        let (first, second) = if fits { (first, second) } else { (0, 0) };
        let (first, second) = ((first, self.value(1)), (second, self.value(1)));
        Statement::ThroughPointer(self.condition(1, true), first, second, self.value(2))
    }

    /// `effects`: true if it may change variables. It may not inside an expression, where C++ has no order.
    fn condition(&mut self, depth: usize, effects: bool) -> Condition {
        let inner = |generator: &mut Self| Box::new(generator.condition(depth - 1, effects));
        match self.random.below(10) {
            0 if depth > 0 => Condition::Not(inner(self)),
            1 | 2 if depth > 0 => Condition::And(inner(self), inner(self)),
            3 | 4 if depth > 0 => Condition::Or(inner(self), inner(self)),
            5 if effects => match self.target() {
                variable if self.variables[variable] == Type::Uint => {
                    Condition::Bump(variable, 1 + self.random.below(6) as u32)
                }
                _ => self.comparison(depth),
            },
            _ => self.comparison(depth),
        }
    }

    fn comparison(&mut self, depth: usize) -> Condition {
        use Comparison::*;
        let comparison = self.random.pick(&[Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual]);
        let ty = self.random.pick(&Type::ALL);
        // Often about equal for some threads, so that both ways are taken.
        let (a, b) = match self.random.below(3) {
            0 => (self.value(depth), self.value(depth)),
            1 => (small(self.value(depth), 7), Expression::Literal(Type::Uint, self.random.below(8) as i64)),
            _ => (small(Expression::Lane, 31), Expression::Literal(Type::Uint, self.random.below(32) as i64)),
        };
        Condition::Compare(comparison, ty, a, b)
    }

    fn value(&mut self, depth: usize) -> Expression {
        if depth == 0 || self.random.chance(4) {
            return self.leaf();
        }
        let inner = |generator: &mut Self| Box::new(generator.value(depth - 1));
        match self.random.below(16) {
            0..=6 => self.binary(depth),
            7 => Expression::Cast(self.random.pick(&Type::ALL), inner(self)),
            8 => Expression::Negate(self.random.pick(&[Type::Uint, Type::Ulong]), inner(self)),
            9 => Expression::Complement(
                self.random.pick(&[Type::Int, Type::Uint, Type::Long, Type::Ulong]),
                inner(self),
            ),
            10 => Expression::CountOnes(inner(self)),
            11 => Expression::LeadingZeros(inner(self)),
            12 => Expression::Float(inner(self), inner(self), inner(self)),
            13 => Expression::Choice(Box::new(self.condition(depth - 1, false)), inner(self), inner(self)),
            14 => Expression::Truth(Box::new(self.condition(depth - 1, false))),
            _ => self.element(depth - 1),
        }
    }

    fn binary(&mut self, depth: usize) -> Expression {
        use Operator::*;
        let anywhere = [And, Or, Xor, ShiftRight, Divide, Remainder, Min, Max];
        let unsigned = [Add, Add, Subtract, Subtract, Multiply, ShiftLeft, Rotate];
        let (operator, ty) = if self.random.chance(2) {
            (self.random.pick(&anywhere), self.random.pick(&[Type::Int, Type::Uint, Type::Long, Type::Ulong]))
        } else {
            (self.random.pick(&unsigned), self.random.pick(&[Type::Uint, Type::Uint, Type::Ulong]))
        };
        Expression::Binary(operator, ty, Box::new(self.value(depth - 1)), Box::new(self.value(depth - 1)))
    }

    fn element(&mut self, depth: usize) -> Expression {
        let index = Box::new(self.value(depth));
        match self.random.below(4) {
            0 => Expression::Input(index),
            1 => Expression::Table(index),
            _ => Expression::Element(self.random.below(self.arrays.len()), index),
        }
    }

    fn leaf(&mut self) -> Expression {
        match self.random.below(12) {
            0 => Expression::Thread,
            1 => Expression::Lane,
            2 => Expression::Uniform,
            3 | 4 => {
                let ty = self.random.pick(&[Type::Int, Type::Uint, Type::Long, Type::Ulong, Type::Short]);
                Expression::Literal(ty, ty.wrap(self.random.number()))
            }
            5 | 6 => self.element(0),
            _ => Expression::Variable(self.random.below(self.variables.len())),
        }
    }
}

fn small(value: Expression, mask: i64) -> Expression {
    let mask = Expression::Literal(Type::Uint, mask);
    Expression::Binary(Operator::And, Type::Uint, Box::new(value), Box::new(mask))
}
