//! The scalar code before it is widened: optimized as code of one thread, and brought into the form that widening needs.

use super::{Error, Result, unroll};
use crate::ir::{ModuleRef, Value};
use crate::passes;

/// Optimization of one thread's code, up to where loops are unrolled. Two things are left out on purpose: jump threading
/// and tables for switches would make control flow and memory accesses that one thread likes and 32 lanes do not.
const CLEAN: &str = "always-inline,globaldce,function(\
    sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>,\
    loop-simplify,lcssa,loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm),\
    simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>)";

/// The rest of it.
const OPTIMIZE: &str = "function(\
    loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,gvn,sccp,bdce,instcombine<no-verify-fixpoint>,\
    loop-unroll<O2;no-runtime;no-upperbound>,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    dse,loop-mssa(licm),adce,simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>)";

/// Every branch has two ways, every cycle is a loop with one entry, one end, and values that leave it by a phi.
const CANONICALIZE: &str = "function(lower-switch,mergereturn,fix-irreducible,lower-switch,loop-simplify,lcssa)";

/// Brings `kernel`, a function of `module`, into shape. Nothing but it is left of the module's code.
pub(super) fn prepare(module: ModuleRef, kernel: Value) -> Result<()> {
    for function in module.functions() {
        if function.is_declaration() {
            if is_convergent(&function.name()) {
                function.add_attribute("convergent");
                function.add_attribute("nounwind");
            }
        } else if function != kernel {
            function.make_internal();
            function.make_inlined();
        }
    }
    // Loops stay loops: a call of memcpy or memset would be made once per lane.
    kernel.add_text_attribute("no-builtins", "");
    passes::run(module, CLEAN).map_err(Error::Internal)?;
    unroll::mark(kernel);
    passes::run(module, OPTIMIZE).map_err(Error::Internal)?;
    passes::run(module, CANONICALIZE).map_err(Error::Internal)?;
    Ok(())
}

/// Whether a function has a meaning between lanes, so that it must not be moved into or out of a branch.
fn is_convergent(name: &str) -> bool {
    ["air.simd", "air.quad", "air.wg.", "air.get_"].iter().any(|start| name.starts_with(start))
}
