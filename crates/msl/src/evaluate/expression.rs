//! Expressions: [`Machine::value`] for what they are, [`Machine::place`] for where they are.

use super::memory::{Location, Root, Slot, Step, known};
use super::number::{self, Scalar};
use super::{Interrupt, Machine, Outcome, SUBEXPRESSION, UNINITIALIZED, not_constant, too_long};
use crate::program::{BinaryOp, CastKind, Expr, ExprKind, FunctionId, UnaryOp, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind, Types};

const REINTERPRET: &str =
    "cast that performs the conversions of a reinterpret_cast is not allowed in a constant expression";

impl<'p> Machine<'p> {
    fn types(&self) -> &'p Types {
        &self.program.types
    }

    /// The value of an expression; that of a place is what it holds.
    pub(super) fn value(&mut self, expr: &'p Expr) -> Outcome<Slot> {
        self.deeper(expr.span, |machine| machine.value_of(expr))
    }

    /// The place that an expression denotes. A value gets a temporary one.
    pub(super) fn place(&mut self, expr: &'p Expr) -> Outcome<Location> {
        self.deeper(expr.span, |machine| machine.place_of(expr))
    }

    fn place_of(&mut self, expr: &'p Expr) -> Outcome<Location> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Local(id) => self.local(*id, span),
            ExprKind::Global(id) => Ok(Location::new(Root::Global(*id))),
            ExprKind::Deref(pointer) => self.deref(pointer, span),
            ExprKind::Field { base, field } if base.is_place => self.part_place(base, Step::Field(*field)),
            ExprKind::Index { base, index } if base.is_place => self.indexed_place(base, index),
            ExprKind::Swizzle { base, components } if base.is_place => {
                self.part_place(base, swizzle_step(components))
            }
            ExprKind::Assign { place, value } => self.assign(place, value, span),
            ExprKind::CompoundAssign { op, place, compute, value } => {
                self.compound_assign(*op, place, *compute, value, span)
            }
            ExprKind::Increment { place, is_decrement, is_prefix: true } => {
                self.increment(place, *is_decrement, span).map(|(place, _)| place)
            }
            ExprKind::Conditional { condition, then, otherwise } if expr.is_place => {
                let branch = if self.condition(condition)? { then } else { otherwise };
                self.place(branch)
            }
            ExprKind::Comma(first, second) if expr.is_place => {
                self.effect(first)?;
                self.place(second)
            }
            ExprKind::Temporary(value) => self.temporary(value),
            ExprKind::Error => Err(Interrupt::Unknown),
            ExprKind::ThreadElements(_) => Err(not_constant(span, SUBEXPRESSION)),
            _ if expr.is_place => Err(not_constant(span, SUBEXPRESSION)),
            _ => self.temporary(expr),
        }
    }

    fn deref(&mut self, pointer: &'p Expr, span: Span) -> Outcome<Location> {
        let pointer = self.value(pointer)?;
        self.pointee(pointer, span)
    }

    fn part_place(&mut self, base: &'p Expr, step: Step) -> Outcome<Location> {
        Ok(self.place(base)?.then(step))
    }

    fn indexed_place(&mut self, base: &'p Expr, index: &'p Expr) -> Outcome<Location> {
        let place = self.place(base)?;
        let step = self.index(base.ty.ty, index)?;
        Ok(place.then(step))
    }

    fn assign(&mut self, place: &'p Expr, value: &'p Expr, span: Span) -> Outcome<Location> {
        // The right operand comes first, as since C++17.
        let value = self.value(value)?;
        let place = self.place(place)?;
        self.store(&place, value, span)?;
        Ok(place)
    }

    fn temporary(&mut self, expr: &'p Expr) -> Outcome<Location> {
        let value = self.value(expr)?;
        Ok(Location::new(Root::Object(self.memory.add(expr.ty.ty, value))))
    }

    // Each arm is a call, so that this frame, of which there is one per level of nesting, stays small.
    fn value_of(&mut self, expr: &'p Expr) -> Outcome<Slot> {
        let (span, ty) = (expr.span, expr.ty.ty);
        if expr.is_place {
            return self.load_from(expr);
        }
        match &expr.kind {
            ExprKind::Error => Err(Interrupt::Unknown),
            ExprKind::Constant(value) => self.constant(value, span),
            ExprKind::Function(id) => Ok(Slot::Scalar(Value::Function(*id))),
            ExprKind::Load(place) => self.value(place),
            ExprKind::AddressOf(place) => self.place(place).map(Slot::Address),
            ExprKind::Decay(array) => match &array.kind {
                // A string is its own address: nothing can be done with it but to pass it on.
                ExprKind::Constant(text @ Value::Str(_)) => Ok(Slot::Scalar(text.clone())),
                _ => self.decay(array),
            },
            ExprKind::Field { base, field } => self.part(base, Step::Field(*field), expr),
            ExprKind::Index { base, index } => self.indexed(base, index, expr),
            ExprKind::Swizzle { base, components } => self.part(base, swizzle_step(components), expr),
            ExprKind::Cast { kind, operand } => self.cast(*kind, operand, ty, span),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ExprKind::Binary { .. }
            | ExprKind::MatrixProduct { .. }
            | ExprKind::PointerAdd { .. }
            | ExprKind::PointerDifference { .. } => self.two_operands(expr),
            ExprKind::ShortCircuit { is_or, lhs, rhs } => self.short_circuit(*is_or, lhs, rhs),
            ExprKind::Increment { place, is_decrement, is_prefix: false } => {
                self.increment(place, *is_decrement, span).map(|(_, old)| old)
            }
            ExprKind::Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise),
            ExprKind::Comma(first, second) => self.comma(first, second),
            ExprKind::Call { function, args } => match self.is_set(expr) {
                Some(is_set) => Ok(Slot::Scalar(Value::Bool(is_set))),
                None => self.call_with(*function, args, span),
            },
            ExprKind::CallPointer { pointer, args } => match self.value(pointer)? {
                Slot::Scalar(Value::Function(function)) => self.call_with(function, args, span),
                _ => Err(not_constant(span, "the function that is called is not known")),
            },
            ExprKind::Construct { constructor, args } => self.construct(*constructor, args, ty, span),
            ExprKind::Aggregate(parts) => self.aggregate(parts, ty, span),
            ExprKind::Compose(parts) => self.compose(parts, ty, span),
            ExprKind::Splat(operand) => self.splat(operand, ty, span),
            ExprKind::Zero => self.zero(ty, span),
            ExprKind::ThreadElements(_) => Err(not_constant(span, SUBEXPRESSION)),
            // These denote places, whatever `is_place` says.
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Temporary(_)
            | ExprKind::Assign { .. }
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Increment { is_prefix: true, .. } => self.load_from(expr),
        }
    }

    fn load_from(&mut self, expr: &'p Expr) -> Outcome<Slot> {
        let place = self.place(expr)?;
        self.load(&place, expr.ty.ty, expr.span)
    }

    fn constant(&mut self, value: &Value, span: Span) -> Outcome<Slot> {
        let slot = Slot::from(value.clone());
        self.charge(span, slot.size() - 1)?;
        Ok(slot)
    }

    fn decay(&mut self, array: &'p Expr) -> Outcome<Slot> {
        Ok(Slot::Address(self.place(array)?.then(Step::Element(0))))
    }

    fn two_operands(&mut self, expr: &'p Expr) -> Outcome<Slot> {
        let span = expr.span;
        let (lhs, rhs) = match &expr.kind {
            ExprKind::Binary { lhs, rhs, .. }
            | ExprKind::MatrixProduct { lhs, rhs }
            | ExprKind::PointerAdd { pointer: lhs, offset: rhs, .. }
            | ExprKind::PointerDifference { lhs, rhs } => (lhs, rhs),
            _ => return Err(not_constant(span, SUBEXPRESSION)),
        };
        let left = self.value(lhs)?;
        let right = self.value(rhs)?;
        match &expr.kind {
            ExprKind::Binary { op, .. } => self.binary(*op, lhs.ty.ty, left, right, span),
            ExprKind::MatrixProduct { .. } => self.matrix_product(lhs.ty.ty, &left, rhs.ty.ty, &right, span),
            ExprKind::PointerAdd { negative, .. } => self.move_pointer(left, right, *negative, span),
            _ => pointer_difference(left, right, span),
        }
    }

    fn short_circuit(&mut self, is_or: bool, lhs: &'p Expr, rhs: &'p Expr) -> Outcome<Slot> {
        if self.condition(lhs)? == is_or { Ok(Slot::Scalar(Value::Bool(is_or))) } else { self.value(rhs) }
    }

    fn conditional(&mut self, condition: &'p Expr, then: &'p Expr, otherwise: &'p Expr) -> Outcome<Slot> {
        let branch = if self.condition(condition)? { then } else { otherwise };
        self.value(branch)
    }

    fn comma(&mut self, first: &'p Expr, second: &'p Expr) -> Outcome<Slot> {
        self.effect(first)?;
        self.value(second)
    }

    /// Value of `is_function_constant_defined`, once it is known.
    fn is_set(&self, call: &Expr) -> Option<bool> {
        let values = self.specialization?;
        let constant = self.program.constant_tested_by(call)?;
        Some(self.program.global(constant).function_constant.is_some() && values.contains_key(&constant))
    }

    fn call_with(&mut self, function: FunctionId, args: &'p [Expr], span: Span) -> Outcome<Slot> {
        let args = self.values(args)?;
        self.call(function, args, span)
    }

    fn values(&mut self, exprs: &'p [Expr]) -> Outcome<Vec<Slot>> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// The type of a component of `ty`.
    fn scalar(&self, ty: Ty, span: Span) -> Outcome<Scalar> {
        if ty.is_unknown() {
            return Err(Interrupt::Unknown);
        }
        Scalar::of(self.types(), ty).ok_or_else(|| not_constant(span, SUBEXPRESSION))
    }

    /// A part of a value.
    fn part(&mut self, base: &'p Expr, step: Step, expr: &'p Expr) -> Outcome<Slot> {
        let base = self.value(base)?;
        let part = base.part(&step).map_err(|missing| not_constant(expr.span, missing.reason("read")))?;
        if part == Slot::Uninit && self.types().struct_id(expr.ty.ty).is_none() {
            return Err(not_constant(expr.span, UNINITIALIZED));
        }
        Ok(part)
    }

    fn indexed(&mut self, base: &'p Expr, index: &'p Expr, expr: &'p Expr) -> Outcome<Slot> {
        let step = self.index(base.ty.ty, index)?;
        self.part(base, step, expr)
    }

    /// The step to an element of something of type `base`.
    fn index(&mut self, base: Ty, index: &'p Expr) -> Outcome<Step> {
        let span = index.span;
        let Slot::Scalar(Value::Int(index)) = known(self.value(index)?)? else {
            return Err(not_constant(span, SUBEXPRESSION));
        };
        let (len, is_array) = match *self.types().kind(base) {
            TyKind::Array { len, .. } => (len, true),
            TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => (Some(u64::from(len)), false),
            TyKind::Matrix { columns, .. } => (Some(u64::from(columns)), false),
            _ if base.is_unknown() => return Err(Interrupt::Unknown),
            _ => return Err(not_constant(span, SUBEXPRESSION)),
        };
        let in_range =
            index >= 0 && len.is_none_or(|len| index < i128::from(len) || is_array && index == i128::from(len));
        if !in_range {
            let len = len.map_or(String::new(), |len| format!("{len} "));
            let what = if is_array { "array" } else { "vector" };
            return Err(not_constant(
                span,
                format!("cannot refer to element {index} of {what} of {len}elements in a constant expression"),
            ));
        }
        Ok(if is_array { Step::Element(index as u64) } else { Step::Field(index as u32) })
    }

    // --- numbers -----------------------------------------------------------------------------------------------

    fn unary(&mut self, op: UnaryOp, operand: &'p Expr, span: Span) -> Outcome<Slot> {
        let value = self.value(operand)?;
        if value == Slot::UNKNOWN {
            return Ok(value);
        }
        let kind = self.scalar(operand.ty.ty, span)?;
        map(&value, &|value| number::unary(op, kind, value)).map_err(|reason| not_constant(span, reason))
    }

    fn binary(&mut self, op: BinaryOp, ty: Ty, lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
        let is_pointer = |slot: &Slot| {
            matches!(slot, Slot::Address(_) | Slot::Scalar(Value::Null | Value::Function(_) | Value::Str(_)))
        };
        if is_pointer(&lhs) || is_pointer(&rhs) {
            return compare_pointers(op, lhs, rhs, span);
        }
        if lhs == Slot::UNKNOWN || rhs == Slot::UNKNOWN {
            return Ok(Slot::UNKNOWN);
        }
        let kind = self.scalar(ty, span)?;
        zip(&lhs, &rhs, &|lhs, rhs| number::binary(op, kind, lhs, rhs)).map_err(|reason| not_constant(span, reason))
    }

    fn convert(&mut self, slot: &Slot, to: Ty, span: Span) -> Outcome<Slot> {
        let to = self.scalar(to, span)?;
        map(slot, &|value| number::convert_scalar(value, to).ok_or_else(|| cannot_convert(value, to)))
            .map_err(|reason| not_constant(span, reason))
    }

    fn cast(&mut self, kind: CastKind, operand: &'p Expr, ty: Ty, span: Span) -> Outcome<Slot> {
        if kind == CastKind::Discard {
            self.effect(operand)?;
            return Ok(Slot::Uninit);
        }
        let value = self.value(operand)?;
        match kind {
            CastKind::Number | CastKind::Matrix => self.convert(&value, ty, span),
            CastKind::Packing | CastKind::Discard => Ok(value),
            CastKind::NullPointer => Ok(Slot::Scalar(Value::Null)),
            CastKind::Pointer => self.cast_pointer(value, ty, span),
            CastKind::PointerToBool => match value {
                Slot::Address(_) => Ok(Slot::Scalar(Value::Bool(true))),
                value => self.convert(&value, Ty::BOOL, span),
            },
            CastKind::IntToPointer if value == Slot::Scalar(Value::Int(0)) => Ok(Slot::Scalar(Value::Null)),
            CastKind::IntToPointer | CastKind::PointerToInt if value == Slot::UNKNOWN => Ok(value),
            CastKind::IntToPointer | CastKind::PointerToInt => Err(not_constant(span, REINTERPRET)),
        }
    }

    fn matrix_product(&mut self, lty: Ty, lhs: &Slot, rty: Ty, rhs: &Slot, span: Span) -> Outcome<Slot> {
        if *lhs == Slot::UNKNOWN || *rhs == Slot::UNKNOWN {
            return Ok(Slot::UNKNOWN);
        }
        let kind = self.scalar(lty, span)?;
        let is_matrix = |ty| matches!(self.types().kind(ty), TyKind::Matrix { .. });
        let times = |a: &Slot, b: &Slot| zip(a, b, &|a, b| number::binary(BinaryOp::Mul, kind, a, b));
        let plus = |a: &Slot, b: &Slot| zip(a, b, &|a, b| number::binary(BinaryOp::Add, kind, a, b));
        // The sum of `many[i] * each[i]`: of a matrix's columns scaled, or of the products of components.
        let combine = |many: &[Slot], each: &Slot| -> Result<Slot, String> {
            let Slot::Aggregate(each) = each else { return Err(SUBEXPRESSION.into()) };
            let mut products = many.iter().zip(each).map(|(one, factor)| times(one, factor));
            let first = products.next().unwrap_or_else(|| Err(SUBEXPRESSION.into()))?;
            products.try_fold(first, |sum, product| plus(&sum, &product?))
        };
        let result = match (lhs, rhs) {
            (Slot::Aggregate(columns), Slot::Aggregate(others)) => match (is_matrix(lty), is_matrix(rty)) {
                (true, true) => others
                    .iter()
                    .map(|column| combine(columns, column))
                    .collect::<Result<_, _>>()
                    .map(Slot::Aggregate),
                (true, false) => combine(columns, rhs),
                // A row times a matrix: the products with each column.
                (false, true) => others
                    .iter()
                    .map(|column| combine(columns, column))
                    .collect::<Result<_, _>>()
                    .map(Slot::Aggregate),
                (false, false) => times(lhs, rhs),
            },
            _ => times(lhs, rhs),
        };
        result.map_err(|reason| not_constant(span, reason))
    }

    // --- new values --------------------------------------------------------------------------------------------

    fn construct(&mut self, constructor: FunctionId, args: &'p [Expr], ty: Ty, span: Span) -> Outcome<Slot> {
        let mut values = self.values(args)?;
        let object = self.memory.add(ty, Slot::Uninit);
        values.insert(0, Slot::Address(Location::new(Root::Object(object))));
        self.call(constructor, values, span)?;
        self.memory.remove(object).ok_or_else(|| not_constant(span, SUBEXPRESSION))
    }

    fn zero(&mut self, ty: Ty, span: Span) -> Outcome<Slot> {
        if ty == Ty::VOID {
            return Ok(Slot::Uninit);
        }
        let before = super::STEP_LIMIT.saturating_sub(self.steps);
        let mut budget = before;
        match number::zero(self.types(), ty, &mut budget) {
            Some(value) => {
                self.charge(span, before - budget)?;
                Ok(Slot::from(value))
            }
            None if self.types().layout(ty).is_some_and(|layout| layout.size > before) => Err(too_long(span)),
            None => Err(not_constant(span, SUBEXPRESSION)),
        }
    }

    fn aggregate(&mut self, parts: &'p [Expr], ty: Ty, span: Span) -> Outcome<Slot> {
        let mut slots = self.values(parts)?;
        match *self.types().kind(ty) {
            TyKind::Array { element, len } => {
                let missing = len.unwrap_or(0).saturating_sub(slots.len() as u64);
                if missing > 0 {
                    let zero = self.zero(element, span)?;
                    self.charge(span, zero.size().saturating_mul(missing))?;
                    slots.resize(slots.len() + missing as usize, zero);
                }
            }
            TyKind::Struct(id) => {
                let definition = self.types().struct_(id);
                let count = if definition.is_union { 1 } else { definition.fields.len() };
                for field in definition.fields.iter().take(count).skip(slots.len()) {
                    let zero = self.zero(field.ty.ty, span)?;
                    slots.push(zero);
                }
            }
            TyKind::Error | TyKind::Dependent => return Ok(Slot::UNKNOWN),
            _ => {}
        }
        Ok(Slot::Aggregate(slots))
    }

    fn compose(&mut self, parts: &'p [Expr], ty: Ty, span: Span) -> Outcome<Slot> {
        let mut components = Vec::new();
        let mut is_known = true;
        for part in parts {
            let slot = self.value(part)?;
            // Only its type would tell the number of components of an unknown vector.
            is_known &= slot != Slot::UNKNOWN || self.types().is_arithmetic(part.ty.ty);
            flatten(slot, &mut components);
        }
        if !is_known || ty.is_unknown() {
            return Ok(Slot::UNKNOWN);
        }
        match *self.types().kind(ty) {
            TyKind::Matrix { rows, .. } => {
                let columns = components.chunks(usize::from(rows.max(1)));
                Ok(Slot::Aggregate(columns.map(|column| Slot::Aggregate(column.to_vec())).collect()))
            }
            TyKind::Vector { .. } | TyKind::PackedVector { .. } => Ok(Slot::Aggregate(components)),
            _ => components.pop().ok_or_else(|| not_constant(span, SUBEXPRESSION)),
        }
    }

    fn splat(&mut self, operand: &'p Expr, ty: Ty, span: Span) -> Outcome<Slot> {
        let component = self.value(operand)?;
        match *self.types().kind(ty) {
            TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => {
                Ok(Slot::Aggregate(vec![component; usize::from(len)]))
            }
            TyKind::Matrix { columns, rows, .. } => {
                let zero = Slot::Scalar(self.scalar(ty, span)?.zero());
                let cell = |column, row| if column == row { component.clone() } else { zero.clone() };
                let column = |column| Slot::Aggregate((0..rows).map(|row| cell(column, row)).collect());
                Ok(Slot::Aggregate((0..columns).map(column).collect()))
            }
            TyKind::Error | TyKind::Dependent => Ok(Slot::UNKNOWN),
            _ => Err(not_constant(span, SUBEXPRESSION)),
        }
    }

    // --- assignments -------------------------------------------------------------------------------------------

    fn compound_assign(
        &mut self,
        op: BinaryOp,
        target: &'p Expr,
        compute: Ty,
        value: &'p Expr,
        span: Span,
    ) -> Outcome<Location> {
        let operand = self.value(value)?;
        let place = self.place(target)?;
        let old = self.load(&place, target.ty.ty, span)?;
        let types = self.types();
        let result = if types.pointee(compute).is_some() {
            self.move_pointer(old, operand, op == BinaryOp::Sub, span)?
        } else {
            let old = self.convert(&old, compute, span)?;
            let is_product = op == BinaryOp::Mul && matches!(types.kind(value.ty.ty), TyKind::Matrix { .. });
            let result = if is_product {
                self.matrix_product(compute, &old, value.ty.ty, &operand, span)?
            } else {
                self.binary(op, compute, old, operand, span)?
            };
            self.convert(&result, target.ty.ty, span)?
        };
        self.store(&place, result, span)?;
        Ok(place)
    }

    /// The place and its old value.
    fn increment(&mut self, target: &'p Expr, is_decrement: bool, span: Span) -> Outcome<(Location, Slot)> {
        let place = self.place(target)?;
        let old = self.load(&place, target.ty.ty, span)?;
        let one = Slot::Scalar(Value::Int(1));
        let new = if self.types().pointee(target.ty.ty).is_some() {
            self.move_pointer(old.clone(), one, is_decrement, span)?
        } else {
            // Small integers are promoted, so that only `int` and `long` overflow.
            let narrow = matches!(self.scalar(target.ty.ty, span)?, Scalar::Bool | Scalar::Int(_))
                && self.types().layout(self.types().element_of(target.ty.ty)).is_some_and(|layout| layout.size < 4);
            let compute = if narrow { Ty::INT } else { target.ty.ty };
            let wide = self.convert(&old, compute, span)?;
            let one = self.convert(&one, compute, span)?;
            let op = if is_decrement { BinaryOp::Sub } else { BinaryOp::Add };
            let new = self.binary(op, compute, wide, one, span)?;
            self.convert(&new, target.ty.ty, span)?
        };
        self.store(&place, new, span)?;
        Ok((place, old))
    }

    // --- pointers ----------------------------------------------------------------------------------------------

    fn pointee(&mut self, pointer: Slot, span: Span) -> Outcome<Location> {
        match known(pointer)? {
            Slot::Address(place) => Ok(place),
            Slot::Scalar(Value::Null) => {
                Err(not_constant(span, "dereferencing a null pointer is not allowed in a constant expression"))
            }
            _ => Err(not_constant(span, SUBEXPRESSION)),
        }
    }

    fn move_pointer(&mut self, pointer: Slot, offset: Slot, negative: bool, span: Span) -> Outcome<Slot> {
        let Slot::Scalar(Value::Int(offset)) = known(offset)? else {
            return Err(not_constant(span, SUBEXPRESSION));
        };
        let offset = if negative { -offset } else { offset };
        let pointer = known(pointer)?;
        if offset == 0 {
            return Ok(pointer);
        }
        let mut place = self.pointee(pointer, span)?;
        let Some(Step::Element(index)) = place.path.pop() else {
            return Err(not_constant(
                span,
                format!("cannot refer to element {offset} of non-array object in a constant expression"),
            ));
        };
        let array = self.memory.type_of(self.program, &place);
        let len = array.and_then(|array| match *self.types().kind(array) {
            TyKind::Array { len, .. } => len,
            _ => None,
        });
        let moved = i128::from(index) + offset;
        if moved < 0 || len.is_some_and(|len| moved > i128::from(len)) {
            let len = len.map_or(String::new(), |len| format!("{len} "));
            return Err(not_constant(
                span,
                format!("cannot refer to element {moved} of array of {len}elements in a constant expression"),
            ));
        }
        place.path.push(Step::Element(moved as u64));
        Ok(Slot::Address(place))
    }

    /// To a base class or back; anything else would reinterpret memory.
    fn cast_pointer(&mut self, pointer: Slot, ty: Ty, span: Span) -> Outcome<Slot> {
        let mut place = match pointer {
            Slot::Address(place) => place,
            pointer => return Ok(pointer),
        };
        let types = self.types();
        let target = match *types.kind(ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => to.ty,
            _ => return Err(not_constant(span, SUBEXPRESSION)),
        };
        let Some(ty) = self.memory.type_of(self.program, &place) else { return Ok(Slot::Address(place)) };
        let mut base_path = Vec::new();
        let mut current = ty;
        while current != target {
            let fields = types.struct_id(current).map(|id| &types.struct_(id).fields);
            let Some(base) = fields.and_then(|fields| fields.first()).filter(|field| field.is_base) else { break };
            base_path.push(Step::Field(0));
            current = base.ty.ty;
        }
        if current == target {
            place.path.extend(base_path);
            return Ok(Slot::Address(place));
        }
        while let Some(step) = place.path.pop() {
            let outer = self.memory.type_of(self.program, &place).and_then(|ty| types.struct_id(ty).zip(Some(ty)));
            let Some((id, ty)) = outer else { break };
            let is_base =
                step == Step::Field(0) && types.struct_(id).fields.first().is_some_and(|field| field.is_base);
            if !is_base {
                break;
            }
            if ty == target {
                return Ok(Slot::Address(place));
            }
        }
        Err(not_constant(span, REINTERPRET))
    }
}

fn swizzle_step(components: &[u8]) -> Step {
    match components {
        [component] => Step::Field(u32::from(*component)),
        _ => Step::Swizzle(components.to_vec()),
    }
}

fn cannot_convert(value: &Value, to: Scalar) -> String {
    match value {
        Value::Float(value) => number::out_of_range(format!("{value:?}"), to),
        _ => SUBEXPRESSION.into(),
    }
}

fn flatten(slot: Slot, into: &mut Vec<Slot>) {
    match slot {
        Slot::Aggregate(parts) => parts.into_iter().for_each(|part| flatten(part, into)),
        slot => into.push(slot),
    }
}

/// `compute` on every component.
pub(super) fn map(slot: &Slot, compute: &dyn Fn(&Value) -> Result<Value, String>) -> Result<Slot, String> {
    match slot {
        Slot::Scalar(value) => compute(value).map(Slot::Scalar),
        Slot::Aggregate(parts) => {
            parts.iter().map(|part| map(part, compute)).collect::<Result<_, _>>().map(Slot::Aggregate)
        }
        Slot::Uninit => Err(UNINITIALIZED.into()),
        Slot::Address(_) => Err(SUBEXPRESSION.into()),
    }
}

/// `compute` on every pair of components; a number is paired with all components of a vector.
pub(super) fn zip(
    lhs: &Slot,
    rhs: &Slot,
    compute: &dyn Fn(&Value, &Value) -> Result<Value, String>,
) -> Result<Slot, String> {
    match (lhs, rhs) {
        (Slot::Uninit, _) | (_, Slot::Uninit) => Err(UNINITIALIZED.into()),
        (Slot::Address(_), _) | (_, Slot::Address(_)) => Err(SUBEXPRESSION.into()),
        (Slot::Scalar(lhs), rhs) => map(rhs, &|rhs| compute(lhs, rhs)),
        (lhs, Slot::Scalar(rhs)) => map(lhs, &|lhs| compute(lhs, rhs)),
        (Slot::Aggregate(lhs), Slot::Aggregate(rhs)) if lhs.len() == rhs.len() => {
            let pairs = lhs.iter().zip(rhs);
            pairs.map(|(lhs, rhs)| zip(lhs, rhs, compute)).collect::<Result<_, _>>().map(Slot::Aggregate)
        }
        (Slot::Aggregate(_), Slot::Aggregate(_)) => Err(SUBEXPRESSION.into()),
    }
}

/// Two places in the same array: their indices.
fn element_indices(lhs: &Location, rhs: &Location) -> Option<(u64, u64)> {
    let ((Step::Element(left), left_path), (Step::Element(right), right_path)) =
        (lhs.path.split_last()?, rhs.path.split_last()?)
    else {
        return None;
    };
    (lhs.root == rhs.root && left_path == right_path).then_some((*left, *right))
}

fn pointer_difference(lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
    match (known(lhs)?, known(rhs)?) {
        (lhs, rhs) if lhs == rhs => Ok(Slot::Scalar(Value::Int(0))),
        (Slot::Address(lhs), Slot::Address(rhs)) => match element_indices(&lhs, &rhs) {
            Some((left, right)) => Ok(Slot::Scalar(Value::Int(i128::from(left) - i128::from(right)))),
            None => Err(not_constant(span, "subtracted pointers are not elements of the same array")),
        },
        _ => Err(not_constant(span, SUBEXPRESSION)),
    }
}

fn compare_pointers(op: BinaryOp, lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
    let (lhs, rhs) = (known(lhs)?, known(rhs)?);
    let result = match (&lhs, &rhs) {
        (Slot::Address(left), Slot::Address(right)) if !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
            let indices = element_indices(left, right).or_else(|| (left == right).then_some((0, 0)));
            indices.and_then(|(left, right)| number::compare(op, left, right))
        }
        _ => match op {
            BinaryOp::Equal => Some(lhs == rhs),
            BinaryOp::NotEqual => Some(lhs != rhs),
            _ => None,
        },
    };
    match result {
        Some(result) => Ok(Slot::Scalar(Value::Bool(result))),
        None => Err(not_constant(span, "comparison of addresses has unspecified value")),
    }
}
