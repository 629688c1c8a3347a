use super::element::{FLOATS, INTEGERS};
use super::*;
use inkwell::context::Context;

/// The reduction of the active lanes, in exact arithmetic where the operation is exact.
fn integer_reference(element: Element, operation: &str, active: &[u64]) -> u64 {
    let numbers = active.iter().map(|&bits| element.integer(bits));
    let result = match operation {
        "sum" => numbers.sum(),
        "product" => numbers.fold(1i128, |a, b| element.integer(element.bits_of_integer(a.wrapping_mul(b)))),
        "min" => numbers.min().unwrap(),
        "max" => numbers.max().unwrap(),
        "and" => numbers.fold(-1, |a, b| a & b),
        "or" => numbers.fold(0, |a, b| a | b),
        "xor" => numbers.fold(0, |a, b| a ^ b),
        _ => unreachable!(),
    };
    element.bits_of_integer(result)
}

fn active(lanes: &[u64], mask: u32) -> Vec<u64> {
    (0..32).filter(|&lane| is_active(mask, lane)).map(|lane| lanes[lane]).collect()
}

#[test]
fn reductions_of_integers_are_exact() {
    let operations = ["sum", "product", "min", "max", "and", "or", "xor"];
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in INTEGERS {
            for operation in operations {
                let name = format!("air.simd_{operation}.{}", element.suffix());
                let number = machine.add(&[element], &[element], |i| {
                    vec![call(i.b, &name, &[i.values[0]], i.mask, element.ty(i.b.context()))]
                });
                cases.push((element, operation, number));
            }
        }
        machine.compile();
        let mut random = Random(1);
        for (element, operation, number) in cases {
            for mask in masks(&mut random) {
                let data = element.random_lanes(&mut random);
                let expected = integer_reference(element, operation, &active(&data, mask));
                let found = machine.call(number, &[&data], mask);
                assert_eq!(
                    found[0], [expected; 32],
                    "simd_{operation} of {element:?}, mask {mask:08x}, {features:?}"
                );
            }
        }
    }
}

#[test]
fn reductions_of_floating_point_are_accurate() {
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in FLOATS {
            for operation in ["sum", "product", "min", "max"] {
                let name = format!("air.simd_{operation}.{}", element.suffix());
                let number = machine.add(&[element], &[element], |i| {
                    vec![call(i.b, &name, &[i.values[0]], i.mask, element.ty(i.b.context()))]
                });
                cases.push((element, operation, number));
            }
        }
        machine.compile();
        let mut random = Random(2);
        for (element, operation, number) in cases {
            for mask in masks(&mut random) {
                // An inactive lane may hold anything.
                let mut data = element.random_lanes(&mut random);
                for lane in (0..32).filter(|&lane| !is_active(mask, lane)) {
                    data[lane] = element.bits_of_real([f64::NAN, f64::INFINITY][lane % 2]);
                }
                let reals = || active(&data, mask).into_iter().map(|bits| element.real(bits));
                let (expected, error) = match operation {
                    "sum" => (reals().sum(), 2e-6 + 4.0 * element.epsilon()),
                    "product" => {
                        let product: f64 = reals().product();
                        // Small products of half numbers are denormal.
                        (product, product.abs() * 4.0 * element.epsilon() + 1e-7)
                    }
                    "min" => (reals().fold(f64::INFINITY, f64::min), 0.0),
                    _ => (reals().fold(f64::NEG_INFINITY, f64::max), 0.0),
                };
                let error = if operation == "sum" { error * expected.abs().max(1.0) } else { error };
                for bits in &machine.call(number, &[&data], mask)[0] {
                    let found = element.real(*bits);
                    assert!(
                        (found - expected).abs() <= error,
                        "simd_{operation} of {element:?}, mask {mask:08x}, {features:?}: {found}, not {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn minimum_and_maximum_ignore_nans_and_keep_infinities() {
    let context = Context::create();
    for flags in [0, 0x7f] {
        let mut machine = Machine::new(&context, targets()[0]);
        let numbers = ["air.simd_min.f32", "air.simd_max.f32"].map(|name| {
            machine.add(&[Element::F32], &[Element::F32], |i| {
                let call = Call {
                    name,
                    arguments: &[vec![i.values[0]]],
                    mask: i.mask,
                    result: Type::float(i.b.context()),
                    fast_math: flags,
                };
                emit(i.b, &call).unwrap().unwrap()
            })
        });
        machine.compile();
        let mut data: Vec<u64> = (0..32).map(|lane| Element::F32.bits_of_real(f64::from(lane))).collect();
        if flags == 0 {
            // With fast math a NaN may give anything.
            for lane in [0, 3, 4, 15, 16, 31] {
                data[lane] = Element::F32.bits_of_real(f64::NAN);
            }
            assert_eq!(Element::F32.real(machine.call(numbers[0], &[&data], u32::MAX)[0][5]), 1.0);
            assert_eq!(Element::F32.real(machine.call(numbers[1], &[&data], u32::MAX)[0][5]), 30.0);
        }
        data.fill(Element::F32.bits_of_real(f64::NEG_INFINITY));
        assert_eq!(Element::F32.real(machine.call(numbers[1], &[&data], 0xff0)[0][0]), f64::NEG_INFINITY);
        data.fill(Element::F32.bits_of_real(f64::INFINITY));
        assert_eq!(Element::F32.real(machine.call(numbers[0], &[&data], 0xff0)[0][0]), f64::INFINITY);
    }
}
