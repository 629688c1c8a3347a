//! Class templates and their specializations, as they are declared.

use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{
    ClassState, ClassTemplate, ClassTemplateId, Specialization, Specializations, Symbol, TemplateArg,
    native_template,
};
use crate::check::templates::new_class_instance;
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::parse::names_in::{names_in_expr, names_in_type};
use crate::source::Span;
use rustc_hash::FxHashMap as HashMap;

impl<'a> Checker<'a> {
    pub(super) fn declare_class_template(&mut self, decl: &'a ast::ClassDecl, header: &'a ast::TemplateHeader) {
        let Some(path) = &decl.name else {
            self.diagnostics.error("template", decl.span, "a class template needs a name");
            return;
        };
        let name = &path.last().name;
        let found = match path.segments.len() {
            1 => self.tables.scopes().find_in(self.position.scope(), name),
            _ => self.resolve_path(path).ok().flatten().map(|found| found.symbol),
        };
        let existing = match found {
            Some(Symbol::ClassTemplate(id)) => Some(id),
            _ => None,
        };
        refuse_duplicate_params(&mut self.diagnostics, header);
        let Some(args) = &path.last().args else {
            refuse_wrong_order(&mut self.diagnostics, header);
            return self.declare_primary_template(decl, header, path, existing);
        };
        let Some(id) = existing else {
            if found_native(name) {
                return;
            }
            let message = format!("no template named '{name}' to specialize");
            self.diagnostics.error("specialization", path.last().span, message);
            return;
        };
        let scope = self.position.scope();
        let specialization = Specialization { header, args, decl, scope };
        if header.params.is_empty() {
            let args = self.refuse_late_specialization(id, args, path.span);
            if args.as_deref().is_none_or(|args| self.refuse_second_specialization(id, args, decl, path)) {
                self.tables.class_template_mut(id).specializations.add(args.as_deref(), specialization);
            }
        } else {
            check_specialization_params(&mut self.diagnostics, header, args);
            let primary = &self.tables.class_template(id).header.params;
            let is_primary = header.params.len() == args.len()
                && primary.len() == args.len()
                && !primary.iter().any(|param| param.is_pack)
                && header.params.iter().zip(args).all(|(param, arg)| names_param(param, arg));
            if is_primary {
                let message = "class template partial specialization does not specialize any template argument; to define \
                               the primary template, remove the template argument list";
                self.diagnostics.error("specialization", path.span, message);
                return;
            }
            self.tables.class_template_mut(id).specializations.add(None, specialization);
        }
    }

    /// An explicit specialization is defined once. Returns true if this declaration is to be used from now on.
    fn refuse_second_specialization(
        &mut self,
        id: ClassTemplateId,
        args: &[TemplateArg],
        decl: &'a ast::ClassDecl,
        path: &'a ast::Path,
    ) -> bool {
        let template = self.tables.class_template(id);
        let earlier = template.specializations.explicit(args).filter(|earlier| earlier.decl.members.is_some());
        let Some(earlier) = earlier else { return true };
        if decl.members.is_some() {
            let message = format!("redefinition of '{}{}'", template.name, self.tables.args_text(args));
            let diagnostic = Diagnostic::error("redefinition", path.span, message);
            self.diagnostics.report(diagnostic.note(earlier.decl.span, "previous definition is here"));
        }
        false
    }

    /// An explicit specialization must come before the first use, which would instantiate the class. Returns its
    /// arguments.
    fn refuse_late_specialization(
        &mut self,
        id: ClassTemplateId,
        args: &'a [ast::TemplateArg],
        span: Span,
    ) -> Option<Vec<TemplateArg>> {
        let template = self.tables.class_template(id);
        let mut headers = vec![template.header];
        headers.extend(&template.other_headers);
        let (scope, name) = (template.scope, template.name.clone());
        let args = self.fit_template_args(&headers, scope, args, span, &name)?;
        let instance = self.tables.class_template(id).instances.get(&args).copied();
        if let Some(instance) = instance
            && self.tables.class(instance).state == ClassState::Complete
        {
            let message = format!(
                "explicit specialization of '{}' after instantiation",
                self.tables.types().struct_(instance).name
            );
            let diagnostic = Diagnostic::error("specialization", span, message);
            let at = self.tables.class(instance).requested_at;
            self.diagnostics.report(diagnostic.note(at, "implicit instantiation first required here"));
        }
        Some(args)
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
                let first = self.tables.class_template(id).header;
                refuse_other_header(&mut self.diagnostics, first, header);
                let template = self.tables.class_template_mut(id);
                if decl.members.is_some() {
                    if let Some(previous) = template.definition {
                        let diagnostic =
                            Diagnostic::error("redefinition", path.span, format!("redefinition of '{name}'"));
                        self.diagnostics.report(diagnostic.note(previous.span, "previous definition is here"));
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
                let id = self.tables.add_class_template(ClassTemplate {
                    name: name.clone(),
                    scope: self.position.scope(),
                    header,
                    other_headers: Vec::new(),
                    definition,
                    specializations: Specializations::default(),
                    instances: HashMap::default(),
                    outside_members: Vec::new(),
                    outside_values: Vec::new(),
                    span: path.span,
                });
                self.insert_once(name, Symbol::ClassTemplate(id), path.span);
                id
            }
        };
        if decl.members.is_some() && !self.tables.is_in_stdlib(decl.span) {
            self.check_class_pattern(id, header, decl.span);
        }
    }

    /// Checks a class template as written, with its parameters unknown.
    fn check_class_pattern(&mut self, id: ClassTemplateId, header: &'a ast::TemplateHeader, span: Span) {
        let args: Vec<TemplateArg> = self.tables.unknown_args(header);
        if args.is_empty() {
            return;
        }
        let Some(pattern) = new_class_instance(&mut self.tables, &mut self.diagnostics, id, args, span) else {
            return;
        };
        self.complete_class(pattern);
    }
}

/// The parameters behind one with a default have defaults, and a pack is the last one.
fn refuse_wrong_order(diagnostics: &mut Diagnostics, header: &ast::TemplateHeader) {
    let mut has_default = false;
    for (index, param) in header.params.iter().enumerate() {
        if has_default && !param.has_default() && !param.is_pack {
            let message = "template parameter missing a default argument";
            diagnostics.error("template", param.span, message);
        }
        has_default |= param.has_default();
        if param.is_pack && index + 1 < header.params.len() {
            let message = "template parameter pack must be the last template parameter";
            diagnostics.error("template", param.span, message);
        }
    }
}

/// Two declarations of a class template have the same parameters, and give each default once.
fn refuse_other_header(diagnostics: &mut Diagnostics, first: &ast::TemplateHeader, second: &ast::TemplateHeader) {
    use ast::TemplateParamKind::{Template, Type, Value};
    let mut refuse = |span: Span, message: &str| {
        let diagnostic = Diagnostic::error("redefinition", span, message);
        diagnostics.report(diagnostic.note(first.span, "previous template declaration is here"));
    };
    if first.params.len() != second.params.len() {
        let few = if second.params.len() < first.params.len() { "few" } else { "many" };
        return refuse(second.span, &format!("too {few} template parameters in template redeclaration"));
    }
    for (old, new) in first.params.iter().zip(&second.params) {
        let same = match (&old.kind, &new.kind) {
            (Type { .. }, Type { .. }) | (Value { .. }, Value { .. }) | (Template { .. }, Template { .. }) => {
                old.is_pack == new.is_pack
            }
            _ => false,
        };
        if !same {
            refuse(new.span, "template parameter has a different kind in template redeclaration");
        } else if old.has_default() && new.has_default() {
            refuse(new.span, "template parameter redefines default argument");
        }
    }
}

/// `template <typename T, typename T>`, `template <float N>`
pub(in crate::check) fn refuse_duplicate_params(diagnostics: &mut Diagnostics, header: &ast::TemplateHeader) {
    for (index, param) in header.params.iter().enumerate() {
        if let ast::TemplateParamKind::Value { ty, .. } = &param.kind
            && let ast::TypeExprKind::Builtin(builtin) = &ty.kind
            && let Some(float) = float_name(*builtin)
        {
            let message = format!("a non-type template parameter cannot have type '{float}' before C++20");
            diagnostics.error("template", param.span, message);
        }
        let Some(name) = &param.name else { continue };
        let earlier = header.params[..index].iter().filter_map(|p| p.name.as_ref()).find(|n| n.name == name.name);
        if let Some(earlier) = earlier {
            let message = format!("redefinition of '{}'", name.name);
            let diagnostic = Diagnostic::error("redefinition", name.span, message);
            diagnostics.report(diagnostic.note(earlier.span, "template parameter is declared here"));
        }
    }
}

fn float_name(ty: ast::BuiltinType) -> Option<&'static str> {
    match ty {
        ast::BuiltinType::Float => Some("float"),
        ast::BuiltinType::Half => Some("half"),
        ast::BuiltinType::BFloat => Some("bfloat"),
        _ => None,
    }
}

/// Every parameter of a partial specialization must occur in its arguments.
fn check_specialization_params(
    diagnostics: &mut Diagnostics,
    header: &ast::TemplateHeader,
    args: &[ast::TemplateArg],
) {
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
            diagnostics.error("specialization", name.span, message);
        }
    }
}

/// True for native templates: specializations of them, as in third-party copies of Apple's headers, are ignored.
fn found_native(name: &str) -> bool {
    native_template(name).is_some()
}

/// True if the argument is just the parameter's name.
fn names_param(param: &ast::TemplateParam, arg: &ast::TemplateArg) -> bool {
    let path = match arg {
        ast::TemplateArg::Type(ast::TypeExpr { kind: ast::TypeExprKind::Named(path), .. }) => path,
        ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) => path,
        _ => return false,
    };
    !param.is_pack && path.as_ident().is_some_and(|name| param.name.as_ref().is_some_and(|p| p.name == *name))
}
