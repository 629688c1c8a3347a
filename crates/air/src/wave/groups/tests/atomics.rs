use super::*;
use crate::wave::groups::{Atomic, atomic};
use crate::wave::lanes::lanes_of;
use inkwell::context::Context;

/// The number of objects in memory.
const OBJECTS: usize = 8;

/// The pointers of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pointers {
    /// A scalar, to the object 0.
    Uniform,
    /// A vector that is a splat.
    Splat,
    /// Each lane to an object of its choice.
    Varying,
}

const ALL: [Pointers; 3] = [Pointers::Uniform, Pointers::Splat, Pointers::Varying];

fn pointers<'m>(i: &machine::Inputs<'_, 'm>, kind: Pointers, objects: Value<'m>, element: Element) -> Value<'m> {
    let long = lanes_of(Type::int(i.b.context(), 64));
    match kind {
        Pointers::Uniform => i.memory,
        Pointers::Splat => splat(i.b, i.memory),
        Pointers::Varying => {
            let offset = i.b.mul(i.b.zext(objects, long), long.constant(element.bytes() as i64));
            i.b.offset(i.memory, offset)
        }
    }
}

fn emit_atomic<'m>(
    i: &machine::Inputs<'_, 'm>,
    name: &str,
    arguments: &[Value<'m>],
    is_result_used: bool,
) -> Vec<Value<'m>> {
    let context = i.b.context();
    let mut arguments = arguments.to_vec();
    let int = Type::int(context, 32);
    arguments.extend([int.constant(0), int.constant(2), Type::int(context, 1).constant(1)]);
    atomic(i.b, &Atomic { name, arguments: &arguments, mask: i.mask, is_result_used }).unwrap().unwrap()
}

fn modified(element: Element, operation: &str, old: u64, value: u64) -> u64 {
    if element.is_float() {
        let (old, value) = (element.real(old), element.real(value));
        return element.bits_of_real(match operation {
            "add" => old + value,
            "sub" => old - value,
            "min" => old.min(value),
            "max" => old.max(value),
            _ => value,
        });
    }
    let (old, value) = (element.integer(old), element.integer(value));
    element.bits_of_integer(match operation {
        "add" => old + value,
        "sub" => old - value,
        "min" => old.min(value),
        "max" => old.max(value),
        "and" => old & value,
        "or" => old | value,
        "xor" => old ^ value,
        _ => value,
    })
}

/// Small numbers, so that sums of floating point are exact in any order.
fn small(element: Element, random: &mut Random) -> u64 {
    if element.is_float() {
        return element.bits_of_real((random.bits() % 64) as f64 - 20.0);
    }
    element.random(random)
}

struct Memory {
    bytes: Vec<u8>,
    element: Element,
}

impl Memory {
    fn new(element: Element, random: &mut Random) -> Memory {
        let mut memory = Memory { bytes: vec![0; 8 * OBJECTS], element };
        for object in 0..OBJECTS {
            memory.set(object, small(element, random));
        }
        memory
    }

    fn get(&self, object: usize) -> u64 {
        let size = self.element.bytes();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&self.bytes[object * size..][..size]);
        u64::from_le_bytes(word)
    }

    fn set(&mut self, object: usize, bits: u64) {
        let size = self.element.bytes();
        self.bytes[object * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

const INTEGERS: [Element; 4] =
    [Element::Signed(32), Element::Unsigned(32), Element::Unsigned(64), Element::Unsigned(8)];

#[test]
fn modifications_happen_once_for_each_active_lane() {
    let index = Element::Unsigned(32);
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in INTEGERS.into_iter().chain([Element::F32]) {
            let operations: &[&str] = if element.is_float() {
                &["add", "sub", "min", "max", "xchg"]
            } else {
                &["add", "sub", "min", "max", "and", "or", "xor", "xchg"]
            };
            for operation in operations {
                let suffix = element.suffix();
                let suffix =
                    if *operation == "xchg" { suffix.trim_start_matches(['s', 'u', '.']) } else { &suffix };
                let name = format!("air.atomic.global.{operation}.{suffix}");
                for kind in ALL {
                    // The value as a vector, and as a scalar.
                    for is_uniform in [false, true] {
                        let mut add = |is_used: bool| {
                            let outputs: &[Element] = if is_used { &[element] } else { &[] };
                            machine.add(&[element, index], outputs, |i| {
                                let zero = Type::int(i.b.context(), 64).constant(0);
                                let value = if is_uniform { i.b.extract(i.values[0], zero) } else { i.values[0] };
                                let pointer = pointers(i, kind, i.values[1], element);
                                emit_atomic(i, &name, &[pointer, value], is_used)
                            })
                        };
                        cases.push((element, *operation, kind, is_uniform, add(true), add(false)));
                    }
                }
            }
        }
        machine.compile();
        let mut random = Random(13);
        for (element, operation, kind, is_uniform, with_result, without) in cases {
            for mask in masks(&mut random) {
                let uniform = small(element, &mut random);
                let values: Vec<u64> =
                    (0..32).map(|_| if is_uniform { uniform } else { small(element, &mut random) }).collect();
                let objects: Vec<u64> = (0..32)
                    .map(|_| if kind == Pointers::Varying { random.bits() % OBJECTS as u64 } else { 0 })
                    .collect();
                let mut memory = Memory::new(element, &mut random);
                let mut expected = Memory { bytes: memory.bytes.clone(), element };
                let mut results = [0; 32];
                for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                    let object = objects[lane] as usize;
                    results[lane] = expected.get(object);
                    expected.set(object, modified(element, operation, results[lane], values[lane]));
                }
                let mut other = memory.bytes.clone();
                let found = machine.call_with_memory(with_result, &[&values, &objects], &mut memory.bytes, mask);
                let what = format!("{operation} of {element:?}, {kind:?}, mask {mask:08x}, {features:?}");
                assert_eq!(memory.bytes, expected.bytes, "{what}");
                for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                    assert_eq!(found[0][lane], results[lane], "{what}, lane {lane}");
                }
                machine.call_with_memory(without, &[&values, &objects], &mut other, mask);
                assert_eq!(other, expected.bytes, "{what}");
            }
        }
    }
}

#[test]
fn loads_and_stores() {
    let index = Element::Unsigned(32);
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let mut cases = Vec::new();
    for (element, suffix) in [
        (Element::F32, "f32"),
        (Element::Signed(32), "i32"),
        (Element::Unsigned(64), "i64"),
        (Element::Unsigned(8), "i8"),
    ] {
        for kind in ALL {
            let load = machine.add(&[index], &[element], |i| {
                let pointer = pointers(i, kind, i.values[0], element);
                emit_atomic(i, &format!("air.atomic.local.load.{suffix}"), &[pointer], true)
            });
            let store = machine.add(&[element, index], &[], |i| {
                let pointer = pointers(i, kind, i.values[1], element);
                emit_atomic(i, &format!("air.atomic.local.store.{suffix}"), &[pointer, i.values[0]], false)
            });
            cases.push((element, kind, load, store));
        }
    }
    machine.compile();
    let mut random = Random(14);
    for (element, kind, load, store) in cases {
        for mask in masks(&mut random) {
            let objects: Vec<u64> =
                (0..32).map(|lane| if kind == Pointers::Varying { lane % OBJECTS as u64 } else { 0 }).collect();
            let mut memory = Memory::new(element, &mut random);
            let before = memory.bytes.clone();
            let loaded = machine.call_with_memory(load, &[&objects], &mut memory.bytes, mask);
            assert_eq!(memory.bytes, before);
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                assert_eq!(loaded[0][lane], memory.get(objects[lane] as usize));
            }
            let values = element.random_lanes(&mut random);
            machine.call_with_memory(store, &[&values, &objects], &mut memory.bytes, mask);
            let before = Memory { bytes: before, element };
            for object in 0..OBJECTS {
                let writers = |lane: &usize| is_active(mask, *lane) && objects[*lane] as usize == object;
                let written: Vec<u64> = (0..32).filter(writers).map(|lane| values[lane]).collect();
                let found = memory.get(object);
                match written.is_empty() {
                    true => assert_eq!(found, before.get(object)),
                    false => assert!(written.contains(&found), "{element:?}, {kind:?}, mask {mask:08x}"),
                }
            }
        }
    }
}

#[test]
fn comparisons_exchange_where_they_find_what_they_expect() {
    let index = Element::Unsigned(32);
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let mut cases = Vec::new();
    for (element, suffix) in [(Element::F32, "f32"), (Element::Signed(32), "i32"), (Element::Unsigned(8), "i8")] {
        for kind in ALL {
            // The objects come first in memory, then what each lane expects.
            let number = machine.add(&[element, index], &[element], |i| {
                let long = Type::int(i.b.context(), 64);
                let size = element.bytes() as i64;
                let start = OBJECTS as i64 * size;
                let expected = i.b.offset(i.memory, crate::wave::lanes::ramp(long, start, size));
                let int = Type::int(i.b.context(), 32);
                let arguments = [
                    pointers(i, kind, i.values[1], element),
                    expected,
                    i.values[0],
                    int.constant(0),
                    int.constant(0),
                    int.constant(2),
                    Type::int(i.b.context(), 1).constant(1),
                ];
                let name = format!("air.atomic.global.cmpxchg.weak.{suffix}");
                let call = Atomic { name: &name, arguments: &arguments, mask: i.mask, is_result_used: true };
                atomic(i.b, &call).unwrap().unwrap()
            });
            cases.push((element, kind, number));
        }
    }
    machine.compile();
    let mut random = Random(15);
    for (element, kind, number) in cases {
        for mask in masks(&mut random) {
            let few = |random: &mut Random| match element {
                Element::F32 => element.bits_of_real([0.0, -0.0, f64::NAN][random.bits() as usize % 3]),
                _ => random.bits() % 3,
            };
            let objects: Vec<u64> = (0..32)
                .map(|_| if kind == Pointers::Varying { random.bits() % OBJECTS as u64 } else { 0 })
                .collect();
            let desired: Vec<u64> = (0..32).map(|_| few(&mut random)).collect();
            let mut memory = Memory { bytes: vec![0; (OBJECTS + 32) * 8], element };
            (0..OBJECTS + 32).for_each(|object| memory.set(object, few(&mut random)));
            let mut expected = Memory { bytes: memory.bytes.clone(), element };
            let mut results = [0; 32];
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                let object = objects[lane] as usize;
                results[lane] = expected.get(object);
                if results[lane] == expected.get(OBJECTS + lane) {
                    expected.set(object, desired[lane]);
                }
                expected.set(OBJECTS + lane, results[lane]);
            }
            let found = machine.call_with_memory(number, &[&desired, &objects], &mut memory.bytes, mask);
            assert_eq!(memory.bytes, expected.bytes, "{element:?}, {kind:?}, mask {mask:08x}");
            for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                assert_eq!(found[0][lane], results[lane]);
            }
        }
    }
}

#[test]
fn other_functions_and_unsupported_ones_are_told_apart() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    machine.add(&[Element::F32], &[], |i| {
        let run = |name: &str, arguments: &[_]| {
            atomic(i.b, &Atomic { name, arguments, mask: i.mask, is_result_used: false })
        };
        assert!(run("air.simd_sum.f32", &[]).is_none());
        assert_eq!(run("air.atomic.fence", &[]), Some(Ok(Vec::new())));
        let message = |name: &str| Some(Err(format!("the atomic function '{name}' is not supported")));
        assert_eq!(run("air.atomic.global.nand.u.i32", &[i.memory]), message("air.atomic.global.nand.u.i32"));
        assert_eq!(run("air.atomic.texture.add", &[i.memory]), message("air.atomic.texture.add"));
        let missing = "'air.atomic.global.add.u.i32' lacks argument 1";
        assert_eq!(run("air.atomic.global.add.u.i32", &[i.memory]), Some(Err(missing.into())));
        let no_pointer = "argument 0 of 'air.atomic.global.load.f32' is no pointer";
        assert_eq!(run("air.atomic.global.load.f32", &i.values), Some(Err(no_pointer.into())));
        Vec::new()
    });
    machine.compile();
}
