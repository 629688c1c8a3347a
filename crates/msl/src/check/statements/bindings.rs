//! `auto [a, b] = e;`: each name is a reference to a part of a variable that has no name.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::initialization::contains_auto;
use crate::parse::ast::{self, Access};
use crate::program::{Expr, ExprKind, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// Declares the names for the parts of `whole`, which is `None` after an error.
    pub(super) fn check_bindings(&mut self, var: &'a ast::VarDecl, whole: Option<LocalId>, out: &mut Vec<Stmt>) {
        let Some(first) = var.bindings.first() else { return };
        if !contains_auto(&var.ty) {
            let message = "decomposition declaration cannot be declared with a type other than 'auto'";
            self.diagnostics.error("decomposition", first.span, message);
        }
        let parts = whole.and_then(|whole| self.parts_of(whole, var.bindings.len(), first.span));
        let Some(parts) = parts else {
            for name in &var.bindings {
                self.tables.poison(self.position.scope(), &name.name);
            }
            return;
        };
        for (name, part) in var.bindings.iter().zip(parts) {
            let has_address = !self.tables.is_vector_element(&part) && !self.tables.is_bit_field(&part);
            let ty = match has_address && part.is_place {
                true => {
                    let space = part.ty.space.unwrap_or(AddressSpace::Thread);
                    QualTy::plain(self.tables.types_mut().reference(part.ty.in_space(space)))
                }
                false => QualTy { is_const: part.ty.is_const, ..QualTy::plain(part.ty.ty) },
            };
            let part = self.convert(part, ty, Purpose::Variable);
            let id = self.function.add_local(name.name.clone(), ty, AddressSpace::Thread, name.span);
            self.declare_local(&name.name, id, name.span);
            out.push(Stmt { kind: StmtKind::Local(id, Some(part)), span: name.span });
        }
    }

    /// The elements of an array or a vector, or the fields of a struct.
    fn parts_of(&mut self, whole: LocalId, names: usize, span: Span) -> Option<Vec<Expr>> {
        let place = self.local(whole, span);
        let ty = place.ty;
        if ty.ty.is_unknown() {
            return None;
        }
        self.complete_type(ty.ty);
        let parts: Option<Vec<Expr>> = match *self.tables.types().kind(ty.ty) {
            TyKind::Array { element, len: Some(len) } => {
                self.refuse_wrong_count(ty.ty, len, names, span)?;
                Some((0..len).map(|at| element_of(&place, element, at, span)).collect())
            }
            TyKind::Vector { element, len } => {
                self.refuse_wrong_count(ty.ty, u64::from(len), names, span)?;
                let parts = (0..u64::from(len)).map(|at| element_of(&place, element, at, span)).collect::<Vec<_>>();
                Some(parts.into_iter().map(|part| self.load(part)).collect())
            }
            TyKind::Struct(class) if !self.tables.types().struct_(class).is_union => {
                let description = self.tables.class(class);
                let is_open = description.field_access.iter().all(|access| *access == Access::Public);
                let fields = &self.tables.types().struct_(class).fields;
                let is_plain = is_open && !fields.iter().any(|field| field.is_base || field.name.is_empty());
                let count = if is_plain { fields.len() as u32 } else { 0 };
                if is_plain {
                    self.refuse_wrong_count(ty.ty, u64::from(count), names, span)?;
                }
                is_plain.then(|| {
                    (0..count).map(|at| self.tables.field_of(place.clone(), class, class, at, span)).collect()
                })
            }
            _ => None,
        };
        if parts.is_none() {
            let message = format!("cannot decompose this type; '{}' is no array, vector or plain struct", {
                self.tables.name_of(ty.ty)
            });
            self.diagnostics.error("decomposition", span, message);
        }
        parts
    }

    fn refuse_wrong_count(&mut self, ty: Ty, parts: u64, names: usize, span: Span) -> Option<()> {
        if parts == names as u64 {
            return Some(());
        }
        let provided = if names == 1 { "name was" } else { "names were" };
        let message = format!(
            "type '{}' decomposes into {parts} elements, but {names} {provided} provided",
            self.tables.name_of(ty)
        );
        self.diagnostics.error("decomposition", span, message);
        None
    }
}

fn element_of(whole: &Expr, element: Ty, at: u64, span: Span) -> Expr {
    let index = Expr::constant(Value::Int(i128::from(at)), Ty::ULONG, span);
    let kind = ExprKind::Index { base: Box::new(whole.clone()), index: Box::new(index) };
    Expr::place(kind, whole.ty.with_ty(element), span)
}
