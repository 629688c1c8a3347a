//! Enums.

use crate::check::Checker;
use crate::check::tables::{ScopeKind, Symbol};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::Value;
use crate::types::{Enum, EnumId, QualTy, Ty};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(in crate::check) fn declare_enum(&mut self, decl: &'a ast::EnumDecl) -> Option<Ty> {
        let name = decl.name.as_ref().map_or(SmolStr::new_static("(unnamed enum)"), |name| name.name.clone());
        let underlying = match &decl.underlying {
            Some(written) => {
                let ty = self.resolve_type(written).ty;
                if !ty.is_unknown() && !self.tables.types().is_integral(ty) {
                    self.diagnostics.error("enum", written.span, "non-integral type is an invalid underlying type");
                    return None;
                }
                ty
            }
            None => Ty::INT,
        };
        let existing = match self.tables.scopes().own(self.position.scope(), &name) {
            Some(Symbol::Type(ty)) if self.tables.types().enum_id(ty.ty).is_some() => Some(ty.ty),
            _ => None,
        };
        let ty = existing.unwrap_or_else(|| {
            let scoped = decl.scoped;
            let span = decl.name.as_ref().map_or(decl.span, |name| name.span);
            let qualifier = self.tables.qualifier(self.position.scope());
            let is_fixed = scoped || decl.underlying.is_some();
            let enumerators = Vec::new();
            let definition =
                Enum { name: name.clone(), qualifier, scoped, is_fixed, underlying, enumerators, span };
            self.tables.add_enum(definition, self.position.scope())
        });
        if existing.is_none()
            && let Some(name) = &decl.name
        {
            self.insert_once(&name.name, Symbol::Type(QualTy::plain(ty)), name.span);
        }
        let id = self.tables.types().enum_id(ty)?;
        self.refuse_other_kind_of_enum(decl, id, underlying);
        let enumerators = decl.enumerators.as_ref()?;
        if !self.tables.types().enum_(id).enumerators.is_empty() {
            let previous = self.tables.types().enum_(id).span;
            let diagnostic = Diagnostic::error("redefinition", decl.span, format!("redefinition of '{name}'"));
            self.diagnostics.report(diagnostic.note(previous, "previous definition is here"));
            return Some(ty);
        }
        let mut next: i128 = 0;
        let scope = self.tables.scopes_mut().add(self.position.scope(), ScopeKind::Block);
        for enumerator in enumerators {
            if let Some(written) = &enumerator.value {
                let checked = self.in_scope(scope, |this| this.check_value(written));
                if !checked.ty.ty.is_unknown() && !self.tables.is_integral_or_unscoped(checked.ty.ty) {
                    let message =
                        format!("enumerator value has non-integral type '{}'", self.tables.name_of(checked.ty.ty));
                    self.diagnostics.error("enum", written.span, message);
                    continue;
                }
                let value = self.evaluate_or_report(&checked, "enumerator value is not a constant expression");
                next = match value {
                    Some(Value::Int(value)) => value,
                    Some(Value::Bool(value)) => i128::from(value),
                    _ => next,
                };
            }
            let value = Symbol::Value(ty, Value::Int(next));
            // Inside the braces an enumerator is a plain number.
            let number = Symbol::Value(underlying, Value::Int(next));
            let earlier = self.tables.scopes_mut().insert(scope, enumerator.name.name.clone(), number);
            if earlier.is_some() && decl.scoped {
                let message = format!("redefinition of enumerator '{}'", enumerator.name.name);
                self.diagnostics.error("redefinition", enumerator.name.span, message);
            }
            let fits = crate::evaluate::fits(self.tables.types(), &Value::Int(next), underlying);
            if decl.underlying.is_some() && !fits {
                let message = format!(
                    "enumerator value {next} is not representable in the underlying type '{}'",
                    self.tables.name_of(underlying)
                );
                self.diagnostics.error("enum", enumerator.name.span, message);
            }
            if !decl.scoped {
                self.insert_once(&enumerator.name.name, value, enumerator.name.span);
            }
            self.tables.types_mut().enum_mut(id).enumerators.push((enumerator.name.name.clone(), next));
            next += 1;
        }
        // Without a written type, an enum takes the first type that holds its values.
        if decl.underlying.is_none() && !decl.scoped {
            let values: Vec<i128> =
                self.tables.types().enum_(id).enumerators.iter().map(|(_, value)| *value).collect();
            let (low, high) =
                (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
            let fits = |kind: crate::types::IntKind| kind.wrap(low) == low && kind.wrap(high) == high;
            use crate::types::IntKind::{Char, Int, Long, Short, UChar, UInt, ULong, UShort};
            let is_packed = decl.attributes.iter().any(|attribute| attribute.name == "packed");
            let kinds = if low < 0 { [Char, Short, Int, Long] } else { [UChar, UShort, UInt, ULong] };
            let kinds = if is_packed { &kinds[..] } else { &kinds[2..] };
            let kind = kinds.iter().copied().find(|&kind| fits(kind));
            self.tables.types_mut().enum_mut(id).underlying = Ty::int(kind.unwrap_or(Long));
        }
        Some(ty)
    }

    /// Refuses an enum without a name or type where one is needed, and a second declaration of another kind.
    fn refuse_other_kind_of_enum(&mut self, decl: &'a ast::EnumDecl, id: EnumId, underlying: Ty) {
        let earlier = self.tables.types().enum_(id);
        let (was_scoped, was_fixed, was) = (earlier.scoped, earlier.is_fixed, earlier.underlying);
        let is_first = decl.name.as_ref().is_none_or(|name| name.span == earlier.span);
        let is_fixed = decl.scoped || decl.underlying.is_some();
        let message = match () {
            () if decl.name.is_none() && decl.scoped => "scoped enumeration requires a name".to_string(),
            () if decl.enumerators.is_none() && !is_fixed && is_first => {
                "ISO C++ forbids forward references to 'enum' types".to_string()
            }
            () if is_first => return,
            () if was_scoped != decl.scoped => {
                format!("enumeration previously declared as {}", if was_scoped { "scoped" } else { "unscoped" })
            }
            () if was_fixed != is_fixed => {
                let kind = if was_fixed { "fixed" } else { "nonfixed" };
                format!("enumeration previously declared with {kind} underlying type")
            }
            () if is_fixed && was != underlying && !was.is_unknown() && !underlying.is_unknown() => format!(
                "enumeration redeclared with different underlying type '{}' (was '{}')",
                self.tables.name_of(underlying),
                self.tables.name_of(was)
            ),
            () => return,
        };
        self.diagnostics.error("enum", decl.span, message);
    }
}
