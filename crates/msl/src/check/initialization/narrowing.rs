//! Narrowing: inside braces a number must keep its value.

use crate::check::Checker;
use crate::diagnostics::Diagnostic;
use crate::evaluate;
use crate::program::{Expr, Value};
use crate::types::Ty;

impl<'a> Checker<'a> {
    /// Reports a conversion inside braces that may change the value.
    pub(super) fn refuse_narrowing(&mut self, value: &Expr, to: Ty) {
        let from = value.ty.ty;
        let types = self.tables.types();
        if to == Ty::BOOL && types.pointee(from).is_some() {
            let message =
                format!("type '{}' cannot be narrowed to 'bool' in initializer list", self.tables.name_of(from));
            self.diagnostics.error("narrowing", value.span, message);
            return;
        }
        let is_number = |ty: Ty| types.is_arithmetic(ty) || types.enum_id(ty).is_some();
        if from == to || from.is_unknown() || !is_number(from) || !types.is_arithmetic(to) {
            return;
        }
        let integer = |ty: Ty| types.int_kind(ty).or_else(|| types.int_kind(self.tables.promoted(ty)));
        let widens = match (types.float_kind(from), types.float_kind(to)) {
            (Some(_), Some(crate::types::FloatKind::Float)) => true,
            (Some(_), _) => false,
            (None, Some(_)) => false,
            (None, None) => match (types.int_kind(from), types.int_kind(to)) {
                (None, Some(_)) if from == Ty::BOOL => true,
                (_, None) => false,
                (_, Some(to)) => integer(from).is_some_and(|from| {
                    (from.is_signed() == to.is_signed() && from.bits() <= to.bits())
                        || (!from.is_signed() && from.bits() < to.bits())
                }),
            },
        };
        if widens {
            return;
        }
        let loaded = self.load(value.clone());
        match self.try_evaluate(&loaded) {
            Ok(Value::Unknown) => {}
            Ok(constant) => {
                let float_to_int =
                    self.tables.types().float_kind(from).is_some() && self.tables.types().float_kind(to).is_none();
                if float_to_int {
                    let message = format!(
                        "type '{}' cannot be narrowed to '{}' in initializer list",
                        self.tables.name_of(from),
                        self.tables.name_of(to)
                    );
                    self.diagnostics.error("narrowing", value.span, message);
                } else if !evaluate::fits(self.tables.types(), &constant, to) {
                    let shown = match &constant {
                        Value::Int(value) => value.to_string(),
                        Value::Float(value) => value.to_string(),
                        other => format!("{other:?}"),
                    };
                    let message = format!(
                        "constant expression evaluates to {shown} which cannot be narrowed to type '{}'",
                        self.tables.name_of(to)
                    );
                    self.diagnostics.error("narrowing", value.span, message);
                }
            }
            Err(_) => {
                let message = format!(
                    "non-constant-expression cannot be narrowed from type '{}' to '{}' in initializer list",
                    self.tables.name_of(from),
                    self.tables.name_of(to)
                );
                let fix = self.tables.name_of(to);
                let diagnostic = Diagnostic::error("narrowing", value.span, message);
                let note = format!("insert an explicit cast to silence this issue: static_cast<{fix}>(…)");
                self.diagnostics.report(diagnostic.note(value.span, note));
            }
        }
    }
}
