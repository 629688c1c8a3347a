//! Members through pointers to them: `object.*p`, `pointer->*p`, `(object.*f)(args)`.
//!
//! If a pointer to data is a constant, as an argument of a template is, `.*` names the member itself, so that constant
//! expressions can use it.

use super::operand::Operand;
use crate::check::Checker;
use crate::check::tables::Tables;
use crate::parse::ast::{self, BinaryOp};
use crate::program::{CastKind, Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `base.*member`, `base->*member`
    pub(super) fn check_member_pointer(
        &mut self,
        base: &'a ast::Expr,
        arrow: bool,
        member: &'a ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        let base = self.check_expr(base);
        let pointer = self.check_expr(member);
        let Some((object, pointer)) = self.object_of_member(base, arrow, pointer, op_span, span) else {
            return Expr::error(span);
        };
        if object.ty.ty.is_unknown() || pointer.ty.ty.is_unknown() {
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(Ty::DEPENDENT), is_place: true, span };
        }
        let Some((class, member)) = self.tables.types().member_pointer(pointer.ty.ty) else { return pointer };
        if self.tables.types().is_function(member.ty) {
            let message = "reference to non-static member function must be called";
            self.diagnostics.error("method-value", span, message);
            return Expr::error(span);
        }
        if let Ok(Value::Int(place)) = self.try_evaluate(&pointer)
            && let Some(path) = self.tables.path_to_member(class, place - 1, member.ty)
        {
            return self.tables.member_by_path(object, class, &path, member, span);
        }
        let is_value = !object.is_place;
        let object = self.tables.temporary(object);
        let place = self.tables.member_at(object, pointer, member, span);
        if is_value { self.load(place) } else { place }
    }

    /// `(object.*f)(args)`; `None` if the callee is no such expression.
    pub(in crate::check) fn check_method_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ast::ExprKind::Paren(inner) = &callee.kind else { return None };
        let ast::ExprKind::MemberPointer { base, arrow, op_span, member } = &inner.kind else { return None };
        let base = self.check_expr(base);
        let pointer = self.check_expr(member);
        let Some((object, pointer)) = self.object_of_member(base, *arrow, pointer, *op_span, span) else {
            return Some(Expr::error(span));
        };
        let operands = self.check_args(args);
        if object.ty.ty.is_unknown() || pointer.ty.ty.is_unknown() {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let Some((class, member)) = self.tables.types().member_pointer(pointer.ty.ty) else {
            return Some(self.call_object(pointer, operands, span));
        };
        let TyKind::Function { result, params } = self.tables.types().kind(member.ty).clone() else {
            let object = self.tables.temporary(object);
            let place = self.tables.member_at(object, pointer, member, span);
            return Some(self.call_object(place, operands, span));
        };
        let object = self.tables.temporary(object);
        let space = object.ty.space.unwrap_or(AddressSpace::Thread);
        if member.space != Some(space) || object.ty.is_const && !member.is_const {
            let message = format!(
                "'this' argument has type '{}', but the method needs one in '{}'{}",
                self.tables.name_of_qual(object.ty),
                member.space.unwrap_or(AddressSpace::Thread).text(),
                if member.is_const { "" } else { ", not const" }
            );
            self.diagnostics.error("member-pointer", span, message);
            return Some(Expr::error(span));
        }
        let class = self.tables.struct_type(class);
        let this = self.tables.types_mut().pointer(member.with_ty(class));
        let all: Vec<Ty> = std::iter::once(this).chain(params).collect();
        let object = Expr::value(ExprKind::AddressOf(Box::new(object)), this, span);
        let operands = std::iter::once(Operand::Value(object)).chain(operands).collect();
        let pointer = match pointer.kind {
            // A constant, as an argument of a template is.
            ExprKind::Constant(Value::Function(id)) => Expr { kind: ExprKind::Function(id), ..pointer },
            _ => {
                let function = self.tables.types_mut().intern(TyKind::Function { result, params: all });
                let function = self.tables.types_mut().pointer(QualTy::plain(function));
                let kind = ExprKind::Cast { kind: CastKind::Pointer, operand: Box::new(pointer) };
                Expr::value(kind, function, span)
            }
        };
        Some(self.call_object(pointer, operands, span))
    }

    /// The part of the object that `pointer` points into, and the value of `pointer`. Where a class defines the
    /// operator, its result is the second.
    fn object_of_member(
        &mut self,
        base: Expr,
        arrow: bool,
        pointer: Expr,
        op_span: Span,
        span: Span,
    ) -> Option<(Expr, Expr)> {
        if arrow
            && self.tables.is_overloadable(base.ty.ty)
            && let Some(result) =
                self.call_operator("operator->*", vec![base.clone(), pointer.clone()], op_span, span)
        {
            return Some((base, result));
        }
        let pointer = self.load(pointer);
        if base.ty.ty.is_unknown() || pointer.ty.ty.is_unknown() {
            let is_error = base.ty.ty == Ty::ERROR || pointer.ty.ty == Ty::ERROR;
            return (!is_error).then_some((base, pointer));
        }
        let operator = if arrow { "->*" } else { ".*" };
        let Some((class, _)) = self.tables.types().member_pointer(pointer.ty.ty) else {
            let message = format!(
                "right hand operand to {operator} has non-pointer-to-member type '{}'",
                self.tables.name_of(pointer.ty.ty)
            );
            self.diagnostics.error("member-pointer", op_span, message);
            return None;
        };
        let given = self.tables.name_of(base.ty.ty);
        let object = match arrow {
            false => Some(base),
            true => {
                let base = self.load(base);
                let is_pointer = self.tables.types().pointee(base.ty.ty).is_some();
                is_pointer.then(|| self.tables.deref(base, span))
            }
        };
        let class = self.tables.struct_type(class);
        let fits = |this: &mut Self, ty: Ty| ty == class || this.derives_from(ty, class);
        let Some(object) = object.filter(|object| fits(self, object.ty.ty)) else {
            let what = if arrow { "pointer to class" } else { "class" };
            let message = format!(
                "left hand operand to {operator} must be a {what} compatible with the right hand operand, but is \
                 '{given}'"
            );
            self.diagnostics.error("member-pointer", op_span, message);
            return None;
        };
        Some((self.tables.upcast_place(object, class), pointer))
    }
}

impl<'a> Tables<'a> {
    /// The fields that lead to the member of type `ty` at an offset.
    fn path_to_member(&self, class: StructId, offset: i128, ty: Ty) -> Option<Vec<u32>> {
        for (index, field) in self.types().struct_(class).fields.iter().enumerate() {
            let inside = offset - i128::from(field.offset);
            if field.bits.is_some() || inside < 0 {
                continue;
            }
            if inside == 0 && field.ty.ty == ty && !field.name.is_empty() {
                return Some(vec![index as u32]);
            }
            let is_part = field.is_base || field.name.is_empty();
            if is_part
                && let Some(part) = self.types().struct_id(field.ty.ty)
                && let Some(mut path) = self.path_to_member(part, inside, ty)
            {
                path.insert(0, index as u32);
                return Some(path);
            }
        }
        None
    }

    fn member_by_path(&self, object: Expr, class: StructId, path: &[u32], member: QualTy, span: Span) -> Expr {
        let (mut object, mut at) = (object, class);
        for &field in path {
            object = self.own_field(object, at, field, span);
            at = self.types().struct_id(object.ty.ty).unwrap_or(at);
        }
        let is_const = object.ty.is_const || member.is_const;
        Expr { ty: QualTy { is_const, ..object.ty }, ..object }
    }

    /// The member of an object at the offset that a pointer holds.
    fn member_at(&mut self, object: Expr, pointer: Expr, member: QualTy, span: Span) -> Expr {
        let space = object.ty.space.unwrap_or(AddressSpace::Thread);
        let object_ty = object.ty.in_space(space);
        let ty = QualTy {
            is_const: object_ty.is_const || member.is_const,
            is_volatile: object_ty.is_volatile || member.is_volatile,
            coherence: object_ty.coherence.max(member.coherence),
            ..object_ty.with_ty(member.ty)
        };
        let to_object = self.types_mut().pointer(object_ty);
        let to_byte = self.types_mut().pointer(object_ty.with_ty(Ty::CHAR));
        let to_member = self.types_mut().pointer(ty);
        let cast = |kind: CastKind, operand: Expr, ty: Ty| {
            Expr::value(ExprKind::Cast { kind, operand: Box::new(operand) }, ty, span)
        };
        let address = Expr::value(ExprKind::AddressOf(Box::new(object)), to_object, span);
        let bytes = cast(CastKind::Pointer, address, to_byte);
        let one = Box::new(Expr::constant(Value::Int(1), Ty::LONG, span));
        let place = Box::new(cast(CastKind::Number, pointer, Ty::LONG));
        let offset = Expr::value(ExprKind::Binary { op: BinaryOp::Sub, lhs: place, rhs: one }, Ty::LONG, span);
        let kind = ExprKind::PointerAdd { pointer: Box::new(bytes), offset: Box::new(offset), negative: false };
        let moved = Expr::value(kind, to_byte, span);
        self.deref(cast(CastKind::Pointer, moved, to_member), span)
    }
}
