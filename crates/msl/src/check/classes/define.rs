//! Definitions of classes: bases, members, methods, layout.

use crate::check::Checker;
use crate::check::classes::ResourceKind;
use crate::check::declarations::{AlignedThing, add_function_entity};
use crate::check::names::Found;
use crate::check::state::{FunctionStart, FunctionState};
use crate::check::tables::{ClassState, EntityId, Symbol};
use crate::parse::ast::{self, Access, ClassKey, DeclKind, FunctionKind};
use crate::parse::names_in::names_in_type;
use crate::program::{Local, LocalId};
use crate::types::{AddressSpace, LayoutRules, QualTy, StructId, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Fills in bases, members and layout.
    pub(in crate::check) fn define_class(&mut self, id: StructId, decl: &'a ast::ClassDecl) {
        self.tables.class_mut(id).state = ClassState::InProgress;
        self.tables.class_mut(id).decl = Some(decl);
        let scope = self.tables.class(id).scope;
        let is_builtin = self.tables.is_in_stdlib(decl.span);
        let definition = self.tables.types_mut().struct_mut(id);
        definition.is_union = decl.key == ClassKey::Union;
        let name = definition.name.clone();
        if is_builtin {
            self.tables.types_mut().struct_mut(id).is_opaque = ResourceKind::of(&name).is_some();
        }
        if let Some(path) = &decl.name {
            let ty = self.tables.struct_type(id);
            self.tables.scopes_mut().insert(scope, path.last().name.clone(), Symbol::Type(QualTy::plain(ty)));
        }
        let mut methods = Vec::new();
        self.in_scope(scope, |this| {
            let default = if decl.key == ClassKey::Class { Access::Private } else { Access::Public };
            for base in &decl.bases {
                this.declare_base(id, &base.ty, base.access.unwrap_or(default));
            }
            let mut access = default;
            for member in decl.members.iter().flatten() {
                this.declare_member(id, member, &mut access, &mut methods);
            }
            this.tables.inherit_constructors(id);
        });
        self.refuse_inner_flexible_array(id);
        // `struct alignas(sizeof(T)) S`: template parameters are known around the class, its members are not.
        let around = self.tables.scopes().get(scope).parent.unwrap_or(scope);
        let min_align = self.in_scope(around, |this| this.alignment(&decl.attributes, AlignedThing::Class));
        let rules = LayoutRules {
            min_align,
            is_pod: self.tables.is_pod(id, decl),
            is_packed: decl.attributes.iter().any(|attribute| attribute.name == "packed"),
            max_align: decl.pack.map(u64::from),
        };
        self.tables.types_mut().lay_out(id, rules);
        if let Some(attribute) = decl.attributes.iter().find(|attribute| attribute.name == "alignas") {
            let ty = self.tables.struct_type(id);
            self.in_scope(around, |this| this.refuse_weaker_alignment(attribute, rules.min_align, ty));
        }
        self.tables.class_mut(id).state = ClassState::Complete;
        self.attach_outside_members(id);
        self.attach_outside_values(id);
        // The members of an ordinary class are checked now; those of an instantiation when they are used.
        let is_instance = self.tables.class(id).template.is_some();
        let is_pattern = self.tables.class(id).is_pattern;
        if is_builtin || (is_instance && !is_pattern) {
            return;
        }
        self.check_member_defaults(id);
        for method in methods {
            self.check_declared_function(method);
        }
    }

    /// Checks the initializers of members as a constructor would, even if none does.
    fn check_member_defaults(&mut self, id: StructId) {
        let inits: Vec<_> = self.tables.class(id).field_inits.iter().copied().enumerate().collect();
        if inits.iter().all(|(_, init)| init.is_none()) {
            return;
        }
        let object = QualTy::plain(self.tables.struct_type(id)).in_space(AddressSpace::Thread);
        let ty = QualTy::plain(self.tables.types_mut().pointer(object));
        let span = self.tables.types().struct_(id).span;
        let this = Local { name: "this".into(), ty, space: AddressSpace::Thread, min_align: 1, span };
        let state = FunctionState::new(FunctionStart {
            locals: vec![this],
            this: Some(LocalId(0)),
            ..FunctionStart::default()
        });
        let outer = std::mem::replace(&mut self.function, state);
        let in_pattern = self.position.in_pattern() || self.tables.class(id).is_pattern;
        let saved = self.position.set_in_pattern(in_pattern);
        let scope = self.tables.class(id).scope;
        for (index, init) in inits {
            let Some(init) = init else { continue };
            let ty = self.tables.types().struct_(id).fields[index].ty;
            self.in_scope(scope, |this| this.initialize(ty, init));
        }
        self.position.set_in_pattern(saved);
        self.function = outer;
    }

    /// An array without a length is the last member.
    fn refuse_inner_flexible_array(&mut self, id: StructId) {
        let definition = self.tables.types().struct_(id);
        let Some((_, earlier)) = definition.fields.split_last() else { return };
        let is_flexible = |ty: Ty| matches!(self.tables.types().kind(ty), TyKind::Array { len: None, .. });
        let Some(field) = earlier.iter().find(|field| is_flexible(field.ty.ty) && !definition.is_union) else {
            return;
        };
        let message = format!(
            "flexible array member '{}' with type '{}' is not at the end of struct",
            field.name,
            self.tables.name_of(field.ty.ty)
        );
        let span = field.span;
        self.diagnostics.error("array-size", span, message);
    }

    fn declare_base(&mut self, id: StructId, base: &'a ast::TypeExpr, access: Access) {
        let ty = self.resolve_type(base);
        if ty.ty == Ty::DEPENDENT {
            self.tables.class_mut(id).has_dependent_base = true;
            return;
        }
        if ty.ty == Ty::ERROR {
            return;
        }
        let base_id = match self.tables.types().struct_id(ty.ty) {
            Some(base_id) if base_id != id => base_id,
            _ => {
                self.diagnostics.error("base", base.span, "base specifier must name a class");
                return;
            }
        };
        self.complete_class(base_id);
        if self.tables.class(base_id).state != ClassState::Complete {
            self.diagnostics.error(
                "incomplete",
                base.span,
                format!("base class '{}' has incomplete type", self.tables.name_of(ty.ty)),
            );
            return;
        }
        let name = self.tables.name_of(ty.ty);
        let message = match () {
            () if self.tables.types().struct_(base_id).is_union => "unions cannot be base classes".to_string(),
            () if self.tables.types().struct_(id).is_union => "unions cannot have base classes".to_string(),
            () if self.tables.class(base_id).decl.is_some_and(|decl| decl.is_final) => {
                format!("base '{name}' is marked 'final'")
            }
            () if self.tables.class(id).bases.contains(&base_id) => {
                format!("base class '{name}' specified more than once as a direct base class")
            }
            () => String::new(),
        };
        if !message.is_empty() {
            self.diagnostics.error("base", base.span, message);
            return;
        }
        let mut names = Vec::new();
        names_in_type(base, &mut names);
        let scope = self.position.scope();
        if names.iter().any(|name| self.tables.scopes().is_template_parameter(scope, name)) {
            self.tables.class_mut(id).dependent_bases.push(base_id);
        }
        self.tables.class_mut(id).bases.push(base_id);
        self.tables.add_field(id, SmolStr::default(), ty, None, base.span, true, None, access);
    }

    fn declare_member(
        &mut self,
        id: StructId,
        member: &'a ast::Decl,
        access: &mut Access,
        methods: &mut Vec<EntityId>,
    ) {
        if *access != Access::Public {
            self.tables.hide_names(id, member, *access);
        }
        match &member.kind {
            DeclKind::Access(new) => *access = *new,
            DeclKind::Var(var) if var.specifiers.is_static => {
                let name = self.tables.types().struct_(id).name.clone();
                match (&var.template, &var.name) {
                    (Some(header), Some(path)) => self.declare_var_template(var, header, path),
                    _ => self.declare_static_member(var, &name),
                }
            }
            DeclKind::Var(var) => self.declare_field(id, var, *access),
            DeclKind::Function(function) => {
                if let Some(entity) = self.declare_method(id, function, *access) {
                    methods.push(entity);
                }
            }
            DeclKind::Class(class) if class.name.is_none() && class.members.is_some() => {
                // The members of an anonymous struct or union are members of the class.
                if let Some(ty) = self.declare_class(class)
                    && let Some(inner) = self.tables.types().struct_id(ty)
                {
                    self.refuse_repeated_members(id, inner);
                    self.tables.class_mut(id).bases.push(inner);
                    let span = class.span;
                    self.tables.add_field(
                        id,
                        SmolStr::default(),
                        QualTy::plain(ty),
                        None,
                        span,
                        false,
                        None,
                        *access,
                    );
                }
            }
            // `using Base::f;`: lookup finds members of a base without it, but maybe those of another base.
            DeclKind::Using(path) if self.names_constructor(path) => self.declare_inherited(id, path),
            DeclKind::Using(path) => {
                let name = path.last().name.clone();
                match self.resolve_path(path) {
                    Ok(Some(Found { class: Some(owner), .. })) => {
                        self.tables.class_mut(id).used.push((name, owner));
                    }
                    Ok(Some(Found { symbol: Symbol::Dependent, .. })) => {
                        let scope = self.position.scope();
                        self.tables.scopes_mut().insert(scope, name, Symbol::Dependent);
                    }
                    _ => {}
                }
            }
            _ => self.declare_anywhere(member),
        }
    }

    /// A method, constructor or conversion; `None` if nothing needs a check.
    fn declare_method(
        &mut self,
        id: StructId,
        function: &'a ast::FunctionDecl,
        access: Access,
    ) -> Option<EntityId> {
        if let FunctionKind::Destructor = function.kind {
            if !function.is_defaulted {
                self.diagnostics.error("destructor", function.name.span, "destructors are not supported in Metal");
            }
            return None;
        }
        if function.specifiers.stage.is_some() && !function.specifiers.is_static {
            self.diagnostics.error(
                "kernel-method",
                function.name.span,
                "a kernel or graphics function cannot be a non-static member of a class",
            );
        }
        // A defaulted constructor or assignment is the implicit one.
        if function.is_defaulted {
            if matches!(function.kind, FunctionKind::Constructor) && function.params.is_empty() {
                self.tables.class_mut(id).has_default_constructor = true;
            }
            return None;
        }
        if function.templates.last().is_some_and(|header| header.params.is_empty()) {
            return self.declare_function_specialization(function, Some(id), access);
        }
        self.refuse_method(id, function);
        let entity = add_function_entity(
            &mut self.tables,
            &mut self.diagnostics,
            function,
            self.position.scope(),
            Some(id),
            access,
        )?;
        self.refuse_redeclared(id, entity);
        match function.kind {
            FunctionKind::Constructor => self.tables.class_mut(id).constructors.push(entity),
            FunctionKind::Conversion => self.tables.class_mut(id).conversions.push(entity),
            _ => {
                let name = self.tables.entity(entity).name.clone();
                if !self.merge_redeclaration(self.position.scope(), &name, entity)
                    && self.tables.scopes_mut().add_function(self.position.scope(), &name, entity).is_some()
                {
                    self.diagnostics.error("redefinition", function.name.span, format!("redefinition of '{name}'"));
                }
            }
        }
        Some(entity)
    }
}
