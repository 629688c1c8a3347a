//! User-defined conversions: converting constructors and conversion functions.

use super::rank::{Conversion, Rank};
use crate::check::Checker;
use crate::check::tables::{EntityId, Tables, TemplateArg};
use crate::program::{Expr, ExprKind};
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

/// A conversion function for a type.
struct Found {
    function: EntityId,
    args: Vec<TemplateArg>,
    /// Rank of the conversion from its result.
    after: Rank,
    /// True if another function does as well.
    is_ambiguous: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn user_conversion(&mut self, expr: &Expr, to: Ty) -> Option<Conversion> {
        if let TyKind::Struct(class) = *self.tables.types().kind(to) {
            self.complete_class(class);
            let constructors = self.tables.class(class).constructors.clone();
            if let Some(via) = self.converting_constructor(&constructors, expr) {
                return Some(Conversion::by(via, Rank::Exact));
            }
        }
        if let TyKind::Struct(class) = *self.tables.types().kind(expr.ty.ty) {
            self.complete_class(class);
            if let Some((function, _)) = self.lambda_as_function(class, to, expr.span) {
                return Some(Conversion::by(function, Rank::Exact));
            }
            let found = self.conversion_function(class, expr, to)?;
            return Some(Conversion::by(found.function, found.after));
        }
        None
    }

    fn converting_constructor(&mut self, constructors: &[EntityId], expr: &Expr) -> Option<EntityId> {
        let mut best: Option<(EntityId, Conversion)> = None;
        for &constructor in constructors {
            let is_explicit =
                self.tables.entity(constructor).source.first().is_some_and(|d| d.specifiers.is_explicit);
            if is_explicit {
                continue;
            }
            let Some((_, signature)) = self.deduce_for_exprs(constructor, None, std::slice::from_ref(expr)) else {
                continue;
            };
            let required = signature.params.iter().filter(|p| p.default.is_none()).count();
            if signature.params.is_empty() || required > 1 {
                continue;
            }
            if !self.tables.object_fits(constructor, AddressSpace::Thread) || self.lacks_constant(constructor, expr)
            {
                continue;
            }
            let Some(conversion) = self.conversion_with(expr, signature.params[0].ty, false) else { continue };
            if best.is_none_or(|(_, old)| conversion.rank < old.rank) {
                best = Some((constructor, conversion));
            }
        }
        best.map(|(constructor, _)| constructor)
    }

    /// The conversion function that gives `to`, or something that converts to it.
    fn conversion_function(&mut self, class: crate::types::StructId, object: &Expr, to: Ty) -> Option<Found> {
        let mut candidates = self.tables.class(class).conversions.clone();
        for base in self.tables.class(class).bases.clone() {
            candidates.extend(self.tables.class(base).conversions.iter().copied());
        }
        let mut best: Option<(Rank, EntityId, Vec<TemplateArg>)> = None;
        let (mut first_result, mut is_ambiguous) = (None, false);
        for candidate in candidates {
            if self.tables.is_explicit_conversion(candidate) && !self.position.allows_explicit() {
                continue;
            }
            let Some((args, signature)) = self.deduce_conversion(candidate, to) else { continue };
            let Some(this) = signature.this else { continue };
            if !self.tables.object_converts(object, this, candidate) {
                continue;
            }
            let Some(result) = signature.result else { continue };
            let value = Expr::value(ExprKind::Error, result, object.span);
            let Some(conversion) = self.standard_conversion(result, to, &value) else { continue };
            let is_template = self.tables.entity(candidate).header.is_some();
            match &best {
                // Two numbers to convert from, as good as each other.
                Some((Rank::Conversion, first, ..))
                    if conversion.rank == Rank::Conversion
                        && !is_template
                        && self.tables.entity(*first).header.is_none()
                        && first_result != Some(result) =>
                {
                    is_ambiguous = true;
                }
                Some((rank, ..)) if conversion.rank >= *rank => {}
                _ => {
                    is_ambiguous = false;
                    first_result = Some(result);
                    best = Some((conversion.rank, candidate, args));
                }
            }
        }
        best.map(|(after, function, args)| Found { function, args, after, is_ambiguous })
    }

    pub(super) fn apply_user(&mut self, expr: Expr, to: Ty, via: EntityId) -> Expr {
        let span = expr.span;
        let is_constructor = self
            .tables
            .entity(via)
            .source
            .first()
            .is_some_and(|decl| matches!(decl.kind, crate::parse::ast::FunctionKind::Constructor));
        if is_constructor {
            return self.construct_with(via, None, vec![expr], to, span);
        }
        let class = self.tables.types().struct_id(expr.ty.ty).expect("a class with a conversion function");
        if let Some((_, function)) = self.lambda_as_function(class, to, span) {
            return self.pointer_to_lambda(function, to, span);
        }
        let Some(found) = self.conversion_function(class, &expr, to) else { return Expr::error(span) };
        if found.is_ambiguous {
            let (from, to) = (self.tables.name_of(expr.ty.ty), self.tables.name_of(to));
            let message = format!("conversion from '{from}' to '{to}' is ambiguous");
            self.diagnostics.error("ambiguous-conversion", span, message);
        }
        let result = self.call_method(found.function, found.args, expr, Vec::new(), span);
        let result = self.load(result);
        self.tables.convert_value(result, to)
    }
}

impl<'a> Tables<'a> {
    /// True if a conversion function is `explicit`: for casts and conditions only.
    pub(in crate::check) fn is_explicit_conversion(&self, function: EntityId) -> bool {
        self.entity(function).source.first().is_some_and(|decl| decl.specifiers.is_explicit)
    }

    /// True if a constructor makes objects in `space`.
    pub(in crate::check) fn object_fits(&self, constructor: EntityId, space: AddressSpace) -> bool {
        let quals = self.entity(constructor).source.first().map(|decl| decl.method_quals);
        quals.and_then(|quals| quals.space).unwrap_or(AddressSpace::Thread) == space
    }

    /// True if a method whose `this` points to `this` may be called on `object`.
    pub(in crate::check) fn object_converts(&self, object: &Expr, this: QualTy, method: EntityId) -> bool {
        let space =
            if object.is_place { object.ty.space.unwrap_or(AddressSpace::Thread) } else { AddressSpace::Thread };
        let is_builtin = self.entity(method).builtin.is_some();
        let space_fits = is_builtin || this.space == Some(space);
        let loses_const = object.ty.is_const && !this.is_const;
        let loses_volatile = object.ty.is_volatile && !this.is_volatile;
        space_fits && (!(loses_const || loses_volatile) || !object.is_place || is_builtin)
    }
}
