//! Casts: `(T)e`, `static_cast<T>(e)`, `T(e)`.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::tables::Tables;
use crate::parse::ast;
use crate::program::{CastKind, Expr, ExprKind};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `(T)e`, `static_cast<T>(e)`, `T(e)`
    pub(in crate::check) fn explicit_cast(
        &mut self,
        value: Expr,
        to: QualTy,
        span: Span,
        kind: ast::CastKind,
    ) -> Expr {
        if value.ty.ty.is_unknown() || to.ty.is_unknown() {
            return match *self.tables.types().kind(to.ty) {
                _ if value.ty.ty == Ty::ERROR => Expr::value(ExprKind::Error, Ty::ERROR, span),
                // In a template, of a type that is not known yet.
                TyKind::Reference { to: target, .. } => Expr::place(ExprKind::Error, target, span),
                _ => Expr::value(ExprKind::Error, to.ty, span),
            };
        }
        if to.ty == Ty::VOID {
            let kind = ExprKind::Cast { kind: CastKind::Discard, operand: Box::new(value) };
            return Expr::value(kind, Ty::VOID, span);
        }
        self.complete_type(to.ty);
        let is_address = matches!(self.tables.types().kind(to.ty), TyKind::Pointer(_) | TyKind::Reference { .. });
        if kind == ast::CastKind::Const && !is_address {
            let message =
                format!("const_cast to '{}', which is not a reference or pointer", self.tables.name_of(to.ty));
            self.diagnostics.error("no-cast", span, message);
            return Expr::error(span);
        }
        if let TyKind::Reference { to: target, .. } = *self.tables.types().kind(to.ty) {
            return self.reference_cast(value, to.ty, target, span, kind);
        }
        if kind != ast::CastKind::Reinterpret
            && kind != ast::CastKind::Const
            && let Some(conversion) = self.explicitly(|this| this.conversion(&value, QualTy::plain(to.ty)))
        {
            let converted = self.explicitly(|this| this.apply(value, QualTy::plain(to.ty), conversion));
            return Expr { span, ..converted };
        }
        let from = self.tables.decayed(value.ty);
        let cast = |kind: CastKind, operand: Expr| {
            Expr::value(ExprKind::Cast { kind, operand: Box::new(operand) }, to.ty, span)
        };
        if kind != ast::CastKind::Reinterpret
            && let Some(class) = self.tables.types().struct_id(to.ty)
        {
            return self.construct_exprs(class, vec![value], span);
        }
        let operand = self.load(value.clone());
        match (self.tables.types().kind(from).clone(), self.tables.types().kind(to.ty).clone()) {
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                let same_space = a.space == b.space;
                let related = a.ty == b.ty || kind == ast::CastKind::Reinterpret || kind == ast::CastKind::CStyle;
                let related = related || a.ty == Ty::VOID || self.derives_from(b.ty, a.ty);
                let loses_const = a.is_const && !b.is_const;
                let loses_volatile = a.is_volatile && !b.is_volatile;
                let may_lose = matches!(kind, ast::CastKind::CStyle | ast::CastKind::Const);
                if same_space && related && (may_lose || !(loses_const || loses_volatile)) {
                    let is_related = kind != ast::CastKind::Reinterpret;
                    let pointer = if is_related { self.tables.pointer_cast(a.ty, b.ty) } else { CastKind::Pointer };
                    return cast(pointer, operand);
                }
                if same_space && related && loses_volatile {
                    return self.casts_away_qualifiers(&value, to.ty, span, kind);
                }
                if !same_space {
                    let message = format!(
                        "cast from '{}' to '{}' changes the address space",
                        self.tables.name_of(from),
                        self.tables.name_of(to.ty)
                    );
                    self.diagnostics.error("address-space", span, message);
                    return Expr::error(span);
                }
            }
            (TyKind::Pointer(_), TyKind::Int(_)) if kind != ast::CastKind::Static => {
                let size = self.tables.types().layout(to.ty).map_or(0, |layout| layout.size);
                if size == 8 {
                    return cast(CastKind::PointerToInt, operand);
                }
                let message =
                    format!("cast from pointer to smaller type '{}' loses information", self.tables.name_of(to.ty));
                self.diagnostics.error("no-cast", span, message);
                return Expr::error(span);
            }
            (TyKind::Int(_), TyKind::Pointer(_)) if kind != ast::CastKind::Static => {
                return cast(CastKind::IntToPointer, operand);
            }
            (TyKind::Enum(_), TyKind::Enum(_)) => return cast(CastKind::Number, operand),
            (TyKind::Enum(_), _) if self.tables.types().is_arithmetic(to.ty) => {
                return self.tables.convert_value(operand, to.ty);
            }
            (_, TyKind::Enum(_)) if self.tables.types().is_arithmetic(from) => {
                return self.tables.convert_value(operand, to.ty);
            }
            (
                TyKind::Vector { len: m, .. } | TyKind::PackedVector { len: m, .. },
                TyKind::Vector { element, len: n } | TyKind::PackedVector { element, len: n },
            ) if m == n => {
                // Between components of different types, through the plain forms.
                let plain_from = self.tables.types_mut().unpacked(from);
                let plain = self.tables.convert_value(operand, plain_from);
                let plain_to = self.tables.types_mut().vector(element, n);
                let converted = self.tables.convert_value(plain, plain_to);
                return self.tables.convert_value(converted, to.ty);
            }
            (_, TyKind::Vector { .. } | TyKind::PackedVector { .. }) if self.tables.types().is_arithmetic(from) => {
                return self.tables.convert_value(operand, to.ty);
            }
            (TyKind::Matrix { .. }, TyKind::Matrix { .. }) => {
                return self.compose_matrix(to.ty, vec![operand], span);
            }
            (_, TyKind::Matrix { .. }) => return self.compose_matrix(to.ty, vec![operand], span),
            (_, TyKind::SimdgroupMatrix { element }) if self.tables.types().is_arithmetic(from) => {
                let element = self.convert(operand, QualTy::plain(element), Purpose::Element);
                return Expr::value(ExprKind::Splat(Box::new(element)), to.ty, span);
            }
            // Into `bfloat`, and between it and `half`: not implicit.
            (TyKind::Float(_), TyKind::Float(_)) => return self.tables.convert_value(operand, to.ty),
            _ if from == to.ty => return operand,
            _ => {}
        }
        let message = format!(
            "{} from '{}' to '{}' is not allowed",
            cast_name(kind),
            self.tables.name_of_qual(value.ty),
            self.tables.name_of(to.ty)
        );
        self.diagnostics.error("no-cast", span, message);
        Expr::error(span)
    }

    /// `(thread T &)e`: the same memory seen as another type.
    fn reference_cast(&mut self, value: Expr, to: Ty, target: QualTy, span: Span, kind: ast::CastKind) -> Expr {
        if let Some(conversion) = self.conversion(&value, QualTy::plain(to))
            && kind != ast::CastKind::Reinterpret
        {
            let reference = self.apply(value, QualTy::plain(to), conversion);
            return self.tables.deref(reference, span);
        }
        let space = value.ty.space.unwrap_or(AddressSpace::Thread);
        let is_rvalue = matches!(*self.tables.types().kind(to), TyKind::Reference { rvalue: true, .. });
        if is_rvalue
            && value.is_place
            && value.ty.ty == target.ty
            && target.space.is_none_or(|wanted| wanted == space)
        {
            // `static_cast<T &&>(x)`, as in move(): the same place, which may be moved from.
            let reference = Expr::value(ExprKind::AddressOf(Box::new(value)), to, span);
            return self.tables.deref(reference, span);
        }
        let is_related = kind != ast::CastKind::Reinterpret
            && (self.derives_from(target.ty, value.ty.ty) || self.derives_from(value.ty.ty, target.ty));
        let keeps_quals = (target.is_const || !value.ty.is_const) && (target.is_volatile || !value.ty.is_volatile);
        if is_related
            && value.is_place
            && target.space.is_none_or(|wanted| wanted == space)
            && (keeps_quals || kind == ast::CastKind::CStyle)
        {
            let cast = self.tables.pointer_cast(value.ty.ty, target.ty);
            return self.tables.seen_by(cast, value, target, span);
        }
        if !value.is_place || target.space.unwrap_or(AddressSpace::Thread) != space || kind == ast::CastKind::Static
        {
            let message = format!(
                "cast from '{}' to '{}' is not allowed",
                self.tables.name_of_qual(value.ty),
                self.tables.name_of(to)
            );
            self.diagnostics.error("no-cast", span, message);
            return Expr::error(span);
        }
        if kind == ast::CastKind::Reinterpret && value.ty.is_volatile && !target.is_volatile {
            return self.casts_away_qualifiers(&value, to, span, kind);
        }
        self.tables.seen_as(value, target, span)
    }

    fn casts_away_qualifiers(&mut self, value: &Expr, to: Ty, span: Span, kind: ast::CastKind) -> Expr {
        let message = format!(
            "{} from '{}' to '{}' casts away qualifiers",
            cast_name(kind),
            self.tables.name_of_qual(value.ty),
            self.tables.name_of(to)
        );
        self.diagnostics.error("no-cast", span, message);
        Expr::error(span)
    }
}

impl Tables<'_> {
    /// The memory of a place, seen as another type.
    pub(super) fn seen_as(&mut self, place: Expr, target: QualTy, span: Span) -> Expr {
        self.seen_by(CastKind::Pointer, place, target, span)
    }

    /// The object at the address of a place after a cast.
    fn seen_by(&mut self, cast: CastKind, place: Expr, target: QualTy, span: Span) -> Expr {
        let space = place.ty.space.unwrap_or(AddressSpace::Thread);
        let from_pointer = self.types_mut().pointer(place.ty.in_space(space));
        let to_pointer = self.types_mut().pointer(target.in_space(space));
        let address = Expr::value(ExprKind::AddressOf(Box::new(place)), from_pointer, span);
        let kind = ExprKind::Cast { kind: cast, operand: Box::new(address) };
        let pointer = Expr::value(kind, to_pointer, span);
        self.deref(pointer, span)
    }
}

fn cast_name(kind: ast::CastKind) -> &'static str {
    match kind {
        ast::CastKind::CStyle => "C-style cast",
        ast::CastKind::Static => "static_cast",
        ast::CastKind::Reinterpret => "reinterpret_cast",
        ast::CastKind::Const => "const_cast",
    }
}
