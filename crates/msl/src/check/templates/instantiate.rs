//! What templates make: classes, types and variables for given arguments.

use super::deduce::Deduction;
use super::{AliasTemplate, Specialization};
use crate::check::scope::ScopeId;
use crate::check::{
    AliasTemplateId, Checker, Class, ClassState, ClassTemplateId, MAX_INSTANTIATION_DEPTH, MAX_INSTANTIATIONS,
    TemplateArg, VarTemplateId,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::GlobalId;
use crate::source::Span;
use crate::types::{Layout, QualTy, Struct, StructId, Ty};

const ERROR: QualTy = QualTy::plain(Ty::ERROR);
const DEPENDENT: QualTy = QualTy::plain(Ty::DEPENDENT);

/// The declaration to instantiate, and the scope in which its parameters are bound.
pub(in crate::check) struct Chosen<D> {
    pub(in crate::check) decl: D,
    pub(in crate::check) scope: ScopeId,
}

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

    pub(in crate::check) fn class_instance_type(
        &mut self,
        id: ClassTemplateId,
        args: Vec<TemplateArg>,
        span: Span,
    ) -> QualTy {
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
        use crate::check::scope::ScopeKind;
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
        let scope = self.scopes.add(scope, crate::check::scope::ScopeKind::Class(id));
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

    /// Counts an instantiation; complains when there are too many.
    pub(in crate::check) fn count_instantiation(&mut self, span: Span) -> bool {
        if self.gave_up.is_some() {
            return false;
        }
        self.instantiated += 1;
        let too_deep = self.instantiations.len() > MAX_INSTANTIATION_DEPTH;
        if too_deep || self.instantiated > MAX_INSTANTIATIONS {
            let message = match too_deep {
                true => {
                    format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}")
                }
                false => format!("more than {MAX_INSTANTIATIONS} template instantiations"),
            };
            self.give_up("template-depth", span, message);
            return false;
        }
        true
    }

    /// Makes the members and layout of a class known, where its template allows.
    pub(in crate::check) fn complete_class(&mut self, id: StructId) {
        if self.class(id).state != ClassState::Declared {
            return;
        }
        let Some((template, args)) = self.class(id).template.clone() else { return };
        let span = self.class(id).requested_at;
        let chosen = self.choose_class(template, &args, span);
        let Some(chosen) = chosen else { return };
        let name = self.types().struct_(id).name.clone();
        let message = format!("in instantiation of template class '{name}' requested here");
        // The members see the parameters: put their scope between the class and where the template stands.
        let class_scope = self.scopes.add(chosen.scope, crate::check::scope::ScopeKind::Class(id));
        self.class_mut(id).scope = class_scope;
        let is_pattern = self.class(id).is_pattern;
        if !is_pattern {
            self.instantiations.push((message, span));
        }
        let saved_pattern = std::mem::replace(&mut self.in_pattern, is_pattern);
        self.nested(span, |this| this.define_class(id, chosen.decl));
        self.in_pattern = saved_pattern;
        if !is_pattern {
            self.instantiations.pop();
        }
    }

    /// Completes a class type; other types always are.
    pub(in crate::check) fn complete_type(&mut self, ty: Ty) {
        match *self.types().kind(ty) {
            crate::types::TyKind::Struct(id) => self.complete_class(id),
            crate::types::TyKind::Array { element, .. } => self.complete_type(element),
            _ => {}
        }
    }

    fn choose_class(
        &mut self,
        id: ClassTemplateId,
        args: &[TemplateArg],
        span: Span,
    ) -> Option<Chosen<&'a ast::ClassDecl>> {
        let specializations: Vec<_> = self.class_templates[id.0 as usize]
            .specializations
            .iter()
            .map(|s| Specialization { header: s.header, args: s.args, decl: s.decl, scope: s.scope })
            .collect();
        let name = self.class_templates[id.0 as usize].name.clone();
        if !args.iter().any(TemplateArg::is_dependent)
            && let Some(chosen) = self.choose_specialization(&specializations, args, span, &name)
        {
            return chosen.decl.members.is_some().then_some(chosen);
        }
        let template = &self.class_templates[id.0 as usize];
        let (decl, header, scope) = (template.definition?, template.header, template.scope);
        let scope = self.bind_all(header, args, scope);
        Some(Chosen { decl, scope })
    }

    /// The most specialized of the specializations that fit.
    pub(in crate::check) fn choose_specialization<D: Copy>(
        &mut self,
        specializations: &[Specialization<'a, D>],
        args: &[TemplateArg],
        span: Span,
        name: &str,
    ) -> Option<Chosen<D>> {
        let mut matches: Vec<(usize, Vec<TemplateArg>)> = Vec::new();
        for (index, specialization) in specializations.iter().enumerate() {
            if let Some(bound) = self.match_specialization(specialization, args) {
                matches.push((index, bound));
            }
        }
        let mut best = None;
        for candidate in 0..matches.len() {
            let beats_all = (0..matches.len()).all(|other| {
                let (a, b) = (&specializations[matches[candidate].0], &specializations[matches[other].0]);
                candidate == other || self.is_more_specialized(a, b)
            });
            if beats_all {
                best = Some(candidate);
                break;
            }
        }
        if best.is_none() && matches.len() > 1 {
            let message = format!("ambiguous partial specializations of '{name}'");
            let mut diagnostic = Diagnostic::error("ambiguous-specialization", span, message);
            for (index, _) in matches.iter().take(4) {
                diagnostic = diagnostic.note(specializations[*index].header.span, "partial specialization matches");
            }
            self.report(diagnostic);
            best = Some(0);
        }
        let (index, bound) = matches.swap_remove(best?);
        let Specialization { header, decl, scope, .. } = specializations[index];
        let scope = self.bind_all(header, &bound, scope);
        Some(Chosen { decl, scope })
    }

    /// The arguments of a specialization's own parameters, where it fits `args`.
    pub(in crate::check) fn match_specialization<D>(
        &mut self,
        specialization: &Specialization<'a, D>,
        args: &[TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let mut deduction = Deduction::new(specialization.header, specialization.scope);
        let fits = self.deduce_args(specialization.args, args, &mut deduction);
        if !fits {
            return None;
        }
        let mut bound = Vec::with_capacity(deduction.bound.len());
        for (param, arg) in specialization.header.params.iter().zip(deduction.bound) {
            bound.push(match arg {
                Some(arg) => arg,
                None if param.is_pack => TemplateArg::Pack(Vec::new()),
                None => return None,
            });
        }
        // What could not be deduced must come out right.
        let scope = self.bind_all(specialization.header, &bound, specialization.scope);
        let substituted = self
            .attempt(|this| this.in_scope(scope, |this| this.substitute_args(specialization.args, args)))
            .ok()??;
        let wanted: Vec<TemplateArg> = args.iter().flat_map(flat).collect();
        // A pattern may leave out arguments that have defaults, but not elements of a pack.
        let has_pack = args.iter().any(|arg| matches!(arg, TemplateArg::Pack(_)));
        let enough = if has_pack { substituted.len() == wanted.len() } else { substituted.len() <= wanted.len() };
        (enough && substituted.iter().zip(&wanted).all(|(a, b)| same_arg(a, b))).then_some(bound)
    }

    /// Written arguments in the current scope, each of the kind that `like` has at its place.
    fn substitute_args(
        &mut self,
        written: &'a [ast::TemplateArg],
        like: &[TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let like: Vec<TemplateArg> = like.iter().flat_map(flat).collect();
        let mut result = Vec::new();
        for given in self.expand_given(written)? {
            let arg = match given {
                super::Given::Known(arg) => arg,
                super::Given::Written(written) => match like.get(result.len())? {
                    TemplateArg::Type(_) => TemplateArg::Type(self.type_argument(written)?),
                    TemplateArg::Int(ty, _) => match self.value_argument(written, *ty)? {
                        crate::program::Value::Int(value) => TemplateArg::Int(*ty, value),
                        _ => TemplateArg::UnknownValue,
                    },
                    other => other.clone(),
                },
            };
            result.push(arg);
        }
        Some(result)
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

fn flat(arg: &TemplateArg) -> Vec<TemplateArg> {
    match arg {
        TemplateArg::Pack(args) => args.iter().flat_map(flat).collect(),
        arg => vec![arg.clone()],
    }
}

fn same_arg(a: &TemplateArg, b: &TemplateArg) -> bool {
    match (a, b) {
        (TemplateArg::Int(_, a), TemplateArg::Int(_, b)) => a == b,
        (a, b) => a == b,
    }
}
