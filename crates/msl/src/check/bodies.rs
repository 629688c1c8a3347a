//! Bodies of functions: checked when they are needed, in the scope of their template arguments and parameters.

use super::Request;
use super::scope::{ScopeId, ScopeKind, Symbol};
use super::{
    BodyState, Checker, EntityId, FunctionSource, FunctionState, MAX_INSTANTIATION_DEPTH, Signature, TemplateArg,
};
use crate::parse::ast::{self, FunctionKind, TypeExprKind};
use crate::program::{self, Expr, ExprKind, Function, FunctionId, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty, TyKind};
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// Puts a function's body into the queue, unless it was there before.
    pub(super) fn need_body(&mut self, id: FunctionId) {
        let instance = &mut self.instances[id.0 as usize];
        if instance.body == BodyState::Unneeded {
            instance.body = BodyState::Queued;
            self.queue.push_back(id);
        }
    }

    pub(super) fn check_queued_bodies(&mut self) {
        while let Some(id) = self.queue.pop_front() {
            self.check_body(id);
        }
    }

    /// Checks a body now: its result type or its value is asked for.
    pub(super) fn check_body(&mut self, id: FunctionId) {
        let instance = &mut self.instances[id.0 as usize];
        if matches!(instance.body, BodyState::InProgress | BodyState::Done) {
            return;
        }
        instance.body = BodyState::InProgress;
        let (entity, args, signature) = (instance.entity, instance.args.clone(), instance.signature.clone());
        if instance.depth > MAX_INSTANTIATION_DEPTH {
            let span =
                instance.request.as_ref().map_or(self.program.functions[id.0 as usize].span, |(span, _)| *span);
            let message =
                format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}");
            self.give_up("template-depth", span, message);
            self.instances[id.0 as usize].body = BodyState::Done;
            return;
        }
        let mut function = self.program.functions[id.0 as usize].clone();
        self.check_body_into(entity, &args, &signature, &mut function, Some(id));
        self.program.functions[id.0 as usize] = function;
        self.instances[id.0 as usize].body = BodyState::Done;
    }

    pub(super) fn check_body_into(
        &mut self,
        entity: EntityId,
        args: &[TemplateArg],
        signature: &Signature<'a>,
        function: &mut Function,
        id: Option<FunctionId>,
    ) {
        let source = self.entity(entity).source;
        let (params, body): (&'a [ast::Param], &'a ast::Block) = match source {
            FunctionSource::Declared { definition: Some(definition), .. } => {
                let Some(body) = &definition.body else { return };
                (&definition.params, body)
            }
            FunctionSource::Declared { .. } => return,
            FunctionSource::Lambda(lambda) => (&lambda.params, &lambda.body),
        };
        if !self.count_instantiation(function.span) {
            return;
        }
        let scope = self.body_scope(entity, args);
        let is_template =
            !args.is_empty() || self.entity(entity).class.is_some_and(|class| self.class(class).template.is_some());
        let note = (is_template && !self.in_pattern).then(|| {
            let what = if self.entity(entity).class.is_some() {
                "member function"
            } else {
                "function template specialization"
            };
            format!("in instantiation of {what} '{}' requested here", function.name)
        });
        let (span, parent) = match id.and_then(|id| self.instances[id.0 as usize].request.clone()) {
            Some(request) => request,
            None => (function.span, None),
        };
        let request = note.map(|note| Rc::new(Request { note, span, parent }));
        let outer_instantiations = id.map(|_| std::mem::replace(&mut self.instantiations, chain(request.as_ref())));
        let stage = source.first().and_then(|decl| decl.specifiers.stage);
        let state = FunctionState {
            id,
            locals: std::mem::take(&mut function.locals),
            result: signature.result,
            this: signature.this.map(|_| LocalId(0)),
            depth: id.map_or(self.function.depth, |id| self.instances[id.0 as usize].depth),
            request,
            is_kernel: stage.is_some(),
            is_lambda: matches!(source, FunctionSource::Lambda(_)),
            ..FunctionState::outside()
        };
        let outer = std::mem::replace(&mut self.function, state);
        let saved_unevaluated = std::mem::replace(&mut self.unevaluated, false);
        let saved_depth = self.depth;
        self.depth += 8;
        let block = self.scopes.add(scope, ScopeKind::Block);
        let mut stmts = Vec::new();
        self.in_scope(block, |this| {
            this.declare_params(params, signature);
            if let Some(decl) = source.latest()
                && let FunctionKind::Constructor = decl.kind
                && let Some(class) = this.entity(entity).class
            {
                this.member_inits(class, decl, &mut stmts);
            }
            this.check_block_into(&body.stmts, &mut stmts);
        });
        self.depth = saved_depth;
        self.unevaluated = saved_unevaluated;
        let state = std::mem::replace(&mut self.function, outer);
        let result = state.result.unwrap_or(Ty::VOID);
        if result != Ty::VOID && !result.is_unknown() && !self.in_pattern && can_fall_off(&stmts) {
            let end = Span { start: body.span.end.saturating_sub(1), ..body.span };
            let message = "non-void function does not return a value in all control paths";
            self.warn("return", end, message);
        }
        if let Some(outer) = outer_instantiations {
            self.instantiations = outer;
        }
        function.fp_pragmas = source.latest().map(|decl| decl.fp_pragmas.clone()).unwrap_or_default();
        self.warn_about_unused(&state, function.params.len());
        function.locals = state.locals;
        function.result = result;
        function.body = Some(stmts);
    }

    /// The scope in which the names of the *definition's* template parameters are bound.
    pub(super) fn body_scope(&mut self, entity: EntityId, args: &[TemplateArg]) -> ScopeId {
        let description = self.entity(entity);
        let (mut scope, class, header) = (description.scope, description.class, description.header);
        let definition = description.source.latest();
        let outside = definition.filter(|definition| definition.name.segments.len() > 1);
        if let (Some(definition), Some(class)) = (outside, class) {
            scope = self.class(class).scope;
            // `template <typename U> void Tile<U>::load()`: U means what the class's own parameter means.
            let class_args = self.class(class).template.clone().map(|(_, args)| args);
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

    pub(super) fn declare_params(&mut self, params: &'a [ast::Param], signature: &Signature<'a>) {
        let first = u32::from(signature.this.is_some());
        let mut next = 0;
        for param in params {
            let is_pack = param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_));
            if is_pack {
                let count = signature.params.iter().filter(|p| p.pack.is_some()).count();
                let ids = (0..count as u32).map(|i| LocalId(first + next + i)).collect();
                next += count as u32;
                if let Some(name) = &param.name {
                    self.scopes.insert(self.scope, name.name.clone(), Symbol::LocalPack(ids));
                }
                continue;
            }
            if next as usize >= signature.params.len() {
                break;
            }
            let id = LocalId(first + next);
            next += 1;
            if let Some(name) = &param.name {
                let local = &mut self.function.locals[id.0 as usize];
                local.name = name.name.clone();
                local.span = name.span;
                if self.scopes.own(self.scope, &name.name).is_some() {
                    continue;
                }
                self.scopes.insert(self.scope, name.name.clone(), Symbol::Local(id));
            }
            self.complete_param_type(id, param.span);
        }
    }

    pub(super) fn complete_param_type(&mut self, id: LocalId, span: Span) {
        let ty = self.function.locals[id.0 as usize].ty.ty;
        self.complete_type(ty);
        if let TyKind::Struct(class) = *self.types().kind(ty)
            && !self.types().struct_(class).is_complete
            && !self.types().struct_(class).is_opaque
        {
            let message = format!("variable has incomplete type '{}'", self.name_of(ty));
            self.error("incomplete", span, message);
        }
    }

    /// What a constructor does before its body: bases and members, in their order.
    pub(super) fn member_inits(&mut self, class: StructId, decl: &'a ast::FunctionDecl, stmts: &mut Vec<Stmt>) {
        let fields = self.types().struct_(class).fields.clone();
        let class_ty = self.struct_type(class);
        let mut used = vec![false; decl.member_inits.len()];
        for (index, field) in fields.iter().enumerate() {
            let mut written = None;
            for (position, init) in decl.member_inits.iter().enumerate() {
                let matches = match field.is_base {
                    false => init.name.as_ident().is_some_and(|name| *name == field.name && !name.is_empty()),
                    true => {
                        let found = self.resolve_path(&init.name).ok().flatten().map(|found| found.symbol);
                        match found {
                            Some(
                                symbol @ (Symbol::Type(_) | Symbol::ClassTemplate(_) | Symbol::AliasTemplate(_)),
                            ) => {
                                let last = init.name.last();
                                self.symbol_as_type(&symbol, last.args.as_deref(), last.span).ty == field.ty.ty
                            }
                            _ => false,
                        }
                    }
                };
                if matches {
                    used[position] = true;
                    written = Some(init);
                }
            }
            let span = written.map_or(field.span, |init| init.name.span);
            let default = self.class(class).field_inits[index];
            let value = match (written, default) {
                (Some(init), _) => self.initialize(field.ty, &init.init),
                (None, Some(init)) => {
                    let scope = self.class(class).scope;
                    self.in_scope(scope, |this| this.initialize(field.ty, init))
                }
                (None, None) => match self.default_initialize(field.ty, span) {
                    Some(value) => value,
                    None => continue,
                },
            };
            let place = self.this_field(class_ty, index as u32, span);
            stmts.push(Stmt { kind: StmtKind::Init { place, value }, span });
        }
        for (position, init) in decl.member_inits.iter().enumerate() {
            if used[position] || self.class(class).has_dependent_base {
                continue;
            }
            // A delegating constructor: `S(int x) : S(x, 0) {}`.
            let names_self = init.name.as_ident().is_some_and(|name| decl.name.last().name == *name);
            if names_self {
                let span = init.name.span;
                let value = self.initialize(QualTy::plain(class_ty), &init.init);
                let this = self.this_value(span);
                let place = self.deref(this, span);
                stmts.clear();
                stmts.push(Stmt { kind: StmtKind::Init { place, value }, span });
                continue;
            }
            let message = format!(
                "member initializer '{}' does not name a non-static data member or base class",
                init.name.last().name
            );
            self.error("member-init", init.name.span, message);
        }
    }

    pub(super) fn this_field(&mut self, class_ty: Ty, field: u32, span: Span) -> Expr {
        let this = self.this_value(span);
        let object = self.deref(this, span);
        let class = self.types().struct_id(class_ty).expect("a class");
        let ty = self.types().struct_(class).fields[field as usize].ty;
        // A constructor may write what is `const` for everyone else.
        let ty = QualTy { is_const: false, space: object.ty.space, ..ty };
        Expr::place(ExprKind::Field { base: Box::new(object), field }, ty, span)
    }

    /// The value of `this`.
    pub(super) fn this_value(&mut self, span: Span) -> Expr {
        let Some(id) = self.function.this else {
            self.error("this", span, "invalid use of 'this' outside of a non-static member function");
            return Expr::error(span);
        };
        let ty = self.function.locals[id.0 as usize].ty;
        let place = Expr::place(ExprKind::Local(id), ty, span);
        Expr::value(ExprKind::Load(Box::new(place)), ty.ty, span)
    }
}

/// Control can reach the end of these statements.
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
fn chain(request: Option<&Rc<Request>>) -> Vec<(String, Span)> {
    let mut notes = Vec::new();
    let mut next = request;
    while let Some(request) = next {
        notes.push((request.note.clone(), request.span));
        next = request.parent.as_ref();
    }
    notes.reverse();
    notes
}
