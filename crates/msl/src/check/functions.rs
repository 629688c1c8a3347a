//! Functions: how they are declared, what their signatures are, and when their bodies are checked.

use super::scope::{ScopeId, ScopeKind, Symbol};
use super::{
    BodyState, Checker, Entity, EntityId, FunctionSource, FunctionState, Instance, Signature, SignatureParam,
    TemplateArg,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Access, FunctionKind, TemplateParamKind, TypeExprKind};
use crate::program::{
    self, Expr, ExprKind, Function, FunctionId, Local, LocalId, Stmt, StmtKind, TemplateArgument, Value,
};
use crate::source::Span;
use crate::stdlib::families;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// A function at namespace scope, or the definition of a member outside its class.
    pub(super) fn declare_function(&mut self, function: &'a ast::FunctionDecl) {
        if function.name.segments.len() > 1 {
            self.define_outside_member(function);
        } else {
            self.declare_function_here(function);
        }
    }

    pub(super) fn declare_function_here(&mut self, function: &'a ast::FunctionDecl) {
        let name = &function.name.last().name;
        let is_specialization = function.templates.last().is_some_and(|header| header.params.is_empty());
        if is_specialization {
            self.declare_function_specialization(function);
            return;
        }
        let scope = self.scope;
        let Some(entity) = self.add_function_entity(function, scope, None, Access::Public) else { return };
        if self.merge_redeclaration(scope, name, entity) {
            return;
        }
        if let Some(other) = self.scopes.add_function(scope, name, entity) {
            let message = format!("redefinition of '{name}' as different kind of symbol");
            let diagnostic = Diagnostic::error("redefinition", function.name.span, message);
            let previous = self.declared_at(&other);
            self.report(match previous {
                Some(span) => diagnostic.note(span, "previous definition is here"),
                None => diagnostic,
            });
            return;
        }
        if !self.sources.file(function.span.file).builtin {
            self.check_declared_function(entity);
        }
    }

    pub(super) fn declare_friend(&mut self, function: &'a ast::FunctionDecl, namespace: ScopeId) {
        // The body sees the class; the name belongs to the namespace.
        let scope = self.scope;
        let Some(entity) = self.add_function_entity(function, scope, None, Access::Public) else { return };
        let name = function.name.last().name.clone();
        if !self.merge_redeclaration(namespace, &name, entity) {
            self.scopes.add_function(namespace, &name, entity);
        }
    }

    /// Makes an entity for a declaration, without a place in a scope yet.
    pub(super) fn add_function_entity(
        &mut self,
        function: &'a ast::FunctionDecl,
        scope: ScopeId,
        class: Option<StructId>,
        access: Access,
    ) -> Option<EntityId> {
        let header = function.templates.last().filter(|header| !header.params.is_empty());
        let name = function.name.last().name.clone();
        let is_builtin_file = self.sources.file(function.span.file).builtin;
        let family = if is_builtin_file { header.and_then(|header| self.family_of(header)) } else { None };
        let prefix: SmolStr = match class {
            Some(class) => format!("{}::", self.types().struct_(class).name).into(),
            None => self.scopes.namespace_prefix(scope).into(),
        };
        let builtin = (is_builtin_file && function.body.is_none() && !function.is_deleted)
            .then(|| format!("{prefix}{name}").trim_start_matches("metal::").into());
        self.entities.push(Entity {
            name,
            prefix,
            source: FunctionSource::Declared {
                declaration: function,
                definition: function.body.as_ref().map(|_| function),
            },
            scope,
            class,
            header,
            family,
            builtin,
            specializations: Vec::new(),
            signatures: HashMap::new(),
            functions: HashMap::new(),
            access,
            span: function.name.last().span,
        });
        Some(EntityId(self.entities.len() as u32 - 1))
    }

    fn family_of(&mut self, header: &'a ast::TemplateHeader) -> Option<Rc<[Ty]>> {
        let [param] = &*header.params else { return None };
        let TemplateParamKind::Value { ty, .. } = &param.kind else { return None };
        let TypeExprKind::Named(path) = &ty.kind else { return None };
        let family = families::family(&path.last().name)?;
        let mut types = Vec::new();
        for &element in family.elements {
            let element = super::native::native_type(self.types_mut(), element)?;
            for &width in family.widths {
                types.push(self.types_mut().vector(element, width));
            }
        }
        Some(types.into())
    }

    /// Adds a definition to a function declared before, or complains about a second one. True where `entity` is not new.
    pub(super) fn merge_redeclaration(&mut self, scope: ScopeId, name: &SmolStr, entity: EntityId) -> bool {
        let Some(Symbol::Functions(others)) = self.scopes.own(scope, name).cloned() else { return false };
        let decl = self.entity(entity).source.first().expect("a declared function");
        for other in others {
            if !self.same_signature(other, entity) {
                continue;
            }
            let previous = self.entity(other).source;
            let FunctionSource::Declared { definition, .. } = previous else { continue };
            match (definition, decl.body.is_some()) {
                (Some(first), true) => {
                    let message = format!("redefinition of '{name}'");
                    let diagnostic = Diagnostic::error("redefinition", decl.name.span, message);
                    self.report(diagnostic.note(first.name.span, "previous definition is here"));
                }
                (None, true) => {
                    self.refuse_other_result(other, entity);
                    self.set_definition(other, decl);
                    self.check_declared_function(other);
                }
                (_, false) => {}
            }
            return true;
        }
        false
    }

    fn refuse_other_result(&mut self, old: EntityId, new: EntityId) {
        if self.entity(old).header.is_some() {
            return;
        }
        let (Some(a), Some(b)) = (self.signature(old, &[]), self.signature(new, &[])) else { return };
        if let (Some(a), Some(b)) = (a.result, b.result)
            && a != b
            && !a.is_unknown()
            && !b.is_unknown()
        {
            let message = "functions that differ only in their return type cannot be overloaded";
            let span = self.entity(new).span;
            let diagnostic = Diagnostic::error("redefinition", span, message);
            let previous = self.entity(old).span;
            self.report(diagnostic.note(previous, "previous declaration is here"));
        }
    }

    /// Two declarations of one function.
    fn same_signature(&mut self, a: EntityId, b: EntityId) -> bool {
        let (first, second) = match (self.entity(a).source.first(), self.entity(b).source.first()) {
            (Some(first), Some(second)) => (first, second),
            _ => return false,
        };
        if first.params.len() != second.params.len() || first.method_quals != second.method_quals {
            return false;
        }
        match (self.entity(a).header, self.entity(b).header) {
            (None, None) => {
                let (Some(a), Some(b)) = (self.signature(a, &[]), self.signature(b, &[])) else { return false };
                let unknown = |p: &SignatureParam<'a>| self.is_dependent_type(p.ty.ty);
                if a.params.iter().chain(&b.params).any(unknown) {
                    return first.params.iter().zip(&second.params).all(|(a, b)| self.same_param_text(a, b));
                }
                a.params.iter().zip(&b.params).all(|(a, b)| a.ty.ty == b.ty.ty)
            }
            // Templates are the same where they are written the same.
            (Some(a), Some(b)) => {
                a.params.len() == b.params.len()
                    && self.same_text(first.result.span, second.result.span)
                    && a.params.iter().zip(&b.params).all(|(a, b)| self.same_template_param(a, b))
                    && first.params.iter().zip(&second.params).all(|(a, b)| self.same_param_text(a, b))
            }
            _ => false,
        }
    }

    fn same_template_param(&self, a: &ast::TemplateParam, b: &ast::TemplateParam) -> bool {
        match (&a.kind, &b.kind) {
            (TemplateParamKind::Type { default: None }, TemplateParamKind::Type { default: None }) => true,
            _ => self.same_text(a.span, b.span),
        }
    }

    /// The text of two parameters up to their names.
    fn same_param_text(&self, a: &ast::Param, b: &ast::Param) -> bool {
        let text = |param: &ast::Param| -> Vec<String> {
            let whole = self.sources.text(param.span);
            let name = param.name.as_ref().map_or("", |name| name.name.as_str());
            let separators = |c: char| !(c.is_alphanumeric() || c == '_');
            whole
                .split_inclusive(separators)
                .map(|word| word.trim().to_string())
                .filter(|word| !word.is_empty() && word.trim_end_matches(separators) != name)
                .collect()
        };
        text(a) == text(b)
    }

    pub(super) fn set_definition(&mut self, entity: EntityId, function: &'a ast::FunctionDecl) {
        let entity = &mut self.entities[entity.0 as usize];
        if let FunctionSource::Declared { definition, .. } = &mut entity.source {
            *definition = Some(function);
        }
        entity.builtin = None;
        // Functions that were called before the body was known are waiting for it.
        let mut waiting: Vec<FunctionId> = entity.functions.values().copied().collect();
        waiting.sort();
        for id in waiting {
            if self.instances[id.0 as usize].body == BodyState::Done && self.program.function(id).body.is_none() {
                self.instances[id.0 as usize].body = BodyState::Queued;
                self.queue.push_back(id);
            }
        }
    }

    /// `template <> void f<float>(…) { … }`
    fn declare_function_specialization(&mut self, function: &'a ast::FunctionDecl) {
        let path = &function.name;
        let name = path.last().name.clone();
        let found = self.scopes.find_in(self.scope, &name);
        let Some(Symbol::Functions(candidates)) = found else {
            let message = format!("no function template named '{name}' to specialize");
            self.error("specialization", path.last().span, message);
            return;
        };
        let params: Vec<QualTy> = function.params.iter().map(|param| self.param_type(param)).collect();
        let result = self.resolve_type(&function.result).ty;
        if result == Ty::ERROR || params.iter().any(|ty| ty.ty == Ty::ERROR) {
            return;
        }
        for candidate in candidates {
            if self.entity(candidate).header.is_none() || self.entity(candidate).family.is_some() {
                continue;
            }
            let explicit = path.last().args.as_deref();
            let Some(args) = self.deduce_from_types(candidate, explicit, &params, Some(result)) else { continue };
            let scope = self.scope;
            let Some(entity) = self.add_function_entity(function, scope, None, Access::Public) else { return };
            self.entities[candidate.0 as usize].specializations.push((args, entity));
            self.check_declared_function(entity);
            return;
        }
        let message = format!("no function template matches function template specialization '{name}'");
        self.error("specialization", path.last().span, message);
    }

    /// Checks what can be checked when a function is declared: an ordinary function whole, a template as written.
    pub(super) fn check_declared_function(&mut self, entity: EntityId) {
        let has_definition = match self.entity(entity).source {
            FunctionSource::Declared { definition, .. } => definition.is_some(),
            FunctionSource::Lambda(_) => true,
        };
        match self.entity(entity).header {
            None => {
                let Some(signature) = self.signature(entity, &[]) else { return };
                let is_member_of_pattern =
                    self.entity(entity).class.is_some_and(|class| self.class(class).is_pattern);
                if is_member_of_pattern {
                    if has_definition {
                        self.check_function_pattern(entity, &[]);
                    }
                    return;
                }
                let id = self.function_for(entity, Vec::new(), signature);
                if has_definition {
                    self.need_body(id);
                }
                self.declare_entry_point(entity, id);
            }
            Some(header) => {
                if self.entity(entity).family.is_none() && has_definition {
                    let args = self.unknown_args(header);
                    self.check_function_pattern(entity, &args);
                }
            }
        }
    }

    /// Looks at a template's function as written, with its parameters unknown. Nothing of it stays in the program.
    fn check_function_pattern(&mut self, entity: EntityId, args: &[TemplateArg]) {
        let saved = std::mem::replace(&mut self.in_pattern, true);
        if let Some(signature) = self.signature(entity, args) {
            let mut function = self.new_function(entity, args, &signature);
            self.check_body_into(entity, args, &signature, &mut function, None);
        }
        self.in_pattern = saved;
    }

    // --- signatures --------------------------------------------------------------------------------------------

    /// The signature for these template arguments; `None` where they do not make sense. Complains the first time.
    pub(super) fn signature(&mut self, id: EntityId, args: &[TemplateArg]) -> Option<Rc<Signature<'a>>> {
        if let Some(known) = self.entity(id).signatures.get(args) {
            return known.clone();
        }
        let signature = self.make_signature(id, args).map(Rc::new);
        self.entities[id.0 as usize].signatures.insert(args.to_vec(), signature.clone());
        signature
    }

    fn make_signature(&mut self, id: EntityId, args: &[TemplateArg]) -> Option<Signature<'a>> {
        let entity = self.entity(id);
        let (source, declared_in, class, span) = (entity.source, entity.scope, entity.class, entity.span);
        let scope = match self.entity(id).header {
            Some(header) => self.bind_all(header, args, declared_in),
            None => declared_in,
        };
        let before = self.diagnostics.len();
        let params = self.in_scope(scope, |this| match source {
            FunctionSource::Declared { .. } => this.signature_params(source.params(), &[]),
            FunctionSource::Lambda(_) => this.signature_params(source.params(), args),
        });
        let result = self.in_scope(scope, |this| match source {
            FunctionSource::Declared { declaration, .. } => match &declaration.kind {
                FunctionKind::Constructor => Some(Ty::VOID),
                _ => this.result_type(&declaration.result),
            },
            FunctionSource::Lambda(lambda) => lambda.result.as_ref().and_then(|written| this.result_type(written)),
        });
        let this = match (class, source) {
            (Some(class), FunctionSource::Declared { declaration, .. }) if !declaration.specifiers.is_static => {
                let quals = declaration.method_quals;
                let space = quals.space.unwrap_or(AddressSpace::Thread);
                let ty = self.struct_type(class);
                Some(QualTy { ty, is_const: quals.is_const, is_volatile: quals.is_volatile, space: Some(space) })
            }
            (Some(class), FunctionSource::Lambda(lambda)) => {
                let ty = self.struct_type(class);
                let space = Some(AddressSpace::Thread);
                Some(QualTy { ty, is_const: !lambda.is_mutable, is_volatile: false, space })
            }
            _ => None,
        };
        let result = match result {
            Some(ty) if matches!(self.types().kind(ty), TyKind::Array { .. } | TyKind::Function { .. }) => {
                let message = format!("function cannot return type '{}'", self.name_of(ty));
                self.error("return-type", span, message);
                None?
            }
            result => result,
        };
        let failed = self.diagnostics[before..].iter().any(|d| d.severity == crate::diagnostics::Severity::Error);
        (!failed).then_some(Signature { params, result, this, scope })
    }

    /// `None` for `auto`.
    fn result_type(&mut self, written: &'a ast::TypeExpr) -> Option<Ty> {
        match self.type_without_qualifiers(written) {
            TypeExprKind::Auto => None,
            _ => Some(self.resolve_type(written).ty),
        }
    }

    pub(super) fn type_without_qualifiers(&self, written: &'a ast::TypeExpr) -> &'a TypeExprKind {
        match &written.kind {
            TypeExprKind::Qualified { inner, .. } => self.type_without_qualifiers(inner),
            kind => kind,
        }
    }

    fn signature_params(&mut self, params: &'a [ast::Param], autos: &[TemplateArg]) -> Vec<SignatureParam<'a>> {
        let mut autos = autos.iter();
        let mut result = Vec::with_capacity(params.len());
        for param in params {
            // `f(void)`
            if params.len() == 1
                && param.name.is_none()
                && matches!(param.ty.kind, TypeExprKind::Builtin(ast::BuiltinType::Void))
            {
                break;
            }
            if param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_)) {
                let pattern = match &param.ty.kind {
                    TypeExprKind::PackExpansion(inner) => &**inner,
                    _ => &param.ty,
                };
                let Some(bindings) = self.pack_bindings_in_type(pattern, param.span) else { continue };
                for binding in bindings {
                    let scope = self.pack_scope(&binding);
                    let ty = self.in_scope(scope, |this| this.resolve_type(pattern));
                    let ty = self.adjust_param_type(ty, param.span);
                    let span = param.span;
                    result.push(SignatureParam { ty, name: None, default: None, pack: param.name.as_ref(), span });
                }
                continue;
            }
            let ty = self.lambda_param_type(param, &mut autos);
            if ty.ty == Ty::VOID {
                let message = "argument may not have 'void' type";
                self.error("void", param.span, message);
            }
            let (name, default) = (param.name.as_ref(), param.default.as_ref());
            result.push(SignatureParam { ty, name, default, pack: None, span: param.span });
        }
        result
    }

    /// A place in the list of instances for a function that no declaration stands behind.
    pub(super) fn add_synthetic_instance(&mut self) {
        let signature =
            Rc::new(Signature { params: Vec::new(), result: Some(Ty::VOID), this: None, scope: ScopeId::GLOBAL });
        let entity = EntityId(u32::MAX);
        self.instances.push(Instance { entity, args: Vec::new(), signature, body: BodyState::Done });
    }

    // --- functions of the program --------------------------------------------------------------------------------

    /// The program's function for an entity and its template arguments.
    pub(super) fn function_for(
        &mut self,
        entity: EntityId,
        args: Vec<TemplateArg>,
        signature: Rc<Signature<'a>>,
    ) -> FunctionId {
        if let Some(id) = self.entity(entity).functions.get(&args) {
            return *id;
        }
        if let Some(by) = self.specialization_of(entity, &args)
            && let Some(signature) = self.signature(by, &[])
        {
            return self.function_for(by, Vec::new(), signature);
        }
        let function = self.new_function(entity, &args, &signature);
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.instances.push(Instance { entity, args: args.clone(), signature, body: BodyState::Unneeded });
        self.entities[entity.0 as usize].functions.insert(args, id);
        id
    }

    /// The explicit specialization of a function template for these arguments.
    pub(super) fn specialization_of(&self, entity: EntityId, args: &[TemplateArg]) -> Option<EntityId> {
        self.entity(entity).specializations.iter().find(|(of, _)| of == args).map(|(_, by)| *by)
    }

    fn new_function(&mut self, entity: EntityId, args: &[TemplateArg], signature: &Signature<'a>) -> Function {
        let description = self.entity(entity);
        let has_args = description.header.is_some() && description.family.is_none();
        let text = if has_args { self.args_text(args) } else { String::new() };
        let name: SmolStr = format!("{}{}{text}", description.prefix, description.name).into();
        let builtin = description.builtin.clone();
        let span = description.span;
        let no_inline = description.source.first().is_some_and(|decl| {
            decl.attributes
                .iter()
                .any(|a| matches!(a.name.as_str(), "noinline" | "clang::noinline" | "gnu::noinline"))
        });
        let builtin_args = match builtin.is_some() && has_args {
            true => args.iter().filter_map(builtin_argument).collect(),
            false => Vec::new(),
        };
        let mut locals = Vec::new();
        if let Some(this) = signature.this {
            let ty = QualTy::plain(self.types_mut().pointer(this)).constant();
            locals.push(Local { name: "this".into(), ty, space: AddressSpace::Thread, span });
        }
        for param in &signature.params {
            let name = param.name.map(|name| name.name.clone()).unwrap_or_default();
            locals.push(Local { name, ty: param.ty, space: AddressSpace::Thread, span: param.span });
        }
        Function {
            name,
            builtin,
            builtin_args,
            params: (0..locals.len() as u32).map(LocalId).collect(),
            result: signature.result.unwrap_or(Ty::DEPENDENT),
            locals,
            body: None,
            no_inline,
            fp_pragmas: Vec::new(),
            span,
        }
    }

    /// The type `R (*)(P…)` of a function.
    pub(super) fn function_pointer_type(&mut self, id: FunctionId) -> Ty {
        let function = self.program.function(id);
        let params = function.params.iter().map(|p| function.locals[p.0 as usize].ty.ty).collect();
        let kind = TyKind::Function { result: function.result, params };
        let ty = self.types_mut().intern(kind);
        self.types_mut().pointer(QualTy::plain(ty))
    }

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
        let mut function = self.program.functions[id.0 as usize].clone();
        self.check_body_into(entity, &args, &signature, &mut function, Some(id));
        self.program.functions[id.0 as usize] = function;
        self.instances[id.0 as usize].body = BodyState::Done;
    }

    fn check_body_into(
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
        let has_note = note.is_some();
        if let Some(note) = note {
            let at = id.and_then(|id| self.requested_at(id)).unwrap_or(function.span);
            self.instantiations.push((note, at));
        }
        let stage = source.first().and_then(|decl| decl.specifiers.stage);
        let state = FunctionState {
            id,
            locals: std::mem::take(&mut function.locals),
            result: signature.result,
            this: signature.this.map(|_| LocalId(0)),
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
        if has_note {
            self.instantiations.pop();
        }
        function.fp_pragmas = source.latest().map(|decl| decl.fp_pragmas.clone()).unwrap_or_default();
        self.warn_about_unused(&state, function.params.len());
        function.locals = state.locals;
        function.result = result;
        function.body = Some(stmts);
    }

    /// The scope in which the names of the *definition's* template parameters are bound.
    fn body_scope(&mut self, entity: EntityId, args: &[TemplateArg]) -> ScopeId {
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

    fn requested_at(&self, id: FunctionId) -> Option<Span> {
        let mut calls: Vec<_> = self.call_sites.iter().filter(|((_, callee), _)| *callee == id).collect();
        calls.sort_by_key(|((caller, _), _)| *caller);
        calls.first().map(|(_, span)| **span)
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
                    self.error("redefinition", name.span, format!("redefinition of parameter '{}'", name.name));
                    continue;
                }
                self.scopes.insert(self.scope, name.name.clone(), Symbol::Local(id));
            }
            self.complete_param_type(id, param.span);
        }
    }

    fn complete_param_type(&mut self, id: LocalId, span: Span) {
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
    fn member_inits(&mut self, class: StructId, decl: &'a ast::FunctionDecl, stmts: &mut Vec<Stmt>) {
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
                (Some(init), _) => self.initialize(field.ty, &init.init, span),
                (None, Some(init)) => {
                    let scope = self.class(class).scope;
                    self.in_scope(scope, |this| this.initialize(field.ty, init, span))
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
                let value = self.initialize(QualTy::plain(class_ty), &init.init, span);
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

    fn this_field(&mut self, class_ty: Ty, field: u32, span: Span) -> Expr {
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

fn builtin_argument(arg: &TemplateArg) -> Option<TemplateArgument> {
    Some(match arg {
        TemplateArg::Type(ty) => TemplateArgument::Type(*ty),
        TemplateArg::Int(Ty::BOOL, value) => TemplateArgument::Value(Value::Bool(*value != 0)),
        TemplateArg::Int(_, value) => TemplateArgument::Value(Value::Int(*value)),
        _ => return None,
    })
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
