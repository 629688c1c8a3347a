//! `elementwise.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::operations::{
    Binary, BinaryFunction, Copy, Scale, Unary, UnaryFunction, binary, copy, scale, unary,
};

/// Around the shares of a simdgroup and of a threadgroup.
const LENGTHS: [usize; 8] = [1, 2, 31, 32, 33, 1000, 1024, 1025];

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Random numbers, and the ends of the range, where exponentials overflow or vanish.
fn numbers(random: &mut Random, n: usize) -> Vec<f64> {
    let mut numbers: Vec<f64> = random.normals(n).into_iter().map(|value| value * 3.0).collect();
    for (number, edge) in numbers.iter_mut().rev().zip([-300.0, 60.0, 0.0, -88.0, -12.0, 300.0]) {
        *number = edge;
    }
    numbers
}

fn gelu(x: f64) -> f64 {
    x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

#[test]
fn functions_of_one_number() {
    let silu = |x: f64| x * sigmoid(x);
    let relu_squared = |x: f64| x.max(0.0).powi(2);
    let functions: [(UnaryFunction, &dyn Fn(f64) -> f64); 3] =
        [(UnaryFunction::Silu, &silu), (UnaryFunction::Gelu, &gelu), (UnaryFunction::ReluSquared, &relu_squared)];
    for activation in Activation::ALL {
        for (function, reference) in functions {
            for n in LENGTHS {
                let what = format!("{function:?} {activation} {n}");
                // The square of 300 is no half.
                let numbers = numbers(&mut Random::new(n as u64), n).into_iter();
                let x = Tensor::new(activation, &numbers.map(|x| x.min(250.0)).collect::<Vec<f64>>());
                let y = repeated(&what, Tensor::contents, || {
                    let y = Tensor::poisoned(activation, n);
                    run(|encoding| unary(encoding, Unary { function, x: x.slice(), y: y.slice(), n, activation }));
                    y
                });
                let expected: Vec<f64> = x.numbers().into_iter().map(reference).collect();
                assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
            }
        }
    }
}

#[test]
fn functions_of_two_numbers() {
    type Reference = fn(f64, f64) -> f64;
    let functions: [(BinaryFunction, Reference); 5] = [
        (BinaryFunction::Add, |a, b| a + b),
        (BinaryFunction::Multiply, |a, b| a * b),
        (BinaryFunction::SiluMultiply, |a, b| a * sigmoid(a) * b),
        (BinaryFunction::GeluMultiply, |a, b| gelu(a) * b),
        (BinaryFunction::SigmoidGate, |a, b| a * sigmoid(b)),
    ];
    for activation in Activation::ALL {
        for (function, reference) in functions {
            for n in LENGTHS {
                let what = format!("{function:?} {activation} {n}");
                let mut random = Random::new(n as u64);
                let a = Tensor::new(activation, &numbers(&mut random, n));
                let b = Tensor::new(activation, &random.normals(n));
                let y = repeated(&what, Tensor::contents, || {
                    let y = Tensor::poisoned(activation, n);
                    let op = Binary { function, a: a.slice(), b: b.slice(), y: y.slice(), n, activation };
                    run(|encoding| binary(encoding, op));
                    y
                });
                let expected: Vec<f64> =
                    a.numbers().into_iter().zip(b.numbers()).map(|(a, b)| reference(a, b)).collect();
                assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
            }
        }
    }
}

#[test]
fn scaling_in_place() {
    for activation in Activation::ALL {
        for n in LENGTHS {
            let x = Tensor::new(activation, &Random::new(n as u64).normals(n));
            let expected: Vec<f64> = x.numbers().into_iter().map(|value| value * 0.375).collect();
            let op = Scale { x: x.slice(), y: x.slice(), n, factor: 0.375, activation };
            run(|encoding| scale(encoding, op));
            assert_close(&format!("scale {activation} {n}"), &x.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

#[test]
fn copies_round_as_the_type_does() {
    for (format, from) in [(Format::F32, Type::F32), (Format::F16, Type::F16), (Format::BF16, Type::BF16)] {
        for to in Activation::ALL {
            for n in LENGTHS {
                let x = Tensor::new(from, &Random::new(n as u64).normals(n));
                let y = Tensor::poisoned(to, n);
                run(|encoding| copy(encoding, Copy { x: x.slice(), y: y.slice(), n, from: format, to }));
                let expected = Tensor::new(to, &x.numbers()).contents();
                assert_eq!(y.contents(), expected, "copy {format} to {to}, {n}: bit for bit");
            }
        }
    }
    let x = Tensor::new(Type::F32, &[1.0; 4]);
    let op = Copy { x: x.part(0, 2), y: x.part(2, 2), n: 2, from: Format::Q8_0, to: Activation::F32 };
    let message = rejected(|encoding| copy(encoding, op));
    assert_eq!(message, "copy: q8_0 is not a type of plain numbers");
}

#[test]
fn no_elements_encode_nothing_and_short_buffers_are_rejected() {
    let x = Tensor::new(Type::F32, &[1.0; 4]);
    let op = |n| Scale { x: x.slice(), y: x.slice(), n, factor: 2.0, activation: Activation::F32 };
    run(|encoding| scale(encoding, op(0)));
    assert_eq!(x.numbers(), [1.0; 4]);
    let shifted = Scale { x: x.part(0, 3), y: x.part(1, 3), n: 3, factor: 2.0, activation: Activation::F32 };
    let message = rejected(|encoding| scale(encoding, shifted));
    assert_eq!(message, "scale: y would be written over x while that is read");
    let halves = Scale { x: x.part(0, 2), y: x.part(2, 2), n: 2, ..shifted };
    run(|encoding| scale(encoding, halves));
    assert_eq!(x.numbers(), [1.0, 1.0, 2.0, 2.0], "one half after the other");
    let message = rejected(|encoding| scale(encoding, op(5)));
    assert_eq!(message, "scale: x has 16 bytes, but 5 elements of 4 bytes are needed");
}
