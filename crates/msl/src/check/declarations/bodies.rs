//! Bodies of functions: checked when they are needed, in the scope of their template arguments and parameters.

use crate::check::Checker;
use crate::check::state::{Diagnostics, FunctionStart, FunctionState};
use crate::check::tables::{
    BodyState, EntityId, FunctionSource, Request, ScopeId, ScopeKind, Signature, Symbol, TemplateArg,
};
use crate::check::templates::{MAX_INSTANTIATION_DEPTH, count_instantiation};
use crate::parse::ast::{self, FunctionKind, TypeExprKind};
use crate::program::{self, ExprKind, Function, FunctionId, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind};
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(in crate::check) fn check_queued_bodies(&mut self) {
        while let Some(id) = self.tables.next_body() {
            self.check_body(id);
        }
    }

    /// Checks a body now: its result type or its value is needed.
    pub(in crate::check) fn check_body(&mut self, id: FunctionId) {
        let instance = self.tables.instance_mut(id);
        if matches!(instance.body, BodyState::InProgress | BodyState::Done) {
            return;
        }
        instance.body = BodyState::InProgress;
        let (entity, args, signature) = (instance.entity, instance.args.clone(), instance.signature.clone());
        if instance.depth > MAX_INSTANTIATION_DEPTH {
            let request = instance.request.as_ref().map(|(span, _)| *span);
            let span = request.unwrap_or(self.tables.function(id).span);
            let message =
                format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}");
            self.diagnostics.give_up("template-depth", span, message);
            self.tables.instance_mut(id).body = BodyState::Done;
            return;
        }
        let mut function = self.tables.function(id).clone();
        self.check_body_into(entity, &args, &signature, &mut function, Some(id));
        *self.tables.function_mut(id) = function;
        self.tables.instance_mut(id).body = BodyState::Done;
    }

    pub(super) fn check_body_into(
        &mut self,
        entity: EntityId,
        args: &[TemplateArg],
        signature: &Signature<'a>,
        function: &mut Function,
        id: Option<FunctionId>,
    ) {
        let source = self.tables.entity(entity).source;
        let (params, body): (&'a [ast::Param], &'a ast::Block) = match source {
            FunctionSource::Declared { definition: Some(definition), .. } => {
                let Some(body) = &definition.body else { return };
                (&definition.params, body)
            }
            FunctionSource::Declared { .. } => return,
            FunctionSource::Lambda(lambda) => (&lambda.params, &lambda.body),
        };
        if !count_instantiation(&mut self.tables, &mut self.diagnostics, function.span) {
            return;
        }
        let scope = self.body_scope(entity, args);
        let is_template = !args.is_empty()
            || self.tables.entity(entity).class.is_some_and(|class| self.tables.class(class).template.is_some());
        let note = (is_template && !self.position.in_pattern()).then(|| {
            let what = if self.tables.entity(entity).class.is_some() {
                "member function"
            } else {
                "function template specialization"
            };
            format!("in instantiation of {what} '{}' requested here", function.name)
        });
        let (span, parent) = match id.and_then(|id| self.tables.instance(id).request.clone()) {
            Some(request) => request,
            None => (function.span, None),
        };
        let request = note.map(|note| Rc::new(Request { note, span, parent }));
        let outer_instantiations = id.map(|_| self.diagnostics.replace_instantiations(chain(request.as_ref())));
        let stage = source.first().and_then(|decl| decl.specifiers.stage);
        let state = FunctionState::new(FunctionStart {
            id,
            entity: Some(entity),
            locals: std::mem::take(&mut function.locals),
            result: signature.result,
            this: signature.this.map(|_| LocalId(0)),
            depth: id.map_or(self.function.depth(), |id| self.tables.instance(id).depth),
            request,
            is_kernel: stage.is_some(),
            is_lambda: matches!(source, FunctionSource::Lambda(_)),
        });
        let outer = std::mem::replace(&mut self.function, state);
        let saved_unevaluated = self.position.set_unevaluated(false);
        let saved_depth = self.position.descend(8);
        let block = self.tables.scopes_mut().add(scope, ScopeKind::Block);
        let mut stmts = Vec::new();
        self.in_scope(block, |this| {
            this.declare_params(params, signature);
            if let Some(decl) = source.latest()
                && let FunctionKind::Constructor = decl.kind
                && let Some(class) = this.tables.entity(entity).class
            {
                this.member_inits(class, decl, &mut stmts);
            }
            this.check_block_into(&body.stmts, &mut stmts);
        });
        self.position.ascend_to(saved_depth);
        self.position.set_unevaluated(saved_unevaluated);
        let state = std::mem::replace(&mut self.function, outer);
        let result = state.result().unwrap_or(Ty::VOID);
        if result != Ty::VOID && !result.is_unknown() && !self.position.in_pattern() && can_fall_off(&stmts) {
            let end = Span { start: body.span.end.saturating_sub(1), ..body.span };
            let message = "non-void function does not return a value in all control paths";
            self.diagnostics.warn("return", end, message);
        }
        if let Some(outer) = outer_instantiations {
            self.diagnostics.replace_instantiations(outer);
        }
        function.fp_pragmas = match source {
            FunctionSource::Lambda(lambda) => lambda.fp_pragmas.clone(),
            _ => source.latest().map(|decl| decl.fp_pragmas.clone()).unwrap_or_default(),
        };
        if !self.position.in_pattern() {
            warn_about_unused(&mut self.diagnostics, &state, function.params.len());
        }
        function.locals = state.into_locals();
        function.result = result;
        function.body = Some(stmts);
    }

    /// The scope in which the names of the *definition's* template parameters are bound.
    fn body_scope(&mut self, entity: EntityId, args: &[TemplateArg]) -> ScopeId {
        let description = self.tables.entity(entity);
        let (mut scope, class, header) = (description.scope, description.class, description.header);
        let definition = description.source.latest();
        let outside = definition.filter(|definition| definition.name.segments.len() > 1);
        if let (Some(definition), Some(class)) = (outside, class) {
            scope = self.tables.class(class).scope;
            // `template <typename U> void Tile<U>::load()`: U is the class's own parameter.
            let class_args = self.tables.class(class).template.clone().map(|(_, args)| args);
            if let (Some(class_args), Some(class_header)) = (class_args, definition.templates.first()) {
                scope = self.bind_all(class_header, &class_args, scope);
            }
        }
        let definition_header = definition
            .and_then(|definition| definition.templates.last())
            .filter(|header| !header.params.is_empty());
        match (header, definition_header) {
            (Some(_), Some(header)) | (Some(header), None) => self.bind_all(header, args, scope),
            (None, _) => scope,
        }
    }

    fn declare_params(&mut self, params: &'a [ast::Param], signature: &Signature<'a>) {
        let first = u32::from(signature.this.is_some());
        let mut next = 0;
        for param in params {
            let is_pack = param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_));
            if is_pack {
                let count = signature.params.iter().filter(|p| p.pack.is_some()).count();
                let ids = (0..count as u32).map(|i| LocalId(first + next + i)).collect();
                next += count as u32;
                if let Some(name) = &param.name {
                    self.tables.scopes_mut().insert(
                        self.position.scope(),
                        name.name.clone(),
                        Symbol::LocalPack(ids),
                    );
                }
                continue;
            }
            if next as usize >= signature.params.len() {
                break;
            }
            let id = LocalId(first + next);
            next += 1;
            if let Some(name) = &param.name {
                let local = self.function.local_mut(id);
                local.name = name.name.clone();
                local.span = name.span;
                if self.tables.scopes().own(self.position.scope(), &name.name).is_some() {
                    let message = format!("redefinition of parameter '{}'", name.name);
                    self.diagnostics.error("redefinition", name.span, message);
                    continue;
                }
                self.refuse_template_parameter(&name.name, name.span);
                self.tables.scopes_mut().insert(self.position.scope(), name.name.clone(), Symbol::Local(id));
            }
            self.complete_param_type(id, param.span);
        }
    }

    fn complete_param_type(&mut self, id: LocalId, span: Span) {
        let ty = self.function.local(id).ty.ty;
        self.complete_type(ty);
        if let TyKind::Struct(class) = *self.tables.types().kind(ty)
            && !self.tables.types().struct_(class).is_complete
            && !self.tables.types().struct_(class).is_opaque
        {
            let message = format!("variable has incomplete type '{}'", self.tables.name_of(ty));
            self.diagnostics.error("incomplete", span, message);
        }
    }
}

fn warn_about_unused(diagnostics: &mut Diagnostics, function: &FunctionState, params: usize) {
    if !diagnostics.shows_warnings() {
        return;
    }
    for local in function.unused_locals(params) {
        diagnostics.warn("unused-variable", local.span, format!("unused variable '{}'", local.name));
    }
}

/// True if control can reach the end of these statements.
fn can_fall_off(stmts: &[Stmt]) -> bool {
    let Some(last) = stmts.last() else { return true };
    match &last.kind {
        StmtKind::Return(_) | StmtKind::Continue => false,
        StmtKind::Block(inner) => can_fall_off(inner),
        StmtKind::If { then, otherwise, .. } => can_fall_off(then) || can_fall_off(otherwise),
        StmtKind::Loop { condition, body, .. } => {
            let forever = match condition {
                None => true,
                Some(condition) => matches!(condition.kind, ExprKind::Constant(Value::Bool(true))),
            };
            !forever || contains_break(body)
        }
        StmtKind::Switch { cases, .. } => {
            let has_default = cases.iter().any(|case| case.labels.contains(&None));
            !has_default
                || cases.iter().any(|case| contains_break(&case.body))
                || cases.last().is_none_or(|case| can_fall_off(&case.body))
        }
        _ => true,
    }
}

fn contains_break(stmts: &[program::Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(inner) => contains_break(inner),
        StmtKind::If { then, otherwise, .. } => contains_break(then) || contains_break(otherwise),
        _ => false,
    })
}

/// The instantiations that led to a request and itself, outermost first.
pub(in crate::check) fn chain(request: Option<&Rc<Request>>) -> Vec<(String, Span)> {
    let mut notes = Vec::new();
    let mut next = request;
    while let Some(request) = next {
        notes.push((request.note.clone(), request.span));
        next = request.parent.as_ref();
    }
    notes.reverse();
    notes
}
