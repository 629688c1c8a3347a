//! Operators with operands of `uniform<T>` (specification, 2.15.2).
//!
//! The result is uniform if each operand is, and a constant is as good as a uniform operand: in MLX's `gemv`, Apple's
//! compiler promises that `leftover > 0` is uniform, but not that `i < n_iter` is. Not functions in the header: those
//! could not tell a constant from another number, and every class in scope of `metal` would be matched with them.

use crate::check::Checker;
use crate::check::tables::{EntityId, Tables, TemplateArg};
use crate::parse::ast::{self, BinaryOp, UnaryOp};
use crate::program::Expr;
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty};

impl<'a> Checker<'a> {
    /// `lhs op rhs`, if one is uniform and none of another class.
    pub(super) fn uniform_binary(
        &mut self,
        op: BinaryOp,
        lhs: &Expr,
        rhs: &Expr,
        op_span: Span,
        span: Span,
    ) -> Option<Expr> {
        let classes = [self.tables.uniform_class(lhs.ty.ty), self.tables.uniform_class(rhs.ty.ty)];
        let class = classes[0].or(classes[1])?;
        let mut others = [lhs, rhs].into_iter().zip(classes).filter(|(_, class)| class.is_none());
        if others.any(|(expr, _)| !self.tables.has_builtin_operators(expr.ty.ty)) {
            return None;
        }
        let is_uniform = self.is_uniform_operand(lhs) && self.is_uniform_operand(rhs);
        let (lhs, rhs) = (self.uniform_value(lhs.clone()), self.uniform_value(rhs.clone()));
        let result = self.binary(op, lhs, rhs, op_span, span);
        Some(if is_uniform { self.made_uniform(class, result) } else { result })
    }

    /// `+u`, `-u`, `~u`, `!u`
    pub(super) fn uniform_unary(&mut self, op: UnaryOp, operand: &Expr, op_span: Span, span: Span) -> Option<Expr> {
        let class = self.tables.uniform_class(operand.ty.ty)?;
        if !matches!(op, UnaryOp::Plus | UnaryOp::Minus | UnaryOp::BitNot | UnaryOp::Not) {
            return None;
        }
        let value = self.uniform_value(operand.clone());
        let result = match op {
            UnaryOp::Not => self.logical_not(value, span),
            _ => self.arithmetic_unary(op, value, op_span, span),
        };
        Some(self.made_uniform(class, result))
    }

    /// The operands of `condition ? then : otherwise`: they lose their uniformity if the condition is not uniform.
    pub(super) fn uniform_choice(&mut self, condition: &Expr, then: Expr, otherwise: Expr) -> (Expr, Expr) {
        if self.is_uniform_operand(condition) {
            return (then, otherwise);
        }
        (self.uniform_value(then), self.uniform_value(otherwise))
    }

    /// True for a value of `uniform<T>` and for a constant number.
    fn is_uniform_operand(&mut self, operand: &Expr) -> bool {
        self.tables.uniform_class(operand.ty.ty).is_some() || self.is_constant_number(operand)
    }

    fn is_constant_number(&mut self, expr: &Expr) -> bool {
        let types = self.tables.types();
        let is_number = types.is_arithmetic(types.element_of(expr.ty.ty)) || types.enum_id(expr.ty.ty).is_some();
        is_number && self.try_evaluate(expr).is_ok()
    }

    /// The number in a `uniform<T>`; other values stay as they are.
    fn uniform_value(&mut self, expr: Expr) -> Expr {
        match self.tables.uniform_class(expr.ty.ty) {
            Some(_) => self.scalar_from_class(expr),
            None => expr,
        }
    }

    /// `value` as `uniform<T>`, an instance of the same template as `class`.
    fn made_uniform(&mut self, class: StructId, value: Expr) -> Expr {
        let (ty, span) = (value.ty.ty, value.span);
        let Some((template, _)) = self.tables.class(class).template.clone() else { return value };
        if ty.is_unknown() || !self.tables.types().is_arithmetic(self.tables.types().element_of(ty)) {
            return value;
        }
        let args = vec![TemplateArg::Type(QualTy::plain(ty))];
        let made = self.class_instance(template, args, span).ty;
        let Some(made_class) = self.tables.types().struct_id(made) else { return value };
        self.complete_class(made_class);
        let constructors = self.tables.class(made_class).constructors.clone();
        match constructors.into_iter().find(|&constructor| self.tables.takes_constants(constructor)) {
            Some(constructor) => self.construct_with(constructor, None, vec![value], made, span),
            None => value,
        }
    }

    /// True if the argument of the constructor of `uniform<T>` from `T` is not a constant.
    pub(in crate::check) fn lacks_constant(&mut self, function: EntityId, arg: &Expr) -> bool {
        self.tables.takes_constants(function)
            && !arg.ty.ty.is_unknown()
            && !self.tables.is_in_stdlib(arg.span)
            && !self.is_constant_number(arg)
    }
}

impl Tables<'_> {
    /// The class of `uniform<T>`.
    pub(in crate::check) fn uniform_class(&self, ty: Ty) -> Option<StructId> {
        let class = self.types().struct_id(ty)?;
        (self.library_template(class) == Some("uniform")).then_some(class)
    }

    /// True for the constructor of `uniform<T>` from `T`, which takes constants only.
    fn takes_constants(&self, function: EntityId) -> bool {
        let entity = self.entity(function);
        entity.header.is_none()
            && entity.class.is_some_and(|class| self.library_template(class) == Some("uniform"))
            && entity.source.first().is_some_and(|decl| matches!(decl.kind, ast::FunctionKind::Constructor))
            && entity.source.params().len() == 1
    }

    /// True for a type that operators are not defined for.
    fn has_builtin_operators(&self, ty: Ty) -> bool {
        !self.is_overloadable(ty) || self.types().enum_id(ty).is_some()
    }
}
