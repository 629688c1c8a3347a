//! A lambda without captures converts to a pointer to a function with its parameters and result.

use super::operand::Operand;
use crate::check::Checker;
use crate::check::tables::{Entity, EntityId, FunctionSource, Signature, SignatureParam};
use crate::parse::ast;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{StructId, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// The function that a closure of type `class` becomes as a `to`, if it does.
    pub(in crate::check) fn lambda_as_function(
        &mut self,
        class: StructId,
        to: Ty,
        span: Span,
    ) -> Option<(EntityId, FunctionId)> {
        let call = self.tables.class(class).closure.as_ref()?.call?;
        let FunctionSource::Lambda(lambda) = self.tables.entity(call).source else { return None };
        let has_captures = lambda.default_capture.is_some() || !lambda.captures.is_empty();
        let pointee = self.tables.types().pointee(to).filter(|_| !has_captures)?;
        let TyKind::Function { result, params } = self.tables.types().kind(pointee.ty).clone() else { return None };
        if lambda.params.len() != params.len() {
            return None;
        }
        // `auto` parameters take the types of the pointer's.
        let probes: Vec<Operand<'a>> =
            params.iter().map(|&ty| Operand::Value(Expr::value(ExprKind::Error, ty, span))).collect();
        let (args, signature) = self.lambda_signature(call, lambda, &probes).ok()?;
        if !signature.params.iter().zip(&params).all(|(param, &ty)| param.ty.ty == ty) {
            return None;
        }
        let entity = self.function_of_lambda(class, lambda, span);
        let signature = Rc::new(without_this(&signature));
        self.tables.entity_mut(entity).signatures.insert(args.clone(), Some(signature.clone()));
        let id = self.function_for(entity, args, signature);
        let actual = self.result_of(id, span);
        (actual == result || actual.is_unknown()).then_some((entity, id))
    }

    /// The entity beside the call operator that has no object.
    fn function_of_lambda(&mut self, class: StructId, lambda: &'a ast::Lambda, span: Span) -> EntityId {
        let known = self.tables.class(class).closure.as_ref().and_then(|closure| closure.function);
        if let Some(entity) = known {
            return entity;
        }
        let entity = self.tables.add_entity(Entity {
            name: SmolStr::new_static("__invoke"),
            prefix: SmolStr::new_static("(lambda)::"),
            source: FunctionSource::Lambda(lambda),
            scope: self.tables.class(class).scope,
            class: Some(class),
            header: None,
            family: None,
            builtin: None,
            specializations: Vec::new(),
            signatures: HashMap::default(),
            functions: HashMap::default(),
            access: ast::Access::Public,
            span,
        });
        if let Some(closure) = &mut self.tables.class_mut(class).closure {
            closure.function = Some(entity);
        }
        entity
    }

    /// The value of the pointer.
    pub(in crate::check) fn pointer_to_lambda(&mut self, id: FunctionId, to: Ty, span: Span) -> Expr {
        if !self.position.in_pattern() {
            self.request(id, span);
            self.tables.need_body(id);
        }
        Expr::value(ExprKind::Function(id), to, span)
    }
}

fn without_this<'a>(signature: &Signature<'a>) -> Signature<'a> {
    let params = signature.params.iter().map(|param| SignatureParam {
        ty: param.ty,
        name: param.name,
        default: None,
        pack: param.pack,
        span: param.span,
    });
    Signature { params: params.collect(), result: signature.result, this: None, scope: signature.scope }
}
