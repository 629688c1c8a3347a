//! Random floating-point expressions in safe math: every operation rounds as IEEE 754 requires, nothing is reordered, a
//! product and the sum that it is an operand of are one operation unless a pragma forbids it, and so Rust gets the same
//! bits.

use crate::numbers::{Random, seeds};
use crate::table::Table;
use half::f16;

const THREADS: usize = 70;

enum Expression {
    Input(usize),
    Literal(f32),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Fma(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The third or the fourth, as the first is less than the second.
    Choice([Box<Expression>; 4]),
}

/// The Metal text, with `$` for the operand, and the Rust function.
type Unary = (&'static str, fn(f32) -> f32);
type Binary = (&'static str, fn(f32, f32) -> f32);

const UNARY: &[Unary] = &[
    ("(-$)", |x| -x),
    ("fabs($)", f32::abs),
    ("sqrt(fabs($))", |x| x.abs().sqrt()),
    ("floor($)", f32::floor),
    ("ceil($)", f32::ceil),
    ("trunc($)", f32::trunc),
    ("rint($)", f32::round_ties_even),
    ("round($)", f32::round),
    ("float(half($))", |x| f16::from_f32(x).to_f32()),
    ("float(bfloat($))", |x| half::bf16::from_f32(x).to_f32()),
    ("float(int($))", |x| x as i32 as f32),
    ("float(uchar($))", |x| f32::from(x as u8)),
    ("as_type<float>(as_type<uint>($) ^ 0x80000000u)", |x| f32::from_bits(x.to_bits() ^ 0x8000_0000)),
    ("fmin($, 2.5f)", |x| x.min(2.5)),
    ("fmax($, -0.75f)", |x| x.max(-0.75)),
    ("float(isnan($))", |x| f32::from(u8::from(x.is_nan()))),
    ("(float2($, 3.0f) * float2(0.5f)).x", |x| x * 0.5),
    ("select(1.0f, $, $ == $)", |x| if x.is_nan() { 1.0 } else { x }),
];

const BINARY: &[Binary] = &[
    ("(@ + $)", |a, b| a + b),
    ("(@ - $)", |a, b| a - b),
    ("(@ * $)", |a, b| a * b),
    ("(@ / $)", |a, b| a / b),
    // The sign of a NaN is anything.
    ("copysign(@, fmax($, -1.0f))", |a, b| a.copysign(b.max(-1.0))),
    ("float(@ < $)", |a, b| f32::from(u8::from(a < b))),
    ("float(!(@ >= $))", |a, b| 1.0 - f32::from(u8::from(a >= b))),
    ("dot(float2(@, 0.0f), float2($, 1.0f))", |a, b| a * b + 0.0),
];

fn generate(random: &mut Random, depth: usize) -> Expression {
    if depth == 0 || random.chance(6) {
        return match random.chance(3) {
            true => Expression::Literal(random.pick(&[0.0, 1.0, -1.0, 0.1, 1e4, -3.75, 0.333])),
            false => Expression::Input(random.below(3)),
        };
    }
    let inner = |random: &mut Random| Box::new(generate(random, depth - 1));
    match random.below(10) {
        0..4 => Expression::Binary(random.pick(&BINARY[..4]), inner(random), inner(random)),
        4 | 5 => Expression::Binary(random.pick(BINARY), inner(random), inner(random)),
        6 => Expression::Fma(inner(random), inner(random), inner(random)),
        7 => Expression::Choice([0; 4].map(|_| inner(random))),
        _ => Expression::Unary(random.pick(UNARY), inner(random)),
    }
}

impl Expression {
    fn print(&self) -> String {
        match self {
            Expression::Input(which) => ["x", "y", "z"][*which].into(),
            Expression::Literal(value) => format!("({value:?}f)"),
            Expression::Unary((text, _), a) => text.replace('$', &a.print()),
            Expression::Binary((text, _), a, b) => text.replace('$', &b.print()).replace('@', &a.print()),
            Expression::Fma(a, b, c) => format!("fma({}, {}, {})", a.print(), b.print(), c.print()),
            Expression::Choice(parts) => {
                let [a, b, c, d] = parts.each_ref().map(|part| part.print());
                format!("({a} < {b} ? {c} : {d})")
            }
        }
    }

    fn evaluate(&self, inputs: [f32; 3], fuses: bool) -> f32 {
        let value = |expression: &Expression| expression.evaluate(inputs, fuses);
        match self {
            Expression::Input(which) => inputs[*which],
            Expression::Literal(number) => *number,
            Expression::Unary((_, f), a) => f(value(a)),
            Expression::Binary((text, f), a, b) => {
                let sign = match *text {
                    "(@ + $)" if fuses => 1.0,
                    "(@ - $)" if fuses => -1.0,
                    _ => return f(value(a), value(b)),
                };
                match (a.product(), b.product()) {
                    (Some((x, y, negative)), _) => (negative * value(x)).mul_add(value(y), sign * value(b)),
                    (_, Some((x, y, negative))) => (sign * negative * value(x)).mul_add(value(y), value(a)),
                    _ => f(value(a), value(b)),
                }
            }
            Expression::Fma(a, b, c) => value(a).mul_add(value(b), value(c)),
            Expression::Choice([a, b, c, d]) => {
                if value(a) < value(b) {
                    value(c)
                } else {
                    value(d)
                }
            }
        }
    }

    /// The factors of a product, and its sign.
    fn product(&self) -> Option<(&Expression, &Expression, f32)> {
        match self {
            Expression::Binary(("(@ * $)", _), a, b) => Some((a, b, 1.0)),
            Expression::Unary(("(-$)", _), a) => match &**a {
                Expression::Binary(("(@ * $)", _), a, b) => Some((a, b, -1.0)),
                _ => None,
            },
            _ => None,
        }
    }

    fn parts(&self) -> Vec<&Expression> {
        match self {
            Expression::Input(_) | Expression::Literal(_) => Vec::new(),
            Expression::Unary(_, a) => vec![a],
            Expression::Binary(_, a, b) => vec![a, b],
            Expression::Fma(a, b, c) => vec![a, b, c],
            Expression::Choice(parts) => parts.iter().map(|part| &**part).collect(),
        }
    }

    fn is_constant(&self) -> bool {
        !matches!(self, Expression::Input(_)) && self.parts().into_iter().all(Expression::is_constant)
    }

    /// True if there is a product of constants in it: one that the compiler computes is not fused.
    fn has_constant_product(&self) -> bool {
        self.product().is_some_and(|(a, b, _)| a.is_constant() && b.is_constant())
            || self.parts().into_iter().any(Expression::has_constant_product)
    }
}

/// Numbers of ordinary size, so that no result is flushed to zero; and some special ones.
fn inputs(seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let special = [0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.5, 65520.0];
    let mut ordinary = || (random.below(2_000_001) as f32 - 1_000_000.0) / 4096.0;
    (0..THREADS).map(|i| if i % 4 == 1 { special[i / 4 % 8] } else { ordinary() }).collect()
}

#[test]
fn random_expressions_round_as_ieee_says() {
    let (x, y, z) = (&inputs(111), &inputs(112), &inputs(113));
    let table = || Table::new("random expressions").safe().input("x", x).input("y", y).input("z", z);
    let (mut fused, mut separate) = (table(), table().without_contraction());
    let (first, count) = seeds(64);
    for seed in first..first + count {
        let expression = std::rc::Rc::new(generate(&mut Random::new(seed), 4));
        let text = expression.print();
        if !expression.has_constant_product() {
            let expression = expression.clone();
            fused.exact(&text, move |i| expression.evaluate([x[i], y[i], z[i]], true));
        }
        separate.exact(&text, move |i| expression.evaluate([x[i], y[i], z[i]], false));
    }
    fused.run();
    separate.run();
}
