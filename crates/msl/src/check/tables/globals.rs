//! Variables in constant memory.

use super::Tables;
use super::scopes::ScopeId;
use crate::parse::ast;
use crate::program::{Global, GlobalId};
use crate::source::Span;
use crate::types::QualTy;
use smol_str::SmolStr;

/// Initializer of a static member that has not been used yet.
pub(in crate::check) struct GlobalInit<'a> {
    pub(in crate::check) decl: &'a ast::VarDecl,
    pub(in crate::check) scope: ScopeId,
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn global(&self, id: GlobalId) -> &Global {
        self.program.global(id)
    }

    pub(in crate::check) fn global_mut(&mut self, id: GlobalId) -> &mut Global {
        &mut self.program.globals[id.0 as usize]
    }

    pub(in crate::check) fn add_global(&mut self, name: SmolStr, ty: QualTy, span: Span) -> GlobalId {
        self.program.globals.push(Global {
            name,
            ty,
            value: None,
            function_constant: None,
            init: None,
            is_dynamic: false,
            min_align: 1,
            span,
        });
        GlobalId(self.program.globals.len() as u32 - 1)
    }

    /// Keeps an initializer until the global is used.
    pub(in crate::check) fn defer_init(&mut self, id: GlobalId, init: GlobalInit<'a>) {
        self.global_inits.insert(id, init);
    }

    /// Marks a global whose initializer is checked and evaluated now.
    pub(in crate::check) fn begin_init(&mut self, id: GlobalId) {
        self.in_initialization.insert(id);
    }

    pub(in crate::check) fn end_init(&mut self, id: GlobalId) {
        self.in_initialization.remove(&id);
    }

    pub(in crate::check) fn is_being_initialized(&self, id: GlobalId) -> bool {
        self.in_initialization.contains(&id)
    }

    /// The initializer of a static member that was not used yet.
    pub(in crate::check) fn deferred_init(&self, id: GlobalId) -> Option<&GlobalInit<'a>> {
        self.global_inits.get(&id)
    }

    pub(in crate::check) fn take_deferred_init(&mut self, id: GlobalId) -> Option<GlobalInit<'a>> {
        self.global_inits.remove(&id)
    }
}
