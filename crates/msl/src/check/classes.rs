//! Structs, classes and unions: members, bases, layout.

use super::scope::{ScopeId, Symbol};
use super::templates::{ClassTemplate, Specialization};
use super::{Checker, ClassState, ClassTemplateId, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Access, ClassKey, DeclKind, FunctionKind};
use crate::parse::names_in::{names_in_expr, names_in_type};
use crate::program::Value;
use crate::source::Span;
use crate::types::{Field, QualTy, StructId, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Declares or defines a class; its type, unless it is a template.
    pub(super) fn declare_class(&mut self, decl: &'a ast::ClassDecl) -> Option<Ty> {
        if let Some(header) = &decl.template {
            self.declare_class_template(decl, header);
            return None;
        }
        let id = match &decl.name {
            None => {
                let key = if decl.key == ClassKey::Union { "(anonymous union)" } else { "(anonymous struct)" };
                self.add_class(SmolStr::new_static(key), decl.span, self.scope)
            }
            Some(path) => self.named_class(path)?,
        };
        if decl.members.is_some() {
            if self.class(id).state != ClassState::Declared {
                let message = format!("redefinition of '{}'", self.types().struct_(id).name);
                let previous = self.types().struct_(id).span;
                let diagnostic = Diagnostic::error("redefinition", decl.span, message);
                self.report(diagnostic.note(previous, "previous definition is here"));
                return None;
            }
            self.define_class(id, decl);
        }
        Some(self.struct_type(id))
    }

    fn named_class(&mut self, path: &'a ast::Path) -> Option<StructId> {
        let name = &path.last().name;
        if path.segments.len() > 1 {
            // `struct Outer::Inner { … }`
            return match self.resolve_path(path) {
                Ok(Some(found)) => match found.symbol {
                    Symbol::Type(ty) => self.types().struct_id(ty.ty),
                    _ => None,
                },
                Ok(None) => {
                    self.undeclared(path, true);
                    None
                }
                Err(()) => None,
            };
        }
        if let Some(Symbol::Type(ty)) = self.scopes.own(self.scope, name)
            && let Some(id) = self.types().struct_id(ty.ty)
        {
            return Some(id);
        }
        let id = self.add_class(name.clone(), path.span, self.scope);
        let ty = self.struct_type(id);
        // A function of the same name may stand beside it.
        if !matches!(self.scopes.own(self.scope, name), Some(Symbol::Functions(_))) {
            self.insert_once(name, Symbol::Type(QualTy::plain(ty)), path.span);
        }
        Some(id)
    }

    fn declare_class_template(&mut self, decl: &'a ast::ClassDecl, header: &'a ast::TemplateHeader) {
        let Some(path) = &decl.name else {
            self.error("template", decl.span, "a class template needs a name");
            return;
        };
        let name = &path.last().name;
        let found = match path.segments.len() {
            1 => self.scopes.find_in(self.scope, name),
            _ => self.resolve_path(path).ok().flatten().map(|found| found.symbol),
        };
        let existing = match found {
            Some(Symbol::ClassTemplate(id)) => Some(id),
            _ => None,
        };
        self.refuse_duplicate_params(header);
        let Some(args) = &path.last().args else {
            return self.declare_primary_template(decl, header, path, existing);
        };
        let Some(id) = existing else {
            if found_native(name) {
                return;
            }
            let message = format!("no template named '{name}' to specialize");
            self.error("specialization", path.last().span, message);
            return;
        };
        let scope = self.scope;
        if header.params.is_empty() {
            self.refuse_late_specialization(id, args, path.span);
        } else {
            self.check_specialization_params(header, args);
            let primary = &self.class_templates[id.0 as usize].header.params;
            let is_primary = header.params.len() == args.len()
                && primary.len() == args.len()
                && !primary.iter().any(|param| param.is_pack)
                && header.params.iter().zip(args).all(|(param, arg)| names_param(param, arg));
            if is_primary {
                let message = "class template partial specialization does not specialize any template argument; to define \
                               the primary template, remove the template argument list";
                self.error("specialization", path.span, message);
                return;
            }
        }
        let specialization = Specialization { header, args, decl, scope };
        self.class_templates[id.0 as usize].specializations.push(specialization);
    }

    /// `template <typename T, typename T>`
    pub(super) fn refuse_duplicate_params(&mut self, header: &'a ast::TemplateHeader) {
        for (index, param) in header.params.iter().enumerate() {
            let Some(name) = &param.name else { continue };
            let earlier =
                header.params[..index].iter().filter_map(|p| p.name.as_ref()).find(|n| n.name == name.name);
            if let Some(earlier) = earlier {
                let message = format!("redefinition of '{}'", name.name);
                let diagnostic = Diagnostic::error("redefinition", name.span, message);
                self.report(diagnostic.note(earlier.span, "template parameter is declared here"));
            }
        }
    }

    /// An explicit specialization must come before the first use that would have made the class.
    fn refuse_late_specialization(&mut self, id: ClassTemplateId, args: &'a [ast::TemplateArg], span: Span) {
        let template = &self.class_templates[id.0 as usize];
        let mut headers = vec![template.header];
        headers.extend(&template.other_headers);
        let (scope, name) = (template.scope, template.name.clone());
        let Some(args) = self.fit_template_args(&headers, scope, args, span, &name) else { return };
        let instance = self.class_templates[id.0 as usize].instances.get(&args).copied();
        if let Some(instance) = instance
            && self.class(instance).state == ClassState::Complete
        {
            let message =
                format!("explicit specialization of '{}' after instantiation", self.types().struct_(instance).name);
            let diagnostic = Diagnostic::error("specialization", span, message);
            let at = self.class(instance).requested_at;
            self.report(diagnostic.note(at, "implicit instantiation first required here"));
        }
    }

    /// Every parameter of a partial specialization must show in its arguments.
    fn check_specialization_params(&mut self, header: &'a ast::TemplateHeader, args: &'a [ast::TemplateArg]) {
        let mut used = Vec::new();
        for arg in args {
            match arg {
                ast::TemplateArg::Type(ty) => names_in_type(ty, &mut used),
                ast::TemplateArg::Expr(expr) => names_in_expr(expr, &mut used),
            }
        }
        for param in &header.params {
            let Some(name) = &param.name else { continue };
            if !used.contains(&&name.name) {
                let message = format!(
                    "class template partial specialization contains a template parameter that cannot be deduced: '{}'",
                    name.name
                );
                self.error("specialization", name.span, message);
            }
        }
    }

    fn declare_primary_template(
        &mut self,
        decl: &'a ast::ClassDecl,
        header: &'a ast::TemplateHeader,
        path: &'a ast::Path,
        existing: Option<ClassTemplateId>,
    ) {
        let name = &path.last().name;
        let id = match existing {
            Some(id) => {
                let template = &mut self.class_templates[id.0 as usize];
                if decl.members.is_some() {
                    if let Some(previous) = template.definition {
                        let diagnostic =
                            Diagnostic::error("redefinition", path.span, format!("redefinition of '{name}'"));
                        self.report(diagnostic.note(previous.span, "previous definition is here"));
                        return;
                    }
                    template.other_headers.push(template.header);
                    template.header = header;
                    template.definition = Some(decl);
                    template.span = path.span;
                } else {
                    template.other_headers.push(header);
                }
                id
            }
            None => {
                let definition = decl.members.is_some().then_some(decl);
                self.class_templates.push(ClassTemplate {
                    name: name.clone(),
                    scope: self.scope,
                    header,
                    other_headers: Vec::new(),
                    definition,
                    specializations: Vec::new(),
                    instances: HashMap::default(),
                    outside_members: Vec::new(),
                    span: path.span,
                });
                let id = ClassTemplateId(self.class_templates.len() as u32 - 1);
                self.insert_once(name, Symbol::ClassTemplate(id), path.span);
                id
            }
        };
        if decl.members.is_some() && !self.sources.file(decl.span.file).builtin {
            self.check_class_pattern(id, header, decl.span);
        }
    }

    /// Looks at a class template as written, with its parameters unknown.
    fn check_class_pattern(&mut self, id: ClassTemplateId, header: &'a ast::TemplateHeader, span: Span) {
        let args: Vec<TemplateArg> = self.unknown_args(header);
        if args.is_empty() {
            return;
        }
        let Some(pattern) = self.new_class_instance(id, args, span) else { return };
        self.complete_class(pattern);
    }

    // --- definition --------------------------------------------------------------------------------------------

    /// Fills in bases, members and layout.
    pub(super) fn define_class(&mut self, id: StructId, decl: &'a ast::ClassDecl) {
        self.class_mut(id).state = ClassState::InProgress;
        self.class_mut(id).decl = Some(decl);
        let scope = self.class(id).scope;
        let is_builtin = self.sources.file(decl.span.file).builtin;
        let definition = self.types_mut().struct_mut(id);
        definition.is_union = decl.key == ClassKey::Union;
        let name = definition.name.clone();
        if is_builtin {
            let opaque = ["texture", "depth", "sampler"].iter().any(|prefix| name.starts_with(prefix));
            self.types_mut().struct_mut(id).is_opaque = opaque;
        }
        if let Some(path) = &decl.name {
            let ty = self.struct_type(id);
            self.scopes.insert(scope, path.last().name.clone(), Symbol::Type(QualTy::plain(ty)));
        }
        let mut methods = Vec::new();
        self.in_scope(scope, |this| {
            for base in &decl.bases {
                this.declare_base(id, base);
            }
            let mut access = if decl.key == ClassKey::Class { Access::Private } else { Access::Public };
            for member in decl.members.iter().flatten() {
                this.declare_member(id, member, &mut access, &mut methods);
            }
        });
        let min_align = self.class_alignment(decl);
        self.types_mut().lay_out(id, min_align);
        self.class_mut(id).state = ClassState::Complete;
        self.attach_outside_members(id);
        // The members of an ordinary class are checked now; those of an instantiation when they are used.
        let is_instance = self.class(id).template.is_some();
        let is_pattern = self.class(id).is_pattern;
        if is_builtin || (is_instance && !is_pattern) {
            return;
        }
        for method in methods {
            self.check_declared_function(method);
        }
    }

    fn declare_base(&mut self, id: StructId, base: &'a ast::TypeExpr) {
        let ty = self.resolve_type(base);
        if ty.ty == Ty::DEPENDENT {
            self.class_mut(id).has_dependent_base = true;
            return;
        }
        if ty.ty == Ty::ERROR {
            return;
        }
        let base_id = match self.types().struct_id(ty.ty) {
            Some(base_id) if base_id != id => base_id,
            _ => {
                self.error("base", base.span, "base specifier must name a class");
                return;
            }
        };
        self.complete_class(base_id);
        if self.class(base_id).state != ClassState::Complete {
            self.error(
                "incomplete",
                base.span,
                format!("base class '{}' has incomplete type", self.name_of(ty.ty)),
            );
            return;
        }
        self.class_mut(id).bases.push(base_id);
        self.add_field(id, SmolStr::default(), ty, None, base.span, true, None, Access::Public);
    }

    #[allow(clippy::too_many_arguments, reason = "a field has that many facts")]
    fn add_field(
        &mut self,
        id: StructId,
        name: SmolStr,
        ty: QualTy,
        bits: Option<u32>,
        span: Span,
        is_base: bool,
        init: Option<&'a ast::Init>,
        access: Access,
    ) -> u32 {
        let bits = bits.map(|width| (0, width));
        let field = Field { name, ty, offset: 0, min_align: 1, bits, is_base, id: None, span };
        self.types_mut().struct_mut(id).fields.push(field);
        let class = self.class_mut(id);
        class.field_inits.push(init);
        class.field_access.push(access);
        class.field_inits.len() as u32 - 1
    }

    fn declare_member(
        &mut self,
        id: StructId,
        member: &'a ast::Decl,
        access: &mut Access,
        methods: &mut Vec<super::EntityId>,
    ) {
        match &member.kind {
            DeclKind::Access(new) => *access = *new,
            DeclKind::Var(var) if var.specifiers.is_static => {
                let name = self.types().struct_(id).name.clone();
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
                // An anonymous struct or union: its members are ours.
                if let Some(ty) = self.declare_class(class)
                    && let Some(inner) = self.types().struct_id(ty)
                {
                    self.class_mut(id).bases.push(inner);
                    let span = class.span;
                    self.add_field(id, SmolStr::default(), QualTy::plain(ty), None, span, false, None, *access);
                }
            }
            // `using Base::f;`: members of a base are found anyway.
            DeclKind::Using(path) => {
                let _ = self.resolve_path(path);
            }
            _ => self.declare_anywhere(member),
        }
    }

    fn declare_field(&mut self, id: StructId, var: &'a ast::VarDecl, access: Access) {
        let mut ty = self.resolve_type(&var.ty);
        let span = var.name.as_ref().map_or(var.ty.span, |name| name.span);
        if let Some(space) = ty.space
            && !ty.ty.is_unknown()
        {
            if space != crate::types::AddressSpace::Thread {
                self.error("address-space", span, "field may not be qualified with an address space");
            }
            ty.space = None;
        }
        self.complete_type(ty.ty);
        match *self.types().kind(ty.ty) {
            TyKind::Struct(field) if self.class(field).state != ClassState::Complete => {
                let message = format!("field has incomplete type '{}'", self.name_of(ty.ty));
                self.error("incomplete", span, message);
                ty = QualTy::plain(Ty::ERROR);
            }
            TyKind::Void | TyKind::Function { .. } => {
                let message = format!("field has incomplete type '{}'", self.name_of(ty.ty));
                self.error("incomplete", span, message);
                ty = QualTy::plain(Ty::ERROR);
            }
            _ => {}
        }
        let name = var.name.as_ref().map(|path| path.last().name.clone()).unwrap_or_default();
        let bits = var.bit_width.as_ref().and_then(|width| self.bit_width(width, ty.ty, &name));
        let init = var.init.as_ref();
        let index = self.add_field(id, name.clone(), ty, bits, span, false, init, access);
        if let Some(attribute) = var.attributes.iter().find(|a| matches!(a.name.as_str(), "alignas" | "aligned")) {
            let align = self.attribute_index(attribute, 1 << 20).map_or(1, u64::from);
            self.types_mut().struct_mut(id).fields[index as usize].min_align = align;
        }
        if let Some(attribute) = var.attributes.iter().find(|attribute| attribute.name == "id") {
            let number = self.attribute_index(attribute, u32::MAX);
            self.types_mut().struct_mut(id).fields[index as usize].id = number;
        }
        if !name.is_empty() {
            if let Some(Symbol::Field(_)) = self.scopes.own(self.scope, &name) {
                self.error("redefinition", span, format!("duplicate member '{name}'"));
                return;
            }
            self.scopes.insert(self.scope, name, Symbol::Field(index));
        }
    }

    fn bit_width(&mut self, width: &'a ast::Expr, ty: Ty, name: &str) -> Option<u32> {
        let is_named = !name.is_empty();
        let integral = self.types().is_integral(ty) || self.types().enum_id(ty).is_some() || ty.is_unknown();
        if !integral {
            let message = format!("bit-field '{name}' has non-integral type '{}'", self.name_of(ty));
            self.error("bit-field", width.span, message);
            return None;
        }
        let checked = self.check_value(width);
        match self.evaluate_or_report(&checked, "bit-field width is not a constant expression")? {
            Value::Int(value) => {
                if value == 0 && is_named {
                    self.error("bit-field", width.span, "named bit-field has zero width");
                    return None;
                }
                let most = self.types().layout(ty).map_or(64, |layout| layout.size * 8);
                if value < 0 || value as u64 > most {
                    self.error(
                        "bit-field",
                        width.span,
                        format!("width of bit-field ({value} bits) does not fit its type"),
                    );
                    return None;
                }
                Some(value as u32)
            }
            _ => None,
        }
    }

    fn class_alignment(&mut self, decl: &'a ast::ClassDecl) -> u64 {
        let mut align = 1;
        for attribute in &decl.attributes {
            if matches!(attribute.name.as_str(), "alignas" | "aligned") {
                align = align.max(self.attribute_index(attribute, 1 << 20).map_or(1, u64::from));
            }
        }
        align
    }

    /// A method, constructor or conversion; `None` where nothing is to be checked.
    fn declare_method(
        &mut self,
        id: StructId,
        function: &'a ast::FunctionDecl,
        access: Access,
    ) -> Option<super::EntityId> {
        if let FunctionKind::Destructor = function.kind {
            if !function.is_defaulted {
                self.error("destructor", function.name.span, "destructors are not supported in Metal");
            }
            return None;
        }
        if function.specifiers.stage.is_some() {
            self.error(
                "kernel-method",
                function.name.span,
                "a kernel or graphics function cannot be a member of a class",
            );
        }
        // A defaulted constructor or assignment is what the language does anyway.
        if function.is_defaulted {
            if matches!(function.kind, FunctionKind::Constructor) && function.params.is_empty() {
                self.class_mut(id).has_default_constructor = true;
            }
            return None;
        }
        let entity = self.add_function_entity(function, self.scope, Some(id), access)?;
        match function.kind {
            FunctionKind::Constructor => self.class_mut(id).constructors.push(entity),
            FunctionKind::Conversion => self.class_mut(id).conversions.push(entity),
            _ => {
                let name = self.entity(entity).name.clone();
                if !self.merge_redeclaration(self.scope, &name, entity)
                    && self.scopes.add_function(self.scope, &name, entity).is_some()
                {
                    self.error("redefinition", function.name.span, format!("redefinition of '{name}'"));
                }
            }
        }
        Some(entity)
    }

    /// Gives members that were declared in the class the definitions that stand outside.
    fn attach_outside_members(&mut self, id: StructId) {
        let Some((template, _)) = self.class(id).template else { return };
        for function in self.class_templates[template.0 as usize].outside_members.clone() {
            self.attach_definition(id, function, false);
        }
    }

    /// `void Tile<T>::load() { … }`
    pub(super) fn define_outside_member(&mut self, function: &'a ast::FunctionDecl) {
        let path = &function.name;
        let owner = &path.segments[..path.segments.len() - 1];
        let last_owner = owner.last().expect("the name is qualified");
        let found = if owner.len() == 1 { self.lookup(&last_owner.name) } else { None };
        match found.map(|found| found.symbol) {
            // `template <> void Tile<float>::load() { … }`: for one instance alone.
            Some(symbol @ Symbol::ClassTemplate(_)) if function.templates.iter().all(|h| h.params.is_empty()) => {
                let ty = self.symbol_as_type(&symbol, last_owner.args.as_deref(), last_owner.span);
                if let Some(id) = self.types().struct_id(ty.ty) {
                    self.complete_class(id);
                    self.define_member(id, function, true);
                }
            }
            Some(Symbol::ClassTemplate(template)) => {
                self.class_templates[template.0 as usize].outside_members.push(function);
                let mut instances: Vec<StructId> =
                    self.class_templates[template.0 as usize].instances.values().copied().collect();
                instances.sort();
                for instance in instances {
                    if self.class(instance).state == ClassState::Complete {
                        self.attach_definition(instance, function, false);
                    }
                }
            }
            Some(Symbol::Type(ty)) => match self.types().struct_id(ty.ty) {
                Some(id) => self.define_member(id, function, false),
                None => self.error("out-of-line", path.span, "expected a class before '::'"),
            },
            Some(Symbol::Namespace(namespace)) => {
                self.in_scope(namespace, |this| this.declare_function_here(function));
            }
            Some(_) => self.error("out-of-line", path.span, "expected a class or namespace before '::'"),
            None => self.undeclared_owner(last_owner),
        }
    }

    fn define_member(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) {
        if self.attach_definition(id, function, replaces) {
            return;
        }
        let member = function.name.last();
        let message = format!(
            "out-of-line definition of '{}' does not match any declaration in '{}'",
            member.name,
            self.types().struct_(id).name
        );
        self.error("out-of-line", member.span, message);
    }

    fn undeclared_owner(&mut self, segment: &ast::PathSegment) {
        let message = format!("use of undeclared identifier '{}'", segment.name);
        self.error("undeclared-identifier", segment.span, message);
    }

    /// Finds the member that `function` defines and gives it the body; `replaces` allows that it has one.
    fn attach_definition(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) -> bool {
        let name = &function.name.last().name;
        let candidates = match function.kind {
            FunctionKind::Constructor => self.class(id).constructors.clone(),
            FunctionKind::Conversion => self.class(id).conversions.clone(),
            _ => match self.scopes.own(self.class(id).scope, name) {
                Some(Symbol::Functions(entities)) => entities.clone(),
                _ => Vec::new(),
            },
        };
        let same_shape = |this: &Self, entity: super::EntityId| {
            this.entity(entity).source.first().is_some_and(|declared| {
                (replaces || declared.body.is_none())
                    && declared.params.len() == function.params.len()
                    && declared.method_quals == function.method_quals
                    && declared
                        .params
                        .iter()
                        .zip(&function.params)
                        .all(|(a, b)| this.same_text(a.ty.span, b.ty.span))
            })
        };
        let exact = candidates.iter().copied().find(|&entity| same_shape(self, entity));
        let by_count = candidates.iter().copied().find(|&entity| {
            self.entity(entity)
                .source
                .first()
                .is_some_and(|d| (replaces || d.body.is_none()) && d.params.len() == function.params.len())
        });
        let Some(entity) = exact.or(by_count) else { return false };
        self.set_definition(entity, function);
        if self.class(id).template.is_none() {
            self.check_declared_function(entity);
        }
        true
    }

    pub(super) fn same_text(&self, a: Span, b: Span) -> bool {
        let words = |span: Span| -> Vec<String> {
            self.sources.text(span).split_whitespace().map(ToString::to_string).collect()
        };
        words(a) == words(b)
    }

    // --- questions ---------------------------------------------------------------------------------------------

    /// A texture, sampler or other type of the graphics library.
    pub(super) fn is_opaque(&self, ty: Ty) -> bool {
        self.types().struct_id(ty).is_some_and(|id| self.types().struct_(id).is_opaque)
    }

    /// It can be initialized from a list of its members.
    pub(super) fn is_aggregate(&self, id: StructId) -> bool {
        let class = self.class(id);
        class.constructors.is_empty() && class.closure.is_none() && class.state == ClassState::Complete
    }

    /// The fields that lead from `class` to its base or anonymous member `target`, outermost first.
    pub(super) fn path_to_base(&self, class: StructId, target: StructId) -> Option<Vec<u32>> {
        if class == target {
            return Some(Vec::new());
        }
        let fields = &self.types().struct_(class).fields;
        for (index, field) in fields.iter().enumerate() {
            if !(field.is_base || field.name.is_empty()) {
                continue;
            }
            if let Some(inner) = self.types().struct_id(field.ty.ty)
                && let Some(mut path) = self.path_to_base(inner, target)
            {
                path.insert(0, index as u32);
                return Some(path);
            }
        }
        None
    }

    /// `derived` has `base` among its base classes.
    pub(super) fn derives_from(&mut self, derived: Ty, base: Ty) -> bool {
        let (Some(derived), Some(base)) = (self.types().struct_id(derived), self.types().struct_id(base)) else {
            return false;
        };
        self.complete_class(derived);
        derived != base && self.path_to_base(derived, base).is_some()
    }

    /// The scope around a class in which friends and associated functions are found.
    pub(super) fn namespace_of_class(&self, id: StructId) -> ScopeId {
        self.scopes.enclosing_namespace(self.class(id).scope)
    }
}

/// Specializations of templates that are native here (as in third-party copies of Apple's headers) change nothing.
fn found_native(name: &str) -> bool {
    super::native::native_template(name).is_some()
}

/// The argument is just the parameter's name.
fn names_param(param: &ast::TemplateParam, arg: &ast::TemplateArg) -> bool {
    let path = match arg {
        ast::TemplateArg::Type(ast::TypeExpr { kind: ast::TypeExprKind::Named(path), .. }) => path,
        ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) => path,
        _ => return false,
    };
    !param.is_pack && path.as_ident().is_some_and(|name| param.name.as_ref().is_some_and(|p| p.name == *name))
}
