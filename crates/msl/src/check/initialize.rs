//! Initialization: variables, members and temporaries, from values, parentheses and braces.

use super::auto_types::{contains_auto, variable_span};
use super::convert::Purpose;
use super::{Checker, ClassState};
use crate::parse::ast::{self, Init};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty, TyKind};

/// One item of a brace list: as written, or already checked while braces were elided.
pub(super) enum Item<'a> {
    Written(Option<&'a ast::Ident>, &'a ast::Expr),
    /// `[i] = e`, `[i ... j] = e`
    At(&'a ast::Expr, Option<&'a ast::Expr>, &'a ast::Expr),
    Checked(Expr),
}

/// The items of a brace list that are still to be used.
pub(super) struct Items<'a> {
    pub(super) rest: std::collections::VecDeque<Item<'a>>,
}

impl<'a> Items<'a> {
    pub(super) fn of_exprs(exprs: &'a [ast::Expr]) -> Items<'a> {
        Items { rest: exprs.iter().map(|expr| Item::Written(None, expr)).collect() }
    }

    pub(super) fn of_list(items: &'a [ast::InitItem]) -> Items<'a> {
        let item = |item: &'a ast::InitItem| match &item.index {
            Some((from, to)) => Item::At(from, to.as_ref(), &item.value),
            None => Item::Written(item.designator.as_ref(), &item.value),
        };
        Items { rest: items.iter().map(item).collect() }
    }
}

impl<'a> Checker<'a> {
    /// The type of a variable, with `auto` and array lengths filled in, and its initial value.
    /// `None` after a complaint that leaves no type.
    pub(super) fn variable_type_and_init(&mut self, var: &'a ast::VarDecl) -> Option<(QualTy, Option<Expr>)> {
        if contains_auto(&var.ty) {
            return self.deduce_auto_variable(var);
        }
        let ty = self.variable_type(var)?;
        Some(self.variable_init(var, ty))
    }

    /// The type of a variable that says it; `None` after a complaint.
    pub(super) fn variable_type(&mut self, var: &'a ast::VarDecl) -> Option<QualTy> {
        let mut ty = self.resolve_type(&var.ty);
        if ty.ty == Ty::ERROR {
            if let Some(init) = &var.init {
                self.check_init_alone(init);
            }
            return None;
        }
        ty.is_const |= var.specifiers.is_constexpr;
        self.complete_type(ty.ty);
        self.can_be_variable(ty, variable_span(var)).then_some(ty)
    }

    /// The initial value of a variable, and its type with the length that the value gives an array.
    pub(super) fn variable_init(&mut self, var: &'a ast::VarDecl, mut ty: QualTy) -> (QualTy, Option<Expr>) {
        let Some(init) = &var.init else { return (ty, None) };
        let value = self.initialize(ty, init);
        // `float a[] = {1, 2}` takes its length from the list.
        if let TyKind::Array { element, len: None } = *self.types().kind(ty.ty)
            && let TyKind::Array { len: Some(len), .. } = *self.types().kind(value.ty.ty)
        {
            ty.ty = self.types_mut().array(element, Some(len));
        }
        (ty, Some(value))
    }

    fn can_be_variable(&mut self, ty: QualTy, span: Span) -> bool {
        let incomplete = match *self.types().kind(ty.ty) {
            TyKind::Void | TyKind::Function { .. } => true,
            TyKind::Struct(id) => self.class(id).state != ClassState::Complete,
            _ => false,
        };
        if let TyKind::SimdgroupMatrix { element } = *self.types().kind(ty.ty)
            && self.types().float_kind(element).is_none()
        {
            self.error("simdgroup-matrix", span, "a simdgroup_matrix is 8x8, of half, bfloat or float");
            return false;
        }
        if incomplete {
            let message = format!("variable has incomplete type '{}'", self.name_of(ty.ty));
            self.error("incomplete", span, message);
        }
        !incomplete
    }

    /// Checks an initializer whose variable has no type, for the mistakes in itself.
    fn check_init_alone(&mut self, init: &'a Init) {
        match init {
            Init::Equal(expr) => {
                self.check_operand(expr);
            }
            Init::Paren(exprs, _) | Init::Brace(exprs, _) => {
                for expr in exprs {
                    self.check_operand(expr);
                }
            }
        }
    }

    /// The value of something of type `ty` with this initializer.
    pub(super) fn initialize(&mut self, ty: QualTy, init: &'a Init) -> Expr {
        match init {
            Init::Equal(ast::Expr { kind: ast::ExprKind::InitList(items), span }) => {
                let value = self.list_initialize(ty, Items::of_list(items), *span);
                if let ExprKind::Construct { constructor, .. } = &value.kind
                    && self.is_explicit(*constructor)
                {
                    self.error("explicit", *span, "chosen constructor is explicit in copy-initialization");
                }
                value
            }
            Init::Equal(ast::Expr { kind: ast::ExprKind::Str(text), span }) if self.is_char_array(ty.ty) => {
                self.string_array(text, ty.ty, *span)
            }
            Init::Equal(expr) => {
                let operand = self.check_for_type(expr, ty);
                self.convert(operand, ty, Purpose::Variable)
            }
            Init::Paren(args, span) => self.direct_initialize(ty, args, *span),
            Init::Brace(args, list_span) => self.list_initialize_exprs(ty, args, *list_span),
        }
    }

    fn is_explicit(&self, constructor: crate::program::FunctionId) -> bool {
        let entity = self.instances[constructor.0 as usize].entity;
        let entity = self.entities.get(entity.0 as usize);
        entity.and_then(|entity| entity.source.first()).is_some_and(|decl| decl.specifiers.is_explicit)
    }

    fn is_char_array(&self, ty: Ty) -> bool {
        matches!(*self.types().kind(ty), TyKind::Array { element: Ty::CHAR | Ty::UCHAR, .. })
    }

    /// `char text[] = "abc"`
    fn string_array(&mut self, text: &str, ty: Ty, span: Span) -> Expr {
        let TyKind::Array { element, len } = *self.types().kind(ty) else { return Expr::error(span) };
        let bytes = text.bytes().chain([0]);
        let values: Vec<Expr> =
            bytes.map(|byte| Expr::constant(Value::Int(i128::from(byte as i8)), element, span)).collect();
        let actual = len.unwrap_or(values.len() as u64);
        if values.len() as u64 > actual {
            self.error("excess-elements", span, "initializer-string for char array is too long");
            return Expr::error(span);
        }
        let array = self.types_mut().array(element, Some(actual));
        Expr::value(ExprKind::Aggregate(values), array, span)
    }

    /// `T x(args)`, `T(args)`
    pub(super) fn direct_initialize(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        if ty.ty.is_unknown() {
            for arg in args {
                self.check_operand(arg);
            }
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        match *self.types().kind(ty.ty) {
            TyKind::Struct(class) => self.construct(class, args, span),
            TyKind::Vector { .. } | TyKind::PackedVector { .. } if args.len() != 1 => {
                let args = args.iter().map(|arg| self.check_value(arg)).collect();
                self.compose_vector(ty.ty, args, span)
            }
            TyKind::Matrix { .. } if !args.is_empty() => {
                let args = args.iter().map(|arg| self.check_value(arg)).collect();
                self.compose_matrix(ty.ty, args, span)
            }
            _ => match args {
                [] => Expr::value(ExprKind::Zero, ty.ty, span),
                [arg] => {
                    let value = self.check_for_type(arg, ty);
                    let is_scalar = self.types().is_arithmetic(ty.ty) || self.types().pointee(ty.ty).is_some();
                    match is_scalar {
                        true => self.convert(value, ty, Purpose::Variable),
                        false => self.explicit_cast(value, ty, span, ast::CastKind::Static),
                    }
                }
                _ => {
                    for arg in args {
                        self.check_operand(arg);
                    }
                    let message = format!("excess elements in initializer of type '{}'", self.name_of(ty.ty));
                    self.error("excess-elements", args[1].span, message);
                    Expr::error(span)
                }
            },
        }
    }

    /// `T x{…}`, `T{…}`
    pub(super) fn list_initialize_exprs(&mut self, ty: QualTy, args: &'a [ast::Expr], span: Span) -> Expr {
        // Designators keep their own list: `T{.a = 1}` arrives as `{{.a = 1}}`.
        if let [ast::Expr { kind: ast::ExprKind::InitList(items), .. }] = args
            && items.iter().any(|item| item.designator.is_some() || item.index.is_some())
        {
            return self.list_initialize_items(ty, items, span);
        }
        self.list_initialize(ty, Items::of_exprs(args), span)
    }

    pub(super) fn list_initialize_items(&mut self, ty: QualTy, items: &'a [ast::InitItem], span: Span) -> Expr {
        self.list_initialize(ty, Items::of_list(items), span)
    }

    fn list_initialize(&mut self, ty: QualTy, items: Items<'a>, span: Span) -> Expr {
        let result = self.nested(span, |this| this.list_initialize_nested(ty, items, span));
        result.unwrap_or(Expr::error(span))
    }

    fn list_initialize_nested(&mut self, ty: QualTy, items: Items<'a>, span: Span) -> Expr {
        let mut items = self.expand_packs(items);
        if self.is_dependent_type(ty.ty) || ty.ty == Ty::ERROR {
            self.check_unknown_items(items);
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        self.complete_type(ty.ty);
        let value = match *self.types().kind(ty.ty) {
            TyKind::Struct(class) if !self.is_aggregate(class) => {
                return self.construct_from_list(class, items, span);
            }
            TyKind::Struct(class) => {
                // `T{other}` with another T is a copy.
                if items.rest.len() == 1
                    && let Some(Item::Written(None, expr)) = items.rest.front()
                    && !matches!(expr.kind, ast::ExprKind::InitList(_))
                {
                    let value = self.check_expr(expr);
                    if value.ty.ty == ty.ty || self.derives_from(value.ty.ty, ty.ty) || value.ty.ty == Ty::DEPENDENT
                    {
                        return self.convert(value, QualTy::plain(ty.ty), Purpose::Variable);
                    }
                    items.rest = [Item::Checked(value)].into();
                }
                self.fill_struct(class, &mut items, span)
            }
            TyKind::Array { element, len } => self.fill_array(element, len, &mut items, span),
            TyKind::Vector { .. } | TyKind::PackedVector { .. } => {
                let args = self.check_rest(items);
                return match args.len() {
                    0 => Expr::value(ExprKind::Zero, ty.ty, span),
                    _ => self.compose_vector_from_list(ty.ty, args, span),
                };
            }
            TyKind::Matrix { columns, rows, element } => {
                return self.matrix_from_list(ty.ty, (columns, rows, element), items, span);
            }
            TyKind::Reference { .. } => {
                let mut args = self.check_rest_places(items);
                return match args.len() {
                    1 => self.convert(args.remove(0), ty, Purpose::Variable),
                    _ => {
                        self.error("reference", span, "a reference is initialized with exactly one value");
                        Expr::error(span)
                    }
                };
            }
            _ => {
                return match items.rest.len() {
                    0 => Expr::value(ExprKind::Zero, ty.ty, span),
                    1 => self.list_initialize_scalar(ty, items),
                    _ => {
                        self.check_rest(items);
                        self.error("excess-elements", span, "excess elements in scalar initializer");
                        Expr::error(span)
                    }
                };
            }
        };
        if let Some(extra) = items.rest.front() {
            let at = match extra {
                Item::Written(_, expr) | Item::At(_, _, expr) => expr.span,
                Item::Checked(expr) => expr.span,
            };
            let what = if self.types().struct_id(ty.ty).is_some() { "struct" } else { "array" };
            self.error("excess-elements", at, format!("excess elements in {what} initializer"));
        }
        value
    }

    fn list_initialize_scalar(&mut self, ty: QualTy, mut items: Items<'a>) -> Expr {
        let value = match items.rest.pop_front().expect("one item") {
            Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), span }) => {
                return self.list_initialize_items(ty, inner, *span);
            }
            Item::Written(_, expr) | Item::At(_, _, expr) => self.check_for_type(expr, ty),
            Item::Checked(value) => value,
        };
        self.refuse_narrowing(&value, ty.ty);
        self.convert(value, ty, Purpose::Variable)
    }

    /// `{N...}`: one item for each element of the pack.
    fn expand_packs(&mut self, items: Items<'a>) -> Items<'a> {
        let mut rest = std::collections::VecDeque::new();
        for item in items.rest {
            match item {
                Item::Written(None, ast::Expr { kind: ast::ExprKind::PackExpansion(inner), span }) => {
                    for binding in self.pack_bindings_in_expr(inner, *span).unwrap_or_default() {
                        let scope = self.pack_scope(&binding);
                        rest.push_back(Item::Checked(self.in_scope(scope, |this| this.check_expr(inner))));
                    }
                }
                item => rest.push_back(item),
            }
        }
        Items { rest }
    }

    /// Items for something whose type is not known: what can be wrong with them is only in themselves.
    fn check_unknown_items(&mut self, items: Items<'a>) {
        for item in items.rest {
            match item {
                Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), .. })
                | Item::At(_, _, ast::Expr { kind: ast::ExprKind::InitList(inner), .. }) => {
                    self.check_unknown_items(Items::of_list(inner));
                }
                Item::Written(_, expr) | Item::At(_, _, expr) => {
                    self.check_operand(expr);
                }
                Item::Checked(_) => {}
            }
        }
    }

    fn check_rest(&mut self, items: Items<'a>) -> Vec<Expr> {
        self.check_rest_places(items).into_iter().map(|expr| self.load(expr)).collect()
    }

    fn check_rest_places(&mut self, items: Items<'a>) -> Vec<Expr> {
        items
            .rest
            .into_iter()
            .map(|item| match item {
                Item::Written(_, expr) | Item::At(_, _, expr) => self.check_expr(expr),
                Item::Checked(expr) => expr,
            })
            .collect()
    }

    fn construct_from_list(&mut self, class: StructId, items: Items<'a>, span: Span) -> Expr {
        let ty = self.struct_type(class);
        let args = self.check_rest_places(items);
        // `T{other}` with another T is a copy.
        if let [only] = &*args
            && only.ty.ty == ty
        {
            let only = only.clone();
            return self.load(only);
        }
        if args.is_empty() && self.class(class).constructors.is_empty() {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        self.construct_exprs(class, args, span)
    }
}
