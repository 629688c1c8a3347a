//! Bindings that no dispatch uses: as a rule, somebody took the wrong index.

use super::list;
use crate::backend::Table;
use crate::error::{Result, usage};
use crate::kernel::arguments::ArgumentTable;

/// What is bound and not used so far, a bit for each index.
#[derive(Default)]
pub(crate) struct Uses {
    /// Bound since the last dispatch.
    fresh: u32,
    /// Bound before some dispatch, and used by none since.
    idle: u32,
}

impl Uses {
    pub(crate) fn bind(&mut self, index: usize) {
        self.fresh |= 1 << index;
        self.idle &= !(1 << index);
    }

    /// Kernels with function constants may have arguments that the constants decided against, which hosts bind all the
    /// same: they are taken to use everything.
    pub(crate) fn dispatch(&mut self, arguments: &ArgumentTable) {
        let used = if arguments.may_lack_some { u32::MAX } else { arguments.buffer_indices };
        self.idle = (self.idle | self.fresh) & !used;
        self.fresh = 0;
    }

    /// Whether everything that was there for some dispatch was used.
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
