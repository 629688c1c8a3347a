//! Conversions: how well a value fits a type, and the code that makes it fit.
//!
//! The rules are C++'s, with Metal's: vectors convert to nothing but their packed form, a scalar spreads over a vector,
//! `half` and `bfloat` do not convert into one another, and a pointer or reference never changes its address space.

use super::{Checker, EntityId};
use crate::program::{CastKind, Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, FloatKind, IntKind, QualTy, Ty, TyKind};

/// How good a conversion is: less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rank {
    Exact,
    Promotion,
    Conversion,
    /// A scalar spread over a vector: the last of the standard conversions.
    Splat,
    User,
}

/// A way to make a value fit a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conversion {
    pub(super) rank: Rank,
    /// Qualifiers that were added, for ties between otherwise equal conversions.
    pub(super) added_quals: u8,
    /// The constructor or conversion function of a user-defined conversion.
    pub(super) via: Option<EntityId>,
}

impl Conversion {
    pub(super) const EXACT: Conversion = Conversion { rank: Rank::Exact, added_quals: 0, via: None };

    fn of(rank: Rank) -> Conversion {
        Conversion { rank, ..Conversion::EXACT }
    }
}

/// Where a conversion happens, for the message when there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Variable,
    Member,
    Element,
    Parameter,
    Return,
    Assign,
}

impl<'a> Checker<'a> {
    /// How `expr` fits `to`; `None` where it does not.
    pub(super) fn conversion(&mut self, expr: &Expr, to: QualTy) -> Option<Conversion> {
        self.conversion_with(expr, to, true)
    }

    fn conversion_with(&mut self, expr: &Expr, to: QualTy, user: bool) -> Option<Conversion> {
        if expr.ty.ty.is_unknown() || to.ty.is_unknown() {
            return Some(Conversion::EXACT);
        }
        if let TyKind::Reference { to: target, rvalue } = *self.types().kind(to.ty) {
            return self.reference_conversion(expr, target, rvalue, user);
        }
        let from = self.decayed(expr.ty);
        if let Some(conversion) = self.standard_conversion(from, to.ty, expr) {
            return Some(conversion);
        }
        if user { self.user_conversion(expr, to.ty) } else { None }
    }

    fn reference_conversion(&mut self, expr: &Expr, to: QualTy, rvalue: bool, user: bool) -> Option<Conversion> {
        let space = |ty: QualTy| ty.space.unwrap_or(AddressSpace::Thread);
        if expr.is_place {
            let related = expr.ty.ty == to.ty || to.ty.is_unknown() || self.derives_from(expr.ty.ty, to.ty);
            let has_address = !self.is_vector_element(expr) && !self.is_bit_field(expr);
            if related && (has_address || !to.is_const) {
                let loses_const = expr.ty.is_const && !to.is_const && to.space != Some(AddressSpace::Constant);
                let loses_volatile = expr.ty.is_volatile && !to.is_volatile;
                if loses_const || loses_volatile || space(expr.ty) != space(to) || rvalue {
                    return None;
                }
                let added_quals = u8::from(to.is_const && !expr.ty.is_const);
                let rank = if expr.ty.ty == to.ty { Rank::Exact } else { Rank::Conversion };
                return Some(Conversion { rank, added_quals, via: None });
            }
        }
        // Otherwise a temporary of the thread is made, which only a constant or rvalue reference may name.
        if !(to.is_const || rvalue) || space(to) != AddressSpace::Thread {
            return None;
        }
        let conversion = self.conversion_with(expr, QualTy::plain(to.ty), user)?;
        Some(Conversion { added_quals: u8::from(!rvalue), ..conversion })
    }

    /// A place's type once it is read: arrays and functions become pointers, qualifiers go.
    pub(super) fn decayed(&mut self, ty: QualTy) -> Ty {
        match *self.types().kind(ty.ty) {
            TyKind::Array { element, .. } => self.types_mut().pointer(ty.with_ty(element)),
            TyKind::Function { .. } => self.types_mut().pointer(QualTy::plain(ty.ty)),
            _ => ty.ty,
        }
    }

    fn standard_conversion(&mut self, from: Ty, to: Ty, expr: &Expr) -> Option<Conversion> {
        if from == to {
            return Some(Conversion::EXACT);
        }
        if let Some(rank) = self.number_conversion(from, to) {
            return Some(Conversion::of(rank));
        }
        match (self.types().kind(from).clone(), self.types().kind(to).clone()) {
            (TyKind::Pointer(from), TyKind::Pointer(to)) => self.pointer_conversion(from, to),
            (TyKind::NullPtr, TyKind::Pointer(_)) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Int(_), TyKind::Pointer(_)) if is_literal_zero(expr) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Pointer(_), TyKind::Bool) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Vector { element: a, len: m }, TyKind::PackedVector { element: b, len: n })
            | (TyKind::PackedVector { element: a, len: m }, TyKind::Vector { element: b, len: n })
                if a == b && m == n =>
            {
                Some(Conversion::of(Rank::Conversion))
            }
            (_, TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. }) if self.is_number(from) => {
                (from == element || self.number_conversion(from, element).is_some())
                    .then_some(Conversion::of(Rank::Splat))
            }
            (TyKind::Struct(_), TyKind::Struct(_)) if self.derives_from(from, to) => {
                Some(Conversion::of(Rank::Conversion))
            }
            _ => None,
        }
    }

    /// A scalar: `bool`, an integer, a floating-point number or an unscoped enum.
    fn is_number(&self, ty: Ty) -> bool {
        self.types().is_arithmetic(ty) || self.is_integral_or_unscoped(ty)
    }

    /// Between scalars, enums included.
    fn number_conversion(&self, from: Ty, to: Ty) -> Option<Rank> {
        let types = self.types();
        if !types.is_arithmetic(to) {
            return None;
        }
        if let Some(id) = types.enum_id(from) {
            let definition = types.enum_(id);
            if definition.scoped {
                return None;
            }
            let promoted = self.promoted(definition.underlying);
            return Some(if to == promoted || to == definition.underlying {
                Rank::Promotion
            } else {
                Rank::Conversion
            });
        }
        if !types.is_arithmetic(from) {
            return None;
        }
        match (types.float_kind(from), types.float_kind(to)) {
            // Into `bfloat` only a cast leads; out of it, `float` alone.
            (Some(FloatKind::Half | FloatKind::Float), Some(FloatKind::BFloat)) => None,
            (Some(FloatKind::BFloat), Some(FloatKind::Half)) => None,
            _ if from != to && self.promoted(from) == to => Some(Rank::Promotion),
            _ => Some(Rank::Conversion),
        }
    }

    /// The type in which small integers are computed.
    pub(super) fn promoted(&self, ty: Ty) -> Ty {
        match self.types().kind(ty) {
            TyKind::Bool => Ty::INT,
            TyKind::Int(kind) if kind.bits() < 32 => Ty::INT,
            TyKind::Enum(id) if !self.types().enum_(*id).scoped => {
                self.promoted(self.types().enum_(*id).underlying)
            }
            _ => ty,
        }
    }

    fn pointer_conversion(&mut self, from: QualTy, to: QualTy) -> Option<Conversion> {
        // What is in the constant address space is `const` without saying so.
        let loses_const = from.is_const && !to.is_const && to.space != Some(AddressSpace::Constant);
        if from.space != to.space || loses_const || (from.is_volatile && !to.is_volatile) {
            return None;
        }
        let added_quals = u8::from(to.is_const && !from.is_const) + u8::from(to.is_volatile && !from.is_volatile);
        if from.ty == to.ty || from.ty.is_unknown() || to.ty.is_unknown() {
            return Some(Conversion { rank: Rank::Exact, added_quals, via: None });
        }
        if to.ty == Ty::VOID || self.derives_from(from.ty, to.ty) {
            return Some(Conversion { rank: Rank::Conversion, added_quals, via: None });
        }
        None
    }

    fn user_conversion(&mut self, expr: &Expr, to: Ty) -> Option<Conversion> {
        if let TyKind::Struct(class) = *self.types().kind(to) {
            self.complete_class(class);
            let constructors = self.class(class).constructors.clone();
            if let Some(via) = self.converting_constructor(&constructors, expr) {
                return Some(Conversion { rank: Rank::User, added_quals: 0, via: Some(via) });
            }
        }
        if let TyKind::Struct(class) = *self.types().kind(expr.ty.ty) {
            self.complete_class(class);
            let via = self.conversion_function(class, expr, to)?;
            return Some(Conversion { rank: Rank::User, added_quals: 0, via: Some(via.0) });
        }
        None
    }

    fn converting_constructor(&mut self, constructors: &[EntityId], expr: &Expr) -> Option<EntityId> {
        let mut best: Option<(EntityId, Conversion)> = None;
        for &constructor in constructors {
            let is_explicit = self.entity(constructor).source.first().is_some_and(|d| d.specifiers.is_explicit);
            if is_explicit {
                continue;
            }
            let Some((_, signature)) = self.deduce_for_exprs(constructor, None, std::slice::from_ref(expr)) else {
                continue;
            };
            let required = signature.params.iter().filter(|p| p.default.is_none()).count();
            if signature.params.is_empty() || required > 1 {
                continue;
            }
            if !self.object_fits(constructor, AddressSpace::Thread) {
                continue;
            }
            let Some(conversion) = self.conversion_with(expr, signature.params[0].ty, false) else { continue };
            if best.is_none_or(|(_, old)| conversion.rank < old.rank) {
                best = Some((constructor, conversion));
            }
        }
        best.map(|(constructor, _)| constructor)
    }

    /// A constructor that makes objects in `space`.
    pub(super) fn object_fits(&self, constructor: EntityId, space: AddressSpace) -> bool {
        let quals = self.entity(constructor).source.first().map(|decl| decl.method_quals);
        quals.and_then(|quals| quals.space).unwrap_or(AddressSpace::Thread) == space
    }

    /// The conversion function that gives `to`, or something that converts to it.
    pub(super) fn conversion_function(
        &mut self,
        class: crate::types::StructId,
        object: &Expr,
        to: Ty,
    ) -> Option<(EntityId, Vec<super::TemplateArg>)> {
        let mut candidates = self.class(class).conversions.clone();
        for base in self.class(class).bases.clone() {
            candidates.extend(self.class(base).conversions.iter().copied());
        }
        let mut best: Option<(Rank, EntityId, Vec<super::TemplateArg>)> = None;
        for candidate in candidates {
            let Some((args, signature)) = self.deduce_conversion(candidate, to) else { continue };
            let Some(this) = signature.this else { continue };
            if !self.object_converts(object, this, candidate) {
                continue;
            }
            let Some(result) = signature.result else { continue };
            let value = Expr::value(ExprKind::Error, result, object.span);
            let Some(conversion) = self.standard_conversion(result, to, &value) else { continue };
            if best.as_ref().is_none_or(|(rank, ..)| conversion.rank < *rank) {
                best = Some((conversion.rank, candidate, args));
            }
        }
        best.map(|(_, entity, args)| (entity, args))
    }

    /// A method whose `this` points to `this` may be called on `object`.
    pub(super) fn object_converts(&self, object: &Expr, this: QualTy, method: EntityId) -> bool {
        let space =
            if object.is_place { object.ty.space.unwrap_or(AddressSpace::Thread) } else { AddressSpace::Thread };
        let is_builtin = self.entity(method).builtin.is_some();
        let space_fits = is_builtin || this.space == Some(space);
        space_fits && (this.is_const || !object.ty.is_const || !object.is_place || is_builtin)
    }

    // --- making it fit -----------------------------------------------------------------------------------------

    /// `expr` as `to`; complains where it does not fit.
    pub(super) fn convert(&mut self, expr: Expr, to: QualTy, purpose: Purpose) -> Expr {
        match self.conversion(&expr, to) {
            Some(conversion) => self.apply(expr, to, conversion),
            None => {
                self.cannot_convert(&expr, to, purpose);
                Expr::error(expr.span)
            }
        }
    }

    /// `expr` as `to`, by a conversion that was found to exist.
    pub(super) fn apply(&mut self, expr: Expr, to: QualTy, conversion: Conversion) -> Expr {
        let span = expr.span;
        if expr.ty.ty.is_unknown() || to.ty.is_unknown() {
            // Only the pattern of a template, or a program with an error, goes this way.
            let ty = if to.ty.is_unknown() { expr.ty.ty } else { to.ty };
            let ty = if expr.ty.ty == Ty::ERROR || to.ty == Ty::ERROR { Ty::ERROR } else { ty };
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(ty), is_place: false, span };
        }
        if let TyKind::Reference { to: target, .. } = *self.types().kind(to.ty) {
            let has_address = expr.is_place && !self.is_vector_element(&expr) && !self.is_bit_field(&expr);
            if expr.is_place && !has_address && !target.is_const && expr.ty.ty == target.ty {
                self.cannot_convert(&expr, to, Purpose::Parameter);
                return Expr::error(span);
            }
            let place = if has_address && (expr.ty.ty == target.ty || self.derives_from(expr.ty.ty, target.ty)) {
                self.upcast_place(expr, target.ty)
            } else {
                let value = self.apply(expr, QualTy::plain(target.ty), conversion);
                self.temporary(value)
            };
            return Expr::value(ExprKind::AddressOf(Box::new(place)), to.ty, span);
        }
        if let Some(via) = conversion.via {
            return self.apply_user(expr, to.ty, via);
        }
        let value = self.load(expr);
        self.convert_value(value, to.ty)
    }

    fn apply_user(&mut self, expr: Expr, to: Ty, via: EntityId) -> Expr {
        let span = expr.span;
        let is_constructor = self
            .entity(via)
            .source
            .first()
            .is_some_and(|decl| matches!(decl.kind, crate::parse::ast::FunctionKind::Constructor));
        if is_constructor {
            return self.construct_with(via, None, vec![expr], to, span);
        }
        let class = self.types().struct_id(expr.ty.ty).expect("a class with a conversion function");
        let Some((entity, args)) = self.conversion_function(class, &expr, to) else { return Expr::error(span) };
        let result = self.call_method(entity, args, expr, Vec::new(), span);
        let result = self.load(result);
        self.convert_value(result, to)
    }

    /// A value as another type, where a standard conversion leads there.
    pub(super) fn convert_value(&mut self, value: Expr, to: Ty) -> Expr {
        let (from, span) = (value.ty.ty, value.span);
        if from == to || from.is_unknown() || to.is_unknown() {
            return Expr { ty: QualTy::plain(if from.is_unknown() { from } else { to }), ..value };
        }
        let cast =
            |kind: CastKind, value: Expr| Expr::value(ExprKind::Cast { kind, operand: Box::new(value) }, to, span);
        match (self.types().kind(from).clone(), self.types().kind(to).clone()) {
            (TyKind::Pointer(_), TyKind::Bool) => cast(CastKind::PointerToBool, value),
            (TyKind::NullPtr, TyKind::Bool) => Expr::constant(Value::Bool(false), to, span),
            (TyKind::NullPtr | TyKind::Int(_), TyKind::Pointer(_)) => cast(CastKind::NullPointer, value),
            (TyKind::Pointer(_), TyKind::Pointer(_)) => cast(CastKind::Pointer, value),
            (TyKind::Vector { .. }, TyKind::PackedVector { .. })
            | (TyKind::PackedVector { .. }, TyKind::Vector { .. }) => cast(CastKind::Packing, value),
            (TyKind::Struct(derived), TyKind::Struct(base)) => {
                let path = self.path_to_base(derived, base).unwrap_or_default();
                self.field_path(value, derived, &path)
            }
            (_, TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. })
                if self.types().vector_parts(from).is_none() =>
            {
                let element = self.convert_value(value, element);
                Expr::value(ExprKind::Splat(Box::new(element)), to, span)
            }
            _ => match value.kind {
                // Constants are converted right away, so that literals stay literals.
                ExprKind::Constant(ref constant) => {
                    match crate::evaluate::convert(self.types(), constant, from, to) {
                        Some(converted) => Expr::constant(converted, to, span),
                        None => cast(CastKind::Number, value),
                    }
                }
                _ => cast(CastKind::Number, value),
            },
        }
    }

    /// A place as the base class's part of it.
    pub(super) fn upcast_place(&mut self, place: Expr, to: Ty) -> Expr {
        match (self.types().struct_id(place.ty.ty), self.types().struct_id(to)) {
            (Some(derived), Some(base)) if derived != base => {
                let path = self.path_to_base(derived, base).unwrap_or_default();
                self.field_path(place, derived, &path)
            }
            _ => place,
        }
    }

    fn field_path(&mut self, mut expr: Expr, mut class: crate::types::StructId, path: &[u32]) -> Expr {
        for &field in path {
            let ty = self.types().struct_(class).fields[field as usize].ty.ty;
            let (quals, is_place, span) = (expr.ty, expr.is_place, expr.span);
            expr = Expr {
                kind: ExprKind::Field { base: Box::new(expr), field },
                ty: quals.with_ty(ty),
                is_place,
                span,
            };
            class = self.types().struct_id(ty).expect("a base class");
        }
        expr
    }

    /// The value of an expression: places are read, arrays become pointers.
    pub(super) fn load(&mut self, expr: Expr) -> Expr {
        if !expr.is_place {
            return expr;
        }
        let span = expr.span;
        match *self.types().kind(expr.ty.ty) {
            TyKind::Array { element, .. } => {
                let ty = self.types_mut().pointer(expr.ty.with_ty(element));
                Expr::value(ExprKind::Decay(Box::new(expr)), ty, span)
            }
            TyKind::Atomic(_) => {
                let message =
                    format!("'{}' cannot be read directly; use atomic_load_explicit", self.name_of(expr.ty.ty));
                self.error("atomic", span, message);
                Expr::error(span)
            }
            _ => {
                // A constant that is known is as good as a literal.
                if let ExprKind::Global(id) = expr.kind
                    && let Some(value) = self.known_scalar(id)
                {
                    return Expr::constant(value, expr.ty.ty, span);
                }
                let ty = expr.ty.ty;
                Expr::value(ExprKind::Load(Box::new(expr)), ty, span)
            }
        }
    }

    fn known_scalar(&mut self, id: crate::program::GlobalId) -> Option<Value> {
        self.force_global(id);
        match &self.program.global(id).value {
            Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => Some(value.clone()),
            _ => None,
        }
    }

    /// A place of the thread that holds `value`.
    pub(super) fn temporary(&mut self, value: Expr) -> Expr {
        if value.is_place {
            return value;
        }
        let (ty, span) = (value.ty.ty, value.span);
        let ty = QualTy::plain(ty).in_space(AddressSpace::Thread);
        Expr::place(ExprKind::Temporary(Box::new(value)), ty, span)
    }

    /// What a pointer value points to.
    pub(super) fn deref(&mut self, pointer: Expr, span: Span) -> Expr {
        match *self.types().kind(pointer.ty.ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => {
                Expr::place(ExprKind::Deref(Box::new(pointer)), to, span)
            }
            _ => Expr { kind: ExprKind::Error, ty: pointer.ty, is_place: true, span },
        }
    }

    pub(super) fn cannot_convert(&mut self, expr: &Expr, to: QualTy, purpose: Purpose) {
        let from = self.name_of_expr(expr);
        let target = self.name_of(to.ty);
        let category = if expr.is_place { "lvalue" } else { "rvalue" };
        let is_vector = |this: &Self, ty: Ty| this.types().vector_parts(ty).is_some();
        let is_class = |this: &Self, ty: Ty| this.types().struct_id(ty).is_some();
        let is_reference = matches!(self.types().kind(to.ty), TyKind::Reference { .. });
        let message = if is_vector(self, expr.ty.ty) && is_vector(self, to.ty) {
            format!("implicit conversions between vector types ('{from}' and '{target}') are not permitted")
        } else if is_reference && expr.is_place && self.is_vector_element(expr) {
            "non-const reference cannot bind to vector element".into()
        } else if is_reference && expr.is_place && self.is_bit_field(expr) {
            "non-const reference cannot bind to bit-field".into()
        } else if is_reference && expr.is_place {
            format!("reference of type '{target}' cannot bind to an lvalue of type '{from}'")
        } else if is_reference {
            format!("non-const lvalue reference to type '{target}' cannot bind to a temporary of type '{from}'")
        } else if is_class(self, expr.ty.ty) || is_class(self, to.ty) {
            format!("no viable conversion from '{from}' to '{target}'")
        } else {
            match purpose {
                Purpose::Assign => format!("assigning to '{target}' from incompatible type '{from}'"),
                Purpose::Variable => {
                    format!("cannot initialize a variable of type '{target}' with an {category} of type '{from}'")
                }
                Purpose::Member => {
                    format!(
                        "cannot initialize a member subobject of type '{target}' with an {category} of type '{from}'"
                    )
                }
                Purpose::Element => {
                    format!(
                        "cannot initialize an array element of type '{target}' with an {category} of type '{from}'"
                    )
                }
                Purpose::Parameter => {
                    format!("cannot initialize a parameter of type '{target}' with an {category} of type '{from}'")
                }
                Purpose::Return => {
                    format!(
                        "cannot initialize return object of type '{target}' with an {category} of type '{from}'"
                    )
                }
            }
        };
        self.error("no-conversion", expr.span, message);
    }

    // --- arithmetic --------------------------------------------------------------------------------------------

    /// The common type of two numbers in an expression; `None` for `half` with `bfloat`, and for what is no number.
    pub(super) fn common_number(&self, a: Ty, b: Ty) -> Option<Ty> {
        let (a, b) = (self.promoted(a), self.promoted(b));
        let types = self.types();
        match (types.float_kind(a), types.float_kind(b)) {
            (Some(x), Some(y)) if x == y => Some(a),
            (Some(FloatKind::Float), Some(_)) => Some(a),
            (Some(_), Some(FloatKind::Float)) => Some(b),
            (Some(_), Some(_)) => None,
            (Some(_), None) if types.is_arithmetic(b) => Some(a),
            (None, Some(_)) if types.is_arithmetic(a) => Some(b),
            (None, None) => {
                let (x, y) = (types.int_kind(a)?, types.int_kind(b)?);
                Some(Ty::int(common_int(x, y)))
            }
            _ => None,
        }
    }
}

/// The usual arithmetic conversions of two promoted integers.
fn common_int(a: IntKind, b: IntKind) -> IntKind {
    match a.bits().cmp(&b.bits()) {
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal if a.is_signed() => b,
        std::cmp::Ordering::Equal => a,
    }
}

fn is_literal_zero(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Constant(Value::Int(0)))
}
