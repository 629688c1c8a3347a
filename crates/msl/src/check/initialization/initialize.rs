//! Initialization of an object from a value, parentheses or braces.

use super::lists::Items;
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::parse::ast;
use crate::parse::ast::Init;
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// The value of something of type `ty` with this initializer.
    pub(in crate::check) fn initialize(&mut self, ty: QualTy, init: &'a Init) -> Expr {
        match init {
            Init::Equal(ast::Expr { kind: ast::ExprKind::InitList(items), span }) => {
                let value = self.list_initialize(ty, Items::of_list(items), *span);
                if let ExprKind::Construct { constructor, .. } = &value.kind
                    && self.is_explicit(*constructor)
                {
                    self.error("explicit", *span, "chosen constructor is explicit in copy-initialization");
                }
                value
            }
            Init::Equal(ast::Expr { kind: ast::ExprKind::Str(text), span }) if self.is_char_array(ty.ty) => {
                self.string_array(text, ty.ty, *span)
            }
            Init::Equal(expr) => {
                let operand = self.check_for_type(expr, ty);
                self.convert(operand, ty, Purpose::Variable)
            }
            Init::Paren(args, span) => self.direct_initialize(ty, args, *span),
            Init::Brace(args, list_span) => self.list_initialize_exprs(ty, args, *list_span),
        }
    }

    fn is_explicit(&self, constructor: crate::program::FunctionId) -> bool {
        let entity = self.instances[constructor.0 as usize].entity;
        let entity = self.entities.get(entity.0 as usize);
        entity.and_then(|entity| entity.source.first()).is_some_and(|decl| decl.specifiers.is_explicit)
    }

    fn is_char_array(&self, ty: Ty) -> bool {
        matches!(*self.types().kind(ty), TyKind::Array { element: Ty::CHAR | Ty::UCHAR, .. })
    }

    /// `char text[] = "abc"`
    fn string_array(&mut self, text: &str, ty: Ty, span: Span) -> Expr {
        let TyKind::Array { element, len } = *self.types().kind(ty) else { return Expr::error(span) };
        let bytes = text.bytes().chain([0]);
        let values: Vec<Expr> =
            bytes.map(|byte| Expr::constant(Value::Int(i128::from(byte as i8)), element, span)).collect();
        let actual = len.unwrap_or(values.len() as u64);
        if values.len() as u64 > actual {
            self.error("excess-elements", span, "initializer-string for char array is too long");
            return Expr::error(span);
        }
        let array = self.types_mut().array(element, Some(actual));
        Expr::value(ExprKind::Aggregate(values), array, span)
    }

    /// `T x(args)`, `T(args)`
    pub(in crate::check) fn direct_initialize(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        if ty.ty.is_unknown() {
            for arg in args {
                self.check_operand(arg);
            }
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        match *self.types().kind(ty.ty) {
            TyKind::Struct(class) => self.construct(class, args, span),
            TyKind::Vector { .. } | TyKind::PackedVector { .. } if args.len() != 1 => {
                let args = args.iter().map(|arg| self.check_value(arg)).collect();
                self.compose_vector(ty.ty, args, span)
            }
            TyKind::Matrix { .. } if !args.is_empty() => {
                let args = args.iter().map(|arg| self.check_value(arg)).collect();
                self.compose_matrix(ty.ty, args, span)
            }
            _ => match args {
                [] => Expr::value(ExprKind::Zero, ty.ty, span),
                [arg] => {
                    let value = self.check_for_type(arg, ty);
                    let is_scalar = self.types().is_arithmetic(ty.ty) || self.types().pointee(ty.ty).is_some();
                    match is_scalar {
                        true => self.convert(value, ty, Purpose::Variable),
                        false => self.explicit_cast(value, ty, span, ast::CastKind::Static),
                    }
                }
                _ => {
                    for arg in args {
                        self.check_operand(arg);
                    }
                    let message = format!("excess elements in initializer of type '{}'", self.name_of(ty.ty));
                    self.error("excess-elements", args[1].span, message);
                    Expr::error(span)
                }
            },
        }
    }
}
