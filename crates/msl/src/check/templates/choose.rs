//! The specialization that fits given arguments best.

use super::arguments::Given;
use super::deduce::Deduction;
use crate::check::Checker;
use crate::check::tables::{ClassTemplateId, ScopeId, Specialization, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::source::Span;

/// The declaration to instantiate, and the scope in which its parameters are bound.
pub(super) struct Chosen<D> {
    pub(in crate::check) decl: D,
    pub(in crate::check) scope: ScopeId,
}

impl<'a> Checker<'a> {
    pub(super) fn choose_class(
        &mut self,
        id: ClassTemplateId,
        args: &[TemplateArg],
        span: Span,
    ) -> Option<Chosen<&'a ast::ClassDecl>> {
        if !args.iter().any(TemplateArg::is_dependent) {
            let template = self.tables.class_template(id);
            let chosen = match template.specializations.explicit(args) {
                Some(Specialization { header, decl, scope, .. }) => {
                    Some(Chosen { decl, scope: self.bind_all(header, &[], scope) })
                }
                None => {
                    let (others, name) = (template.specializations.others().to_vec(), template.name.clone());
                    self.choose_specialization(&others, args, span, &name)
                }
            };
            if let Some(chosen) = chosen {
                return chosen.decl.members.is_some().then_some(chosen);
            }
        }
        let template = self.tables.class_template(id);
        let (decl, header, scope) = (template.definition?, template.header, template.scope);
        let scope = self.bind_all(header, args, scope);
        Some(Chosen { decl, scope })
    }

    /// The most specialized of the specializations that fit.
    pub(super) fn choose_specialization<D: Copy>(
        &mut self,
        specializations: &[Specialization<'a, D>],
        args: &[TemplateArg],
        span: Span,
        name: &str,
    ) -> Option<Chosen<D>> {
        let mut matches: Vec<(usize, Vec<TemplateArg>)> = Vec::new();
        for (index, specialization) in specializations.iter().enumerate() {
            if let Some(bound) = self.match_specialization(specialization, args) {
                matches.push((index, bound));
            }
        }
        let mut best = None;
        for candidate in 0..matches.len() {
            let beats_all = (0..matches.len()).all(|other| {
                let (a, b) = (&specializations[matches[candidate].0], &specializations[matches[other].0]);
                candidate == other || self.is_more_specialized(a, b)
            });
            if beats_all {
                best = Some(candidate);
                break;
            }
        }
        if best.is_none() && matches.len() > 1 {
            let message = format!("ambiguous partial specializations of '{name}'");
            let mut diagnostic = Diagnostic::error("ambiguous-specialization", span, message);
            for (index, _) in matches.iter().take(4) {
                diagnostic = diagnostic.note(specializations[*index].header.span, "partial specialization matches");
            }
            self.diagnostics.report(diagnostic);
            best = Some(0);
        }
        let (index, bound) = matches.swap_remove(best?);
        let Specialization { header, decl, scope, .. } = specializations[index];
        let scope = self.bind_all(header, &bound, scope);
        Some(Chosen { decl, scope })
    }

    /// The arguments of a specialization's own parameters, if it fits `args`.
    fn match_specialization<D>(
        &mut self,
        specialization: &Specialization<'a, D>,
        args: &[TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let mut deduction = Deduction::new(specialization.header, specialization.scope);
        let fits = self.deduce_args(specialization.args, args, &mut deduction);
        if !fits {
            return None;
        }
        let mut bound = Vec::with_capacity(deduction.bound.len());
        for (param, arg) in specialization.header.params.iter().zip(deduction.bound) {
            bound.push(match arg {
                Some(arg) => arg,
                None if param.is_pack => TemplateArg::Pack(Vec::new()),
                None => return None,
            });
        }
        // Parts that were not deduced must match after substitution.
        let scope = self.bind_all(specialization.header, &bound, specialization.scope);
        let substituted = self
            .attempt(|this| this.in_scope(scope, |this| this.substitute_args(specialization.args, args)))
            .ok()
            .flatten();
        // Thousands of specializations are tried for each of thousands of instances.
        self.tables.scopes_mut().remove_last(scope);
        let substituted = substituted?;
        let wanted: Vec<TemplateArg> = args.iter().flat_map(flat).collect();
        // A pattern may leave out arguments that have defaults, but not elements of a pack.
        let has_pack = args.iter().any(|arg| matches!(arg, TemplateArg::Pack(_)));
        let enough = if has_pack { substituted.len() == wanted.len() } else { substituted.len() <= wanted.len() };
        (enough && substituted.iter().zip(&wanted).all(|(a, b)| a.is_same(b))).then_some(bound)
    }

    /// Written arguments in the current scope, each of the kind that `like` has at its place.
    fn substitute_args(
        &mut self,
        written: &'a [ast::TemplateArg],
        like: &[TemplateArg],
    ) -> Option<Vec<TemplateArg>> {
        let like: Vec<TemplateArg> = like.iter().flat_map(flat).collect();
        let mut result = Vec::new();
        for given in self.expand_given(written)? {
            let arg = match given {
                Given::Known(arg) => arg,
                Given::Written(written) => match like.get(result.len())? {
                    TemplateArg::Type(_) => TemplateArg::Type(self.type_argument(written)?),
                    TemplateArg::Int(ty, _) => match self.value_argument(written, *ty)? {
                        crate::program::Value::Int(value) => TemplateArg::Int(*ty, value),
                        _ => TemplateArg::UnknownValue,
                    },
                    other => other.clone(),
                },
            };
            result.push(arg);
        }
        Some(result)
    }
}

fn flat(arg: &TemplateArg) -> Vec<TemplateArg> {
    match arg {
        TemplateArg::Pack(args) => args.iter().flat_map(flat).collect(),
        arg => vec![arg.clone()],
    }
}
