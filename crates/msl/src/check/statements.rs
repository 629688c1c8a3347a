//! Statements.

use super::convert::Purpose;
use super::initialize::contains_auto;
use super::scope::Symbol;
use super::{Checker, truth};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Condition, DeclKind, StmtKind as Ast};
use crate::program::{Case, Expr, ExprKind, Local, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn check_block_into(&mut self, stmts: &'a [ast::Stmt], out: &mut Vec<Stmt>) {
        for stmt in stmts {
            self.check_stmt(stmt, out);
        }
    }

    fn check_nested_block(&mut self, stmt: &'a ast::Stmt) -> Vec<Stmt> {
        let mut out = Vec::new();
        self.in_block(|this| match &stmt.kind {
            Ast::Block(block) => this.check_block_into(&block.stmts, &mut out),
            _ => this.check_stmt(stmt, &mut out),
        });
        out
    }

    fn check_stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        if self.nested(stmt.span, |this| this.check_stmt_nested(stmt, out)).is_none() {
            out.clear();
        }
    }

    fn check_stmt_nested(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut push = |kind: StmtKind| out.push(Stmt { kind, span });
        match &stmt.kind {
            Ast::Empty => {}
            Ast::Block(block) => {
                let mut inner = Vec::new();
                self.in_block(|this| this.check_block_into(&block.stmts, &mut inner));
                push(StmtKind::Block(inner));
            }
            Ast::Expr(expr) => {
                let checked = self.check_expr(expr);
                push(StmtKind::Expr(checked));
            }
            Ast::Decl(decls) => {
                for decl in decls {
                    self.check_local_decl(decl, out);
                }
            }
            Ast::If { is_constexpr, init, condition, then, otherwise } => {
                self.check_if(*is_constexpr, init.as_deref(), condition, then, otherwise.as_deref(), span, out);
            }
            Ast::While { condition, body, pragmas } => {
                let mut block = Vec::new();
                self.in_block(|this| {
                    // A variable in the condition is made anew in each round.
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
                let body = self.check_loop_body(body);
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
            Ast::Case { body, .. } | Ast::Default(body) => {
                let what = if matches!(stmt.kind, Ast::Default(_)) { "default" } else { "case" };
                let message = match self.function.switches {
                    0 => format!("'{what}' statement not in switch statement"),
                    _ => format!("'{what}' inside another statement of the switch is not supported"),
                };
                self.error("case", span, message);
                self.check_stmt(body, out);
            }
            Ast::Break => {
                if self.function.loops == 0 && self.function.switches == 0 {
                    self.error("break", span, "'break' statement not in loop or switch statement");
                }
                push(StmtKind::Break);
            }
            Ast::Continue => {
                if self.function.loops == 0 {
                    self.error("continue", span, "'continue' statement not in loop statement");
                }
                push(StmtKind::Continue);
            }
            Ast::Return(value) => {
                let value = self.check_return(value.as_ref(), span);
                push(StmtKind::Return(value));
            }
        }
    }

    fn check_loop_body(&mut self, body: &'a ast::Stmt) -> Vec<Stmt> {
        self.function.loops += 1;
        let switches = std::mem::replace(&mut self.function.switches, 0);
        let body = self.check_nested_block(body);
        self.function.switches = switches;
        self.function.loops -= 1;
        body
    }

    /// A loop's condition, and the statements that make its variable.
    fn loop_condition(&mut self, condition: &'a Condition) -> (Option<Expr>, Vec<Stmt>) {
        let mut prelude = Vec::new();
        let condition = self.check_condition(condition, &mut prelude);
        (Some(condition), prelude)
    }

    fn check_condition(&mut self, condition: &'a Condition, out: &mut Vec<Stmt>) -> Expr {
        let value = self.condition_value(condition, out);
        if self.types().vector_parts(value.ty.ty).is_some() {
            let message =
                format!("value of type '{}' is not contextually convertible to 'bool'", self.name_of(value.ty.ty));
            self.error("not-bool", value.span, message);
            return Expr::error(value.span);
        }
        self.as_bool(value)
    }

    fn condition_value(&mut self, condition: &'a Condition, out: &mut Vec<Stmt>) -> Expr {
        match condition {
            Condition::Expr(expr) => self.check_expr(expr),
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
                match (known, this.in_pattern && known.is_none()) {
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
            let otherwise = otherwise.map(|otherwise| this.check_nested_block(otherwise)).unwrap_or_default();
            block.push(Stmt { kind: StmtKind::If { condition: checked, then, otherwise }, span });
        });
        match block.len() {
            1 => out.append(&mut block),
            _ => out.push(Stmt { kind: StmtKind::Block(block), span }),
        }
    }

    fn check_return(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<Expr> {
        let Some(value) = value else {
            match self.function.result {
                None => self.function.result = Some(Ty::VOID),
                Some(ty) if ty == Ty::VOID || ty.is_unknown() => {}
                Some(_) => self.error("return", span, "non-void function should return a value"),
            }
            return None;
        };
        let Some(result) = self.function.result else {
            let checked = self.check_value(value);
            self.function.result = Some(checked.ty.ty);
            return Some(checked);
        };
        if result == Ty::VOID {
            let checked = self.check_expr(value);
            if checked.ty.ty != Ty::VOID && !checked.ty.ty.is_unknown() {
                self.error("return", span, "void function should not return a value");
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

    // --- declarations ------------------------------------------------------------------------------------------

    fn check_local_decl(&mut self, decl: &'a ast::Decl, out: &mut Vec<Stmt>) {
        match &decl.kind {
            DeclKind::Var(var) => {
                self.check_local_var(var, out);
            }
            DeclKind::Function(function) => {
                // A prototype inside a function is allowed, and useless.
                let message = "function declarations inside functions are not supported";
                self.error("function", function.name.span, message);
            }
            _ => self.declare_anywhere(decl),
        }
    }

    fn check_local_var(&mut self, var: &'a ast::VarDecl, out: &mut Vec<Stmt>) -> Option<LocalId> {
        let path = var.name.as_ref()?;
        let name = &path.last().name;
        let span = path.last().span;
        let deduced = if contains_auto(&var.ty) { Some(self.deduce_auto_variable(var)) } else { None };
        let ty = match &deduced {
            Some(deduced) => deduced.as_ref().map(|(ty, _)| *ty),
            None => self.variable_type(var),
        };
        let Some(ty) = ty else {
            self.poison(name);
            return None;
        };
        let space = Self::space_or_thread(ty);
        self.check_local_space(var, ty, space, span);
        if space == AddressSpace::Constant {
            self.check_local_constant(var, ty, deduced.flatten().and_then(|(_, init)| init), span);
            return None;
        }
        // The name means the variable from here on, its own initializer included.
        let id = self.add_local(name.clone(), ty, space, span);
        self.declare_local(name, id, span);
        let (ty, init) = match deduced {
            Some(deduced) => deduced?,
            None => self.variable_init(var, ty),
        };
        self.function.locals[id.0 as usize].ty = ty;
        let init = match init {
            Some(init) => Some(init),
            None => self.uninitialized(var, ty, space, span),
        };
        if var.specifiers.is_constexpr || (ty.is_const && !ty.is_volatile) {
            self.remember_constant(id, init.as_ref(), var.specifiers.is_constexpr, ty, span);
        }
        out.push(Stmt { kind: StmtKind::Local(id, init), span });
        Some(id)
    }

    /// A table that every thread shares is a global with a local name.
    fn check_local_constant(&mut self, var: &'a ast::VarDecl, ty: QualTy, deduced: Option<Expr>, span: Span) {
        let Some(path) = &var.name else { return };
        let name = path.last().name.clone();
        let (ty, init) = match deduced {
            Some(init) => (ty, Some(init)),
            None => self.variable_init(var, ty),
        };
        let Some(init) = init else {
            self.error("uninitialized", span, "variable in constant address space must be initialized");
            return;
        };
        let id = self.add_global(name.clone(), ty.constant(), span);
        let message = "initializer of a variable in constant address space must be a constant expression";
        let value = self.evaluate_or_report(&init, message);
        self.program.globals[id.0 as usize].value = value;
        self.scopes.insert(self.scope, name, Symbol::Global(id));
    }

    /// After an error in its declaration, a name fits everywhere.
    fn poison(&mut self, name: &SmolStr) {
        let symbol = Symbol::Value(Ty::ERROR, Value::Unknown);
        self.scopes.insert(self.scope, name.clone(), symbol);
    }

    fn check_local_space(&mut self, var: &'a ast::VarDecl, ty: QualTy, space: AddressSpace, span: Span) {
        match space {
            AddressSpace::Thread | AddressSpace::Constant => {}
            AddressSpace::Threadgroup => {
                if !self.function.is_kernel && !self.in_pattern {
                    let message =
                        "variable in threadgroup address space can only be declared inside a kernel function";
                    self.error("threadgroup-variable", span, message);
                }
                if var.init.is_some() {
                    let message = "variables in the threadgroup address space cannot have an initializer";
                    self.error("threadgroup-variable", span, message);
                }
            }
            _ => {
                let message = format!("a local variable cannot be in the {} address space", space.text());
                self.error("address-space", span, message);
            }
        }
        if var.specifiers.is_static && space == AddressSpace::Thread && !ty.ty.is_unknown() {
            let message = "static local variable must reside in constant address space";
            self.error("address-space", span, message);
        }
    }

    /// What a variable without an initializer holds.
    fn uninitialized(
        &mut self,
        var: &'a ast::VarDecl,
        ty: QualTy,
        space: AddressSpace,
        span: Span,
    ) -> Option<Expr> {
        if ty.ty.is_unknown() || space == AddressSpace::Threadgroup {
            return None;
        }
        match self.types().kind(ty.ty) {
            TyKind::Reference { .. } => {
                let name = var.name.as_ref().map(|name| name.last().name.clone()).unwrap_or_default();
                let message = format!("declaration of reference variable '{name}' requires an initializer");
                self.error("uninitialized", span, message);
                return None;
            }
            TyKind::Array { len: None, .. } => {
                self.error(
                    "array-size",
                    span,
                    "definition of variable with array type needs an explicit size or an initializer",
                );
                return None;
            }
            _ => {}
        }
        let value = self.default_initialize(ty, span);
        if value.is_none()
            && (ty.is_const || var.specifiers.is_constexpr)
            && self.types().struct_id(ty.ty).is_none()
        {
            let message = format!("default initialization of an object of const type '{}'", self.name_of_qual(ty));
            self.error("uninitialized", span, message);
        }
        value
    }

    /// Keeps the value of a constant for array sizes and template arguments.
    fn remember_constant(&mut self, id: LocalId, init: Option<&Expr>, required: bool, ty: QualTy, span: Span) {
        let Some(init) = init else { return };
        if init.ty.ty.is_unknown() {
            if init.ty.ty == Ty::DEPENDENT || self.in_pattern {
                self.function.known_locals.insert(id, Value::Unknown);
            }
            return;
        }
        if matches!(self.types().kind(ty.ty), TyKind::Reference { .. }) {
            return;
        }
        if required {
            let name = self.function.locals[id.0 as usize].name.clone();
            let message = format!("constexpr variable '{name}' must be initialized by a constant expression");
            let is_pointer = self.types().pointee(ty.ty).is_some();
            if is_pointer || self.is_opaque(ty.ty) {
                return;
            }
            let before = self.diagnostics.len();
            let value = self.evaluate_or_report(init, &message);
            if let Some(diagnostic) = self.diagnostics.get_mut(before) {
                diagnostic.span = Some(span);
            }
            self.function.known_locals.insert(id, value.unwrap_or(Value::Unknown));
            return;
        }
        let is_number = self.types().is_arithmetic(ty.ty) || self.types().enum_id(ty.ty).is_some();
        if is_number && let Ok(value) = self.try_evaluate(init) {
            self.function.known_locals.insert(id, value);
        }
    }

    fn add_local(&mut self, name: SmolStr, ty: QualTy, space: AddressSpace, span: Span) -> LocalId {
        self.function.locals.push(Local { name, ty, space, span });
        LocalId(self.function.locals.len() as u32 - 1)
    }

    fn declare_local(&mut self, name: &SmolStr, id: LocalId, span: Span) {
        if let Some(old) = self.scopes.own(self.scope, name).cloned() {
            let message = format!("redefinition of '{name}'");
            let diagnostic = Diagnostic::error("redefinition", span, message);
            let previous = self.declared_at(&old);
            self.report(match previous {
                Some(span) => diagnostic.note(span, "previous definition is here"),
                None => diagnostic,
            });
        }
        self.scopes.insert(self.scope, name.clone(), Symbol::Local(id));
    }

    // --- switch ------------------------------------------------------------------------------------------------

    fn check_switch(&mut self, condition: &'a Condition, body: &'a ast::Stmt, span: Span, out: &mut Vec<Stmt>) {
        let mut block = Vec::new();
        self.in_block(|this| {
            let value = this.condition_value(condition, &mut block);
            let value = this.load(value);
            let integral = this.is_integral_or_unscoped(value.ty.ty) || this.types().enum_id(value.ty.ty).is_some();
            if !integral && !value.ty.ty.is_unknown() {
                let message = format!(
                    "statement requires expression of integer type ('{}' invalid)",
                    this.name_of(value.ty.ty)
                );
                this.error("switch", value.span, message);
            }
            let ty = value.ty.ty;
            let promoted = this.promoted(ty);
            let compare_ty = if this.types().enum_id(ty).is_some() { ty } else { promoted };
            let value = if integral { this.convert_value(value, compare_ty) } else { value };
            this.function.switches += 1;
            let cases = this.switch_cases(body, compare_ty);
            this.function.switches -= 1;
            block.push(Stmt { kind: StmtKind::Switch { value, cases }, span });
        });
        match block.len() {
            1 => out.append(&mut block),
            _ => out.push(Stmt { kind: StmtKind::Block(block), span }),
        }
    }

    fn switch_cases(&mut self, body: &'a ast::Stmt, ty: Ty) -> Vec<Case> {
        let single = std::slice::from_ref(body);
        let stmts: &'a [ast::Stmt] = match &body.kind {
            Ast::Block(block) => &block.stmts,
            _ => single,
        };
        let mut cases: Vec<Case> = Vec::new();
        let mut seen: Vec<(Option<i128>, Span)> = Vec::new();
        self.in_block(|this| {
            for stmt in stmts {
                let mut labels = Vec::new();
                let mut inner = stmt;
                loop {
                    match &inner.kind {
                        Ast::Case { value, body } => {
                            if let Some(label) = this.case_value(value, ty) {
                                this.refuse_second_label(Some(label), value.span, &mut seen);
                                labels.push(Some(label));
                            }
                            inner = body;
                        }
                        Ast::Default(body) => {
                            this.refuse_second_label(None, inner.span, &mut seen);
                            labels.push(None);
                            inner = body;
                        }
                        _ => break,
                    }
                }
                let starts_case = !std::ptr::eq(inner, stmt);
                if starts_case {
                    // Labels that stand together share a body.
                    match cases.last_mut() {
                        Some(last) if last.body.is_empty() => last.labels.append(&mut labels),
                        _ => cases.push(Case { labels, body: Vec::new() }),
                    }
                }
                match cases.last_mut() {
                    Some(case) => {
                        let mut body = std::mem::take(&mut case.body);
                        this.check_stmt(inner, &mut body);
                        if let Some(case) = cases.last_mut() {
                            case.body = body;
                        }
                    }
                    None => {
                        // Before the first case: never runs, but must be right.
                        let mut unreachable = Vec::new();
                        this.check_stmt(inner, &mut unreachable);
                    }
                }
            }
        });
        cases
    }

    fn case_value(&mut self, value: &'a ast::Expr, ty: Ty) -> Option<i128> {
        let checked = self.check_value(value);
        let converted =
            if ty.is_unknown() { checked } else { self.convert(checked, QualTy::plain(ty), Purpose::Variable) };
        match self.evaluate_or_report(&converted, "case value is not a constant expression")? {
            Value::Int(value) => Some(value),
            Value::Bool(value) => Some(i128::from(value)),
            _ => None,
        }
    }

    fn refuse_second_label(&mut self, label: Option<i128>, span: Span, seen: &mut Vec<(Option<i128>, Span)>) {
        if let Some((_, first)) = seen.iter().find(|(old, _)| *old == label) {
            let message = match label {
                Some(value) => format!("duplicate case value '{value}'"),
                None => "multiple default labels in one switch".into(),
            };
            let diagnostic = Diagnostic::error("duplicate-case", span, message);
            self.report(diagnostic.note(*first, "previous case defined here"));
        }
        seen.push((label, span));
    }

    // --- range-for ---------------------------------------------------------------------------------------------

    /// `for (T x : array)`: a counted loop over an array, or over something with `size()` and `[]`.
    fn check_range_for(
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
            let range = this.check_expr(range);
            let range_span = range.span;
            let (len, array, element) = match this.range_parts(&range) {
                Some(parts) => parts,
                None => {
                    if range.ty.ty != Ty::ERROR && range.ty.ty != Ty::DEPENDENT {
                        let message = format!("invalid range expression of type '{}'", this.name_of(range.ty.ty));
                        this.error("range-for", range_span, message);
                    }
                    this.function.loops += 1;
                    this.declare_range_variable(variable, None, &mut Vec::new());
                    this.check_nested_block(body);
                    this.function.loops -= 1;
                    return;
                }
            };
            let counter = this.add_local("(index)".into(), QualTy::plain(Ty::ULONG), AddressSpace::Thread, span);
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

    /// The length, the array itself and its element, of an array or of a class that wraps one (`metal::array`).
    fn range_parts(&mut self, range: &Expr) -> Option<(u64, Expr, Ty)> {
        match *self.types().kind(range.ty.ty) {
            TyKind::Array { element, len: Some(len) } => Some((len, range.clone(), element)),
            TyKind::Struct(class) => {
                self.complete_class(class);
                let fields = &self.types().struct_(class).fields;
                let [field] = &**fields else { return None };
                let TyKind::Array { element, len: Some(len) } = *self.types().kind(field.ty.ty) else {
                    return None;
                };
                let place = self.temporary(range.clone());
                let array = self.field_of(place, class, class, 0, range.span);
                Some((len, array, element))
            }
            _ => None,
        }
    }

    fn declare_range_variable(&mut self, variable: &'a ast::VarDecl, item: Option<Expr>, out: &mut Vec<Stmt>) {
        let Some(path) = &variable.name else { return };
        let (name, span) = (path.last().name.clone(), path.last().span);
        let Some(item) = item else {
            self.poison(&name);
            return;
        };
        let ty = match contains_auto(&variable.ty) {
            true => self.auto_type(&variable.ty, &item),
            false => Some(self.resolve_type(&variable.ty)).filter(|ty| ty.ty != Ty::ERROR),
        };
        let Some(ty) = ty else {
            self.poison(&name);
            return;
        };
        let value = self.convert(item, ty, Purpose::Variable);
        let id = self.add_local(name.clone(), ty, AddressSpace::Thread, span);
        self.declare_local(&name, id, span);
        out.push(Stmt { kind: StmtKind::Local(id, Some(value)), span });
    }
}

/// A condition that makes a variable is tested inside the loop.
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
