//! Conversions as code: the expression that makes a value fit.

use super::rank::Conversion;
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::program::{CastKind, Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

/// Purpose of a conversion, for the message if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum Purpose {
    Variable,
    Member,
    Element,
    Parameter,
    Return,
    Assign,
}

impl<'a> Checker<'a> {
    /// `expr` as `to`; reports an error if it does not convert.
    pub(in crate::check) fn convert(&mut self, expr: Expr, to: QualTy, purpose: Purpose) -> Expr {
        match self.conversion(&expr, to) {
            Some(conversion) => self.apply(expr, to, conversion),
            None => {
                cannot_convert(&self.tables, &mut self.diagnostics, &expr, to, purpose);
                Expr::error(expr.span)
            }
        }
    }

    /// `expr` as `to`, by the conversion found for it.
    pub(in crate::check) fn apply(&mut self, expr: Expr, to: QualTy, conversion: Conversion) -> Expr {
        let span = expr.span;
        if expr.ty.ty.is_unknown() || to.ty.is_unknown() {
            // Happens only in the pattern of a template, or after an error.
            let ty = if to.ty.is_unknown() { expr.ty.ty } else { to.ty };
            let ty = if expr.ty.ty == Ty::ERROR || to.ty == Ty::ERROR { Ty::ERROR } else { ty };
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(ty), is_place: false, span };
        }
        if let TyKind::Reference { to: target, .. } = *self.tables.types().kind(to.ty) {
            let has_address =
                expr.is_place && !self.tables.is_vector_element(&expr) && !self.tables.is_bit_field(&expr);
            if expr.is_place && !has_address && !target.is_const && expr.ty.ty == target.ty {
                cannot_convert(&self.tables, &mut self.diagnostics, &expr, to, Purpose::Parameter);
                return Expr::error(span);
            }
            let place = if has_address && (expr.ty.ty == target.ty || self.derives_from(expr.ty.ty, target.ty)) {
                self.refuse_hidden_base(expr.ty.ty, target.ty, span);
                self.tables.upcast_place(expr, target.ty)
            } else {
                let value = self.apply(expr, QualTy::plain(target.ty), conversion);
                self.tables.temporary(value)
            };
            return Expr::value(ExprKind::AddressOf(Box::new(place)), to.ty, span);
        }
        if let Some(via) = conversion.via {
            return self.apply_user(expr, to.ty, via);
        }
        let value = match self.copied(&expr, span) {
            Some(copy) => copy,
            None => self.load(expr),
        };
        match (self.tables.types().pointee(value.ty.ty), self.tables.types().pointee(to.ty)) {
            (Some(from), Some(to)) => self.refuse_hidden_base(from.ty, to.ty, span),
            _ => self.refuse_hidden_base(value.ty.ty, to.ty, span),
        }
        self.tables.convert_value(value, to.ty)
    }

    /// The value of an expression: places are read, arrays become pointers.
    pub(in crate::check) fn load(&mut self, expr: Expr) -> Expr {
        if !expr.is_place {
            return expr;
        }
        let span = expr.span;
        match *self.tables.types().kind(expr.ty.ty) {
            TyKind::Array { element, .. } => {
                let ty = self.tables.types_mut().pointer(expr.ty.with_ty(element));
                Expr::value(ExprKind::Decay(Box::new(expr)), ty, span)
            }
            TyKind::Atomic(_) => {
                let message = format!(
                    "'{}' cannot be read directly; use atomic_load_explicit",
                    self.tables.name_of(expr.ty.ty)
                );
                self.diagnostics.error("atomic", span, message);
                Expr::error(span)
            }
            _ => {
                // A known constant acts like a literal.
                if let ExprKind::Global(id) = expr.kind
                    && !expr.ty.is_volatile
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
        let global = self.tables.global(id);
        match &global.value {
            Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) if !global.is_dynamic => {
                Some(value.clone())
            }
            _ => None,
        }
    }
}

impl<'a> Tables<'a> {
    /// A value as another type, by a standard conversion.
    pub(in crate::check) fn convert_value(&self, value: Expr, to: Ty) -> Expr {
        let (from, target, span) = (value.ty.ty, to, value.span);
        if from == to || from.is_unknown() || to.is_unknown() {
            return Expr { ty: QualTy::plain(if from.is_unknown() { from } else { to }), ..value };
        }
        let cast =
            |kind: CastKind, value: Expr| Expr::value(ExprKind::Cast { kind, operand: Box::new(value) }, to, span);
        match (self.types().kind(from).clone(), self.types().kind(to).clone()) {
            (TyKind::Pointer(_), TyKind::Bool) => cast(CastKind::PointerToBool, value),
            (TyKind::NullPtr, TyKind::Bool) => Expr::constant(Value::Bool(false), to, span),
            (TyKind::NullPtr | TyKind::Int(_), TyKind::Pointer(_)) => cast(CastKind::NullPointer, value),
            (TyKind::NullPtr | TyKind::Int(_), TyKind::MemberPointer { .. }) => {
                Expr::value(ExprKind::Zero, to, span)
            }
            (TyKind::MemberPointer { .. }, TyKind::Bool | TyKind::MemberPointer { .. }) => {
                self.convert_member_pointer(value, to)
            }
            (TyKind::Pointer(from), TyKind::Pointer(to)) => match (self.pointer_cast(from.ty, to.ty), value.kind) {
                (CastKind::Base(1..), ExprKind::AddressOf(place)) => {
                    let kind = ExprKind::AddressOf(Box::new(self.upcast_place(*place, to.ty)));
                    Expr::value(kind, target, span)
                }
                (kind, operand) => cast(kind, Expr { kind: operand, ..value }),
            },
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

    /// The base class's part of a place.
    pub(in crate::check) fn upcast_place(&self, place: Expr, to: Ty) -> Expr {
        match (self.types().struct_id(place.ty.ty), self.types().struct_id(to)) {
            (Some(derived), Some(base)) if derived != base => {
                let path = self.path_to_base(derived, base).unwrap_or_default();
                self.field_path(place, derived, &path)
            }
            _ => place,
        }
    }

    fn field_path(&self, mut expr: Expr, mut class: crate::types::StructId, path: &[u32]) -> Expr {
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

    /// A place in thread memory that holds `value`.
    pub(in crate::check) fn temporary(&self, value: Expr) -> Expr {
        if value.is_place {
            return value;
        }
        let (ty, span) = (value.ty.ty, value.span);
        let ty = QualTy::plain(ty).in_space(AddressSpace::Thread);
        Expr::place(ExprKind::Temporary(Box::new(value)), ty, span)
    }

    /// True for an object that may be moved from: a reference to rvalues that has no name, from a cast or call.
    pub(in crate::check) fn is_expiring(&self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Field { base, .. } => self.is_expiring(base),
            ExprKind::Deref(reference) => {
                let is_named =
                    matches!(reference.kind, ExprKind::Load(_) | ExprKind::Local(_) | ExprKind::Field { .. });
                !is_named && matches!(self.types().kind(reference.ty.ty), TyKind::Reference { rvalue: true, .. })
            }
            _ => false,
        }
    }

    /// The object behind a pointer.
    pub(in crate::check) fn deref(&self, pointer: Expr, span: Span) -> Expr {
        match *self.types().kind(pointer.ty.ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => {
                Expr::place(ExprKind::Deref(Box::new(pointer)), to, span)
            }
            _ => Expr { kind: ExprKind::Error, ty: pointer.ty, is_place: true, span },
        }
    }
}

pub(in crate::check) fn cannot_convert(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    expr: &Expr,
    to: QualTy,
    purpose: Purpose,
) {
    let from = tables.name_of_expr(expr);
    let target = tables.name_of(to.ty);
    let category = if expr.is_place { "lvalue" } else { "rvalue" };
    let is_vector = |ty: Ty| tables.types().vector_parts(ty).is_some();
    let is_class = |ty: Ty| tables.types().struct_id(ty).is_some();
    let is_reference = matches!(tables.types().kind(to.ty), TyKind::Reference { .. });
    let message = if is_vector(expr.ty.ty) && is_vector(to.ty) {
        format!("implicit conversions between vector types ('{from}' and '{target}') are not permitted")
    } else if is_reference && expr.is_place && tables.is_vector_element(expr) {
        "non-const reference cannot bind to vector element".into()
    } else if is_reference && expr.is_place && tables.is_bit_field(expr) {
        "non-const reference cannot bind to bit-field".into()
    } else if is_reference && tables.loses_volatile(expr, to.ty) {
        let target = tables.name_of_qual(tables.types().referent(to));
        format!("binding reference of type '{target}' to value of type '{from}' drops 'volatile' qualifier")
    } else if is_reference && expr.is_place {
        format!("reference of type '{target}' cannot bind to an lvalue of type '{from}'")
    } else if is_reference {
        format!("non-const lvalue reference to type '{target}' cannot bind to a temporary of type '{from}'")
    } else if expr.is_place && expr.ty.is_volatile && expr.ty.ty == to.ty && is_class(to.ty) {
        format!("no matching constructor for initialization of '{target}'")
    } else if is_class(expr.ty.ty) || is_class(to.ty) {
        format!("no viable conversion from '{from}' to '{target}'")
    } else {
        match purpose {
            Purpose::Assign if tables.loses_volatile(expr, to.ty) => {
                format!("assigning to '{target}' from '{from}' discards qualifiers")
            }
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
                format!("cannot initialize an array element of type '{target}' with an {category} of type '{from}'")
            }
            Purpose::Parameter => {
                format!("cannot initialize a parameter of type '{target}' with an {category} of type '{from}'")
            }
            Purpose::Return => {
                format!("cannot initialize return object of type '{target}' with an {category} of type '{from}'")
            }
        }
    };
    diagnostics.error("no-conversion", expr.span, message);
}
