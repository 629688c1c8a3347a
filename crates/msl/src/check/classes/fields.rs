//! Fields, bit-fields and alignment.

use crate::check::Checker;
use crate::check::tables::{ClassState, Symbol, Tables};
use crate::parse::ast::{self, Access};
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
