//! Overload resolution: which of several functions a call means.

use super::convert::{Conversion, Rank};
use super::expressions::Operand;
use super::scope::ScopeKind;
use super::templates::{Deduction, Match};
use super::{Checker, EntityId, FunctionSource, Signature, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, TypeExprKind};
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use std::rc::Rc;

/// A function that fits a call.
#[derive(Clone)]
pub(super) struct Candidate<'a> {
    pub(super) entity: EntityId,
    pub(super) args: Vec<TemplateArg>,
    pub(super) signature: Rc<Signature<'a>>,
    /// One for each argument; for methods that of the object comes first.
    conversions: Vec<Conversion>,
}

/// What is called and with what.
pub(super) struct CallSite<'a, 'c> {
    pub(super) name: &'c str,
    pub(super) explicit: Option<&'a [ast::TemplateArg]>,
    /// The object of a method call.
    pub(super) object: Option<&'c Expr>,
    pub(super) span: Span,
}

impl<'a> Checker<'a> {
    /// The best of `entities` for these arguments. Complains where there is none, or more than one.
    pub(super) fn choose(
        &mut self,
        entities: &[EntityId],
        site: &CallSite<'a, '_>,
        args: &[Operand<'a>],
    ) -> Option<Candidate<'a>> {
        if let Some(candidate) = self.exact_family_member(entities, site, args) {
            return Some(candidate);
        }
        let mut viable: Vec<Candidate<'a>> = Vec::new();
        let mut reasons: Vec<(Span, String)> = Vec::new();
        for &entity in entities {
            if let Some(family) = self.entity(entity).family.clone() {
                let mut reason = None;
                for &ty in family.iter() {
                    let targs = vec![TemplateArg::Type(QualTy::plain(ty))];
                    let Some(signature) = self.signature(entity, &targs) else { continue };
                    match self.fit(entity, targs, signature, site, args) {
                        Ok(candidate) => viable.push(candidate),
                        Err(why) => {
                            reason.get_or_insert(why);
                        }
                    }
                }
                if let Some(why) = reason {
                    reasons.push((self.entity(entity).span, format!("candidate function not viable: {why}")));
                }
                continue;
            }
            match self.deduce_for_operands(entity, site.explicit, args) {
                Ok((targs, signature)) => match self.fit(entity, targs, signature, site, args) {
                    Ok(candidate) => viable.push(candidate),
                    Err(why) => {
                        reasons.push((self.entity(entity).span, format!("candidate function not viable: {why}")));
                    }
                },
                Err(why) => reasons.push((self.entity(entity).span, format!("candidate template ignored: {why}"))),
            }
        }
        self.best_of(viable, reasons, site, args)
    }

    /// The common case at once: a function of the library, called with one of the types it is declared for.
    fn exact_family_member(
        &mut self,
        entities: &[EntityId],
        site: &CallSite<'a, '_>,
        args: &[Operand<'a>],
    ) -> Option<Candidate<'a>> {
        if site.explicit.is_some() || site.object.is_some() {
            return None;
        }
        let mut exact = None;
        for &entity in entities {
            let family = self.entity(entity).family.clone();
            let Some(family) = family else {
                // Another overload of the same number of parameters may be as good.
                let count = self.entity(entity).source.params().len();
                if count >= args.len() {
                    return None;
                }
                continue;
            };
            let ty = args.iter().find_map(|arg| match arg {
                Operand::Value(expr) if family.contains(&expr.ty.ty) => Some(expr.ty.ty),
                _ => None,
            });
            let Some(ty) = ty else { continue };
            let targs = vec![TemplateArg::Type(QualTy::plain(ty))];
            let signature = self.signature(entity, &targs)?;
            let Ok(candidate) = self.fit(entity, targs, signature, site, args) else { continue };
            let is_exact = candidate.conversions.iter().all(|c| *c == Conversion::EXACT);
            if is_exact {
                if exact.is_some() {
                    return None;
                }
                exact = Some(candidate);
            }
        }
        exact
    }

    /// Whether a function takes these arguments, or why not.
    fn fit(
        &mut self,
        entity: EntityId,
        targs: Vec<TemplateArg>,
        signature: Rc<Signature<'a>>,
        site: &CallSite<'a, '_>,
        args: &[Operand<'a>],
    ) -> Result<Candidate<'a>, String> {
        let required = signature.params.iter().take_while(|p| p.default.is_none()).count();
        let most = signature.params.len();
        if args.len() < required || args.len() > most {
            let wanted = match (required == most, args.len() < required) {
                (true, _) => format!("requires {most} argument{}", plural(most)),
                (false, true) => format!("requires at least {required} argument{}", plural(required)),
                (false, false) => format!("requires at most {most} argument{}", plural(most)),
            };
            let given = args.len();
            let were = if given == 1 { "was" } else { "were" };
            return Err(format!("{wanted}, but {given} {were} provided"));
        }
        let mut conversions = Vec::with_capacity(args.len() + 1);
        if let (Some(object), Some(this)) = (site.object, signature.this) {
            if !object.ty.ty.is_unknown() && !self.object_converts(object, this, entity) {
                return Err(self.object_mismatch(object, this));
            }
            let added_quals = u8::from(this.is_const && !object.ty.is_const);
            conversions.push(Conversion { added_quals, ..Conversion::EXACT });
        } else if site.object.is_some() {
            conversions.push(Conversion::EXACT);
        }
        for (index, (arg, param)) in args.iter().zip(&signature.params).enumerate() {
            match self.operand_conversion(arg, param.ty) {
                Some(conversion) => conversions.push(conversion),
                None => {
                    let to = self.name_of(param.ty.ty);
                    let from = match arg {
                        Operand::Value(expr) => self.name_of_expr(expr),
                        Operand::Braces(..) => "initializer list".into(),
                        _ => "overloaded function".into(),
                    };
                    return Err(format!(
                        "no known conversion from '{from}' to '{to}' for {} argument",
                        ordinal(index + 1)
                    ));
                }
            }
        }
        Ok(Candidate { entity, args: targs, signature, conversions })
    }

    fn object_mismatch(&self, object: &Expr, this: QualTy) -> String {
        let space = object.ty.space.unwrap_or(AddressSpace::Thread);
        if this.space != Some(space) && object.is_place {
            return format!(
                "'this' argument has type '{}', but the method is not marked '{}'",
                self.name_of_qual(object.ty),
                space.text()
            );
        }
        format!("'this' argument has type '{}', but the method is not marked const", self.name_of_qual(object.ty))
    }

    pub(super) fn operand_conversion(&mut self, operand: &Operand<'a>, to: QualTy) -> Option<Conversion> {
        match operand {
            Operand::Value(expr) => self.conversion(expr, to),
            Operand::Braces(items, span) => {
                // A list fits what it can initialize.
                let target = self.types().referent(to);
                let works =
                    self.attempt(|this| this.list_initialize_items(QualTy::plain(target.ty), items, *span)).is_ok();
                works.then_some(Conversion { rank: Rank::User, ..Conversion::EXACT })
            }
            Operand::Functions(_) => {
                let pointee = self.types().pointee(to.ty)?;
                let function =
                    self.attempt(|this| this.operand_as_function(operand.clone(), pointee.ty, Span::default()));
                function.ok().flatten().map(|_| Conversion::EXACT)
            }
            Operand::Type(_) => None,
        }
    }

    fn best_of(
        &mut self,
        viable: Vec<Candidate<'a>>,
        reasons: Vec<(Span, String)>,
        site: &CallSite<'a, '_>,
        args: &[Operand<'a>],
    ) -> Option<Candidate<'a>> {
        if viable.is_empty() {
            self.no_match(reasons, site, args);
            return None;
        }
        let mut best = 0;
        for index in 1..viable.len() {
            if self.is_better(&viable[index], &viable[best]) {
                best = index;
            }
        }
        let mut rivals = Vec::new();
        for index in 0..viable.len() {
            if index != best && !self.is_better(&viable[best], &viable[index]) {
                rivals.push(index);
            }
        }
        let dependent = args.iter().any(|arg| self.is_dependent_operand(arg));
        if rivals.is_empty() || dependent {
            return viable.into_iter().nth(best);
        }
        let message = format!("call to '{}' is ambiguous", site.name);
        let mut diagnostic = Diagnostic::error("ambiguous-call", site.span, message);
        for index in std::iter::once(best).chain(rivals).take(4) {
            let text = self.signature_text(&viable[index]);
            diagnostic =
                diagnostic.note(self.entity(viable[index].entity).span, format!("candidate function '{text}'"));
        }
        self.report(diagnostic);
        None
    }

    fn signature_text(&self, candidate: &Candidate<'a>) -> String {
        let params: Vec<String> = candidate.signature.params.iter().map(|p| self.name_of_qual(p.ty)).collect();
        let result = candidate.signature.result.map_or("auto".into(), |ty| self.name_of(ty));
        format!("{result} {}({})", self.entity(candidate.entity).name, params.join(", "))
    }

    fn no_match(&mut self, reasons: Vec<(Span, String)>, site: &CallSite<'a, '_>, args: &[Operand<'a>]) {
        let failed = |arg: &Operand<'a>| matches!(arg, Operand::Value(expr) if expr.ty.ty == Ty::ERROR);
        if args.iter().any(failed) {
            return;
        }
        let kind = if site.object.is_some() { "member function" } else { "function" };
        let message = format!("no matching {kind} for call to '{}'", site.name);
        let mut diagnostic = Diagnostic::error("no-matching-function", site.span, message);
        let hidden = reasons.len().saturating_sub(5);
        for (span, reason) in reasons.into_iter().take(5) {
            diagnostic = diagnostic.note(span, reason);
        }
        if hidden > 0 {
            let plural = if hidden == 1 { "" } else { "s" };
            diagnostic = diagnostic.note(site.span, format!("{hidden} more candidate{plural} not shown"));
        }
        self.report(diagnostic);
    }

    /// `a` is a better choice than `b`.
    fn is_better(&mut self, a: &Candidate<'a>, b: &Candidate<'a>) -> bool {
        let mut some_better = false;
        for (x, y) in a.conversions.iter().zip(&b.conversions) {
            match compare(x, y) {
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Less => some_better = true,
                std::cmp::Ordering::Equal => {}
            }
        }
        if some_better {
            return true;
        }
        for (x, y) in a.conversions.iter().zip(&b.conversions) {
            if x.added_quals > y.added_quals {
                return false;
            }
            some_better |= x.added_quals < y.added_quals;
        }
        if some_better {
            return true;
        }
        let is_template =
            |this: &Self, id: EntityId| this.entity(id).header.is_some() && this.entity(id).family.is_none();
        match (is_template(self, a.entity), is_template(self, b.entity)) {
            (false, true) => true,
            (true, true) => self.is_more_specialized_function(a.entity, b.entity),
            _ => false,
        }
    }

    // --- template arguments of a call --------------------------------------------------------------------------

    /// The template arguments and signature for a call, or why there are none.
    pub(super) fn deduce_for_operands(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        args: &[Operand<'a>],
    ) -> Result<(Vec<TemplateArg>, Rc<Signature<'a>>), String> {
        if let FunctionSource::Lambda(lambda) = self.entity(id).source {
            return self.lambda_signature(id, lambda, args);
        }
        let Some(header) = self.entity(id).header else {
            if explicit.is_some() {
                return Err("it is not a template".into());
            }
            let signature = self.attempt(|this| this.signature(id, &[])).ok().flatten();
            return signature.map(|signature| (Vec::new(), signature)).ok_or("its declaration has errors".into());
        };
        let declared_in = self.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        self.bind_explicit(header, declared_in, explicit, &mut deduction)?;
        let params = self.entity(id).source.params();
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
                let shown = match arg {
                    Operand::Value(expr) => self.name_of_expr(expr),
                    _ => "this argument".into(),
                };
                return Err(format!("could not match '{}' against '{shown}'", self.sources.text(param.ty.span)));
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
    pub(super) fn deduce_for_exprs(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        args: &[Expr],
    ) -> Option<(Vec<TemplateArg>, Rc<Signature<'a>>)> {
        let operands: Vec<Operand<'a>> = args.iter().cloned().map(Operand::Value).collect();
        self.deduce_for_operands(id, explicit, &operands).ok()
    }

    /// The arguments with which a conversion function gives `to`.
    pub(super) fn deduce_conversion(
        &mut self,
        id: EntityId,
        to: Ty,
    ) -> Option<(Vec<TemplateArg>, Rc<Signature<'a>>)> {
        let Some(header) = self.entity(id).header else {
            return self.signature(id, &[]).map(|signature| (Vec::new(), signature));
        };
        let declared_in = self.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        let result = &self.entity(id).source.first()?.result;
        if !self.deduce_type(result, QualTy::plain(to), Match::Convertible, &mut deduction) {
            return None;
        }
        self.finish_deduction(id, header, declared_in, deduction).ok()
    }

    /// The template arguments with which a template has exactly these parameter types: for specializations, explicit
    /// instantiations and pointers to functions.
    pub(super) fn deduce_from_types(
        &mut self,
        id: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        types: &[QualTy],
        result: Option<Ty>,
    ) -> Option<Vec<TemplateArg>> {
        let header = self.entity(id).header?;
        let declared_in = self.entity(id).scope;
        let mut deduction = Deduction::new(header, declared_in);
        self.bind_explicit(header, declared_in, explicit, &mut deduction).ok()?;
        let params = self.entity(id).source.params();
        let has_pack = params.iter().any(|p| p.is_pack);
        if params.len() != types.len() && !has_pack {
            return None;
        }
        for (param, ty) in params.iter().zip(types.iter().map(|ty| QualTy::plain(ty.ty))) {
            let pattern = without_top_level_quals(&param.ty);
            let fits = match (&pattern.kind, self.types().pointee(ty.ty)) {
                (TypeExprKind::Array { element, .. }, Some(pointee)) => {
                    self.deduce_array_element(element, pointee, &mut deduction)
                }
                _ => self.deduce_type(pattern, ty, Match::Exact, &mut deduction),
            };
            if !fits {
                return None;
            }
        }
        // What no parameter says, the result may.
        if let (Some(result), Some(decl)) = (result, self.entity(id).source.first()) {
            let before = deduction.clone();
            if !self.deduce_type(&decl.result, QualTy::plain(result), Match::Exact, &mut deduction) {
                deduction = before;
            }
        }
        let (args, signature) = self.finish_deduction(id, header, declared_in, deduction).ok()?;
        let same = signature.params.len() == types.len()
            && signature.params.iter().zip(types).all(|(param, ty)| param.ty.ty == ty.ty || ty.ty.is_unknown());
        same.then_some(args)
    }

    fn bind_explicit(
        &mut self,
        header: &'a ast::TemplateHeader,
        declared_in: super::scope::ScopeId,
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
        declared_in: super::scope::ScopeId,
        explicit: &'a [ast::TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let given = self.expand_given(explicit)?;
        let scope = self.scopes.add(declared_in, ScopeKind::Template);
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
        declared_in: super::scope::ScopeId,
        deduction: Deduction<'a>,
    ) -> Result<(Vec<TemplateArg>, Rc<Signature<'a>>), String> {
        let scope = self.scopes.add(declared_in, ScopeKind::Template);
        let mut args = Vec::with_capacity(header.params.len());
        let headers = self.headers_of(id, header);
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
            self.bind_param(scope, param, &arg);
            args.push(arg);
        }
        match self.attempt(|this| this.signature(id, &args)) {
            Ok(Some(signature)) => Ok((args, signature)),
            Ok(None) => Err("substitution failure".into()),
            Err(first) => Err(format!("substitution failure: {}", first.message)),
        }
    }

    /// The headers of a function template's declarations, which may hold default arguments.
    fn headers_of(&self, id: EntityId, header: &'a ast::TemplateHeader) -> Vec<&'a ast::TemplateHeader> {
        let mut headers = vec![header];
        if let FunctionSource::Declared { definition: Some(definition), .. } = self.entity(id).source {
            headers.extend(definition.templates.last());
        }
        headers
    }

    fn deduce_param(
        &mut self,
        pattern: &'a ast::TypeExpr,
        arg: &Operand<'a>,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        match arg {
            Operand::Value(expr) => {
                let actual = self.argument_type(pattern, expr);
                let pattern = strip_top_level(pattern);
                let mentions = self.mentions_param(pattern, deduction);
                let before = deduction.clone();
                let by_value = !matches!(self.types().kind(actual.ty), TyKind::Array { .. });
                let fits = match (&pattern.kind, self.types().pointee(actual.ty)) {
                    // A parameter written as an array is a pointer.
                    (TypeExprKind::Array { element, .. }, Some(pointee)) if by_value => {
                        self.deduce_array_element(element, pointee, deduction)
                    }
                    _ => self.deduce_type(pattern, actual, Match::Convertible, deduction),
                };
                if !fits && !mentions {
                    // Nothing to deduce here: a conversion will do.
                    *deduction = before;
                    return true;
                }
                fits
            }
            Operand::Functions(set) => {
                // A single function has a type to deduce from.
                if set.entities.len() == 1
                    && let Some(id) = self.attempt(|this| this.only_function(set)).ok().flatten()
                {
                    let ty = self.function_pointer_type(id);
                    return self.deduce_type(
                        strip_top_level(pattern),
                        QualTy::plain(ty),
                        Match::Convertible,
                        deduction,
                    );
                }
                true
            }
            Operand::Braces(..) | Operand::Type(_) => true,
        }
    }

    /// `T x[N]` takes a pointer to the thread's memory where it does not say otherwise.
    fn deduce_array_element(
        &mut self,
        element: &'a ast::TypeExpr,
        pointee: QualTy,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let names_space = match &element.kind {
            TypeExprKind::Qualified { quals, .. } => quals.space.is_some(),
            _ => false,
        };
        let actual = match names_space {
            true => pointee,
            false if pointee.space == Some(AddressSpace::Thread) => QualTy { space: None, ..pointee },
            false => return false,
        };
        self.deduce_type(element, actual, Match::Convertible, deduction)
    }

    /// The type that deduction sees of an argument.
    fn argument_type(&mut self, pattern: &ast::TypeExpr, expr: &Expr) -> QualTy {
        if let TypeExprKind::Reference { .. } = strip_qualifiers(pattern).kind {
            let space =
                if expr.is_place { expr.ty.space.unwrap_or(AddressSpace::Thread) } else { AddressSpace::Thread };
            return expr.ty.in_space(space);
        }
        QualTy::plain(self.decayed(expr.ty))
    }

    /// The pattern names a parameter that can be deduced from it.
    fn mentions_param(&self, pattern: &ast::TypeExpr, deduction: &Deduction<'a>) -> bool {
        match &pattern.kind {
            TypeExprKind::Named(path) => {
                let is_param = |name: &str| {
                    let open = &deduction.params[deduction.explicit.min(deduction.params.len())..];
                    open.iter().any(|param| param.name.as_ref().is_some_and(|n| n.name == name))
                };
                if path.segments.len() > 1 {
                    return false;
                }
                let last = path.last();
                is_param(&last.name)
                    || last.args.iter().flatten().any(|arg| match arg {
                        ast::TemplateArg::Type(ty) => self.mentions_param(ty, deduction),
                        ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) => {
                            path.as_ident().is_some_and(|name| is_param(name))
                        }
                        ast::TemplateArg::Expr(_) => false,
                    })
            }
            TypeExprKind::Pointer(inner)
            | TypeExprKind::Reference { inner, .. }
            | TypeExprKind::Qualified { inner, .. }
            | TypeExprKind::PackExpansion(inner) => self.mentions_param(inner, deduction),
            TypeExprKind::Array { element, .. } => self.mentions_param(element, deduction),
            TypeExprKind::Function { result, params } => {
                self.mentions_param(result, deduction)
                    || params.iter().any(|p| self.mentions_param(&p.ty, deduction))
            }
            _ => false,
        }
    }

    fn deduce_pack_param(
        &mut self,
        param: &'a ast::Param,
        args: &[Operand<'a>],
        deduction: &mut Deduction<'a>,
    ) -> Result<(), String> {
        let pattern = match &param.ty.kind {
            TypeExprKind::PackExpansion(inner) => &**inner,
            _ => &param.ty,
        };
        let packs: Vec<usize> = (0..deduction.params.len())
            .filter(|&index| deduction.params[index].is_pack && deduction.bound[index].is_none())
            .collect();
        let mut collected: Vec<Vec<TemplateArg>> = vec![Vec::new(); packs.len()];
        for arg in args {
            let mut one = deduction.clone();
            if !self.deduce_param(pattern, arg, &mut one) {
                return Err(format!("could not match '{}'", self.sources.text(param.span)));
            }
            for (slot, &index) in collected.iter_mut().zip(&packs) {
                slot.extend(one.bound[index].take());
            }
        }
        for (pack, index) in collected.into_iter().zip(packs) {
            deduction.bound[index] = Some(TemplateArg::Pack(pack));
        }
        Ok(())
    }

    // --- functions as values -----------------------------------------------------------------------------------

    /// A function set as a pointer to a function of type `ty`.
    pub(super) fn operand_as_function(&mut self, operand: Operand<'a>, ty: Ty, span: Span) -> Option<Expr> {
        let set = match operand {
            Operand::Functions(set) => set,
            Operand::Value(expr) => {
                if expr.ty.ty.is_unknown() {
                    return Some(expr);
                }
                let pointer = self.types_mut().pointer(QualTy::plain(ty));
                if expr.ty.ty == pointer || ty == Ty::DEPENDENT {
                    return Some(expr);
                }
                self.cannot_convert(&expr, QualTy::plain(pointer), super::convert::Purpose::Parameter);
                return None;
            }
            Operand::Braces(..) | Operand::Type(_) => {
                self.error("function-pointer", span, "expected the name of a function");
                return None;
            }
        };
        if ty == Ty::DEPENDENT {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let TyKind::Function { result, params } = self.types().kind(ty).clone() else { return None };
        let wanted: Vec<QualTy> = params.iter().map(|&p| QualTy::plain(p)).collect();
        let unknown = result.is_unknown() || params.iter().any(|p| p.is_unknown());
        if unknown {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let mut found: Option<(bool, FunctionId)> = None;
        for &entity in &set.entities {
            let args = match (self.entity(entity).header, self.entity(entity).family.clone()) {
                (_, Some(family)) => {
                    let member = family.iter().copied().find(|&ty| {
                        let targs = [TemplateArg::Type(QualTy::plain(ty))];
                        self.signature(entity, &targs).is_some_and(|s| same_params(&s, &wanted))
                    });
                    match member {
                        Some(ty) => vec![TemplateArg::Type(QualTy::plain(ty))],
                        None => continue,
                    }
                }
                (Some(_), None) => match self.deduce_from_types(entity, set.explicit, &wanted, Some(result)) {
                    Some(args) => args,
                    None => continue,
                },
                (None, None) => Vec::new(),
            };
            let Some(signature) = self.signature(entity, &args) else { continue };
            if !same_params(&signature, &wanted) {
                continue;
            }
            let is_template = self.entity(entity).header.is_some();
            if found.is_none_or(|(was_template, _)| was_template && !is_template) {
                let id = self.function_for(entity, args, signature);
                found = Some((is_template, id));
            }
        }
        let Some((_, id)) = found else {
            let message = format!("no function '{}' has type '{}'", set.name, self.name_of(ty));
            let mut diagnostic = Diagnostic::error("function-pointer", span, message);
            for &entity in set.entities.iter().take(4) {
                diagnostic = diagnostic.note(self.entity(entity).span, "candidate function");
            }
            self.report(diagnostic);
            return None;
        };
        self.need_body(id);
        let actual = self.program.function(id).result;
        if actual != result && !actual.is_unknown() {
            let message = format!(
                "function '{}' returns '{}', not '{}'",
                set.name,
                self.name_of(actual),
                self.name_of(result)
            );
            self.error("function-pointer", span, message);
            return None;
        }
        let pointer = self.types_mut().pointer(QualTy::plain(ty));
        Some(Expr::value(ExprKind::Function(id), pointer, span))
    }
}

fn same_params(signature: &Signature<'_>, wanted: &[QualTy]) -> bool {
    signature.params.len() == wanted.len() && signature.params.iter().zip(wanted).all(|(p, w)| p.ty.ty == w.ty)
}

fn strip_qualifiers(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    match &pattern.kind {
        TypeExprKind::Qualified { inner, .. } => strip_qualifiers(inner),
        _ => pattern,
    }
}

/// `const T x` and `T x` are the same parameter.
fn without_top_level_quals(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    match &pattern.kind {
        TypeExprKind::Qualified { quals, inner } if quals.space.is_none() => without_top_level_quals(inner),
        _ => pattern,
    }
}

/// A parameter's type without what does not count in deduction: its own qualifiers, or the reference.
fn strip_top_level(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    let unqualified = match &pattern.kind {
        TypeExprKind::Qualified { inner, .. } => strip_top_level(inner),
        _ => pattern,
    };
    match &unqualified.kind {
        TypeExprKind::Reference { inner, .. } => inner,
        _ => unqualified,
    }
}

/// Which of two conversions is better, as far as ranks go.
fn compare(a: &Conversion, b: &Conversion) -> std::cmp::Ordering {
    a.rank.cmp(&b.rank)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn ordinal(number: usize) -> String {
    let suffix = match (number % 10, number % 100) {
        (1, n) if n != 11 => "st",
        (2, n) if n != 12 => "nd",
        (3, n) if n != 13 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}
