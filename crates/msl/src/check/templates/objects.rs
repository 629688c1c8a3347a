//! Objects as template arguments, as C++20 and Metal 4 have them: `matmul2d<matmul2d_descriptor(16, 32, 16), …>`.

use crate::LanguageVersion;
use crate::check::Checker;
use crate::check::tables::{Tables, TemplateArg};
use crate::program::{Expr, Value};
use crate::types::{Ty, TyKind};

impl<'a> Checker<'a> {
    /// An object of the class `ty` as argument.
    pub(super) fn object_arg(&mut self, expr: &Expr, ty: Ty) -> Option<TemplateArg> {
        if expr.ty.ty != ty {
            let (from, to) = (self.tables.name_of(expr.ty.ty), self.tables.name_of(ty));
            let message = format!("value of type '{from}' is not implicitly convertible to '{to}'");
            self.diagnostics.error("template-argument-kind", expr.span, message);
            return None;
        }
        let value = self.evaluate_or_report(expr, "non-type template argument is not a constant expression")?;
        if value == Value::Unknown {
            return Some(TemplateArg::UnknownValue);
        }
        let object = self.tables.object_of(ty, &value);
        if object.is_none() {
            let message = format!(
                "a non-type template parameter cannot have type '{}': it has members that are no integers, enums or \
                 classes of these",
                self.tables.name_of(ty)
            );
            self.diagnostics.error("template-argument-kind", expr.span, message);
        }
        object
    }
}

impl Tables<'_> {
    /// True if the language has template parameters of class types.
    pub(super) fn takes_objects(&self) -> bool {
        self.std() >= LanguageVersion::new(4, 0)
    }

    fn object_of(&self, ty: Ty, value: &Value) -> Option<TemplateArg> {
        match (value, self.types().kind(ty)) {
            (Value::Unknown, _) => Some(TemplateArg::UnknownValue),
            (Value::Bool(value), _) => Some(TemplateArg::Int(ty, i128::from(*value))),
            (Value::Int(value), _) => Some(TemplateArg::Int(ty, *value)),
            (Value::Aggregate(values), TyKind::Struct(id)) => {
                let fields = &self.types().struct_(*id).fields;
                let members = fields.iter().zip(values).map(|(field, value)| self.object_of(field.ty.ty, value));
                Some(TemplateArg::Object(ty, members.collect::<Option<_>>()?))
            }
            (Value::Aggregate(values), TyKind::Array { element, .. } | TyKind::Vector { element, .. }) => {
                let members = values.iter().map(|value| self.object_of(*element, value));
                Some(TemplateArg::Object(ty, members.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
}
