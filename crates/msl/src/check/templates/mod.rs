//! Templates: what they are, how arguments fit their parameters, and what they make.

mod arguments;
mod deduce;
mod instantiate;
mod ordering;

use super::scope::ScopeId;
use super::{Checker, TemplateArg};
use crate::parse::ast;
use crate::program::GlobalId;
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

pub(super) use arguments::Given;
pub(super) use deduce::{Deduction, Match};
pub(super) use ordering::MADE_UP;

/// A class template.
pub(super) struct ClassTemplate<'a> {
    pub(super) name: SmolStr,
    /// The scope it is declared in.
    pub(super) scope: ScopeId,
    /// Its parameters, as the definition names them once it is seen.
    pub(super) header: &'a ast::TemplateHeader,
    /// Other declarations, which may hold default arguments.
    pub(super) other_headers: Vec<&'a ast::TemplateHeader>,
    /// The definition.
    pub(super) definition: Option<&'a ast::ClassDecl>,
    pub(super) specializations: Vec<Specialization<'a, &'a ast::ClassDecl>>,
    pub(super) instances: HashMap<Vec<TemplateArg>, StructId>,
    /// Members defined outside the class.
    pub(super) outside_members: Vec<&'a ast::FunctionDecl>,
    pub(super) span: Span,
}

impl ClassTemplate<'_> {
    pub(super) fn all_params_have_defaults(&self) -> bool {
        self.header.params.iter().enumerate().all(|(index, param)| {
            let has_default = |p: &ast::TemplateParam| match &p.kind {
                ast::TemplateParamKind::Type { default } => default.is_some(),
                ast::TemplateParamKind::Value { default, .. } => default.is_some(),
                ast::TemplateParamKind::Template { default, .. } => default.is_some(),
            };
            let elsewhere =
                self.other_headers.iter().filter_map(|header| header.params.get(index)).any(has_default);
            param.is_pack || has_default(param) || elsewhere
        })
    }
}

/// A partial or explicit specialization: `header` has no parameters for an explicit one.
pub(super) struct Specialization<'a, D> {
    pub(super) header: &'a ast::TemplateHeader,
    pub(super) args: &'a [ast::TemplateArg],
    pub(super) decl: D,
    pub(super) scope: ScopeId,
}

/// An alias template.
pub(super) struct AliasTemplate<'a> {
    pub(super) decl: &'a ast::AliasDecl,
    pub(super) header: &'a ast::TemplateHeader,
    pub(super) scope: ScopeId,
    pub(super) instances: HashMap<Vec<TemplateArg>, QualTy>,
}

/// A variable template.
pub(super) struct VarTemplate<'a> {
    pub(super) name: SmolStr,
    pub(super) decl: &'a ast::VarDecl,
    pub(super) header: &'a ast::TemplateHeader,
    pub(super) scope: ScopeId,
    pub(super) specializations: Vec<Specialization<'a, &'a ast::VarDecl>>,
    pub(super) instances: HashMap<Vec<TemplateArg>, Option<GlobalId>>,
}

impl TemplateArg {
    /// It depends on a parameter that is not known yet.
    pub(super) fn is_dependent(&self) -> bool {
        match self {
            TemplateArg::Type(ty) => ty.ty == Ty::DEPENDENT,
            TemplateArg::UnknownValue => true,
            TemplateArg::Pack(args) => args.iter().any(TemplateArg::is_dependent),
            TemplateArg::Int(..) | TemplateArg::Function(_) | TemplateArg::Template(_) => false,
        }
    }
}

impl<'a> Checker<'a> {
    /// `<float, 4>`, as one would write it.
    pub(super) fn args_text(&self, args: &[TemplateArg]) -> String {
        format!("<{}>", self.args_list(args))
    }

    fn args_list(&self, args: &[TemplateArg]) -> String {
        let mut texts = Vec::new();
        for arg in args {
            match arg {
                TemplateArg::Pack(args) if args.is_empty() => {}
                TemplateArg::Pack(args) => texts.push(self.args_list(args)),
                arg => texts.push(self.arg_text(arg)),
            }
        }
        texts.join(", ")
    }

    pub(super) fn arg_text(&self, arg: &TemplateArg) -> String {
        match arg {
            TemplateArg::Type(ty) => self.name_of_qual(*ty),
            TemplateArg::Int(Ty::BOOL, value) => (*value != 0).to_string(),
            TemplateArg::Int(ty, value) => match self.types().enum_id(*ty) {
                Some(id) => {
                    let definition = self.types().enum_(id);
                    match definition.enumerators.iter().find(|(_, v)| v == value) {
                        Some((name, _)) => format!("{}::{name}", definition.name),
                        None => value.to_string(),
                    }
                }
                None => value.to_string(),
            },
            TemplateArg::UnknownValue => "<dependent>".into(),
            TemplateArg::Function(id) => self.program.function(*id).name.to_string(),
            TemplateArg::Template(id) => self.class_templates[id.0 as usize].name.to_string(),
            TemplateArg::Pack(args) => self.args_list(args),
        }
    }
}
