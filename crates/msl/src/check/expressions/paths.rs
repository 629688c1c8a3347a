//! Names as expressions.

use super::operand::{FunctionSet, Operand};
use crate::check::Checker;
use crate::check::declarations::type_without_qualifiers;
use crate::check::names::builtin_type;
use crate::check::state::Diagnostics;
use crate::check::tables::{EntityId, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{Expr, ExprKind, LocalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::{SmolStr, format_smolstr};

impl<'a> Checker<'a> {
    pub(super) fn check_path(&mut self, path: &'a ast::Path) -> Operand<'a> {
        let span = path.span;
        if let Some(answer) = self.check_type_trait(path).or_else(|| self.check_function_name(path)) {
            return Operand::Value(answer);
        }
        let found = match self.resolve_path(path) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.undeclared(path, false);
                return Operand::Value(Expr::error(span));
            }
            Err(()) => return Operand::Value(Expr::error(span)),
        };
        if let Symbol::Local(_) = found.symbol
            && let Some(constant) = self.outer_local(path)
        {
            return Operand::Value(constant);
        }
        let last = path.last();
        let qualified = path.segments.len() > 1 || path.global;
        Operand::Value(match found.symbol {
            Symbol::Functions(entities) => {
                let object = match found.class {
                    Some(class) => self.implicit_object(class, span),
                    None => None,
                };
                return Operand::Functions(FunctionSet {
                    name: last.name.clone(),
                    entities,
                    explicit: last.args.as_deref(),
                    object,
                    span: last.span,
                    allows_adl: !qualified && found.class.is_none(),
                });
            }
            symbol @ (Symbol::Type(_)
            | Symbol::ClassTemplate(_)
            | Symbol::AliasTemplate(_)
            | Symbol::NativeTemplate(_)) => {
                return match self.symbol_as_type(&symbol, last.args.as_deref(), last.span) {
                    QualTy { ty: Ty::ERROR, .. } => Operand::Value(Expr::error(span)),
                    ty => Operand::Type(ty),
                };
            }
            Symbol::Local(id) => self.local(id, span),
            Symbol::Capture(field) => self.capture_place(field, span),
            Symbol::Global(id) => {
                self.force_global(id);
                let declared = self.tables.global(id).span;
                self.use_variable(&last.name, declared, span);
                let ty = self.tables.global(id).ty;
                let place = Expr::place(ExprKind::Global(id), ty, span);
                self.tables.through_reference(place)
            }
            Symbol::Value(ty, value) => Expr::constant(value, ty, span),
            Symbol::Field(field) => {
                let class = found.class.expect("a field belongs to a class");
                self.implicit_field(class, field, path)
            }
            Symbol::VarTemplate(id) => {
                let Some(args) = &last.args else {
                    let message = format!("use of variable template '{}' requires template arguments", last.name);
                    self.diagnostics.error("template-arguments", last.span, message);
                    return Operand::Value(Expr::error(span));
                };
                match self.var_template_instance(id, args, last.span) {
                    None => Expr::error(span),
                    Some(None) => {
                        let decl = self.tables.var_template(id).decl;
                        dependent_variable(&self.tables, &mut self.diagnostics, decl, span)
                    }
                    Some(Some(global)) => {
                        let ty = self.tables.global(global).ty;
                        Expr::place(ExprKind::Global(global), ty, span)
                    }
                }
            }
            Symbol::Dependent => Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
            Symbol::Ambiguous => {
                self.diagnostics.error(
                    "ambiguous-name",
                    span,
                    format!("reference to '{}' is ambiguous", last.name),
                );
                Expr::error(span)
            }
            Symbol::Namespace(_) => {
                let message = format!("unexpected namespace name '{}': expected expression", last.name);
                self.diagnostics.error("expected-expression", span, message);
                Expr::error(span)
            }
            Symbol::Pack(_) | Symbol::LocalPack(_) => {
                self.diagnostics.error("pack", span, "expression contains an unexpanded parameter pack");
                Expr::error(span)
            }
        })
    }

    /// `__func__` and kin: the name of this function, as a string.
    fn check_function_name(&mut self, path: &ast::Path) -> Option<Expr> {
        let is_pretty = match path.as_ident()?.as_str() {
            "__func__" | "__FUNCTION__" => false,
            "__PRETTY_FUNCTION__" => true,
            _ => return None,
        };
        if is_pretty && self.position.in_pattern() {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, path.span));
        }
        let text = match self.function.entity() {
            None => {
                let message = "predefined identifier is only valid inside function";
                let warning = Diagnostic::warning("predefined-identifier-outside-function", path.span, message);
                self.diagnostics.report(warning);
                SmolStr::default()
            }
            Some(entity) if !is_pretty => self.tables.entity(entity).name.clone(),
            Some(entity) => self.written_signature(entity),
        };
        Some(self.tables.string(&text, path.span))
    }

    /// `float space::f(int, float)`
    fn written_signature(&mut self, entity: EntityId) -> SmolStr {
        let params = match self.function.id() {
            Some(id) => self.tables.function(id).params.clone(),
            None => Vec::new(),
        };
        let params = params.iter().filter(|&&param| Some(param) != self.function.this());
        let params: Vec<String> =
            params.map(|&param| self.tables.name_of(self.function.local(param).ty.ty)).collect();
        let result = self.function.result().map_or("auto".into(), |result| self.tables.name_of(result));
        let entity = self.tables.entity(entity);
        format_smolstr!("{result} {}{}({})", entity.prefix, entity.name, params.join(", "))
    }

    /// A variable of the function around a lambda or local class that is not captured: only its constant value can be
    /// used.
    fn outer_local(&mut self, path: &'a ast::Path) -> Option<Expr> {
        self.function.entity().and_then(|entity| self.tables.entity(entity).class)?;
        let (name, span) = (path.as_ident()?, path.span);
        let (class, scope) = self.tables.class_before(self.position.scope(), name)?;
        if let Some((ty, value)) = self.tables.local_constant(scope, name) {
            return Some(Expr::constant(value, ty, span));
        }
        let message = match self.tables.class(class).closure {
            Some(_) => format!(
                "variable '{name}' cannot be implicitly captured in a lambda with no capture-default specified"
            ),
            None => format!("reference to local variable '{name}' declared in enclosing function"),
        };
        self.diagnostics.error("capture", span, message);
        Some(Expr::error(span))
    }

    pub(in crate::check) fn local(&mut self, id: LocalId, span: Span) -> Expr {
        self.function.mark_used(id);
        if let Some(local) = self.function.find_local(id) {
            let (name, declared) = (local.name.clone(), local.span);
            self.use_variable(&name, declared, span);
        }
        let Some(local) = self.function.find_local(id) else {
            self.diagnostics.error("local", span, "a variable of the surrounding function cannot be used here");
            return Expr::error(span);
        };
        let ty = local.ty.in_space(local.space);
        // A known constant acts like a literal, and stays a place, so that code can take its address.
        let place = Expr::place(ExprKind::Local(id), ty, span);
        self.tables.through_reference(place)
    }
}

impl<'a> Tables<'a> {
    /// A string literal: an array of constants.
    pub(super) fn string(&mut self, text: &SmolStr, span: Span) -> Expr {
        let array = self.types_mut().array(Ty::CHAR, Some(text.len() as u64 + 1));
        let ty = QualTy::plain(array).constant().in_space(AddressSpace::Constant);
        Expr::place(ExprKind::Constant(Value::Str(text.clone())), ty, span)
    }

    /// A variable of reference type means the object that it refers to.
    pub(super) fn through_reference(&self, place: Expr) -> Expr {
        let span = place.span;
        match self.types().kind(place.ty.ty) {
            TyKind::Reference { .. } => {
                let ty = place.ty.ty;
                let address = Expr::value(ExprKind::Load(Box::new(place)), ty, span);
                self.deref(address, span)
            }
            _ => place,
        }
    }
}

/// A variable template with arguments that are not known yet: its type may be.
fn dependent_variable(tables: &Tables<'_>, diagnostics: &mut Diagnostics, decl: &ast::VarDecl, span: Span) -> Expr {
    let ty = match type_without_qualifiers(&decl.ty) {
        ast::TypeExprKind::Builtin(builtin) => builtin_type(tables, diagnostics, *builtin, span).ty,
        _ => return Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
    };
    Expr::constant(Value::Unknown, ty, span)
}
