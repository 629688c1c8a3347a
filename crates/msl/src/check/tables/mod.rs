//! The tables: everything that is declared.

mod classes;
mod functions;
mod ids;
mod scopes;
mod templates;

pub(super) use classes::{Class, ClassState, Closure};
pub(super) use functions::{BodyState, Entity, FunctionSource, Instance, Request, Signature, SignatureParam};
pub(super) use ids::{AliasTemplateId, ClassTemplateId, EntityId, VarTemplateId};
pub(super) use scopes::{ScopeId, ScopeKind, Scopes, Symbol};
pub(super) use templates::{AliasTemplate, ClassTemplate, Specialization, TemplateArg, VarTemplate};
