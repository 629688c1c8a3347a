//! Barriers, functions between lanes, functions on matrices, and loops.

use super::{BARRIER, Instrumentation, SHUFFLE, STEP, TOGETHER, at};
use crate::ir::{Block, Value};
use crate::thread::name::{Group, Name, Operation as Between, Shuffle};
use abi::{Operation, Site};
use rustc_hash::FxHashSet;

/// Checks a call that depends on other lanes; false for other calls.
pub(super) fn call<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str) -> bool {
    match name {
        "air.wg.barrier" => mark(pass, call, BARRIER, Operation::Barrier),
        "air.simdgroup.barrier" => mark(pass, call, BARRIER, Operation::SimdgroupBarrier),
        "air.atomic.fence" => drop(pass.place(call, Operation::Fence)),
        _ if name.starts_with("air.simdgroup_matrix_8x8_") => mark(pass, call, TOGETHER, Operation::Matrix),
        _ => return shuffle(pass, call, name),
    }
    true
}

fn mark<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, function: &'static str, operation: Operation) {
    // A barrier's first argument says which memory it orders.
    let flags = call.arguments().first().and_then(|flags| flags.as_int()).unwrap_or(1);
    let site = pass.site(Site { operation, bytes: flags as u32, ..at(call) });
    let function = pass.declare(function, pass.void().function(&[pass.int(32)]));
    pass.b.before(call);
    pass.b.call(function, &[site]);
}

/// The lane that a function reads: numbers for [`SHUFFLE`]. Those of functions on quads follow.
pub(crate) const SHUFFLES: [Shuffle; 6] =
    [Shuffle::Lane, Shuffle::Xor, Shuffle::Up, Shuffle::Down, Shuffle::RotateUp, Shuffle::RotateDown];

fn shuffle<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str) -> bool {
    let Some(name) = Name::parse(name) else { return false };
    let kind = match name.operation {
        Between::Shuffle(shuffle) => SHUFFLES.iter().position(|kind| *kind == shuffle),
        Between::Broadcast => Some(0),
        _ => return true,
    };
    let arguments = call.arguments();
    let (Some(kind), [_, lane, ..]) = (kind, &arguments[..]) else { return true };
    let kind = if name.group == Group::Quad { kind + SHUFFLES.len() } else { kind };
    if !lane.ty().is_int() || lane.ty().int_bits() > 32 {
        return true;
    }
    let (site, int) = (pass.place(call, Operation::Shuffle), pass.int(32));
    pass.b.before(call);
    let lane = if lane.ty() == int { *lane } else { pass.b.zext(*lane, int) };
    let function = pass.declare(SHUFFLE, pass.void().function(&[int, int, int]));
    pass.b.call(function, &[site, int.constant(kind as i64), lane]);
    true
}

/// Counts the iterations of every loop of a function.
pub(super) fn loops<'m>(pass: &mut Instrumentation<'m>, function: Value<'m>) {
    for block in ways_back(function) {
        let Some(end) = block.terminator() else { continue };
        // The branch at the end may have no line; the condition before it has.
        let with_line = block.instructions().into_iter().rev().find(|instruction| !instruction.lines().is_empty());
        let site = pass.place(with_line.unwrap_or(end), Operation::Loop);
        let function = pass.declare(STEP, pass.void().function(&[pass.int(32)]));
        pass.b.before(end);
        pass.b.call(function, &[site]);
    }
}

/// The blocks from which control flow goes back to a block that led to them.
fn ways_back(function: Value) -> Vec<Block> {
    let Some(&entry) = function.blocks().first() else { return Vec::new() };
    let (mut found, mut seen, mut open) =
        (Vec::new(), FxHashSet::from_iter([entry]), FxHashSet::from_iter([entry]));
    let mut stack = vec![(entry, successors_of(entry))];
    while let Some((block, next)) = stack.last_mut() {
        let block = *block;
        match next.next() {
            Some(to) if open.contains(&to) => {
                if !found.contains(&block) {
                    found.push(block);
                }
            }
            Some(to) => {
                if seen.insert(to) {
                    open.insert(to);
                    stack.push((to, successors_of(to)));
                }
            }
            None => {
                open.remove(&block);
                stack.pop();
            }
        }
    }
    found
}

fn successors_of(block: Block) -> std::vec::IntoIter<Block> {
    block.terminator().map(Value::successors).unwrap_or_default().into_iter()
}
