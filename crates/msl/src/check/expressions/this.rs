//! `this`, written or implied.

use crate::check::Checker;
use crate::check::state::{Diagnostics, FunctionState};
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty};

impl<'a> Checker<'a> {
    pub(in crate::check) fn this_field(&mut self, class_ty: Ty, field: u32, span: Span) -> Expr {
        let this = this_value(&self.function, &mut self.diagnostics, span);
        let object = self.tables.deref(this, span);
        let class = self.tables.types().struct_id(class_ty).expect("a class");
        let ty = self.tables.types().struct_(class).fields[field as usize].ty;
        // A constructor may write a `const` member.
        let ty = QualTy { is_const: false, space: object.ty.space, ..ty };
        Expr::place(ExprKind::Field { base: Box::new(object), field }, ty, span)
    }

    pub(super) fn check_this(&mut self, span: Span) -> Expr {
        if self.function.is_lambda()
            && let Some(captured) = self.captured_this(span)
        {
            return captured;
        }
        this_value(&self.function, &mut self.diagnostics, span)
    }

    /// A method's object where none is written: `*this`, if it is of the right class.
    pub(super) fn implicit_object(&mut self, class: StructId, span: Span) -> Option<Expr> {
        let this = if self.function.is_lambda() { self.captured_this(span) } else { None };
        let this = match this {
            Some(this) => this,
            None => {
                self.function.this()?;
                this_value(&self.function, &mut self.diagnostics, span)
            }
        };
        let object = self.tables.deref(this, span);
        let own = self.tables.types().struct_id(object.ty.ty)?;
        self.tables.path_to_base(own, class).map(|_| object)
    }

    /// A field named without an object.
    pub(super) fn implicit_field(&mut self, class: StructId, field: u32, path: &'a ast::Path) -> Expr {
        let span = path.span;
        let Some(object) = self.implicit_object(class, span) else {
            if self.position.is_unevaluated() {
                let ty = self.tables.types().struct_(class).fields[field as usize].ty;
                return Expr::place(ExprKind::Error, ty, span);
            }
            let message = format!("invalid use of non-static data member '{}'", path.last().name);
            self.diagnostics.error("no-object", span, message);
            return Expr::error(span);
        };
        self.refuse_private_field(class, field, None, path.last().span);
        let own = self.tables.types().struct_id(object.ty.ty).expect("this is a class");
        if path.segments.len() == 1 {
            self.refuse_hidden_member(own, class, &path.last().name, path.last().span);
        }
        self.tables.field_of(object, own, class, field, span)
    }
}

/// The value of `this`.
pub(in crate::check) fn this_value(function: &FunctionState, diagnostics: &mut Diagnostics, span: Span) -> Expr {
    let Some(id) = function.this() else {
        diagnostics.error("this", span, "invalid use of 'this' outside of a non-static member function");
        return Expr::error(span);
    };
    let ty = function.local(id).ty;
    let place = Expr::place(ExprKind::Local(id), ty, span);
    Expr::value(ExprKind::Load(Box::new(place)), ty.ty, span)
}
