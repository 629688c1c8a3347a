//! `for (T x : array)`, also over a list in braces and over iterators.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::FunctionSet;
use crate::check::initialization::contains_auto;
use crate::check::tables::{EntityId, Symbol};
use crate::parse::ast;
use crate::program::{Expr, ExprKind, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// `for (T x : array)`: a counted loop over an array, or over something with `size()` and `[]`.
    pub(super) fn check_range_for(
        &mut self,
        variable: &'a ast::VarDecl,
        range: &'a ast::Expr,
        body: &'a ast::Stmt,
        pragmas: &[crate::program::Pragma],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut block = Vec::new();
        self.in_block(|this| {
            let range = match &range.kind {
                ast::ExprKind::InitList(items) => this.braced_range(items, range.span, &mut block),
                _ => this.check_expr(range),
            };
            let range_span = range.span;
            let (len, array, element) = match this.range_parts(&range) {
                Some(parts) => parts,
                None if this.iterator_loop(&range, variable, body, pragmas, span, &mut block) => return,
                None => {
                    if range.ty.ty != Ty::ERROR && range.ty.ty != Ty::DEPENDENT {
                        let message =
                            format!("invalid range expression of type '{}'", this.tables.name_of(range.ty.ty));
                        this.diagnostics.error("range-for", range_span, message);
                    }
                    this.function.enter_loop();
                    this.declare_range_variable(variable, None, &mut Vec::new());
                    this.check_nested_block(body);
                    this.function.leave_loop();
                    return;
                }
            };
            let counter =
                this.function.add_local("(index)".into(), QualTy::plain(Ty::ULONG), AddressSpace::Thread, span);
            let zero = Expr::constant(Value::Int(0), Ty::ULONG, span);
            block.push(Stmt { kind: StmtKind::Local(counter, Some(zero)), span });
            let place = |_: &mut Self| {
                let ty = QualTy::plain(Ty::ULONG).in_space(AddressSpace::Thread);
                Expr::place(ExprKind::Local(counter), ty, span)
            };
            let (counter_place, counter_again) = (place(this), place(this));
            let index = this.load(counter_place.clone());
            let end = Expr::constant(Value::Int(i128::from(len)), Ty::ULONG, span);
            let kind =
                ExprKind::Binary { op: ast::BinaryOp::Less, lhs: Box::new(index.clone()), rhs: Box::new(end) };
            let condition = Expr::value(kind, Ty::BOOL, span);
            let kind = ExprKind::Increment { place: Box::new(counter_again), is_decrement: false, is_prefix: true };
            let step = Expr::place(kind, counter_place.ty, span);
            let quals = array.ty.with_ty(element);
            let kind = ExprKind::Index { base: Box::new(array), index: Box::new(index) };
            let item = Expr::place(kind, quals, range_span);
            let mut stmts = Vec::new();
            this.in_block(|this| {
                this.declare_range_variable(variable, Some(item), &mut stmts);
                stmts.extend(this.check_loop_body(body));
            });
            let kind = StmtKind::Loop {
                condition: Some(condition),
                test_first: true,
                step: Some(step),
                body: stmts,
                pragmas: pragmas.to_vec(),
            };
            block.push(Stmt { kind, span });
        });
        out.push(Stmt { kind: StmtKind::Block(block), span });
    }

    /// The loop over a class with `begin()` and `end()`; false if it has none.
    fn iterator_loop(
        &mut self,
        range: &Expr,
        variable: &'a ast::VarDecl,
        body: &'a ast::Stmt,
        pragmas: &[crate::program::Pragma],
        span: Span,
        block: &mut Vec<Stmt>,
    ) -> bool {
        let Some(class) = self.tables.types().struct_id(range.ty.ty) else { return false };
        let method = |name: &str| match self.tables.lookup_member(class, name).map(|found| found.symbol) {
            Some(Symbol::Functions(entities)) => Some(entities),
            _ => None,
        };
        let (Some(begin), Some(end)) = (method("begin"), method("end")) else { return false };
        let at = range.span;
        let object = match range.is_place {
            true => range.clone(),
            false => self.hidden_local("(range)", range.clone(), span, block),
        };
        let mut iterator = |this: &mut Self, name: &'static str, entities: Vec<EntityId>| {
            let object = Some(object.clone());
            let name = SmolStr::new_static(name);
            let set = FunctionSet { name, entities, explicit: None, object, span: at, allows_adl: false };
            let value = this.call_set(set, Vec::new(), at);
            let value = this.load(value);
            this.hidden_local("(iterator)", value, span, block)
        };
        let first = iterator(self, "begin", begin);
        let last = iterator(self, "end", end);
        if first.ty.ty == Ty::ERROR || last.ty.ty == Ty::ERROR {
            return true;
        }
        let condition = self.binary(ast::BinaryOp::NotEqual, first.clone(), last, at, at);
        let condition = self.load(condition);
        let is_class = self.tables.is_overloadable(first.ty.ty);
        let overloaded = |this: &mut Self, name: &str| match is_class {
            true => this.call_operator(name, vec![first.clone()], at, at),
            false => None,
        };
        let step = match overloaded(self, "operator++") {
            Some(step) => step,
            None => self.increment(ast::UnaryOp::PreIncrement, first.clone(), at, at),
        };
        let item = match overloaded(self, "operator*") {
            Some(item) => item,
            None => self.check_deref(first, at, at),
        };
        let mut stmts = Vec::new();
        self.in_block(|this| {
            this.declare_range_variable(variable, Some(item), &mut stmts);
            stmts.extend(this.check_loop_body(body));
        });
        let (condition, step, pragmas) = (Some(condition), Some(step), pragmas.to_vec());
        let kind = StmtKind::Loop { condition, test_first: true, step, body: stmts, pragmas };
        block.push(Stmt { kind, span });
        true
    }

    /// A variable without a name that code could write.
    fn hidden_local(&mut self, name: &'static str, value: Expr, span: Span, block: &mut Vec<Stmt>) -> Expr {
        let ty = QualTy::plain(value.ty.ty);
        let id = self.function.add_local(name.into(), ty, AddressSpace::Thread, span);
        block.push(Stmt { kind: StmtKind::Local(id, Some(value)), span });
        self.local(id, span)
    }

    /// The array behind a list in braces: `for (int x : {1, 2, 3})`. Its elements have the same type.
    fn braced_range(&mut self, items: &'a [ast::InitItem], span: Span, block: &mut Vec<Stmt>) -> Expr {
        let mut element: Option<Ty> = None;
        for item in items {
            let value = self.check_expr(&item.value);
            let ty = self.load(value).ty.ty;
            if ty.is_unknown() {
                return Expr::error(span);
            }
            match element {
                Some(first) if first != ty => {
                    let (first, other) = (self.tables.name_of(first), self.tables.name_of(ty));
                    let message = format!(
                        "deduced conflicting types ('{first}' vs '{other}') for initializer list element type"
                    );
                    self.diagnostics.error("range-for", item.value.span, message);
                    return Expr::error(span);
                }
                _ => element = Some(ty),
            }
        }
        let Some(element) = element else {
            self.diagnostics.error("range-for", span, "cannot deduce the type of the elements of an empty list");
            return Expr::error(span);
        };
        let ty = self.tables.types_mut().array(element, Some(items.len() as u64));
        let value = self.list_initialize_items(QualTy::plain(ty), items, span);
        let list = self.hidden_local("(list)", value, span, block);
        let ty = QualTy { is_const: true, ..list.ty };
        Expr { ty, ..list }
    }

    /// The length, the array itself and its element, of an array or of a class that wraps one (`metal::array`).
    fn range_parts(&mut self, range: &Expr) -> Option<(u64, Expr, Ty)> {
        match *self.tables.types().kind(range.ty.ty) {
            TyKind::Array { element, len: Some(len) } => Some((len, range.clone(), element)),
            TyKind::Struct(class) => {
                self.complete_class(class);
                let fields = &self.tables.types().struct_(class).fields;
                let [field] = &**fields else { return None };
                let TyKind::Array { element, len: Some(len) } = *self.tables.types().kind(field.ty.ty) else {
                    return None;
                };
                let place = self.tables.temporary(range.clone());
                let array = self.tables.field_of(place, class, class, 0, range.span);
                Some((len, array, element))
            }
            _ => None,
        }
    }

    fn declare_range_variable(&mut self, variable: &'a ast::VarDecl, item: Option<Expr>, out: &mut Vec<Stmt>) {
        let Some(path) = &variable.name else { return };
        let (name, span) = (path.last().name.clone(), path.last().span);
        let Some(item) = item else {
            self.tables.poison(self.position.scope(), &name);
            self.check_bindings(variable, None, out);
            return;
        };
        let ty = match contains_auto(&variable.ty) {
            true => self.auto_type(&variable.ty, &item),
            false => Some(self.resolve_type(&variable.ty)).filter(|ty| ty.ty != Ty::ERROR),
        };
        let Some(ty) = ty else {
            self.tables.poison(self.position.scope(), &name);
            return;
        };
        let value = self.convert(item, ty, Purpose::Variable);
        let id = self.function.add_local(name.clone(), ty, AddressSpace::Thread, span);
        self.declare_local(&name, id, span);
        out.push(Stmt { kind: StmtKind::Local(id, Some(value)), span });
        self.check_bindings(variable, Some(id), out);
    }
}
