//! Source locations, as LLVM's debug metadata: a subprogram for each function, a location for each instruction. The
//! code of a macro is located where the macro is used, and `#line` is obeyed, as with clang.
//!
//! There are lines and columns, and nothing about types and variables.

#[cfg(test)]
mod tests;

use super::{Lowering, ProgramSource};
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DILocation, DIScope, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder, debug_metadata_version,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use msl::source::{Presumed, SourceMap, Span};
use std::collections::HashMap;

/// Makes locations.
pub(super) struct Locations<'ctx, 'p> {
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    sources: &'p SourceMap,
    files: HashMap<&'p str, DIFile<'ctx>>,
    scope: Option<Scope<'ctx, 'p>>,
}

/// The function whose code is located.
struct Scope<'ctx, 'p> {
    subprogram: DIScope<'ctx>,
    file: &'p str,
    /// Parts of it that are in other files.
    others: HashMap<&'p str, DIScope<'ctx>>,
}

/// The position before a function was entered, to return to.
pub(super) struct SourcePosition<'ctx, 'p> {
    scope: Option<Scope<'ctx, 'p>>,
    location: Option<DILocation<'ctx>>,
}

impl<'ctx, 'p> Locations<'ctx, 'p> {
    /// For a module with the kernel or function at this place; none if they are not wanted, or the files are not known.
    pub(super) fn new(
        context: &'ctx Context,
        module: &Module<'ctx>,
        source: ProgramSource<'p>,
        span: Span,
    ) -> Option<Locations<'ctx, 'p>> {
        let sources = source.sources.filter(|_| source.has_locations)?;
        let version = context.i32_type().const_int(debug_metadata_version().into(), false);
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        let (builder, unit) = module.create_debug_info_builder(
            true,
            DWARFSourceLanguage::CPlusPlus14,
            sources.presumed(sources.outermost(span)).file,
            "",
            "Metalworks",
            true,
            "",
            0,
            "",
            DWARFEmissionKind::LineTablesOnly,
            0,
            false,
            false,
            "",
            "",
        );
        Some(Locations { builder, unit, sources, files: HashMap::new(), scope: None })
    }

    fn file(&mut self, name: &'p str) -> DIFile<'ctx> {
        let builder = &self.builder;
        *self.files.entry(name).or_insert_with(|| builder.create_file(name, ""))
    }

    /// The file and line of `span` for people: where its macro is used, with `#line`.
    fn place(&self, span: Span) -> Presumed<'p> {
        self.sources.presumed(self.sources.outermost(span))
    }

    /// Enters a function.
    fn enter(&mut self, function: FunctionValue<'ctx>, name: &str, span: Span) {
        let Presumed { file: name_of_file, line, .. } = self.place(span);
        let file = self.file(name_of_file);
        let ty = self.builder.create_subroutine_type(file, None, &[], DIFlags::ZERO);
        let subprogram = self.builder.create_function(
            self.unit.as_debug_info_scope(),
            name,
            None,
            file,
            line,
            ty,
            true,
            true,
            line,
            DIFlags::ZERO,
            true,
        );
        function.set_subprogram(subprogram);
        let subprogram = subprogram.as_debug_info_scope();
        self.scope = Some(Scope { subprogram, file: name_of_file, others: HashMap::new() });
    }

    /// The location of a span in the function; none for generated code, and outside of functions.
    fn location(&mut self, context: &'ctx Context, span: Span) -> Option<DILocation<'ctx>> {
        if span == Span::default() {
            return None;
        }
        let place = self.place(span);
        let file = self.file(place.file);
        let scope = self.scope.as_mut()?;
        let scope = match place.file == scope.file {
            true => scope.subprogram,
            false => *scope.others.entry(place.file).or_insert_with(|| {
                let block = self.builder.create_lexical_block(scope.subprogram, file, place.line, place.column);
                block.as_debug_info_scope()
            }),
        };
        Some(self.builder.create_debug_location(context, place.line, place.column, scope, None))
    }
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// Enters a function: its instructions get locations. `None` for a generated function.
    pub(super) fn enter_function(
        &mut self,
        function: FunctionValue<'ctx>,
        source: Option<(&str, Span)>,
    ) -> SourcePosition<'ctx, 'p> {
        let location = self.builder.get_current_debug_location();
        self.builder.unset_current_debug_location();
        let Some(locations) = &mut self.locations else { return SourcePosition { scope: None, location } };
        let position = SourcePosition { scope: locations.scope.take(), location };
        if let Some((name, span)) = source {
            locations.enter(function, name, span);
            if let Some(location) = locations.location(self.context, span) {
                self.builder.set_current_debug_location(location);
            }
        }
        position
    }

    /// Returns to the position before `enter_function`.
    pub(super) fn leave_function(&mut self, position: SourcePosition<'ctx, 'p>) {
        if let Some(locations) = &mut self.locations {
            locations.scope = position.scope;
        }
        self.locate(position.location);
    }

    /// Builds code with the location of `span`.
    pub(super) fn at<T>(&mut self, span: Span, build: impl FnOnce(&mut Self) -> T) -> T {
        if span == Span::default() {
            return build(self);
        }
        let outer = std::mem::replace(&mut self.here, span);
        let built = self.with_location(span, build);
        self.here = outer;
        built
    }

    fn with_location<T>(&mut self, span: Span, build: impl FnOnce(&mut Self) -> T) -> T {
        let Some(locations) = &mut self.locations else { return build(self) };
        let Some(location) = locations.location(self.context, span) else { return build(self) };
        let previous = self.builder.get_current_debug_location();
        self.builder.set_current_debug_location(location);
        let built = build(self);
        self.locate(previous);
        built
    }

    fn locate(&self, location: Option<DILocation<'ctx>>) {
        match location {
            Some(location) => self.builder.set_current_debug_location(location),
            None => self.builder.unset_current_debug_location(),
        }
    }
}
