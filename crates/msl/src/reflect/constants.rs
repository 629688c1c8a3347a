//! Function constants: those that must be set, and the defaults of the others.

use super::FunctionConstant;
use crate::program::{Expr, ExprKind, GlobalId, Program, Value};
use crate::walk::{walk_expr, walk_exprs};
use std::collections::BTreeSet;

/// All function constants, by index.
pub(super) fn function_constants(program: &Program) -> Vec<FunctionConstant> {
    let optional = optional(program);
    let mut constants: Vec<FunctionConstant> = program
        .globals
        .iter()
        .enumerate()
        .filter_map(|(index, global)| {
            let id = GlobalId(index as u32);
            Some(FunctionConstant {
                name: global.name.to_string(),
                index: global.function_constant?.index,
                ty: program.types.full_name(global.ty.ty),
                default: program.globals.iter().find_map(|other| default(program, id, other.init.as_ref()?)),
                required: !optional.contains(&id),
            })
        })
        .collect();
    constants.sort_by(|a, b| (a.index, &a.name).cmp(&(b.index, &b.name)));
    constants
}

/// Constants that some code tests with `is_function_constant_defined`.
fn optional(program: &Program) -> BTreeSet<GlobalId> {
    let mut asked = BTreeSet::new();
    let mut visit = |expr: &Expr| asked.extend(program.constant_tested_by(expr));
    for function in &program.functions {
        walk_exprs(function.body.as_deref().unwrap_or_default(), &mut visit);
    }
    for global in &program.globals {
        global.init.iter().for_each(|init| walk_expr(init, &mut visit));
    }
    asked
}

/// The `d` of `is_function_constant_defined(c) ? c : d`, where it is a constant. (The checker folds conversions.)
fn default(program: &Program, constant: GlobalId, init: &Expr) -> Option<String> {
    match &init.kind {
        ExprKind::Conditional { condition, then, otherwise } => match &otherwise.kind {
            ExprKind::Constant(value) => {
                let asks =
                    program.constant_tested_by(condition) == Some(constant) && then.only_global() == Some(constant);
                asks.then(|| text(value))
            }
            _ => None,
        },
        ExprKind::Load(inner) | ExprKind::Cast { operand: inner, .. } => default(program, constant, inner),
        _ => None,
    }
}

/// A constant as one would write it.
fn text(value: &Value) -> String {
    match value {
        Value::Unknown => "?".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Aggregate(parts) => format!("{{{}}}", parts.iter().map(text).collect::<Vec<_>>().join(", ")),
        Value::Function(_) | Value::Null => "nullptr".into(),
        Value::Str(text) => format!("{text:?}"),
    }
}
