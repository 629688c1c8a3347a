//! Expressions: names, literals, casts and the way from a tree to a typed expression.

use super::convert::Purpose;
use super::evaluate::{self, Failure};
use super::scope::Symbol;
use super::templates::Given;
use super::{BodyState, Checker, EntityId, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::lex::token::FloatSuffix;
use crate::parse::ast::{self, ExprKind as Ast};
use crate::program::{CastKind, Expr, ExprKind, LocalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

/// What an expression can turn out to be.
#[derive(Clone)]
pub(super) enum Operand<'a> {
    Value(Expr),
    Functions(FunctionSet<'a>),
    Braces(&'a [ast::InitItem], Span),
    Type(QualTy),
}

/// Functions of one name, not yet decided between.
#[derive(Clone)]
pub(super) struct FunctionSet<'a> {
    pub(super) name: SmolStr,
    pub(super) entities: Vec<EntityId>,
    pub(super) explicit: Option<&'a [ast::TemplateArg]>,
    /// The object of a method.
    pub(super) object: Option<Expr>,
    pub(super) span: Span,
    /// The arguments' namespaces are searched, too.
    pub(super) allows_adl: bool,
}

impl<'a> Checker<'a> {
    /// An expression as a value: places are read.
    pub(super) fn check_value(&mut self, expr: &'a ast::Expr) -> Expr {
        let checked = self.check_expr(expr);
        self.load(checked)
    }

    /// An expression as a place or value.
    pub(super) fn check_expr(&mut self, expr: &'a ast::Expr) -> Expr {
        let operand = self.check_operand(expr);
        self.operand_as_expr(operand, expr.span)
    }

    fn operand_as_expr(&mut self, operand: Operand<'a>, span: Span) -> Expr {
        match operand {
            Operand::Value(expr) => expr,
            Operand::Functions(set) => match self.only_function(&set) {
                Some(id) => {
                    let ty = self.function_pointer_type(id);
                    Expr::value(ExprKind::Function(id), ty, span)
                }
                None if self.in_pattern && set.explicit.is_some() => {
                    Expr::value(ExprKind::Error, Ty::DEPENDENT, span)
                }
                None => {
                    let message = format!("reference to overloaded function '{}' could not be resolved", set.name);
                    self.error("overloaded", span, message);
                    Expr::error(span)
                }
            },
            Operand::Braces(_, span) => {
                self.error("initializer-list", span, "an initializer list is not allowed here");
                Expr::error(span)
            }
            Operand::Type(ty) => {
                let message = format!("expected an expression, found the type '{}'", self.name_of_qual(ty));
                self.error("expected-expression", span, message);
                Expr::error(span)
            }
        }
    }

    /// An expression that is to become a `ty`: function names know which function is meant.
    pub(super) fn check_for_type(&mut self, expr: &'a ast::Expr, ty: QualTy) -> Expr {
        match self.check_operand(expr) {
            operand @ Operand::Functions(_) => {
                if let Some(pointee) = self.types().pointee(ty.ty)
                    && let TyKind::Function { .. } = self.types().kind(pointee.ty)
                {
                    return self
                        .operand_as_function(operand, pointee.ty, expr.span)
                        .unwrap_or(Expr::error(expr.span));
                }
                self.operand_as_expr(operand, expr.span)
            }
            Operand::Braces(items, span) => self.list_initialize_items(ty, items, span),
            operand => self.operand_as_expr(operand, expr.span),
        }
    }

    /// A condition: anything that converts to `bool`.
    pub(super) fn check_condition_value(&mut self, expr: &'a ast::Expr) -> Expr {
        let value = self.check_expr(expr);
        self.as_bool(value)
    }

    pub(super) fn as_bool(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if value.ty.ty.is_unknown() {
            return value;
        }
        if self.conversion(&value, QualTy::plain(Ty::BOOL)).is_some() {
            return self.convert(value, QualTy::plain(Ty::BOOL), Purpose::Variable);
        }
        // An explicit conversion function will do here.
        let message =
            format!("value of type '{}' is not contextually convertible to 'bool'", self.name_of(value.ty.ty));
        self.error("not-bool", span, message);
        Expr::error(span)
    }

    pub(super) fn check_operand(&mut self, expr: &'a ast::Expr) -> Operand<'a> {
        let checked = self.nested(expr.span, |this| this.check_operand_nested(expr));
        checked.unwrap_or(Operand::Value(Expr::error(expr.span)))
    }

    fn check_operand_nested(&mut self, expr: &'a ast::Expr) -> Operand<'a> {
        let span = expr.span;
        Operand::Value(match &expr.kind {
            Ast::Paren(inner) => return self.check_operand(inner),
            Ast::Path(path) => return self.check_path(path),
            Ast::Member { base, arrow, member } => return self.check_member(base, *arrow, member, span),
            Ast::InitList(items) => return Operand::Braces(items, span),
            Ast::Unary { op: ast::UnaryOp::AddressOf, operand, .. } => {
                return match self.check_operand(operand) {
                    set @ Operand::Functions(_) => set,
                    operand => {
                        let place = self.operand_as_expr(operand, span);
                        Operand::Value(self.address_of(place, span))
                    }
                };
            }
            Ast::Int(literal) => self.int_literal(literal, span),
            Ast::Float(literal) => {
                let ty = match literal.suffix {
                    FloatSuffix::None | FloatSuffix::Float => Ty::FLOAT,
                    FloatSuffix::Half => Ty::HALF,
                    FloatSuffix::BFloat => Ty::BFLOAT,
                };
                let value = evaluate::convert(self.types(), &Value::Float(literal.value), Ty::FLOAT, ty);
                Expr::constant(value.unwrap_or(Value::Float(literal.value)), ty, span)
            }
            Ast::Bool(value) => Expr::constant(Value::Bool(*value), Ty::BOOL, span),
            Ast::Char(value) => Expr::constant(Value::Int(i128::from(*value as i8)), Ty::CHAR, span),
            Ast::Nullptr => Expr::constant(Value::Null, Ty::NULLPTR, span),
            Ast::Str(text) => {
                let array = self.types_mut().array(Ty::CHAR, Some(text.len() as u64 + 1));
                let ty = QualTy::plain(array).constant().in_space(AddressSpace::Constant);
                Expr::place(ExprKind::Constant(Value::Str(text.clone())), ty, span)
            }
            Ast::This => self.check_this(span),
            Ast::Unary { op, operand, op_span } => self.check_unary(*op, operand, *op_span, span),
            Ast::Binary { op, op_span, lhs, rhs } => self.check_binary(*op, lhs, rhs, *op_span, span),
            Ast::Assign { op, op_span, lhs, rhs } => self.check_assign(*op, lhs, rhs, *op_span, span),
            Ast::Conditional { condition, then, otherwise } => {
                self.check_conditional(condition, then, otherwise, span)
            }
            Ast::Comma(first, second) => {
                let first = self.check_expr(first);
                let second = self.check_expr(second);
                let (ty, is_place) = (second.ty, second.is_place);
                Expr { kind: ExprKind::Comma(Box::new(first), Box::new(second)), ty, is_place, span }
            }
            Ast::Call { callee, args } => self.check_call(callee, args, span),
            Ast::Construct { ty, args, braces } => {
                let ty = self.resolve_type(ty);
                match braces {
                    true => self.list_initialize_exprs(QualTy { is_const: false, ..ty }, args, span),
                    false => self.construct_type(ty, args, span),
                }
            }
            Ast::Index { base, index } => self.check_index(base, index, span),
            Ast::Cast { kind, ty, operand } => {
                let ty = self.resolve_type(ty);
                if let Ast::InitList(items) = &operand.kind {
                    return Operand::Value(self.list_initialize_items(ty, items, span));
                }
                let value = self.check_for_type(operand, ty);
                self.explicit_cast(value, ty, span, *kind)
            }
            Ast::SizeOfType(ty) => {
                let ty = self.resolve_type(ty);
                self.size_of(ty.ty, span)
            }
            Ast::SizeOfExpr(inner) => {
                let saved = std::mem::replace(&mut self.unevaluated, true);
                let operand = self.check_operand(inner);
                self.unevaluated = saved;
                let ty = match operand {
                    Operand::Type(ty) => ty.ty,
                    operand => self.operand_as_expr(operand, span).ty.ty,
                };
                self.size_of(ty, span)
            }
            Ast::SizeOfPack(name) => self.size_of_pack(name),
            Ast::AlignOf(ty) => {
                let ty = self.resolve_type(ty).ty;
                self.complete_type(ty);
                match self.types().layout(ty) {
                    Some(layout) => Expr::constant(Value::Int(i128::from(layout.align)), Ty::ULONG, span),
                    None => Expr::constant(Value::Unknown, Ty::ULONG, span),
                }
            }
            Ast::Lambda(lambda) => self.check_lambda(lambda),
            Ast::Fold { op, lhs, rhs } => self.check_fold(*op, lhs.as_deref(), rhs.as_deref(), span),
            Ast::PackExpansion(_) => {
                self.error("pack", span, "pack expansion is not allowed here");
                Expr::error(span)
            }
            Ast::Error => Expr::error(span),
        })
    }

    fn int_literal(&mut self, literal: &crate::lex::token::IntLiteral, span: Span) -> Expr {
        let value = i128::from(literal.value);
        let fits = |ty: Ty| evaluate::fits(self.types(), &Value::Int(value), ty);
        let candidates: &[Ty] = match (literal.unsigned, literal.long, literal.decimal) {
            (true, false, _) => &[Ty::UINT, Ty::ULONG],
            (true, true, _) => &[Ty::ULONG],
            (false, true, true) => &[Ty::LONG, Ty::ULONG],
            (false, true, false) => &[Ty::LONG, Ty::ULONG],
            (false, false, true) => &[Ty::INT, Ty::LONG, Ty::ULONG],
            (false, false, false) => &[Ty::INT, Ty::UINT, Ty::LONG, Ty::ULONG],
        };
        let ty = candidates.iter().copied().find(|&ty| fits(ty)).unwrap_or(Ty::ULONG);
        Expr::constant(Value::Int(value), ty, span)
    }

    fn check_this(&mut self, span: Span) -> Expr {
        if self.function.is_lambda
            && let Some(captured) = self.captured_this(span)
        {
            return captured;
        }
        self.this_value(span)
    }

    // --- names -------------------------------------------------------------------------------------------------

    fn check_path(&mut self, path: &'a ast::Path) -> Operand<'a> {
        let span = path.span;
        if let Some(answer) = self.check_type_trait(path) {
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
                let ty = self.program.global(id).ty;
                let place = Expr::place(ExprKind::Global(id), ty, span);
                self.through_reference(place)
            }
            Symbol::Value(ty, value) => Expr::constant(value, ty, span),
            Symbol::Field(field) => {
                let class = found.class.expect("a field belongs to a class");
                self.implicit_field(class, field, path)
            }
            Symbol::VarTemplate(id) => {
                let Some(args) = &last.args else {
                    let message = format!("use of variable template '{}' requires template arguments", last.name);
                    self.error("template-arguments", last.span, message);
                    return Operand::Value(Expr::error(span));
                };
                match self.var_template_instance(id, args, last.span) {
                    None => Expr::error(span),
                    Some(None) => {
                        let decl = self.var_templates[id.0 as usize].decl;
                        self.dependent_variable(decl, span)
                    }
                    Some(Some(global)) => {
                        let ty = self.program.global(global).ty;
                        Expr::place(ExprKind::Global(global), ty, span)
                    }
                }
            }
            Symbol::Dependent => Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
            Symbol::Namespace(_) => {
                let message = format!("unexpected namespace name '{}': expected expression", last.name);
                self.error("expected-expression", span, message);
                Expr::error(span)
            }
            Symbol::Pack(_) | Symbol::LocalPack(_) => {
                self.error("pack", span, "expression contains an unexpanded parameter pack");
                Expr::error(span)
            }
        })
    }

    /// A variable template with arguments that are not known yet: its type may be.
    fn dependent_variable(&mut self, decl: &'a ast::VarDecl, span: Span) -> Expr {
        let ty = match self.type_without_qualifiers(&decl.ty) {
            ast::TypeExprKind::Builtin(builtin) => self.builtin_type(*builtin, span).ty,
            _ => return Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
        };
        Expr::constant(Value::Unknown, ty, span)
    }

    pub(super) fn local(&mut self, id: LocalId, span: Span) -> Expr {
        self.function.used_locals.insert(id);
        let Some(local) = self.function.locals.get(id.0 as usize) else {
            self.error("local", span, "a variable of the surrounding function cannot be used here");
            return Expr::error(span);
        };
        let ty = local.ty.in_space(local.space);
        // Constants that are known are as good as literals, and stay places for those who want their address.
        let place = Expr::place(ExprKind::Local(id), ty, span);
        self.through_reference(place)
    }

    /// A variable of reference type stands for what it refers to.
    pub(super) fn through_reference(&mut self, place: Expr) -> Expr {
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

    fn address_of(&mut self, place: Expr, span: Span) -> Expr {
        if place.ty.ty.is_unknown() {
            return Expr::value(ExprKind::Error, place.ty.ty, span);
        }
        if !place.is_place || matches!(place.kind, ExprKind::Temporary(_)) {
            let message = format!("cannot take the address of an rvalue of type '{}'", self.name_of(place.ty.ty));
            self.error("address-of", span, message);
            return Expr::error(span);
        }
        if let ExprKind::Swizzle { components, .. } = &place.kind
            && components.len() > 1
        {
            self.error("address-of", span, "address of vector element requested");
            return Expr::error(span);
        }
        if let ExprKind::Field { base, field } = &place.kind
            && let Some(id) = self.types().struct_id(base.ty.ty)
            && self.types().struct_(id).fields[*field as usize].bits.is_some()
        {
            self.error("address-of", span, "address of bit-field requested");
            return Expr::error(span);
        }
        let space = place.ty.space.unwrap_or(AddressSpace::Thread);
        let ty = self.types_mut().pointer(place.ty.in_space(space));
        Expr::value(ExprKind::AddressOf(Box::new(place)), ty, span)
    }

    // --- types of expressions ----------------------------------------------------------------------------------

    /// `decltype(e)`
    pub(super) fn type_of_operand(&mut self, operand: Operand<'a>, expr: &'a ast::Expr) -> QualTy {
        match operand {
            Operand::Functions(set) => match self.only_function(&set) {
                Some(id) => {
                    self.result_of(id, expr.span);
                    let pointer = self.function_pointer_type(id);
                    self.types().pointee(pointer).expect("a pointer")
                }
                None if self.in_pattern => QualTy::plain(Ty::DEPENDENT),
                None => {
                    let message = match self.functions_refuse(&set) {
                        Some(reason) => reason,
                        None => format!("reference to overloaded function '{}' could not be resolved", set.name),
                    };
                    self.error("overloaded", expr.span, message);
                    QualTy::plain(Ty::ERROR)
                }
            },
            Operand::Value(value) => {
                // A name gives its declared type, another place a reference to it.
                let is_name = matches!(expr.kind, Ast::Path(_) | Ast::Member { .. });
                if value.is_place && !is_name {
                    let space = value.ty.space.unwrap_or(AddressSpace::Thread);
                    return QualTy::plain(self.types_mut().reference(value.ty.in_space(space)));
                }
                let declared = match &value.kind {
                    ExprKind::Local(id) => Some(self.function.locals[id.0 as usize].ty),
                    _ => None,
                };
                declared.unwrap_or(QualTy { space: None, ..value.ty })
            }
            Operand::Type(ty) => ty,
            Operand::Braces(_, span) => {
                self.error("decltype", span, "an initializer list has no type");
                QualTy::plain(Ty::ERROR)
            }
        }
    }

    /// Why the explicit arguments of a function name fit none of its templates.
    fn functions_refuse(&mut self, set: &FunctionSet<'a>) -> Option<String> {
        let explicit = set.explicit?;
        for &entity in &set.entities {
            let Some(header) = self.entity(entity).header else { continue };
            let scope = self.entity(entity).scope;
            let name = set.name.clone();
            let fitted = self.attempt(|this| {
                let args = this.fit_template_args(&[header], scope, explicit, set.span, &name)?;
                this.entities[entity.0 as usize].signatures.remove(&args);
                this.signature(entity, &args)
            });
            if let Err(first) = fitted {
                return Some(format!("no matching function '{name}': {}", first.message));
            }
        }
        None
    }

    fn size_of(&mut self, ty: Ty, span: Span) -> Expr {
        self.complete_type(ty);
        if self.is_dependent_type(ty) {
            return Expr::constant(Value::Unknown, Ty::ULONG, span);
        }
        let ty = self.types().referent(QualTy::plain(ty)).ty;
        match self.types().layout(ty) {
            Some(layout) => Expr::constant(Value::Int(i128::from(layout.size)), Ty::ULONG, span),
            None if ty == Ty::ERROR => Expr::error(span),
            None => {
                let message =
                    format!("invalid application of 'sizeof' to an incomplete type '{}'", self.name_of(ty));
                self.error("sizeof", span, message);
                Expr::error(span)
            }
        }
    }

    // --- casts -------------------------------------------------------------------------------------------------

    /// `(T)e`, `static_cast<T>(e)`, `T(e)`
    pub(super) fn explicit_cast(&mut self, value: Expr, to: QualTy, span: Span, kind: ast::CastKind) -> Expr {
        if value.ty.ty.is_unknown() || to.ty.is_unknown() {
            let ty = if value.ty.ty == Ty::ERROR { Ty::ERROR } else { to.ty };
            return Expr::value(ExprKind::Error, ty, span);
        }
        if to.ty == Ty::VOID {
            let kind = ExprKind::Cast { kind: CastKind::Discard, operand: Box::new(value) };
            return Expr::value(kind, Ty::VOID, span);
        }
        self.complete_type(to.ty);
        if let TyKind::Reference { to: target, .. } = *self.types().kind(to.ty) {
            return self.reference_cast(value, to.ty, target, span, kind);
        }
        if kind != ast::CastKind::Reinterpret
            && kind != ast::CastKind::Const
            && let Some(conversion) = self.conversion(&value, QualTy::plain(to.ty))
        {
            let converted = self.apply(value, QualTy::plain(to.ty), conversion);
            return Expr { span, ..converted };
        }
        let from = self.decayed(value.ty);
        let cast = |kind: CastKind, operand: Expr| {
            Expr::value(ExprKind::Cast { kind, operand: Box::new(operand) }, to.ty, span)
        };
        if kind != ast::CastKind::Reinterpret
            && let Some(class) = self.types().struct_id(to.ty)
        {
            return self.construct_exprs(class, vec![value], span);
        }
        let operand = self.load(value.clone());
        match (self.types().kind(from).clone(), self.types().kind(to.ty).clone()) {
            (TyKind::Pointer(a), TyKind::Pointer(b)) => {
                let same_space = a.space == b.space;
                let related = a.ty == b.ty || kind == ast::CastKind::Reinterpret || kind == ast::CastKind::CStyle;
                let related = related || a.ty == Ty::VOID || self.derives_from(b.ty, a.ty);
                let loses_const = a.is_const && !b.is_const;
                let const_ok = !loses_const || matches!(kind, ast::CastKind::CStyle | ast::CastKind::Const);
                if same_space && related && const_ok {
                    return cast(CastKind::Pointer, operand);
                }
                if !same_space {
                    let message = format!(
                        "cast from '{}' to '{}' changes the address space",
                        self.name_of(from),
                        self.name_of(to.ty)
                    );
                    self.error("address-space", span, message);
                    return Expr::error(span);
                }
            }
            (TyKind::Pointer(_), TyKind::Int(_)) if kind != ast::CastKind::Static => {
                let size = self.types().layout(to.ty).map_or(0, |layout| layout.size);
                if size == 8 {
                    return cast(CastKind::PointerToInt, operand);
                }
                let message =
                    format!("cast from pointer to smaller type '{}' loses information", self.name_of(to.ty));
                self.error("no-cast", span, message);
                return Expr::error(span);
            }
            (TyKind::Int(_), TyKind::Pointer(_)) if kind != ast::CastKind::Static => {
                return cast(CastKind::IntToPointer, operand);
            }
            (TyKind::Enum(_), TyKind::Enum(_)) => return cast(CastKind::Number, operand),
            (TyKind::Enum(_), _) if self.types().is_arithmetic(to.ty) => return self.convert_value(operand, to.ty),
            (_, TyKind::Enum(_)) if self.types().is_arithmetic(from) => return self.convert_value(operand, to.ty),
            (
                TyKind::Vector { len: m, .. } | TyKind::PackedVector { len: m, .. },
                TyKind::Vector { element, len: n } | TyKind::PackedVector { element, len: n },
            ) if m == n => {
                // Between components of different types, through the plain forms.
                let plain_from = self.types_mut().unpacked(from);
                let plain = self.convert_value(operand, plain_from);
                let plain_to = self.types_mut().vector(element, n);
                let converted = self.convert_value(plain, plain_to);
                return self.convert_value(converted, to.ty);
            }
            (_, TyKind::Vector { .. } | TyKind::PackedVector { .. }) if self.types().is_arithmetic(from) => {
                return self.convert_value(operand, to.ty);
            }
            (TyKind::Matrix { .. }, TyKind::Matrix { .. }) => {
                return self.compose_matrix(to.ty, vec![operand], span);
            }
            (_, TyKind::Matrix { .. }) => return self.compose_matrix(to.ty, vec![operand], span),
            (_, TyKind::SimdgroupMatrix { element }) if self.types().is_arithmetic(from) => {
                let element = self.convert(operand, QualTy::plain(element), Purpose::Element);
                return Expr::value(ExprKind::Splat(Box::new(element)), to.ty, span);
            }
            (TyKind::Float(_), TyKind::Float(_)) => {
                // `half` and `bfloat`: through `float`.
                let float = self.convert_value(operand, Ty::FLOAT);
                return self.convert_value(float, to.ty);
            }
            _ if from == to.ty => return operand,
            _ => {}
        }
        let what = match kind {
            ast::CastKind::CStyle => "C-style cast",
            ast::CastKind::Static => "static_cast",
            ast::CastKind::Reinterpret => "reinterpret_cast",
            ast::CastKind::Const => "const_cast",
        };
        let message =
            format!("{what} from '{}' to '{}' is not allowed", self.name_of_qual(value.ty), self.name_of(to.ty));
        self.error("no-cast", span, message);
        Expr::error(span)
    }

    /// `(thread T &)e`: the same memory seen as another type.
    fn reference_cast(&mut self, value: Expr, to: Ty, target: QualTy, span: Span, kind: ast::CastKind) -> Expr {
        if let Some(conversion) = self.conversion(&value, QualTy::plain(to))
            && kind != ast::CastKind::Reinterpret
        {
            let reference = self.apply(value, QualTy::plain(to), conversion);
            return self.deref(reference, span);
        }
        let space = value.ty.space.unwrap_or(AddressSpace::Thread);
        if !value.is_place || target.space.unwrap_or(AddressSpace::Thread) != space || kind == ast::CastKind::Static
        {
            let message =
                format!("cast from '{}' to '{}' is not allowed", self.name_of_qual(value.ty), self.name_of(to));
            self.error("no-cast", span, message);
            return Expr::error(span);
        }
        let from_pointer = self.types_mut().pointer(value.ty.in_space(space));
        let to_pointer = self.types_mut().pointer(target.in_space(space));
        let address = Expr::value(ExprKind::AddressOf(Box::new(value)), from_pointer, span);
        let kind = ExprKind::Cast { kind: CastKind::Pointer, operand: Box::new(address) };
        let pointer = Expr::value(kind, to_pointer, span);
        self.deref(pointer, span)
    }

    // --- constants ---------------------------------------------------------------------------------------------

    /// The value of a constant expression, bodies of `constexpr` functions checked as needed.
    pub(super) fn try_evaluate(&mut self, expr: &Expr) -> Result<Value, Failure> {
        loop {
            let result = evaluate::evaluate_in(
                &self.program,
                evaluate::Scope { locals: &self.function.locals, params: &[], known: &self.function.known_locals },
                expr,
            );
            match result {
                Err(Failure::NeedsBody(id)) => {
                    let state = self.instances[id.0 as usize].body;
                    if matches!(state, BodyState::InProgress | BodyState::Done) {
                        let reason = format!(
                            "undefined function '{}' cannot be used in a constant expression",
                            self.program.function(id).name
                        );
                        return Err(Failure::NotConstant { span: expr.span, reason });
                    }
                    self.check_body(id);
                }
                result => return result,
            }
        }
    }

    pub(super) fn evaluate_or_report(&mut self, expr: &Expr, message: &str) -> Option<Value> {
        if expr.ty.ty == Ty::ERROR {
            return None;
        }
        if expr.ty.ty == Ty::DEPENDENT {
            return Some(Value::Unknown);
        }
        match self.try_evaluate(expr) {
            Ok(value) => Some(value),
            Err(failure) => {
                let diagnostic = Diagnostic::error("not-constant", expr.span, message);
                let diagnostic = match failure {
                    Failure::NotConstant { span, reason } => diagnostic.note(span, reason),
                    Failure::TooLong { span } => diagnostic.note(span, "the evaluation takes too many steps"),
                    Failure::NeedsBody(_) => diagnostic,
                };
                self.report(diagnostic);
                None
            }
        }
    }

    /// `__is_enum(T)` and kin, which no header could define. The parser keeps the operands as template arguments.
    pub(super) fn check_type_trait(&mut self, path: &'a ast::Path) -> Option<Expr> {
        let span = path.span;
        let [ast::PathSegment { name, args: Some(args), .. }] = &*path.segments else { return None };
        if !name.starts_with("__is_") || self.lookup(name).is_some() {
            return None;
        }
        let mut types = Vec::new();
        for given in self.expand_given(args)? {
            types.push(match given {
                Given::Known(TemplateArg::Type(ty)) => ty,
                Given::Known(_) => return None,
                Given::Written(arg) => self.type_argument(arg)?,
            });
        }
        let value = |result: bool| Some(Expr::constant(Value::Bool(result), Ty::BOOL, span));
        if types.iter().any(|ty| ty.ty.is_unknown()) {
            return Some(Expr::constant(Value::Unknown, Ty::BOOL, span));
        }
        let struct_of = |this: &Self, ty: QualTy| this.types().struct_id(ty.ty);
        match (name.as_str(), &*types) {
            ("__is_enum", [ty]) => value(self.types().enum_id(ty.ty).is_some()),
            ("__is_class", [ty]) => {
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| !self.types().struct_(id).is_union))
            }
            ("__is_union", [ty]) => {
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| self.types().struct_(id).is_union))
            }
            ("__is_empty", [ty]) => {
                self.complete_type(ty.ty);
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| self.types().struct_(id).fields.is_empty()))
            }
            ("__is_same", [a, b]) => value(a == b),
            ("__is_base_of", [base, derived]) => {
                let same = struct_of(self, *base).is_some() && base.ty == derived.ty;
                value(same || self.derives_from(derived.ty, base.ty))
            }
            ("__is_convertible" | "__is_convertible_to", [from, to]) => {
                let probe = Expr::value(ExprKind::Error, from.ty, span);
                let probe = match *self.types().kind(from.ty) {
                    TyKind::Reference { to, .. } => Expr::place(ExprKind::Error, to, span),
                    _ => probe,
                };
                let both_void = from.ty == Ty::VOID && to.ty == Ty::VOID;
                value(both_void || from.ty != Ty::VOID && self.conversion(&probe, *to).is_some())
            }
            ("__is_constructible", [ty, args @ ..]) => {
                let probes: Vec<Expr> = args.iter().map(|arg| Expr::value(ExprKind::Error, arg.ty, span)).collect();
                let ty = *ty;
                let works = self.attempt(|this| match this.types().struct_id(ty.ty) {
                    Some(class) => {
                        this.complete_class(class);
                        this.construct_exprs(class, probes, span);
                    }
                    None => {
                        for probe in probes {
                            this.explicit_cast(probe, ty, span, ast::CastKind::Static);
                        }
                    }
                });
                value(works.is_ok())
            }
            ("__is_trivially_copyable" | "__is_trivial" | "__is_trivially_constructible", [_, ..]) => value(true),
            _ => None,
        }
    }
}
