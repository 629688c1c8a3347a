//! Fields, bit-fields and alignment.

use crate::check::Checker;
use crate::check::declarations::AlignedThing;
use crate::check::state::Diagnostics;
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
        let mut element = ty.ty;
        while let TyKind::Array { element: inner, .. } = *self.tables.types().kind(element) {
            element = inner;
        }
        self.complete_type(element);
        match *self.tables.types().kind(element) {
            TyKind::Struct(field) if self.tables.class(field).state != ClassState::Complete => {
                let name = self.tables.name_of(element);
                let message = match element == ty.ty {
                    true => format!("field has incomplete type '{name}'"),
                    false => format!("array has incomplete element type '{name}'"),
                };
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
        if var.specifiers.is_mutable {
            refuse_mutable(&self.tables, &mut self.diagnostics, ty, span);
        }
        self.note_attributes(&var.attributes, span);
        let name = var.name.as_ref().map(|path| path.last().name.clone()).unwrap_or_default();
        let bits = var.bit_width.as_ref().and_then(|width| self.bit_width(width, ty.ty, &name));
        let init = var.init.as_ref();
        let index = self.tables.add_field(id, name.clone(), ty, bits, span, false, init, access);
        let min_align = match var.bit_width.is_some() {
            true => self.alignment(&var.attributes, AlignedThing::BitField),
            false => self.object_alignment(var, ty.ty),
        };
        let field = &mut self.tables.types_mut().struct_mut(id).fields[index as usize];
        field.min_align = min_align;
        field.is_mutable = var.specifiers.is_mutable;
        field.is_packed = var.attributes.iter().any(|attribute| attribute.name == "packed");
        if let Some(attribute) = var.attributes.iter().find(|attribute| attribute.name == "id") {
            let number = self.attribute_index(attribute, u32::MAX);
            self.tables.types_mut().struct_mut(id).fields[index as usize].id = number;
        }
        if !name.is_empty() {
            self.refuse_template_parameter(&name, span);
            if self.tables.has_member(id, &name) {
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
}

/// `mutable` members are neither constants nor references.
fn refuse_mutable(tables: &Tables<'_>, diagnostics: &mut Diagnostics, ty: QualTy, span: Span) {
    if ty.is_const {
        diagnostics.error("mutable", span, "'mutable' and 'const' cannot be mixed");
    }
    if let TyKind::Reference { .. } = tables.types().kind(ty.ty) {
        diagnostics.error("mutable", span, "'mutable' cannot be applied to references");
    }
}

impl<'a> Tables<'a> {
    /// Returns true for a POD of C++11: trivial, and of standard layout. clang's layout for Apple's ARM64 goes by that.
    pub(super) fn is_pod(&self, id: StructId, decl: &ast::ClassDecl) -> bool {
        self.has_standard_layout(id) && self.has_trivial_fields(id) && has_trivial_members(decl)
    }

    /// Returns true if all data members have the same access and are declared in one class. Their types are the concern
    /// of [`Self::has_trivial_fields`].
    fn has_standard_layout(&self, id: StructId) -> bool {
        let (types, class) = (self.types(), self.class(id));
        let all = types.struct_(id).fields.iter().zip(&class.field_access);
        let (bases, mut members): (Vec<_>, Vec<_>) = all.partition(|(field, _)| field.is_base);
        members.retain(|(field, _)| !field.is_padding());
        let with_members = bases.iter().filter(|(base, _)| self.has_members(base.ty.ty)).count();
        let Some((first, access)) = members.first() else { return with_members <= 1 };
        let is_base = bases.iter().any(|(base, _)| base.ty.ty == first.ty.ty);
        with_members == 0 && !is_base && members.iter().all(|(_, other)| other == access)
    }

    /// Returns true if a class or one of its base classes has data members.
    fn has_members(&self, ty: Ty) -> bool {
        let Some(id) = self.types().struct_id(ty) else { return false };
        let mut fields = self.types().struct_(id).fields.iter();
        fields.any(|field| if field.is_base { self.has_members(field.ty.ty) } else { !field.is_padding() })
    }

    fn has_trivial_fields(&self, id: StructId) -> bool {
        let types = self.types();
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
        let mut fields = types.struct_(id).fields.iter().zip(&self.class(id).field_inits);
        fields.all(|(field, init)| field.is_padding() || (init.is_none() && is_plain(field)))
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
        let is_anonymous = name.is_empty() && !is_base && bits.is_none();
        let anonymous = self.types().struct_id(ty.ty).filter(|_| is_anonymous);
        let bits = bits.map(|width| (0, width));
        let field = Field {
            name,
            ty,
            offset: 0,
            min_align: 1,
            is_packed: false,
            is_mutable: false,
            bits,
            is_base,
            id: None,
            span,
        };
        self.types_mut().struct_mut(id).fields.push(field);
        let class = self.class_mut(id);
        class.field_inits.push(init);
        class.field_access.push(access);
        class.anonymous.extend(anonymous);
        class.field_inits.len() as u32 - 1
    }
}

/// Returns true if a class has a trivial default constructor, and trivial copies and moves.
fn has_trivial_members(class: &ast::ClassDecl) -> bool {
    let functions = || {
        class.members.iter().flatten().filter_map(|member| match &member.kind {
            DeclKind::Function(function) => Some(function),
            _ => None,
        })
    };
    let is_constructor = |function: &&ast::FunctionDecl| matches!(function.kind, FunctionKind::Constructor);
    // A defaulted or deleted function is trivial, and a constructor with parameters leaves none without.
    let is_default = |function: &ast::FunctionDecl| {
        function.params.iter().all(|param| param.default.is_some()) && function.templates.is_empty()
    };
    let has_default = functions().all(|function| !is_constructor(&function))
        || functions().filter(is_constructor).any(is_default);
    let is_special = |function: &ast::FunctionDecl| {
        let [param] = &*function.params else { return is_constructor(&function) && is_default(function) };
        let is_assignment =
            matches!(function.kind, FunctionKind::Operator(_)) && function.name.last().name == "operator=";
        let copies = (is_assignment || is_constructor(&function)) && takes_class(class, &param.ty);
        (copies && function.templates.is_empty()) || (is_constructor(&function) && is_default(function))
    };
    // To check an `alignas`, clang lays the class out before it has looked at defaulted functions, and this stays.
    let is_early = class.attributes.iter().any(|attribute| attribute.name == "alignas");
    let is_trivial = |function: &ast::FunctionDecl| (function.is_defaulted && !is_early) || function.is_deleted;
    has_default && functions().all(|function| !is_special(function) || is_trivial(function))
}

/// Returns true if a parameter of this type takes the class or a reference to it.
fn takes_class(class: &ast::ClassDecl, ty: &ast::TypeExpr) -> bool {
    match &ty.kind {
        TypeExprKind::Reference { inner, .. } | TypeExprKind::Qualified { inner, .. } => takes_class(class, inner),
        TypeExprKind::Named(path) => class.name.as_ref().is_some_and(|name| name.last().name == path.last().name),
        _ => false,
    }
}
