//! Arguments of class templates, deduced from those of a constructor: `tensor(data, extents)`.
//!
//! The deduction guides of a class template `tensor` are functions `__deduce_tensor`, whose results are the types to
//! construct: headers write them so, and the parser reads `tensor(T) -> tensor<T>` so. From Metal 4 on, which has
//! C++17, the constructors of any class template are guides, too.

use super::overload::CallSite;
use crate::check::Checker;
use crate::check::declarations::type_without_qualifiers;
use crate::check::expressions::Operand;
use crate::check::tables::{ClassTemplateId, Entity, EntityId, FunctionSource, Symbol};
use crate::parse::GUIDE;
use crate::parse::ast::{self, Access, DeclKind, FunctionKind, TypeExprKind};
use crate::preprocess::LanguageVersion;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, Ty};
use rustc_hash::FxHashMap as HashMap;

impl<'a> Checker<'a> {
    /// `T(args)`, if `T` is a class template with guides that is named without arguments.
    pub(super) fn check_deduced_construction(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ast::ExprKind::Path(path) = &callee.kind else { return None };
        self.deduced_construction(path, args, span)
    }

    /// `T{args}` of such a template.
    pub(in crate::check) fn check_deduced_list(
        &mut self,
        ty: &'a ast::TypeExpr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let TypeExprKind::Named(path) = &ty.kind else { return None };
        if !self.has_deduction() {
            return None;
        }
        let (template, guides) = self.guides_of(path)?;
        let operands = self.attempt(|this| this.check_args(args));
        // Mistakes in the arguments are reported by the initialization.
        let ty = match operands {
            Ok(operands) => self.deduced_type(template, &guides, &operands, path.span),
            Err(_) => Ty::DEPENDENT,
        };
        Some(self.list_initialize_exprs(QualTy::plain(ty), args, span))
    }

    fn deduced_construction(&mut self, path: &'a ast::Path, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let (template, guides) = self.guides_of(path)?;
        let operands = self.check_args(args);
        let ty = self.deduced_type(template, &guides, &operands, path.span);
        Some(match self.tables.types().struct_id(ty) {
            Some(class) => {
                self.complete_class(class);
                self.construct_operands(class, operands, span)
            }
            None => Expr::value(ExprKind::Error, ty, span),
        })
    }

    /// The type of `T x(args);` and kin, if `T` is such a template.
    pub(in crate::check) fn deduced_variable_type(&mut self, var: &'a ast::VarDecl) -> Option<QualTy> {
        let init = var.init.as_ref()?;
        let TypeExprKind::Named(path) = type_without_qualifiers(&var.ty) else { return None };
        if !self.has_deduction() {
            return None;
        }
        let (template, guides) = self.guides_of(path)?;
        // The initializer is checked again for the type; its mistakes are reported then.
        let operands = self.attempt(|this| match init {
            ast::Init::Equal(ast::Expr { kind: ast::ExprKind::InitList(items), .. }) => {
                items.iter().map(|item| this.check_operand(&item.value)).collect()
            }
            ast::Init::Equal(value) => vec![this.check_operand(value)],
            ast::Init::Paren(args, _) | ast::Init::Brace(args, _) => this.check_args(args),
        });
        let mut ty = QualTy::plain(self.deduced_type(template, &guides, &operands.ok()?, path.span));
        let mut written = &var.ty;
        while let TypeExprKind::Qualified { quals, inner } = &written.kind {
            ty.is_const |= quals.is_const;
            ty.is_volatile |= quals.is_volatile;
            ty.coherence = ty.coherence.max(quals.coherence);
            ty.space = ty.space.or(quals.space);
            written = inner;
        }
        Some(ty)
    }

    /// True from the version on that is based on C++17.
    fn has_deduction(&self) -> bool {
        self.tables.std() >= LanguageVersion::new(4, 0)
    }

    /// The class template that a path names without arguments, and its guides, if it has any.
    fn guides_of(&mut self, path: &'a ast::Path) -> Option<(ClassTemplateId, Guides)> {
        if path.last().args.is_some() {
            return None;
        }
        let Symbol::ClassTemplate(id) = self.attempt(|this| this.resolve_path(path)).ok()?.ok()??.symbol else {
            return None;
        };
        let template = self.tables.class_template(id);
        let (scope, name) = (template.scope, template.name.clone());
        let written = match self.tables.scopes().find_in(scope, &format!("{GUIDE}{name}")) {
            Some(Symbol::Functions(guides)) => guides,
            _ => Vec::new(),
        };
        let implied = if self.has_deduction() { self.constructor_guides(id) } else { Vec::new() };
        let guides = Guides { written, implied };
        (!guides.written.is_empty() || !guides.implied.is_empty()).then_some((id, guides))
    }

    /// The constructors of a class template, as functions with its parameters.
    fn constructor_guides(&mut self, id: ClassTemplateId) -> Vec<EntityId> {
        if let Some(known) = self.tables.constructor_guides(id) {
            return known.to_vec();
        }
        let template = self.tables.class_template(id);
        let (name, scope, header) = (template.name.clone(), template.scope, template.header);
        let members = template.definition.and_then(|decl| decl.members.as_ref());
        let constructors = members.into_iter().flatten().filter_map(|member| match &member.kind {
            DeclKind::Function(function) if matches!(function.kind, FunctionKind::Constructor) => Some(function),
            _ => None,
        });
        let constructors: Vec<&'a ast::FunctionDecl> = constructors.collect();
        let guides: Vec<EntityId> = constructors
            .into_iter()
            .map(|declaration| {
                let header = declaration.guide.as_ref().unwrap_or(header);
                self.tables.add_entity(Entity {
                    name: name.clone(),
                    prefix: Default::default(),
                    source: FunctionSource::Declared { declaration, definition: None },
                    scope,
                    class: None,
                    header: Some(header),
                    family: None,
                    builtin: None,
                    specializations: Vec::new(),
                    signatures: HashMap::default(),
                    functions: HashMap::default(),
                    access: Access::Public,
                    span: declaration.name.last().span,
                })
            })
            .collect();
        self.tables.set_constructor_guides(id, guides.clone());
        guides
    }

    fn deduced_type(
        &mut self,
        template: ClassTemplateId,
        guides: &Guides,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Ty {
        if operands.iter().any(|operand| self.tables.is_dependent_operand(operand)) {
            return Ty::DEPENDENT;
        }
        // `T(other)` is a copy.
        if let [Operand::Value(only)] = operands
            && let Some(class) = self.tables.types().struct_id(only.ty.ty)
            && self.tables.class(class).template.as_ref().is_some_and(|(of, _)| *of == template)
        {
            return only.ty.ty;
        }
        let name = self.tables.class_template(template).name.clone();
        let site = CallSite { name: &name, explicit: None, object: None, is_constructor: true, span };
        let all = [&guides.written[..], &guides.implied].concat();
        // Of guides that fit equally, a written one is better than a constructor.
        let chosen = match self.attempt(|this| this.choose(&all, &site, operands)) {
            Ok(chosen) => chosen,
            Err(_) => match self.attempt(|this| this.choose(&guides.written, &site, operands)) {
                Ok(Some(chosen)) => Some(chosen),
                _ => self.choose(&all, &site, operands),
            },
        };
        let Some(candidate) = chosen else { return Ty::ERROR };
        if !guides.written.contains(&candidate.entity) {
            // The first template arguments of a constructor are those of the class.
            let mut args = candidate.args;
            args.truncate(self.tables.class_template(template).header.params.len());
            return self.class_instance(template, args, span).ty;
        }
        let result = candidate.signature.result.unwrap_or(Ty::ERROR);
        let class = self.tables.types().struct_id(result);
        let of = class.and_then(|class| self.tables.class(class).template.as_ref().map(|(of, _)| *of));
        if of != Some(template) && !result.is_unknown() {
            let message = format!(
                "deduced type '{}' of deduction guide is not written as a specialization of template '{name}'",
                self.tables.name_of(result)
            );
            let guide = self.tables.entity(candidate.entity).span;
            self.diagnostics.error("deduction-guide", guide, message);
            return Ty::ERROR;
        }
        result
    }
}

/// Functions that say from which arguments a class template is deduced.
struct Guides {
    written: Vec<EntityId>,
    /// Constructors.
    implied: Vec<EntityId>,
}
