//! Functions and function templates.

use super::Tables;
use super::ids::EntityId;
use super::scopes::ScopeId;
use super::templates::TemplateArg;
use crate::parse::ast;
use crate::program::{Function, FunctionId};
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
use std::rc::Rc;

/// A function or function template.
pub(in crate::check) struct Entity<'a> {
    pub(in crate::check) name: SmolStr,
    /// Qualifier of the name in messages: `metal::`, `Tile<8>::`.
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

/// Origin of a function's parameters and body.
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

    /// The written result type.
    pub(in crate::check) fn result(&self) -> Option<&'a ast::TypeExpr> {
        match self {
            FunctionSource::Declared { declaration, .. } => Some(&declaration.result),
            FunctionSource::Lambda(lambda) => lambda.result.as_ref(),
        }
    }
}

/// The parameters and result of a function, with template arguments filled in.
pub(in crate::check) struct Signature<'a> {
    pub(in crate::check) params: Vec<SignatureParam<'a>>,
    /// Result type; `None` while `auto` is not deduced.
    pub(in crate::check) result: Option<Ty>,
    /// For a method: the type behind `this`, with the qualifiers after the parameter list.
    pub(in crate::check) this: Option<QualTy>,
    /// The scope in which template parameters are bound.
    pub(in crate::check) scope: ScopeId,
}

pub(in crate::check) struct SignatureParam<'a> {
    pub(in crate::check) ty: QualTy,
    pub(in crate::check) name: Option<&'a ast::Ident>,
    pub(in crate::check) default: Option<&'a ast::Expr>,
    /// The parameter pack that it is part of.
    pub(in crate::check) pack: Option<&'a ast::Ident>,
    pub(in crate::check) span: Span,
}

/// Facts about a [`crate::program::Function`] that are not in the program.
pub(in crate::check) struct Instance<'a> {
    pub(in crate::check) entity: EntityId,
    pub(in crate::check) args: Vec<TemplateArg>,
    pub(in crate::check) signature: Rc<Signature<'a>>,
    pub(in crate::check) body: BodyState,
    /// Number of instantiations that led to this one.
    pub(in crate::check) depth: usize,
    /// The place that needed it first, and the instantiation around that place.
    pub(in crate::check) request: Option<(Span, Option<Rc<Request>>)>,
}

/// An instantiation, with the one that needed it.
pub(in crate::check) struct Request {
    pub(in crate::check) note: String,
    pub(in crate::check) span: Span,
    pub(in crate::check) parent: Option<Rc<Request>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum BodyState {
    /// Not needed yet.
    Unneeded,
    /// It is waiting in the queue.
    Queued,
    /// It is being checked right now.
    InProgress,
    Done,
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn entity(&self, id: EntityId) -> &Entity<'a> {
        &self.entities[id.0 as usize]
    }

    pub(in crate::check) fn entity_mut(&mut self, id: EntityId) -> &mut Entity<'a> {
        &mut self.entities[id.0 as usize]
    }

    /// The entity of a function; a synthetic function has none.
    pub(in crate::check) fn find_entity(&self, id: EntityId) -> Option<&Entity<'a>> {
        self.entities.get(id.0 as usize)
    }

    pub(in crate::check) fn add_entity(&mut self, entity: Entity<'a>) -> EntityId {
        self.entities.push(entity);
        EntityId(self.entities.len() as u32 - 1)
    }

    pub(in crate::check) fn function(&self, id: FunctionId) -> &Function {
        self.program.function(id)
    }

    pub(in crate::check) fn function_mut(&mut self, id: FunctionId) -> &mut Function {
        &mut self.program.functions[id.0 as usize]
    }

    pub(in crate::check) fn instance(&self, id: FunctionId) -> &Instance<'a> {
        &self.instances[id.0 as usize]
    }

    pub(in crate::check) fn instance_mut(&mut self, id: FunctionId) -> &mut Instance<'a> {
        &mut self.instances[id.0 as usize]
    }

    pub(in crate::check) fn add_function(&mut self, function: Function, instance: Instance<'a>) -> FunctionId {
        self.program.functions.push(function);
        self.instances.push(instance);
        debug_assert_eq!(self.program.functions.len(), self.instances.len());
        FunctionId(self.instances.len() as u32 - 1)
    }

    /// Adds a function without a declaration.
    pub(in crate::check) fn add_synthetic_function(&mut self, function: Function, depth: usize) -> FunctionId {
        let signature =
            Rc::new(Signature { params: Vec::new(), result: Some(Ty::VOID), this: None, scope: ScopeId::GLOBAL });
        let entity = EntityId(u32::MAX);
        let body = BodyState::Done;
        self.add_function(function, Instance { entity, args: Vec::new(), signature, body, depth, request: None })
    }

    /// The function that fills `class` from the fields that are `given`.
    pub(in crate::check) fn aggregate_constructor(&self, class: StructId, given: &[bool]) -> Option<FunctionId> {
        self.aggregate_constructors.get(&(class, given.to_vec())).copied()
    }

    pub(in crate::check) fn add_aggregate_constructor(&mut self, class: StructId, given: &[bool], id: FunctionId) {
        self.aggregate_constructors.insert((class, given.to_vec()), id);
    }

    /// The next function whose body is needed.
    pub(in crate::check) fn next_body(&mut self) -> Option<FunctionId> {
        self.queue.pop_front()
    }

    /// First calls between functions.
    pub(in crate::check) fn call_sites(&self) -> &HashMap<(FunctionId, FunctionId), Span> {
        &self.call_sites
    }

    pub(in crate::check) fn add_call_site(&mut self, caller: FunctionId, callee: FunctionId, span: Span) {
        self.call_sites.entry((caller, callee)).or_insert(span);
    }

    /// True if the name of this call was not declared where its template is.
    pub(in crate::check) fn is_late_call(&self, span: Span) -> bool {
        self.late_calls.contains(&span)
    }

    pub(in crate::check) fn add_late_call(&mut self, span: Span) {
        self.late_calls.insert(span);
    }

    /// Puts a function's body into the queue, unless it was there before. Deep instantiations come first: templates
    /// that need two others each, without an end, then reach the limit of the depth soon, as in clang.
    pub(in crate::check) fn need_body(&mut self, id: FunctionId) {
        const DEEP: usize = 12;
        let instance = self.instance_mut(id);
        if instance.body != BodyState::Unneeded {
            return;
        }
        instance.body = BodyState::Queued;
        match instance.depth > DEEP {
            true => self.queue.push_front(id),
            false => self.queue.push_back(id),
        }
    }

    pub(in crate::check) fn set_definition(&mut self, entity: EntityId, function: &'a ast::FunctionDecl) {
        let entity = self.entity_mut(entity);
        if let FunctionSource::Declared { definition, .. } = &mut entity.source {
            *definition = Some(function);
        }
        entity.builtin = None;
        // Functions that were called before the body was known wait for it.
        let mut waiting: Vec<FunctionId> = entity.functions.values().copied().collect();
        waiting.sort();
        for id in waiting {
            if self.instance(id).body == BodyState::Done && self.function(id).body.is_none() {
                self.instance_mut(id).body = BodyState::Queued;
                self.queue.push_back(id);
            }
        }
    }

    /// The explicit specialization of a function template for these arguments.
    pub(in crate::check) fn specialization_of(&self, entity: EntityId, args: &[TemplateArg]) -> Option<EntityId> {
        self.entity(entity).specializations.iter().find(|(of, _)| of == args).map(|(_, by)| *by)
    }

    /// The type `R (*)(P…)` of a function.
    pub(in crate::check) fn function_pointer_type(&mut self, id: FunctionId) -> Ty {
        let function = self.function(id);
        let params = function.params.iter().map(|p| function.locals[p.0 as usize].ty.ty).collect();
        let kind = TyKind::Function { result: function.result, params };
        let ty = self.types_mut().intern(kind);
        self.types_mut().pointer(QualTy::plain(ty))
    }
}
