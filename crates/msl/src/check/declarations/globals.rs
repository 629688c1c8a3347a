//! Variables at namespace scope, static members and function constants.

use super::signatures::type_without_qualifiers;
use crate::check::Checker;
use crate::check::initialization::contains_auto;
use crate::check::state::FunctionState;
use crate::check::tables::{GlobalInit, Specialization, Specializations, Symbol, Tables, VarTemplate};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{FunctionConstant, GlobalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn declare_namespace_var(&mut self, var: &'a ast::VarDecl) {
        let Some(path) = &var.name else { return };
        let name = &path.last().name;
        if path.segments.len() > 1 {
            return self.define_outside_value(var, path);
        }
        if let Some(header) = &var.template {
            return self.declare_var_template(var, header, path);
        }
        if var.specifiers.is_extern && var.init.is_none() {
            let ty = self.resolve_type(&var.ty);
            let id = self.tables.add_global(name.clone(), ty, path.span);
            self.tables.scopes_mut().insert(self.position.scope(), name.clone(), Symbol::Global(id));
            return;
        }
        let prefix = self.tables.scopes().namespace_prefix(self.position.scope());
        let Some(id) = self.declare_global(var, format!("{prefix}{name}").into()) else {
            self.tables.scopes_mut().insert(self.position.scope(), name.clone(), Symbol::Dependent);
            return;
        };
        if let Some(Symbol::Global(old)) = self.tables.scopes().own(self.position.scope(), name) {
            let old = *old;
            if self.tables.global(old).value.is_none() && self.tables.global(old).init.is_none() {
                self.tables.scopes_mut().insert(self.position.scope(), name.clone(), Symbol::Global(id));
                return;
            }
        }
        self.insert_once(name, Symbol::Global(id), path.span);
    }

    pub(in crate::check) fn declare_var_template(
        &mut self,
        var: &'a ast::VarDecl,
        header: &'a ast::TemplateHeader,
        path: &'a ast::Path,
    ) {
        let name = path.last().name.clone();
        let existing = match self.tables.scopes().own(self.position.scope(), &name) {
            Some(Symbol::VarTemplate(id)) => Some(*id),
            _ => None,
        };
        match (&path.last().args, existing) {
            (Some(args), Some(id)) => {
                let scope = self.position.scope();
                let specialization = Specialization { header, args, decl: var, scope };
                let template = self.tables.var_template(id);
                let (primary, declared_in) = (template.header, template.scope);
                let is_explicit = header.params.is_empty();
                let fit = |this: &mut Self| this.fit_template_args(&[primary], declared_in, args, path.span, &name);
                let args = if is_explicit { self.attempt(fit).ok().flatten() } else { None };
                let specializations = &self.tables.var_template(id).specializations;
                if let Some(args) = &args
                    && specializations.explicit(args).is_some()
                {
                    let message = format!("redefinition of '{name}{}'", self.tables.args_text(args));
                    return self.diagnostics.error("redefinition", path.span, message);
                }
                self.tables.var_template_mut(id).specializations.add(args.as_deref(), specialization);
            }
            (Some(_), None) => {
                let message = format!("explicit specialization of undeclared template variable '{name}'");
                self.diagnostics.error("specialization", path.span, message);
            }
            (None, _) => {
                let template = VarTemplate {
                    name: name.clone(),
                    decl: var,
                    header,
                    scope: self.position.scope(),
                    specializations: Specializations::default(),
                    instances: HashMap::default(),
                };
                let id = self.tables.add_var_template(template);
                self.insert_once(&name, Symbol::VarTemplate(id), path.span);
                let args = self.tables.unknown_args(header);
                let scope = self.bind_all(header, &args, self.position.scope());
                let ty = self.attempt(|this| this.in_scope(scope, |this| this.resolve_type(&var.ty)));
                if let Ok(ty) = ty
                    && ty.space != Some(AddressSpace::Constant)
                    && !contains_auto(&var.ty)
                {
                    let message = "program scope variable must reside in constant address space";
                    self.diagnostics.error("address-space", path.span, message);
                }
            }
        }
    }

    /// A constant at namespace scope; `None` after an error.
    pub(in crate::check) fn declare_global(&mut self, var: &'a ast::VarDecl, name: SmolStr) -> Option<GlobalId> {
        let span = var.name.as_ref().map_or(var.ty.span, |name| name.last().span);
        let (mut ty, init) = self.variable_type_and_init(var)?;
        let is_sampler = self.tables.is_opaque(ty.ty);
        // The parser has reported `thread_local`.
        if var.specifiers.is_thread_local {
            return None;
        }
        if ty.space != Some(AddressSpace::Constant) && !is_sampler && !ty.ty.is_unknown() {
            let message = "program scope variable must reside in constant address space";
            self.diagnostics.error("address-space", span, message);
            return None;
        }
        let init = match self.tables.types().struct_id(ty.ty) {
            Some(class)
                if var.init.is_none() && !self.tables.class(class).constructors.is_empty() && !is_sampler =>
            {
                Some(self.construct_exprs(class, Vec::new(), span))
            }
            _ => init,
        };
        ty.is_const = true;
        let id = self.tables.add_global(name, ty, span);
        self.note_attributes(&var.attributes, span);
        self.tables.global_mut(id).min_align = self.object_alignment(var, ty.ty);
        if let Some(attribute) = var.attributes.iter().find(|a| a.name == "function_constant") {
            self.declare_function_constant(id, attribute, var, span);
            return Some(id);
        }
        match init {
            Some(init) => self.set_global_value(id, init, var.specifiers.is_constexpr),
            None if var.init.is_none()
                && !is_sampler
                && !ty.ty.is_unknown()
                && !self.tables.has_default_value(ty.ty) =>
            {
                self.diagnostics.error(
                    "uninitialized",
                    span,
                    "variable in constant address space must be initialized",
                );
            }
            None => {}
        }
        Some(id)
    }

    fn set_global_value(&mut self, id: GlobalId, init: crate::program::Expr, is_constexpr: bool) {
        if self.tables.holds_opaque(self.tables.global(id).ty.ty) || init.ty.ty == Ty::ERROR {
            return;
        }
        if self.tables.depends_on_function_constant(&init) {
            self.tables.global_mut(id).init = Some(init);
            return;
        }
        if init.ty.ty == Ty::DEPENDENT {
            self.tables.global_mut(id).value = Some(Value::Unknown);
            return;
        }
        // Apple's compiler folds calls where C++ would initialize when the program starts.
        let mut value = self.try_evaluate(&init).ok();
        let mut is_dynamic = false;
        if value.is_none() && !is_constexpr {
            value = self.try_evaluate_dynamic(&init).ok();
            is_dynamic = value.is_some();
        }
        if value.is_none() {
            let message = "initializer of a variable in constant address space must be a constant expression";
            value = self.evaluate_or_report(&init, message);
        }
        let global = self.tables.global_mut(id);
        (global.value, global.is_dynamic) = (value, is_dynamic);
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
            self.diagnostics.error("function-constant", span, "a function constant cannot have an initializer");
        }
        let ty = self.tables.global(id).ty.ty;
        let element = self.tables.types().element_of(ty);
        let allowed = self.tables.types().is_arithmetic(element)
            && !matches!(element, Ty::LONG | Ty::ULONG | Ty::BFLOAT)
            || self.tables.types().enum_id(ty).is_some()
            || ty.is_unknown();
        let allowed = allowed || matches!(element, Ty::LONG | Ty::ULONG);
        if !allowed || matches!(self.tables.types().kind(ty), TyKind::PackedVector { .. }) {
            let message =
                format!("type '{}' is not valid for attribute 'function_constant'", self.tables.name_of(ty));
            self.diagnostics.error("function-constant", span, message);
            return;
        }
        let duplicate = self
            .tables
            .program()
            .globals
            .iter()
            .find(|g| g.function_constant.is_some_and(|constant| constant.index == index) && g.span != span);
        if let Some(duplicate) = duplicate {
            let message = format!("function constant index {index} is already used by '{}'", duplicate.name);
            let diagnostic = Diagnostic::error("function-constant", attribute.span, message);
            let diagnostic = diagnostic.note(duplicate.span, "previous function constant is here");
            self.diagnostics.report(diagnostic);
            return;
        }
        self.tables.global_mut(id).function_constant = Some(FunctionConstant { index });
    }

    /// A static data member: evaluated on first use.
    pub(in crate::check) fn declare_static_member(&mut self, var: &'a ast::VarDecl, class_name: &str) {
        let Some(path) = &var.name else { return };
        let name = path.last().name.clone();
        let full_name: SmolStr = format!("{class_name}::{name}").into();
        let deduced =
            matches!(type_without_qualifiers(&var.ty), ast::TypeExprKind::Auto | ast::TypeExprKind::DecltypeAuto);
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
            self.diagnostics.error("address-space", path.span, message);
        }
        if var.specifiers.is_constexpr && var.init.is_none() {
            let message = format!("declaration of constexpr static data member '{name}' requires an initializer");
            self.diagnostics.error("uninitialized", path.span, message);
        }
        ty.is_const = true;
        let id = self.tables.add_global(full_name, ty, path.span);
        self.note_attributes(&var.attributes, path.span);
        self.tables.global_mut(id).min_align = self.object_alignment(var, ty.ty);
        self.tables.defer_init(id, GlobalInit { decl: var, scope: self.position.scope() });
        self.insert_once(&name, Symbol::Global(id), path.span);
    }

    /// Evaluates a static member, the first time it is used.
    pub(in crate::check) fn force_global(&mut self, id: GlobalId) {
        if self.tables.is_being_initialized(id) && !self.position.is_unevaluated() {
            let (name, span) = (self.tables.global(id).name.clone(), self.tables.global(id).span);
            let message = format!("constexpr variable '{name}' must be initialized by a constant expression");
            let error = Diagnostic::error("not-constant", span, message);
            self.diagnostics.report(error.note(span, format!("initializer of '{name}' depends on its own value")));
            return;
        }
        let Some(GlobalInit { decl, scope }) = self.tables.take_deferred_init(id) else { return };
        let Some(init) = &decl.init else { return self.refuse_missing_value(id, decl) };
        self.tables.begin_init(id);
        let ty = self.tables.global(id).ty;
        let saved = std::mem::replace(&mut self.function, FunctionState::outside());
        let value = self.in_scope(scope, |this| this.initialize(ty, init));
        self.function = saved;
        self.set_global_value(id, value, decl.specifiers.is_constexpr);
        self.tables.end_init(id);
    }

    /// A static member that is used before it has a value.
    fn refuse_missing_value(&mut self, id: GlobalId, decl: &ast::VarDecl) {
        let (ty, name, span) = {
            let global = self.tables.global(id);
            (global.ty.ty, global.name.clone(), global.span)
        };
        let has_value = ty.is_unknown()
            || self.tables.holds_opaque(ty)
            || self.tables.has_default_value(ty)
            || self.tables.types().struct_id(ty).is_some_and(|id| !self.tables.class(id).constructors.is_empty());
        // That a constexpr member has none was said at its declaration.
        if !has_value && !decl.specifiers.is_constexpr && !self.position.is_unevaluated() {
            let message = format!("static data member '{name}' is used before it has a value");
            self.diagnostics.error("uninitialized", span, message);
        }
    }
}

impl<'a> Tables<'a> {
    fn has_default_value(&self, ty: Ty) -> bool {
        self.types().struct_id(ty).is_some_and(|id| self.types().struct_(id).fields.is_empty())
    }

    fn depends_on_function_constant(&self, expr: &crate::program::Expr) -> bool {
        let mut depends = false;
        crate::walk::walk_expr(expr, &mut |e| {
            if let crate::program::ExprKind::Global(id) = e.kind {
                let global = self.global(id);
                depends |= global.function_constant.is_some() || global.init.is_some();
            }
        });
        depends
    }
}
