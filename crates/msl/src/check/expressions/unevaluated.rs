//! Unevaluated operands: `decltype`, `sizeof`, `offsetof`.

use super::operand::{FunctionSet, Operand};
use crate::check::Checker;
use crate::parse::ast::{self, ExprKind as Ast};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `decltype(e)`
    fn type_of_operand(&mut self, operand: Operand<'a>, expr: &'a ast::Expr) -> QualTy {
        match operand {
            Operand::Functions(set) => match self.only_function(&set) {
                Some(id) => {
                    self.result_of(id, expr.span);
                    let is_address = matches!(expr.kind, Ast::Unary { .. });
                    if let Some(method) = self.tables.method_pointer_type(id).filter(|_| is_address) {
                        return QualTy::plain(method);
                    }
                    let pointer = self.tables.function_pointer_type(id);
                    if is_address {
                        return QualTy::plain(pointer);
                    }
                    self.tables.types().pointee(pointer).expect("a pointer")
                }
                None if self.position.in_pattern() => QualTy::plain(Ty::DEPENDENT),
                None => {
                    let message = match self.functions_refuse(&set) {
                        Some(reason) => reason,
                        None => format!("reference to overloaded function '{}' could not be resolved", set.name),
                    };
                    self.diagnostics.error("overloaded", expr.span, message);
                    QualTy::plain(Ty::ERROR)
                }
            },
            Operand::Value(value) => {
                // A name gives its declared type, another place a reference to it.
                let is_name = matches!(expr.kind, Ast::Path(_) | Ast::Member { .. });
                if value.is_place && !is_name {
                    let to = value.ty.in_space(value.ty.space.unwrap_or(AddressSpace::Thread));
                    let rvalue = self.tables.is_expiring(&value);
                    return QualTy::plain(self.tables.types_mut().intern(TyKind::Reference { to, rvalue }));
                }
                let declared = match &value.kind {
                    ExprKind::Local(id) => Some(self.function.local(*id).ty),
                    ExprKind::Deref(address) => match &address.kind {
                        ExprKind::Load(place) => match place.kind {
                            ExprKind::Local(id) => Some(self.function.local(id).ty),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                };
                declared.unwrap_or(QualTy { space: None, ..value.ty })
            }
            Operand::Type(ty) => ty,
            Operand::Braces(_, span) => {
                self.diagnostics.error("decltype", span, "an initializer list has no type");
                QualTy::plain(Ty::ERROR)
            }
        }
    }

    /// Reason that the explicit arguments of a function name fit none of its templates.
    fn functions_refuse(&mut self, set: &FunctionSet<'a>) -> Option<String> {
        let explicit = set.explicit?;
        for &entity in &set.entities {
            let Some(header) = self.tables.entity(entity).header else { continue };
            let scope = self.tables.entity(entity).scope;
            let name = set.name.clone();
            let fitted = self.attempt(|this| {
                let args = this.fit_template_args(&[header], scope, explicit, set.span, &name)?;
                this.tables.entity_mut(entity).signatures.remove(&args);
                this.signature(entity, &args)
            });
            if let Err(first) = fitted {
                return Some(format!("no matching function '{name}': {}", first.message));
            }
        }
        None
    }

    pub(super) fn size_of(&mut self, ty: Ty, span: Span) -> Expr {
        self.complete_type(ty);
        if self.tables.is_dependent_type(ty) {
            return Expr::constant(Value::Unknown, Ty::ULONG, span);
        }
        let ty = self.tables.types().referent(QualTy::plain(ty)).ty;
        match self.tables.types().layout(ty) {
            Some(layout) => Expr::constant(Value::Int(i128::from(layout.size)), Ty::ULONG, span),
            None if ty == Ty::ERROR => Expr::error(span),
            None => {
                let message =
                    format!("invalid application of 'sizeof' to an incomplete type '{}'", self.tables.name_of(ty));
                self.diagnostics.error("sizeof", span, message);
                Expr::error(span)
            }
        }
    }

    /// `__builtin_offsetof(T, member)`, with the member of some object of type `T`.
    pub(super) fn offset_of(&mut self, member: &'a ast::Expr, span: Span) -> Expr {
        let saved = self.position.set_unevaluated(true);
        let object = first_object(member);
        let ty = object.map_or(Ty::ERROR, |object| self.resolve_type(object).ty);
        let refused = match *self.tables.types().kind(ty) {
            _ if ty.is_unknown() => None,
            TyKind::Struct(class) => {
                self.complete_class(class);
                let is_complete = self.tables.types().layout(ty).is_some();
                (!is_complete).then(|| format!("offsetof of incomplete type '{}'", self.tables.name_of(ty)))
            }
            _ => Some(format!(
                "offsetof requires struct, union, or class type, '{}' invalid",
                self.tables.name_of(ty)
            )),
        };
        let result = match refused {
            Some(message) => {
                self.diagnostics.error("offsetof", span, message);
                Expr::error(span)
            }
            None => {
                let place = self.check_expr(member);
                match place.ty.ty {
                    ty if ty == Ty::ERROR => Expr::error(span),
                    ty if ty.is_unknown() => Expr::constant(Value::Unknown, Ty::ULONG, span),
                    _ => self.offset_in_object(&place).map_or(Expr::error(span), |offset| {
                        Expr::constant(offset.map_or(Value::Unknown, Value::Int), Ty::ULONG, span)
                    }),
                }
            }
        };
        self.position.set_unevaluated(saved);
        result
    }

    /// Bytes from the beginning of the object to a member of it; `Some(None)` while an index is not known.
    fn offset_in_object(&mut self, place: &Expr) -> Option<Option<i128>> {
        let message = match &place.kind {
            ExprKind::Error => return Some(Some(0)),
            ExprKind::Field { base, field } => {
                let id = self.tables.types().struct_id(base.ty.ty)?;
                let field = self.tables.types().struct_(id).fields[*field as usize].clone();
                if field.bits.is_none() {
                    let outer = self.offset_in_object(base)?;
                    return Some(outer.map(|outer| outer + i128::from(field.offset)));
                }
                format!("cannot compute offset of bit-field '{}'", field.name)
            }
            ExprKind::Index { base, index } => {
                let size = self.tables.types().layout(place.ty.ty)?.size;
                let index = self.evaluate_or_report(index, "index in offsetof is not a constant expression")?;
                let outer = self.offset_in_object(base)?;
                return Some(match (outer, index) {
                    (Some(outer), Value::Int(index)) => Some(outer + index * i128::from(size)),
                    _ => None,
                });
            }
            _ => "offsetof requires a member".to_string(),
        };
        self.diagnostics.error("offsetof", place.span, message);
        None
    }

    pub(in crate::check) fn resolve_decltype(&mut self, expr: &'a ast::Expr) -> QualTy {
        let saved = self.position.set_unevaluated(true);
        let operand = self.check_operand(expr);
        let ty = self.type_of_operand(operand, expr);
        self.position.set_unevaluated(saved);
        ty
    }

    /// `__typeof__(e)`: the type of the expression with its qualifiers, and never a reference.
    pub(in crate::check) fn resolve_typeof(&mut self, expr: &'a ast::Expr) -> QualTy {
        let saved = self.position.set_unevaluated(true);
        let ty = self.check_expr(expr).ty;
        self.position.set_unevaluated(saved);
        QualTy { space: ty.space.filter(|&space| space != AddressSpace::Thread), ..ty }
    }
}

/// The type of the object that a member is of.
fn first_object(member: &ast::Expr) -> Option<&ast::TypeExpr> {
    match &member.kind {
        Ast::Object(ty) => Some(ty),
        Ast::Member { base, .. } | Ast::Index { base, .. } => first_object(base),
        _ => None,
    }
}
