//! Buffers that were released after they were bound.

use crate::buffer::releases;
use crate::error::{Result, usage};
use crate::pass::{Pass, Place};
use crate::validate::argument_name;
use msl::reflect::ArgumentKind;
use std::sync::atomic::Ordering;

/// Whether none of a pass's buffers was released. As long as nobody's are, nothing is looked at.
pub(crate) fn stale(call: &str, pass: &Pass) -> Result<()> {
    let now = releases();
    if pass.checked_releases.load(Ordering::Relaxed) == now {
        return Ok(());
    }
    for (number, dispatch) in pass.dispatches.iter().enumerate() {
        for binding in pass.bindings_of(number) {
            let Place::Buffer { buffer, .. } = binding.place else { continue };
            let buffer = &pass.buffers.items[buffer as usize];
            if buffer.is_released() {
                let pipeline = pass.pipeline(dispatch);
                let name = argument_name(pipeline, ArgumentKind::Buffer, binding.index.into()).unwrap_or_default();
                return usage(format!(
                    "{call}: dispatch {number}, of '{}': buffer {} for the argument '{name}': {} was released after it \
                     was bound",
                    pipeline.shared_name(),
                    binding.index,
                    buffer.description()
                ));
            }
        }
    }
    pass.checked_releases.store(now, Ordering::Relaxed);
    Ok(())
}
