//! Template arguments: from the text between the angle brackets to arguments that fit the parameters.

use crate::check::Checker;
use crate::check::names::adjust_param_type;
use crate::check::tables::{ScopeId, ScopeKind, Symbol, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::evaluate;
use crate::parse::ast::{self, TemplateParamKind};
use crate::program::{ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

/// Most arguments of a template, with those of packs.
pub(in crate::check) const MOST_ARGS: usize = 4096;

/// An argument that was given: as written, or already known from an expanded pack or from deduction.
#[derive(Clone)]
pub(in crate::check) enum Given<'a> {
    Written(&'a ast::TemplateArg),
    Known(TemplateArg),
}

impl<'a> Checker<'a> {
    /// Fits arguments to parameters, with defaults filled in. Reports an error and returns `None` if they do not fit.
    /// `headers` are the declarations of the template; the first one names the parameters.
    pub(in crate::check) fn fit_template_args(
        &mut self,
        headers: &[&'a ast::TemplateHeader],
        declared_in: ScopeId,
        given: &'a [ast::TemplateArg],
        span: Span,
        name: &str,
    ) -> Option<Vec<TemplateArg>> {
        let given = self.expand_given(given)?;
        let params = &headers[0].params;
        let scope = self.tables.scopes_mut().add(declared_in, ScopeKind::Template);
        let mut fitted = Vec::with_capacity(params.len());
        let mut given = given.into_iter();
        for (index, param) in params.iter().enumerate() {
            let arg = if param.is_pack {
                let mut pack = Vec::new();
                for one in given.by_ref() {
                    pack.push(self.fit_one(param, one, scope)?);
                }
                TemplateArg::Pack(pack)
            } else if let Some(one) = given.next() {
                self.fit_one(param, one, scope)?
            } else {
                match self.default_arg(headers, index, scope)? {
                    Some(arg) => arg,
                    None => {
                        let message = format!("too few template arguments for template '{name}'");
                        let diagnostic = Diagnostic::error("template-arguments", span, message);
                        self.diagnostics.report(diagnostic.note(headers[0].span, "template is declared here"));
                        return None;
                    }
                }
            };
            self.bind_param(scope, param, &arg);
            fitted.push(arg);
        }
        if given.next().is_some() {
            let message = format!("too many template arguments for template '{name}'");
            let diagnostic = Diagnostic::error("template-arguments", span, message);
            self.diagnostics.report(diagnostic.note(headers[0].span, "template is declared here"));
            return None;
        }
        Some(fitted)
    }

    /// The default of a parameter, from all declarations: `None` after an error, `Some(None)` without a default.
    pub(in crate::check) fn default_arg(
        &mut self,
        headers: &[&'a ast::TemplateHeader],
        index: usize,
        scope: ScopeId,
    ) -> Option<Option<TemplateArg>> {
        for header in headers {
            let Some(param) = header.params.get(index) else { continue };
            let found = match &param.kind {
                TemplateParamKind::Type { default: Some(ty) } => {
                    let ty = self.in_scope(scope, |this| this.resolve_type(ty));
                    (ty.ty != Ty::ERROR).then_some(TemplateArg::Type(ty))
                }
                TemplateParamKind::Value { ty, default: Some(default) } => self.in_scope(scope, |this| {
                    let ty = this.value_param_type(ty)?;
                    this.value_arg(default, ty)
                }),
                TemplateParamKind::Template { default: Some(path), .. } => {
                    self.in_scope(scope, |this| this.template_named(path))
                }
                _ => continue,
            };
            return found.map(Some);
        }
        Some(None)
    }

    /// Pack expansions among the arguments, expanded.
    pub(in crate::check) fn expand_given(&mut self, given: &'a [ast::TemplateArg]) -> Option<Vec<Given<'a>>> {
        let mut expanded = Vec::with_capacity(given.len());
        for arg in given {
            if expanded.len() > MOST_ARGS {
                self.diagnostics.error(
                    "template-arguments",
                    arg.span(),
                    format!("more than {MOST_ARGS} template arguments"),
                );
                return None;
            }
            match arg {
                ast::TemplateArg::Type(ast::TypeExpr { kind: ast::TypeExprKind::PackExpansion(inner), span }) => {
                    for bindings in self.pack_bindings_in_type(inner, *span)? {
                        let scope = self.tables.pack_scope(self.position.scope(), &bindings);
                        let ty = self.in_scope(scope, |this| this.resolve_type(inner));
                        expanded.push(Given::Known(TemplateArg::Type(ty)));
                    }
                }
                ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::PackExpansion(inner), span }) => {
                    for bindings in self.pack_bindings_in_expr(inner, *span)? {
                        let scope = self.tables.pack_scope(self.position.scope(), &bindings);
                        let arg = self.in_scope(scope, |this| match this.expr_as_type(inner) {
                            Some(ty) => Some(TemplateArg::Type(ty)),
                            None => {
                                let expr = this.check_value(inner);
                                let ty = expr.ty.ty;
                                this.constant_arg(&expr, ty)
                            }
                        })?;
                        expanded.push(Given::Known(arg));
                    }
                }
                arg => expanded.push(Given::Written(arg)),
            }
        }
        if expanded.len() > MOST_ARGS {
            self.diagnostics.error(
                "template-arguments",
                given[0].span(),
                format!("more than {MOST_ARGS} template arguments"),
            );
            return None;
        }
        Some(expanded)
    }

    pub(in crate::check) fn fit_one(
        &mut self,
        param: &'a ast::TemplateParam,
        given: Given<'a>,
        scope: ScopeId,
    ) -> Option<TemplateArg> {
        let written = match given {
            Given::Known(arg) => return Some(arg),
            Given::Written(arg) => arg,
        };
        match &param.kind {
            TemplateParamKind::Type { .. } => self.type_argument(written).map(TemplateArg::Type),
            TemplateParamKind::Value { ty, .. } => {
                let ast::TemplateArg::Expr(expr) = written else {
                    if let ast::TemplateArg::Type(ty) = written
                        && self.resolve_type(ty).ty == Ty::ERROR
                    {
                        return None;
                    }
                    let message = "template argument for non-type template parameter must be an expression";
                    let diagnostic = Diagnostic::error("template-argument-kind", written.span(), message);
                    self.diagnostics.report(diagnostic.note(param.span, "template parameter is declared here"));
                    return None;
                };
                let ty = self.in_scope(scope, |this| this.value_param_type(ty))?;
                self.value_arg(expr, ty)
            }
            TemplateParamKind::Template { .. } => {
                let path = match written {
                    ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) => path,
                    ast::TemplateArg::Type(ast::TypeExpr { kind: ast::TypeExprKind::Named(path), .. }) => path,
                    _ => {
                        let message = "template argument for template template parameter must be a class template";
                        self.diagnostics.error("template-argument-kind", written.span(), message);
                        return None;
                    }
                };
                self.template_named(path)
            }
        }
    }

    /// The type of a value parameter: `None` after an error, `Some(None)` for `auto`.
    pub(super) fn value_param_type(&mut self, ty: &'a ast::TypeExpr) -> Option<Option<Ty>> {
        if let ast::TypeExprKind::Auto | ast::TypeExprKind::DecltypeAuto = ty.kind {
            return Some(None);
        }
        let resolved = self.resolve_type(ty);
        let resolved = adjust_param_type(&mut self.tables, &mut self.diagnostics, resolved, ty.span);
        (resolved.ty != Ty::ERROR).then_some(Some(resolved.ty))
    }

    fn template_named(&mut self, path: &'a ast::Path) -> Option<TemplateArg> {
        match self.resolve_path(path) {
            Ok(Some(found)) => match found.symbol {
                Symbol::ClassTemplate(id) => Some(TemplateArg::Template(id)),
                Symbol::Dependent => Some(TemplateArg::UnknownValue),
                Symbol::Type(ty) => {
                    let template =
                        self.tables.types().struct_id(ty.ty).and_then(|id| self.tables.class(id).template.clone());
                    template.map(|(id, _)| TemplateArg::Template(id))
                }
                _ => {
                    let message = format!("'{}' is not a class template", path.last().name);
                    self.diagnostics.error("template-argument-kind", path.span, message);
                    None
                }
            },
            Ok(None) => {
                self.undeclared(path, true);
                None
            }
            Err(()) => None,
        }
    }

    /// An argument that must be a type.
    pub(in crate::check) fn type_argument(&mut self, arg: &'a ast::TemplateArg) -> Option<QualTy> {
        let ty = match arg {
            ast::TemplateArg::Type(ty) => self.resolve_type(ty),
            ast::TemplateArg::Expr(expr) => match self.expr_as_type(expr) {
                Some(ty) => ty,
                None => {
                    if let ast::ExprKind::Path(path) = &expr.kind
                        && let Ok(None) = self.resolve_path(path)
                    {
                        self.undeclared(path, true);
                        return None;
                    }
                    let message = "template argument for template type parameter must be a type";
                    self.diagnostics.error("template-argument-kind", expr.span, message);
                    return None;
                }
            },
        };
        (ty.ty != Ty::ERROR).then_some(ty)
    }

    pub(in crate::check) fn is_type_argument(&mut self, arg: &'a ast::TemplateArg) -> bool {
        match arg {
            ast::TemplateArg::Type(_) => true,
            ast::TemplateArg::Expr(expr) => self.expr_as_type(expr).is_some(),
        }
    }

    /// The type that an expression names, where the parser took a type for an expression.
    pub(in crate::check) fn expr_as_type(&mut self, expr: &'a ast::Expr) -> Option<QualTy> {
        let ast::ExprKind::Path(path) = &expr.kind else { return None };
        let found = self.resolve_path(path).ok()??;
        match found.symbol {
            symbol @ (Symbol::Type(_)
            | Symbol::ClassTemplate(_)
            | Symbol::AliasTemplate(_)
            | Symbol::NativeTemplate(_)) => {
                Some(self.symbol_as_type(&symbol, path.last().args.as_deref(), path.last().span))
            }
            Symbol::Dependent => Some(QualTy::plain(Ty::DEPENDENT)),
            _ => None,
        }
    }

    /// An argument that must be a constant of type `ty`; reports an error if it is not.
    pub(in crate::check) fn value_argument(&mut self, arg: &'a ast::TemplateArg, ty: Ty) -> Option<Value> {
        let ast::TemplateArg::Expr(expr) = arg else {
            self.diagnostics.error("template-argument-kind", arg.span(), "template argument must be an expression");
            return None;
        };
        Some(match self.value_arg(expr, Some(ty))? {
            TemplateArg::Int(_, value) => Value::Int(value),
            _ => Value::Unknown,
        })
    }

    /// A constant expression as argument for a parameter of type `ty`, or of its own type for `auto`.
    fn value_arg(&mut self, expr: &'a ast::Expr, ty: Option<Ty>) -> Option<TemplateArg> {
        if let Some(ty) = ty
            && let Some(pointee) = self.tables.types().pointee(ty)
            && let TyKind::Function { .. } = self.tables.types().kind(pointee.ty)
        {
            return self.function_arg(expr, pointee.ty);
        }
        let checked = match ty {
            Some(ty) if self.tables.types().member_pointer(ty).is_some() => {
                self.check_for_type(expr, QualTy::plain(ty))
            }
            _ => self.check_value(expr),
        };
        let ty = ty.unwrap_or(checked.ty.ty);
        self.constant_arg(&checked, ty)
    }

    /// A checked constant expression as argument for a parameter of type `ty`.
    fn constant_arg(&mut self, expr: &crate::program::Expr, ty: Ty) -> Option<TemplateArg> {
        if expr.ty.ty == Ty::ERROR || ty == Ty::ERROR {
            return None;
        }
        if expr.ty.ty == Ty::DEPENDENT || ty == Ty::DEPENDENT {
            return Some(TemplateArg::UnknownValue);
        }
        if self.tables.takes_objects() && self.tables.types().struct_id(ty).is_some() {
            return self.object_arg(expr, ty);
        }
        if self.tables.types().member_pointer(ty).is_some() {
            return self.member_pointer_arg(expr, ty);
        }
        let is_value_type = self.tables.types().is_integral(ty) || self.tables.types().enum_id(ty).is_some();
        // `Int<2>` has a `constexpr` conversion to its value.
        let expr = &match is_value_type && self.tables.types().struct_id(expr.ty.ty).is_some() {
            true => self.scalar_from_class(expr.clone()),
            false => expr.clone(),
        };
        if !is_value_type {
            let message = format!("a non-type template parameter cannot have type '{}'", self.tables.name_of(ty));
            self.diagnostics.error("template-argument-kind", expr.span, message);
            return None;
        }
        let value = self.evaluate_or_report(expr, "non-type template argument is not a constant expression")?;
        if value == Value::Unknown {
            return Some(TemplateArg::UnknownValue);
        }
        let from = expr.ty.ty;
        let converts =
            from == ty || (self.tables.types().is_integral(ty) && self.tables.is_integral_or_unscoped(from));
        if !converts {
            let message = format!(
                "value of type '{}' is not implicitly convertible to '{}'",
                self.tables.name_of(from),
                self.tables.name_of(ty)
            );
            self.diagnostics.error("template-argument-kind", expr.span, message);
            return None;
        }
        if !evaluate::fits(self.tables.types(), &value, ty) {
            let shown = match &value {
                Value::Int(value) => value.to_string(),
                value => format!("{value:?}"),
            };
            let message = format!(
                "non-type template argument evaluates to {shown}, which cannot be narrowed to type '{}'",
                self.tables.name_of(ty)
            );
            self.diagnostics.error("narrowing", expr.span, message);
            return None;
        }
        match evaluate::convert(self.tables.types(), &value, from, ty)? {
            Value::Int(value) => Some(TemplateArg::Int(ty, value)),
            Value::Bool(value) => Some(TemplateArg::Int(ty, i128::from(value))),
            _ => None,
        }
    }

    /// A function as argument for a parameter that is a pointer to `function_ty`.
    fn function_arg(&mut self, expr: &'a ast::Expr, function_ty: Ty) -> Option<TemplateArg> {
        let operand = self.check_operand(expr);
        let resolved = self.operand_as_function(operand, function_ty, expr.span)?;
        match resolved.kind {
            ExprKind::Function(id) => Some(TemplateArg::Function(id)),
            ExprKind::Constant(Value::Function(id)) => Some(TemplateArg::Function(id)),
            _ if resolved.ty.ty == Ty::DEPENDENT => Some(TemplateArg::UnknownValue),
            ExprKind::Constant(Value::Unknown) => Some(TemplateArg::UnknownValue),
            _ => None,
        }
    }
}
