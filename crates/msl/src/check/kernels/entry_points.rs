//! Entry points of the program.

use crate::check::Checker;
use crate::check::tables::EntityId;
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::parse::ast::Stage;
use crate::program::{EntryPoint, FunctionId};
use crate::source::Span;
use crate::types::Ty;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Makes a function that is marked as a kernel, or a graphics function, one of the program's entry points.
    pub(in crate::check) fn declare_entry_point(&mut self, entity: EntityId, id: FunctionId) {
        let Some(decl) = self.entity(entity).source.latest() else { return };
        let Some(stage) =
            self.entity(entity).source.first().and_then(|d| d.specifiers.stage).or(decl.specifiers.stage)
        else {
            return;
        };
        if decl.body.is_none() || self.entity(entity).class.is_some() {
            return;
        }
        let name = self.host_name(&decl.attributes).unwrap_or_else(|| self.program.function(id).name.clone());
        let span = self.entity(entity).span;
        self.add_entry_point(entity, id, stage, name, span);
    }

    pub(super) fn host_name(&mut self, attributes: &'a [ast::Attribute]) -> Option<SmolStr> {
        let attribute = attributes.iter().find(|attribute| attribute.name == "host_name")?;
        match &*attribute.args {
            [ast::Expr { kind: ast::ExprKind::Str(name), .. }] => Some(name.clone()),
            _ => {
                self.error("host-name", attribute.span, "'host_name' attribute requires a string");
                None
            }
        }
    }

    pub(super) fn add_entry_point(
        &mut self,
        entity: EntityId,
        id: FunctionId,
        stage: Stage,
        name: SmolStr,
        span: Span,
    ) {
        if let Some(other) = self.program.entry_points.iter().find(|entry| entry.name == name) {
            let message = format!("two functions have the name '{name}'");
            let diagnostic = Diagnostic::error("duplicate-entry-point", span, message);
            let diagnostic = diagnostic.note(other.span, "the other one is here");
            self.report(diagnostic);
            return;
        }
        let Some(decl) = self.entity(entity).source.latest() else { return };
        if stage == Stage::Kernel {
            let result = self.program.function(id).result;
            if result != Ty::VOID && !result.is_unknown() {
                let message =
                    format!("kernel function '{name}' must return 'void', not '{}'", self.name_of(result));
                self.error("kernel-result", decl.result.span, message);
            }
        }
        let scope = self.instances[id.0 as usize].signature.scope;
        let (bindings, max_total_threads) =
            self.in_scope(scope, |this| (this.bind_params(id, decl, stage), this.max_total_threads(decl)));
        self.program.entry_points.push(EntryPoint { name, stage, function: id, bindings, max_total_threads, span });
    }

    fn max_total_threads(&mut self, decl: &'a ast::FunctionDecl) -> Option<u32> {
        let attribute = decl.attributes.iter().find(|a| a.name == "max_total_threads_per_threadgroup")?;
        let value = self.attribute_index(attribute, 1024)?;
        if value == 0 {
            self.error("attribute-range", attribute.span, "max_total_threads_per_threadgroup must be at least 1");
            return None;
        }
        Some(value)
    }
}
