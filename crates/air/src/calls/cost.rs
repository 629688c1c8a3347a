//! Functions that are not inlined, because that would multiply the code.
//!
//! `f1` that calls `f0` twice, `f2` that calls `f1` twice, and so on: inlined, the code doubles with each function. Where
//! the whole kernel would get too large, functions that are called several times and have become large themselves stay
//! functions. Most kernels are far from that, and all their calls are inlined.

use super::graph;
use crate::ir::{Block, Builder, ModuleRef, Opcode, Value};
use crate::thread::{Error, Result, is_convergent};
use inkwell::module::Module;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most instructions of a kernel after inlining.
const MOST_INSTRUCTIONS: u64 = 200_000;

/// The instructions from which a function stays one, in a kernel that would be larger.
const LARGE: u64 = 100;

/// Mark of a function that is not inlined.
pub(super) const KEPT: &str = "metalworks-kept";

/// Keeps functions of a library from being inlined where that would multiply the code.
pub(super) fn keep_in_library(module: &Module) {
    let costs = Costs::new(ModuleRef::of(module), true);
    for (&function, _) in costs.functions.iter().zip(&costs.kept).filter(|(_, kept)| **kept) {
        function.remove_attribute("alwaysinline");
    }
}

/// Marks the functions of a kernel that stay functions. They become states of a loop, as those of a cycle do; so does
/// the kernel itself, so that there is one such loop and not one for each call.
pub(crate) fn keep(module: &Module, kernel: &str) -> Result<()> {
    let module = ModuleRef::of(module);
    let Some(kernel) = module.function(kernel) else { return Ok(()) };
    let costs = Costs::new(module, false);
    if costs.is_small() {
        return Ok(());
    }
    let number = costs.functions.iter().position(|&function| function == kernel);
    let number = number.ok_or_else(|| Error::Internal("the kernel was lost".into()))?;
    let is_moved = !costs.convergent[number];
    let total = costs.total(number, is_moved);
    if total > MOST_INSTRUCTIONS {
        return Err(Error::Unsupported(format!(
            "a kernel whose calls would be inlined to more than {MOST_INSTRUCTIONS} instructions"
        )));
    }
    for (&function, _) in costs.functions.iter().zip(&costs.kept).filter(|(_, kept)| **kept) {
        function.make_separate();
        function.add_text_attribute(KEPT, "");
    }
    if is_moved {
        let body = move_body(module, kernel);
        body.make_separate();
        body.add_text_attribute(KEPT, "");
    }
    Ok(())
}

/// Moves the code of a kernel to a function that it calls.
fn move_body<'m>(module: ModuleRef<'m>, kernel: Value<'m>) -> Value<'m> {
    let body = module.add_function("kernel", kernel.function_type());
    body.make_internal();
    let (old, new) = (kernel.parameters(), body.parameters());
    for (old, &new) in old.iter().zip(&new) {
        old.replace_all_uses_with(new);
    }
    for block in kernel.blocks() {
        block.move_to(body);
    }
    let builder = Builder::new(module);
    builder.at_end(Block::append(kernel, "entry"));
    builder.call(body, &old);
    builder.ret();
    body
}

/// Sizes of functions, by number.
struct Costs<'m> {
    functions: Vec<Value<'m>>,
    /// Instructions of a function with all that is inlined in it, if nothing is kept.
    inlined: Vec<u64>,
    /// The same with the functions that are kept.
    sizes: Vec<u64>,
    /// Calls of kept functions in a function with all that is inlined in it.
    sites: Vec<u64>,
    /// True for functions that work between lanes.
    convergent: Vec<bool>,
    kept: Vec<bool>,
}

impl<'m> Costs<'m> {
    fn new(module: ModuleRef<'m>, keeps_convergent: bool) -> Costs<'m> {
        let functions: Vec<Value> = module.functions().into_iter().filter(|one| !one.is_declaration()).collect();
        let numbers: FxHashMap<Value, usize> = functions.iter().copied().zip(0..).collect();
        let bodies: Vec<FunctionBody> = functions.iter().map(|&one| FunctionBody::of(one, &numbers)).collect();
        let cyclic: FxHashSet<Value> = graph::cycles(module).into_iter().flatten().collect();
        let is_cyclic: Vec<bool> = functions.iter().map(|one| cyclic.contains(one)).collect();
        let mut callers = vec![0u64; functions.len()];
        for &(callee, count) in bodies.iter().flat_map(|body| &body.calls) {
            callers[callee] = callers[callee].saturating_add(count);
        }
        let count = functions.len();
        let mut costs = Costs {
            inlined: vec![0; count],
            sizes: vec![0; count],
            sites: vec![0; count],
            convergent: bodies.iter().map(|body| body.is_convergent).collect(),
            kept: vec![false; count],
            functions,
        };
        let edges: Vec<Vec<usize>> =
            bodies.iter().map(|body| body.calls.iter().map(|&(callee, _)| callee).collect()).collect();
        let order = graph::callees_first(&edges);
        for &function in &order {
            let calls = bodies[function].calls.iter().filter(|(callee, _)| !is_cyclic[*callee]);
            let called = calls.fold(0u64, |sum, &(callee, count)| {
                sum.saturating_add(costs.inlined[callee].saturating_mul(count))
            });
            costs.inlined[function] = bodies[function].instructions.saturating_add(called);
        }
        if costs.is_small() {
            return costs;
        }
        for &function in &order {
            let body = &bodies[function];
            let (mut size, mut sites) = (body.instructions, 0u64);
            for &(callee, count) in &body.calls {
                if costs.kept[callee] || is_cyclic[callee] {
                    sites = sites.saturating_add(count);
                } else {
                    size = size.saturating_add(costs.sizes[callee].saturating_mul(count));
                    sites = sites.saturating_add(costs.sites[callee].saturating_mul(count));
                    costs.convergent[function] |= costs.convergent[callee];
                }
            }
            (costs.sizes[function], costs.sites[function]) = (size, sites);
            let can_be_kept = keeps_convergent || !costs.convergent[function] && !body.copies_an_argument;
            // One that calls kept functions is kept, too: each call is a state of the loop, and must not be multiplied.
            let is_large = size > LARGE || sites > 0;
            costs.kept[function] = callers[function] > 1 && is_large && can_be_kept && !is_cyclic[function];
        }
        costs
    }

    /// True if all calls can be inlined.
    fn is_small(&self) -> bool {
        self.inlined.iter().all(|&size| size <= MOST_INSTRUCTIONS)
    }

    /// Instructions of the kernel. If it is not moved, each of its calls of a kept function has all of those.
    fn total(&self, kernel: usize, is_moved: bool) -> u64 {
        let kept = self.kept.iter().zip(&self.sizes).filter(|(kept, _)| **kept);
        let kept = kept.fold(0u64, |sum, (_, &size)| sum.saturating_add(size));
        let copies = if is_moved { 1 } else { self.sites[kernel] };
        self.sizes[kernel].saturating_add(kept.saturating_mul(copies))
    }
}

/// A function by itself.
struct FunctionBody {
    instructions: u64,
    /// The functions that it calls, and how often.
    calls: Vec<(usize, u64)>,
    is_convergent: bool,
    copies_an_argument: bool,
}

impl FunctionBody {
    fn of<'m>(function: Value<'m>, numbers: &FxHashMap<Value<'m>, usize>) -> FunctionBody {
        let mut calls: FxHashMap<usize, u64> = FxHashMap::default();
        let mut body = FunctionBody {
            instructions: 0,
            calls: Vec::new(),
            is_convergent: false,
            copies_an_argument: function.has_parameter_attribute("byval"),
        };
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            body.instructions += 1;
            let Some(callee) = instruction.is(Opcode::LLVMCall).then(|| instruction.callee()).flatten() else {
                continue;
            };
            match numbers.get(&callee) {
                Some(&number) => *calls.entry(number).or_default() += 1,
                None => body.is_convergent |= is_convergent(&callee.name()),
            }
        }
        body.calls = calls.into_iter().collect();
        body.calls.sort_unstable();
        body
    }
}
