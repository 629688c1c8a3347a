//! Position of the walk through the tree.

use crate::check::tables::ScopeId;
use crate::types::QualTy;

pub(in crate::check) struct Position {
    /// Innermost scope.
    scope: ScopeId,
    /// Nesting of expressions, classes and templates.
    depth: u32,
    /// The tree is an operand of `sizeof` or `decltype`: only its type counts.
    is_unevaluated: bool,
    /// The tree is a template's pattern, or the body of one.
    in_pattern: bool,
    /// Templates are compared by made-up arguments: dimensions may be anything.
    is_ordering: bool,
    /// Meaning of `auto` while a type with `auto` in it is resolved.
    auto: Option<QualTy>,
    /// Conversion functions that are `explicit` may be used.
    is_explicit: bool,
}

/// Deepest nesting.
const MAX_DEPTH: u32 = 8192;

impl Position {
    pub(in crate::check) fn new() -> Position {
        Position {
            scope: ScopeId::GLOBAL,
            depth: 0,
            is_unevaluated: false,
            in_pattern: false,
            is_ordering: false,
            auto: None,
            is_explicit: false,
        }
    }

    pub(in crate::check) fn scope(&self) -> ScopeId {
        self.scope
    }

    /// Sets the scope; returns the old one. So do the other setters.
    pub(in crate::check) fn set_scope(&mut self, scope: ScopeId) -> ScopeId {
        std::mem::replace(&mut self.scope, scope)
    }

    /// Goes `levels` deeper; returns the old depth.
    pub(in crate::check) fn descend(&mut self, levels: u32) -> u32 {
        let old = self.depth;
        self.depth += levels;
        old
    }

    pub(in crate::check) fn ascend_to(&mut self, depth: u32) {
        self.depth = depth;
    }

    pub(in crate::check) fn is_too_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    pub(in crate::check) fn is_unevaluated(&self) -> bool {
        self.is_unevaluated
    }

    pub(in crate::check) fn set_unevaluated(&mut self, is_unevaluated: bool) -> bool {
        std::mem::replace(&mut self.is_unevaluated, is_unevaluated)
    }

    pub(in crate::check) fn in_pattern(&self) -> bool {
        self.in_pattern
    }

    pub(in crate::check) fn set_in_pattern(&mut self, in_pattern: bool) -> bool {
        std::mem::replace(&mut self.in_pattern, in_pattern)
    }

    pub(in crate::check) fn is_ordering(&self) -> bool {
        self.is_ordering
    }

    pub(in crate::check) fn set_ordering(&mut self, is_ordering: bool) -> bool {
        std::mem::replace(&mut self.is_ordering, is_ordering)
    }

    pub(in crate::check) fn allows_explicit(&self) -> bool {
        self.is_explicit
    }

    /// Allows or forbids explicit conversion functions; returns the old state.
    pub(in crate::check) fn set_explicit(&mut self, is_explicit: bool) -> bool {
        std::mem::replace(&mut self.is_explicit, is_explicit)
    }

    pub(in crate::check) fn auto(&self) -> Option<QualTy> {
        self.auto
    }

    pub(in crate::check) fn set_auto(&mut self, auto: Option<QualTy>) -> Option<QualTy> {
        std::mem::replace(&mut self.auto, auto)
    }
}
