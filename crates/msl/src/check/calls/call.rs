//! Calls by name, through a pointer and of objects.

use super::overload::CallSite;
use crate::check::Checker;
use crate::check::expressions::{FunctionSet, Operand};
use crate::check::tables::{ScopeId, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `callee(args)`
    pub(in crate::check) fn check_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Expr {
        if let Some(made) = self.check_deduced_construction(callee, args, span) {
            return made;
        }
        if let Some(result) = self.check_method_call(callee, args, span) {
            return result;
        }
        // An unqualified name that is not declared may be found among the functions of its arguments' namespaces.
        let target = match self.tables.undeclared_callee(self.position.scope(), callee) {
            Some(path) => {
                let operands = self.check_args(args);
                return self.call_by_argument_types(path, operands, span);
            }
            None => self.check_operand(callee),
        };
        match target {
            Operand::Type(ty) => self.construct_type(ty, args, span),
            // `m.thread_elements()` of a simdgroup matrix is the only method of a native type.
            Operand::Functions(FunctionSet { entities, object: Some(object), .. }) if entities.is_empty() => {
                if let Some(arg) = args.first() {
                    self.diagnostics.error(
                        "argument-count",
                        arg.span,
                        "too many arguments to function call, expected 0",
                    );
                }
                object
            }
            Operand::Functions(set) => {
                let operands = self.check_args(args);
                self.call_set(set, operands, span)
            }
            Operand::Value(object) => {
                let operands = self.check_args(args);
                self.call_object(object, operands, span)
            }
            Operand::Braces(_, at) => {
                self.diagnostics.error("call", at, "an initializer list cannot be called");
                Expr::error(span)
            }
        }
    }

    fn call_by_argument_types(&mut self, path: &'a ast::Path, args: Vec<Operand<'a>>, span: Span) -> Expr {
        let name = &path.last().name;
        let mut entities = Vec::new();
        self.tables.add_associated(name, &args, &mut entities);
        let dependent = args.iter().any(|arg| self.tables.is_dependent_operand(arg));
        if entities.is_empty() && dependent {
            if self.position.in_pattern() {
                self.tables.add_late_call(path.span);
            }
            return Expr::value(ExprKind::Error, Ty::DEPENDENT, span);
        }
        if entities.is_empty() && self.tables.is_late_call(path.span) {
            self.report_late_call(path);
            return Expr::error(span);
        }
        if entities.is_empty() {
            self.undeclared(path, false);
            return Expr::error(span);
        }
        let set = FunctionSet {
            name: name.clone(),
            entities,
            explicit: path.last().args.as_deref(),
            object: None,
            span: path.span,
            allows_adl: false,
        };
        self.call_set(set, args, span)
    }

    fn report_late_call(&mut self, path: &'a ast::Path) {
        let name = &path.last().name;
        let Some(found) = self.tables.lookup(self.position.scope(), name) else {
            return self.undeclared(path, false);
        };
        let message = format!(
            "call to function '{name}' that is neither visible in the template definition nor found by \
             argument-dependent lookup"
        );
        let diagnostic = Diagnostic::error("late-declaration", path.span, message);
        let declared = self.tables.declared_at(self.function.locals(), &found.symbol);
        self.diagnostics.report(match declared {
            Some(span) => diagnostic.note(span, format!("'{name}' should be declared prior to the call site")),
            None => diagnostic,
        });
    }

    pub(in crate::check) fn call_set(
        &mut self,
        mut set: FunctionSet<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Expr {
        let dependent = args.iter().any(|arg| self.tables.is_dependent_operand(arg))
            || set.explicit.is_some_and(|explicit| self.explicit_args_are_dependent(explicit));
        if dependent {
            return self.dependent_call(&set, span);
        }
        if args.iter().any(|arg| matches!(arg, Operand::Value(e) if e.ty.ty == Ty::ERROR)) {
            return Expr::error(span);
        }
        if set.allows_adl && set.object.is_none() {
            self.tables.add_associated(&set.name.clone(), &args, &mut set.entities);
        }
        let name = set.name.clone();
        let site = CallSite {
            name: &name,
            explicit: set.explicit,
            object: set.object.as_ref(),
            is_constructor: false,
            span: set.span,
        };
        let Some(candidate) = self.choose(&set.entities, &site, &args) else { return Expr::error(span) };
        let object_class = set.object.as_ref().and_then(|object| self.tables.types().struct_id(object.ty.ty));
        self.refuse_inaccessible(candidate.entity, object_class, set.span);
        if let Some(object) = &set.object
            && let Some(class) = self.tables.types().struct_id(object.ty.ty)
            && let Some(owner) = self.tables.entity(candidate.entity).class
            && class != owner
        {
            self.refuse_hidden_member(class, owner, &name, set.span);
        }
        self.call_candidate(candidate, set.object, args, span)
    }

    /// A call with unknown arguments; its result type may be known.
    fn dependent_call(&mut self, set: &FunctionSet<'a>, span: Span) -> Expr {
        let mut result = None;
        for &entity in &set.entities {
            let ty = match self.tables.entity(entity).header {
                None => self.attempt(|this| this.signature(entity, &[])).ok().flatten().and_then(|s| s.result),
                Some(_) => None,
            };
            if result.is_some() && result != ty || ty.is_none() {
                return Expr::value(ExprKind::Error, Ty::DEPENDENT, span);
            }
            result = ty;
        }
        match result {
            Some(ty) if set.entities.len() == 1 => self.tables.result_expr(ExprKind::Error, ty, span),
            _ => Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
        }
    }

    fn explicit_args_are_dependent(&mut self, explicit: &'a [ast::TemplateArg]) -> bool {
        if !self.position.in_pattern() {
            return false;
        }
        explicit.iter().any(|arg| match arg {
            ast::TemplateArg::Type(ty) => {
                self.attempt(|this| this.resolve_type(ty)).is_ok_and(|ty| self.tables.is_dependent_type(ty.ty))
            }
            ast::TemplateArg::Expr(expr) => {
                let checked = self.attempt(|this| match this.expr_as_type(expr) {
                    Some(ty) => this.tables.is_dependent_type(ty.ty),
                    None => {
                        let value = this.check_value(expr);
                        value.ty.ty == Ty::DEPENDENT
                            || matches!(this.try_evaluate(&value), Ok(crate::program::Value::Unknown))
                    }
                });
                checked.unwrap_or(false)
            }
        })
    }

    /// `object(args)`: a function pointer that is a template parameter, or `operator()`.
    pub(in crate::check) fn call_object(&mut self, object: Expr, args: Vec<Operand<'a>>, span: Span) -> Expr {
        if object.ty.ty.is_unknown() {
            return Expr::value(ExprKind::Error, object.ty.ty, span);
        }
        if let ExprKind::Function(id) | ExprKind::Constant(crate::program::Value::Function(id)) = object.kind {
            return self.call_known_function(id, args, span);
        }
        // `(*f)(args)` calls what `f` points to.
        let is_function = matches!(self.tables.types().kind(object.ty.ty), TyKind::Function { .. });
        if is_function && let ExprKind::Deref(pointer) = object.kind {
            return self.call_object(*pointer, args, span);
        }
        if let Some(pointee) = self.tables.types().pointee(object.ty.ty)
            && let TyKind::Function { result, params } = self.tables.types().kind(pointee.ty).clone()
        {
            if matches!(object.kind, ExprKind::Constant(crate::program::Value::Unknown))
                || self.position.in_pattern()
            {
                return self.tables.result_expr(ExprKind::Error, result, span);
            }
            let params: Vec<QualTy> = params.iter().map(|&ty| QualTy::plain(ty)).collect();
            let Some(args) = self.fit_args("the function", args, &params, span) else { return Expr::error(span) };
            let pointer = Box::new(self.load(object));
            return self.tables.result_expr(ExprKind::CallPointer { pointer, args }, result, span);
        }
        if let Some(class) = self.tables.types().struct_id(object.ty.ty) {
            self.complete_class(class);
            match self.tables.lookup_member(class, "operator()").map(|found| found.symbol) {
                Some(Symbol::Functions(entities)) => {
                    let name = "operator()".into();
                    let at = object.span;
                    let set = FunctionSet {
                        name,
                        entities,
                        explicit: None,
                        object: Some(object),
                        span: at,
                        allows_adl: false,
                    };
                    return self.call_set(set, args, span);
                }
                Some(Symbol::Dependent) => return Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
                _ => {}
            }
        }
        let message = format!(
            "called object type '{}' is not a function or function pointer",
            self.tables.name_of(object.ty.ty)
        );
        self.diagnostics.error("not-callable", object.span, message);
        Expr::error(span)
    }

    fn call_known_function(&mut self, id: FunctionId, args: Vec<Operand<'a>>, span: Span) -> Expr {
        let function = self.tables.function(id);
        let params: Vec<QualTy> = function.params.iter().map(|p| function.locals[p.0 as usize].ty).collect();
        let name = format!("'{}'", function.name);
        let Some(args) = self.fit_args(&name, args, &params, span) else { return Expr::error(span) };
        self.call_function(id, args, span)
    }
}

impl<'a> Tables<'a> {
    fn undeclared_callee(&mut self, scope: ScopeId, callee: &'a ast::Expr) -> Option<&'a ast::Path> {
        let ast::ExprKind::Path(path) = &callee.kind else { return None };
        if path.segments.len() > 1 || path.global {
            return None;
        }
        (self.is_late_call(path.span) || self.lookup(scope, &path.last().name).is_none()).then_some(path)
    }

    pub(super) fn is_dependent_operand(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Value(expr) if self.is_dependent_type(expr.ty.ty))
    }
}
