//! Statements.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::truth;
use crate::parse::ast::{self, Condition, StmtKind as Ast};
use crate::program::{Expr, ExprKind, Stmt, StmtKind};
use crate::source::Span;
use crate::types::{QualTy, Ty};

impl<'a> Checker<'a> {
    pub(in crate::check) fn check_block_into(&mut self, stmts: &'a [ast::Stmt], out: &mut Vec<Stmt>) {
        for stmt in stmts {
            self.check_stmt(stmt, out);
        }
    }

    pub(super) fn check_nested_block(&mut self, stmt: &'a ast::Stmt) -> Vec<Stmt> {
        let mut out = Vec::new();
        self.in_controlled_block(|this| match &stmt.kind {
            Ast::Block(block) => this.check_block_into(&block.stmts, &mut out),
            _ => this.check_stmt(stmt, &mut out),
        });
        out
    }

    pub(super) fn check_stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        if self.nested(stmt.span, |this| this.check_stmt_nested(stmt, out)).is_none() {
            out.clear();
        }
    }

    /// `({ … })`: the last expression is the value.
    pub(in crate::check) fn check_statements(&mut self, block: &'a ast::Block, span: Span) -> Expr {
        if self.function.id().is_none() && self.function.entity().is_none() {
            self.diagnostics.error("statement-expression", span, "statement expression not allowed at file scope");
            return Expr::error(span);
        }
        let end = block.stmts.iter().rposition(|stmt| !matches!(stmt.kind, Ast::Empty));
        let (mut body, mut value) = (Vec::new(), None);
        self.in_block(|this| {
            for (index, stmt) in block.stmts.iter().enumerate() {
                match &stmt.kind {
                    Ast::Expr(last) if Some(index) == end => value = Some(this.check_value(last)),
                    _ => this.check_stmt(stmt, &mut body),
                }
            }
        });
        let ty = value.as_ref().map_or(Ty::VOID, |value: &Expr| value.ty.ty);
        Expr::value(ExprKind::Statements { body, value: value.map(Box::new) }, ty, span)
    }

    fn check_stmt_nested(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut push = |kind: StmtKind| out.push(Stmt { kind, span });
        match &stmt.kind {
            Ast::Empty => {}
            Ast::FpPragma(words) => push(StmtKind::FpPragma(words.clone())),
            Ast::Block(block) => {
                let mut inner = Vec::new();
                self.in_block(|this| this.check_block_into(&block.stmts, &mut inner));
                push(StmtKind::Block(inner));
            }
            Ast::Expr(expr) => {
                let checked = self.check_expr(expr);
                self.warn_about_discarded(&checked);
                push(StmtKind::Expr(checked));
            }
            Ast::Decl(decls) => {
                for decl in decls {
                    self.check_local_decl(decl, out);
                }
                self.refuse_different_autos(decls);
            }
            Ast::If { is_constexpr, init, condition, then, otherwise } => {
                self.check_if(*is_constexpr, init.as_deref(), condition, then, otherwise.as_deref(), span, out);
            }
            Ast::While { condition, body, pragmas } => {
                let mut block = Vec::new();
                self.in_block(|this| {
                    // A variable in the condition is initialized again in each iteration.
                    let (condition, prelude) = this.loop_condition(condition);
                    let body = this.check_loop_body(body);
                    let (condition, body) = with_prelude(condition, prelude, body);
                    let kind =
                        StmtKind::Loop { condition, test_first: true, step: None, body, pragmas: pragmas.clone() };
                    block.push(Stmt { kind, span });
                });
                out.append(&mut block);
            }
            Ast::DoWhile { condition, body, pragmas } => {
                // The condition declares nothing.
                let body = self.in_block(|this| this.check_loop_body(body));
                self.warn_about_condition(condition);
                let condition = self.check_condition_value(condition);
                let pragmas = pragmas.clone();
                push(StmtKind::Loop { condition: Some(condition), test_first: false, step: None, body, pragmas });
            }
            Ast::For { init, condition, step, body, pragmas } => {
                let mut block = Vec::new();
                self.in_block(|this| {
                    if let Some(init) = init {
                        this.check_stmt(init, &mut block);
                    }
                    let (condition, prelude) = match condition {
                        Some(condition) => this.loop_condition(condition),
                        None => (None, Vec::new()),
                    };
                    let step = step.as_ref().map(|step| this.check_expr(step));
                    let body = this.check_loop_body(body);
                    let (condition, body) = with_prelude(condition, prelude, body);
                    let kind = StmtKind::Loop { condition, test_first: true, step, body, pragmas: pragmas.clone() };
                    block.push(Stmt { kind, span });
                });
                push(StmtKind::Block(block));
            }
            Ast::RangeFor { variable, range, body, pragmas } => {
                self.check_range_for(variable, range, body, pragmas, span, out)
            }
            Ast::Switch { condition, body } => self.check_switch(condition, body, span, out),
            Ast::Case { labels, body } => {
                let is_default = labels.first().is_some_and(|label| label.value.is_none());
                let what = if is_default { "default" } else { "case" };
                let message = match self.function.is_in_switch() {
                    false => format!("'{what}' statement not in switch statement"),
                    true => format!("'{what}' inside another statement of the switch is not supported"),
                };
                self.diagnostics.error("case", span, message);
                self.check_stmt(body, out);
            }
            Ast::Break => {
                if !self.function.is_in_loop() && !self.function.is_in_switch() {
                    self.diagnostics.error("break", span, "'break' statement not in loop or switch statement");
                }
                push(StmtKind::Break);
            }
            Ast::Continue => {
                if !self.function.is_in_loop() {
                    self.diagnostics.error("continue", span, "'continue' statement not in loop statement");
                }
                push(StmtKind::Continue);
            }
            Ast::Return(value) => {
                let value = self.check_return(value.as_ref(), span);
                push(StmtKind::Return(value));
            }
        }
    }

    pub(super) fn check_loop_body(&mut self, body: &'a ast::Stmt) -> Vec<Stmt> {
        self.function.enter_loop();
        let switches = self.function.hide_switches();
        let body = self.check_nested_block(body);
        self.function.show_switches(switches);
        self.function.leave_loop();
        body
    }

    /// A loop's condition, and the statements that declare its variable.
    fn loop_condition(&mut self, condition: &'a Condition) -> (Option<Expr>, Vec<Stmt>) {
        let mut prelude = Vec::new();
        let condition = self.check_condition(condition, &mut prelude);
        (Some(condition), prelude)
    }

    fn check_condition(&mut self, condition: &'a Condition, out: &mut Vec<Stmt>) -> Expr {
        let value = self.condition_value(condition, out);
        if self.tables.types().vector_parts(value.ty.ty).is_some() {
            let message = format!(
                "value of type '{}' is not contextually convertible to 'bool'",
                self.tables.name_of(value.ty.ty)
            );
            self.diagnostics.error("not-bool", value.span, message);
            return Expr::error(value.span);
        }
        self.as_bool(value)
    }

    pub(super) fn condition_value(&mut self, condition: &'a Condition, out: &mut Vec<Stmt>) -> Expr {
        match condition {
            Condition::Expr(expr) => {
                self.warn_about_condition(expr);
                self.check_expr(expr)
            }
            Condition::Var(var) => {
                let span = var.name.as_ref().map_or(var.ty.span, |name| name.span);
                match self.check_local_var(var, out) {
                    Some(id) => self.local(id, span),
                    None => Expr::error(span),
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of an if statement")]
    fn check_if(
        &mut self,
        is_constexpr: bool,
        init: Option<&'a ast::Stmt>,
        condition: &'a Condition,
        then: &'a ast::Stmt,
        otherwise: Option<&'a ast::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut block = Vec::new();
        self.in_block(|this| {
            if let Some(init) = init {
                this.check_stmt(init, &mut block);
            }
            let checked = this.check_condition(condition, &mut block);
            if is_constexpr {
                let value =
                    this.evaluate_or_report(&checked, "constexpr if condition is not a constant expression");
                let known = value.as_ref().and_then(truth);
                match (known, this.position.in_pattern() && known.is_none()) {
                    // The branch not taken is not part of the program.
                    (Some(true), _) => {
                        let inner = this.check_nested_block(then);
                        block.push(Stmt { kind: StmtKind::Block(inner), span });
                    }
                    (Some(false), _) => {
                        if let Some(otherwise) = otherwise {
                            let inner = this.check_nested_block(otherwise);
                            block.push(Stmt { kind: StmtKind::Block(inner), span });
                        }
                    }
                    (None, true) => {
                        this.check_nested_block(then);
                        if let Some(otherwise) = otherwise {
                            this.check_nested_block(otherwise);
                        }
                    }
                    (None, false) => {}
                }
                return;
            }
            let then = this.check_nested_block(then);
            let otherwise = this.check_else(otherwise);
            block.push(Stmt { kind: StmtKind::If { condition: checked, then, otherwise }, span });
        });
        match block.len() {
            1 => out.append(&mut block),
            _ => out.push(Stmt { kind: StmtKind::Block(block), span }),
        }
    }

    /// The branch behind `else`. A chain of `else if` is no nesting, unless it declares variables.
    fn check_else(&mut self, mut branch: Option<&'a ast::Stmt>) -> Vec<Stmt> {
        let mut parts = Vec::new();
        let mut chain = Vec::new();
        while let Some(ast::Stmt {
            kind: Ast::If { is_constexpr: false, init: None, condition: test @ Condition::Expr(_), then, otherwise },
            span,
        }) = branch
        {
            let condition = self.check_condition(test, &mut parts);
            // The condition of the first `if` is not that of this one.
            chain.push((condition, self.in_block(|this| this.check_nested_block(then)), *span));
            branch = otherwise.as_deref();
        }
        let last = match branch {
            None => Vec::new(),
            Some(branch) if chain.is_empty() => self.check_nested_block(branch),
            Some(branch) => self.in_block(|this| this.check_nested_block(branch)),
        };
        chain.into_iter().rev().fold(last, |otherwise, (condition, then, span)| {
            vec![Stmt { kind: StmtKind::If { condition, then, otherwise }, span }]
        })
    }

    fn check_return(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<Expr> {
        let Some(value) = value else {
            match self.function.result() {
                None => self.function.set_result(Ty::VOID),
                Some(ty) if ty == Ty::VOID || ty.is_unknown() => {}
                Some(_) => self.diagnostics.error("return", span, "non-void function should return a value"),
            }
            return None;
        };
        if self.function.deduces_result() {
            let written = self.function.entity().and_then(|entity| self.tables.entity(entity).source.result());
            let checked = self.deduced_return(written, value)?;
            match self.function.deduce_result() {
                Some(earlier)
                    if earlier != checked.ty.ty && !earlier.is_unknown() && !checked.ty.ty.is_unknown() =>
                {
                    let message = format!(
                        "'auto' in return type deduced as '{}' here but deduced as '{}' in earlier return statement",
                        self.tables.name_of(checked.ty.ty),
                        self.tables.name_of(earlier)
                    );
                    self.diagnostics.error("auto", span, message);
                }
                _ => self.function.set_result(checked.ty.ty),
            }
            return Some(checked);
        }
        let result = self.function.result().unwrap_or(Ty::VOID);
        if result == Ty::VOID {
            let checked = self.check_expr(value);
            if checked.ty.ty != Ty::VOID && !checked.ty.ty.is_unknown() {
                self.diagnostics.error("return", span, "void function should not return a value");
                return None;
            }
            return Some(checked);
        }
        let ty = QualTy::plain(result);
        let checked = match &value.kind {
            ast::ExprKind::InitList(items) => return Some(self.list_initialize_items(ty, items, value.span)),
            _ => self.check_for_type(value, ty),
        };
        Some(self.convert(checked, ty, Purpose::Return))
    }
}

/// A condition that declares a variable is tested inside the loop.
fn with_prelude(condition: Option<Expr>, prelude: Vec<Stmt>, body: Vec<Stmt>) -> (Option<Expr>, Vec<Stmt>) {
    if prelude.is_empty() {
        return (condition, body);
    }
    let Some(condition) = condition else { return (None, body) };
    let span = condition.span;
    let mut stmts = prelude;
    let leave = vec![Stmt { kind: StmtKind::Break, span }];
    stmts.push(Stmt { kind: StmtKind::If { condition, then: Vec::new(), otherwise: leave }, span });
    stmts.extend(body);
    (None, stmts)
}
