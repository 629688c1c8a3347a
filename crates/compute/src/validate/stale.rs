//! Detection of buffers released after they were bound.

use crate::backend::{ArgumentMemory, Table, releases};
use crate::error::{Result, usage};
use crate::validate::argument_name;
use msl::reflect::ArgumentKind;
use std::sync::atomic::Ordering;

/// Checks that none of a table's buffers was released. Scans them only if some buffer was released since the last
/// check.
pub(crate) fn stale(call: &str, table: &Table) -> Result<()> {
    let now = releases();
    if table.checked_releases.load(Ordering::Relaxed) == now {
        return Ok(());
    }
    for (number, dispatch) in table.dispatches.iter().enumerate() {
        for binding in table.bindings_of(number) {
            let ArgumentMemory::Buffer { buffer, .. } = binding.memory else { continue };
            let buffer = &table.buffers.items[buffer as usize];
            if buffer.is_released() {
                let pipeline = table.pipeline(dispatch);
                let name = argument_name(pipeline, ArgumentKind::Buffer, binding.index.into()).unwrap_or_default();
                return usage(format!(
                    "{call}: dispatch {number}, of '{}': buffer {} for the argument '{name}': {} was released after it \
                     was bound",
                    pipeline.name(),
                    binding.index,
                    buffer.description()
                ));
            }
        }
    }
    table.checked_releases.store(now, Ordering::Relaxed);
    Ok(())
}
