//! Member initializers: the bases and members that a constructor sets before its body runs.

use crate::check::Checker;
use crate::check::expressions::this_value;
use crate::check::tables::Symbol;
use crate::parse::ast;
use crate::program::{Stmt, StmtKind};
use crate::types::{QualTy, StructId, TyKind};

impl<'a> Checker<'a> {
    /// Initializes bases and members before a constructor's body, in their order.
    pub(super) fn member_inits(&mut self, class: StructId, decl: &'a ast::FunctionDecl, stmts: &mut Vec<Stmt>) {
        let fields = self.tables.types().struct_(class).fields.clone();
        let class_ty = self.tables.struct_type(class);
        let mut used = vec![false; decl.member_inits.len()];
        let is_self =
            |init: &ast::MemberInit| init.name.as_ident().is_some_and(|name| decl.name.last().name == *name);
        let delegates = decl.member_inits.iter().any(is_self);
        if delegates && decl.member_inits.len() > 1 {
            let span = decl.member_inits[1].name.span;
            let message = "an initializer for a delegating constructor must appear alone";
            self.diagnostics.error("member-init", span, message);
        }
        for (index, field) in fields.iter().enumerate() {
            let mut written = None;
            for (position, init) in decl.member_inits.iter().enumerate() {
                let matches = match field.is_base {
                    false => init.name.as_ident().is_some_and(|name| *name == field.name && !name.is_empty()),
                    true => {
                        let found = self.resolve_path(&init.name).ok().flatten().map(|found| found.symbol);
                        match found {
                            Some(
                                symbol @ (Symbol::Type(_) | Symbol::ClassTemplate(_) | Symbol::AliasTemplate(_)),
                            ) => {
                                let last = init.name.last();
                                self.symbol_as_type(&symbol, last.args.as_deref(), last.span).ty == field.ty.ty
                            }
                            _ => false,
                        }
                    }
                };
                if matches {
                    used[position] = true;
                    if written.is_some() {
                        let what = if field.is_base { "base" } else { "non-static member" };
                        let name = &init.name.last().name;
                        let message = format!("multiple initializations given for {what} '{name}'");
                        self.diagnostics.error("member-init", init.name.span, message);
                    }
                    written = Some(init);
                }
            }
            let span = written.map_or(field.span, |init| init.name.span);
            let default = self.tables.class(class).field_inits[index];
            let value = match (written, default) {
                (Some(init), _) => self.initialize(field.ty, &init.init),
                (None, Some(init)) => {
                    let scope = self.tables.class(class).scope;
                    self.in_scope(scope, |this| this.initialize(field.ty, init))
                }
                (None, None) => match self.default_initialize(field.ty, span) {
                    Some(value) => value,
                    None => {
                        let is_reference =
                            matches!(self.tables.types().kind(field.ty.ty), TyKind::Reference { .. });
                        if (is_reference || field.ty.is_const)
                            && !delegates
                            && !field.is_padding()
                            && !field.ty.ty.is_unknown()
                        {
                            let kind = if is_reference { "reference" } else { "const" };
                            let message = format!(
                                "constructor for '{}' must explicitly initialize the {kind} member '{}'",
                                self.tables.name_of(class_ty),
                                field.name
                            );
                            self.diagnostics.error("member-init", decl.name.span, message);
                        }
                        continue;
                    }
                },
            };
            let place = self.this_field(class_ty, index as u32, span);
            stmts.push(Stmt { kind: StmtKind::Init { place, value }, span });
        }
        for (position, init) in decl.member_inits.iter().enumerate() {
            if used[position] || self.tables.class(class).has_dependent_base {
                continue;
            }
            // A delegating constructor: `S(int x) : S(x, 0) {}`.
            if is_self(init) {
                let span = init.name.span;
                let value = self.initialize(QualTy::plain(class_ty), &init.init);
                let this = this_value(&self.function, &mut self.diagnostics, span);
                let place = self.tables.deref(this, span);
                stmts.clear();
                stmts.push(Stmt { kind: StmtKind::Init { place, value }, span });
                continue;
            }
            let message = format!(
                "member initializer '{}' does not name a non-static data member or base class",
                init.name.last().name
            );
            self.diagnostics.error("member-init", init.name.span, message);
        }
    }
}
