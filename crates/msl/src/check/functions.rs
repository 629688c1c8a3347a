//! Functions: how they are declared, what their signatures are, and when their bodies are checked.

use super::scope::{ScopeId, Symbol};
use super::{
    BodyState, Checker, Entity, EntityId, FunctionSource, Instance, Signature, SignatureParam, TemplateArg,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Access, TemplateParamKind, TypeExprKind};
use crate::program::{Function, FunctionId, Local, LocalId, TemplateArgument, Value};
use crate::source::Span;
use crate::stdlib::families;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
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
        if let Some(header) = header {
            self.refuse_duplicate_params(header);
        }
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
            signatures: HashMap::default(),
            functions: HashMap::default(),
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
                    self.refuse_other_result(other, entity);
                }
                (None, true) => {
                    self.refuse_other_result(other, entity);
                    self.set_definition(other, decl);
                    self.check_declared_function(other);
                }
                (_, false) => self.refuse_other_result(other, entity),
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
                    && self.words(first.result.span, None, a) == self.words(second.result.span, None, b)
                    && a.params.iter().zip(&b.params).all(|(a, b)| self.same_template_param(a, b))
                    && first.params.iter().zip(&second.params).all(|(x, y)| {
                        self.words(x.span, x.name.as_ref(), a) == self.words(y.span, y.name.as_ref(), b)
                    })
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

    /// What is written, without a parameter's name and with template parameters numbered.
    fn words(&self, span: Span, name: Option<&ast::Ident>, header: &ast::TemplateHeader) -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut words: Vec<String> = Vec::new();
        for c in self.sources.text(span).chars() {
            match words.last_mut() {
                Some(word) if is_word(c) && word.ends_with(is_word) => word.push(c),
                _ if c.is_whitespace() => words.push(String::new()),
                _ => words.push(c.to_string()),
            }
        }
        let numbered = |word: String| {
            let is_param = |param: &ast::TemplateParam| param.name.as_ref().is_some_and(|n| n.name == *word);
            header.params.iter().position(is_param).map_or(word, |index| format!("<{index}>"))
        };
        let is_name = |word: &String| name.is_some_and(|name| name.name == **word);
        words.into_iter().filter(|word| !word.is_empty() && !is_name(word)).map(numbered).collect()
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
            if let Some(earlier) = self.specialization_of(candidate, &args) {
                let has_body = self.entity(earlier).source.latest().is_some_and(|decl| decl.body.is_some());
                if has_body && function.body.is_some() {
                    let message = format!("redefinition of '{name}{}'", self.args_text(&args));
                    let diagnostic = Diagnostic::error("redefinition", path.last().span, message);
                    let span = self.entity(earlier).span;
                    self.report(diagnostic.note(span, "previous definition is here"));
                } else if function.body.is_some() {
                    self.set_definition(earlier, function);
                    self.check_declared_function(earlier);
                }
                return;
            }
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
        let depth = self.function.depth + usize::from(!args.is_empty());
        self.instances.push(Instance {
            entity,
            args: args.clone(),
            signature,
            body: BodyState::Unneeded,
            depth,
            request: None,
        });
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
        let is_lambda = matches!(description.source, FunctionSource::Lambda(_));
        let is_constexpr = is_lambda
            || description.source.first().is_some_and(|decl| decl.specifiers.is_constexpr)
            || description.source.latest().is_some_and(|decl| decl.specifiers.is_constexpr);
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
            is_constexpr,
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
}

fn builtin_argument(arg: &TemplateArg) -> Option<TemplateArgument> {
    Some(match arg {
        TemplateArg::Type(ty) => TemplateArgument::Type(*ty),
        TemplateArg::Int(Ty::BOOL, value) => TemplateArgument::Value(Value::Bool(*value != 0)),
        TemplateArg::Int(_, value) => TemplateArgument::Value(Value::Int(*value)),
        _ => return None,
    })
}
