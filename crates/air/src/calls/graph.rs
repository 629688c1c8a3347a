//! The functions of a module that call each other in a cycle.

use super::cost::KEPT;
use crate::ir::{ModuleRef, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The cycles of calls, those that are called before those that call them. A function that mentions another, as a call
/// or as a value, counts as its caller.
pub(super) fn cycles(module: ModuleRef<'_>) -> Vec<Vec<Value<'_>>> {
    let functions: Vec<Value> = module.functions().into_iter().filter(|one| !one.is_declaration()).collect();
    let numbers: FxHashMap<Value, usize> = functions.iter().copied().zip(0..).collect();
    let callees: Vec<Vec<usize>> = functions.iter().map(|&one| mentioned(one, &numbers)).collect();
    let mut callers = vec![Vec::new(); functions.len()];
    for (caller, callees) in callees.iter().enumerate() {
        for &callee in callees {
            callers[callee].push(caller);
        }
    }
    // Kosaraju: what a function reaches against the calls, in the reverse order in which a search along them ends, is
    // its component; callers come first.
    let order = callees_first(&callees);
    let mut components = Vec::new();
    let mut seen = vec![false; functions.len()];
    for &root in order.iter().rev() {
        let mut component = Vec::new();
        search(root, &callers, &mut seen, &mut component);
        let is_cycle = match component[..] {
            [] => false,
            [one] => callees[one].contains(&one),
            _ => true,
        };
        if is_cycle {
            component.sort_unstable();
            components.push(component.into_iter().map(|number| functions[number]).collect());
        }
    }
    components.reverse();
    components
}

/// The functions that are not inlined, in groups that become one function: the cycles; or all in one group, if functions
/// are marked that are too large to be inlined.
pub(super) fn groups(module: ModuleRef<'_>) -> Vec<Vec<Value<'_>>> {
    let cycles = cycles(module);
    let is_marked = |one: &Value| !one.is_declaration() && one.has_text_attribute(KEPT);
    let marked: Vec<Value> = module.functions().into_iter().filter(is_marked).collect();
    if marked.is_empty() {
        return cycles;
    }
    let cyclic: FxHashSet<Value> = cycles.into_iter().flatten().collect();
    let is_member = |one: &Value| cyclic.contains(one) || marked.contains(one);
    vec![module.functions().into_iter().filter(is_member).collect()]
}

/// All nodes of a graph, each after all that it reaches, but for cycles.
pub(super) fn callees_first(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    for root in 0..edges.len() {
        search(root, edges, &mut seen, &mut order);
    }
    order
}

/// Appends what can be reached from `root` and was not seen, each after all that it reaches.
fn search(root: usize, edges: &[Vec<usize>], seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    // The recursion of the input must not be one of ours.
    let mut path = vec![(root, 0)];
    while let Some((node, position)) = path.last_mut() {
        match edges[*node].get(*position) {
            Some(&next) => {
                *position += 1;
                if !std::mem::replace(&mut seen[next], true) {
                    path.push((next, 0));
                }
            }
            None => {
                finished.push(*node);
                path.pop();
            }
        }
    }
}

/// The functions that code of `function` names, directly or in constants.
fn mentioned<'m>(function: Value<'m>, numbers: &FxHashMap<Value<'m>, usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<Value<'m>> = FxHashSet::default();
    let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let mut work: Vec<Value<'m>> = instructions.flat_map(|instruction| instruction.operands()).collect();
    while let Some(value) = work.pop() {
        if let Some(&number) = numbers.get(&value) {
            found.push(number);
        } else if !value.is_instruction()
            && (value.is_global_variable() || value.is_constant())
            && seen.insert(value)
        {
            work.extend(value.operands());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
