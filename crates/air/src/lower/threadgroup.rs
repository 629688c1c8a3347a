//! Variables in threadgroup memory that start as zeros: `threadgroup float sums[32] = {};`.
//!
//! Before the code of the kernel, every thread writes the zeros, and a barrier keeps it from reading or overwriting those
//! of another. That takes no thread's index, which a kernel may not ask for.

use super::{Lowering, Result};
use inkwell::attributes::{Attribute, AttributeLoc};
use msl::program::{LocalId, Stmt, StmtKind};
use msl::types::AddressSpace;

/// `mem_flags::mem_threadgroup`, and the scope of a threadgroup.
const BARRIER_OPERANDS: [u64; 2] = [2, 1];

impl<'p> Lowering<'_, 'p> {
    pub(super) fn zero_threadgroup_variables(&mut self, body: &'p [Stmt]) -> Result<()> {
        let locals = &self.frame().source.locals;
        let mut zeros: Vec<LocalId> = Vec::new();
        msl::walk::walk_stmts(body, &mut |stmt| match stmt.kind {
            StmtKind::Local(id, Some(_)) if locals[id.0 as usize].space == AddressSpace::Threadgroup => {
                zeros.push(id)
            }
            _ => {}
        });
        if zeros.is_empty() {
            return Ok(());
        }
        for id in zeros {
            let ty = self.frame().source.locals[id.0 as usize].ty.ty;
            let place = self.local(id)?;
            self.clear(place, ty)?;
        }
        let i32_type = self.context.i32_type();
        let barrier = self.module.get_function("air.wg.barrier").unwrap_or_else(|| {
            let ty = self.context.void_type().fn_type(&[i32_type.into(), i32_type.into()], false);
            let function = self.module.add_function("air.wg.barrier", ty, None);
            for name in ["convergent", "mustprogress", "nounwind", "willreturn"] {
                let kind = Attribute::get_named_enum_kind_id(name);
                function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
            }
            function
        });
        let operands = BARRIER_OPERANDS.map(|operand| i32_type.const_int(operand, false).into());
        self.builder.build_call(barrier, &operands, "")?;
        Ok(())
    }
}
