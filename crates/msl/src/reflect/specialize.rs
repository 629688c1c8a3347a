//! The interface of a kernel whose function constants have values: what stands under a false one is gone.

use super::{Kernel, kernel};
use crate::evaluate::{Specialization, evaluate_with};
use crate::program::{EntryPoint, GlobalId, Program, Value};
use crate::source::SourceMap;
use std::collections::BTreeMap;

/// Describes a kernel with the values of function constants, by index; the others are not set. An argument whose
/// condition cannot be computed without compiling stays, and keeps its condition.
///
/// Its threadgroup variables are those of the source: only a compiler could tell which of them are still used with
/// these constants.
pub fn specialize(
    program: &Program,
    sources: &SourceMap,
    entry: &EntryPoint,
    constants: &BTreeMap<u32, Value>,
) -> Kernel {
    let values = specialization(program, constants);
    let truth = |id: GlobalId| match program.global(id).value.as_ref().or_else(|| values.get(&id))? {
        Value::Bool(value) => Some(*value),
        Value::Int(value) => Some(*value != 0),
        _ => None,
    };
    let general = kernel(program, sources, entry);
    let mut entry = entry.clone();
    entry.bindings.retain_mut(|binding| match binding.condition.map(truth) {
        None | Some(None) => true,
        Some(Some(exists)) => {
            binding.condition = None;
            exists
        }
    });
    Kernel { function_constants: general.function_constants, ..kernel(program, sources, &entry) }
}

/// The values of function constants, and of the globals that are computed from them.
fn specialization(program: &Program, constants: &BTreeMap<u32, Value>) -> Specialization {
    let globals = || (0..).map(GlobalId).zip(&program.globals);
    let mut values = Specialization::new();
    for (id, global) in globals() {
        let value = global.function_constant.and_then(|constant| constants.get(&constant.index));
        values.extend(value.map(|value| (id, value.clone())));
    }
    // One may be computed from another one, which need not stand before it.
    loop {
        let known = values.len();
        for (id, global) in globals() {
            let Some(init) = &global.init else { continue };
            if values.contains_key(&id) {
                continue;
            }
            match evaluate_with(program, &values, init) {
                Ok(Value::Unknown) | Err(_) => {}
                Ok(value) => {
                    values.insert(id, value);
                }
            }
        }
        if values.len() == known {
            return values;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        #include <metal_stdlib>
        using namespace metal;
        constant bool bias [[function_constant(0)]];
        constant int mode [[function_constant(1)]];
        constant bool has_mode = is_function_constant_defined(mode);
        constant int mode_or_two = has_mode ? mode : 2;
        constant bool both = bias && mode_or_two > 2;
        constant bool neither = !both;
        kernel void k(device int *x [[buffer(0)]],
                      device int *b [[buffer(1), function_constant(bias)]],
                      device int *m [[buffer(2), function_constant(has_mode)]],
                      constant int &n [[buffer(3), function_constant(both)]],
                      device int *o [[buffer(4), function_constant(neither)]],
                      uint i [[thread_position_in_grid]]) { x[i] = mode_or_two; }";

    fn arguments(constants: &[(u32, Value)]) -> Vec<String> {
        let compilation = crate::compile_source("k.metal", SOURCE, &crate::Options::default());
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let entry = compilation.program.kernels().next().expect("a kernel");
        let constants = constants.iter().cloned().collect();
        let kernel = specialize(&compilation.program, &compilation.sources, entry, &constants);
        assert_eq!((kernel.function_constants.as_slice(), kernel.builtins.len()), (&[0, 1][..], 1));
        let name = |condition: Option<String>| condition.map_or(String::new(), |name| format!(" if {name}"));
        kernel.arguments.into_iter().map(|argument| argument.name + &name(argument.function_constant)).collect()
    }

    #[test]
    fn arguments_under_constants() {
        let (on, off) = (Value::Bool(true), Value::Bool(false));
        assert_eq!(arguments(&[(0, on.clone()), (1, Value::Int(3))]), ["x", "b", "m", "n"]);
        assert_eq!(arguments(&[(0, on.clone()), (1, Value::Int(1))]), ["x", "b", "m", "o"]);
        assert_eq!(arguments(&[(0, on)]), ["x", "b", "o"]);
        assert_eq!(arguments(&[(0, off.clone())]), ["x", "o"]);
        assert_eq!(arguments(&[(0, off), (1, Value::Int(7))]), ["x", "m", "o"]);
    }

    #[test]
    fn what_is_not_known_stays_with_its_condition() {
        // `bias` has no value: neither has what depends on it.
        assert_eq!(arguments(&[]), ["x", "b if bias", "n if both", "o if neither"]);
    }
}
