//! Accesses that cannot meet: `!alias.scope` and `!noalias`. Metal's compiler takes for granted that the buffers of a
//! kernel do not overlap, and each has a scope of its own:
//!
//! ```text
//! load %0, !alias.scope !{scope 0}, !noalias !{scope 1, scope 2}
//! scope 1: distinct !{self, domain, "air-alias-scope-arg(1)"}     domain: distinct !{self, "air-alias-scopes(kernel)"}
//! ```

use crate::ir::{Block, Metadata, ModuleRef, Opcode, Value};
use std::collections::{BTreeMap, HashSet};

/// The most values that the search for the buffer of an access looks at.
const MOST_VALUES: usize = 64;

/// Annotates the loads and stores of a kernel.
pub(super) fn annotate(module: ModuleRef, kernel: &str) {
    let Some(kernel) = module.function(kernel) else { return };
    let context = module.context();
    let domain = format!("air-alias-scopes({})", kernel.name());
    let domain = Metadata::distinct(context, &[Metadata::string(context, &domain)]);
    let parameters = kernel.parameters();
    let mut scopes = BTreeMap::new();
    for (index, _) in parameters.iter().enumerate().filter(|(_, parameter)| parameter.ty().is_pointer()) {
        let name = Metadata::string(context, &format!("air-alias-scope-arg({index})"));
        scopes.insert(index, Metadata::distinct(context, &[domain, name]));
    }
    for access in kernel.blocks().into_iter().flat_map(Block::instructions).filter(|access| access.is_access()) {
        let pointer = access.operand(if access.is(Opcode::LLVMStore) { 1 } else { 0 });
        let buffer =
            buffer(pointer).and_then(|buffer| parameters.iter().position(|parameter| *parameter == buffer));
        let Some(buffer) = buffer.filter(|buffer| scopes.contains_key(buffer)) else { continue };
        let list = |is_meant: &dyn Fn(usize) -> bool| {
            let meant = scopes.iter().filter(|(index, _)| is_meant(**index));
            meant.map(|(_, scope)| Some(*scope)).collect::<Vec<_>>()
        };
        let (own, others) = (list(&|index| index == buffer), list(&|index| index != buffer));
        access.attach(c"alias.scope", Metadata::node(context, &own));
        if !others.is_empty() {
            access.attach(c"noalias", Metadata::node(context, &others));
        }
    }
}

/// The parameter that a pointer is computed from; `None` where it may be something else.
fn buffer(pointer: Value) -> Option<Value> {
    let mut seen = HashSet::from([pointer]);
    let mut pending = vec![pointer];
    let mut found = None;
    while let Some(value) = pending.pop() {
        if value.is_argument() {
            if found.is_some_and(|other| other != value) {
                return None;
            }
            found = Some(value);
            continue;
        }
        let from = if !value.is_instruction() {
            return None;
        } else {
            match value.opcode() {
                Opcode::LLVMGetElementPtr => vec![value.operand(0)],
                Opcode::LLVMSelect => vec![value.operand(1), value.operand(2)],
                Opcode::LLVMPHI => value.incoming().into_iter().map(|(value, _)| value).collect(),
                _ => return None,
            }
        };
        pending.extend(from.into_iter().filter(|value| seen.insert(*value)));
        if seen.len() > MOST_VALUES {
            return None;
        }
    }
    found
}
