//! Instances of templates: classes, types and variables for given arguments.

use super::complete::count_instantiation;
use crate::check::Checker;
use crate::check::names::{DEPENDENT, ERROR};
use crate::check::state::Diagnostics;
use crate::check::tables::{AliasTemplate, AliasTemplateId, ClassTemplateId, Tables, TemplateArg, VarTemplateId};
use crate::parse::ast;
use crate::program::GlobalId;
use crate::source::Span;
use crate::types::{QualTy, StructId};

impl<'a> Checker<'a> {
    /// `name<args>` for a class template.
    pub(in crate::check) fn class_template_type(
        &mut self,
        id: ClassTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> QualTy {
        let template = self.tables.class_template(id);
        let mut headers = vec![template.header];
        headers.extend(&template.other_headers);
        let (scope, name) = (template.scope, template.name.clone());
        let Some(args) = self.fit_template_args(&headers, scope, args, span, &name) else { return ERROR };
        class_instance_type(&mut self.tables, &mut self.diagnostics, id, args, span)
    }

    /// The instance of a class template with these arguments.
    pub(in crate::check) fn class_instance(
        &mut self,
        id: ClassTemplateId,
        args: Vec<TemplateArg>,
        span: Span,
    ) -> QualTy {
        class_instance_type(&mut self.tables, &mut self.diagnostics, id, args, span)
    }

    /// `name<args>` for an alias template.
    pub(in crate::check) fn alias_template_type(
        &mut self,
        id: AliasTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> QualTy {
        let &AliasTemplate { decl, header, scope, .. } = self.tables.alias_template(id);
        let Some(args) = self.fit_template_args(&[header], scope, args, span, &decl.name.name) else {
            return ERROR;
        };
        if let Some(known) = self.tables.alias_template(id).instances.get(&args) {
            return *known;
        }
        if !count_instantiation(&mut self.tables, &mut self.diagnostics, span) {
            return ERROR;
        }
        let scope = self.bind_all(header, &args, scope);
        let before = self.diagnostics.mark();
        let message = format!("in instantiation of template type alias '{}' requested here", decl.name.name);
        self.diagnostics.enter_instantiation(message, span);
        let ty = self.in_scope(scope, |this| this.resolve_type(&decl.ty));
        self.diagnostics.leave_instantiation();
        // A failed substitution must be reported each time.
        if self.diagnostics.is_unchanged_since(before) {
            self.tables.alias_template_mut(id).instances.insert(args, ty);
        }
        ty
    }

    /// `name<args>` for a variable template: `None` after an error, `Some(None)` while arguments are not known.
    pub(in crate::check) fn var_template_instance(
        &mut self,
        id: VarTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> Option<Option<GlobalId>> {
        let template = self.tables.var_template(id);
        let (header, scope, name) = (template.header, template.scope, template.name.clone());
        let args = self.fit_template_args(&[header], scope, args, span, &name)?;
        if args.iter().any(TemplateArg::is_dependent) {
            return Some(None);
        }
        if let Some(known) = self.tables.var_template(id).instances.get(&args) {
            return known.map(Some);
        }
        if !count_instantiation(&mut self.tables, &mut self.diagnostics, span) {
            return None;
        }
        let specializations = &self.tables.var_template(id).specializations;
        let (decl, scope) = match specializations.explicit(&args) {
            Some(explicit) => (explicit.decl, self.bind_all(explicit.header, &[], explicit.scope)),
            None => {
                let others = specializations.others().to_vec();
                match self.choose_specialization(&others, &args, span, &name) {
                    Some(chosen) => (chosen.decl, chosen.scope),
                    None => (self.tables.var_template(id).decl, self.bind_all(header, &args, scope)),
                }
            }
        };
        let full_name = format!("{name}{}", self.tables.args_text(&args));
        let message = format!("in instantiation of variable template specialization '{full_name}' requested here");
        self.diagnostics.enter_instantiation(message, span);
        let global = self.in_scope(scope, |this| this.declare_global(decl, full_name.into()));
        self.diagnostics.leave_instantiation();
        self.tables.var_template_mut(id).instances.insert(args, global);
        global.map(Some)
    }
}

/// A new instance, not complete yet.
pub(in crate::check) fn new_class_instance(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    id: ClassTemplateId,
    args: Vec<TemplateArg>,
    span: Span,
) -> Option<StructId> {
    if !count_instantiation(tables, diagnostics, span) {
        return None;
    }
    let template = tables.class_template(id);
    let name = format!("{}{}", template.name, tables.args_text(&args)).into();
    let (scope, declared) = (template.scope, template.span);
    let struct_id = tables.add_class(name, declared, scope);
    let class = tables.class_mut(struct_id);
    class.template = Some((id, args.clone()));
    class.requested_at = span;
    class.is_pattern = args.iter().any(TemplateArg::is_dependent);
    tables.class_template_mut(id).instances.insert(args, struct_id);
    Some(struct_id)
}

fn class_instance_type(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    id: ClassTemplateId,
    args: Vec<TemplateArg>,
    span: Span,
) -> QualTy {
    // `Tile<N - 1>` and `Tile<N>` look the same while N is unknown.
    if args.iter().any(TemplateArg::is_dependent) {
        return DEPENDENT;
    }
    let known = tables.class_template(id).instances.get(&args).copied();
    match known {
        Some(instance) => QualTy::plain(tables.struct_type(instance)),
        None => new_class_instance(tables, diagnostics, id, args, span)
            .map_or(ERROR, |id| QualTy::plain(tables.struct_type(id))),
    }
}
