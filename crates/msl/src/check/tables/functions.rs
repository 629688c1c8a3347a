//! Functions and function templates.

use super::ids::EntityId;
use super::scopes::ScopeId;
use super::templates::TemplateArg;
use crate::parse::ast;
use crate::program::FunctionId;
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
use std::rc::Rc;

/// A function or function template.
pub(in crate::check) struct Entity<'a> {
    pub(in crate::check) name: SmolStr,
    /// What stands before the name in messages: `metal::`, `Tile<8>::`.
    pub(in crate::check) prefix: SmolStr,
    pub(in crate::check) source: FunctionSource<'a>,
    /// The scope it is declared in.
    pub(in crate::check) scope: ScopeId,
    /// The class it is a member of.
    pub(in crate::check) class: Option<StructId>,
    /// The parameters of a template; `None` for an ordinary function.
    pub(in crate::check) header: Option<&'a ast::TemplateHeader>,
    /// The types of an overload family of the standard library (`template <__each_floatn T> …`).
    pub(in crate::check) family: Option<Rc<[Ty]>>,
    /// For a function of the standard library without a body.
    pub(in crate::check) builtin: Option<SmolStr>,
    /// Explicit specializations.
    pub(in crate::check) specializations: Vec<(Vec<TemplateArg>, EntityId)>,
    /// The signature for each set of template arguments; `None` where substitution failed.
    pub(in crate::check) signatures: HashMap<Vec<TemplateArg>, Option<Rc<Signature<'a>>>>,
    /// The function for each set of template arguments.
    pub(in crate::check) functions: HashMap<Vec<TemplateArg>, FunctionId>,
    pub(in crate::check) access: ast::Access,
    pub(in crate::check) span: Span,
}

/// Where a function's parameters and body come from.
#[derive(Clone, Copy)]
pub(in crate::check) enum FunctionSource<'a> {
    Declared {
        /// The first declaration: default arguments, attributes.
        declaration: &'a ast::FunctionDecl,
        /// The declaration with the body, once it is seen.
        definition: Option<&'a ast::FunctionDecl>,
    },
    Lambda(&'a ast::Lambda),
}

impl<'a> FunctionSource<'a> {
    pub(in crate::check) fn params(&self) -> &'a [ast::Param] {
        match self {
            FunctionSource::Declared { declaration, .. } => &declaration.params,
            FunctionSource::Lambda(lambda) => &lambda.params,
        }
    }

    /// The declaration that holds the body, or the only one.
    pub(in crate::check) fn latest(&self) -> Option<&'a ast::FunctionDecl> {
        match self {
            FunctionSource::Declared { declaration, definition } => Some(definition.unwrap_or(declaration)),
            FunctionSource::Lambda(_) => None,
        }
    }

    pub(in crate::check) fn first(&self) -> Option<&'a ast::FunctionDecl> {
        match self {
            FunctionSource::Declared { declaration, .. } => Some(declaration),
            FunctionSource::Lambda(_) => None,
        }
    }
}

/// The parameters and result of a function, with template arguments filled in.
pub(in crate::check) struct Signature<'a> {
    pub(in crate::check) params: Vec<SignatureParam<'a>>,
    /// What it returns; `None` while `auto` is not deduced.
    pub(in crate::check) result: Option<Ty>,
    /// For a method: what `this` points to, with the qualifiers behind the parameter list.
    pub(in crate::check) this: Option<QualTy>,
    /// The scope in which template parameters are bound.
    pub(in crate::check) scope: ScopeId,
}

pub(in crate::check) struct SignatureParam<'a> {
    pub(in crate::check) ty: QualTy,
    pub(in crate::check) name: Option<&'a ast::Ident>,
    pub(in crate::check) default: Option<&'a ast::Expr>,
    /// It is a part of this parameter pack.
    pub(in crate::check) pack: Option<&'a ast::Ident>,
    pub(in crate::check) span: Span,
}

/// What the checker knows about a [`crate::program::Function`] besides what the program says.
pub(in crate::check) struct Instance<'a> {
    pub(in crate::check) entity: EntityId,
    pub(in crate::check) args: Vec<TemplateArg>,
    pub(in crate::check) signature: Rc<Signature<'a>>,
    pub(in crate::check) body: BodyState,
    /// How many instantiations led to this one.
    pub(in crate::check) depth: usize,
    /// Where it was first needed, and in which instantiation.
    pub(in crate::check) request: Option<(Span, Option<Rc<Request>>)>,
}

/// What asked for an instantiation, and what that was itself made for.
pub(in crate::check) struct Request {
    pub(in crate::check) note: String,
    pub(in crate::check) span: Span,
    pub(in crate::check) parent: Option<Rc<Request>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum BodyState {
    /// Nobody needs it yet.
    Unneeded,
    /// It is waiting in the queue.
    Queued,
    /// It is being checked right now.
    InProgress,
    Done,
}
