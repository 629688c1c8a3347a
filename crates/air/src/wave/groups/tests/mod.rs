//! Small functions are built with the emitters, compiled and run, and compared with plain Rust on random data.

mod atomics;
mod element;
mod machine;
mod matrices;
mod prefixes;
mod quads;
mod reductions;
mod shuffles;
mod votes;

use super::{Call, emit, emit_uniform, result_is_uniform};
use crate::ir::{Builder, Type, Value};
use crate::wave::lanes::{lanes_of, splat};
use element::{Element, Random};
use machine::{Machine, targets};

/// Masks of every kind: all lanes, one, the halves, random ones.
fn masks(random: &mut Random) -> Vec<u32> {
    let mut masks = vec![u32::MAX, 1, 1 << 31, 0xffff, 0xffff_0000, 0x1111_1111, 0x0ff0_0000];
    masks.extend((0..6).map(|_| random.bits() as u32 | 1 << (random.bits() % 32)));
    masks
}

fn is_active(mask: u32, lane: usize) -> bool {
    mask >> lane & 1 == 1
}

/// The result of a call with arguments of one component each, in one value per lane.
fn call<'m>(b: &Builder<'m>, name: &str, arguments: &[Value<'m>], mask: Value<'m>, result: Type<'m>) -> Value<'m> {
    let arguments: Vec<Vec<Value<'m>>> = arguments.iter().map(|&value| vec![value]).collect();
    let call = Call { name, arguments: &arguments, mask, result, fast_math: 0 };
    let result = emit(b, &call).expect(name).expect(name);
    assert_eq!(result.len(), 1);
    if result_is_uniform(name) {
        let scalar = emit_uniform(b, &call).expect(name).expect(name);
        return splat(b, scalar[0]);
    }
    assert!(emit_uniform(b, &call).is_none());
    result[0]
}
