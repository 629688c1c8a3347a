//! Base classes.

use crate::check::Checker;
use crate::check::tables::{ClassState, ScopeId, Tables};
use crate::parse::ast::Access;
use crate::preprocess::LanguageVersion;
use crate::program::CastKind;
use crate::types::{StructId, Ty};

impl<'a> Checker<'a> {
    /// True if `derived` has `base` among its base classes.
    pub(in crate::check) fn derives_from(&mut self, derived: Ty, base: Ty) -> bool {
        let (Some(derived), Some(base)) =
            (self.tables.types().struct_id(derived), self.tables.types().struct_id(base))
        else {
            return false;
        };
        self.complete_class(derived);
        derived != base && self.tables.path_to_base(derived, base).is_some()
    }
}

impl<'a> Tables<'a> {
    /// True if it can be initialized from a list of its members.
    pub(in crate::check) fn is_aggregate(&self, id: StructId) -> bool {
        let class = self.class(id);
        // C++14 has no aggregates with bases, C++17 has.
        let has_base = self.types().struct_(id).fields.iter().any(|field| field.is_base);
        let is_public = class.field_access.iter().all(|access| *access == Access::Public);
        class.constructors.is_empty()
            && class.closure.is_none()
            && class.state == ClassState::Complete
            && is_public
            && (self.std() >= LanguageVersion::new(4, 0) || !has_base)
    }

    /// The fields that lead from `class` to its base or anonymous member `target`, outermost first.
    pub(in crate::check) fn path_to_base(&self, class: StructId, target: StructId) -> Option<Vec<u32>> {
        if class == target {
            return Some(Vec::new());
        }
        let fields = &self.types().struct_(class).fields;
        for (index, field) in fields.iter().enumerate() {
            if !(field.is_base || field.name.is_empty()) {
                continue;
            }
            if let Some(inner) = self.types().struct_id(field.ty.ty)
                && let Some(mut path) = self.path_to_base(inner, target)
            {
                path.insert(0, index as u32);
                return Some(path);
            }
        }
        None
    }

    /// The place of a base class in a class, in bytes.
    pub(in crate::check) fn base_offset(&self, derived: Ty, base: Ty) -> Option<i64> {
        let (mut class, base) = (self.types().struct_id(derived)?, self.types().struct_id(base)?);
        let mut offset = 0;
        for index in self.path_to_base(class, base)? {
            let field = &self.types().struct_(class).fields[index as usize];
            offset += field.offset as i64;
            class = self.types().struct_id(field.ty.ty)?;
        }
        Some(offset)
    }

    /// The cast between pointers to these types.
    pub(in crate::check) fn pointer_cast(&self, from: Ty, to: Ty) -> CastKind {
        let up = self.base_offset(from, to);
        match up.or_else(|| self.base_offset(to, from).map(|offset| -offset)) {
            None | Some(0) => CastKind::Pointer,
            Some(offset) => CastKind::Base(offset),
        }
    }

    /// The namespace around a class, for friends and associated functions.
    pub(in crate::check) fn namespace_of_class(&self, id: StructId) -> ScopeId {
        self.scopes().enclosing_namespace(self.class(id).scope)
    }
}
