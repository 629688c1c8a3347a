//! One call of a library function, and how intrinsics are declared and called.

use super::shape::{Scalar, Shape};
use super::{Error, Lowering, Output, Result};
use crate::lower::MathMode;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, FastMathFlags, FunctionValue, IntValue, PointerValue,
    ValueKind,
};
use msl::MathFunctions;
use msl::program::Function;
use msl::source::Span;
use msl::types::{FloatKind, QualTy, Ty};

/// The variant of a function on `float`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// That of the compilation.
    Default,
    /// `metal::fast`
    Fast,
    /// `metal::precise`
    Precise,
}

/// The effects of an intrinsic besides its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effects {
    /// Nothing.
    None,
    /// It talks to other threads: no thread may skip it.
    Group,
    /// It changes memory that other threads see.
    Atomic,
    /// The group reads memory.
    GroupRead,
    /// The group writes memory.
    GroupWrite,
    /// It writes through its pointer argument.
    Out,
}

/// `memory(none)`, `memory(read)`, `memory(write)`: two bits for each of LLVM's six kinds of memory.
const MEMORY_NONE: u64 = 0;
const MEMORY_READ: u64 = 0x555;
const MEMORY_WRITE: u64 = 0xaaa;

impl Effects {
    /// The attributes of the declaration, as Apple's compiler writes them.
    fn attributes(self) -> &'static [(&'static str, u64)] {
        match self {
            Effects::None => &[
                ("mustprogress", 0),
                ("nofree", 0),
                ("nosync", 0),
                ("nounwind", 0),
                ("willreturn", 0),
                ("memory", MEMORY_NONE),
            ],
            Effects::Group => &[("convergent", 0), ("mustprogress", 0), ("nounwind", 0), ("willreturn", 0)],
            Effects::Atomic => &[("mustprogress", 0), ("nounwind", 0), ("willreturn", 0)],
            Effects::GroupRead => &[
                ("convergent", 0),
                ("mustprogress", 0),
                ("nofree", 0),
                ("nounwind", 0),
                ("willreturn", 0),
                ("memory", MEMORY_READ),
            ],
            Effects::GroupWrite => &[
                ("convergent", 0),
                ("mustprogress", 0),
                ("nounwind", 0),
                ("willreturn", 0),
                ("memory", MEMORY_WRITE),
            ],
            Effects::Out => &[("mustprogress", 0), ("nofree", 0), ("nounwind", 0), ("willreturn", 0)],
        }
    }

    /// The attributes of each pointer parameter.
    fn pointer_attributes(self) -> &'static [(&'static str, u64)] {
        match self {
            Effects::GroupRead => &[("readonly", 0), ("captures", 0)],
            Effects::GroupWrite | Effects::Out => &[("writeonly", 0), ("captures", 0)],
            Effects::None | Effects::Group | Effects::Atomic => &[("captures", 0)],
        }
    }
}

/// One call of a library function.
pub(super) struct Call<'a, 'ctx, 'p> {
    pub(super) lowering: &'a Lowering<'ctx, 'p>,
    /// Without its namespace.
    pub(super) name: &'p str,
    pub(super) precision: Precision,
    pub(super) function: &'p Function,
    pub(super) args: &'a [BasicValueEnum<'ctx>],
    pub(super) result: Option<PointerValue<'ctx>>,
    /// The place of the call.
    pub(super) span: Span,
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// A mistake of ours.
    pub(super) fn internal(&self, what: &str) -> Error {
        Error::Internal(format!("'{}': {what}", self.name))
    }

    /// The type of a parameter.
    pub(super) fn param(&self, index: usize) -> Option<Ty> {
        let id = *self.function.params.get(index)?;
        Some(self.function.locals[id.0 as usize].ty.ty)
    }

    /// The shape of a parameter.
    pub(super) fn param_shape(&self, index: usize) -> Option<Shape> {
        Shape::of(&self.lowering.program.types, self.param(index)?)
    }

    /// The shape of the first parameter, where it is of floating point.
    pub(super) fn float_shape(&self) -> Option<Shape> {
        self.param_shape(0).filter(|shape| shape.is_float())
    }

    /// The shape of the result.
    pub(super) fn result_shape(&self) -> Result<Shape> {
        Shape::of(&self.lowering.program.types, self.function.result)
            .ok_or_else(|| self.internal("the result's type"))
    }

    pub(super) fn arg(&self, index: usize) -> Result<BasicValueEnum<'ctx>> {
        self.args.get(index).copied().ok_or_else(|| self.internal("an argument is missing"))
    }

    /// An argument that is a pointer, or a value in memory.
    pub(super) fn pointer_arg(&self, index: usize) -> Result<PointerValue<'ctx>> {
        match self.arg(index)? {
            BasicValueEnum::PointerValue(pointer) => Ok(pointer),
            _ => Err(self.internal("an argument should be a pointer")),
        }
    }

    /// The type that a reference parameter refers to; the type itself of others.
    pub(super) fn referent(&self, index: usize) -> Result<QualTy> {
        let ty = self.param(index).ok_or_else(|| self.internal("an argument is missing"))?;
        Ok(self.lowering.program.types.referent(QualTy::plain(ty)))
    }

    /// Writes through a reference.
    pub(super) fn store_through(&self, index: usize, value: BasicValueEnum<'ctx>) -> Result<()> {
        self.lowering.store(self.pointer_arg(index)?, self.referent(index)?, value)
    }

    /// The LLVM type of a shape.
    pub(super) fn ty(&self, shape: Shape) -> BasicTypeEnum<'ctx> {
        let element: BasicTypeEnum<'ctx> = match shape.scalar {
            Scalar::Bool => self.lowering.context.bool_type().into(),
            Scalar::Int(kind) => self.lowering.int_type(kind).into(),
            Scalar::Float(kind) => self.lowering.float_type(kind).into(),
        };
        match shape.len {
            Some(len) => self.lowering.vector_of(element, len),
            None => element,
        }
    }

    pub(super) fn i32(&self, value: u64) -> IntValue<'ctx> {
        self.lowering.context.i32_type().const_int(value, false)
    }

    pub(super) fn i1(&self, value: bool) -> IntValue<'ctx> {
        self.lowering.context.bool_type().const_int(u64::from(value), false)
    }

    /// True if a function on numbers of this shape is its fast variant.
    pub(super) fn is_fast(&self, shape: Shape) -> bool {
        shape.scalar == Scalar::Float(FloatKind::Float)
            && match self.precision {
                Precision::Default => {
                    let chosen = self.lowering.program.math_functions;
                    chosen.unwrap_or(MathFunctions::of_mode(self.lowering.math)) == MathFunctions::Fast
                }
                Precision::Fast => true,
                Precision::Precise => false,
            }
    }

    /// Marks an instruction on floating point as one that may be computed fast.
    pub(super) fn relaxed(&self, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        let flags = match self.lowering.math {
            MathMode::Fast => FastMathFlags::all(),
            MathMode::Relaxed => FastMathFlags::all() - FastMathFlags::NoNaNs - FastMathFlags::NoInfs,
            MathMode::Safe => return value,
        };
        if self.precision != Precision::Precise
            && let Some(instruction) = value.as_instruction_value()
            && instruction.can_use_fast_math_flags()
        {
            // It cannot fail: the instruction can have the flags.
            let _ = instruction.set_fast_math_flags(flags);
        }
        value
    }

    /// Calls an intrinsic, and declares it before its first call.
    pub(super) fn intrinsic(
        &self,
        name: &str,
        result: Option<BasicTypeEnum<'ctx>>,
        args: &[BasicValueEnum<'ctx>],
        effects: Effects,
    ) -> Result<Output<'ctx>> {
        let function = match self.lowering.module.get_function(name) {
            Some(function) => function,
            None => self.declare(name, result, args, effects),
        };
        let args: Vec<BasicMetadataValueEnum<'ctx>> = args.iter().map(|&arg| arg.into()).collect();
        match self.lowering.builder.build_call(function, &args, "")?.try_as_basic_value() {
            ValueKind::Basic(value) => Ok(Output::Value(self.relaxed(value))),
            ValueKind::Instruction(_) => Ok(Output::Nothing),
        }
    }

    /// Calls an intrinsic that returns something.
    pub(super) fn value_of(
        &self,
        name: &str,
        result: impl BasicType<'ctx>,
        args: &[BasicValueEnum<'ctx>],
        effects: Effects,
    ) -> Result<BasicValueEnum<'ctx>> {
        match self.intrinsic(name, Some(result.as_basic_type_enum()), args, effects)? {
            Output::Value(value) => Ok(value),
            Output::Nothing => Err(self.internal("an intrinsic without a result")),
        }
    }

    fn declare(
        &self,
        name: &str,
        result: Option<BasicTypeEnum<'ctx>>,
        args: &[BasicValueEnum<'ctx>],
        effects: Effects,
    ) -> FunctionValue<'ctx> {
        let context = self.lowering.context;
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = args.iter().map(|arg| arg.get_type().into()).collect();
        let ty = match result {
            Some(result) => result.fn_type(&params, false),
            None => context.void_type().fn_type(&params, false),
        };
        let function = self.lowering.module.add_function(name, ty, None);
        if name.starts_with("llvm.") {
            return function; // LLVM knows its own.
        }
        let attribute = |&(name, value): &(&str, u64)| -> Attribute {
            context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
        };
        for each in effects.attributes() {
            function.add_attribute(AttributeLoc::Function, attribute(each));
        }
        for (index, _) in args.iter().enumerate().filter(|(_, arg)| arg.is_pointer_value()) {
            for each in effects.pointer_attributes() {
                function.add_attribute(AttributeLoc::Param(index as u32), attribute(each));
            }
        }
        function
    }
}
