//! Parameter packs: the packs that a pattern names, and a scope for each of their elements.

use crate::check::Checker;
use crate::check::tables::{ScopeId, ScopeKind, Symbol, Tables, TemplateArg};
use crate::parse::ast;
use crate::parse::names_in::{names_in_expr, names_in_type};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::Ty;
use smol_str::SmolStr;

/// Meanings of the packs of a pattern in one step of its expansion.
type Bindings = Vec<(SmolStr, Symbol)>;

impl<'a> Checker<'a> {
    pub(in crate::check) fn pack_bindings_in_type(
        &mut self,
        pattern: &'a ast::TypeExpr,
        span: Span,
    ) -> Option<Vec<Bindings>> {
        let mut names = Vec::new();
        names_in_type(pattern, &mut names);
        self.pack_bindings(names, span)
    }

    pub(in crate::check) fn pack_bindings_in_expr(
        &mut self,
        pattern: &'a ast::Expr,
        span: Span,
    ) -> Option<Vec<Bindings>> {
        let mut names = Vec::new();
        names_in_expr(pattern, &mut names);
        self.pack_bindings(names, span)
    }

    fn pack_bindings(&mut self, names: Vec<&'a SmolStr>, span: Span) -> Option<Vec<Bindings>> {
        let mut rounds: Option<Vec<Bindings>> = None;
        for name in names {
            let elements: Vec<Symbol> =
                match self.tables.lookup(self.position.scope(), name).map(|found| found.symbol) {
                    Some(Symbol::Pack(args)) => args.iter().map(pack_element).collect(),
                    Some(Symbol::LocalPack(locals)) => locals.into_iter().map(Symbol::Local).collect(),
                    _ => continue,
                };
            let rounds = rounds.get_or_insert_with(|| vec![Vec::new(); elements.len()]);
            if rounds.len() != elements.len() {
                let message = "pack expansion contains parameter packs that have different lengths";
                self.diagnostics.error("pack", span, message);
                return None;
            }
            for (round, element) in rounds.iter_mut().zip(elements) {
                round.push((name.clone(), element));
            }
        }
        if rounds.is_none() {
            self.diagnostics.error("pack", span, "pack expansion does not contain any unexpanded parameter packs");
        }
        rounds
    }

    /// `sizeof...(pack)`
    pub(in crate::check) fn size_of_pack(&mut self, name: &'a ast::Ident) -> Expr {
        let count = match self.tables.lookup(self.position.scope(), &name.name).map(|found| found.symbol) {
            Some(Symbol::Pack(args)) if args.iter().any(TemplateArg::is_dependent) => {
                return Expr::constant(Value::Unknown, Ty::ULONG, name.span);
            }
            Some(Symbol::Pack(args)) => args.len(),
            Some(Symbol::LocalPack(locals)) => locals.len(),
            _ => {
                self.diagnostics.error(
                    "pack",
                    name.span,
                    format!("'{}' does not refer to the name of a parameter pack", name.name),
                );
                return Expr::error(name.span);
            }
        };
        Expr::constant(Value::Int(count as i128), Ty::ULONG, name.span)
    }

    /// `(pack + ...)` and kin.
    pub(in crate::check) fn check_fold(
        &mut self,
        op: Option<ast::BinaryOp>,
        lhs: Option<&'a ast::Expr>,
        rhs: Option<&'a ast::Expr>,
        span: Span,
    ) -> Expr {
        // Of two operands, the one without packs is the initial value.
        let has_pack = |this: &mut Self, expr: &'a ast::Expr| {
            let mut names = Vec::new();
            names_in_expr(expr, &mut names);
            names.into_iter().any(|name| {
                matches!(
                    this.tables.lookup(this.position.scope(), name).map(|f| f.symbol),
                    Some(Symbol::Pack(_) | Symbol::LocalPack(_))
                )
            })
        };
        let (pattern, start, from_left) = match (lhs, rhs) {
            (Some(lhs), None) => (lhs, None, false),
            (None, Some(rhs)) => (rhs, None, true),
            (Some(lhs), Some(rhs)) if has_pack(self, lhs) => (lhs, Some(rhs), false),
            (Some(lhs), Some(rhs)) => (rhs, Some(lhs), true),
            (None, None) => return Expr::error(span),
        };
        let Some(rounds) = self.pack_bindings_in_expr(pattern, span) else { return Expr::error(span) };
        let mut values = Vec::new();
        for round in rounds {
            let scope = self.tables.pack_scope(self.position.scope(), &round);
            values.push(self.in_scope(scope, |this| this.check_expr(pattern)));
        }
        if !from_left {
            values.reverse();
        }
        let start = start.map(|start| self.check_expr(start));
        let mut values = start.into_iter().chain(values);
        let Some(mut result) = values.next() else {
            return match op {
                Some(ast::BinaryOp::And) => Expr::constant(Value::Bool(true), Ty::BOOL, span),
                Some(ast::BinaryOp::Or) => Expr::constant(Value::Bool(false), Ty::BOOL, span),
                _ => {
                    self.diagnostics.error("pack", span, "fold over an empty pack has no value");
                    Expr::value(ExprKind::Error, Ty::ERROR, span)
                }
            };
        };
        for value in values {
            let (a, b) = if from_left { (result, value) } else { (value, result) };
            result = match op {
                Some(op) => self.binary(op, a, b, span, span),
                None => {
                    let (ty, is_place) = (b.ty, b.is_place);
                    Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), ty, is_place, span }
                }
            };
        }
        result
    }
}

impl<'a> Tables<'a> {
    /// A scope in which the packs mean one of their elements.
    pub(in crate::check) fn pack_scope(&mut self, scope: ScopeId, bindings: &Bindings) -> ScopeId {
        let scope = self.scopes_mut().add(scope, ScopeKind::Block);
        for (name, symbol) in bindings {
            self.scopes_mut().insert(scope, name.clone(), symbol.clone());
        }
        scope
    }
}

fn pack_element(arg: &TemplateArg) -> Symbol {
    match arg {
        TemplateArg::Type(ty) => Symbol::Type(*ty),
        TemplateArg::Int(..) | TemplateArg::Object(..) => {
            let (ty, value) = arg.constant().unwrap_or((Ty::ERROR, Value::Unknown));
            Symbol::Value(ty, value)
        }
        TemplateArg::Template(id) => Symbol::ClassTemplate(*id),
        TemplateArg::Function(_) | TemplateArg::UnknownValue | TemplateArg::Pack(_) => Symbol::Dependent,
    }
}
