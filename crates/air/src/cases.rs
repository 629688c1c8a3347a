//! Cases of switches that cannot be reached.
//!
//! LLVM's `simplifycfg` makes a switch of `x == 1 && a || x == 2 && b || …`, and after `a` another one of all parts that
//! follow, although `x` is 1 there: as many cases as the square of the parts, each of which tests lanes in a simdgroup.
//! A pass that knows the value of `x` in each block drops them. It has no effect on code with few cases, so that kernels
//! stay as they are.

use crate::ir::{ModuleRef, Opcode, passes};
use inkwell::module::Module;

const DROP: &str = "function(correlated-propagation,simplifycfg<no-switch-to-lookup>)";

/// Cases of all switches of a module from which on it is worth the time.
const MANY: usize = 256;

pub(crate) fn drop_unreachable(module: &mut Module) -> Result<(), String> {
    if count(ModuleRef::of(module)) > MANY { passes::run(module, DROP) } else { Ok(()) }
}

fn count(module: ModuleRef) -> usize {
    let blocks = module.functions().into_iter().flat_map(|function| function.blocks());
    let switches = blocks.filter_map(|block| block.terminator()).filter(|end| end.is(Opcode::LLVMSwitch));
    switches.map(|switch| switch.successors().len()).sum()
}
