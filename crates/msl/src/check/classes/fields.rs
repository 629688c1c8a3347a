//! Fields, bit-fields and alignment.

use crate::check::Checker;
use crate::check::tables::{ClassState, Symbol, Tables};
use crate::parse::ast::{self, Access, DeclKind, FunctionKind, TypeExprKind};
use crate::program::Value;
use crate::source::Span;
use crate::types::{Field, QualTy, StructId, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn declare_field(&mut self, id: StructId, var: &'a ast::VarDecl, access: Access) {
        let mut ty = self.resolve_type(&var.ty);
        let span = var.name.as_ref().map_or(var.ty.span, |name| name.span);
        if let Some(space) = ty.space
            && !ty.ty.is_unknown()
        {
            if space != crate::types::AddressSpace::Thread {
                self.diagnostics.error("address-space", span, "field may not be qualified with an address space");
            }
            ty.space = None;
        }
        self.complete_type(ty.ty);
        match *self.tables.types().kind(ty.ty) {
            TyKind::Struct(field) if self.tables.class(field).state != ClassState::Complete => {
                let message = format!("field has incomplete type '{}'", self.tables.name_of(ty.ty));
                self.diagnostics.error("incomplete", span, message);
                ty = QualTy::plain(Ty::ERROR);
            }
            TyKind::Void | TyKind::Function { .. } => {
                let message = format!("field has incomplete type '{}'", self.tables.name_of(ty.ty));
                self.diagnostics.error("incomplete", span, message);
                ty = QualTy::plain(Ty::ERROR);
            }
            _ => {}
        }
        let name = var.name.as_ref().map(|path| path.last().name.clone()).unwrap_or_default();
        let bits = var.bit_width.as_ref().and_then(|width| self.bit_width(width, ty.ty, &name));
        let init = var.init.as_ref();
        let index = self.tables.add_field(id, name.clone(), ty, bits, span, false, init, access);
        if let Some(attribute) = var.attributes.iter().find(|a| matches!(a.name.as_str(), "alignas" | "aligned")) {
            let align = self.attribute_index(attribute, 1 << 20).map_or(1, u64::from);
            self.tables.types_mut().struct_mut(id).fields[index as usize].min_align = align;
        }
        if let Some(attribute) = var.attributes.iter().find(|attribute| attribute.name == "id") {
            let number = self.attribute_index(attribute, u32::MAX);
            self.tables.types_mut().struct_mut(id).fields[index as usize].id = number;
        }
        if !name.is_empty() {
            if let Some(Symbol::Field(_)) = self.tables.scopes().own(self.position.scope(), &name) {
                self.diagnostics.error("redefinition", span, format!("duplicate member '{name}'"));
                return;
            }
            self.tables.scopes_mut().insert(self.position.scope(), name, Symbol::Field(index));
        }
    }

    fn bit_width(&mut self, width: &'a ast::Expr, ty: Ty, name: &str) -> Option<u32> {
        let is_named = !name.is_empty();
        let integral =
            self.tables.types().is_integral(ty) || self.tables.types().enum_id(ty).is_some() || ty.is_unknown();
        if !integral {
            let message = format!("bit-field '{name}' has non-integral type '{}'", self.tables.name_of(ty));
            self.diagnostics.error("bit-field", width.span, message);
            return None;
        }
        let checked = self.check_value(width);
        match self.evaluate_or_report(&checked, "bit-field width is not a constant expression")? {
            Value::Int(value) => {
                if value == 0 && is_named {
                    self.diagnostics.error("bit-field", width.span, "named bit-field has zero width");
                    return None;
                }
                let most = self.tables.types().layout(ty).map_or(64, |layout| layout.size * 8);
                if value < 0 || value as u64 > most {
                    self.diagnostics.error(
                        "bit-field",
                        width.span,
                        format!("width of bit-field ({value} bits) does not fit its type"),
                    );
                    return None;
                }
                Some(value as u32)
            }
            _ => None,
        }
    }

    pub(super) fn class_alignment(&mut self, decl: &'a ast::ClassDecl) -> u64 {
        let mut align = 1;
        for attribute in &decl.attributes {
            if matches!(attribute.name.as_str(), "alignas" | "aligned") {
                align = align.max(self.attribute_index(attribute, 1 << 20).map_or(1, u64::from));
            }
        }
        align
    }
}

impl<'a> Tables<'a> {
    /// Returns true for a POD of C++03, as clang has it: no base classes, constructors or copy assignments of the user,
    /// no private or initialized fields, no fields that are references or not PODs.
    pub(super) fn is_pod(&self, id: StructId, decl: &ast::ClassDecl) -> bool {
        let (types, class) = (self.types(), self.class(id));
        let is_plain = |field: &Field| {
            let mut ty = field.ty.ty;
            while let TyKind::Array { element, .. } = *types.kind(ty) {
                ty = element;
            }
            match *types.kind(ty) {
                TyKind::Reference { .. } => false,
                TyKind::Struct(field) => types.struct_(field).is_pod,
                _ => true,
            }
        };
        let fields = &types.struct_(id).fields;
        let mut members = fields.iter().zip(&class.field_access).zip(&class.field_inits);
        let are_plain = members.all(|((field, access), init)| {
            let is_open = *access == Access::Public && init.is_none() && !field.is_base;
            field.is_padding() || (is_open && is_plain(field))
        });
        are_plain && !decl.members.iter().flatten().any(|member| is_special_member(decl, member))
    }

    #[allow(clippy::too_many_arguments, reason = "a field has that many facts")]
    pub(super) fn add_field(
        &mut self,
        id: StructId,
        name: SmolStr,
        ty: QualTy,
        bits: Option<u32>,
        span: Span,
        is_base: bool,
        init: Option<&'a ast::Init>,
        access: Access,
    ) -> u32 {
        let bits = bits.map(|width| (0, width));
        let field = Field { name, ty, offset: 0, min_align: 1, bits, is_base, id: None, span };
        self.types_mut().struct_mut(id).fields.push(field);
        let class = self.class_mut(id);
        class.field_inits.push(init);
        class.field_access.push(access);
        class.field_inits.len() as u32 - 1
    }
}

/// Returns true for a constructor or a copy assignment that is neither defaulted nor deleted.
fn is_special_member(class: &ast::ClassDecl, member: &ast::Decl) -> bool {
    let DeclKind::Function(function) = &member.kind else { return false };
    let is_special = match (&function.kind, &*function.params) {
        (FunctionKind::Constructor, _) => true,
        (FunctionKind::Operator(_), [param]) => {
            let is_assignment = function.name.last().name == "operator=" && function.templates.is_empty();
            is_assignment && copies_class(class, &param.ty)
        }
        _ => false,
    };
    is_special && !function.is_defaulted && !function.is_deleted
}

/// Returns true if a parameter of this type takes a copy of the class or an lvalue reference to it.
fn copies_class(class: &ast::ClassDecl, ty: &ast::TypeExpr) -> bool {
    match &ty.kind {
        TypeExprKind::Reference { inner, rvalue: false } | TypeExprKind::Qualified { inner, .. } => {
            copies_class(class, inner)
        }
        TypeExprKind::Named(path) => class.name.as_ref().is_some_and(|name| name.last().name == path.last().name),
        _ => false,
    }
}
