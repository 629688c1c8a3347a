//! Expressions: values in registers, aggregates in memory, and calls.

use super::places::Place;
use super::{Error, Lowering, Result};
use inkwell::basic_block::BasicBlock;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, PointerValue};
use msl::program::{BinaryOp, Expr, ExprKind, FunctionId, Value};
use msl::source::Span;
use msl::types::{QualTy, Ty, TyKind};
use msl::walk;

/// Place of a field or element in an aggregate.
struct PartPlace {
    /// In bytes.
    offset: u64,
    /// First bit and width of a bit-field.
    bits: Option<(u32, u32)>,
    /// The qualifiers alone count.
    qualified: QualTy,
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// Evaluates for the effects alone.
    pub(crate) fn effect(&mut self, expr: &'p Expr) -> Result<()> {
        self.at(expr.span, |this| this.evaluate(expr))
    }

    fn evaluate(&mut self, expr: &'p Expr) -> Result<()> {
        if let Some(chosen) = walk::chosen(expr) {
            return self.effect(chosen);
        }
        match &expr.kind {
            ExprKind::Call { function, args } => {
                let result = match expr.ty.ty != Ty::VOID && !self.is_register(expr.ty.ty) {
                    true => Some(self.alloca(expr.ty.ty)?),
                    false => None,
                };
                self.call(*function, args, result, expr.span)?;
            }
            ExprKind::CallPointer { pointer, args } if expr.ty.ty == Ty::VOID => {
                self.call_pointer(pointer, args, expr.ty.ty, None)?;
            }
            ExprKind::Cast { kind: msl::program::CastKind::Discard, operand } => self.effect(operand)?,
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.effect(second)?;
            }
            ExprKind::Statements { body, value } => {
                self.statements(body)?;
                if let Some(value) = value {
                    self.effect(value)?;
                }
            }
            ExprKind::Conditional { condition, then, otherwise } if expr.ty.ty == Ty::VOID => {
                self.either(condition, then, otherwise, Self::effect)?;
            }
            _ if expr.is_place => {
                let place = self.place(expr)?;
                if is_read_when_discarded(expr) && self.is_register(expr.ty.ty) {
                    self.load_place(&place, expr.ty)?;
                }
            }
            _ if expr.ty.ty == Ty::VOID => {}
            _ if self.is_register(expr.ty.ty) => {
                self.value(expr)?;
            }
            _ => {
                let place = self.alloca(expr.ty.ty)?;
                self.aggregate_into(expr, place)?;
            }
        }
        Ok(())
    }

    /// The value of an expression of register type.
    pub(crate) fn value(&mut self, expr: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        match &expr.kind {
            ExprKind::Constant(value) => self.constant(value, expr.ty.ty),
            _ => self.at(expr.span, |this| this.register_value(expr)),
        }
    }

    fn register_value(&mut self, expr: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        let (ty, span) = (expr.ty.ty, expr.span);
        if let Some(chosen) = walk::chosen(expr) {
            return self.value(chosen);
        }
        match &expr.kind {
            ExprKind::Load(place) => {
                let place_ty = place.ty;
                let place = self.place(place)?;
                self.load_place(&place, place_ty)
            }
            ExprKind::AddressOf(place) | ExprKind::Decay(place) => {
                let address = self.address(place)?;
                let wanted = self.register_type(ty)?.into_pointer_type();
                // A constant that depends on function constants is in thread memory.
                Ok(match address.get_type() == wanted {
                    true => address.into(),
                    false => self.builder.build_address_space_cast(address, wanted, "")?.into(),
                })
            }
            ExprKind::Cast { kind, operand } => self.cast(*kind, operand, ty),
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Binary { op, lhs, rhs } => {
                let operand_ty = lhs.ty.ty;
                let matrices = !self.is_register(operand_ty);
                if matrices {
                    return self.compare_matrices(*op, lhs, rhs);
                }
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                match self.fused(*op, (Some(lhs), a), (Some(rhs), b))? {
                    Some(fused) => Ok(fused),
                    None => self.binary(*op, operand_ty, a, b),
                }
            }
            ExprKind::ShortCircuit { is_or, lhs, rhs } => self.short_circuit(*is_or, lhs, rhs),
            ExprKind::PointerAdd { pointer, offset, negative } => {
                let pointee = self.program.types.pointee(pointer.ty.ty).expect("a pointer").ty;
                let pointer = self.value(pointer)?.into_pointer_value();
                let mut offset = self.value(offset)?.into_int_value();
                if *negative {
                    offset = self.builder.build_int_neg(offset, "")?;
                }
                let element = self.element_type(pointee)?;
                Ok(self.step(pointer, element, offset)?.into())
            }
            ExprKind::PointerDifference { lhs, rhs } => {
                let pointee = self.program.types.pointee(lhs.ty.ty).expect("a pointer").ty;
                let size = self.layout(pointee)?.size;
                let i64_type = self.context.i64_type();
                let a = self.value(lhs)?.into_pointer_value();
                let b = self.value(rhs)?.into_pointer_value();
                let a = self.builder.build_ptr_to_int(a, i64_type, "")?;
                let b = self.builder.build_ptr_to_int(b, i64_type, "")?;
                let bytes = self.builder.build_int_sub(a, b, "")?;
                let size = i64_type.const_int(size, false);
                Ok(self.builder.build_int_exact_signed_div(bytes, size, "")?.into())
            }
            ExprKind::Increment { place, is_decrement, is_prefix: false } => {
                Ok(self.increment(place, *is_decrement)?.1)
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, ty)
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.value(second)
            }
            ExprKind::Statements { body, value: Some(value) } => {
                self.statements(body)?;
                self.value(value)
            }
            ExprKind::Call { function, args } => {
                let value = self.call(*function, args, None, span)?;
                value.ok_or_else(|| Error::Internal("a call without a result".into()))
            }
            ExprKind::CallPointer { pointer, args } => self.call_pointer(pointer, args, ty, None),
            ExprKind::Swizzle { base, components } if !base.is_place => {
                let vector = self.value(base)?;
                self.shuffle(vector, components)
            }
            ExprKind::Index { base, index } if !base.is_place && self.is_register(base.ty.ty) => {
                let vector = self.value(base)?.into_vector_value();
                let index = self.value(index)?.into_int_value();
                Ok(self.builder.build_extract_element(vector, index, "")?)
            }
            ExprKind::Compose(parts) => self.compose(parts, ty),
            ExprKind::Splat(operand) => {
                let scalar = self.value(operand)?;
                match *self.program.types.kind(ty) {
                    // A diagonal matrix is a question for the hardware's layout: only AIR's own function knows it.
                    TyKind::SimdgroupMatrix { .. } => self.simdgroup_diagonal(scalar, ty),
                    _ => self.splat(scalar, ty),
                }
            }
            ExprKind::Zero => Ok(zero(self.register_type(ty)?)),
            ExprKind::Function(id) => Ok(self.function(*id)?.as_global_value().as_pointer_value().into()),
            ExprKind::MatrixProduct { lhs, rhs } => self.product_vector(lhs, rhs),
            ExprKind::Error => Err(Error::Internal("a program with errors".into())),
            // Everything else denotes a place, or is part of an aggregate in memory.
            _ => {
                let place = self.place(expr)?;
                self.load_place(&place, expr.ty)
            }
        }
    }

    /// Evaluates an expression that is no register type into `to`, memory of the thread.
    pub(crate) fn aggregate_into(&mut self, expr: &'p Expr, to: PointerValue<'ctx>) -> Result<()> {
        self.at(expr.span, |this| this.evaluate_into(expr, to))
    }

    fn evaluate_into(&mut self, expr: &'p Expr, to: PointerValue<'ctx>) -> Result<()> {
        let ty = expr.ty.ty;
        match &expr.kind {
            ExprKind::Load(place) => {
                let from = self.address(place)?;
                self.copy(to, from, place.ty.with_ty(ty))
            }
            ExprKind::Zero => self.clear(to, ty),
            ExprKind::Constant(Value::Unknown) => Ok(()),
            ExprKind::Constant(value) => {
                let layout = self.layout(ty)?;
                let mut bytes = vec![0; layout.size as usize];
                self.write_bytes(value, ty, &mut bytes)?;
                let from = self.constant_bytes(&bytes, layout.align, "constant");
                self.copy(to, from, QualTy::plain(ty))
            }
            ExprKind::Aggregate(parts) => self.fill(parts, ty, to),
            ExprKind::Construct { constructor, args } => {
                let mut values: Vec<BasicMetadataValueEnum<'ctx>> = vec![to.into()];
                for arg in args {
                    values.push(self.argument(arg)?.into());
                }
                let source = self.program.function(*constructor);
                if source.builtin.is_some() {
                    let what = format!("an object of type '{}'", self.program.types.name(ty));
                    return Err(Error::Unsupported { what, span: expr.span });
                }
                let function =
                    self.function(*constructor).map_err(|error| self.outside_headers(error, expr.span))?;
                self.builder.build_call(function, &values, "")?;
                Ok(())
            }
            ExprKind::Call { function, args } => {
                self.call(*function, args, Some(to), expr.span)?;
                Ok(())
            }
            ExprKind::CallPointer { pointer, args } => {
                self.call_pointer(pointer, args, ty, Some(to))?;
                Ok(())
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.aggregate_into(second, to)
            }
            ExprKind::Statements { body, value: Some(value) } => {
                self.statements(body)?;
                self.aggregate_into(value, to)
            }
            ExprKind::Conditional { condition, then, otherwise } if !expr.is_place => {
                if let Some(chosen) = walk::chosen(expr) {
                    return self.aggregate_into(chosen, to);
                }
                self.either(condition, then, otherwise, |this, part| this.aggregate_into(part, to))?;
                Ok(())
            }
            ExprKind::Compose(columns) => {
                for (index, column) in columns.iter().enumerate() {
                    let value = self.value(column)?;
                    self.store_column(to, ty, index as u64, value)?;
                }
                Ok(())
            }
            ExprKind::Splat(scalar) => self.diagonal(scalar, ty, to),
            ExprKind::Binary { op, lhs, rhs } => self.by_column(ty, to, |this, index, ty| {
                let (a, b) = (this.column(lhs, index)?, this.column(rhs, index)?);
                this.binary(*op, ty, a, b)
            }),
            ExprKind::Unary { op, operand } => self.by_column(ty, to, |this, index, ty| {
                let value = this.column(operand, index)?;
                this.unary_value(*op, ty, value)
            }),
            ExprKind::Cast { operand, .. } => {
                let from = self.column_ty(operand.ty.ty)?;
                self.by_column(ty, to, |this, index, ty| {
                    let value = this.column(operand, index)?;
                    this.convert_number(value, from, ty)
                })
            }
            ExprKind::MatrixProduct { lhs, rhs } => self.product_matrix(lhs, rhs, ty, to),
            ExprKind::Error => Err(Error::Internal("a program with errors".into())),
            _ => {
                let from = self.address(expr)?;
                self.copy(to, from, if expr.is_place { expr.ty } else { QualTy::plain(ty) })
            }
        }
    }

    /// Sets a place to zero.
    pub(super) fn clear(&mut self, to: PointerValue<'ctx>, ty: Ty) -> Result<()> {
        let Some(size) = self.data_size(ty)? else { return Ok(()) };
        let align = self.align_at(to, ty)?;
        let zero = self.context.i8_type().const_zero();
        self.builder.build_memset(to, align, zero, size).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(())
    }

    /// A struct from its fields, an array from its elements.
    fn fill(&mut self, parts: &'p [Expr], ty: Ty, to: PointerValue<'ctx>) -> Result<()> {
        let types = &self.program.types;
        let places: Vec<PartPlace> = match *types.kind(ty) {
            TyKind::Struct(id) => {
                let place = |field: &msl::types::Field| PartPlace {
                    offset: field.offset,
                    bits: field.bits,
                    qualified: field.ty,
                };
                types.struct_(id).fields.iter().map(place).collect()
            }
            TyKind::Array { element, .. } => {
                let stride = self.layout(element)?.size;
                let place =
                    |index| PartPlace { offset: index * stride, bits: None, qualified: QualTy::plain(element) };
                (0..parts.len() as u64).map(place).collect()
            }
            _ => return Err(Error::Internal("an aggregate of no struct or array".into())),
        };
        let is_whole = match *types.kind(ty) {
            TyKind::Array { len, .. } => len == Some(parts.len() as u64),
            _ => places.iter().all(|place| place.bits.is_none()),
        };
        if !is_whole {
            self.clear(to, ty)?;
        }
        let padding = |index: usize| match *types.kind(ty) {
            TyKind::Struct(id) => types.struct_(id).fields[index].is_padding(),
            _ => false,
        };
        for (index, (part, place)) in parts.iter().zip(places).enumerate() {
            if padding(index) {
                continue;
            }
            let PartPlace { offset, bits, qualified } = place;
            let place = self.offset(to, offset)?;
            self.note_field_alignment(to, ty, place, offset, part.ty.ty);
            match bits {
                Some((first, width)) => {
                    let value = self.value(part)?;
                    self.store_place(
                        &Place::Bits { unit: place, first, width },
                        qualified.with_ty(part.ty.ty),
                        value,
                    )?;
                }
                None => self.initialize(place, part, qualified)?,
            }
        }
        Ok(())
    }

    // --- calls -------------------------------------------------------------------------------------------------

    /// An argument: a value, or a pointer to a copy.
    fn argument(&mut self, arg: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        if self.is_register(arg.ty.ty) {
            return self.value(arg);
        }
        let copy = self.alloca(arg.ty.ty)?;
        self.aggregate_into(arg, copy)?;
        Ok(copy.into())
    }

    /// An error in a function, with the place of the call if the function is one of the built-in headers.
    fn outside_headers(&self, error: Error, call: Span) -> Error {
        match (error, self.sources) {
            (Error::Unsupported { what, span }, Some(sources)) if sources.file(span.file).builtin => {
                Error::Unsupported { what, span: call }
            }
            (error, _) => error,
        }
    }

    fn call(
        &mut self,
        id: FunctionId,
        args: &'p [Expr],
        result: Option<PointerValue<'ctx>>,
        span: Span,
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.argument(arg)?);
        }
        let source = self.program.function(id);
        if source.builtin.is_some() {
            return self.builtin(source, &values, result, span);
        }
        let function = self.function(id).map_err(|error| self.outside_headers(error, span))?;
        let mut all: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        if source.result != Ty::VOID && !self.is_register(source.result) {
            all.push(result.ok_or_else(|| Error::Internal("no room for a result".into()))?.into());
        }
        all.extend(values.into_iter().map(BasicMetadataValueEnum::from));
        let call = self.builder.build_call(function, &all, "")?;
        Ok(call.try_as_basic_value().basic())
    }

    fn call_pointer(
        &mut self,
        pointer: &'p Expr,
        args: &'p [Expr],
        result_ty: Ty,
        result: Option<PointerValue<'ctx>>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let callee = self.value(pointer)?.into_pointer_value();
        let mut values: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        values.extend(result.map(BasicMetadataValueEnum::from));
        for arg in args {
            values.push(self.argument(arg)?.into());
        }
        let mut params = Vec::new();
        for value in &values {
            params.push(match value {
                BasicMetadataValueEnum::IntValue(v) => v.get_type().into(),
                BasicMetadataValueEnum::FloatValue(v) => v.get_type().into(),
                BasicMetadataValueEnum::PointerValue(v) => v.get_type().into(),
                BasicMetadataValueEnum::VectorValue(v) => v.get_type().into(),
                _ => return Err(Error::Internal("an argument of no register type".into())),
            });
        }
        let ty = match self.is_register(result_ty) {
            true => inkwell::types::BasicType::fn_type(&self.register_type(result_ty)?, &params, false),
            false => self.context.void_type().fn_type(&params, false),
        };
        let call = self.builder.build_indirect_call(ty, callee, &values, "")?;
        Ok(call.try_as_basic_value().basic().unwrap_or(self.context.i32_type().const_zero().into()))
    }

    // --- control flow in expressions ---------------------------------------------------------------------------

    fn short_circuit(&mut self, is_or: bool, lhs: &'p Expr, rhs: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        if walk::decided(lhs) == Some(is_or) {
            return Ok(self.context.bool_type().const_int(is_or.into(), false).into());
        }
        let left = self.value(lhs)?.into_int_value();
        let from = self.builder.get_insert_block().expect("a block");
        let (more, end) = (self.new_block("more"), self.new_block("decided"));
        match is_or {
            true => self.builder.build_conditional_branch(left, end, more)?,
            false => self.builder.build_conditional_branch(left, more, end)?,
        };
        self.builder.position_at_end(more);
        let right = self.value(rhs)?;
        let more_end = self.builder.get_insert_block().expect("a block");
        self.builder.build_unconditional_branch(end)?;
        self.builder.position_at_end(end);
        let bool_type = self.context.bool_type();
        let decided = bool_type.const_int(u64::from(is_or), false);
        let phi = self.builder.build_phi(bool_type, "")?;
        phi.add_incoming(&[(&decided, from), (&right, more_end)]);
        Ok(phi.as_basic_value())
    }

    /// Evaluates one of two expressions; returns the value of each and the block in which it ended.
    pub(crate) fn either<T>(
        &mut self,
        condition: &'p Expr,
        then: &'p Expr,
        otherwise: &'p Expr,
        mut evaluate: impl FnMut(&mut Self, &'p Expr) -> Result<T>,
    ) -> Result<[(T, BasicBlock<'ctx>); 2]> {
        let condition = self.value(condition)?.into_int_value();
        let (yes, no) = (self.new_block("yes"), self.new_block("no"));
        let end = self.new_block("either");
        self.builder.build_conditional_branch(condition, yes, no)?;
        let mut branch = |start: BasicBlock<'ctx>, part: &'p Expr| {
            self.builder.position_at_end(start);
            let made = evaluate(self, part)?;
            let last = self.builder.get_insert_block().unwrap_or(start);
            self.builder.build_unconditional_branch(end)?;
            Ok::<_, Error>((made, last))
        };
        let both = [branch(yes, then)?, branch(no, otherwise)?];
        self.builder.position_at_end(end);
        Ok(both)
    }

    fn conditional(
        &mut self,
        condition: &'p Expr,
        then: &'p Expr,
        otherwise: &'p Expr,
        ty: Ty,
    ) -> Result<BasicValueEnum<'ctx>> {
        let incoming = self.either(condition, then, otherwise, Self::value)?;
        let phi = self.builder.build_phi(self.register_type(ty)?, "")?;
        for (value, block) in &incoming {
            phi.add_incoming(&[(value, *block)]);
        }
        Ok(phi.as_basic_value())
    }

    // --- vectors -----------------------------------------------------------------------------------------------

    /// Some components: a scalar for one.
    pub(crate) fn shuffle(&self, vector: BasicValueEnum<'ctx>, components: &[u8]) -> Result<BasicValueEnum<'ctx>> {
        let vector = vector.into_vector_value();
        let i32_type = self.context.i32_type();
        if let [component] = components {
            let index = i32_type.const_int(u64::from(*component), false);
            return Ok(self.builder.build_extract_element(vector, index, "")?);
        }
        let mask: Vec<_> = components.iter().map(|&c| i32_type.const_int(u64::from(c), false)).collect();
        let mask = VectorType::const_vector(&mask);
        let undef = vector.get_type().get_undef();
        Ok(self.builder.build_shuffle_vector(vector, undef, mask, "")?.into())
    }

    /// The same scalar in every component.
    pub(crate) fn splat(&self, scalar: BasicValueEnum<'ctx>, ty: Ty) -> Result<BasicValueEnum<'ctx>> {
        let BasicTypeEnum::VectorType(vector_type) = self.register_type(ty)? else { return Ok(scalar) };
        let mut vector = vector_type.get_undef();
        for index in 0..vector_type.get_size() {
            let index = self.context.i32_type().const_int(u64::from(index), false);
            vector = self.builder.build_insert_element(vector, scalar, index, "")?;
        }
        Ok(vector.into())
    }

    fn compose(&mut self, parts: &'p [Expr], ty: Ty) -> Result<BasicValueEnum<'ctx>> {
        let i32_type = self.context.i32_type();
        let mut vector = self.register_type(ty)?.into_vector_type().get_undef();
        let mut next = 0;
        for part in parts {
            let value = self.value(part)?;
            let count = self.program.types.vector_parts(part.ty.ty).map_or(1, |(_, len)| len);
            for component in 0..count {
                let scalar = if count == 1 { value } else { self.shuffle(value, &[component])? };
                let index = i32_type.const_int(next, false);
                vector = self.builder.build_insert_element(vector, scalar, index, "")?;
                next += 1;
            }
        }
        Ok(vector.into())
    }

    /// `++` and `--`: the place, and the old value.
    pub(crate) fn increment(
        &mut self,
        place: &'p Expr,
        is_decrement: bool,
    ) -> Result<(Place<'ctx>, BasicValueEnum<'ctx>)> {
        let (qualified, ty) = (place.ty, place.ty.ty);
        let place = self.place(place)?;
        let old = self.load_place(&place, qualified)?;
        let new = match self.program.types.pointee(ty) {
            Some(pointee) => {
                let step = self.context.i64_type().const_int(if is_decrement { u64::MAX } else { 1 }, true);
                let element = self.element_type(pointee.ty)?;
                self.step(old.into_pointer_value(), element, step)?.into()
            }
            None => {
                let element = self.program.types.element_of(ty);
                let one = match self.program.types.float_kind(element) {
                    Some(kind) => self.float_type(kind).const_float(1.0).into(),
                    None => self.register_type(element)?.into_int_type().const_int(1, false).into(),
                };
                let one = self.splat(one, ty)?;
                let op = if is_decrement { BinaryOp::Sub } else { BinaryOp::Add };
                self.binary(op, ty, old, one)?
            }
        };
        self.store_place(&place, qualified, new)?;
        Ok((place, old))
    }

    pub(crate) fn compound_assign(
        &mut self,
        op: BinaryOp,
        place: &'p Expr,
        compute: Ty,
        value: &'p Expr,
    ) -> Result<Place<'ctx>> {
        let (qualified, ty) = (place.ty, place.ty.ty);
        let addend = value;
        let value = self.value(addend)?;
        let place = self.place(place)?;
        let old = self.load_place(&place, qualified)?;
        let new = match self.program.types.pointee(ty) {
            Some(pointee) => {
                let mut offset = value.into_int_value();
                if op == BinaryOp::Sub {
                    offset = self.builder.build_int_neg(offset, "")?;
                }
                let element = self.element_type(pointee.ty)?;
                self.step(old.into_pointer_value(), element, offset)?.into()
            }
            None => {
                let old = self.convert_number(old, ty, compute)?;
                let new = match self.fused(op, (None, old), (Some(addend), value))? {
                    Some(fused) => fused,
                    None => self.binary(op, compute, old, value)?,
                };
                self.convert_number(new, compute, ty)?
            }
        };
        self.store_place(&place, qualified, new)?;
        Ok(place)
    }
}

/// True if an expression whose value nobody uses reads its place all the same: a volatile one that is no assignment.
fn is_read_when_discarded(expr: &Expr) -> bool {
    expr.ty.is_volatile
        && !matches!(
            expr.kind,
            ExprKind::Assign { .. } | ExprKind::CompoundAssign { .. } | ExprKind::Increment { .. }
        )
}

/// Zero of a register type.
pub(crate) fn zero(ty: BasicTypeEnum<'_>) -> BasicValueEnum<'_> {
    ty.const_zero()
}
