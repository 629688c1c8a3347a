//! Members that may lie at any byte.

use crate::check::tables::Tables;
use crate::diagnostics::Diagnostic;
use crate::program::{Expr, ExprKind};
use crate::source::Span;

impl<'a> Tables<'a> {
    /// clang's warning about a pointer to a member that may be aligned less than the pointer promises.
    pub(in crate::check) fn unaligned_address(&self, place: &Expr, span: Span) -> Option<Diagnostic> {
        let types = self.types();
        let wanted = types.layout(place.ty.ty)?.align;
        let mut at = place;
        while let ExprKind::Field { base, field } = &at.kind {
            let definition = types.struct_(types.struct_id(base.ty.ty)?);
            let field = &definition.fields[*field as usize];
            if definition.layout.align < wanted || !field.offset.is_multiple_of(wanted) {
                let message = format!(
                    "taking address of packed member '{}' of class or structure '{}' may result in an unaligned \
                     pointer value",
                    field.name, definition.name
                );
                return Some(Diagnostic::warning("address-of-packed-member", span, message));
            }
            at = base;
        }
        None
    }
}
