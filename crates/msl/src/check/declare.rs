//! Declarations at namespace scope, and those that mean the same everywhere: aliases, enums, assertions.

use super::scope::{ScopeId, ScopeKind, Symbol};
use super::templates::{AliasTemplate, Specialization, VarTemplate};
use super::{AliasTemplateId, Checker, VarTemplateId};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, DeclKind};
use crate::program::{FunctionConstant, Global, GlobalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, Enum, QualTy, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// The initializer of a static member that nobody has asked for yet.
pub(super) struct GlobalInit<'a> {
    decl: &'a ast::VarDecl,
    scope: ScopeId,
}

impl<'a> Checker<'a> {
    pub(super) fn declare_all(&mut self, decls: &'a [ast::Decl]) {
        for decl in decls {
            self.declare(decl);
            if !matches!(decl.kind, DeclKind::Namespace { .. }) {
                self.check_queued_bodies();
            }
        }
    }

    /// A declaration at namespace scope.
    fn declare(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::Namespace { name, inline, decls } => self.declare_namespace(name.as_ref(), *inline, decls),
            DeclKind::Function(function) => {
                self.declare_function(function);
            }
            DeclKind::Var(var) => self.declare_namespace_var(var),
            DeclKind::Instantiation(instantiation) => self.declare_instantiation(instantiation),
            _ => self.declare_anywhere(decl),
        }
    }

    /// What means the same at namespace scope, in a class and in a function.
    pub(super) fn declare_anywhere(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::UsingNamespace(path) => {
                if let Some(namespace) = self.resolve_namespace(path) {
                    self.scopes.add_using(self.scope, namespace);
                }
            }
            DeclKind::Using(path) => self.declare_using(path),
            DeclKind::NamespaceAlias(name, path) => {
                if let Some(namespace) = self.resolve_namespace(path) {
                    self.scopes.insert(self.scope, name.name.clone(), Symbol::Namespace(namespace));
                }
            }
            DeclKind::Alias(alias) => self.declare_alias(alias),
            DeclKind::Class(class) => {
                self.declare_class(class);
            }
            DeclKind::Enum(decl) => {
                self.declare_enum(decl);
            }
            DeclKind::StaticAssert { condition, message } => self.check_static_assert(condition, message.as_ref()),
            DeclKind::Friend(inner) => {
                let namespace = self.scopes.enclosing_namespace(self.scope);
                let ScopeKind::Class(class) = self.scopes.get(self.scope).kind else { return };
                match &inner.kind {
                    DeclKind::Function(function) => {
                        self.class_mut(class).friends.push(function.name.last().name.clone());
                        // The pattern of a template declares nothing: each instance has a friend of its own.
                        if !self.class(class).is_pattern {
                            self.declare_friend(function, namespace);
                        }
                    }
                    DeclKind::Class(ast::ClassDecl { name: Some(name), .. }) => {
                        self.class_mut(class).friends.push(name.last().name.clone());
                    }
                    _ => {}
                }
            }
            DeclKind::Access(_) | DeclKind::Empty => {}
            DeclKind::Namespace { .. } => {
                self.error("namespace", decl.span, "namespaces can only be defined in global or namespace scope");
            }
            DeclKind::Instantiation(_) => {
                self.error("instantiation", decl.span, "explicit instantiation must occur at namespace scope");
            }
            DeclKind::Function(function) => {
                self.error("function", function.name.span, "function declaration is not allowed here");
            }
            DeclKind::Var(var) => {
                let span = var.name.as_ref().map_or(decl.span, |name| name.span);
                self.error("variable", span, "variable declaration is not allowed here");
            }
        }
    }

    fn declare_namespace(&mut self, name: Option<&'a ast::Ident>, inline: bool, decls: &'a [ast::Decl]) {
        let parent = self.scope;
        let text = name.map_or(SmolStr::new_static("(anonymous)"), |name| name.name.clone());
        let existing = match self.scopes.own(parent, &text) {
            Some(Symbol::Namespace(scope)) => Some(*scope),
            Some(other) => {
                let other = other.clone();
                if let Some(name) = name {
                    let message = format!("redefinition of '{text}' as different kind of symbol");
                    let diagnostic = Diagnostic::error("redefinition", name.span, message);
                    let previous = self.declared_at(&other);
                    self.report(match previous {
                        Some(span) => diagnostic.note(span, "previous definition is here"),
                        None => diagnostic,
                    });
                }
                None
            }
            None => None,
        };
        let scope = existing.unwrap_or_else(|| {
            let full_name = format!("{}{text}", self.scopes.namespace_prefix(parent));
            let scope = self.scopes.add(parent, ScopeKind::Namespace(full_name.into()));
            self.scopes.insert(parent, text, Symbol::Namespace(scope));
            scope
        });
        if inline || name.is_none() {
            self.scopes.add_using(parent, scope);
        }
        self.in_scope(scope, |this| this.declare_all(decls));
    }

    fn declare_using(&mut self, path: &'a ast::Path) {
        let name = path.last().name.clone();
        match self.resolve_path(path) {
            Ok(Some(found)) => match found.symbol {
                Symbol::Functions(entities) => {
                    for entity in entities {
                        self.scopes.add_function(self.scope, &name, entity);
                    }
                }
                symbol => {
                    self.scopes.insert(self.scope, name, symbol);
                }
            },
            Ok(None) => self.undeclared(path, false),
            Err(()) => {}
        }
    }

    fn declare_alias(&mut self, alias: &'a ast::AliasDecl) {
        let name = &alias.name.name;
        if let Some(header) = &alias.template {
            let scope = self.scope;
            self.alias_templates.push(AliasTemplate { decl: alias, header, scope, instances: HashMap::default() });
            let id = AliasTemplateId(self.alias_templates.len() as u32 - 1);
            self.insert_once(name, Symbol::AliasTemplate(id), alias.name.span);
            return;
        }
        let ty = self.resolve_type(&alias.ty);
        // `typedef struct { … } name;` gives the struct its name.
        if let ast::TypeExprKind::Class(_) = alias.ty.kind
            && let Some(id) = self.types().struct_id(ty.ty)
            && self.types().struct_(id).name.starts_with('(')
        {
            self.types_mut().struct_mut(id).name = name.clone();
        }
        if let ast::TypeExprKind::Enum(_) = alias.ty.kind
            && let Some(id) = self.types().enum_id(ty.ty)
            && self.types().enum_(id).name.starts_with('(')
        {
            self.types_mut().enum_mut(id).name = name.clone();
        }
        match self.scopes.own(self.scope, name) {
            Some(Symbol::Type(old)) if *old == ty || old.ty.is_unknown() || ty.ty.is_unknown() => {}
            Some(Symbol::Type(old)) => {
                let message = format!(
                    "typedef redefinition with different types ('{}' vs '{}')",
                    self.name_of_qual(ty),
                    self.name_of_qual(*old)
                );
                self.error("redefinition", alias.name.span, message);
            }
            _ => self.insert_once(name, Symbol::Type(ty), alias.name.span),
        }
    }

    /// Declares `name`; complains where it is taken in this scope.
    pub(super) fn insert_once(&mut self, name: &SmolStr, symbol: Symbol, span: Span) {
        if let Some(old) = self.scopes.insert(self.scope, name.clone(), symbol) {
            let message = format!("redefinition of '{name}'");
            let diagnostic = Diagnostic::error("redefinition", span, message);
            let previous = self.declared_at(&old);
            self.report(match previous {
                Some(span) => diagnostic.note(span, "previous definition is here"),
                None => diagnostic,
            });
        }
    }

    pub(super) fn check_static_assert(&mut self, condition: &'a ast::Expr, message: Option<&SmolStr>) {
        let checked = self.check_condition_value(condition);
        if checked.ty.ty.is_unknown() {
            return;
        }
        let Some(value) =
            self.evaluate_or_report(&checked, "static assertion expression is not an integral constant expression")
        else {
            return;
        };
        if super::truth(&value) == Some(false) {
            let text = match message {
                Some(message) => format!("static assertion failed: {message}"),
                None => "static assertion failed".to_string(),
            };
            self.error("static-assert", condition.span, text);
        }
    }

    // --- enums -------------------------------------------------------------------------------------------------

    pub(super) fn declare_enum(&mut self, decl: &'a ast::EnumDecl) -> Option<Ty> {
        let name = decl.name.as_ref().map_or(SmolStr::new_static("(unnamed enum)"), |name| name.name.clone());
        let underlying = match &decl.underlying {
            Some(written) => {
                let ty = self.resolve_type(written).ty;
                if !ty.is_unknown() && !self.types().is_integral(ty) {
                    self.error("enum", written.span, "non-integral type is an invalid underlying type");
                    return None;
                }
                ty
            }
            None => Ty::INT,
        };
        let existing = match self.scopes.own(self.scope, &name) {
            Some(Symbol::Type(ty)) if self.types().enum_id(ty.ty).is_some() => Some(ty.ty),
            _ => None,
        };
        let ty = existing.unwrap_or_else(|| {
            let scoped = decl.scoped;
            let span = decl.name.as_ref().map_or(decl.span, |name| name.span);
            let qualifier = self.qualifier(self.scope);
            let definition =
                Enum { name: name.clone(), qualifier, scoped, underlying, enumerators: Vec::new(), span };
            self.types_mut().add_enum(definition).1
        });
        if existing.is_none()
            && let Some(name) = &decl.name
        {
            self.insert_once(&name.name, Symbol::Type(QualTy::plain(ty)), name.span);
        }
        let enumerators = decl.enumerators.as_ref()?;
        let id = self.types().enum_id(ty)?;
        if !self.types().enum_(id).enumerators.is_empty() {
            let previous = self.types().enum_(id).span;
            let diagnostic = Diagnostic::error("redefinition", decl.span, format!("redefinition of '{name}'"));
            self.report(diagnostic.note(previous, "previous definition is here"));
            return Some(ty);
        }
        let mut next: i128 = 0;
        let scope = self.scopes.add(self.scope, ScopeKind::Block);
        for enumerator in enumerators {
            if let Some(written) = &enumerator.value {
                let checked = self.in_scope(scope, |this| this.check_value(written));
                if !checked.ty.ty.is_unknown() && !self.is_integral_or_unscoped(checked.ty.ty) {
                    let message =
                        format!("enumerator value has non-integral type '{}'", self.name_of(checked.ty.ty));
                    self.error("enum", written.span, message);
                    continue;
                }
                let value = self.evaluate_or_report(&checked, "enumerator value is not a constant expression");
                next = match value {
                    Some(Value::Int(value)) => value,
                    Some(Value::Bool(value)) => i128::from(value),
                    _ => next,
                };
            }
            let value = Symbol::Value(ty, Value::Int(next));
            // Inside the braces an enumerator is a plain number.
            let number = Symbol::Value(underlying, Value::Int(next));
            self.scopes.insert(scope, enumerator.name.name.clone(), number);
            let fits = crate::evaluate::fits(self.types(), &Value::Int(next), underlying);
            if decl.underlying.is_some() && !fits {
                let message = format!(
                    "enumerator value {next} is not representable in the underlying type '{}'",
                    self.name_of(underlying)
                );
                self.error("enum", enumerator.name.span, message);
            }
            if !decl.scoped {
                self.insert_once(&enumerator.name.name, value, enumerator.name.span);
            }
            self.types_mut().enum_mut(id).enumerators.push((enumerator.name.name.clone(), next));
            next += 1;
        }
        // Without a type of its own an enum takes the first that holds its values.
        if decl.underlying.is_none() && !decl.scoped {
            let values: Vec<i128> = self.types().enum_(id).enumerators.iter().map(|(_, value)| *value).collect();
            let (low, high) =
                (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
            let fits = |kind: crate::types::IntKind| kind.wrap(low) == low && kind.wrap(high) == high;
            use crate::types::IntKind::{Int, Long, UInt, ULong};
            let kind = if low < 0 { [Int, Long] } else { [UInt, ULong] }.into_iter().find(|&kind| fits(kind));
            self.types_mut().enum_mut(id).underlying = Ty::int(kind.unwrap_or(Long));
        }
        Some(ty)
    }

    // --- variables at namespace scope --------------------------------------------------------------------------

    fn declare_namespace_var(&mut self, var: &'a ast::VarDecl) {
        let Some(path) = &var.name else { return };
        let name = &path.last().name;
        if let Some(header) = &var.template {
            return self.declare_var_template(var, header, path);
        }
        if path.segments.len() > 1 {
            // The definition of a static member outside its class: the declaration inside has the value.
            return;
        }
        if var.specifiers.is_extern && var.init.is_none() {
            let ty = self.resolve_type(&var.ty);
            let id = self.add_global(name.clone(), ty, path.span);
            self.scopes.insert(self.scope, name.clone(), Symbol::Global(id));
            return;
        }
        let prefix = self.scopes.namespace_prefix(self.scope);
        let Some(id) = self.declare_global(var, format!("{prefix}{name}").into()) else {
            self.scopes.insert(self.scope, name.clone(), Symbol::Dependent);
            return;
        };
        if let Some(Symbol::Global(old)) = self.scopes.own(self.scope, name) {
            let old = *old;
            if self.program.global(old).value.is_none() && self.program.global(old).init.is_none() {
                self.scopes.insert(self.scope, name.clone(), Symbol::Global(id));
                return;
            }
        }
        self.insert_once(name, Symbol::Global(id), path.span);
    }

    pub(super) fn declare_var_template(
        &mut self,
        var: &'a ast::VarDecl,
        header: &'a ast::TemplateHeader,
        path: &'a ast::Path,
    ) {
        let name = path.last().name.clone();
        let existing = match self.scopes.own(self.scope, &name) {
            Some(Symbol::VarTemplate(id)) => Some(*id),
            _ => None,
        };
        match (&path.last().args, existing) {
            (Some(args), Some(id)) => {
                let scope = self.scope;
                let specialization = Specialization { header, args, decl: var, scope };
                self.var_templates[id.0 as usize].specializations.push(specialization);
            }
            (Some(_), None) => {
                let message = format!("explicit specialization of undeclared template variable '{name}'");
                self.error("specialization", path.span, message);
            }
            (None, _) => {
                let template = VarTemplate {
                    name: name.clone(),
                    decl: var,
                    header,
                    scope: self.scope,
                    specializations: Vec::new(),
                    instances: HashMap::default(),
                };
                self.var_templates.push(template);
                let id = VarTemplateId(self.var_templates.len() as u32 - 1);
                self.insert_once(&name, Symbol::VarTemplate(id), path.span);
                let args = self.unknown_args(header);
                let scope = self.bind_all(header, &args, self.scope);
                let ty = self.attempt(|this| this.in_scope(scope, |this| this.resolve_type(&var.ty)));
                if let Ok(ty) = ty
                    && ty.space != Some(AddressSpace::Constant)
                    && !super::auto_types::contains_auto(&var.ty)
                {
                    let message = "program scope variable must reside in constant address space";
                    self.error("address-space", path.span, message);
                }
            }
        }
    }

    pub(super) fn add_global(&mut self, name: SmolStr, ty: QualTy, span: Span) -> GlobalId {
        self.program.globals.push(Global { name, ty, value: None, function_constant: None, init: None, span });
        GlobalId(self.program.globals.len() as u32 - 1)
    }

    /// A constant at namespace scope; `None` after a complaint.
    pub(super) fn declare_global(&mut self, var: &'a ast::VarDecl, name: SmolStr) -> Option<GlobalId> {
        let span = var.name.as_ref().map_or(var.ty.span, |name| name.last().span);
        let (mut ty, init) = self.variable_type_and_init(var)?;
        let is_sampler = self.is_opaque(ty.ty);
        // The parser has complained about `thread_local`.
        if var.specifiers.is_thread_local {
            return None;
        }
        if ty.space != Some(AddressSpace::Constant) && !is_sampler && !ty.ty.is_unknown() {
            let message = "program scope variable must reside in constant address space";
            self.error("address-space", span, message);
            return None;
        }
        ty.is_const = true;
        let id = self.add_global(name, ty, span);
        if let Some(attribute) = var.attributes.iter().find(|a| a.name == "function_constant") {
            self.declare_function_constant(id, attribute, var, span);
            return Some(id);
        }
        match init {
            Some(init) => self.set_global_value(id, init),
            None if var.init.is_none() && !is_sampler && !ty.ty.is_unknown() && !self.has_default_value(ty.ty) => {
                self.error("uninitialized", span, "variable in constant address space must be initialized");
            }
            None => {}
        }
        Some(id)
    }

    fn has_default_value(&mut self, ty: Ty) -> bool {
        self.types().struct_id(ty).is_some_and(|id| self.types().struct_(id).fields.is_empty())
    }

    fn set_global_value(&mut self, id: GlobalId, init: crate::program::Expr) {
        let is_opaque = self.is_opaque(self.program.global(id).ty.ty);
        if is_opaque || init.ty.ty == Ty::ERROR {
            return;
        }
        if self.depends_on_function_constant(&init) {
            self.program.globals[id.0 as usize].init = Some(init);
            return;
        }
        let message = "initializer of a variable in constant address space must be a constant expression";
        let value = self.evaluate_or_report(&init, message);
        self.program.globals[id.0 as usize].value = value;
    }

    fn depends_on_function_constant(&self, expr: &crate::program::Expr) -> bool {
        let mut depends = false;
        crate::walk::walk_expr(expr, &mut |e| {
            if let crate::program::ExprKind::Global(id) = e.kind {
                let global = self.program.global(id);
                depends |= global.function_constant.is_some() || global.init.is_some();
            }
        });
        depends
    }

    fn declare_function_constant(
        &mut self,
        id: GlobalId,
        attribute: &'a ast::Attribute,
        var: &'a ast::VarDecl,
        span: Span,
    ) {
        let Some(index) = self.attribute_index(attribute, 65_535) else { return };
        if var.init.is_some() {
            self.error("function-constant", span, "a function constant cannot have an initializer");
        }
        let ty = self.program.global(id).ty.ty;
        let element = self.types().element_of(ty);
        let allowed = self.types().is_arithmetic(element) && !matches!(element, Ty::LONG | Ty::ULONG | Ty::BFLOAT)
            || self.types().enum_id(ty).is_some()
            || ty.is_unknown();
        let allowed = allowed || matches!(element, Ty::LONG | Ty::ULONG);
        if !allowed || matches!(self.types().kind(ty), TyKind::PackedVector { .. }) {
            let message = format!("type '{}' is not valid for attribute 'function_constant'", self.name_of(ty));
            self.error("function-constant", span, message);
            return;
        }
        let duplicate = self
            .program
            .globals
            .iter()
            .find(|g| g.function_constant.is_some_and(|constant| constant.index == index) && g.span != span);
        if let Some(duplicate) = duplicate {
            let message = format!("function constant index {index} is already used by '{}'", duplicate.name);
            let diagnostic = Diagnostic::error("function-constant", attribute.span, message);
            let diagnostic = diagnostic.note(duplicate.span, "previous function constant is here");
            self.report(diagnostic);
            return;
        }
        self.program.globals[id.0 as usize].function_constant = Some(FunctionConstant { index });
    }

    /// A static data member: its value is found out when someone asks.
    pub(super) fn declare_static_member(&mut self, var: &'a ast::VarDecl, class_name: &str) {
        let Some(path) = &var.name else { return };
        let name = path.last().name.clone();
        let full_name: SmolStr = format!("{class_name}::{name}").into();
        let deduced = matches!(self.type_without_qualifiers(&var.ty), ast::TypeExprKind::Auto);
        let unsized_array = matches!(&var.ty.kind, ast::TypeExprKind::Array { length: None, .. });
        if deduced || unsized_array {
            if let Some(id) = self.declare_global(var, full_name) {
                self.insert_once(&name, Symbol::Global(id), path.span);
            }
            return;
        }
        let mut ty = self.resolve_type(&var.ty);
        if ty.space != Some(AddressSpace::Constant) && !ty.ty.is_unknown() {
            let message = "static data member must reside in constant address space";
            self.error("address-space", path.span, message);
        }
        ty.is_const = true;
        let id = self.add_global(full_name, ty, path.span);
        self.global_inits.insert(id, GlobalInit { decl: var, scope: self.scope });
        self.insert_once(&name, Symbol::Global(id), path.span);
    }

    /// Finds out the value of a static member, the first time it is used.
    pub(super) fn force_global(&mut self, id: GlobalId) {
        let Some(GlobalInit { decl, scope }) = self.global_inits.remove(&id) else { return };
        let Some(init) = &decl.init else { return };
        let ty = self.program.global(id).ty;
        let saved = std::mem::replace(&mut self.function, super::FunctionState::outside());
        let value = self.in_scope(scope, |this| this.initialize(ty, init));
        self.function = saved;
        self.set_global_value(id, value);
    }
}
