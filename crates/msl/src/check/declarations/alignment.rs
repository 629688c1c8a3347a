//! `alignas` and `__attribute__((aligned))`.

use crate::check::Checker;
use crate::check::names::Qualifier;
use crate::parse::ast;
use crate::program::Value;
use crate::types::Ty;

/// Most bytes that anything is aligned to.
const MOST: i128 = 1 << 28;

/// Alignment of `aligned` without an argument: that of the largest type.
const LARGEST: u64 = 16;

/// Declaration that asks for an alignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum AlignedThing {
    /// A class, checked once its own alignment is known.
    Class,
    /// A variable or member of this type.
    Object(Ty),
    BitField,
    /// A type alias.
    Alias,
    AliasTemplate,
}

impl<'a> Checker<'a> {
    /// The strictest alignment that attributes ask for; 1 without any.
    pub(in crate::check) fn alignment(&mut self, attributes: &'a [ast::Attribute], thing: AlignedThing) -> u64 {
        let mut align = 1;
        let mut first_alignas = None;
        for attribute in attributes {
            let is_alignas = attribute.name == "alignas";
            if !is_alignas && attribute.name != "aligned" {
                continue;
            }
            if self.refuse_alignment(attribute, thing) {
                continue;
            }
            align = align.max(self.requested_alignment(attribute).unwrap_or(1));
            if is_alignas && first_alignas.is_none() {
                first_alignas = Some(attribute);
            }
        }
        if let (AlignedThing::Object(ty), Some(attribute)) = (thing, first_alignas) {
            self.refuse_weaker_alignment(attribute, align, ty);
        }
        align
    }

    /// The alignment of a variable or member, from its attributes and from those of the alias that names its type.
    pub(in crate::check) fn object_alignment(&mut self, var: &'a ast::VarDecl, ty: Ty) -> u64 {
        let own = self.alignment(&var.attributes, AlignedThing::Object(ty));
        own.max(self.alias_alignment(&var.ty))
    }

    /// Remembers the alignment that attributes give to a type alias. As in clang, objects have it whose type is named
    /// by the alias, but not the type itself.
    pub(super) fn align_alias(&mut self, alias: &'a ast::AliasDecl, ty: Ty) {
        let own = self.tables.types().layout(ty).map_or(1, |layout| layout.align);
        let requested = self.alignment(&alias.attributes, AlignedThing::Alias);
        if requested < own
            && !ty.is_unknown()
            && let Some(attribute) = alias.attributes.iter().find(|attribute| attribute.name == "aligned")
        {
            let message = format!(
                "'aligned' cannot lower the alignment of '{}' from {own}: lowering it by a type alias is not supported",
                self.tables.name_of(ty)
            );
            self.diagnostics.error("alignment", attribute.span, message);
            return;
        }
        let align = requested.max(self.alias_alignment(&alias.ty));
        if align > 1 {
            self.tables.align_alias(self.position.scope(), alias.name.name.clone(), align);
        }
    }

    /// The alignment that the alias in a written type has; 1 without one.
    pub(in crate::check) fn alias_alignment(&mut self, ty: &'a ast::TypeExpr) -> u64 {
        if !self.tables.has_aligned_aliases() {
            return 1;
        }
        match &ty.kind {
            ast::TypeExprKind::Qualified { inner, .. } => self.alias_alignment(inner),
            ast::TypeExprKind::Array { element, .. } => {
                let align = self.alias_alignment(element);
                let resolved = self.resolve_type(element).ty;
                let size = self.tables.types().layout(resolved).map_or(0, |layout| layout.size);
                if !size.is_multiple_of(align) {
                    let message = format!(
                        "size of array element of type '{}' ({size} bytes) is not a multiple of its alignment \
                         ({align} bytes)",
                        self.tables.sources().text(element.span),
                    );
                    self.diagnostics.error("alignment", element.span, message);
                }
                align
            }
            ast::TypeExprKind::Named(path) if path.last().args.is_none() => {
                let (last, qualifiers) = path.segments.split_last().expect("a path has a segment");
                let scope = match (qualifiers, path.global) {
                    ([], false) => self.tables.declaring_scope(self.position.scope(), &last.name),
                    _ => match self.resolve_qualifier(path, qualifiers) {
                        Ok(Some(Qualifier::Namespace(scope))) => Some(scope),
                        Ok(Some(Qualifier::Type(ty))) => {
                            self.tables.types().struct_id(ty).map(|class| self.tables.class(class).scope)
                        }
                        _ => None,
                    },
                };
                scope.map_or(1, |scope| self.tables.aligned_alias(scope, &last.name))
            }
            _ => 1,
        }
    }

    /// `alignas` must not be weaker than the alignment that a type has anyway.
    pub(in crate::check) fn refuse_weaker_alignment(&mut self, attribute: &'a ast::Attribute, align: u64, ty: Ty) {
        let own = self.tables.types().layout(ty).map_or(1, |layout| layout.align);
        // `alignas(0)` asks for nothing, and an argument that depends on a template is not known yet.
        if align == 1 && !self.is_one(attribute) {
            return;
        }
        if align < own {
            let message = format!(
                "requested alignment is less than minimum alignment of {own} for type '{}'",
                self.tables.name_of(ty)
            );
            self.diagnostics.error("alignment", attribute.span, message);
        }
    }

    fn is_one(&mut self, attribute: &'a ast::Attribute) -> bool {
        let checked = attribute.args.first().map(|arg| self.check_value(arg));
        checked.is_some_and(|checked| matches!(self.try_evaluate(&checked), Ok(Value::Int(1))))
    }

    /// Reports an alignment where there can be none.
    fn refuse_alignment(&mut self, attribute: &'a ast::Attribute, thing: AlignedThing) -> bool {
        let name = &attribute.name;
        let message = match (thing, name == "alignas") {
            (AlignedThing::BitField, true) => format!("'{name}' attribute cannot be applied to a bit-field"),
            (AlignedThing::Alias | AlignedThing::AliasTemplate, true) => {
                format!("'{name}' attribute only applies to variables, data members and tag types")
            }
            (AlignedThing::AliasTemplate, false) => {
                format!("attribute '{name}' on an alias template is not supported; align the member or variable")
            }
            _ => return false,
        };
        self.diagnostics.error("alignment", attribute.span, message);
        true
    }

    fn requested_alignment(&mut self, attribute: &'a ast::Attribute) -> Option<u64> {
        let [arg] = &*attribute.args else {
            if attribute.args.is_empty() {
                return Some(LARGEST);
            }
            let message = format!("'{}' attribute takes no more than 1 argument", attribute.name);
            self.diagnostics.error("alignment", attribute.span, message);
            return None;
        };
        let checked = self.check_value(arg);
        let message = format!("'{}' attribute requires an integer constant", attribute.name);
        let value = match self.evaluate_or_report(&checked, &message)? {
            Value::Int(value) => value,
            Value::Unknown => return None,
            _ => {
                self.diagnostics.error("alignment", arg.span, message);
                return None;
            }
        };
        // C++ has `alignas(0)`, without effect.
        if value == 0 && attribute.name == "alignas" {
            return None;
        }
        if value <= 0 || value & (value - 1) != 0 {
            self.diagnostics.error("alignment", arg.span, "requested alignment is not a power of 2");
            return None;
        }
        if value > MOST {
            let message = format!("requested alignment must be {MOST} bytes or smaller");
            self.diagnostics.error("alignment", arg.span, message);
            return None;
        }
        Some(value as u64)
    }
}
