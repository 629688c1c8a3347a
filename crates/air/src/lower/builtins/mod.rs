//! The functions of the Metal library, as AIR's intrinsics where Apple has one and as plain LLVM where not.
//!
//! Names and signatures are those in `mlx.metallib` (AIR 2.6). Others were compared with public output of Apple's
//! compiler; comments mark those that are inferred. The scheme is
//! `air.[fast_]name[.s|.u].type`: integers have a sign where it matters, vectors are functions of their own.
//!
//! ```text
//! shape ─ types and their suffixes     call ─ declarations and calls     ops ─ arithmetic on scalars and vectors
//! math, bits, common, geometric, integer, relational, pack
//! group ─ SIMD-groups, quad-groups, barriers     atomics     matrix, simdgroup_matrix     function_tables
//! ```

mod atomics;
mod bits;
mod call;
mod common;
mod function_tables;
mod geometric;
mod group;
mod integer;
mod log;
mod math;
mod matrix;
mod ops;
mod pack;
mod relational;
mod shape;
mod simdgroup_matrix;
#[cfg(test)]
mod tests;

use self::call::{Call, Precision};
use super::{Error, Lowering, Result};
use inkwell::values::{BasicValueEnum, PointerValue};
use msl::program::Function;
use msl::source::Span;

/// The result of a call.
enum Output<'ctx> {
    Value(BasicValueEnum<'ctx>),
    /// The function returns nothing, or its result is in memory.
    Nothing,
}

/// `None`: the function belongs to another group.
type Attempt<'ctx> = Result<Option<Output<'ctx>>>;

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// Calls a function of the library. Arguments of register types are values, others pointers to memory in the
    /// thread address space; references are pointers. A result that is no register type is written to `result`.
    pub(super) fn builtin(
        &mut self,
        function: &'p Function,
        args: &[BasicValueEnum<'ctx>],
        result: Option<PointerValue<'ctx>>,
        span: Span,
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let full_name = function.builtin.as_deref().unwrap_or_default();
        let (precision, name) = match full_name.split_once("::") {
            Some(("fast", name)) => (Precision::Fast, name),
            Some(("precise", name)) => (Precision::Precise, name),
            _ => (Precision::Default, full_name),
        };
        let call = Call { lowering: self, name, precision, function, args, result, span };
        match call.output()? {
            Some(Output::Value(value)) => Ok(Some(value)),
            Some(Output::Nothing) => Ok(None),
            None => Err(Error::Unsupported { what: unsupported(full_name), span }),
        }
    }
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// Asks each group in turn. The integer functions come first: they share names with those on floating point.
    fn output(&self) -> Attempt<'ctx> {
        let groups: [fn(&Self) -> Attempt<'ctx>; 13] = [
            Self::integer,
            Self::common,
            Self::math,
            Self::bits,
            Self::relational,
            Self::geometric,
            Self::group,
            Self::atomic,
            Self::simdgroup_matrix,
            Self::matrix,
            Self::pack,
            Self::function_table,
            Self::log,
        ];
        for group in groups {
            if let Some(output) = group(self)? {
                return Ok(Some(output));
            }
        }
        Ok(None)
    }
}

/// The description of a function that cannot be lowered; of a method, with the class.
fn unsupported(name: &str) -> String {
    let kind = [
        ("texture", "textures"),
        ("depth", "textures"),
        ("sampler", "samplers"),
        ("interpolant", "interpolation"),
        ("tensor", "tensors"),
        ("cooperative_tensor", "tensors"),
        ("matmul2d", "tensors"),
        ("convolution2d", "tensors"),
        ("mpp::tensor_ops", "tensors"),
        ("raytracing", "ray tracing"),
    ];
    match kind.iter().find(|(class, _)| name.starts_with(class)) {
        Some((_, kind)) => format!("the function '{name}' of {kind}"),
        None => format!("the function '{name}'"),
    }
}
