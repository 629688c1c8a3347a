//! Pointers to members: `int C::*p = &C::x`, their conversions and comparisons.
//!
//! A pointer to data is an offset. A pointer to a method is a pointer to its function, which takes the object as
//! `this`.

use super::operand::{FunctionSet, Operand};
use crate::check::Checker;
use crate::check::names::Qualifier;
use crate::check::tables::{Symbol, Tables, TemplateArg};
use crate::parse::ast::{self, BinaryOp};
use crate::program::{CastKind, Expr, ExprKind, FunctionId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `inner C::*`
    pub(in crate::check) fn member_pointer_to(&mut self, class: &'a ast::Path, inner: &'a ast::TypeExpr) -> QualTy {
        let error = QualTy::plain(Ty::ERROR);
        let Ok(Some(found)) = self.resolve_path(class) else {
            self.undeclared(class, true);
            return error;
        };
        let last = class.last();
        let class_ty = self.symbol_as_type(&found.symbol, last.args.as_deref(), last.span).ty;
        let mut member = self.resolve_type(inner);
        if class_ty.is_unknown() || member.ty.is_unknown() {
            let is_error = class_ty == Ty::ERROR || member.ty == Ty::ERROR;
            return if is_error { error } else { QualTy::plain(Ty::DEPENDENT) };
        }
        let is_reference = matches!(self.tables.types().kind(member.ty), TyKind::Reference { .. });
        let Some(class_id) = self.tables.types().struct_id(class_ty).filter(|_| !is_reference) else {
            let message = match is_reference {
                true => format!("a pointer to a member of reference type '{}'", self.tables.name_of(member.ty)),
                false => format!("member pointer refers into non-class type '{}'", self.tables.name_of(class_ty)),
            };
            self.diagnostics.error("member-pointer", class.span, message);
            return error;
        };
        if let ast::TypeExprKind::Function { quals, .. } = &inner.kind {
            let space = quals.space.unwrap_or(AddressSpace::Thread);
            member = QualTy { is_const: quals.is_const, ..QualTy::plain(member.ty).in_space(space) };
        }
        QualTy::plain(self.tables.types_mut().intern(TyKind::MemberPointer { class: class_id, member }))
    }

    /// `&C::member`; `None` if the path names no member of an object.
    pub(super) fn address_of_member(&mut self, path: &'a ast::Path, span: Span) -> Option<Operand<'a>> {
        let (last, qualifiers) = path.segments.split_last()?;
        if qualifiers.is_empty() {
            return None;
        }
        let named = match self.attempt(|this| this.resolve_qualifier(path, qualifiers)).ok()?.ok()?? {
            Qualifier::Type(ty) => self.tables.types().struct_id(ty)?,
            _ => return None,
        };
        self.complete_class(named);
        let found = self.attempt(|this| this.resolve_path(path)).ok()?.ok()??;
        match found.symbol {
            Symbol::Field(field) => {
                let owner = found.class?;
                self.refuse_private_field(owner, field, Some(named), last.span);
                Some(Operand::Value(self.address_of_field(named, owner, field, span)))
            }
            // An object around it, as in a method of the class, is not meant.
            Symbol::Functions(entities) => Some(Operand::Functions(FunctionSet {
                name: last.name.clone(),
                entities,
                explicit: last.args.as_deref(),
                object: None,
                span: last.span,
                allows_adl: false,
            })),
            _ => None,
        }
    }

    fn address_of_field(&mut self, named: StructId, owner: StructId, field: u32, span: Span) -> Expr {
        let declared = &self.tables.types().struct_(owner).fields[field as usize];
        let (member, is_bit_field) = (declared.ty, declared.bits.is_some());
        let offset = i128::from(declared.offset);
        let is_reference = matches!(self.tables.types().kind(member.ty), TyKind::Reference { .. });
        if is_bit_field || is_reference {
            let message = match is_bit_field {
                true => "address of bit-field requested".into(),
                false => {
                    let name = self.tables.name_of(member.ty);
                    format!("cannot form a pointer-to-member to member of reference type '{name}'")
                }
            };
            self.diagnostics.error("address-of", span, message);
            return Expr::error(span);
        }
        // A member of an anonymous union is one of the class around it.
        let is_anonymous = self.tables.types().struct_(named).fields.iter().any(|part| {
            part.name.is_empty() && !part.is_base && self.tables.types().struct_id(part.ty.ty) == Some(owner)
        });
        let class = if is_anonymous { named } else { owner };
        let (class_ty, owner_ty) = (self.tables.struct_type(class), self.tables.struct_type(owner));
        let offset = offset + self.tables.base_offset(class_ty, owner_ty).map_or(0, i128::from);
        let ty = self.tables.types_mut().intern(TyKind::MemberPointer { class, member });
        Expr::constant(Value::Int(offset + 1), ty, span)
    }

    /// The method of a set that a pointer of type `ty` can point to.
    pub(super) fn method_as_pointer(&mut self, set: FunctionSet<'a>, ty: Ty, span: Span) -> Expr {
        let mut methods = Vec::new();
        for entity in set.entities.clone() {
            let one = FunctionSet { entities: vec![entity], ..set.clone() };
            if let Some(id) = self.only_function(&one)
                && let Some(own) = self.tables.method_pointer_type(id)
                && (own == ty || self.member_pointer_conversion(own, ty))
            {
                methods.push((id, own));
            }
        }
        let [(id, own)] = *methods else {
            let message = format!("no method '{}' has type '{}'", set.name, self.tables.name_of(ty));
            self.diagnostics.error("member-pointer", span, message);
            return Expr::error(span);
        };
        let method = self.method_value(id, own, span);
        self.tables.convert_value(method, ty)
    }

    /// A method as a value.
    pub(super) fn method_value(&mut self, id: FunctionId, ty: Ty, span: Span) -> Expr {
        self.request(id, span);
        self.tables.need_body(id);
        Expr::value(ExprKind::Function(id), ty, span)
    }

    /// True if a pointer to a member of a class is one to a member of a class derived from it.
    pub(in crate::check) fn member_pointer_conversion(&mut self, from: Ty, to: Ty) -> bool {
        let types = self.tables.types();
        let (Some((base, member)), Some((derived, wanted))) =
            (types.member_pointer(from), types.member_pointer(to))
        else {
            return false;
        };
        let is_method = types.is_function(member.ty);
        let (base, derived) = (self.tables.struct_type(base), self.tables.struct_type(derived));
        let is_derived = base == derived || self.derives_from(derived, base);
        // The object of a method may lie elsewhere in that of a derived class: `this` would change.
        let keeps_object = !is_method || self.tables.base_offset(derived, base).unwrap_or(0) == 0;
        let quals_fit = match is_method {
            true => member == wanted,
            false => member.ty == wanted.ty && (wanted.is_const || !member.is_const),
        };
        is_derived && keeps_object && quals_fit
    }

    /// `p == q`, `p != nullptr`; `None` if neither is a pointer to a member.
    pub(super) fn compare_member_pointers(
        &mut self,
        op: BinaryOp,
        lhs: &Expr,
        rhs: &Expr,
        span: Span,
    ) -> Option<Expr> {
        let is_pointer = |this: &Self, ty: Ty| this.tables.types().member_pointer(ty).is_some();
        let common = match (is_pointer(self, lhs.ty.ty), is_pointer(self, rhs.ty.ty)) {
            (false, false) => return None,
            (false, true) => rhs.ty.ty,
            (true, true) if self.member_pointer_conversion(lhs.ty.ty, rhs.ty.ty) => rhs.ty.ty,
            _ => lhs.ty.ty,
        };
        let common_ty = QualTy::plain(common);
        let fits = [lhs, rhs].iter().all(|side| self.conversion(side, common_ty).is_some());
        if !fits || !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            return None;
        }
        let [lhs, rhs] = [lhs, rhs].map(|side| self.tables.comparable(side.clone(), common));
        Some(Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, Ty::BOOL, span))
    }

    /// A pointer to a member as argument for a parameter of type `ty`.
    pub(in crate::check) fn member_pointer_arg(&mut self, expr: &Expr, ty: Ty) -> Option<TemplateArg> {
        if self.conversion(expr, QualTy::plain(ty)).is_none() {
            let message = format!(
                "value of type '{}' is not implicitly convertible to '{}'",
                self.tables.name_of(expr.ty.ty),
                self.tables.name_of(ty)
            );
            self.diagnostics.error("template-argument-kind", expr.span, message);
            return None;
        }
        let value = self.load(expr.clone());
        let value = self.tables.convert_value(value, ty);
        if let ExprKind::Function(id) = value.kind {
            return Some(TemplateArg::Function(id));
        }
        match self.evaluate_or_report(&value, "non-type template argument is not a constant expression")? {
            Value::Int(place) => Some(TemplateArg::Int(ty, place)),
            Value::Function(id) => Some(TemplateArg::Function(id)),
            Value::Unknown => Some(TemplateArg::UnknownValue),
            _ => {
                let message = format!("this value of type '{}' is not supported here", self.tables.name_of(ty));
                self.diagnostics.error("unsupported", expr.span, message);
                None
            }
        }
    }
}

impl<'a> Tables<'a> {
    /// The type of a pointer to this method; `None` for a function without an object.
    pub(in crate::check) fn method_pointer_type(&mut self, id: FunctionId) -> Option<Ty> {
        self.instance(id).signature.this?;
        let function = self.function(id);
        let mut params = function.params.iter().map(|param| function.locals[param.0 as usize].ty.ty);
        let this = self.types().pointee(params.next()?)?;
        let kind = TyKind::Function { result: function.result, params: params.collect() };
        let class = self.types().struct_id(this.ty)?;
        let function = self.types_mut().intern(kind);
        let space = this.space.unwrap_or(AddressSpace::Thread);
        let member = QualTy { is_const: this.is_const, ..QualTy::plain(function).in_space(space) };
        Some(self.types_mut().intern(TyKind::MemberPointer { class, member }))
    }

    /// A pointer to a member as `bool`, or as one to a member of a derived class.
    pub(in crate::check) fn convert_member_pointer(&self, value: Expr, to: Ty) -> Expr {
        let (from, span) = (value.ty.ty, value.span);
        let is_method = self.types().member_pointer(from).is_some_and(|(_, m)| self.types().is_function(m.ty));
        let cast = |kind: CastKind, operand: Expr, ty: Ty| {
            Expr::value(ExprKind::Cast { kind, operand: Box::new(operand) }, ty, span)
        };
        if to == Ty::BOOL {
            return cast(if is_method { CastKind::PointerToBool } else { CastKind::Number }, value, to);
        }
        if is_method {
            return Expr { ty: QualTy::plain(to), ..value };
        }
        let offset = self.member_class(from).zip(self.member_class(to)).map_or(0, |(base, derived)| {
            let path = self.path_to_base(derived, base).unwrap_or_default();
            self.offset_of_path(derived, &path)
        });
        if offset == 0 {
            return Expr { ty: QualTy::plain(to), ..value };
        }
        if let ExprKind::Constant(Value::Int(place)) = value.kind {
            let moved = if place == 0 { 0 } else { place + offset };
            return Expr::constant(Value::Int(moved), to, span);
        }
        // Null stays null: the offset times whether it is none.
        let number = |expr: Expr| cast(CastKind::Number, expr, Ty::LONG);
        let is_some = number(cast(CastKind::Number, value.clone(), Ty::BOOL));
        let by = Expr::constant(Value::Int(offset), Ty::LONG, span);
        let binary = |op: BinaryOp, lhs: Expr, rhs: Expr| {
            let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) };
            Expr::value(kind, Ty::LONG, span)
        };
        let moved = binary(BinaryOp::Add, number(value), binary(BinaryOp::Mul, is_some, by));
        cast(CastKind::Number, moved, to)
    }

    fn member_class(&self, pointer: Ty) -> Option<StructId> {
        self.types().member_pointer(pointer).map(|(class, _)| class)
    }

    fn offset_of_path(&self, mut class: StructId, path: &[u32]) -> i128 {
        let mut offset = 0;
        for &index in path {
            let field = &self.types().struct_(class).fields[index as usize];
            offset += i128::from(field.offset);
            class = self.types().struct_id(field.ty.ty).unwrap_or(class);
        }
        offset
    }

    /// A pointer to a member of type `common`, as a number or pointer.
    fn comparable(&mut self, value: Expr, common: Ty) -> Expr {
        let span = value.span;
        let value = self.convert_value(value, common);
        let member = self.types().member_pointer(common).map(|(_, member)| member);
        let (kind, ty) = match member.filter(|member| self.types().is_function(member.ty)) {
            Some(member) => (CastKind::Pointer, self.types_mut().pointer(QualTy::plain(member.ty))),
            None => (CastKind::Number, Ty::LONG),
        };
        Expr::value(ExprKind::Cast { kind, operand: Box::new(value) }, ty, span)
    }
}
