//! Copies of objects whose class says how.

use crate::check::Checker;
use crate::check::tables::{EntityId, Tables};
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{AddressSpace, StructId, Ty, TyKind};

impl<'a> Checker<'a> {
    /// A copy of the object at `place` by the copy constructor that its class declares; `None` if copying its bytes
    /// does.
    pub(in crate::check) fn copied(&mut self, place: &Expr, span: Span) -> Option<Expr> {
        let class = self.tables.types().struct_id(place.ty.ty).filter(|_| place.is_place)?;
        let ty = place.ty.ty;
        let mut constructors = self.tables.class(class).constructors.clone();
        constructors.retain(|&constructor| {
            let entity = self.tables.entity(constructor);
            let is_plain = entity.class == Some(class) && entity.header.is_none() && entity.builtin.is_none();
            is_plain && self.takes_own_reference(constructor, class)
        });
        // An object that may be moved from fits both kinds, and moving is better.
        constructors.sort_by_key(|&constructor| !self.is_move_constructor(constructor));
        for constructor in constructors {
            let Some(signature) = self.signature(constructor, &[]) else { continue };
            if !self.tables.object_fits(constructor, AddressSpace::Thread)
                || self.conversion(place, signature.params[0].ty).is_none()
            {
                continue;
            }
            if self.tables.entity(constructor).source.first().is_some_and(|decl| decl.is_deleted) {
                let message = format!("call to deleted constructor of '{}'", self.tables.name_of(ty));
                self.diagnostics.error("deleted", span, message);
                return Some(Expr::error(span));
            }
            self.refuse_inaccessible(constructor, None, span);
            return Some(self.construct_with(constructor, None, vec![place.clone()], ty, span));
        }
        self.copied_by_member(place, class, span)
    }

    /// A copy member by member, if the class of one has a copy constructor.
    fn copied_by_member(&mut self, place: &Expr, class: StructId, span: Span) -> Option<Expr> {
        let fields = self.tables.types().struct_(class).fields.clone();
        if !fields.iter().any(|field| self.has_copy_constructor(field.ty.ty)) {
            return None;
        }
        if !is_pure(place) || self.tables.types().struct_(class).is_union {
            let message = format!(
                "copies of '{}' from such an expression are not supported: a member has a copy constructor",
                self.tables.name_of(place.ty.ty)
            );
            self.diagnostics.error("unsupported", span, message);
            return Some(Expr::error(span));
        }
        let mut values = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let kind = ExprKind::Field { base: Box::new(place.clone()), field: index as u32 };
            let member = Expr::place(kind, place.ty.with_ty(field.ty.ty), span);
            values.push(match self.copied(&member, span) {
                Some(copy) => copy,
                None => Expr::value(ExprKind::Load(Box::new(member)), field.ty.ty, span),
            });
        }
        Some(Expr::value(ExprKind::Aggregate(values), place.ty.ty, span))
    }

    /// True if copying objects of this type calls a constructor.
    fn has_copy_constructor(&mut self, mut ty: Ty) -> bool {
        while let TyKind::Array { element, .. } = *self.tables.types().kind(ty) {
            ty = element;
        }
        let Some(class) = self.tables.types().struct_id(ty) else { return false };
        let constructors = self.tables.own_constructors(class);
        let copies = |this: &mut Self, id: EntityId| {
            this.tables.entity(id).header.is_none()
                && this.tables.entity(id).builtin.is_none()
                && this.takes_own_reference(id, class)
        };
        if constructors.into_iter().any(|id| copies(self, id)) {
            return true;
        }
        let fields: Vec<Ty> = self.tables.types().struct_(class).fields.iter().map(|field| field.ty.ty).collect();
        fields.into_iter().any(|ty| self.has_copy_constructor(ty))
    }

    fn is_move_constructor(&mut self, constructor: EntityId) -> bool {
        let first = self.signature(constructor, &[]).and_then(|signature| Some(signature.params.first()?.ty.ty));
        first.is_some_and(|ty| matches!(self.tables.types().kind(ty), TyKind::Reference { rvalue: true, .. }))
    }

    /// True for a copy or move constructor: it takes a reference to its class, and needs nothing else.
    fn takes_own_reference(&mut self, constructor: EntityId, class: StructId) -> bool {
        let Some(signature) = self.signature(constructor, &[]) else { return false };
        let [first, rest @ ..] = &*signature.params else { return false };
        let own = match *self.tables.types().kind(first.ty.ty) {
            TyKind::Reference { to, .. } => self.tables.types().struct_id(to.ty) == Some(class),
            _ => false,
        };
        own && rest.iter().all(|param| param.default.is_some())
    }
}

/// True if evaluating a place again changes nothing.
fn is_pure(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Local(_) | ExprKind::Global(_) => true,
        ExprKind::Field { base, .. } => is_pure(base),
        ExprKind::Load(inner) | ExprKind::Deref(inner) => is_pure(inner),
        _ => false,
    }
}

impl<'a> Tables<'a> {
    /// The reason for which a class has no implicit copy assignment.
    pub(in crate::check) fn unassignable_member(&self, class: StructId) -> Option<String> {
        let fields = &self.types().struct_(class).fields;
        let field = fields.iter().find(|field| {
            let is_reference = matches!(self.types().kind(field.ty.ty), TyKind::Reference { .. });
            (field.ty.is_const || is_reference) && !field.is_padding()
        })?;
        let name = self.name_of_class(class);
        Some(format!(
            "object of type '{name}' cannot be assigned because its copy assignment operator is implicitly deleted: \
             member '{}' is a {}",
            field.name,
            if field.ty.is_const { "constant" } else { "reference" }
        ))
    }

    fn name_of_class(&self, class: StructId) -> String {
        self.types().struct_(class).name.to_string()
    }
}
