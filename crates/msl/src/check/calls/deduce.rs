//! Template arguments of functions: explicit, or deduced from a call, a conversion's target or a function type.

use super::deduce_param::mentions_param;
use super::overload::plural;
use crate::check::Checker;
use crate::check::expressions::Operand;
use crate::check::tables::{EntityId, FunctionSource, ScopeId, ScopeKind, Signature, Tables, TemplateArg};
use crate::check::templates::{Deduction, MOST_ARGS, Match};
use crate::parse::ast::{self, TypeExprKind};
use crate::program::Expr;
use crate::types::{QualTy, Ty};
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// The template arguments and signature for a call, or the reason why there are none.
    pub(super) fn deduce_for_operands(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        args: &[Operand<'a>],
    ) -> Result<(Vec<TemplateArg>, Rc<Signature<'a>>), String> {
        if let FunctionSource::Lambda(lambda) = self.tables.entity(id).source {
            return self.lambda_signature(id, lambda, args);
        }
        let Some(header) = self.tables.entity(id).header else {
            if explicit.is_some() {
                return Err("it is not a template".into());
            }
            let signature = self.attempt(|this| this.signature(id, &[])).ok().flatten();
            return signature.map(|signature| (Vec::new(), signature)).ok_or("its declaration has errors".into());
        };
        let declared_in = self.tables.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        self.bind_explicit(header, declared_in, explicit, &mut deduction)?;
        let params = self.tables.entity(id).source.params();
        let mut rest = args.iter();
        for param in params {
            let is_pack = param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_));
            if is_pack {
                self.deduce_pack_param(param, rest.as_slice(), &mut deduction)?;
                rest = [].iter();
                break;
            }
            let Some(arg) = rest.next() else { break };
            if !self.deduce_param(&param.ty, arg, &mut deduction) {
                if let Some((index, old, new)) = &deduction.conflict {
                    let name = deduction.params[*index].name.as_ref().map_or("", |name| name.name.as_str());
                    let (old, new) = (self.tables.arg_text(old), self.tables.arg_text(new));
                    return Err(format!("deduced conflicting types for parameter '{name}' ('{old}' vs. '{new}')"));
                }
                let shown = match arg {
                    Operand::Value(expr) => self.tables.name_of_expr(expr),
                    _ => "this argument".into(),
                };
                return Err(format!(
                    "could not match '{}' against '{shown}'",
                    self.tables.sources().text(param.ty.span)
                ));
            }
        }
        if rest.next().is_some() && !params.iter().any(|p| p.is_pack) {
            let most = params.len();
            return Err(format!(
                "requires at most {most} argument{}, but {} were provided",
                plural(most),
                args.len()
            ));
        }
        self.finish_deduction(id, header, declared_in, deduction)
    }

    /// The same for expressions alone.
    pub(in crate::check) fn deduce_for_exprs(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        args: &[Expr],
    ) -> Option<(Vec<TemplateArg>, Rc<Signature<'a>>)> {
        let operands: Vec<Operand<'a>> = args.iter().cloned().map(Operand::Value).collect();
        self.deduce_for_operands(id, explicit, &operands).ok()
    }

    /// The arguments for which a conversion function returns `to`.
    pub(in crate::check) fn deduce_conversion(
        &mut self,
        id: EntityId,
        to: Ty,
    ) -> Option<(Vec<TemplateArg>, Rc<Signature<'a>>)> {
        let Some(header) = self.tables.entity(id).header else {
            return self.signature(id, &[]).map(|signature| (Vec::new(), signature));
        };
        let declared_in = self.tables.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        let result = &self.tables.entity(id).source.first()?.result;
        if !self.deduce_type(result, QualTy::plain(to), Match::Convertible, &mut deduction) {
            return None;
        }
        self.finish_deduction(id, header, declared_in, deduction).ok()
    }

    /// The template arguments with which a template has exactly these parameter types: for specializations, explicit
    /// instantiations and pointers to functions.
    pub(in crate::check) fn deduce_from_types(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        types: &[QualTy],
        result: Option<Ty>,
    ) -> Option<Vec<TemplateArg>> {
        let header = self.tables.entity(id).header?;
        let declared_in = self.tables.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        self.bind_explicit(header, declared_in, explicit, &mut deduction).ok()?;
        let params = self.tables.entity(id).source.params();
        let has_pack = params.iter().any(|p| p.is_pack);
        if params.len() != types.len() && !has_pack {
            return None;
        }
        for (param, ty) in params.iter().zip(types.iter().map(|ty| QualTy::plain(ty.ty))) {
            let pattern = without_top_level_quals(&param.ty);
            // Nothing to deduce here: the comparison with the signature is enough.
            if !mentions_param(pattern, &deduction) {
                continue;
            }
            let fits = match (&pattern.kind, self.tables.types().pointee(ty.ty)) {
                (TypeExprKind::Array { element, .. }, Some(pointee)) => {
                    self.deduce_array_element(element, pointee, &mut deduction)
                }
                _ => self.deduce_type(pattern, ty, Match::Exact, &mut deduction),
            };
            if !fits {
                return None;
            }
        }
        // The result may determine arguments that no parameter determines.
        if let (Some(result), Some(decl)) = (result, self.tables.entity(id).source.first()) {
            let before = deduction.clone();
            if !self.deduce_type(&decl.result, QualTy::plain(result), Match::Exact, &mut deduction) {
                deduction = before;
            }
        }
        let (args, signature) = self.finish_deduction(id, header, declared_in, deduction).ok()?;
        let same_result = match (result, signature.result) {
            (Some(wanted), Some(actual)) => wanted == actual || wanted.is_unknown() || actual.is_unknown(),
            _ => true,
        };
        let same = same_result
            && signature.params.len() == types.len()
            && signature.params.iter().zip(types).all(|(param, ty)| param.ty.ty == ty.ty || ty.ty.is_unknown());
        same.then_some(args)
    }

    fn bind_explicit(
        &mut self,
        header: &'a ast::TemplateHeader,
        declared_in: ScopeId,
        explicit: Option<&'a [ast::TemplateArg]>,
        deduction: &mut Deduction<'a>,
    ) -> Result<(), String> {
        let Some(explicit) = explicit else { return Ok(()) };
        if explicit.len() > header.params.len() && !header.params.iter().any(|p| p.is_pack) {
            return Err("too many template arguments".into());
        }
        let fitted = self.attempt(|this| this.fit_explicit_args(header, declared_in, explicit));
        match fitted {
            Ok(Some(args)) => {
                deduction.explicit = args.len();
                for (slot, arg) in deduction.bound.iter_mut().zip(args) {
                    *slot = Some(arg);
                }
                Ok(())
            }
            Ok(None) => Err("invalid explicitly-specified template argument".into()),
            Err(first) => Err(first.message),
        }
    }

    /// Explicit arguments for the first parameters; the rest is left to deduction.
    fn fit_explicit_args(
        &mut self,
        header: &'a ast::TemplateHeader,
        declared_in: ScopeId,
        explicit: &'a [ast::TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let given = self.expand_given(explicit)?;
        let scope = self.tables.scopes_mut().add(declared_in, ScopeKind::Template);
        let mut given = given.into_iter();
        let mut fitted = Vec::new();
        for param in &header.params {
            if param.is_pack {
                let mut pack = Vec::new();
                for one in given.by_ref() {
                    pack.push(self.fit_one(param, one, scope)?);
                }
                // More of the pack may be deduced.
                if !pack.is_empty() {
                    fitted.push(TemplateArg::Pack(pack));
                }
                break;
            }
            let Some(one) = given.next() else { break };
            let arg = self.fit_one(param, one, scope)?;
            self.bind_param(scope, param, &arg);
            fitted.push(arg);
        }
        Some(fitted)
    }

    fn finish_deduction(
        &mut self,
        id: EntityId,
        header: &'a ast::TemplateHeader,
        declared_in: ScopeId,
        deduction: Deduction<'a>,
    ) -> Result<(Vec<TemplateArg>, Rc<Signature<'a>>), String> {
        let scope = self.tables.scopes_mut().add(declared_in, ScopeKind::Template);
        let mut args = Vec::with_capacity(header.params.len());
        let headers = self.tables.headers_of(id, header);
        for (index, (param, bound)) in header.params.iter().zip(deduction.bound).enumerate() {
            let arg = match bound {
                Some(arg) => arg,
                None if param.is_pack => TemplateArg::Pack(Vec::new()),
                None => {
                    let default = self.attempt(|this| this.default_arg(&headers, index, scope));
                    match default {
                        Ok(Some(Some(arg))) => arg,
                        Ok(_) => {
                            let name = param.name.as_ref().map_or("", |name| name.name.as_str());
                            return Err(format!("couldn't infer template argument '{name}'"));
                        }
                        Err(first) => return Err(format!("substitution failure: {}", first.message)),
                    }
                }
            };
            // `f(t..., t...)` in `f` would double the pack without end.
            if matches!(&arg, TemplateArg::Pack(pack) if pack.len() > MOST_ARGS) {
                return Err(format!("more than {MOST_ARGS} template arguments"));
            }
            self.bind_param(scope, param, &arg);
            args.push(arg);
        }
        match self.attempt(|this| this.signature(id, &args)) {
            Ok(Some(signature)) => Ok((args, signature)),
            Ok(None) => Err("substitution failure".into()),
            Err(first) => Err(format!("substitution failure: {}", first.message)),
        }
    }
}

impl<'a> Tables<'a> {
    /// The headers of a function template's declarations, which may hold default arguments.
    fn headers_of(&self, id: EntityId, header: &'a ast::TemplateHeader) -> Vec<&'a ast::TemplateHeader> {
        let mut headers = vec![header];
        if let FunctionSource::Declared { definition: Some(definition), .. } = self.entity(id).source {
            headers.extend(definition.templates.last());
        }
        headers
    }
}

/// `const T x` and `T x` are the same parameter.
fn without_top_level_quals(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    match &pattern.kind {
        TypeExprKind::Qualified { quals, inner } if quals.space.is_none() => without_top_level_quals(inner),
        _ => pattern,
    }
}
