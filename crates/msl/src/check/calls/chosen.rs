//! The call of a function that overload resolution has chosen.

use super::overload::Candidate;
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::Operand;
use crate::check::state::Diagnostics;
use crate::check::tables::{BodyState, ClassState, EntityId, Tables, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{Ty, TyKind};

impl<'a> Checker<'a> {
    /// Converts the arguments and builds the call.
    pub(super) fn call_candidate(
        &mut self,
        candidate: Candidate<'a>,
        object: Option<Expr>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Expr {
        let Candidate { entity, args: targs, signature, .. } = candidate;
        let meant = self.tables.specialization_of(entity, &targs).unwrap_or(entity);
        if self.tables.entity(meant).source.first().is_some_and(|decl| decl.is_deleted) {
            let message = format!("attempt to use a deleted function '{}'", self.tables.entity(entity).name);
            let declared = self.tables.entity(entity).span;
            let diagnostic = Diagnostic::error("deleted", span, message);
            self.diagnostics.report(diagnostic.note(declared, "it is deleted here"));
            return Expr::error(span);
        }
        if let Some(decl) = self.tables.entity(meant).source.first() {
            self.use_function(decl, span);
        }
        let stage = self.tables.entity(meant).source.first().and_then(|decl| decl.specifiers.stage);
        if stage.is_some() && self.function.is_kernel() {
            let message = format!(
                "'{}' is a kernel or graphics function and cannot be called by another one",
                self.tables.entity(meant).name
            );
            self.diagnostics.error("kernel-call", span, message);
        }
        let mut converted = Vec::with_capacity(signature.params.len() + 1);
        if signature.this.is_some() {
            match object {
                Some(object) => converted.push(self.tables.object_argument(object, entity)),
                None => {
                    let message = format!(
                        "call to non-static member function '{}' without an object",
                        self.tables.entity(entity).name
                    );
                    self.diagnostics.error("no-object", span, message);
                    return Expr::error(span);
                }
            }
        }
        let given = args.len();
        for (arg, param) in args.into_iter().zip(&signature.params) {
            converted.push(self.argument(arg, param.ty));
        }
        self.fill_defaults(&signature, &mut converted, given);
        let id = self.function_for(entity, targs, signature);
        self.call_function(id, converted, span)
    }

    /// Calls a function whose arguments fit.
    pub(super) fn call_function(&mut self, id: FunctionId, args: Vec<Expr>, span: Span) -> Expr {
        self.note_call(id, span);
        if let Some(refused) =
            check_builtin_call(&self.tables, &mut self.diagnostics, self.position.in_pattern(), id, &args, span)
        {
            return refused;
        }
        let result = self.result_of(id, span);
        self.complete_type(result);
        if let Some(class) = self.tables.types().struct_id(result)
            && self.tables.class(class).state == ClassState::Declared
            && !self.position.is_unevaluated()
        {
            let message = format!(
                "calling '{}' with incomplete return type '{}'",
                self.tables.function(id).name,
                self.tables.name_of(result)
            );
            self.diagnostics.error("incomplete", span, message);
            return Expr::error(span);
        }
        self.tables.result_expr(ExprKind::Call { function: id, args }, result, span)
    }

    /// Records the call, and requests the callee's body.
    pub(super) fn note_call(&mut self, id: FunctionId, span: Span) {
        if let Some(caller) = self.function.id()
            && !self.position.is_unevaluated()
        {
            self.tables.add_call_site(caller, id, span);
        }
        if !self.position.is_unevaluated() && !self.position.in_pattern() {
            self.request(id, span);
            self.tables.need_body(id);
        }
    }

    /// Records the first place that needs a function.
    pub(in crate::check) fn request(&mut self, id: FunctionId, span: Span) {
        let parent = self.function.request();
        self.tables.instance_mut(id).request.get_or_insert((span, parent));
    }

    /// Result type of a function; for `auto`, checks its body first.
    pub(in crate::check) fn result_of(&mut self, id: FunctionId, span: Span) -> Ty {
        if self.tables.instance(id).signature.result.is_none() {
            let state = self.tables.instance(id).body;
            let entity = self.tables.find_entity(self.tables.instance(id).entity);
            let is_undefined =
                entity.and_then(|entity| entity.source.latest()).is_some_and(|decl| decl.body.is_none());
            if state == BodyState::InProgress || (is_undefined && !self.position.in_pattern()) {
                if self.position.in_pattern() {
                    return Ty::DEPENDENT;
                }
                let message = format!(
                    "function '{}' with deduced return type cannot be used before it is defined",
                    self.tables.function(id).name
                );
                self.diagnostics.error("auto", span, message);
                return Ty::ERROR;
            }
            self.check_body(id);
        }
        self.tables.function(id).result
    }

    /// Calls a method that is already chosen, with arguments that fit.
    pub(in crate::check) fn call_method(
        &mut self,
        entity: EntityId,
        targs: Vec<TemplateArg>,
        object: Expr,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let Some(signature) = self.signature(entity, &targs) else { return Expr::error(span) };
        let mut converted = vec![self.tables.object_argument(object, entity)];
        for (arg, param) in args.into_iter().zip(&signature.params) {
            converted.push(self.convert(arg, param.ty, Purpose::Parameter));
        }
        let id = self.function_for(entity, targs, signature);
        self.call_function(id, converted, span)
    }
}

impl<'a> Tables<'a> {
    /// A call's result: a place if it is a reference.
    pub(super) fn result_expr(&self, kind: ExprKind, result: Ty, span: Span) -> Expr {
        let value = Expr::value(kind, result, span);
        match self.types().kind(result) {
            TyKind::Reference { .. } => self.deref(value, span),
            _ => value,
        }
    }

    fn can_reinterpret(&self, ty: Ty) -> bool {
        let element = self.types().element_of(ty);
        self.types().is_arithmetic(element) && element != Ty::BOOL
            || matches!(self.types().kind(ty), TyKind::Pointer(_))
    }
}

/// Rules for calls of builtins that the headers cannot express. `Some` replaces the call.
fn check_builtin_call(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    in_pattern: bool,
    id: FunctionId,
    args: &[Expr],
    span: Span,
) -> Option<Expr> {
    let function = tables.function(id);
    let builtin = function.builtin.clone()?;
    if builtin == "is_function_constant_defined" && !in_pattern {
        let names_constant = match args.first().map(|arg| &arg.kind) {
            Some(ExprKind::AddressOf(place)) => match place.kind {
                ExprKind::Global(id) => tables.global(id).function_constant.is_some(),
                _ => false,
            },
            _ => false,
        };
        if !names_constant {
            diagnostics.error(
                "function-constant",
                span,
                "is_function_constant_defined takes the name of a function constant",
            );
            return Some(Expr::error(span));
        }
    }
    if builtin == "as_type" {
        let (to, from) = (function.result, args.first()?.ty.ty);
        let (a, b) = (tables.types().layout(to), tables.types().layout(from));
        if let (Some(a), Some(b)) = (a, b)
            && (a.size != b.size || !tables.can_reinterpret(to) || !tables.can_reinterpret(from))
        {
            let message = format!(
                "as_type cast from '{}' to '{}' is not allowed: the sizes are {} and {} bytes",
                tables.name_of(from),
                tables.name_of(to),
                b.size,
                a.size
            );
            diagnostics.error("as-type", span, message);
            return Some(Expr::error(span));
        }
    }
    None
}
