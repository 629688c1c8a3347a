//! Vectors and matrices from their parts: `float4(a, b.xyz)`, `float2x2(c0, c1)`.

use super::lists::{Item, Items};
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    pub(super) fn compose_vector_from_list(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        let (element, len) = self.tables.types().vector_parts(ty).expect("a vector");
        let mut count = 0;
        for arg in &args {
            count += usize::from(self.tables.types().vector_parts(arg.ty.ty).map_or(1, |(_, len)| len));
        }
        if args.len() == 1 && args[0].ty.ty == ty {
            return args.into_iter().next().expect("one");
        }
        // Missing components are zero.
        let mut args = args;
        while count < usize::from(len) {
            args.push(Expr::value(ExprKind::Zero, element, span));
            count += 1;
        }
        self.compose_vector(ty, args, span)
    }

    /// `float4(a, b.xyz)`
    pub(super) fn compose_vector(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        if args.is_empty() {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        if args.iter().any(|arg| arg.ty.ty.is_unknown()) {
            return Expr::value(ExprKind::Error, ty, span);
        }
        let (element, len) = self.tables.types().vector_parts(ty).expect("a vector");
        let mut parts = Vec::new();
        let mut count = 0;
        for arg in args {
            match self.tables.types().vector_parts(arg.ty.ty) {
                Some((part_element, part_len)) => {
                    count += usize::from(part_len);
                    if part_element != element {
                        let message = format!(
                            "no matching constructor for initialization of '{}': '{}' is not made of '{}'",
                            self.tables.name_of(ty),
                            self.tables.name_of(arg.ty.ty),
                            self.tables.name_of(element)
                        );
                        self.diagnostics.error("no-constructor", arg.span, message);
                        return Expr::error(span);
                    }
                    let plain = self.tables.types_mut().unpacked(arg.ty.ty);
                    parts.push(self.tables.convert_value(arg, plain));
                }
                None => {
                    count += 1;
                    parts.push(self.convert(arg, QualTy::plain(element), Purpose::Element));
                }
            }
        }
        if count != usize::from(len) {
            let message = format!(
                "no matching constructor for initialization of '{}': {len} components are needed, {count} are given",
                self.tables.name_of(ty)
            );
            self.diagnostics.error("no-constructor", span, message);
            return Expr::error(span);
        }
        let plain = self.tables.types_mut().unpacked(ty);
        let vector = Expr::value(ExprKind::Compose(parts), plain, span);
        self.tables.convert_value(vector, ty)
    }

    /// `float2x2(c0, c1)`, `float2x2(a, b, c, d)`, `float2x2(diagonal)`, `half2x2(float2x2)`
    pub(in crate::check) fn compose_matrix(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        let TyKind::Matrix { element, columns, rows } = *self.tables.types().kind(ty) else {
            return Expr::error(span);
        };
        if args.iter().any(|arg| arg.ty.ty.is_unknown()) {
            return Expr::value(ExprKind::Error, ty, span);
        }
        let column_ty = self.tables.types_mut().vector(element, rows);
        let all_vectors = args.iter().all(|arg| self.tables.types().vector_parts(arg.ty.ty).is_some());
        let all_scalars = args.iter().all(|arg| self.tables.types().is_arithmetic(arg.ty.ty));
        if args.len() == 1 {
            let arg = args.into_iter().next().expect("one");
            return match *self.tables.types().kind(arg.ty.ty) {
                TyKind::Matrix { columns: c, rows: r, .. } if (c, r) == (columns, rows) => {
                    let kind = ExprKind::Cast { kind: crate::program::CastKind::Matrix, operand: Box::new(arg) };
                    Expr::value(kind, ty, span)
                }
                _ if self.tables.types().is_arithmetic(arg.ty.ty) => {
                    let arg = self.convert(arg, QualTy::plain(element), Purpose::Element);
                    Expr::value(ExprKind::Splat(Box::new(arg)), ty, span)
                }
                _ => {
                    no_matrix_constructor(&self.tables, &mut self.diagnostics, ty, span);
                    Expr::error(span)
                }
            };
        }
        if all_vectors && args.len() == usize::from(columns) {
            let columns: Vec<Expr> =
                args.into_iter().map(|arg| self.convert(arg, QualTy::plain(column_ty), Purpose::Element)).collect();
            return Expr::value(ExprKind::Compose(columns), ty, span);
        }
        if all_scalars && args.len() == usize::from(columns) * usize::from(rows) {
            let mut parts = Vec::new();
            let mut column = Vec::new();
            for arg in args {
                column.push(self.convert(arg, QualTy::plain(element), Purpose::Element));
                if column.len() == usize::from(rows) {
                    let full = std::mem::take(&mut column);
                    parts.push(Expr::value(ExprKind::Compose(full), column_ty, span));
                }
            }
            return Expr::value(ExprKind::Compose(parts), ty, span);
        }
        no_matrix_constructor(&self.tables, &mut self.diagnostics, ty, span);
        Expr::error(span)
    }

    pub(super) fn matrix_from_list(&mut self, ty: Ty, shape: (u8, u8, Ty), items: Items<'a>, span: Span) -> Expr {
        let (_, rows, element) = shape;
        if items.rest.is_empty() {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        let column_ty = self.tables.types_mut().vector(element, rows);
        let mut args = Vec::new();
        for item in items.rest {
            args.push(match item {
                Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), span }) => {
                    self.list_initialize_items(QualTy::plain(column_ty), inner, *span)
                }
                Item::Written(_, expr) | Item::At(_, _, expr) => self.check_value(expr),
                Item::Checked(expr) => expr,
            });
        }
        if args.len() == 1 && args[0].ty.ty == ty {
            return args.remove(0);
        }
        self.compose_matrix(ty, args, span)
    }
}

fn no_matrix_constructor(tables: &Tables<'_>, diagnostics: &mut Diagnostics, ty: Ty, span: Span) {
    let message = format!("no matching constructor for initialization of '{}'", tables.name_of(ty));
    diagnostics.error("no-constructor", span, message);
}
