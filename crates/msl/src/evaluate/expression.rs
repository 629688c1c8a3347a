//! Expressions: [`Machine::value`] evaluates, [`Machine::place`] finds the location of a place.

use super::memory::{Location, Root, Slot, Step, known};
use super::number::Scalar;
use super::pointers::pointer_difference;
use super::statement::Flow;
use super::{Interrupt, Machine, Outcome, SUBEXPRESSION, UNINITIALIZED, not_constant};
use crate::program::{Expr, ExprKind, FunctionId, Stmt, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind, Types};

impl<'p> Machine<'p> {
    pub(super) fn types(&self) -> &'p Types {
        &self.program.types
    }

    /// True if functions need not be `constexpr`.
    pub(super) fn is_dynamic(&self) -> bool {
        self.scope.is_some_and(|scope| scope.is_dynamic)
    }

    /// The value of an expression; for a place, its content.
    pub(super) fn value(&mut self, expr: &'p Expr) -> Outcome<Slot> {
        self.deeper(expr.span, |machine| machine.value_of(expr))
    }

    /// The location that an expression denotes. A value gets a temporary one.
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
        if expr.is_place && expr.ty.is_volatile {
            return Err(not_constant(span, "a volatile object is read"));
        }
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
            ExprKind::Statements { body, value } => self.statements(body, value.as_deref(), span),
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

    fn statements(&mut self, body: &'p [Stmt], value: Option<&'p Expr>, span: Span) -> Outcome<Slot> {
        match (self.block(body)?, value) {
            (Flow::Next, Some(value)) => self.value(value),
            (Flow::Next, None) => Ok(Slot::Uninit),
            _ => {
                Err(not_constant(span, "this use of statement expressions is not allowed in a constant expression"))
            }
        }
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

    pub(super) fn values(&mut self, exprs: &'p [Expr]) -> Outcome<Vec<Slot>> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// The type of a component of `ty`.
    pub(super) fn scalar(&self, ty: Ty, span: Span) -> Outcome<Scalar> {
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

    /// The step to an element of an object of type `base`.
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
}

fn swizzle_step(components: &[u8]) -> Step {
    match components {
        [component] => Step::Field(u32::from(*component)),
        _ => Step::Swizzle(components.to_vec()),
    }
}
