//! Folding: code that the constants' values decide is removed.

use super::arrays;
use super::error::Error;
use crate::expand;
use crate::ir::{Builder, IntPredicate, ModuleRef, Opcode, Rewrite, Value, passes};
use inkwell::module::Module;

/// Enough that branches on constants are gone, and no more: the code generator optimizes the rest.
const SIMPLIFY: &str = "function(sroa,early-cse,sccp,simplifycfg,adce)";

/// Inlines functions, as [`simplify`] does, and changes nothing else.
pub(super) fn inline(module: &mut Module) -> Result<(), Error> {
    run_passes(module, "always-inline")
}

/// Takes dead branches away in code that reads the constants themselves.
pub(super) fn simplify(module: &mut Module) -> Result<(), Error> {
    run_passes(module, &format!("always-inline,{SIMPLIFY}"))
}

/// Gives a variable its value that the static initializer sets to a constant, so that code which it decides can go; true if
/// there was one. The initializer as a whole is not evaluated before all function constants have values.
pub(super) fn keep_stored_constants(rewrite: &Rewrite) -> bool {
    let Some(initializer) = initializer(rewrite.module()) else { return false };
    let [block] = initializer.blocks()[..] else { return false };
    let is_own = |store: &Value| {
        let (value, variable) = (store.operand(0), store.operand(1));
        let stores =
            |variable: Value| variable.users().into_iter().filter(|user| user.is(Opcode::LLVMStore)).count();
        value.is_constant()
            && variable.is_global_variable()
            && variable.is_internal()
            && variable.global_type() == value.ty()
            && stores(variable) == 1
    };
    let stores = block.instructions().into_iter().filter(|instruction| instruction.is(Opcode::LLVMStore));
    let stores: Vec<Value> = stores.filter(is_own).collect();
    for &store in &stores {
        store.operand(1).set_initializer(store.operand(0));
        store.operand(1).set_constant();
        rewrite.erase(store);
    }
    !stores.is_empty()
}

/// Evaluates the static initializer, which leaves its results in the variables that it sets.
pub(super) fn evaluate_initializer(module: &mut Module) -> Result<(), Error> {
    let Some(name) = initializer(ModuleRef::of(module)).map(Value::name) else { return Ok(()) };
    // Functions of AIR become instructions, on which LLVM computes.
    expand::expand_function(module, &name).map_err(|error| Error::Unsupported(error.to_string()))?;
    // LLVM evaluates no store to an object in private memory: each must be gone.
    for passes in [SIMPLIFY, "function(gvn,sroa,dse,sccp,simplifycfg,adce)"] {
        run_passes(module, &format!("always-inline,{passes},globalopt"))?;
        if initializer(ModuleRef::of(module)).is_none() {
            return Ok(());
        }
    }
    Err(Error::Unsupported("a static initializer that LLVM cannot evaluate".into()))
}

/// Removes unused code and variables.
pub(super) fn clean(module: &mut Module) -> Result<(), Error> {
    passes::delete_global(module, c"llvm.global_ctors");
    run_passes(module, &format!("{SIMPLIFY},globalopt,{SIMPLIFY}"))?;
    while arrays::drop_unread(&Rewrite::new(module)) {
        run_passes(module, "function(adce)")?;
    }
    passes::delete_global(module, c"llvm.compiler.used");
    run_passes(module, "globaldce")
}

/// Lists the variables in threadgroup memory as used, so that LLVM neither splits nor shrinks them: they are the
/// kernel's interface, and LLVM thinks of one thread only.
pub(super) fn keep_threadgroup_memory(module: &mut Module) {
    const THREADGROUP: u32 = 3;
    passes::extend_list(module, c"llvm.compiler.used", |global| global.ty().address_space() == THREADGROUP);
}

/// The function that runs before the kernel does.
pub(crate) fn initializer(module: ModuleRef) -> Option<Value> {
    let entries = module.global(c"llvm.global_ctors")?.initializer()?;
    // An entry is {priority, function, data}; an empty list may be a zero without operands.
    let entry = (entries.operand_count() > 0).then(|| entries.operand(0))?;
    (entry.operand_count() > 1).then(|| entry.operand(1))
}

/// `air.normalize_function_constant_predicate`: any value but zero is one.
pub(super) fn normalize_predicates(rewrite: &Rewrite) {
    let module = rewrite.module();
    let builder = Builder::new(module);
    for function in functions_with_prefix(module, "air.normalize_function_constant_predicate") {
        for call in calls(function) {
            let [value] = call.arguments()[..] else { continue };
            if value.ty() != call.ty() || !value.ty().is_int() {
                continue;
            }
            builder.before(call);
            let is_set = builder.icmp(IntPredicate::LLVMIntNE, value, value.ty().zero());
            call.replace_all_uses_with(builder.zext(is_set, call.ty()));
            rewrite.erase(call);
        }
    }
}

/// The declarations whose name is this or goes on with a type.
pub(super) fn functions_with_prefix<'m>(module: ModuleRef<'m>, prefix: &str) -> Vec<Value<'m>> {
    let is_meant = |function: &Value| {
        let name = function.name();
        let rest = name.strip_prefix(prefix);
        function.is_declaration() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    module.functions().into_iter().filter(is_meant).collect()
}

/// The calls of a function.
pub(super) fn calls(function: Value) -> Vec<Value> {
    let is_call = |user: &Value| user.is(Opcode::LLVMCall) && user.callee() == Some(function);
    function.users().into_iter().filter(is_call).collect()
}

fn run_passes(module: &mut Module, passes: &str) -> Result<(), Error> {
    passes::run(module, passes).map_err(Error::Internal)
}
