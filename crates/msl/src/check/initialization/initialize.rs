//! Initialization of an object from a value, parentheses or braces.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::parse::ast::{self, Init};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// The value of an object of type `ty` with this initializer.
    pub(in crate::check) fn initialize(&mut self, ty: QualTy, init: &'a Init) -> Expr {
        match init {
            Init::Equal(ast::Expr { kind: ast::ExprKind::InitList(items), span }) => {
                self.list_initialize_items(ty, items, *span)
            }
            Init::Equal(ast::Expr { kind: ast::ExprKind::Str(text), span }) if self.tables.is_char_array(ty.ty) => {
                string_array(&mut self.tables, &mut self.diagnostics, text, ty.ty, *span)
            }
            Init::Equal(expr) => {
                let operand = self.check_for_type(expr, ty);
                self.convert(operand, ty, Purpose::Variable)
            }
            Init::Paren(args, span) => match self.tables.types().kind(ty.ty) {
                TyKind::Reference { .. } => self.bind_reference(ty, args, *span),
                _ => self.direct_initialize(ty, args, *span),
            },
            Init::Brace(args, list_span) => self.list_initialize_exprs(ty, args, *list_span),
        }
    }

    /// `thread T &x(y)`: bound as by `=`. (A cast to the type would be the object itself.)
    fn bind_reference(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        if let [arg] = args
            && !matches!(arg.kind, ast::ExprKind::PackExpansion(_))
        {
            let value = self.check_for_type(arg, ty);
            return self.convert(value, ty, Purpose::Variable);
        }
        let mut operands = self.check_args(args);
        if operands.len() != 1 {
            let message = format!("excess elements in initializer of type '{}'", self.tables.name_of(ty.ty));
            self.diagnostics.error("excess-elements", span, message);
            return Expr::error(span);
        }
        let value = self.operand_as_expr(operands.remove(0), span);
        self.convert(value, ty, Purpose::Variable)
    }

    /// `T x(args)`, `T(args)`
    pub(in crate::check) fn direct_initialize(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        let is_pack = |arg: &ast::Expr| matches!(arg.kind, ast::ExprKind::PackExpansion(_));
        if args.iter().any(is_pack) && self.tables.types().struct_id(ty.ty).is_none() {
            return self.direct_initialize_with_packs(ty, args, span);
        }
        if ty.ty.is_unknown() {
            for arg in args {
                self.check_operand(arg);
            }
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        match *self.tables.types().kind(ty.ty) {
            TyKind::Struct(class) => {
                // `S s({1, 2})` copies an object that the list makes, if no constructor takes the list.
                if let [ast::Expr { kind: ast::ExprKind::InitList(items), .. }] = args
                    && self.attempt(|this| this.construct(class, args, span)).is_err()
                {
                    return self.list_initialize_items(ty, items, span);
                }
                self.construct(class, args, span)
            }
            TyKind::Vector { .. } | TyKind::PackedVector { .. } if args.len() != 1 => {
                let args = args.iter().map(|arg| self.check_value(arg)).collect();
                self.compose_vector(ty.ty, args, span)
            }
            TyKind::Matrix { element, rows, .. } if !args.is_empty() => {
                let column = QualTy::plain(self.tables.types_mut().vector(element, rows));
                let args = args
                    .iter()
                    .map(|arg| match &arg.kind {
                        // A column; a matrix in braces is the only argument.
                        ast::ExprKind::InitList(items) if args.len() > 1 => {
                            self.list_initialize_items(column, items, arg.span)
                        }
                        _ => self.check_value(arg),
                    })
                    .collect();
                self.compose_matrix(ty.ty, args, span)
            }
            _ => match args {
                [] => Expr::value(ExprKind::Zero, ty.ty, span),
                [arg] => {
                    let value = self.check_for_type(arg, ty);
                    let is_scalar =
                        self.tables.types().is_arithmetic(ty.ty) || self.tables.types().pointee(ty.ty).is_some();
                    match is_scalar {
                        true => self.explicitly(|this| this.convert(value, ty, Purpose::Variable)),
                        false => self.explicit_cast(value, ty, span, ast::CastKind::Static),
                    }
                }
                _ => {
                    for arg in args {
                        self.check_operand(arg);
                    }
                    let message =
                        format!("excess elements in initializer of type '{}'", self.tables.name_of(ty.ty));
                    self.diagnostics.error("excess-elements", args[1].span, message);
                    Expr::error(span)
                }
            },
        }
    }
}

impl<'a> Checker<'a> {
    /// `float4(parts...)`: a type that is no class, from arguments with packs among them.
    fn direct_initialize_with_packs(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        let mut values = Vec::new();
        for operand in self.check_args(args) {
            let value = self.operand_as_expr(operand, span);
            values.push(self.load(value));
        }
        if ty.ty.is_unknown() || values.iter().any(|value| value.ty.ty.is_unknown()) {
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        if let [_] = &*values {
            let only = values.remove(0);
            return self.explicit_cast(only, ty, span, ast::CastKind::CStyle);
        }
        match self.tables.types().kind(ty.ty) {
            _ if values.is_empty() => self.value_initialize(ty.ty, span),
            TyKind::Vector { .. } | TyKind::PackedVector { .. } => self.compose_vector(ty.ty, values, span),
            TyKind::Matrix { .. } => self.compose_matrix(ty.ty, values, span),
            _ => {
                let message = format!("excess elements in initializer of type '{}'", self.tables.name_of(ty.ty));
                self.diagnostics.error("excess-elements", span, message);
                Expr::error(span)
            }
        }
    }
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn is_explicit(&self, constructor: crate::program::FunctionId) -> bool {
        let entity = self.instance(constructor).entity;
        let entity = self.find_entity(entity);
        entity.and_then(|entity| entity.source.first()).is_some_and(|decl| decl.specifiers.is_explicit)
    }

    fn is_char_array(&self, ty: Ty) -> bool {
        matches!(*self.types().kind(ty), TyKind::Array { element: Ty::CHAR | Ty::UCHAR, .. })
    }
}

/// `char text[] = "abc"`
fn string_array(tables: &mut Tables<'_>, diagnostics: &mut Diagnostics, text: &str, ty: Ty, span: Span) -> Expr {
    let TyKind::Array { element, len } = *tables.types().kind(ty) else { return Expr::error(span) };
    let bytes = text.bytes().chain([0]);
    let values: Vec<Expr> =
        bytes.map(|byte| Expr::constant(Value::Int(i128::from(byte as i8)), element, span)).collect();
    let actual = len.unwrap_or(values.len() as u64);
    if values.len() as u64 > actual {
        diagnostics.error("excess-elements", span, "initializer-string for char array is too long");
        return Expr::error(span);
    }
    let array = tables.types_mut().array(element, Some(actual));
    Expr::value(ExprKind::Aggregate(values), array, span)
}
