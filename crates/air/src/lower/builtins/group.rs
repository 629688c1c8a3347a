//! <metal_simdgroup>, <metal_quadgroup>, <metal_compute>: functions across threads, and barriers.

use super::call::{Call, Effects};
use super::{Attempt, Output, Result};
use inkwell::values::BasicValueEnum;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// Functions across the threads of a group.
    pub(super) fn group(&self) -> Attempt<'ctx> {
        let context = self.lowering.context;
        match self.name {
            // The second argument, 1, is the same in all of Apple's code.
            "threadgroup_barrier" => return self.barrier("air.wg.barrier"),
            "simdgroup_barrier" => return self.barrier("air.simdgroup.barrier"),
            "__builtin_trap" => return self.trap().map(Some),
            "discard_fragment" => {
                return self.intrinsic("air.discard_fragment", None, &[], Effects::Group).map(Some);
            }
            _ => {}
        }
        let value = match self.name {
            "simd_all"
            | "simd_any"
            | "simd_is_first"
            | "simd_is_helper_thread"
            | "quad_all"
            | "quad_any"
            | "quad_is_first"
            | "quad_is_helper_thread" => {
                self.value_of(&format!("air.{}", self.name), context.bool_type(), self.args, Effects::Group)?
            }
            "__metal_simd_ballot" => {
                self.value_of("air.simd_ballot.i64", context.i64_type(), self.args, Effects::Group)?
            }
            "__metal_simd_active_threads_mask" => {
                self.value_of("air.simd_active_threads_mask.i64", context.i64_type(), &[], Effects::Group)?
            }
            "__metal_quad_ballot" => self.quad_mask("air.quad_ballot")?,
            "__metal_quad_active_threads_mask" => self.quad_mask("air.quad_active_threads_mask")?,
            // The argument only chooses the type.
            "__metal_get_simdgroup_size" => self.simdgroup_size()?,
            // Inferred from the one above; Apple's drivers know the name.
            "__metal_get_thread_index_in_simdgroup" => {
                self.value_of("air.get_thread_index_in_simdgroup.i16", context.i16_type(), &[], Effects::None)?
            }
            _ => return self.across_lanes(),
        };
        Ok(Some(Output::Value(value)))
    }

    /// The thread ends here. Code after the call is never reached.
    fn trap(&self) -> Result<Output<'ctx>> {
        let lowering = &self.lowering;
        // LLVM knows the attributes of its own functions.
        let trap = lowering.module.get_function("llvm.trap").unwrap_or_else(|| {
            lowering.module.add_function("llvm.trap", lowering.context.void_type().fn_type(&[], false), None)
        });
        lowering.builder.build_call(trap, &[], "")?;
        lowering.builder.build_unreachable()?;
        if let Some(block) = lowering.builder.get_insert_block() {
            lowering.builder.position_at_end(lowering.context.insert_basic_block_after(block, ""));
        }
        Ok(Output::Nothing)
    }

    fn barrier(&self, name: &str) -> Attempt<'ctx> {
        self.intrinsic(name, None, &[self.arg(0)?, self.i32(1).into()], Effects::Group).map(Some)
    }

    /// One bit for each of four threads.
    fn quad_mask(&self, name: &str) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.lowering.context.i16_type();
        let mask = self.value_of(name, ty, self.args, Effects::Group)?;
        self.and(mask, ty.const_int(15, false).into())
    }

    fn simdgroup_size(&self) -> Result<BasicValueEnum<'ctx>> {
        self.value_of("air.get_simdgroup_size.i16", self.lowering.context.i16_type(), &[], Effects::None)
    }

    /// `air.simd_sum.f32`, `air.quad_shuffle.u.i16`, …: data first, then lanes as `i16`.
    fn across_lanes(&self) -> Attempt<'ctx> {
        let (is_simd, operation) = match self.name.split_once('_') {
            Some(("simd", operation)) => (true, operation),
            Some(("quad", operation)) => (false, operation),
            _ => return Ok(None),
        };
        let Some(shape) = self.param_shape(0) else { return Ok(None) };
        let is_known = matches!(
            operation,
            "broadcast"
                | "broadcast_first"
                | "shuffle"
                | "shuffle_and_fill_down"
                | "shuffle_and_fill_up"
                | "shuffle_down"
                | "shuffle_rotate_down"
                | "shuffle_rotate_up"
                | "shuffle_up"
                | "shuffle_xor"
                | "and"
                | "or"
                | "xor"
                | "max"
                | "min"
                | "product"
                | "sum"
                | "prefix_exclusive_product"
                | "prefix_exclusive_sum"
                | "prefix_inclusive_product"
                | "prefix_inclusive_sum"
        );
        if !is_known {
            return Ok(None);
        }
        let mut args = self.args.to_vec();
        if operation.starts_with("shuffle_and_fill") && args.len() == 3 {
            // The whole group takes part.
            args.push(match is_simd {
                true => self.simdgroup_size()?,
                false => self.lowering.context.i16_type().const_int(4, false).into(),
            });
        }
        let name = format!("air.{}.{}", self.name, shape.signed_suffix());
        Ok(Some(Output::Value(self.value_of(&name, self.ty(shape), &args, Effects::Group)?)))
    }
}
