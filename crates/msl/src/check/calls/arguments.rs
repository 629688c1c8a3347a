//! Arguments: checked as written, then converted to the types of the parameters.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::Operand;
use crate::check::tables::{EntityId, Signature, Tables};
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, TyKind};

impl<'a> Checker<'a> {
    /// The arguments of a call: packs expanded, lists and function names left as they are.
    pub(in crate::check) fn check_args(&mut self, args: &'a [ast::Expr]) -> Vec<Operand<'a>> {
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            if let ast::ExprKind::PackExpansion(inner) = &arg.kind {
                for binding in self.pack_bindings_in_expr(inner, arg.span).unwrap_or_default() {
                    let scope = self.tables.pack_scope(self.position.scope(), &binding);
                    operands.push(self.in_scope(scope, |this| this.check_argument(inner)));
                }
                continue;
            }
            operands.push(self.check_argument(arg));
        }
        operands
    }

    fn check_argument(&mut self, arg: &'a ast::Expr) -> Operand<'a> {
        match self.check_operand(arg) {
            Operand::Type(_) => {
                let message = "expected an expression, found a type";
                self.diagnostics.error("expected-expression", arg.span, message);
                Operand::Value(Expr::error(arg.span))
            }
            operand => operand,
        }
    }

    /// The arguments that were not given, from the declaration.
    pub(super) fn fill_defaults(&mut self, signature: &Signature<'a>, converted: &mut Vec<Expr>, given: usize) {
        for param in signature.params.iter().skip(given) {
            let Some(default) = param.default else { continue };
            // A default argument is not evaluated in a method: it has no object.
            let this = self.function.replace_this(None);
            let value = self.in_scope(signature.scope, |checker| checker.check_for_type(default, param.ty));
            self.function.replace_this(this);
            converted.push(self.convert(value, param.ty, Purpose::Parameter));
        }
    }

    /// An argument as its parameter's type.
    pub(super) fn argument(&mut self, arg: Operand<'a>, to: QualTy) -> Expr {
        match arg {
            Operand::Value(expr) => self.convert(expr, to, Purpose::Parameter),
            Operand::Braces(items, span) => match *self.tables.types().kind(to.ty) {
                TyKind::Reference { to: target, .. } => {
                    let value = self.list_initialize_items(QualTy::plain(target.ty), items, span);
                    self.convert(value, to, Purpose::Parameter)
                }
                _ => self.list_initialize_items(to, items, span),
            },
            Operand::Functions(ref set) => {
                let span = set.span;
                let Some(pointee) = self.tables.types().pointee(to.ty) else { return Expr::error(span) };
                self.operand_as_function(arg, pointee.ty, span).unwrap_or(Expr::error(span))
            }
            Operand::Type(_) => Expr::error(Span::default()),
        }
    }

    /// The arguments as the parameters' types, for a function that cannot be overloaded.
    pub(super) fn fit_args(
        &mut self,
        name: &str,
        args: Vec<Operand<'a>>,
        params: &[QualTy],
        span: Span,
    ) -> Option<Vec<Expr>> {
        if args.len() != params.len() {
            let message = format!("{name} takes {} arguments, but {} were provided", params.len(), args.len());
            self.diagnostics.error("argument-count", span, message);
            return None;
        }
        Some(args.into_iter().zip(params).map(|(arg, ty)| self.argument(arg, *ty)).collect())
    }
}

impl<'a> Tables<'a> {
    /// `this` for a call: the object's address, as a pointer to the class that declares the method.
    pub(super) fn object_argument(&mut self, object: Expr, method: EntityId) -> Expr {
        let span = object.span;
        let place = self.temporary(object);
        let class = self.entity(method).class.expect("a method has a class");
        let class_ty = self.struct_type(class);
        let place = self.upcast_place(place, class_ty);
        let ty = self.types_mut().pointer(place.ty);
        Expr::value(ExprKind::AddressOf(Box::new(place)), ty, span)
    }
}
