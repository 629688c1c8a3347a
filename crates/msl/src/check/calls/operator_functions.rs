//! Operators that classes define, and classes that convert to numbers.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::{FunctionSet, Operand, invalid_operands};
use crate::check::tables::{EntityId, ScopeId, Symbol, Tables};
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// Calls the `operator…` that fits these operands; `None` if only a built-in operator can.
    pub(in crate::check) fn call_operator(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        op_span: Span,
        span: Span,
    ) -> Option<Expr> {
        let operands: Vec<Operand<'a>> = args.iter().cloned().map(Operand::Value).collect();
        let mut free: Vec<EntityId> = match self.tables.lookup_operator(self.position.scope(), name) {
            Some(Symbol::Functions(entities)) => entities,
            _ => Vec::new(),
        };
        self.tables.add_associated(name, &operands, &mut free);
        let mut methods = Vec::new();
        if let Some(class) = self.tables.types().struct_id(args[0].ty.ty) {
            self.complete_class(class);
            match self.tables.lookup_member(class, name).map(|found| found.symbol) {
                Some(Symbol::Functions(found)) => methods = found,
                Some(Symbol::Dependent) => return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span)),
                _ => {}
            }
        }
        if free.is_empty() && methods.is_empty() {
            return None;
        }
        let object = args[0].clone();
        let rest: Vec<Operand<'a>> = operands[1..].to_vec();
        let method_set = |entities: Vec<EntityId>| FunctionSet {
            name: name.into(),
            entities,
            explicit: None,
            object: Some(object.clone()),
            span: op_span,
            allows_adl: false,
        };
        let free_set = |entities: Vec<EntityId>| FunctionSet {
            name: name.into(),
            entities,
            explicit: None,
            object: None,
            span: op_span,
            allows_adl: false,
        };
        let method_fits = !methods.is_empty()
            && self.attempt(|this| this.call_set(method_set(methods.clone()), rest.clone(), span)).is_ok();
        let free_fits = !free.is_empty()
            && self.attempt(|this| this.call_set(free_set(free.clone()), operands.clone(), span)).is_ok();
        match (method_fits, free_fits) {
            (true, _) => Some(self.call_set(method_set(methods), rest, span)),
            (false, true) => Some(self.call_set(free_set(free), operands, span)),
            (false, false) => {
                // Assignment of the same type, and numbers that the operands convert to, are built in.
                let same = args.len() == 2 && args[0].ty.ty == args[1].ty.ty && name == "operator=";
                let is_deleted =
                    |id: &EntityId| self.tables.entity(*id).source.first().is_some_and(|decl| decl.is_deleted);
                if same && methods.iter().any(is_deleted) {
                    let message = "overload resolution selected deleted operator '='";
                    self.diagnostics.error("deleted", op_span, message);
                    return Some(Expr::error(span));
                }
                if same || self.has_builtin_meaning(&args) {
                    return None;
                }
                match methods.is_empty() {
                    false => Some(self.call_set(method_set(methods), rest, span)),
                    true => {
                        if args.len() == 2 {
                            invalid_operands(&self.tables, &mut self.diagnostics, &args[0], &args[1], op_span);
                        } else {
                            let message = format!(
                                "invalid argument type '{}' to unary expression",
                                self.tables.name_of(args[0].ty.ty)
                            );
                            self.diagnostics.error("invalid-operand", op_span, message);
                        }
                        Some(Expr::error(span))
                    }
                }
            }
        }
    }

    /// True if every operand is a number, or a class that converts to one.
    fn has_builtin_meaning(&mut self, args: &[Expr]) -> bool {
        args.iter().all(|arg| {
            let ty = arg.ty.ty;
            self.tables.is_number(self.tables.types().element_of(ty))
                || self.tables.types().enum_id(ty).is_some()
                || self.tables.types().pointee(ty).is_some()
                || self
                    .tables
                    .types()
                    .struct_id(ty)
                    .is_some_and(|class| self.number_conversion_of(class, arg).is_some())
        })
    }

    /// The number that an object converts to, for the built-in operators.
    pub(in crate::check) fn scalar_from_class(&mut self, value: Expr) -> Expr {
        let Some(class) = self.tables.types().struct_id(value.ty.ty) else { return value };
        match self.number_conversion_of(class, &value) {
            Some(ty) => self.convert(value, QualTy::plain(ty), Purpose::Variable),
            None => value,
        }
    }

    fn number_conversion_of(&mut self, class: crate::types::StructId, object: &Expr) -> Option<Ty> {
        self.complete_class(class);
        for entity in self.tables.class(class).conversions.clone() {
            if self.tables.entity(entity).header.is_some() || self.tables.is_explicit_conversion(entity) {
                continue;
            }
            let signature = self.signature(entity, &[])?;
            let (Some(result), Some(this)) = (signature.result, signature.this) else { continue };
            if self.tables.is_number(self.tables.types().element_of(result))
                && self.tables.object_converts(object, this, entity)
            {
                return Some(result);
            }
        }
        // A conversion template converts to any type; the built-in operators need `float`.
        for entity in self.tables.class(class).conversions.clone() {
            if self.tables.entity(entity).header.is_some()
                && !self.tables.is_explicit_conversion(entity)
                && self.deduce_conversion(entity, Ty::FLOAT).is_some()
            {
                return Some(Ty::FLOAT);
            }
        }
        None
    }
}

impl<'a> Tables<'a> {
    /// True if operators can be defined for the type.
    pub(in crate::check) fn is_overloadable(&self, ty: Ty) -> bool {
        matches!(self.types().kind(ty), TyKind::Struct(_) | TyKind::Enum(_) | TyKind::SimdgroupMatrix { .. })
    }

    /// Looks up an operator in the namespaces around `scope`; members of classes do not hide it.
    fn lookup_operator(&self, scope: ScopeId, name: &str) -> Option<Symbol> {
        let namespace = self.scopes().enclosing_namespace(scope);
        let mut scope = Some(namespace);
        let mut all: Vec<EntityId> = Vec::new();
        while let Some(id) = scope {
            if let Some(Symbol::Functions(found)) = self.scopes().find_in(id, name) {
                all.extend(found);
                break;
            }
            scope = self.scopes().get(id).parent;
        }
        (!all.is_empty()).then_some(Symbol::Functions(all))
    }
}
