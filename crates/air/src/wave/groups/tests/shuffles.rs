use super::element::numbers;
use super::*;
use inkwell::context::Context;

/// The operand of a shuffle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Constant(u64),
    Uniform,
    Varying,
}

const MOVES: [&str; 6] =
    ["shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "shuffle_rotate_up", "shuffle_rotate_down"];

/// The lane that a lane of a group of `size` reads.
fn source(operation: &str, lane: usize, operand: usize, size: usize) -> usize {
    let (start, place) = (lane / size * size, lane % size);
    start
        + match operation {
            "shuffle" => operand % size,
            "shuffle_xor" => (place ^ operand) % size,
            "shuffle_up" if operand <= place => place - operand,
            "shuffle_down" if operand + place < size => place + operand,
            "shuffle_rotate_up" => (place + size - operand) % size,
            "shuffle_rotate_down" => (place + operand) % size,
            _ => place,
        }
}

fn operand_value<'m>(i: &machine::Inputs<'_, 'm>, operand: Operand, lanes: Value<'m>) -> Value<'m> {
    let short = Type::int(i.b.context(), 16);
    match operand {
        Operand::Constant(value) => splat(i.b, short.constant(value as i64)),
        Operand::Uniform => splat(i.b, i.b.extract(lanes, Type::int(i.b.context(), 64).constant(0))),
        Operand::Varying => lanes,
    }
}

fn operand_lanes(operand: Operand, size: usize, random: &mut Random) -> Vec<u64> {
    let value = random.bits() % size as u64;
    (0..32)
        .map(|_| match operand {
            Operand::Constant(value) => value,
            Operand::Uniform => value,
            Operand::Varying => random.bits() % size as u64,
        })
        .collect()
}

fn operands(size: usize) -> impl Iterator<Item = Operand> {
    (0..size as u64).map(Operand::Constant).chain([Operand::Uniform, Operand::Varying])
}

#[test]
fn shuffles_read_the_lanes_that_they_name() {
    let index = Element::Unsigned(16);
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for (group, size) in [("simd", 32), ("quad", 4)] {
            for element in numbers().chain([Element::Bool]) {
                for operation in MOVES {
                    for operand in operands(size) {
                        // All deltas for one type, some for the others.
                        if element != Element::F32 && matches!(operand, Operand::Constant(value) if value % 16 != 1)
                        {
                            continue;
                        }
                        let name = format!("air.{group}_{operation}.{}", element.suffix());
                        let number = machine.add(&[element, index], &[element], |i| {
                            let operand = operand_value(i, operand, i.values[1]);
                            vec![call(i.b, &name, &[i.values[0], operand], i.mask, element.ty(i.b.context()))]
                        });
                        cases.push((element, group, size, operation, operand, number));
                    }
                }
            }
        }
        machine.compile();
        let mut random = Random(3);
        for (element, group, size, operation, operand, number) in cases {
            for _ in 0..3 {
                let data = element.random_lanes(&mut random);
                let operands = operand_lanes(operand, size, &mut random);
                let expected: Vec<u64> =
                    (0..32).map(|lane| data[source(operation, lane, operands[lane] as usize, size)]).collect();
                let found = machine.call(number, &[&data, &operands], u32::MAX);
                assert_eq!(found[0], expected, "{group}_{operation} of {element:?} by {operand:?}, {features:?}");
            }
        }
    }
}

#[test]
fn filling_shuffles_go_on_in_the_filling_data() {
    let index = Element::Unsigned(16);
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for (group, size, modulos) in
            [("simd", 32, vec![None, Some(32), Some(16), Some(2)]), ("quad", 4, vec![None, Some(4), Some(2)])]
        {
            for element in [Element::F32, Element::F16, Element::Unsigned(8), Element::Signed(64)] {
                for up in [true, false] {
                    for &modulo in &modulos {
                        let width = modulo.unwrap_or(size);
                        for operand in operands(width).filter(|&operand| operand != Operand::Varying) {
                            let direction = if up { "up" } else { "down" };
                            let name = format!("air.{group}_shuffle_and_fill_{direction}.{}", element.suffix());
                            let number = machine.add(&[element, element, index], &[element], |i| {
                                let mut arguments = i.values[..2].to_vec();
                                arguments.push(operand_value(i, operand, i.values[2]));
                                if let Some(modulo) = modulo {
                                    arguments
                                        .push(splat(i.b, Type::int(i.b.context(), 16).constant(modulo as i64)));
                                }
                                vec![call(i.b, &name, &arguments, i.mask, element.ty(i.b.context()))]
                            });
                            cases.push((element, name, up, width, operand, number));
                        }
                    }
                }
            }
        }
        machine.compile();
        let mut random = Random(4);
        for (element, name, up, width, operand, number) in cases {
            let data = element.random_lanes(&mut random);
            let filling = element.random_lanes(&mut random);
            let deltas = operand_lanes(operand, width, &mut random);
            let delta = deltas[0] as usize;
            let expected: Vec<u64> = (0..32)
                .map(|lane| {
                    let (start, place) = (lane / width * width, lane % width);
                    match up {
                        true if place >= delta => data[lane - delta],
                        true => filling[start + place + width - delta],
                        false if place + delta < width => data[lane + delta],
                        false => filling[start + place + delta - width],
                    }
                })
                .collect();
            let found = machine.call(number, &[&data, &filling, &deltas], u32::MAX);
            assert_eq!(found[0], expected, "{name} by {operand:?} in {width}, {features:?}");
        }
    }
}

#[test]
fn broadcasts_give_all_lanes_the_same() {
    let index = Element::Unsigned(16);
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in numbers() {
            let name = format!("air.simd_broadcast.{}", element.suffix());
            for operand in operands(32) {
                let number = machine.add(&[element, index], &[element], |i| {
                    vec![call(
                        i.b,
                        &name,
                        &[i.values[0], operand_value(i, operand, i.values[1])],
                        i.mask,
                        element.ty(i.b.context()),
                    )]
                });
                cases.push((element, Some(operand), number));
            }
            let name = format!("air.simd_broadcast_first.{}", element.suffix());
            let number = machine.add(&[element, index], &[element], |i| {
                vec![call(i.b, &name, &[i.values[0]], i.mask, element.ty(i.b.context()))]
            });
            cases.push((element, None, number));
        }
        machine.compile();
        let mut random = Random(5);
        for (element, operand, number) in cases {
            for mask in masks(&mut random) {
                let data = element.random_lanes(&mut random);
                let mut lanes = operand_lanes(operand.unwrap_or(Operand::Uniform), 32, &mut random);
                let first = mask.trailing_zeros() as usize;
                if operand == Some(Operand::Varying) {
                    // The same in all active lanes, garbage elsewhere.
                    let lane = lanes[first];
                    (0..32).filter(|&other| is_active(mask, other)).for_each(|other| lanes[other] = lane);
                    (0..32).filter(|&other| !is_active(mask, other)).for_each(|other| lanes[other] = 0xabcd);
                }
                let source = if operand.is_some() { lanes[first] as usize } else { first };
                let found = machine.call(number, &[&data, &lanes], mask);
                assert_eq!(
                    found[0], [data[source]; 32],
                    "{element:?} by {operand:?}, mask {mask:08x}, {features:?}"
                );
            }
        }
    }
}

#[test]
fn every_component_of_a_vector_is_moved() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let element = Element::Unsigned(32);
    let number = machine.add(&[element, element], &[element, element], |i| {
        let delta = splat(i.b, Type::int(i.b.context(), 16).constant(1));
        let call = Call {
            name: "air.simd_shuffle_down.u.v2i32",
            arguments: &[i.values.clone(), vec![delta]],
            mask: i.mask,
            result: Type::int(i.b.context(), 32).vector(2),
            fast_math: 0,
        };
        emit(i.b, &call).unwrap().unwrap()
    });
    machine.compile();
    let (low, high): (Vec<u64>, Vec<u64>) = (0..32).map(|lane| (lane, 100 + lane)).unzip();
    let found = machine.call(number, &[&low, &high], u32::MAX);
    assert_eq!(found[0][..3], [1, 2, 3]);
    assert_eq!(found[1][29..], [130, 131, 131]);
}
