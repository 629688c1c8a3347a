//! Variables of functions.

use crate::check::Checker;
use crate::check::declarations::type_without_qualifiers;
use crate::check::initialization::contains_auto;
use crate::check::names::space_or_thread;
use crate::check::tables::{ScopeId, Symbol, Tables};
use crate::parse::ast::{self, DeclKind};
use crate::program::{Expr, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn check_local_decl(&mut self, decl: &'a ast::Decl, out: &mut Vec<Stmt>) {
        match &decl.kind {
            DeclKind::Var(var) => {
                let id = self.check_local_var(var, out);
                self.check_bindings(var, id, out);
            }
            DeclKind::Function(function) => {
                let scope = self.position.scope();
                let namespace = self.tables.scopes().enclosing_namespace(scope);
                // It is a function of the namespace; its name is known in this block, too.
                self.in_scope(namespace, |this| this.declare_function_here(function));
                let name = &function.name.last().name;
                if let Some(symbol) = self.tables.scopes().own(namespace, name).cloned() {
                    self.tables.scopes_mut().insert(scope, name.clone(), symbol);
                }
            }
            _ => self.declare_anywhere(decl),
        }
    }

    /// `auto a = 1, b = 2.0f;`: one `auto` is one type.
    pub(super) fn refuse_different_autos(&mut self, decls: &'a [ast::Decl]) {
        let mut first: Option<(SmolStr, Ty)> = None;
        for decl in decls {
            let DeclKind::Var(var) = &decl.kind else { continue };
            let Some(path) = var.name.as_ref() else { continue };
            let name = &path.last().name;
            let is_auto = matches!(
                type_without_qualifiers(&var.ty),
                ast::TypeExprKind::Auto | ast::TypeExprKind::DecltypeAuto
            );
            let Some(Symbol::Local(id)) = self.tables.scopes().own(self.position.scope(), name) else { continue };
            let ty = self.function.local(*id).ty.ty;
            match &first {
                _ if !is_auto || ty.is_unknown() => {}
                None => first = Some((name.clone(), ty)),
                Some((earlier, other)) if *other != ty => {
                    let message = format!(
                        "'auto' deduced as '{}' in declaration of '{earlier}' and deduced as '{}' in declaration of '{name}'",
                        self.tables.name_of(*other),
                        self.tables.name_of(ty)
                    );
                    self.diagnostics.error("auto", path.span, message);
                }
                Some(_) => {}
            }
        }
    }

    pub(super) fn check_local_var(&mut self, var: &'a ast::VarDecl, out: &mut Vec<Stmt>) -> Option<LocalId> {
        let path = var.name.as_ref()?;
        let name = &path.last().name;
        let span = path.last().span;
        let deduced = if contains_auto(&var.ty) { Some(self.deduce_auto_variable(var)) } else { None };
        let ty = match &deduced {
            Some(deduced) => deduced.as_ref().map(|(ty, _)| *ty),
            None => self.variable_type(var),
        };
        let Some(ty) = ty else {
            self.tables.poison(self.position.scope(), name);
            return None;
        };
        let space = space_or_thread(ty);
        self.check_local_space(var, ty, space, span);
        if space == AddressSpace::Constant {
            self.check_local_constant(var, ty, deduced.flatten().and_then(|(_, init)| init), span);
            return None;
        }
        // The name means the variable from here on, its own initializer included.
        let id = self.function.add_local(name.clone(), ty, space, span);
        self.note_attributes(&var.attributes, span);
        if var.attributes.iter().any(|attribute| matches!(attribute.name.as_str(), "maybe_unused" | "unused")) {
            self.function.mark_used(id);
        }
        self.declare_local(name, id, span);
        let (ty, init) = match deduced {
            Some(deduced) => deduced?,
            None => self.variable_init(var, ty),
        };
        self.function.local_mut(id).ty = ty;
        self.function.local_mut(id).min_align = self.object_alignment(var, ty.ty);
        if space == AddressSpace::Threadgroup
            && let Some(init) = &init
        {
            self.refuse_nonzero(init, span);
        }
        let init = match init {
            Some(init) => Some(init),
            None => self.uninitialized(var, ty, space, span),
        };
        if var.specifiers.is_constexpr || (ty.is_const && !ty.is_volatile) {
            self.remember_constant(id, init.as_ref(), var.specifiers.is_constexpr, ty, span);
        }
        // A known value replaces its initializer: a constexpr function may be one that no GPU could run.
        let init = match self.function.known(id) {
            Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => {
                Some(Expr::constant(value.clone(), ty.ty, span))
            }
            _ => init,
        };
        out.push(Stmt { kind: StmtKind::Local(id, init), span });
        Some(id)
    }

    /// A variable that all threads of a threadgroup share can start as zeros only: no thread runs an initializer for
    /// the others.
    fn refuse_nonzero(&mut self, init: &Expr, span: Span) {
        if init.ty.ty.is_unknown() || self.try_evaluate(init).is_ok_and(|value| value.is_zero()) {
            return;
        }
        let message = "variables in the threadgroup address space cannot have an initializer other than zero";
        self.diagnostics.error("threadgroup-variable", span, message);
    }

    /// A table that every thread shares is a global with a local name.
    fn check_local_constant(&mut self, var: &'a ast::VarDecl, ty: QualTy, deduced: Option<Expr>, span: Span) {
        let Some(path) = &var.name else { return };
        let name = path.last().name.clone();
        let (ty, init) = match deduced {
            Some(init) => (ty, Some(init)),
            None => self.variable_init(var, ty),
        };
        let Some(init) = init else {
            self.diagnostics.error("uninitialized", span, "variable in constant address space must be initialized");
            return;
        };
        let id = self.tables.add_global(name.clone(), ty.constant(), span);
        let message = "initializer of a variable in constant address space must be a constant expression";
        let value = self.evaluate_or_report(&init, message);
        self.tables.global_mut(id).value = value;
        self.tables.global_mut(id).min_align = self.object_alignment(var, ty.ty);
        self.insert_once(&name, Symbol::Global(id), span);
    }

    fn check_local_space(&mut self, var: &'a ast::VarDecl, ty: QualTy, space: AddressSpace, span: Span) {
        match space {
            AddressSpace::Thread | AddressSpace::Constant => {}
            AddressSpace::Threadgroup => {
                if !self.function.is_kernel() && !self.position.in_pattern() {
                    let message =
                        "variable in threadgroup address space can only be declared inside a kernel function";
                    self.diagnostics.error("threadgroup-variable", span, message);
                }
            }
            _ => {
                let message = format!("a local variable cannot be in the {} address space", space.text());
                self.diagnostics.error("address-space", span, message);
            }
        }
        if var.specifiers.is_static && space == AddressSpace::Thread && !ty.ty.is_unknown() {
            let message = "static local variable must reside in constant address space";
            self.diagnostics.error("address-space", span, message);
        }
    }

    /// Initial value of a variable without an initializer.
    fn uninitialized(
        &mut self,
        var: &'a ast::VarDecl,
        ty: QualTy,
        space: AddressSpace,
        span: Span,
    ) -> Option<Expr> {
        if ty.ty.is_unknown() || space == AddressSpace::Threadgroup {
            return None;
        }
        match self.tables.types().kind(ty.ty) {
            TyKind::Reference { .. } => {
                let name = var.name.as_ref().map(|name| name.last().name.clone()).unwrap_or_default();
                let message = format!("declaration of reference variable '{name}' requires an initializer");
                self.diagnostics.error("uninitialized", span, message);
                return None;
            }
            TyKind::Array { len: None, .. } => {
                self.diagnostics.error(
                    "array-size",
                    span,
                    "definition of variable with array type needs an explicit size or an initializer",
                );
                return None;
            }
            _ => {}
        }
        if let Some(class) = self.tables.types().struct_id(ty.ty)
            && self.tables.class(class).constructors.is_empty()
            && self.tables.has_uninitialized_const(class)
        {
            let message =
                format!("call to implicitly-deleted default constructor of '{}'", self.tables.name_of(ty.ty));
            self.diagnostics.error("deleted", span, message);
            return None;
        }
        let value = self.default_initialize(ty, span);
        if value.is_none()
            && (ty.is_const || var.specifiers.is_constexpr)
            && self.tables.types().struct_id(ty.ty).is_none()
        {
            let message =
                format!("default initialization of an object of const type '{}'", self.tables.name_of_qual(ty));
            self.diagnostics.error("uninitialized", span, message);
        }
        value
    }

    /// Keeps the value of a constant for array sizes and template arguments.
    fn remember_constant(&mut self, id: LocalId, init: Option<&Expr>, required: bool, ty: QualTy, span: Span) {
        let Some(init) = init else { return };
        if init.ty.ty.is_unknown() {
            if init.ty.ty == Ty::DEPENDENT || self.position.in_pattern() {
                self.function.remember(id, Value::Unknown);
            }
            return;
        }
        if matches!(self.tables.types().kind(ty.ty), TyKind::Reference { .. }) {
            return;
        }
        let scope = self.position.scope();
        if required {
            let name = self.function.local(id).name.clone();
            let message = format!("constexpr variable '{name}' must be initialized by a constant expression");
            let is_pointer = self.tables.types().pointee(ty.ty).is_some();
            if is_pointer || self.tables.is_opaque(ty.ty) {
                return;
            }
            let before = self.diagnostics.mark();
            let value = self.evaluate_or_report(init, &message);
            self.diagnostics.relocate_first_since(before, span);
            let value = value.unwrap_or(Value::Unknown);
            self.tables.add_local_constant(scope, name, ty.ty, value.clone());
            self.function.remember(id, value);
            return;
        }
        let is_number = self.tables.types().is_arithmetic(ty.ty) || self.tables.types().enum_id(ty.ty).is_some();
        if is_number && let Ok(value) = self.try_evaluate(init) {
            let name = self.function.local(id).name.clone();
            self.tables.add_local_constant(scope, name, ty.ty, value.clone());
            self.function.remember(id, value);
        }
    }

    pub(super) fn declare_local(&mut self, name: &SmolStr, id: LocalId, span: Span) {
        self.insert_once(name, Symbol::Local(id), span);
    }
}

impl<'a> Tables<'a> {
    /// After an error in its declaration, a name fits everywhere.
    pub(super) fn poison(&mut self, scope: ScopeId, name: &SmolStr) {
        let symbol = Symbol::Value(Ty::ERROR, Value::Unknown);
        self.scopes_mut().insert(scope, name.clone(), symbol);
    }

    /// True if a member needs an initializer and has none.
    fn has_uninitialized_const(&self, class: crate::types::StructId) -> bool {
        let fields = &self.types().struct_(class).fields;
        fields.iter().zip(&self.class(class).field_inits).any(|(field, init)| {
            let needs_value =
                field.ty.is_const || matches!(self.types().kind(field.ty.ty), TyKind::Reference { .. });
            needs_value && init.is_none() && !field.is_base
        })
    }
}
