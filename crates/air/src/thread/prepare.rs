//! The code of one thread, optimized and brought into the form that the code generators need.

use super::{Error, Result, coherence, moves, sums, unroll};
use crate::ir::{ModuleRef, Operand, Rewrite, Value, named, passes};
use crate::reflect::Role;
use crate::{bfloats, bytes, calls, cases, expand, instrument, log, reflect};
use abi::{LANES, Site};
use inkwell::module::Module;

/// One function without private memory, as far as that is possible.
const INLINE: &str = "always-inline,globaldce,function(sroa<modify-cfg>,early-cse<memssa>)";

/// Optimization of one thread's code, up to where loops are unrolled. Two things are left out on purpose: jump
/// threading and tables for switches would make control flow and memory accesses that suit one thread and not 32
/// lanes.
const CLEAN: &str = "function(\
    simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>,\
    loop-simplify,lcssa,loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm),\
    simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>)";

/// The rest of the optimization.
const OPTIMIZE: &str = "function(\
    loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,gvn,sccp,bdce,instcombine<no-verify-fixpoint>,\
    loop-unroll<O2;no-runtime;no-upperbound>,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,\
    dse,loop-mssa(licm),adce,simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>)";

/// Every branch has two ways, every cycle is a loop with one entry, one end, and values that leave it by a phi.
const CANONICALIZE: &str =
    "function(adce,lower-switch,mergereturn,fix-irreducible,lower-switch,loop-simplify,lcssa)";

/// Properties of a kernel that its metadata state.
pub(crate) struct Prepared {
    /// The roles of its parameters.
    pub(crate) roles: Vec<Role>,
    pub(crate) flush_denormals: bool,
    /// The messages of the failures that it can report.
    pub(crate) failures: Vec<String>,
    /// The places that its checks refer to.
    pub(crate) sites: Vec<Site>,
}

/// Brings the kernel `name` of `module` into shape. Nothing else is left of the module's code. `for_gpu` says if
/// loops are unrolled for a GPU; `checks` are those of shader validation.
pub(crate) fn prepare(
    module: &mut Module,
    name: &str,
    for_gpu: bool,
    checks: Option<instrument::Checks>,
) -> Result<Prepared> {
    // Before anything is linked in, which brings options of its own.
    let flush_denormals = has_option(module, "air.compile.denorms_disable");
    kernel(ModuleRef::of(module), name)?;
    coherence::make_accesses(module, for_gpu)?;
    let roles = reflect::roles(module).map_err(|error| Error::Invalid(error.to_string()))?;
    let mut sites = match checks {
        Some(checks) => instrument::instrument(module, name, &roles, checks),
        None => {
            // Functions that are linked to kernels have lines, for checks alone.
            passes::strip_debug_info(module);
            Vec::new()
        }
    };
    log::convert(module, for_gpu, &mut sites)?;
    let mut failures = Vec::new();
    calls::pointers::resolve(module, &mut failures)?;
    calls::fail_at_traps(&Rewrite::new(module), &mut failures);
    expand::expand(module)?;
    mark(ModuleRef::of(module), kernel(ModuleRef::of(module), name)?, &roles);
    calls::cost::keep(module, name)?;
    calls::flatten(module, name, &mut failures)?;
    passes::run(module, INLINE).map_err(Error::Internal)?;
    bytes::recognize(module);
    bfloats::recognize(module);
    passes::run(module, CLEAN).map_err(Error::Internal)?;
    cases::drop_unreachable(module).map_err(Error::Internal)?;
    unroll::mark(kernel(ModuleRef::of(module), name)?, for_gpu);
    passes::run(module, OPTIMIZE).map_err(Error::Internal)?;
    if checks.is_some() {
        instrument::clean(module);
        instrument::fuse(module);
    }
    // Now that registers have been made of memory that is filled or copied.
    if !for_gpu && moves::make_loops(module) {
        passes::run(module, "always-inline,globaldce").map_err(Error::Internal)?;
    }
    sums::gather(kernel(ModuleRef::of(module), name)?);
    passes::run(module, CANONICALIZE).map_err(Error::Internal)?;
    Ok(Prepared { roles, flush_denormals, failures, sites })
}

/// The kernel. Passes may replace functions, so it is looked up again after them.
pub(crate) fn kernel<'m>(module: ModuleRef<'m>, name: &str) -> Result<Value<'m>> {
    module.function(name).ok_or_else(|| Error::Invalid(format!("there is no function '{name}'")))
}

/// Marks functions for LLVM's passes: functions to inline, functions between lanes, the size of a simdgroup.
fn mark(module: ModuleRef, kernel: Value, roles: &[Role]) {
    set_simdgroup_size(kernel, roles);
    calls::mark(module, kernel);
    for function in module.functions() {
        if function.is_declaration() && is_convergent(&function.name()) {
            function.add_attribute("convergent");
            function.add_attribute("nounwind");
        }
    }
    // Loops stay loops: a call of memcpy or memset would be made once per lane.
    kernel.add_text_attribute("no-builtins", "");
}

/// Replaces the built-in for the size of a simdgroup by the number, so that loops can be unrolled by it.
fn set_simdgroup_size(kernel: Value, roles: &[Role]) {
    for role in roles
        .iter()
        .filter(|role| matches!(role.what.as_str(), "air.threads_per_simdgroup" | "air.thread_execution_width"))
    {
        if let Some(parameter) = kernel.parameters().get(role.position).filter(|parameter| parameter.ty().is_int())
        {
            parameter.replace_all_uses_with(parameter.ty().constant(LANES as i64));
        }
    }
}

/// True if a function works between lanes, so that it must not be moved into or out of a branch.
pub(crate) fn is_convergent(name: &str) -> bool {
    ["air.simd", "air.quad", "air.wg.", "air.get_"].iter().any(|start| name.starts_with(start))
}

/// True if a module was compiled with an option.
fn has_option(module: &Module, option: &str) -> bool {
    let mut options =
        named(ModuleRef::of(module), c"air.compile_options").into_iter().flat_map(|node| node.operands());
    options.any(|operand| matches!(operand, Operand::Text(text) if text == option))
}
