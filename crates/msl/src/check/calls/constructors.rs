//! Constructors: new objects from arguments.

use super::overload::{CallSite, Candidate};
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::Operand;
use crate::check::tables::{ClassState, EntityId};
use crate::parse::ast;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty};

impl<'a> Checker<'a> {
    /// `T(args)` where `T` is a named type.
    pub(in crate::check) fn construct_type(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        let ty = QualTy { is_const: false, ..ty };
        if args.is_empty() && !ty.ty.is_unknown() {
            return self.value_initialize(ty.ty, span);
        }
        if args.len() == 1 && !matches!(args[0].kind, ast::ExprKind::PackExpansion(_)) {
            // A single argument is a cast.
            if let ast::ExprKind::InitList(items) = &args[0].kind {
                return self.list_initialize_items(ty, items, span);
            }
            let value = self.check_for_type(&args[0], ty);
            return self.explicit_cast(value, ty, span, ast::CastKind::CStyle);
        }
        self.direct_initialize(ty, args, span)
    }

    /// A new object of `class` from arguments in parentheses.
    pub(in crate::check) fn construct(&mut self, class: StructId, args: &'a [ast::Expr], span: Span) -> Expr {
        self.complete_class(class);
        let operands = self.check_args(args);
        self.construct_operands(class, operands, span)
    }

    pub(in crate::check) fn construct_exprs(&mut self, class: StructId, args: Vec<Expr>, span: Span) -> Expr {
        let operands = args.into_iter().map(Operand::Value).collect();
        self.construct_operands(class, operands, span)
    }

    pub(in crate::check) fn construct_operands(
        &mut self,
        class: StructId,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Expr {
        let ty = self.tables.struct_type(class);
        if self.tables.class(class).state != ClassState::Complete {
            let message = format!("initialization of incomplete type '{}'", self.tables.name_of(ty));
            self.diagnostics.error("incomplete", span, message);
            return Expr::error(span);
        }
        // A copy needs no constructor.
        if let [Operand::Value(only)] = &*args
            && (only.ty.ty == ty || self.derives_from(only.ty.ty, ty))
        {
            let only = only.clone();
            self.refuse_hidden_base(only.ty.ty, ty, span);
            let value = match self.copied(&only, span) {
                Some(copy) => copy,
                None => self.load(only),
            };
            return self.tables.convert_value(value, ty);
        }
        let constructors = self.tables.class(class).constructors.clone();
        let dependent = args.iter().any(|arg| matches!(arg, Operand::Value(e) if e.ty.ty.is_unknown()))
            || self.tables.class(class).has_dependent_base;
        if dependent {
            return Expr::value(ExprKind::Error, ty, span);
        }
        if args.is_empty() && self.tables.class(class).has_default_constructor {
            return self.value_initialize(ty, span);
        }
        if constructors.is_empty() {
            if args.is_empty() {
                return self.value_initialize(ty, span);
            }
            // The argument's class may have a conversion function to this one.
            if let [Operand::Value(only)] = &*args {
                let only = only.clone();
                if self.conversion(&only, QualTy::plain(ty)).is_some() {
                    return self.convert(only, QualTy::plain(ty), Purpose::Variable);
                }
            }
            let message = format!("no matching constructor for initialization of '{}'", self.tables.name_of(ty));
            self.diagnostics.error("no-constructor", span, message);
            return Expr::error(span);
        }
        let name = self.tables.name_of(ty);
        let constructors = self.without_hidden(class, constructors, &args);
        let mut in_thread = constructors.clone();
        in_thread.retain(|&c| {
            self.tables.object_fits(c, AddressSpace::Thread) || self.tables.entity(c).builtin.is_some()
        });
        // Outside of functions, objects live in the constant address space.
        if in_thread.is_empty() && self.function.id().is_none() {
            in_thread = constructors;
        }
        let site = CallSite { name: &name, explicit: None, object: None, is_constructor: true, span };
        let Some(candidate) = self.choose(&in_thread, &site, &args) else { return Expr::error(span) };
        let operands = args;
        let Candidate { entity, args: targs, signature, .. } = candidate;
        if self.tables.entity(entity).source.first().is_some_and(|decl| decl.is_deleted) {
            let message = format!("call to deleted constructor of '{name}'");
            self.diagnostics.error("deleted", span, message);
            return Expr::error(span);
        }
        self.refuse_inaccessible(entity, None, span);
        let mut converted = Vec::new();
        let given = operands.len();
        for (arg, param) in operands.into_iter().zip(&signature.params) {
            converted.push(self.argument(arg, param.ty));
        }
        self.fill_defaults(&signature, &mut converted, given);
        let id = self.function_for(entity, targs, signature);
        self.note_call(id, span);
        self.constructed(id, entity, converted, class, span)
    }

    /// The object of `class` that a constructor makes, its own or an inherited one.
    fn constructed(
        &mut self,
        id: FunctionId,
        entity: EntityId,
        args: Vec<Expr>,
        class: StructId,
        span: Span,
    ) -> Expr {
        let owner = self.tables.entity(entity).class.unwrap_or(class);
        let ty = self.tables.struct_type(owner);
        let value = Expr::value(ExprKind::Construct { constructor: id, args }, ty, span);
        self.around_base(class, owner, value, span)
    }

    /// A new object by a constructor that is already chosen.
    pub(in crate::check) fn construct_with(
        &mut self,
        constructor: EntityId,
        explicit: Option<&'a [ast::TemplateArg]>,
        args: Vec<Expr>,
        ty: Ty,
        span: Span,
    ) -> Expr {
        let Some((targs, signature)) = self.deduce_for_exprs(constructor, explicit, &args) else {
            return Expr::error(span);
        };
        let mut converted = Vec::new();
        for (arg, param) in args.into_iter().zip(&signature.params) {
            converted.push(self.convert(arg, param.ty, Purpose::Parameter));
        }
        let given = converted.len();
        self.fill_defaults(&signature, &mut converted, given);
        let id = self.function_for(constructor, targs, signature);
        self.note_call(id, span);
        match self.tables.types().struct_id(ty) {
            Some(class) => self.constructed(id, constructor, converted, class, span),
            None => Expr::error(span),
        }
    }
}
