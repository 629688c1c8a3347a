//! A function may call itself, directly or through others, since Metal 2.4, in compute functions.

use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::diagnostics::Diagnostic;
use crate::preprocess::LanguageVersion;
use crate::program::{FunctionId, Stage};
use crate::walk;
use std::collections::{BTreeMap, BTreeSet};

/// The first language version with recursion.
const FIRST: LanguageVersion = LanguageVersion::new(2, 4);

impl<'a> Tables<'a> {
    fn runs_on_the_gpu(&self, function: FunctionId) -> bool {
        let entries = self.program().entry_points.iter().map(|entry| entry.function);
        walk::reachable(self.program(), entries, []).functions.contains(&function)
    }

    /// The functions that graphics functions can call.
    fn graphics_functions(&self) -> BTreeSet<FunctionId> {
        let graphics = self.program().entry_points.iter().filter(|entry| entry.stage != Stage::Kernel);
        walk::reachable(self.program(), graphics.map(|entry| entry.function), []).functions
    }
}

/// Reports each cycle of calls that the language version or a graphics function forbids, once, at the call that
/// closes it.
pub(in crate::check) fn refuse_recursion(tables: &Tables<'_>, diagnostics: &mut Diagnostics) {
    let has_recursion = tables.std() >= FIRST;
    let graphics = if has_recursion { tables.graphics_functions() } else { BTreeSet::new() };
    if has_recursion && graphics.is_empty() {
        return;
    }
    let mut calls: BTreeMap<FunctionId, Vec<FunctionId>> = BTreeMap::new();
    let mut sites: Vec<_> = tables.call_sites().keys().copied().collect();
    sites.sort();
    for (caller, callee) in sites {
        calls.entry(caller).or_default().push(callee);
    }
    let mut done = vec![false; tables.program().functions.len()];
    let roots: Vec<FunctionId> = calls.keys().copied().collect();
    for root in roots {
        // Depth first, without recursion of our own: the path is a stack of functions and positions.
        let mut path: Vec<(FunctionId, usize)> = vec![(root, 0)];
        while let Some((function, position)) = path.last_mut() {
            let function = *function;
            let next = calls.get(&function).and_then(|callees| callees.get(*position)).copied();
            *position += 1;
            let Some(callee) = next else {
                done[function.0 as usize] = true;
                path.pop();
                continue;
            };
            if path.iter().any(|(on_path, _)| *on_path == callee) {
                // A constexpr function that is only evaluated by the compiler may call itself.
                let is_refused = match has_recursion {
                    true => graphics.contains(&callee),
                    false => !tables.function(callee).is_constexpr || tables.runs_on_the_gpu(callee),
                };
                if is_refused {
                    report_recursion(tables, diagnostics, function, callee);
                }
                done[callee.0 as usize] = true;
            } else if !done[callee.0 as usize] {
                path.push((callee, 0));
            }
        }
    }
}

fn report_recursion(tables: &Tables<'_>, diagnostics: &mut Diagnostics, caller: FunctionId, callee: FunctionId) {
    let span = tables.call_sites()[&(caller, callee)];
    let name = tables.function(callee).name.clone();
    let message = match tables.std() >= FIRST {
        true => format!("recursive call to '{name}': recursion is not supported in graphics functions"),
        false => format!("recursive call to '{name}': recursion is not supported before Metal 2.4"),
    };
    let declared = tables.function(callee).span;
    let diagnostic = Diagnostic::error("recursion", span, message);
    diagnostics.report(diagnostic.note(declared, format!("'{name}' is declared here")));
}
