//! <metal_visible_function_table>. The names are inferred: no public output of Apple's compiler has them.

use super::call::{Call, Effects};
use super::{Attempt, Output};
use crate::calls::pointers::{TABLE_ENTRY, TABLE_SIZE};

impl<'ctx> Call<'_, 'ctx, '_> {
    /// Reads a table: the host has set it before the kernel runs.
    pub(super) fn function_table(&self) -> Attempt<'ctx> {
        let name = match self.name {
            "__visible_function" => TABLE_ENTRY,
            "__visible_function_count" => TABLE_SIZE,
            _ => return Ok(None),
        };
        let result = self.lowering.register_type(self.function.result)?;
        Ok(Some(Output::Value(self.value_of(name, result, self.args, Effects::None)?)))
    }
}
