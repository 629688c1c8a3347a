//! Arguments of attributes.

use crate::check::Checker;
use crate::parse::ast;
use crate::program::Value;

impl<'a> Checker<'a> {
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
