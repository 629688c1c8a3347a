//! Operands: from a tree to a value, a set of functions, a type or a brace list.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::state::Diagnostics;
use crate::check::tables::{EntityId, Tables};
use crate::evaluate;
use crate::lex::token::FloatSuffix;
use crate::parse::ast::{self, ExprKind as Ast};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

/// Meaning of an expression.
#[derive(Clone)]
pub(in crate::check) enum Operand<'a> {
    Value(Expr),
    Functions(FunctionSet<'a>),
    Braces(&'a [ast::InitItem], Span),
    Type(QualTy),
}

/// Functions of one name, before overload resolution.
#[derive(Clone)]
pub(in crate::check) struct FunctionSet<'a> {
    pub(in crate::check) name: SmolStr,
    pub(in crate::check) entities: Vec<EntityId>,
    pub(in crate::check) explicit: Option<&'a [ast::TemplateArg]>,
    /// The object of a method.
    pub(in crate::check) object: Option<Expr>,
    pub(in crate::check) span: Span,
    /// The arguments' namespaces are searched, too.
    pub(in crate::check) allows_adl: bool,
}

impl<'a> Checker<'a> {
    /// An expression as a value: places are read.
    pub(in crate::check) fn check_value(&mut self, expr: &'a ast::Expr) -> Expr {
        let checked = self.check_expr(expr);
        self.load(checked)
    }

    /// An expression as a place or value.
    pub(in crate::check) fn check_expr(&mut self, expr: &'a ast::Expr) -> Expr {
        let operand = self.check_operand(expr);
        let checked = self.operand_as_expr(operand, expr.span);
        // `C::method` is no value; `&C::method` is.
        if let (Ast::Path(_), ExprKind::Function(_)) = (&expr.kind, &checked.kind)
            && self.tables.types().member_pointer(checked.ty.ty).is_some()
        {
            let message = "call to non-static member function without an object argument";
            self.diagnostics.error("method-value", expr.span, message);
            return Expr::error(expr.span);
        }
        checked
    }

    pub(in crate::check) fn operand_as_expr(&mut self, operand: Operand<'a>, span: Span) -> Expr {
        match operand {
            Operand::Value(expr) => expr,
            Operand::Functions(set) => match self.only_function(&set).filter(|_| set.object.is_none()) {
                Some(id) => match self.tables.method_pointer_type(id) {
                    Some(ty) => self.method_value(id, ty, span),
                    None => {
                        let ty = self.tables.function_pointer_type(id);
                        Expr::value(ExprKind::Function(id), ty, span)
                    }
                },
                None if self.position.in_pattern() && set.explicit.is_some() => {
                    Expr::value(ExprKind::Error, Ty::DEPENDENT, span)
                }
                None if set.object.is_some() => {
                    let message = "reference to non-static member function must be called";
                    self.diagnostics.error("method-value", span, message);
                    Expr::error(span)
                }
                None => {
                    let message = format!("reference to overloaded function '{}' could not be resolved", set.name);
                    self.diagnostics.error("overloaded", span, message);
                    Expr::error(span)
                }
            },
            Operand::Braces(_, span) => {
                self.diagnostics.error("initializer-list", span, "an initializer list is not allowed here");
                Expr::error(span)
            }
            Operand::Type(ty) => {
                let message = format!("expected an expression, found the type '{}'", self.tables.name_of_qual(ty));
                self.diagnostics.error("expected-expression", span, message);
                Expr::error(span)
            }
        }
    }

    /// An expression for a `ty`, which selects the overload that a function name means.
    pub(in crate::check) fn check_for_type(&mut self, expr: &'a ast::Expr, ty: QualTy) -> Expr {
        match self.check_operand(expr) {
            Operand::Functions(set)
                if self.tables.types().member_pointer(ty.ty).is_some() && !matches!(expr.kind, Ast::Path(_)) =>
            {
                self.method_as_pointer(set, ty.ty, expr.span)
            }
            operand @ Operand::Functions(_) => {
                if let Some(pointee) = self.tables.types().pointee(ty.ty)
                    && let TyKind::Function { .. } = self.tables.types().kind(pointee.ty)
                {
                    return self
                        .operand_as_function(operand, pointee.ty, expr.span)
                        .unwrap_or(Expr::error(expr.span));
                }
                self.operand_as_expr(operand, expr.span)
            }
            Operand::Braces(items, span) => self.list_initialize_items(ty, items, span),
            operand => self.operand_as_expr(operand, expr.span),
        }
    }

    /// A condition: anything that converts to `bool`.
    pub(in crate::check) fn check_condition_value(&mut self, expr: &'a ast::Expr) -> Expr {
        let value = self.check_expr(expr);
        self.as_bool(value)
    }

    pub(in crate::check) fn as_bool(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if value.ty.ty.is_unknown() {
            return value;
        }
        let converts = self.explicitly(|this| this.conversion(&value, QualTy::plain(Ty::BOOL)).is_some());
        if converts {
            return self.explicitly(|this| this.convert(value, QualTy::plain(Ty::BOOL), Purpose::Variable));
        }
        let message = format!(
            "value of type '{}' is not contextually convertible to 'bool'",
            self.tables.name_of(value.ty.ty)
        );
        self.diagnostics.error("not-bool", span, message);
        Expr::error(span)
    }

    pub(in crate::check) fn check_operand(&mut self, expr: &'a ast::Expr) -> Operand<'a> {
        let checked = self.nested(expr.span, |this| this.check_operand_nested(expr));
        checked.unwrap_or(Operand::Value(Expr::error(expr.span)))
    }

    fn check_operand_nested(&mut self, expr: &'a ast::Expr) -> Operand<'a> {
        let span = expr.span;
        Operand::Value(match &expr.kind {
            // Diagnostics underline the parentheses, too.
            Ast::Paren(inner) => {
                return match self.check_operand(inner) {
                    Operand::Value(value) => Operand::Value(Expr { span, ..value }),
                    operand => operand,
                };
            }
            Ast::Path(path) => return self.check_path(path),
            Ast::Member { base, arrow, member } => return self.check_member(base, *arrow, member, span),
            Ast::InitList(items) => return Operand::Braces(items, span),
            Ast::MemberPointer { base, arrow, op_span, member } => {
                self.check_member_pointer(base, *arrow, member, *op_span, span)
            }
            Ast::Unary { op: ast::UnaryOp::AddressOf, operand, .. } => {
                if let Ast::Path(path) = &operand.kind
                    && let Some(pointer) = self.address_of_member(path, span)
                {
                    return pointer;
                }
                return match self.check_operand(operand) {
                    set @ Operand::Functions(_) => set,
                    operand => {
                        let place = self.operand_as_expr(operand, span);
                        Operand::Value(address_of(&mut self.tables, &mut self.diagnostics, place, span))
                    }
                };
            }
            Ast::Int(literal) => self.tables.int_literal(literal, span),
            Ast::Float(literal) => {
                let ty = match literal.suffix {
                    FloatSuffix::None | FloatSuffix::Float => Ty::FLOAT,
                    FloatSuffix::Half => Ty::HALF,
                    FloatSuffix::BFloat => Ty::BFLOAT,
                };
                let value = evaluate::convert(self.tables.types(), &Value::Float(literal.value), Ty::FLOAT, ty);
                Expr::constant(value.unwrap_or(Value::Float(literal.value)), ty, span)
            }
            Ast::Bool(value) => Expr::constant(Value::Bool(*value), Ty::BOOL, span),
            Ast::Char(value) => Expr::constant(Value::Int(i128::from(*value as i8)), Ty::CHAR, span),
            Ast::Nullptr => Expr::constant(Value::Null, Ty::NULLPTR, span),
            Ast::Str(text) => self.tables.string(text, span),
            Ast::This => self.check_this(span),
            Ast::Unary { op, operand, op_span } => self.check_unary(*op, operand, *op_span, span),
            Ast::Binary { op, op_span, lhs, rhs } => self.check_binary(*op, lhs, rhs, *op_span, span),
            Ast::Assign { op, op_span, lhs, rhs } => self.check_assign(*op, lhs, rhs, *op_span, span),
            Ast::Conditional { condition, then, otherwise } => {
                self.check_conditional(condition, then, otherwise, span)
            }
            Ast::Comma(first, second) => {
                let first = self.check_expr(first);
                let second = self.check_expr(second);
                if self.tables.is_overloadable(first.ty.ty) || self.tables.is_overloadable(second.ty.ty) {
                    let operands = vec![first.clone(), second.clone()];
                    if let Ok(Some(result)) =
                        self.attempt(|this| this.call_operator("operator,", operands, span, span))
                    {
                        return Operand::Value(result);
                    }
                }
                let (ty, is_place) = (second.ty, second.is_place);
                Expr { kind: ExprKind::Comma(Box::new(first), Box::new(second)), ty, is_place, span }
            }
            Ast::Call { callee, args } => self.check_call(callee, args, span),
            Ast::Construct { ty, args, braces } => {
                if let Some(made) = self.check_deduced_list(ty, args, span) {
                    return Operand::Value(made);
                }
                let ty = self.resolve_type(ty);
                match braces {
                    true => self.list_initialize_exprs(QualTy { is_const: false, ..ty }, args, span),
                    false => self.construct_type(ty, args, span),
                }
            }
            Ast::Index { base, index } => self.check_index(base, index, span),
            Ast::Cast { kind, ty, operand } => {
                let ty = self.resolve_type(ty);
                if let Ast::InitList(items) = &operand.kind {
                    return Operand::Value(self.list_initialize_items(ty, items, span));
                }
                let value = self.check_for_type(operand, ty);
                self.explicit_cast(value, ty, span, *kind)
            }
            Ast::SizeOfType(ty) => {
                let ty = self.resolve_type(ty);
                self.size_of(ty.ty, span)
            }
            Ast::SizeOfExpr(inner) => {
                let saved = self.position.set_unevaluated(true);
                let operand = self.check_operand(inner);
                self.position.set_unevaluated(saved);
                let ty = match operand {
                    Operand::Type(ty) => ty.ty,
                    operand => self.operand_as_expr(operand, span).ty.ty,
                };
                self.size_of(ty, span)
            }
            Ast::SizeOfPack(name) => self.size_of_pack(name),
            Ast::AlignOf(ty) => {
                let alias = self.alias_alignment(ty);
                let ty = self.resolve_type(ty).ty;
                self.complete_type(ty);
                match self.tables.types().layout(ty) {
                    Some(layout) => {
                        Expr::constant(Value::Int(i128::from(layout.align.max(alias))), Ty::ULONG, span)
                    }
                    None => Expr::constant(Value::Unknown, Ty::ULONG, span),
                }
            }
            Ast::OffsetOf(member) => self.offset_of(member, span),
            Ast::Object(ty) => {
                let ty = self.resolve_type(ty);
                Expr::place(ExprKind::Error, ty, span)
            }
            Ast::Lambda(lambda) => self.check_lambda(lambda),
            Ast::Statements(block) => self.check_statements(block, span),
            Ast::Fold { op, lhs, rhs } => self.check_fold(*op, lhs.as_deref(), rhs.as_deref(), span),
            Ast::PackExpansion(_) => {
                self.diagnostics.error("pack", span, "pack expansion is not allowed here");
                Expr::error(span)
            }
            Ast::Error => Expr::error(span),
        })
    }
}

impl<'a> Tables<'a> {
    fn int_literal(&self, literal: &crate::lex::token::IntLiteral, span: Span) -> Expr {
        let value = i128::from(literal.value);
        let fits = |ty: Ty| evaluate::fits(self.types(), &Value::Int(value), ty);
        let candidates: &[Ty] = match (literal.unsigned, literal.long, literal.decimal) {
            (true, false, _) => &[Ty::UINT, Ty::ULONG],
            (true, true, _) => &[Ty::ULONG],
            (false, true, true) => &[Ty::LONG, Ty::ULONG],
            (false, true, false) => &[Ty::LONG, Ty::ULONG],
            (false, false, true) => &[Ty::INT, Ty::LONG, Ty::ULONG],
            (false, false, false) => &[Ty::INT, Ty::UINT, Ty::LONG, Ty::ULONG],
        };
        let ty = candidates.iter().copied().find(|&ty| fits(ty)).unwrap_or(Ty::ULONG);
        Expr::constant(Value::Int(value), ty, span)
    }
}

fn address_of(tables: &mut Tables<'_>, diagnostics: &mut Diagnostics, place: Expr, span: Span) -> Expr {
    if place.ty.ty.is_unknown() {
        return Expr::value(ExprKind::Error, place.ty.ty, span);
    }
    if !place.is_place || matches!(place.kind, ExprKind::Temporary(_)) {
        let message = format!("cannot take the address of an rvalue of type '{}'", tables.name_of(place.ty.ty));
        diagnostics.error("address-of", span, message);
        return Expr::error(span);
    }
    if tables.is_vector_element(&place) {
        diagnostics.error("address-of", span, "address of vector element requested");
        return Expr::error(span);
    }
    if let ExprKind::Field { base, field } = &place.kind
        && let Some(id) = tables.types().struct_id(base.ty.ty)
        && tables.types().struct_(id).fields[*field as usize].bits.is_some()
    {
        diagnostics.error("address-of", span, "address of bit-field requested");
        return Expr::error(span);
    }
    if let Some(warning) = tables.unaligned_address(&place, span) {
        diagnostics.report(warning);
    }
    let space = place.ty.space.unwrap_or(AddressSpace::Thread);
    let ty = tables.types_mut().pointer(place.ty.in_space(space));
    Expr::value(ExprKind::AddressOf(Box::new(place)), ty, span)
}
