//! Members: fields, methods, swizzles, indices.

use super::operand::{FunctionSet, Operand};
use crate::check::Checker;
use crate::check::names::{closest, did_you_mean};
use crate::check::state::Diagnostics;
use crate::check::tables::{Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `base.member`, `base->member`
    pub(super) fn check_member(
        &mut self,
        base: &'a ast::Expr,
        arrow: bool,
        member: &'a ast::Path,
        span: Span,
    ) -> Operand<'a> {
        let mut object = self.check_expr(base);
        if object.ty.ty.is_unknown() {
            let ty = QualTy::plain(object.ty.ty);
            return Operand::Value(Expr { kind: ExprKind::Error, ty, is_place: true, span });
        }
        if arrow {
            let arrow_object = self.call_arrow(object, member.span);
            let pointer = self.load(arrow_object);
            let Some(_) = self.tables.types().pointee(pointer.ty.ty) else {
                let message = format!(
                    "member reference type '{}' is not a pointer; did you mean to use '.'?",
                    self.tables.name_of(pointer.ty.ty)
                );
                self.diagnostics.error("not-a-pointer", member.span, message);
                return Operand::Value(Expr::error(span));
            };
            object = self.tables.deref(pointer, base.span);
            if object.ty.ty.is_unknown() {
                return Operand::Value(Expr {
                    kind: ExprKind::Error,
                    ty: QualTy::plain(Ty::DEPENDENT),
                    is_place: true,
                    span,
                });
            }
        } else if self.tables.types().pointee(object.ty.ty).is_some() {
            let message = format!(
                "member reference type '{}' is a pointer; did you mean to use '->'?",
                self.tables.name_of(object.ty.ty)
            );
            self.diagnostics.error("is-a-pointer", member.span, message);
            return Operand::Value(Expr::error(span));
        }
        self.member_of(object, member, span)
    }

    /// `operator->` of a class, until it gives a pointer.
    fn call_arrow(&mut self, mut object: Expr, at: Span) -> Expr {
        for _ in 0..16 {
            let Some(class) = self.tables.types().struct_id(object.ty.ty) else { break };
            self.complete_class(class);
            let Some(Symbol::Functions(entities)) =
                self.tables.lookup_member(class, "operator->").map(|found| found.symbol)
            else {
                break;
            };
            let name = "operator->".into();
            let set =
                FunctionSet { name, entities, explicit: None, object: Some(object), span: at, allows_adl: false };
            object = self.call_set(set, Vec::new(), at);
        }
        object
    }

    fn member_of(&mut self, object: Expr, member: &'a ast::Path, span: Span) -> Operand<'a> {
        let last = member.last();
        let name = &last.name;
        match *self.tables.types().kind(object.ty.ty) {
            TyKind::Struct(class) => {
                self.complete_class(class);
                self.class_member(object, class, member, span)
            }
            TyKind::Vector { element, len } | TyKind::PackedVector { element, len } => Operand::Value(swizzle(
                &mut self.tables,
                &mut self.diagnostics,
                object,
                (element, len),
                name,
                last.span,
                span,
            )),
            // Apple's library declares matrices as classes with this one member.
            TyKind::Matrix { element, columns, rows } if name == "columns" => {
                let column = self.tables.types_mut().vector(element, rows);
                let array = TyKind::Array { element: column, len: Some(u64::from(columns)) };
                let array = self.tables.types_mut().intern(array);
                let place = self.tables.temporary(object);
                let target = place.ty.with_ty(array);
                Operand::Value(self.tables.seen_as(place, target, span))
            }
            TyKind::SimdgroupMatrix { element } if name == "thread_elements" => {
                // A method in Metal: `m.thread_elements()` is called with no arguments.
                let ty = self.tables.types_mut().vector(element, 2);
                let quals = object.ty.with_ty(ty);
                let place = Expr::place(ExprKind::ThreadElements(Box::new(object)), quals, span);
                Operand::Functions(FunctionSet {
                    name: name.clone(),
                    entities: Vec::new(),
                    explicit: None,
                    object: Some(place),
                    span: last.span,
                    allows_adl: false,
                })
            }
            _ => {
                let message = format!(
                    "member reference base type '{}' is not a structure or union",
                    self.tables.name_of(object.ty.ty)
                );
                self.diagnostics.error("not-a-struct", last.span, message);
                Operand::Value(Expr::error(span))
            }
        }
    }

    fn class_member(&mut self, object: Expr, class: StructId, member: &'a ast::Path, span: Span) -> Operand<'a> {
        let last = member.last();
        // `object.Base::member`
        let found = match member.segments.len() {
            1 => self.tables.lookup_member(class, &last.name),
            _ => self.resolve_path(member).ok().flatten(),
        };
        let Some(found) = found else {
            if let Some(set) = self.conversion_named(&object, class, last) {
                return Operand::Functions(set);
            }
            return Operand::Value(no_member(&self.tables, &mut self.diagnostics, class, last, span));
        };
        Operand::Value(match found.symbol {
            Symbol::Field(field) => {
                let owner = found.class.unwrap_or(class);
                self.refuse_private_field(owner, field, Some(class), last.span);
                if member.segments.len() == 1 {
                    self.refuse_hidden_member(class, owner, &last.name, last.span);
                }
                let declared = self.tables.types().struct_(owner).fields[field as usize].span;
                self.use_variable(&last.name, declared, last.span);
                self.tables.field_of(object, class, owner, field, span)
            }
            Symbol::Functions(entities) => {
                let object = match found.class.filter(|_| member.segments.len() > 1) {
                    Some(owner) => {
                        let base = self.tables.struct_type(owner);
                        self.tables.upcast_place(object, base)
                    }
                    None => object,
                };
                return Operand::Functions(FunctionSet {
                    name: last.name.clone(),
                    entities,
                    explicit: last.args.as_deref(),
                    object: Some(object),
                    span: last.span,
                    allows_adl: false,
                });
            }
            Symbol::Global(id) => {
                self.force_global(id);
                Expr::place(ExprKind::Global(id), self.tables.global(id).ty, span)
            }
            Symbol::Value(ty, value) => Expr::constant(value, ty, span),
            Symbol::Dependent => {
                Expr { kind: ExprKind::Error, ty: QualTy::plain(Ty::DEPENDENT), is_place: true, span }
            }
            _ => {
                let message = format!("cannot refer to type member '{}' with '.'", last.name);
                self.diagnostics.error("member", last.span, message);
                Expr::error(span)
            }
        })
    }

    /// `object.operator T()`: the conversion functions to `T`.
    fn conversion_named(
        &mut self,
        object: &Expr,
        class: StructId,
        member: &ast::PathSegment,
    ) -> Option<FunctionSet<'a>> {
        let wanted = match self.tables.lookup(self.position.scope(), member.name.strip_prefix("operator ")?)?.symbol
        {
            Symbol::Type(ty) => ty.ty,
            _ => return None,
        };
        let mut entities = self.tables.class(class).conversions.clone();
        entities.retain(|&entity| {
            let signature = self.signature(entity, &[]);
            signature.is_some_and(|signature| signature.result == Some(wanted))
        });
        let name = member.name.clone();
        let object = Some(object.clone());
        (!entities.is_empty()).then_some(FunctionSet {
            name,
            entities,
            explicit: None,
            object,
            span: member.span,
            allows_adl: false,
        })
    }

    pub(super) fn refuse_private_field(
        &mut self,
        class: StructId,
        field: u32,
        object: Option<StructId>,
        span: Span,
    ) {
        let access = self.tables.class(class).field_access[field as usize];
        if access == ast::Access::Public || self.may_access(class, access, object) {
            return;
        }
        let word = if access == ast::Access::Private { "private" } else { "protected" };
        let name = self.tables.types().struct_(class).fields[field as usize].name.clone();
        let message = format!("'{name}' is a {word} member of '{}'", self.tables.types().struct_(class).name);
        self.diagnostics.error("access", span, message);
    }
}

impl<'a> Tables<'a> {
    /// A field, from the object of `class` down to `owner`, the class that declares it.
    pub(in crate::check) fn field_of(
        &self,
        object: Expr,
        class: StructId,
        owner: StructId,
        field: u32,
        span: Span,
    ) -> Expr {
        let mut object = object;
        let mut at = class;
        for step in self.path_to_base(class, owner).unwrap_or_default() {
            object = self.own_field(object, at, step, span);
            at = self.types().struct_id(object.ty.ty).unwrap_or(at);
        }
        let place = self.own_field(object, owner, field, span);
        self.through_reference_field(place)
    }

    pub(super) fn own_field(&self, object: Expr, class: StructId, field: u32, span: Span) -> Expr {
        let field_of_class = &self.types().struct_(class).fields[field as usize];
        let (declared, is_mutable) = (field_of_class.ty, field_of_class.is_mutable);
        let ty = QualTy {
            ty: declared.ty,
            is_const: (object.ty.is_const && !is_mutable) || declared.is_const,
            is_volatile: object.ty.is_volatile || declared.is_volatile,
            coherence: object.ty.coherence.max(declared.coherence),
            space: object.ty.space,
        };
        let is_place = object.is_place;
        Expr { kind: ExprKind::Field { base: Box::new(object), field }, ty, is_place, span }
    }

    fn through_reference_field(&self, field: Expr) -> Expr {
        match self.types().kind(field.ty.ty) {
            TyKind::Reference { .. } if field.is_place => self.through_reference(field),
            TyKind::Reference { .. } => {
                let span = field.span;
                self.deref(field, span)
            }
            _ => field,
        }
    }

    /// True for a component of a vector: it can be read and written, but has no address.
    pub(in crate::check) fn is_vector_element(&self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Swizzle { .. } => true,
            ExprKind::Index { base, .. } => self.types().vector_parts(base.ty.ty).is_some(),
            _ => false,
        }
    }

    /// True for `c ? s.a : s.b` of bit-fields or components, which have no address. Clang does not take it as one.
    pub(in crate::check) fn may_be_part(&self, place: &Expr) -> bool {
        let is_part =
            |place: &Expr| self.is_vector_element(place) || self.is_bit_field(place) || self.may_be_part(place);
        match &place.kind {
            ExprKind::Conditional { then, otherwise, .. } => is_part(then) || is_part(otherwise),
            ExprKind::Swizzle { base, .. } | ExprKind::Comma(_, base) => self.may_be_part(base),
            ExprKind::Index { base, .. } => self.may_be_part(base),
            _ => false,
        }
    }

    /// True for a bit-field.
    pub(in crate::check) fn is_bit_field(&self, place: &Expr) -> bool {
        let ExprKind::Field { base, field } = &place.kind else { return false };
        let id = self.types().struct_id(base.ty.ty);
        id.is_some_and(|id| self.types().struct_(id).fields[*field as usize].bits.is_some())
    }
}

fn no_member(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    class: StructId,
    member: &ast::PathSegment,
    span: Span,
) -> Expr {
    let message = format!("no member named '{}' in '{}'", member.name, tables.types().struct_(class).name);
    let mut names: Vec<&str> = tables.scopes().names(tables.class(class).scope).map(|n| n.as_str()).collect();
    names.sort_unstable();
    let near = closest(&member.name, names.into_iter());
    let diagnostic = did_you_mean(Diagnostic::error("no-member", member.span, message), near);
    diagnostics.report(diagnostic);
    Expr::error(span)
}

fn swizzle(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    vector: Expr,
    (element, len): (Ty, u8),
    name: &str,
    at: Span,
    span: Span,
) -> Expr {
    let set = |letters: &str| name.chars().map(|c| letters.find(c)).collect::<Option<Vec<usize>>>();
    let components = set("xyzw").or_else(|| set("rgba"));
    let Some(components) = components.filter(|c| (1..=4).contains(&c.len())) else {
        let message = format!("illegal vector component name '{name}'");
        diagnostics.error("swizzle", at, message);
        return Expr::error(span);
    };
    if let Some(&outside) = components.iter().find(|&&c| c >= usize::from(len)) {
        let letter = name.chars().nth(components.iter().position(|&c| c == outside).unwrap_or(0)).unwrap_or('?');
        let message = format!(
            "vector component access exceeds type '{}': it has no component '{letter}'",
            tables.name_of(vector.ty.ty)
        );
        diagnostics.error("swizzle", at, message);
        return Expr::error(span);
    }
    let components: Vec<u8> = components.into_iter().map(|c| c as u8).collect();
    let ty = tables.types_mut().vector(element, components.len() as u8);
    let (quals, is_place) = (vector.ty.with_ty(ty), vector.is_place);
    Expr { kind: ExprKind::Swizzle { base: Box::new(vector), components }, ty: quals, is_place, span }
}

/// The address space of a place; thread memory if none is written.
pub(super) fn place_space(place: &Expr) -> AddressSpace {
    place.ty.space.unwrap_or(AddressSpace::Thread)
}
