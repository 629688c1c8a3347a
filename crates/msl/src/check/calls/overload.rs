//! Overload resolution: the best of several functions for a call.

use crate::check::Checker;
use crate::check::conversions::{Conversion, Rank};
use crate::check::expressions::Operand;
use crate::check::state::Diagnostics;
use crate::check::tables::{EntityId, Signature, Symbol, Tables, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::Expr;
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty};
use std::rc::Rc;

/// A function that fits a call.
#[derive(Clone)]
pub(super) struct Candidate<'a> {
    pub(in crate::check) entity: EntityId,
    pub(in crate::check) args: Vec<TemplateArg>,
    pub(in crate::check) signature: Rc<Signature<'a>>,
    /// One for each argument; for methods that of the object comes first.
    conversions: Vec<Conversion>,
}

/// A call: the name, explicit template arguments and the object.
pub(super) struct CallSite<'a, 'c> {
    pub(in crate::check) name: &'c str,
    pub(in crate::check) explicit: Option<&'a [ast::TemplateArg]>,
    /// The object of a method call.
    pub(in crate::check) object: Option<&'c Expr>,
    pub(in crate::check) is_constructor: bool,
    pub(in crate::check) span: Span,
}

impl<'a> Checker<'a> {
    /// True for the name of a class template without arguments, which is an argument for `template <typename> class C`.
    fn names_class_template(&mut self, ty: &'a ast::TypeExpr) -> bool {
        let ast::TypeExprKind::Named(path) = &ty.kind else { return false };
        let found = self.attempt(|this| this.resolve_path(path).ok().flatten()).ok().flatten();
        path.last().args.is_none() && matches!(found.map(|found| found.symbol), Some(Symbol::ClassTemplate(_)))
    }

    /// The best of `entities` for these arguments. Reports an error if there is none, or more than one.
    pub(super) fn choose(
        &mut self,
        entities: &[EntityId],
        site: &CallSite<'a, '_>,
        args: &[Operand<'a>],
    ) -> Option<Candidate<'a>> {
        if let Some(candidate) = self.exact_family_member(entities, site, args) {
            return Some(candidate);
        }
        // Report the unknown type in the template arguments, not the failed match.
        for arg in site.explicit.unwrap_or_default() {
            if let ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) = arg
                && let Ok(None) = self.resolve_path(path)
            {
                self.undeclared(path, true);
                return None;
            }
            if let ast::TemplateArg::Type(ty) = arg
                && !matches!(ty.kind, ast::TypeExprKind::PackExpansion(_))
                && !self.names_class_template(ty)
                && let Err(first) = self.attempt(|this| this.resolve_type(ty))
            {
                self.diagnostics.report(*first);
                return None;
            }
        }
        let mut viable: Vec<Candidate<'a>> = Vec::new();
        let mut reasons: Vec<(Span, String)> = Vec::new();
        for &entity in entities {
            if let Some(family) = self.tables.entity(entity).family.clone() {
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
                    reasons
                        .push((self.tables.entity(entity).span, format!("candidate function not viable: {why}")));
                }
                continue;
            }
            match self.deduce_for_operands(entity, site.explicit, args) {
                Ok((targs, signature)) => match self.fit(entity, targs, signature, site, args) {
                    Ok(candidate) => viable.push(candidate),
                    Err(why) => {
                        reasons.push((
                            self.tables.entity(entity).span,
                            format!("candidate function not viable: {why}"),
                        ));
                    }
                },
                Err(why) => {
                    reasons.push((self.tables.entity(entity).span, format!("candidate template ignored: {why}")))
                }
            }
        }
        self.best_of(viable, reasons, site, args)
    }

    /// A fast path for the common case: a library function, called with one of the types it is declared for.
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
            let family = self.tables.entity(entity).family.clone();
            let Some(family) = family else {
                // Another overload of the same number of parameters may be as good.
                let count = self.tables.entity(entity).source.params().len();
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

    /// The candidate, if the function takes these arguments, or the reason why not.
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
            if !object.ty.ty.is_unknown() && !self.tables.object_converts(object, this, entity) {
                return Err(self.tables.object_mismatch(object, this));
            }
            let added_quals = u8::from(this.is_const && !object.ty.is_const)
                + u8::from(this.is_volatile && !object.ty.is_volatile);
            conversions.push(Conversion { added_quals, ..Conversion::EXACT });
        } else if site.object.is_some() {
            conversions.push(Conversion::EXACT);
        }
        for (index, (arg, param)) in args.iter().zip(&signature.params).enumerate() {
            if let Operand::Value(expr) = arg
                && self.lacks_constant(entity, expr)
            {
                return Err(format!("{} argument is not a constant", ordinal(index + 1)));
            }
            match self.operand_conversion(arg, param.ty) {
                Some(conversion) => conversions.push(conversion),
                None => {
                    let to = self.tables.name_of(param.ty.ty);
                    let from = match arg {
                        Operand::Value(expr) => self.tables.name_of_expr(expr),
                        Operand::Braces(..) => "initializer list".into(),
                        _ => "overloaded function".into(),
                    };
                    if let Operand::Value(expr) = arg
                        && self.tables.loses_volatile(expr, param.ty.ty)
                    {
                        let which = ordinal(index + 1);
                        return Err(format!("{which} argument ('{from}') would lose volatile qualifier"));
                    }
                    return Err(format!(
                        "no known conversion from '{from}' to '{to}' for {} argument",
                        ordinal(index + 1)
                    ));
                }
            }
        }
        Ok(Candidate { entity, args: targs, signature, conversions })
    }

    fn operand_conversion(&mut self, operand: &Operand<'a>, to: QualTy) -> Option<Conversion> {
        match operand {
            Operand::Value(expr) => self.conversion(expr, to),
            Operand::Braces(items, span) => {
                // A list fits every type that it can initialize.
                let target = self.tables.types().referent(to);
                let works =
                    self.attempt(|this| this.list_initialize_items(QualTy::plain(target.ty), items, *span)).is_ok();
                let class = self.tables.types().struct_id(target.ty);
                let is_list =
                    class.and_then(|class| self.tables.library_template(class)) == Some("initializer_list");
                let rank = if is_list { Rank::Exact } else { Rank::User };
                works.then_some(Conversion { rank, ..Conversion::EXACT })
            }
            Operand::Functions(_) => {
                let pointee = self.tables.types().pointee(to.ty)?;
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
            no_match(&mut self.diagnostics, reasons, site, args);
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
        let dependent = args.iter().any(|arg| self.tables.is_dependent_operand(arg));
        if rivals.is_empty() || dependent {
            return viable.into_iter().nth(best);
        }
        let message = format!("call to '{}' is ambiguous", site.name);
        let mut diagnostic = Diagnostic::error("ambiguous-call", site.span, message);
        for index in std::iter::once(best).chain(rivals).take(4) {
            let text = self.tables.signature_text(&viable[index]);
            diagnostic = diagnostic
                .note(self.tables.entity(viable[index].entity).span, format!("candidate function '{text}'"));
        }
        self.diagnostics.report(diagnostic);
        None
    }

    /// True if `a` is a better choice than `b`.
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
        let is_template = |this: &Self, id: EntityId| {
            this.tables.entity(id).header.is_some() && this.tables.entity(id).family.is_none()
        };
        match (is_template(self, a.entity), is_template(self, b.entity)) {
            (false, true) => true,
            (true, true) => self.is_more_specialized_function(a.entity, b.entity),
            _ => false,
        }
    }
}

impl<'a> Tables<'a> {
    fn object_mismatch(&self, object: &Expr, this: QualTy) -> String {
        let space = object.ty.space.unwrap_or(AddressSpace::Thread);
        if this.space != Some(space) && object.is_place {
            return format!(
                "'this' argument has type '{}', but the method is not marked '{}'",
                self.name_of_qual(object.ty),
                space.text()
            );
        }
        let lost = match (object.ty.is_const && !this.is_const, object.ty.is_volatile && !this.is_volatile) {
            (true, true) => "const or volatile",
            (false, true) => "volatile",
            (_, false) => "const",
        };
        format!("'this' argument has type '{}', but the method is not marked {lost}", self.name_of_qual(object.ty))
    }

    fn signature_text(&self, candidate: &Candidate<'a>) -> String {
        let params: Vec<String> = candidate.signature.params.iter().map(|p| self.name_of_qual(p.ty)).collect();
        let result = candidate.signature.result.map_or("auto".into(), |ty| self.name_of(ty));
        format!("{result} {}({})", self.entity(candidate.entity).name, params.join(", "))
    }
}

fn no_match<'a>(
    diagnostics: &mut Diagnostics,
    reasons: Vec<(Span, String)>,
    site: &CallSite<'a, '_>,
    args: &[Operand<'a>],
) {
    let failed = |arg: &Operand<'a>| matches!(arg, Operand::Value(expr) if expr.ty.ty == Ty::ERROR);
    if args.iter().any(failed) {
        return;
    }
    let message = match (site.is_constructor, site.object) {
        (true, _) => format!("no matching constructor for initialization of '{}'", site.name),
        (false, Some(_)) => format!("no matching member function for call to '{}'", site.name),
        (false, None) => format!("no matching function for call to '{}'", site.name),
    };
    let mut diagnostic = Diagnostic::error("no-matching-function", site.span, message);
    let hidden = reasons.len().saturating_sub(5);
    for (span, reason) in reasons.into_iter().take(5) {
        diagnostic = diagnostic.note(span, reason);
    }
    if hidden > 0 {
        let plural = if hidden == 1 { "" } else { "s" };
        diagnostic = diagnostic.note(site.span, format!("{hidden} more candidate{plural} not shown"));
    }
    diagnostics.report(diagnostic);
}

/// Compares two conversions by rank: less is better.
pub(in crate::check) fn compare(a: &Conversion, b: &Conversion) -> std::cmp::Ordering {
    let same_function = a.via.is_some() && a.via == b.via;
    a.rank.cmp(&b.rank).then(if same_function { a.after.cmp(&b.after) } else { std::cmp::Ordering::Equal })
}

pub(super) fn plural(count: usize) -> &'static str {
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
