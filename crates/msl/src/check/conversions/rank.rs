//! Conversion sequences: the way from an expression to a type, and its rank.

use crate::check::Checker;
use crate::check::tables::{EntityId, Tables};
use crate::program::{Expr, ExprKind, Value};
use crate::types::{AddressSpace, FloatKind, IntKind, QualTy, Ty, TyKind};

/// Rank of a conversion: less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::check) enum Rank {
    Exact,
    Promotion,
    Conversion,
    /// A scalar spread over a vector: the last of the standard conversions.
    Splat,
    User,
}

/// A conversion sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) struct Conversion {
    pub(in crate::check) rank: Rank,
    /// Qualifiers that were added, for ties between otherwise equal conversions.
    pub(in crate::check) added_quals: u8,
    /// The constructor or conversion function of a user-defined conversion.
    pub(in crate::check) via: Option<EntityId>,
    /// Rank of the conversion after it, which decides between two by the same function.
    pub(in crate::check) after: Rank,
}

impl Conversion {
    pub(in crate::check) const EXACT: Conversion =
        Conversion { rank: Rank::Exact, added_quals: 0, via: None, after: Rank::Exact };

    fn of(rank: Rank) -> Conversion {
        Conversion { rank, ..Conversion::EXACT }
    }

    /// A user-defined conversion by a function, and the rank of the one after it.
    pub(super) fn by(function: EntityId, after: Rank) -> Conversion {
        Conversion { rank: Rank::User, via: Some(function), after, ..Conversion::EXACT }
    }
}

impl<'a> Checker<'a> {
    /// The conversion of `expr` to `to`, if there is one.
    pub(in crate::check) fn conversion(&mut self, expr: &Expr, to: QualTy) -> Option<Conversion> {
        self.conversion_with(expr, to, true)
    }

    pub(super) fn conversion_with(&mut self, expr: &Expr, to: QualTy, user: bool) -> Option<Conversion> {
        if expr.ty.ty.is_unknown() || to.ty.is_unknown() {
            return Some(Conversion::EXACT);
        }
        if let TyKind::Reference { to: target, rvalue } = *self.tables.types().kind(to.ty) {
            return self.reference_conversion(expr, target, rvalue, user);
        }
        let from = self.tables.decayed(expr.ty);
        // The implicit copy constructor takes `const T &`, which does not bind to a volatile object.
        let has_copy = !(expr.is_place && expr.ty.is_volatile && self.tables.types().struct_id(to.ty).is_some());
        if has_copy && let Some(conversion) = self.standard_conversion(from, to.ty, expr) {
            return Some(conversion);
        }
        if user { self.user_conversion(expr, to.ty) } else { None }
    }

    fn reference_conversion(&mut self, expr: &Expr, to: QualTy, rvalue: bool, user: bool) -> Option<Conversion> {
        let space = |ty: QualTy| ty.space.unwrap_or(AddressSpace::Thread);
        let is_expiring = self.tables.is_expiring(expr);
        if is_expiring && !rvalue && !to.is_const {
            return None;
        }
        if expr.is_place {
            let related = expr.ty.ty == to.ty || to.ty.is_unknown() || self.derives_from(expr.ty.ty, to.ty);
            let has_address = !self.tables.is_vector_element(expr) && !self.tables.is_bit_field(expr);
            if related && (has_address || !to.is_const) {
                let loses_const = expr.ty.is_const && !to.is_const && to.space != Some(AddressSpace::Constant);
                let loses_volatile = expr.ty.is_volatile && !to.is_volatile;
                if loses_const || loses_volatile || space(expr.ty) != space(to) || rvalue && !is_expiring {
                    return None;
                }
                // As for temporaries, a reference to rvalues is better than one to constants.
                let added_quals = changed_quals(expr.ty, to) + u8::from(is_expiring && !rvalue);
                let rank = if expr.ty.ty == to.ty { Rank::Exact } else { Rank::Conversion };
                return Some(Conversion { rank, added_quals, ..Conversion::EXACT });
            }
        }
        // Otherwise it binds to a temporary in thread memory, which only a constant or rvalue reference may do.
        if !(to.is_const && !to.is_volatile || rvalue) || space(to) != AddressSpace::Thread {
            return None;
        }
        let conversion = self.conversion_with(expr, QualTy::plain(to.ty), user)?;
        Some(Conversion { added_quals: u8::from(!rvalue), ..conversion })
    }

    pub(super) fn standard_conversion(&mut self, from: Ty, to: Ty, expr: &Expr) -> Option<Conversion> {
        if from == to {
            return Some(Conversion::EXACT);
        }
        if let Some(rank) = self.tables.number_conversion(from, to) {
            return Some(Conversion::of(rank));
        }
        match (self.tables.types().kind(from).clone(), self.tables.types().kind(to).clone()) {
            (TyKind::Pointer(from), TyKind::Pointer(to)) => self.pointer_conversion(from, to),
            (TyKind::NullPtr, TyKind::Pointer(_)) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Int(_), TyKind::Pointer(_)) if is_literal_zero(expr) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Pointer(_) | TyKind::MemberPointer { .. }, TyKind::Bool) => {
                Some(Conversion::of(Rank::Conversion))
            }
            (TyKind::NullPtr, TyKind::MemberPointer { .. }) => Some(Conversion::of(Rank::Conversion)),
            (TyKind::Int(_), TyKind::MemberPointer { .. }) if is_literal_zero(expr) => {
                Some(Conversion::of(Rank::Conversion))
            }
            (TyKind::MemberPointer { .. }, TyKind::MemberPointer { .. }) => {
                self.member_pointer_conversion(from, to).then_some(Conversion::of(Rank::Conversion))
            }
            (TyKind::Vector { element: a, len: m }, TyKind::PackedVector { element: b, len: n })
            | (TyKind::PackedVector { element: a, len: m }, TyKind::Vector { element: b, len: n })
                if a == b && m == n =>
            {
                Some(Conversion::of(Rank::Conversion))
            }
            (_, TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. })
                if self.tables.is_number(from) =>
            {
                (from == element || self.tables.number_conversion(from, element).is_some())
                    .then_some(Conversion::of(Rank::Splat))
            }
            (TyKind::Struct(_), TyKind::Struct(_)) if self.derives_from(from, to) => {
                Some(Conversion::of(Rank::Conversion))
            }
            _ => None,
        }
    }

    fn pointer_conversion(&mut self, from: QualTy, to: QualTy) -> Option<Conversion> {
        // Everything in the constant address space is `const`, even if not declared so.
        let loses_const = from.is_const && !to.is_const && to.space != Some(AddressSpace::Constant);
        if from.space != to.space || loses_const || (from.is_volatile && !to.is_volatile) {
            return None;
        }
        let added_quals = changed_quals(from, to);
        if from.ty == to.ty || from.ty.is_unknown() || to.ty.is_unknown() {
            return Some(Conversion { added_quals, ..Conversion::EXACT });
        }
        if to.ty == Ty::VOID || self.derives_from(from.ty, to.ty) {
            return Some(Conversion { rank: Rank::Conversion, added_quals, ..Conversion::EXACT });
        }
        None
    }
}

/// The number of qualifiers that a conversion adds, or drops: one may be dropped, `coherent`.
fn changed_quals(from: QualTy, to: QualTy) -> u8 {
    u8::from(to.is_const && !from.is_const)
        + u8::from(to.is_volatile && !from.is_volatile)
        + u8::from(to.coherence != from.coherence)
}

impl<'a> Tables<'a> {
    /// True if a pointer or reference `to` fits `expr` but for `volatile`, which it lacks.
    pub(in crate::check) fn loses_volatile(&self, expr: &Expr, to: Ty) -> bool {
        let space = |ty: QualTy| ty.space.unwrap_or(AddressSpace::Thread);
        let (from, to) = match (self.types().kind(expr.ty.ty), self.types().kind(to)) {
            (_, TyKind::Reference { to, .. }) if expr.is_place => (expr.ty, *to),
            (TyKind::Pointer(from), TyKind::Pointer(to)) => (*from, *to),
            _ => return false,
        };
        from.ty == to.ty && space(from) == space(to) && from.is_volatile && !to.is_volatile
    }

    /// Rank of a conversion between scalars, enums included.
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
            // Only a cast converts to `bfloat`; it converts implicitly to `float` alone.
            (Some(FloatKind::Half | FloatKind::Float), Some(FloatKind::BFloat)) => None,
            (Some(FloatKind::BFloat), Some(FloatKind::Half)) => None,
            _ if from != to && self.promoted(from) == to => Some(Rank::Promotion),
            _ => Some(Rank::Conversion),
        }
    }

    /// The common type of two numbers in an expression; `None` for `half` with `bfloat`, and for other types.
    pub(in crate::check) fn common_number(&self, a: Ty, b: Ty) -> Option<Ty> {
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
