//! `switch`

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::state::Diagnostics;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Condition, StmtKind as Ast};
use crate::program::{Case, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty};
use rustc_hash::FxHashMap as HashMap;

/// Each value of a range becomes a label.
const MAX_CASE_RANGE: i128 = 1 << 12;

impl<'a> Checker<'a> {
    pub(super) fn check_switch(
        &mut self,
        condition: &'a Condition,
        body: &'a ast::Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut block = Vec::new();
        self.in_block(|this| {
            let value = this.condition_value(condition, &mut block);
            let value = this.load(value);
            let value = this.scalar_from_class(value);
            let integral = this.tables.is_integral_or_unscoped(value.ty.ty)
                || this.tables.types().enum_id(value.ty.ty).is_some();
            if !integral && !value.ty.ty.is_unknown() {
                let message = format!(
                    "statement requires expression of integer type ('{}' invalid)",
                    this.tables.name_of(value.ty.ty)
                );
                this.diagnostics.error("switch", value.span, message);
            }
            let ty = this.tables.operand_type(&value);
            let promoted = this.tables.promoted(ty);
            let compare_ty = if this.tables.types().enum_id(ty).is_some() { ty } else { promoted };
            let value = if integral { this.tables.convert_value(value, compare_ty) } else { value };
            this.function.enter_switch();
            let cases = this.switch_cases(body, compare_ty);
            this.function.leave_switch();
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
        let mut seen: HashMap<Option<i128>, Span> = HashMap::default();
        let mut initialized: Option<Span> = None;
        self.in_controlled_block(|this| {
            for stmt in stmts {
                let mut labels = Vec::new();
                let (written, inner) = match &stmt.kind {
                    Ast::Case { labels, body } => (&**labels, &**body),
                    _ => (&[][..], stmt),
                };
                for label in written {
                    let Some(value) = &label.value else {
                        refuse_second_label(&mut this.diagnostics, None, label.span, &mut seen);
                        labels.push(None);
                        continue;
                    };
                    for number in this.case_values(value, label.last.as_ref(), ty) {
                        refuse_second_label(&mut this.diagnostics, Some(number), value.span, &mut seen);
                        labels.push(Some(number));
                    }
                }
                let starts_case = !written.is_empty();
                if starts_case && let Some(variable) = initialized {
                    let message = "cannot jump from switch statement to this case label";
                    let diagnostic = Diagnostic::error("jump", stmt.span, message);
                    this.diagnostics.report(diagnostic.note(variable, "jump bypasses variable initialization"));
                    initialized = None;
                }
                if starts_case {
                    // Adjacent labels share a body.
                    match cases.last_mut() {
                        Some(last) if last.body.is_empty() => last.labels.append(&mut labels),
                        _ => cases.push(Case { labels, body: Vec::new() }),
                    }
                }
                match cases.last_mut() {
                    Some(case) => {
                        let mut body = std::mem::take(&mut case.body);
                        let before = body.len();
                        this.check_stmt(inner, &mut body);
                        let variable = body[before.min(body.len())..].iter().find_map(|stmt| match stmt.kind {
                            StmtKind::Local(_, Some(_)) => Some(stmt.span),
                            _ => None,
                        });
                        initialized = initialized.or(variable);
                        if let Some(case) = cases.last_mut() {
                            case.body = body;
                        }
                    }
                    None => {
                        // Code before the first case never runs, but is checked.
                        let mut unreachable = Vec::new();
                        this.check_stmt(inner, &mut unreachable);
                    }
                }
            }
        });
        cases
    }

    /// The values of `case 4:` or `case 1 ... 5:`.
    fn case_values(&mut self, first: &'a ast::Expr, last: Option<&'a ast::Expr>, ty: Ty) -> Vec<i128> {
        let low = self.case_value(first, ty);
        let Some(last) = last else { return low.into_iter().collect() };
        let (Some(low), Some(high)) = (low, self.case_value(last, ty)) else { return Vec::new() };
        if low > high {
            self.diagnostics.warn("case-range", first.span, "empty case range specified");
            return Vec::new();
        }
        if high - low >= MAX_CASE_RANGE {
            let message = format!("case range has more than {MAX_CASE_RANGE} values");
            self.diagnostics.error("case-range", first.span, message);
            return Vec::new();
        }
        (low..=high).collect()
    }

    fn case_value(&mut self, value: &'a ast::Expr, ty: Ty) -> Option<i128> {
        let checked = self.check_value(value);
        let from = checked.ty.ty;
        if self.tables.types().float_kind(from).is_some() && !ty.is_unknown() {
            let message = format!(
                "conversion from '{}' to '{}' is not allowed in a converted constant expression",
                self.tables.name_of(from),
                self.tables.name_of(ty)
            );
            self.diagnostics.error("case", value.span, message);
            return None;
        }
        let converted =
            if ty.is_unknown() { checked } else { self.convert(checked, QualTy::plain(ty), Purpose::Variable) };
        match self.evaluate_or_report(&converted, "case value is not a constant expression")? {
            Value::Int(value) => Some(value),
            Value::Bool(value) => Some(i128::from(value)),
            _ => None,
        }
    }
}

fn refuse_second_label(
    diagnostics: &mut Diagnostics,
    label: Option<i128>,
    span: Span,
    seen: &mut HashMap<Option<i128>, Span>,
) {
    let first = *seen.entry(label).or_insert(span);
    if first != span {
        let message = match label {
            Some(value) => format!("duplicate case value '{value}'"),
            None => "multiple default labels in one switch".into(),
        };
        let diagnostic = Diagnostic::error("duplicate-case", span, message);
        diagnostics.report(diagnostic.note(first, "previous case defined here"));
    }
}
