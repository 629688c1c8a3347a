//! Barriers that some lanes of a simdgroup skip. On Apple's GPUs a simdgroup comes to a barrier if one of its lanes does; on
//! NVIDIA's the lanes inside of a branch would wait there for the others, and the others where the branch ends for them. So a
//! branch with a barrier is parted, and all lanes come to it:
//!
//! ```text
//! if (c) { A; barrier; B } else C        if (c) A;  barrier;  if (c) B else C
//! ```
//!
//! Left alone are barriers that are not at the same depth of loops as the branch, and those that A does not always lead to.
//! Of these, `calls` leaves out the ones that order no memory.

use super::calls::flow;
use super::{Error, Result};
use crate::ir::{Block, Builder, Metadata, ModuleRef, Opcode, Rewrite, Type, Value, passes};
use crate::reflect::Role;
use crate::thread::graph::Graph;
use inkwell::module::Module;
use std::ffi::CStr;

/// On a barrier that is moved out of a branch, and on the branch: the side that has the barrier.
const MOVED: &CStr = c"metalworks.moved_barrier";
const SIDES: [&CStr; 2] = [c"metalworks.barrier_if", c"metalworks.barrier_else"];

/// Values that live in several blocks go to memory, and back.
const DEMOTE: &str = "function(reg2mem)";
const PROMOTE: &str = "function(sroa<modify-cfg>,simplifycfg)";

/// Branches in each other with one barrier inside, at most.
const DEPTH: usize = 8;

/// Moves the barriers of the kernel `name` out of branches that lanes of a simdgroup take differently.
pub(super) fn meet(module: &mut Module, name: &str, roles: &[Role]) -> Result<()> {
    for _ in 0..DEPTH {
        if !mark(ModuleRef::of(module), name, roles)? {
            break;
        }
        run(module, DEMOTE)?;
        separate(&Rewrite::new(module), name)?;
        // Values of the barrier's own block live in two now.
        run(module, DEMOTE)?;
        part(&Rewrite::new(module), name)?;
        run(module, PROMOTE)?;
    }
    Ok(())
}

fn run(module: &mut Module, passes: &str) -> Result<()> {
    passes::run(module, passes).map_err(Error::Internal)
}

/// Marks a barrier in a branch, and the branch. False if there is none.
fn mark(module: ModuleRef, name: &str, roles: &[Role]) -> Result<bool> {
    let kernel = crate::thread::kernel(module, name)?;
    let barriers = |block: Block| block.instructions().into_iter().filter(|value| is_barrier(*value)).count();
    if kernel.blocks().into_iter().all(|block| barriers(block) == 0) {
        return Ok(false);
    }
    let (graph, flow) = flow(module, kernel, roles)?;
    for number in (0..graph.len()).filter(|&number| !flow.is_complete(number)) {
        let block = graph.blocks[number];
        let Some(barrier) = block.instructions().into_iter().find(|value| is_barrier(*value)) else { continue };
        let Some((branch, side)) = branch_around(&graph, number) else { continue };
        let Some(end) = graph.blocks[branch].terminator() else { continue };
        let node = Metadata::node(module.context(), &[]);
        barrier.attach(MOVED, node);
        end.attach(SIDES[side], node);
        return Ok(true);
    }
    Ok(false)
}

fn is_barrier(value: Value) -> bool {
    value.is(Opcode::LLVMCall) && value.callee().is_some_and(|callee| callee.name() == "air.wg.barrier")
}

/// The innermost branch of which one side always leads to a block, and the other one does not, with the number of that side.
fn branch_around(graph: &Graph, block: usize) -> Option<(usize, usize)> {
    let candidates = (0..block).rev().filter(|&branch| {
        let [one, other] = graph.successors[branch][..] else { return false };
        one != other && graph.loops[branch] == graph.loops[block]
    });
    candidates.into_iter().find_map(|branch| {
        let [one, other] = [0, 1].map(|side| graph.successors[branch][side]);
        let sides =
            [(one, other), (other, one)].map(|(side, skips)| always_leads_to(graph, branch, side, skips, block));
        match sides {
            [true, false] => Some((branch, 0)),
            [false, true] => Some((branch, 1)),
            _ => None,
        }
    })
}

/// True if all ways from `from` lead to `to`, without `branch`, and no other way leads to these blocks, `skips` among them.
fn always_leads_to(graph: &Graph, branch: usize, from: usize, skips: usize, to: usize) -> bool {
    let mut region = vec![from];
    let mut at = 0;
    while let Some(&block) = region.get(at) {
        at += 1;
        if block == to {
            continue;
        }
        let nexts = &graph.successors[block];
        if nexts.is_empty() || block == branch {
            return false;
        }
        for &next in nexts {
            if !region.contains(&next) {
                region.push(next);
            }
        }
    }
    let enters = |(from, nexts): (usize, &Vec<usize>)| {
        from != branch && !region.contains(&from) && nexts.iter().any(|next| region.contains(next))
    };
    region.contains(&to) && !region.contains(&skips) && !graph.successors.iter().enumerate().any(enters)
}

/// The first marked instruction of the kernel `name`.
fn marked<'m>(module: ModuleRef<'m>, name: &str, kind: &CStr) -> Result<Option<Value<'m>>> {
    let instructions = crate::thread::kernel(module, name)?.blocks().into_iter().flat_map(Block::instructions);
    Ok(instructions.into_iter().find(|value| value.has_metadata(kind)))
}

fn lost() -> Error {
    Error::Internal("a barrier in a branch was lost".into())
}

/// Gives the marked barrier a block of its own.
fn separate<'m>(rewrite: &'m Rewrite<'m>, name: &str) -> Result<()> {
    let barrier = marked(rewrite.module(), name, MOVED)?.ok_or_else(lost)?;
    let block = rewrite.split_before(barrier);
    let next = block.instructions().into_iter().nth(1).ok_or_else(lost)?;
    rewrite.split_before(next);
    Ok(())
}

/// Parts the marked branch. No value lives in several blocks.
fn part<'m>(rewrite: &'m Rewrite<'m>, name: &str) -> Result<()> {
    let module = rewrite.module();
    let barrier = marked(module, name, MOVED)?.ok_or_else(lost)?;
    let [then, otherwise] = [marked(module, name, SIDES[0])?, marked(module, name, SIDES[1])?];
    let end = then.or(otherwise).ok_or_else(lost)?;
    let side = usize::from(then.is_none());
    let condition = end.condition().ok_or_else(lost)?;
    let (branch, meeting) = (end.block(), barrier.block());
    let [inside, outside] = [side, 1 - side].map(|side| end.successors()[side]);
    let after = *meeting.terminator().ok_or_else(lost)?.successors().first().ok_or_else(lost)?;

    let b = Builder::new(module);
    let bit = Type::int(module.context(), 1);
    b.before(end);
    let taken = b.entry_alloca(bit, 1);
    b.store(if side == 0 { condition } else { b.not(condition) }, taken, 1);
    rewrite.erase_terminator(branch);
    b.at_end(branch);
    match side {
        0 => b.branch_if(condition, inside, meeting),
        _ => b.branch_if(condition, meeting, inside),
    }
    rewrite.erase_terminator(meeting);
    b.at_end(meeting);
    b.branch_if(b.load(bit, taken, 1), after, outside);
    // Without its mark: it may be in another branch.
    b.before(barrier);
    b.call(barrier.callee().ok_or_else(lost)?, &barrier.arguments());
    rewrite.erase(barrier);
    Ok(())
}
