//! Entry points of the program.

use super::StageKind;
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::EntityId;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Stage};
use crate::program::{EntryPoint, FunctionId, VisibleFunction};
use crate::source::Span;
use crate::types::Ty;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Makes a function that is marked as a kernel, or a graphics function, one of the program's entry points.
    pub(in crate::check) fn declare_entry_point(&mut self, entity: EntityId, id: FunctionId) {
        let Some(decl) = self.tables.entity(entity).source.latest() else { return };
        self.declare_visible_function(entity, id, decl);
        self.tables.add_external_function(entity, id);
        let Some(stage) =
            self.tables.entity(entity).source.first().and_then(|d| d.specifiers.stage).or(decl.specifiers.stage)
        else {
            return;
        };
        // A static member is an entry point, unless its class is a template: an instance has no name to call it by.
        let is_of_template =
            self.tables.entity(entity).class.is_some_and(|class| self.tables.class(class).template.is_some());
        let has_object = self.tables.instance(id).signature.this.is_some();
        if decl.body.is_none() || is_of_template || has_object {
            return;
        }
        let name = host_name(&mut self.diagnostics, &decl.attributes)
            .unwrap_or_else(|| self.tables.function(id).name.clone());
        let span = self.tables.entity(entity).span;
        self.add_entry_point(entity, id, stage, name, span);
    }

    /// Lists a function with the attribute `[[visible]]` or `[[stitchable]]`.
    fn declare_visible_function(&mut self, entity: EntityId, id: FunctionId, decl: &'a ast::FunctionDecl) {
        let first = self.tables.entity(entity).source.first();
        let attributes = first.into_iter().chain([decl]).flat_map(|decl| &decl.attributes);
        let Some(attribute) = linked_attribute(attributes) else { return };
        let attribute_name = &attribute.name;
        if self.tables.entity(entity).class.is_some() {
            let message = format!("'{attribute_name}' attribute cannot be applied to a member function");
            self.diagnostics.error("visible", attribute.span, message);
            return;
        }
        if let Some(stage) = first.into_iter().chain([decl]).find_map(|decl| decl.specifiers.stage)
            && stage != Stage::Other
        {
            let message = format!("'{attribute_name}' attribute cannot be applied to an entry point");
            self.diagnostics.error("visible", attribute.span, message);
            return;
        }
        if decl.body.is_none() {
            return;
        }
        let span = self.tables.entity(entity).span;
        let name = host_name(&mut self.diagnostics, &decl.attributes);
        let name = name.unwrap_or_else(|| self.tables.function(id).name.clone());
        self.add_visible_function(id, name, span);
    }

    pub(super) fn add_visible_function(&mut self, id: FunctionId, name: SmolStr, span: Span) {
        if let Some(other) = self.named_function(&name) {
            let message = format!("two functions have the name '{name}'");
            let diagnostic = Diagnostic::error("duplicate-entry-point", span, message);
            self.diagnostics.report(diagnostic.note(other, "the other one is here"));
            return;
        }
        self.tables.add_visible_function(VisibleFunction { name, function: id, span });
    }

    /// The place of the function that a host knows by this name.
    fn named_function(&self, name: &str) -> Option<Span> {
        let program = self.tables.program();
        let visible = program.visible_functions.iter().find(|function| function.name == name);
        let entry = program.entry_points.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.span).or(visible.map(|function| function.span))
    }

    pub(super) fn add_entry_point(
        &mut self,
        entity: EntityId,
        id: FunctionId,
        stage: Stage,
        name: SmolStr,
        span: Span,
    ) {
        if let Some(other) = self.named_function(&name) {
            let message = format!("two functions have the name '{name}'");
            let diagnostic = Diagnostic::error("duplicate-entry-point", span, message);
            let diagnostic = diagnostic.note(other, "the other one is here");
            self.diagnostics.report(diagnostic);
            return;
        }
        let Some(decl) = self.tables.entity(entity).source.latest() else { return };
        if stage == Stage::Kernel {
            let result = self.tables.function(id).result;
            if result != Ty::VOID && !result.is_unknown() {
                let message =
                    format!("kernel function '{name}' must return 'void', not '{}'", self.tables.name_of(result));
                self.diagnostics.error("kernel-result", decl.result.span, message);
            }
        }
        let function = self.tables.function(id);
        let types: Vec<Ty> = function.params.iter().map(|param| function.locals[param.0 as usize].ty.ty).collect();
        let (result, kind) = (function.result, StageKind::of(stage, decl));
        let scope = self.tables.instance(id).signature.scope;
        self.in_scope(scope, |this| this.check_stage(decl, kind, result, &types));
        let (bindings, max_total_threads) =
            self.in_scope(scope, |this| (this.bind_params(id, decl, stage), this.max_total_threads(decl)));
        self.tables.add_entry_point(EntryPoint { name, stage, function: id, bindings, max_total_threads, span });
        if kind == StageKind::Intersection {
            let (tags, outputs) = self.intersection_words(decl, result);
            self.tables.add_intersection_function(tags, outputs);
        }
    }

    fn max_total_threads(&mut self, decl: &'a ast::FunctionDecl) -> Option<u32> {
        let attribute = decl.attributes.iter().find(|a| a.name == "max_total_threads_per_threadgroup")?;
        let value = self.attribute_index(attribute, 1024)?;
        if value == 0 {
            self.diagnostics.error(
                "attribute-range",
                attribute.span,
                "max_total_threads_per_threadgroup must be at least 1",
            );
            return None;
        }
        Some(value)
    }
}

/// The attribute of a function that a host links to kernels. One that can be stitched is visible, too.
pub(super) fn linked_attribute<'a>(
    attributes: impl IntoIterator<Item = &'a ast::Attribute>,
) -> Option<&'a ast::Attribute> {
    attributes.into_iter().find(|attribute| matches!(&*attribute.name, "visible" | "stitchable"))
}

pub(super) fn host_name(diagnostics: &mut Diagnostics, attributes: &[ast::Attribute]) -> Option<SmolStr> {
    let attribute = attributes.iter().find(|attribute| attribute.name == "host_name")?;
    match &*attribute.args {
        [ast::Expr { kind: ast::ExprKind::Str(name), .. }] => Some(name.clone()),
        _ => {
            diagnostics.error("host-name", attribute.span, "'host_name' attribute requires a string");
            None
        }
    }
}
