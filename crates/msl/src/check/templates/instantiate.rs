//! What templates make: classes, types and variables for given arguments.

use crate::check::Checker;
use crate::check::names::{DEPENDENT, ERROR};
use crate::check::tables::{
    AliasTemplate, AliasTemplateId, Class, ClassState, ClassTemplateId, ScopeId, ScopeKind, Specialization,
    TemplateArg, VarTemplateId,
};
use crate::parse::ast;
use crate::program::GlobalId;
use crate::source::Span;
use crate::types::{Layout, QualTy, Struct, StructId, Ty};

impl<'a> Checker<'a> {
    /// `name<args>` for a class template.
    pub(in crate::check) fn class_template_type(
        &mut self,
        id: ClassTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> QualTy {
        let template = &self.class_templates[id.0 as usize];
        let mut headers = vec![template.header];
        headers.extend(&template.other_headers);
        let (scope, name) = (template.scope, template.name.clone());
        let Some(args) = self.fit_template_args(&headers, scope, args, span, &name) else { return ERROR };
        self.class_instance_type(id, args, span)
    }

    fn class_instance_type(&mut self, id: ClassTemplateId, args: Vec<TemplateArg>, span: Span) -> QualTy {
        // `Tile<N - 1>` and `Tile<N>` look the same while N is unknown.
        if args.iter().any(TemplateArg::is_dependent) {
            return DEPENDENT;
        }
        let known = self.class_templates[id.0 as usize].instances.get(&args).copied();
        match known {
            Some(instance) => QualTy::plain(self.struct_type(instance)),
            None => self.new_class_instance(id, args, span).map_or(ERROR, |id| QualTy::plain(self.struct_type(id))),
        }
    }

    pub(in crate::check) fn struct_type(&mut self, id: StructId) -> Ty {
        self.types_mut().intern(crate::types::TyKind::Struct(id))
    }

    /// A new instance, not complete yet.
    pub(in crate::check) fn new_class_instance(
        &mut self,
        id: ClassTemplateId,
        args: Vec<TemplateArg>,
        span: Span,
    ) -> Option<StructId> {
        if !self.count_instantiation(span) {
            return None;
        }
        let template = &self.class_templates[id.0 as usize];
        let name = format!("{}{}", template.name, self.args_text(&args)).into();
        let (scope, declared) = (template.scope, template.span);
        let struct_id = self.add_class(name, declared, scope);
        let class = self.class_mut(struct_id);
        class.template = Some((id, args.clone()));
        class.requested_at = span;
        class.is_pattern = args.iter().any(TemplateArg::is_dependent);
        self.class_templates[id.0 as usize].instances.insert(args, struct_id);
        Some(struct_id)
    }

    /// The namespaces and classes around what is declared in a scope, with a trailing `::`.
    pub(in crate::check) fn qualifier(&self, mut scope: ScopeId) -> smol_str::SmolStr {
        loop {
            let this = self.scopes.get(scope);
            match (&this.kind, this.parent) {
                (ScopeKind::Class(id), _) => {
                    let class = self.types().struct_(*id);
                    return format!("{}{}::", class.qualifier, class.name).into();
                }
                (ScopeKind::Namespace(name), _) if name == "metal" || name.starts_with("metal::") => {
                    return "".into();
                }
                (ScopeKind::Namespace(_), _) | (_, None) => return self.scopes.namespace_prefix(scope).into(),
                (_, Some(parent)) => scope = parent,
            }
        }
    }

    /// An empty class, declared only.
    pub(in crate::check) fn add_class(&mut self, name: smol_str::SmolStr, span: Span, scope: ScopeId) -> StructId {
        let qualifier = self.qualifier(scope);
        let (id, _) = self.types_mut().add_struct(Struct {
            name,
            qualifier,
            fields: Vec::new(),
            is_union: false,
            is_complete: false,
            is_opaque: false,
            layout: Layout::default(),
            span,
        });
        let scope = self.scopes.add(scope, ScopeKind::Class(id));
        self.classes.push(Class {
            decl: None,
            scope,
            template: None,
            bases: Vec::new(),
            constructors: Vec::new(),
            conversions: Vec::new(),
            field_inits: Vec::new(),
            field_access: Vec::new(),
            has_dependent_base: false,
            has_default_constructor: false,
            friends: Vec::new(),
            state: ClassState::Declared,
            closure: None,
            is_pattern: false,
            requested_at: span,
        });
        debug_assert_eq!(self.classes.len() as u32, id.0 + 1);
        id
    }

    /// `name<args>` for an alias template.
    pub(in crate::check) fn alias_template_type(
        &mut self,
        id: AliasTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> QualTy {
        let AliasTemplate { decl, header, scope, .. } = self.alias_templates[id.0 as usize];
        let Some(args) = self.fit_template_args(&[header], scope, args, span, &decl.name.name) else {
            return ERROR;
        };
        if let Some(known) = self.alias_templates[id.0 as usize].instances.get(&args) {
            return *known;
        }
        if !self.count_instantiation(span) {
            return ERROR;
        }
        let scope = self.bind_all(header, &args, scope);
        let before = self.diagnostics.len();
        let message = format!("in instantiation of template type alias '{}' requested here", decl.name.name);
        self.instantiations.push((message, span));
        let ty = self.in_scope(scope, |this| this.resolve_type(&decl.ty));
        self.instantiations.pop();
        // A failure may be one of substitution, to be seen each time.
        if self.diagnostics.len() == before {
            self.alias_templates[id.0 as usize].instances.insert(args, ty);
        }
        ty
    }

    /// `name<args>` for a variable template: `None` after a complaint, `Some(None)` while arguments are not known.
    pub(in crate::check) fn var_template_instance(
        &mut self,
        id: VarTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> Option<Option<GlobalId>> {
        let template = &self.var_templates[id.0 as usize];
        let (header, scope, name) = (template.header, template.scope, template.name.clone());
        let args = self.fit_template_args(&[header], scope, args, span, &name)?;
        if args.iter().any(TemplateArg::is_dependent) {
            return Some(None);
        }
        if let Some(known) = self.var_templates[id.0 as usize].instances.get(&args) {
            return known.map(Some);
        }
        if !self.count_instantiation(span) {
            return None;
        }
        let specializations: Vec<_> = self.var_templates[id.0 as usize]
            .specializations
            .iter()
            .map(|s| Specialization { header: s.header, args: s.args, decl: s.decl, scope: s.scope })
            .collect();
        let (decl, scope) = match self.choose_specialization(&specializations, &args, span, &name) {
            Some(chosen) => (chosen.decl, chosen.scope),
            None => (self.var_templates[id.0 as usize].decl, self.bind_all(header, &args, scope)),
        };
        let full_name = format!("{name}{}", self.args_text(&args));
        let message = format!("in instantiation of variable template specialization '{full_name}' requested here");
        self.instantiations.push((message, span));
        let global = self.in_scope(scope, |this| this.declare_global(decl, full_name.into()));
        self.instantiations.pop();
        self.var_templates[id.0 as usize].instances.insert(args, global);
        global.map(Some)
    }
}
