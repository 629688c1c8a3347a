//! Explicit instantiations, which give a kernel template its host name.

use super::entry_points::{host_name, linked_attribute};
use crate::check::Checker;
use crate::check::tables::{EntityId, Instantiated, Symbol, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `template [[host_name("…")]] kernel void f<float>(…);`
    pub(in crate::check) fn declare_instantiation(&mut self, instantiation: &'a ast::InstantiationDecl) {
        let path = &instantiation.name;
        let found = match self.resolve_path(path) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.undeclared(path, false);
                return;
            }
            Err(()) => return,
        };
        let entities = match found.symbol {
            Symbol::Functions(entities) => entities,
            Symbol::ClassTemplate(_) | Symbol::Type(_) => {
                let last = path.last();
                let ty = self.symbol_as_type(&found.symbol, last.args.as_deref(), last.span);
                self.complete_type(ty.ty);
                if !instantiation.is_extern && !ty.ty.is_unknown() {
                    let name = self.tables.name_of(ty.ty);
                    self.refuse_second_instantiation(Instantiated::Class(ty.ty), &name, path.span);
                }
                return;
            }
            _ => {
                let message =
                    format!("explicit instantiation of '{}' does not refer to a template", path.last().name);
                self.diagnostics.error("instantiation", path.span, message);
                return;
            }
        };
        if instantiation.is_extern {
            return;
        }
        let Some(written) = &instantiation.ty else { return };
        let ty = self.resolve_type(written);
        if ty.ty.is_unknown() {
            return;
        }
        let TyKind::Function { result, params } = self.tables.types().kind(ty.ty).clone() else {
            let message = format!(
                "explicit instantiation of '{}' needs a function type, not '{}'",
                path.last().name,
                self.tables.name_of(ty.ty)
            );
            self.diagnostics.error("instantiation", path.span, message);
            return;
        };
        let params: Vec<QualTy> = params.into_iter().map(QualTy::plain).collect();
        self.instantiate_function(&entities, instantiation, result, &params);
    }

    fn instantiate_function(
        &mut self,
        entities: &[EntityId],
        instantiation: &'a ast::InstantiationDecl,
        result: Ty,
        params: &[QualTy],
    ) {
        let path = &instantiation.name;
        let explicit = path.last().args.as_deref();
        let mut matches: Vec<(EntityId, Vec<TemplateArg>)> = Vec::new();
        for &entity in entities {
            if self.tables.entity(entity).family.is_some() {
                continue;
            }
            if let Some(args) = self.deduce_from_types(entity, explicit, params, Some(result)) {
                matches.push((entity, args));
            }
        }
        let Some((entity, args)) = matches.into_iter().next() else {
            let name = &path.last().name;
            let message =
                format!("explicit instantiation of '{name}' does not refer to a function template that fits");
            let mut diagnostic = Diagnostic::error("instantiation", path.span, message);
            for &entity in entities.iter().take(4) {
                let reason = self.refusal(entity, explicit, params);
                diagnostic = diagnostic
                    .note(self.tables.entity(entity).span, format!("candidate template ignored: {reason}"));
            }
            self.diagnostics.report(diagnostic);
            return;
        };
        let Some(signature) = self.signature(entity, &args) else { return };
        let id = self.function_for(entity, args, signature);
        let name = self.tables.function(id).name.clone();
        if self.refuse_second_instantiation(Instantiated::Function(id), &name, path.span) {
            return;
        }
        let actual = self.result_of(id, path.span);
        if actual != result && !actual.is_unknown() && !result.is_unknown() {
            let message = format!(
                "explicit instantiation of '{}' returns '{}', but the template returns '{}'",
                path.last().name,
                self.tables.name_of(result),
                self.tables.name_of(actual)
            );
            self.diagnostics.error("instantiation", path.span, message);
            return;
        }
        self.request(id, path.span);
        self.tables.need_body(id);
        let stage = instantiation
            .specifiers
            .stage
            .or_else(|| self.tables.entity(entity).source.first().and_then(|decl| decl.specifiers.stage));
        let name = host_name(&mut self.diagnostics, &instantiation.attributes)
            .unwrap_or_else(|| self.tables.function(id).name.clone());
        let at = path.span;
        let declared = self.tables.entity(entity).source.first().into_iter().flat_map(|decl| &decl.attributes);
        let is_linked = linked_attribute(declared.chain(&instantiation.attributes)).is_some();
        if is_linked && self.tables.entity(entity).class.is_none() {
            self.add_visible_function(id, name, at);
            return;
        }
        let Some(stage) = stage else { return };
        self.add_entry_point(entity, id, stage, name, at);
    }

    /// Reports an instantiation that was there before.
    fn refuse_second_instantiation(&mut self, instantiated: Instantiated, name: &str, span: Span) -> bool {
        let Some(earlier) = self.tables.add_explicit_instantiation(instantiated, span) else { return false };
        let message = format!("duplicate explicit instantiation of '{name}'");
        let diagnostic = Diagnostic::error("instantiation", span, message);
        self.diagnostics.report(diagnostic.note(earlier, "previous explicit instantiation is here"));
        true
    }

    fn refusal(&mut self, entity: EntityId, explicit: Option<&'a [ast::TemplateArg]>, params: &[QualTy]) -> String {
        let Some(header) = self.tables.entity(entity).header else { return "it is not a template".into() };
        let count = self.tables.entity(entity).source.params().len();
        if count != params.len() {
            return format!("it has {count} parameters, not {}", params.len());
        }
        let Some(explicit) = explicit else { return "its arguments cannot be deduced".into() };
        let scope = self.tables.entity(entity).scope;
        let name = self.tables.entity(entity).name.clone();
        let span = self.tables.entity(entity).span;
        let fitted = self.attempt(|this| this.fit_template_args(&[header], scope, explicit, span, &name));
        match fitted {
            Err(first) => first.message,
            Ok(Some(args)) => match self.signature(entity, &args) {
                Some(signature) => {
                    let differs = signature.params.iter().zip(params).position(|(a, b)| a.ty.ty != b.ty);
                    match differs {
                        Some(index) => format!(
                            "parameter {} is '{}', not '{}'",
                            index + 1,
                            self.tables.name_of(signature.params[index].ty.ty),
                            self.tables.name_of(params[index].ty)
                        ),
                        None => "its arguments cannot be deduced".into(),
                    }
                }
                None => "substitution failed".into(),
            },
            Ok(None) => "its arguments do not fit".into(),
        }
    }
}
