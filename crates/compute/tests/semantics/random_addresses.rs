//! Random addresses computed from the positions of a thread. The compiler distinguishes many shapes of them (uniform,
//! rising by a constant, wrapping around) and treats each differently.

use crate::harness::{TestLibrary, expect};
use crate::numbers::{Random, seeds};
use std::fmt::Write;

/// Elements of the buffer that is read, and of each that is written.
const LENGTH: usize = 4096;
/// Expressions in one kernel.
const BATCH: usize = 12;

const SHAPES: &[([usize; 2], [usize; 2])] = &[
    ([256, 1], [64, 1]),
    ([150, 1], [50, 1]),
    ([96, 3], [32, 1]),
    ([64, 4], [32, 2]),
    ([40, 5], [8, 4]),
    ([1, 70], [1, 64]),
];

/// Values that a thread has, by their names in the kernel.
const NAMES: [&str; 7] = ["x", "y", "local", "lane", "group", "width", "given"];
type Thread = [u32; 7];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Uchar => "uchar",
            Type::Short => "short",
            Type::Ushort => "ushort",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Long => "long",
            Type::Ulong => "ulong",
        }
    }

    fn wrap(self, value: i64) -> i64 {
        match self {
            Type::Uchar => i64::from(value as u8),
            Type::Short => i64::from(value as i16),
            Type::Ushort => i64::from(value as u16),
            Type::Int => i64::from(value as i32),
            Type::Uint => i64::from(value as u32),
            Type::Long | Type::Ulong => value,
        }
    }
}

enum Expression {
    Known(usize),
    Literal(i64),
    Cast(Type, Box<Expression>),
    /// In `uint` or `ulong`, where everything wraps around.
    Binary(char, Type, Box<Expression>, Box<Expression>),
    /// The smaller one, as `uint`.
    Least(Box<Expression>, i64),
    /// The first where a thread is below a number, the second elsewhere.
    Choice(usize, i64, Box<Expression>, Box<Expression>),
}

fn generate(random: &mut Random, depth: usize) -> Expression {
    if depth == 0 || random.chance(7) {
        return match random.chance(4) {
            true => Expression::Literal(literal(random)),
            // The numbers that differ between neighbours, more often than not.
            false => Expression::Known(random.pick(&[0, 0, 0, 1, 2, 2, 3, 3, 4, 5, 6])),
        };
    }
    let inner = |random: &mut Random| Box::new(generate(random, depth - 1));
    let ty = random.pick(&[Type::Uint, Type::Uint, Type::Uint, Type::Ulong]);
    let by = |random: &mut Random| Box::new(Expression::Literal(literal(random)));
    match random.below(16) {
        0..3 => Expression::Binary('+', ty, inner(random), inner(random)),
        3 => Expression::Binary('-', ty, inner(random), inner(random)),
        4 => Expression::Binary('-', ty, by(random), inner(random)),
        5 | 6 => Expression::Binary('*', ty, inner(random), by(random)),
        7 => Expression::Binary('l', ty, inner(random), Box::new(Expression::Literal(random.below(9) as i64))),
        8 => Expression::Binary('r', ty, inner(random), Box::new(Expression::Literal(random.below(9) as i64))),
        9 => Expression::Binary('&', ty, inner(random), by(random)),
        10 => Expression::Binary(random.pick(&['|', '^']), ty, inner(random), by(random)),
        11 => Expression::Binary(random.pick(&['/', '%']), ty, inner(random), by(random)),
        12 => Expression::Least(inner(random), literal(random)),
        13 => Expression::Choice(random.below(4), literal(random) & 63, inner(random), inner(random)),
        _ => {
            let types = [Type::Uchar, Type::Short, Type::Ushort, Type::Int, Type::Uint, Type::Long, Type::Ulong];
            Expression::Cast(random.pick(&types), inner(random))
        }
    }
}

/// Not zero: it may be divided by.
fn literal(random: &mut Random) -> i64 {
    match random.below(5) {
        0 => 1 << random.below(12),
        1 => (1 << (1 + random.below(12))) - 1,
        2 => i64::from(u32::MAX) - random.below(300) as i64,
        3 => i64::from(u32::MAX) << random.below(7) & i64::from(u32::MAX),
        _ => 1 + random.below(40) as i64,
    }
}

impl Expression {
    fn print(&self) -> String {
        match self {
            Expression::Known(which) => NAMES[*which].into(),
            Expression::Literal(value) => format!("{value}u"),
            Expression::Cast(ty, a) => format!("{}({})", ty.name(), a.print()),
            Expression::Binary(operator, ty, a, b) => {
                let (ty, a, b) = (ty.name(), a.print(), b.print());
                let operator = match operator {
                    'l' => "<<".into(),
                    'r' => ">>".into(),
                    operator => operator.to_string(),
                };
                format!("({ty}({a}) {operator} {ty}({b}))")
            }
            Expression::Least(a, limit) => format!("min(uint({}), {limit}u)", a.print()),
            Expression::Choice(which, limit, a, b) => {
                format!("({} < {limit}u ? ulong({}) : ulong({}))", NAMES[*which], a.print(), b.print())
            }
        }
    }

    fn evaluate(&self, thread: &Thread) -> i64 {
        match self {
            Expression::Known(which) => i64::from(thread[*which]),
            Expression::Literal(value) => *value,
            Expression::Cast(ty, a) => ty.wrap(a.evaluate(thread)),
            Expression::Binary(operator, ty, a, b) => {
                let (a, b) = (ty.wrap(a.evaluate(thread)), ty.wrap(b.evaluate(thread)));
                ty.wrap(match operator {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    '*' => a.wrapping_mul(b),
                    'l' => a << b,
                    'r' => (a as u64 >> b) as i64,
                    '&' => a & b,
                    '|' => a | b,
                    '^' => a ^ b,
                    '/' => (a as u64 / b as u64) as i64,
                    _ => (a as u64 % b as u64) as i64,
                })
            }
            Expression::Least(a, limit) => Type::Uint.wrap(a.evaluate(thread)).min(*limit),
            Expression::Choice(which, limit, a, b) => {
                if i64::from(thread[*which]) < *limit {
                    a.evaluate(thread)
                } else {
                    b.evaluate(thread)
                }
            }
        }
    }
}

/// All threads of a grid, by their place in it.
fn threads(grid: [usize; 2], group: [usize; 2], given: u32) -> Vec<Thread> {
    let mut threads = Vec::new();
    for y in 0..grid[1] {
        for x in 0..grid[0] {
            let (gx, gy) = (x / group[0], y / group[1]);
            let width = group[0].min(grid[0] - gx * group[0]);
            let local = y % group[1] * width + x % group[0];
            let number = gy * grid[0].div_ceil(group[0]) + gx;
            threads.push([x, y, local, local % 32, number, grid[0], given as usize].map(|n| n as u32));
        }
    }
    threads
}

/// An expression, and how it can be used with the threads of a shape.
struct Case {
    expression: Expression,
    /// True if no thread is out of bounds: then no mask is needed, which would hide the shape of the address.
    fits: bool,
    /// No two threads have the same: it can be written to.
    is_injective: bool,
}

impl Case {
    fn new(expression: Expression, threads: &[Thread]) -> Case {
        let mut places: Vec<i64> = threads.iter().map(|thread| expression.evaluate(thread)).collect();
        let fits = places.iter().all(|place| (0..LENGTH as i64).contains(place));
        places.sort_unstable();
        let is_injective = fits && places.windows(2).all(|pair| pair[0] != pair[1]);
        Case { expression, fits, is_injective }
    }

    fn print(&self) -> String {
        match self.fits {
            true => self.expression.print(),
            false => format!("(ulong({}) & {}ul)", self.expression.print(), LENGTH - 1),
        }
    }

    fn place(&self, thread: &Thread) -> usize {
        self.expression.evaluate(thread) as usize & (LENGTH - 1)
    }
}

fn kernel(cases: &[Case]) -> String {
    let mut text = String::from(
        "kernel void addresses(device const uint *in [[buffer(0)]], device uint *read [[buffer(1)]],
          device uint *written [[buffer(2)]], constant uint &given [[buffer(3)]], uint2 position [[thread_position_in_grid]],
          uint2 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]],
          uint lane [[thread_index_in_simdgroup]], uint2 groups [[threadgroups_per_grid]],
          uint2 group_position [[threadgroup_position_in_grid]]) {
  uint x = position.x, y = position.y, width = grid.x, group = group_position.y * groups.x + group_position.x;
  uint me = y * width + x, all = width * grid.y;
  threadgroup uchar shared[4096];
  uint mine[16];
  for (uint k = 0; k < 16; k++) mine[k] = me * k;
",
    );
    for (number, case) in cases.iter().enumerate() {
        let place = case.print();
        let _ = writeln!(text, "  {{ auto p = {place}; read[{number} * all + me] = in[p] + mine[p & 15]; }}");
        if case.is_injective {
            let _ = writeln!(
                text,
                "  {{ auto p = {place}; written[{number} * {LENGTH} + p] = me + 1u; shared[p] = 1; }}"
            );
        }
    }
    text.push_str("}\n");
    text
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let (grid, group) = random.pick(SHAPES);
    let given = random.below(70) as u32;
    let threads = threads(grid, group, given);
    let depth = 1 + random.below(4);
    let cases: Vec<Case> = (0..BATCH).map(|_| Case::new(generate(&mut random, depth), &threads)).collect();
    let data: Vec<u32> = (0..LENGTH as u32).map(|k| k.wrapping_mul(2_654_435_761)).collect();
    let text = kernel(&cases);
    let source = TestLibrary::new(&text);
    let run = source.kernel("addresses").buffer(&data).zeros::<u32>(BATCH * threads.len());
    let finished = run.zeros::<u32>(BATCH * LENGTH).bytes(&given).threads(grid, group);
    let (read, written) = (finished.read::<u32>(1), finished.read::<u32>(2));
    for (number, case) in cases.iter().enumerate() {
        let what = format!("seed {seed}, {grid:?} in {group:?}, given {given}: {}", case.print());
        let part = &read[number * threads.len()..(number + 1) * threads.len()];
        expect(&what, part, |me| {
            let place = case.place(&threads[me]);
            data[place].wrapping_add(me as u32 * (place as u32 & 15))
        });
        if case.is_injective {
            let mut expected = vec![0; LENGTH];
            for (me, thread) in threads.iter().enumerate() {
                expected[case.place(thread)] = me as u32 + 1;
            }
            expect(&what, &written[number * LENGTH..(number + 1) * LENGTH], |place| expected[place]);
        }
    }
}

#[test]
fn random_addresses_are_those_of_each_thread() {
    let (first, count) = seeds(20);
    for seed in first..first + count {
        check(seed);
    }
}
