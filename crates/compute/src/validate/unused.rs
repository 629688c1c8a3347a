//! Detection of bindings that no dispatch uses: usually a wrong index.

use super::list;
use crate::backend::Table;
use crate::error::{Result, usage};
use crate::kernel::arguments::ArgumentTable;

/// Bindings not used so far, one bit per index.
#[derive(Default)]
pub(crate) struct Uses {
    /// Bound since the last dispatch.
    fresh: u32,
    /// Bound before a dispatch, and not used by any since.
    idle: u32,
}

impl Uses {
    pub(crate) fn bind(&mut self, index: usize) {
        self.fresh |= 1 << index;
        self.idle &= !(1 << index);
    }

    /// Kernels with function constants may have arguments that the constants removed, and that hosts still bind: they
    /// count as using everything.
    pub(crate) fn dispatch(&mut self, arguments: &ArgumentTable) {
        let used = if arguments.may_lack_some { u32::MAX } else { arguments.buffer_indices };
        self.idle = (self.idle | self.fresh) & !used;
        self.fresh = 0;
    }

    /// Checks that every binding that was there for a dispatch was used.
    pub(crate) fn check(&self, call: &str, table: &Table) -> Result<()> {
        let Some(last) = table.dispatches.last().filter(|_| self.idle != 0) else { return Ok(()) };
        let pipeline = table.pipeline(last);
        let (indices, are) = if self.idle.is_power_of_two() { ("index", "is") } else { ("indices", "are") };
        usage(format!(
            "{call}: {indices} {} {are} bound, and no dispatch since then has such an argument (the last is of '{}', \
             which has {})",
            list(self.idle),
            pipeline.name(),
            list(pipeline.arguments.buffer_indices)
        ))
    }
}
