//! Inherited constructors: `using Base::Base;`.

use crate::check::Checker;
use crate::check::expressions::Operand;
use crate::check::names::Qualifier;
use crate::check::tables::{EntityId, Tables};
use crate::parse::ast;
use crate::program::Expr;
use crate::source::Span;
use crate::types::StructId;

impl<'a> Checker<'a> {
    /// True for `Base::Base`, which in a class means the constructors.
    pub(super) fn names_constructor(&self, path: &ast::Path) -> bool {
        matches!(&*path.segments, [.., class, name] if class.name == name.name && name.args.is_none())
    }

    pub(super) fn declare_inherited(&mut self, id: StructId, path: &'a ast::Path) {
        let qualifiers = &path.segments[..path.segments.len() - 1];
        let Ok(Some(Qualifier::Type(ty))) = self.resolve_qualifier(path, qualifiers) else { return };
        let fields = &self.tables.types().struct_(id).fields;
        match self.tables.types().struct_id(ty) {
            Some(base) if fields.iter().any(|field| field.is_base && field.ty.ty == ty) => {
                self.tables.class_mut(id).inherited.push(base);
            }
            _ => {
                let class = self.tables.struct_type(id);
                let message = format!(
                    "'{}' is not a direct base of '{}', cannot inherit constructors",
                    self.tables.name_of(ty),
                    self.tables.name_of(class)
                );
                self.diagnostics.error("base", path.span, message);
            }
        }
    }

    /// The constructors that a call with `args` may use: not the inherited ones that copy the base, nor those with
    /// the parameters of an own one.
    pub(in crate::check) fn without_hidden(
        &mut self,
        class: StructId,
        mut constructors: Vec<EntityId>,
        args: &[Operand<'a>],
    ) -> Vec<EntityId> {
        if self.tables.class(class).inherited.is_empty() {
            return constructors;
        }
        let own = self.tables.own_constructors(class);
        let own: Vec<_> = own.into_iter().filter_map(|entity| self.plain_params(entity)).collect();
        constructors.retain(|&entity| {
            let Some(owner) = self.tables.entity(entity).class.filter(|&owner| owner != class) else { return true };
            let base = self.tables.struct_type(owner);
            if let [Operand::Value(only)] = args
                && (only.ty.ty == base || self.derives_from(only.ty.ty, base))
            {
                return false;
            }
            self.plain_params(entity).is_none_or(|params| !own.contains(&params))
        });
        constructors
    }

    /// Types of the parameters of a function that is no template.
    fn plain_params(&mut self, entity: EntityId) -> Option<Vec<crate::types::QualTy>> {
        if self.tables.entity(entity).header.is_some() {
            return None;
        }
        let signature = self.signature(entity, &[])?;
        Some(signature.params.iter().map(|param| param.ty).collect())
    }

    /// An object of `class` around a part of it, its base `owner`; the rest is initialized by default.
    pub(in crate::check) fn around_base(
        &mut self,
        class: StructId,
        owner: StructId,
        mut value: Expr,
        span: Span,
    ) -> Expr {
        let mut around = Vec::new();
        let mut inner = class;
        for field in self.tables.path_to_base(class, owner).unwrap_or_default() {
            around.push((inner, field));
            let ty = self.tables.types().struct_(inner).fields[field as usize].ty.ty;
            inner = self.tables.types().struct_id(ty).unwrap_or(owner);
        }
        for (class, field) in around.into_iter().rev() {
            let ty = self.tables.struct_type(class);
            let mut values = vec![None; self.tables.types().struct_(class).fields.len()];
            values[field as usize] = Some(value);
            value = self.finish_struct(class, ty, values, span);
        }
        value
    }
}

impl<'a> Tables<'a> {
    /// Adds the inherited constructors to a class whose members are declared. Default constructors are not inherited.
    pub(super) fn inherit_constructors(&mut self, id: StructId) {
        let bases = self.class(id).inherited.clone();
        let of_bases = bases.iter().flat_map(|&base| self.class(base).constructors.clone());
        let takes_some = |entity: &EntityId| !self.entity(*entity).source.params().is_empty();
        let inherited: Vec<EntityId> = of_bases.filter(takes_some).collect();
        if inherited.is_empty() {
            return;
        }
        let class = self.class_mut(id);
        // Only constructors of its own take the implicit one away.
        class.has_default_constructor |= class.constructors.is_empty();
        class.constructors.extend(inherited);
    }

    pub(in crate::check) fn own_constructors(&self, id: StructId) -> Vec<EntityId> {
        let own = self.class(id).constructors.iter().copied();
        own.filter(|&entity| self.entity(entity).class == Some(id)).collect()
    }
}
