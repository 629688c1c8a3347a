//! Arguments of attributes.

use crate::check::Checker;
use crate::parse::ast;
use crate::program::Value;
use crate::types::QualTy;

impl<'a> Checker<'a> {
    /// The type of an alias with `ext_vector_type(n)`.
    pub(super) fn extended_vector(&mut self, attribute: &'a ast::Attribute, element: QualTy) -> QualTy {
        let Some(count) = self.attribute_index(attribute, 4) else { return element };
        let is_scalar = self.tables.types().is_arithmetic(element.ty) || element.ty.is_unknown();
        if !is_scalar || count < 2 {
            let message = match is_scalar {
                true => "vectors have 2, 3 or 4 components in Metal".to_string(),
                false => format!("invalid vector element type '{}'", self.tables.name_of(element.ty)),
            };
            self.diagnostics.error("attribute", attribute.span, message);
            return element;
        }
        let ty = self.tables.types_mut().vector(element.ty, count as u8);
        element.with_ty(ty)
    }

    /// The only argument of an attribute, a number from 0 up to `most`.
    pub(in crate::check) fn attribute_index(&mut self, attribute: &'a ast::Attribute, most: u32) -> Option<u32> {
        let [arg] = &*attribute.args else {
            let message = format!("'{}' attribute takes one argument", attribute.name);
            self.diagnostics.error("attribute", attribute.span, message);
            return None;
        };
        let checked = self.check_value(arg);
        let message = format!("'{}' attribute requires an integer constant", attribute.name);
        match self.evaluate_or_report(&checked, &message)? {
            Value::Int(value) if (0..=i128::from(most)).contains(&value) => Some(value as u32),
            Value::Int(value) => {
                let message = format!(
                    "'{}' attribute parameter is out of bounds: {value} is not between 0 and {most}",
                    attribute.name
                );
                self.diagnostics.error("attribute-range", arg.span, message);
                None
            }
            Value::Unknown => None,
            _ => {
                self.diagnostics.error("attribute", arg.span, message);
                None
            }
        }
    }
}
