//! Calls of AIR's functions across threads: barriers, functions between lanes, atomics.

use super::lanes::Active;
use super::{Error, Result, atomic, groups};
use crate::bytes::Dot;
use crate::calls::FAIL;
use crate::ir::{Builder, Metadata, ModuleRef, Opcode, Rewrite, Type, Value};
use crate::reflect::Role;
use crate::thread::flow::Flow;
use crate::thread::graph::Graph;
use crate::thread::shapes::{Shape, Shapes};
use crate::thread::types::components;
use abi::{Lanes, Threadgroups};
use std::ffi::CStr;

/// The flags of a barrier that orders no memory, `mem_flags::mem_none`.
const NO_MEMORY: i64 = 0;

/// Attached to calls at which all lanes of a simdgroup are together.
const TOGETHER: &CStr = c"metalworks.together";

/// The control flow of a kernel, and where lanes may be missing. The module is AIR, where addresses tell private memory from
/// other.
pub(super) fn flow<'m>(module: ModuleRef<'m>, kernel: Value<'m>, roles: &[Role]) -> Result<(Graph<'m>, Flow)> {
    let graph = Graph::new(kernel).ok_or_else(|| Error::Internal("a cycle with two entries".into()))?;
    let seeds = kernel.parameters().into_iter().enumerate().map(|(position, parameter)| {
        let role = roles.iter().find(|role| role.position == position);
        let what = role.map_or("", |role| role.what.as_str());
        // The width of a threadgroup is not known: a simdgroup may span several rows.
        let shape = |component| Shape::of_builtin(what, component, Lanes::Any);
        (parameter, (0..components(parameter.ty()).len()).map(shape).collect())
    });
    let (_, flow): (Shapes, Flow) = Shapes::new(&graph, crate::ir::Layout::of(module), seeds.collect());
    Ok((graph, flow))
}

/// Marks the calls at which no lane can be missing, for [`lower`].
pub(super) fn mark(module: ModuleRef, name: &str, roles: &[Role]) -> Result<()> {
    let (graph, flow) = flow(module, crate::thread::kernel(module, name)?, roles)?;
    for (number, block) in graph.blocks.iter().enumerate() {
        if !flow.is_complete(number) {
            continue;
        }
        for call in block.instructions().into_iter().filter(|value| value.is(Opcode::LLVMCall)) {
            let is_air = call.callee().is_some_and(|callee| callee.name().starts_with("air."));
            if is_air {
                call.attach(TOGETHER, Metadata::node(module.context(), &[]));
            }
        }
    }
    Ok(())
}

/// Replaces all calls of AIR's functions in the kernel `name`.
pub(super) fn lower<'m>(rewrite: &'m Rewrite<'m>, name: &str, threadgroups: Threadgroups) -> Result<()> {
    let module = rewrite.module();
    let kernel = crate::thread::kernel(module, name)?;
    let b = Builder::new(module);
    for instruction in kernel.blocks().into_iter().flat_map(|block| block.instructions()) {
        if !instruction.is(Opcode::LLVMCall) {
            continue;
        }
        if instruction.called_value().is_assembly() {
            continue;
        }
        let Some(callee) = instruction.callee() else {
            return Err(Error::Unsupported("a call through a function pointer".into()));
        };
        let name = callee.name();
        if let Some(dot) = Dot::named(&name) {
            b.before(instruction);
            let arguments = [instruction.operand(0), instruction.operand(1), instruction.operand(2)];
            let sum = match dot {
                Dot::Small | Dot::Unsigned => b.intrinsic("llvm.nvvm.idp4a.u.s", &[], &arguments),
                Dot::Signed => b.intrinsic("llvm.nvvm.idp4a.s.s", &[], &arguments),
                Dot::Bfloats => dot.plain(&b, arguments),
            };
            instruction.replace_all_uses_with(sum);
            rewrite.erase(instruction);
            continue;
        }
        if !name.starts_with("air.") {
            if name != FAIL && callee.intrinsic_name().is_none() {
                return Err(Error::Unsupported(format!("the function '{name}'")));
            }
            continue;
        }
        b.before(instruction);
        let together = instruction.has_metadata(TOGETHER);
        let result = call(&b, instruction, &name, together, threadgroups)?;
        if let Some(result) = result {
            instruction.replace_all_uses_with(result);
        }
        rewrite.erase(instruction);
    }
    Ok(())
}

fn call<'m>(
    b: &Builder<'m>,
    call: Value<'m>,
    name: &str,
    together: bool,
    threadgroups: Threadgroups,
) -> Result<Option<Value<'m>>> {
    let int = Type::int(b.context(), 32);
    let active = || match together && threadgroups == Threadgroups::Whole {
        true => Active::full(b),
        false => Active::here(b),
    };
    match name {
        // Lanes that skip it would never come. Without memory to order, it only keeps simdgroups in step.
        "air.wg.barrier" if !together && call.operand(0).as_int() == Some(NO_MEMORY) => return Ok(None),
        "air.wg.barrier" => {
            // The shorter form is for warps that come to it as a whole.
            let name = match together {
                true => "llvm.nvvm.barrier.cta.sync.aligned.all",
                false => "llvm.nvvm.barrier.cta.sync.all",
            };
            b.intrinsic(name, &[], &[int.zero()]);
            return Ok(None);
        }
        "air.simdgroup.barrier" => {
            b.intrinsic("llvm.nvvm.bar.warp.sync", &[], &[active().mask]);
            return Ok(None);
        }
        _ => {}
    }
    if let Some(result) = atomic::emit(b, call) {
        return result.map_err(Error::Unsupported);
    }
    match groups::emit(b, call, active()) {
        Some(result) => result.map(Some).map_err(Error::Unsupported),
        None => Err(Error::Unsupported(format!("the function '{name}'"))),
    }
}
