use super::element::{FLOATS, INTEGERS};
use super::*;
use inkwell::context::Context;

/// The active lanes of a lane's quad.
fn quad(mask: u32, lane: usize) -> impl Iterator<Item = usize> {
    (lane & !3..(lane & !3) + 4).filter(move |&lane| is_active(mask, lane))
}

#[test]
fn reductions_of_quads() {
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in INTEGERS.into_iter().chain(FLOATS) {
            let operations: &[&str] = if element.is_float() {
                &["sum", "product", "min", "max"]
            } else {
                &["sum", "product", "min", "max", "and", "or", "xor"]
            };
            for operation in operations {
                let name = format!("air.quad_{operation}.{}", element.suffix());
                let number = machine.add(&[element], &[element], |i| {
                    vec![call(i.b, &name, &[i.values[0]], i.mask, element.ty(i.b.context()))]
                });
                cases.push((element, *operation, number));
            }
        }
        machine.compile();
        let mut random = Random(8);
        for (element, operation, number) in cases {
            for mask in masks(&mut random) {
                let data = element.random_lanes(&mut random);
                let found = &machine.call(number, &[&data], mask)[0];
                for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                    if element.is_float() {
                        let reals = quad(mask, lane).map(|lane| element.real(data[lane]));
                        let expected = match operation {
                            "sum" => reals.sum::<f64>(),
                            "product" => reals.product(),
                            "min" => reals.fold(f64::INFINITY, f64::min),
                            _ => reals.fold(f64::NEG_INFINITY, f64::max),
                        };
                        let error = 2e-6 + expected.abs() * element.epsilon() * 2.0;
                        let found = element.real(found[lane]);
                        assert!((found - expected).abs() <= error, "quad_{operation}: {found}, not {expected}");
                        continue;
                    }
                    let numbers = quad(mask, lane).map(|lane| element.integer(data[lane]));
                    let expected = match operation {
                        "sum" => numbers.sum::<i128>(),
                        "product" => numbers.fold(1, |a: i128, b| a.wrapping_mul(b)),
                        "min" => numbers.min().unwrap(),
                        "max" => numbers.max().unwrap(),
                        "and" => numbers.fold(-1, |a, b| a & b),
                        "or" => numbers.fold(0, |a, b| a | b),
                        _ => numbers.fold(0, |a, b| a ^ b),
                    };
                    assert_eq!(found[lane], element.bits_of_integer(expected), "quad_{operation} of {element:?}");
                }
            }
        }
    }
}

#[test]
fn broadcasts_in_quads() {
    let index = Element::Unsigned(16);
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let element = Element::F32;
        let broadcast = machine.add(&[element, index], &[element], |i| {
            vec![call(i.b, "air.quad_broadcast.f32", &i.values, i.mask, Type::float(i.b.context()))]
        });
        let first = machine.add(&[element], &[element], |i| {
            vec![call(i.b, "air.quad_broadcast_first.f32", &i.values, i.mask, Type::float(i.b.context()))]
        });
        machine.compile();
        let mut random = Random(9);
        for mask in masks(&mut random) {
            let data = element.random_lanes(&mut random);
            let lanes: Vec<u64> = (0..32).map(|lane| [2, 0, 3, 1, 1, 0, 3, 2][lane / 4]).collect();
            let by_lane = &machine.call(broadcast, &[&data, &lanes], mask)[0];
            let from_first = &machine.call(first, &[&data], mask)[0];
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                assert_eq!(by_lane[lane], data[(lane & !3) + lanes[lane] as usize]);
                assert_eq!(
                    from_first[lane],
                    data[quad(mask, lane).next().unwrap()],
                    "mask {mask:08x}, lane {lane}"
                );
            }
        }
    }
}

#[test]
fn votes_of_quads() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let (bool, short) = (Element::Bool, Element::Unsigned(16));
    let mut add = |name: &str, output: Element| {
        machine.add(&[bool], &[output], |i| {
            let result = output.ty(i.b.context());
            let arguments: &[Value] = if name.contains("mask") || name.contains("is_") { &[] } else { &i.values };
            vec![call(i.b, name, arguments, i.mask, result)]
        })
    };
    let any = add("air.quad_any", bool);
    let all = add("air.quad_all", bool);
    let ballot = add("air.quad_ballot", short);
    let active = add("air.quad_active_threads_mask", short);
    let first = add("air.quad_is_first", bool);
    let helper = add("air.quad_is_helper_thread", bool);
    machine.compile();
    let mut random = Random(10);
    for mask in masks(&mut random) {
        for votes in [0, u32::MAX, mask, !mask, random.bits() as u32] {
            let lanes: Vec<u64> = (0..32).map(|lane| u64::from(votes >> lane & 1)).collect();
            let run = |number: usize| machine.call(number, &[&lanes], mask)[0].clone();
            let [any, all, ballot, active, first, helper] = [any, all, ballot, active, first, helper].map(run);
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                let bits = |bits: u32| u64::from(bits >> (lane & !3) & 15);
                assert_eq!(any[lane], u64::from(bits(votes & mask) != 0));
                assert_eq!(all[lane], u64::from(bits(votes & mask) == bits(mask)));
                assert_eq!(ballot[lane], bits(votes & mask));
                assert_eq!(active[lane], bits(mask));
                assert_eq!(first[lane], u64::from(quad(mask, lane).next() == Some(lane)));
                assert_eq!(helper[lane], 0);
            }
        }
    }
}
