//! Brace lists.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::Operand;
use crate::check::tables::Tables;
use crate::parse::ast;
use crate::preprocess::LanguageVersion;
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{EnumId, QualTy, StructId, Ty, TyKind};

/// One item of a brace list: as written, or already checked while braces were elided.
pub(in crate::check) enum Item<'a> {
    Written(Option<&'a ast::Ident>, &'a ast::Expr),
    /// `[i] = e`, `[i ... j] = e`
    At(&'a ast::Expr, Option<&'a ast::Expr>, &'a ast::Expr),
    Checked(Expr),
}

/// The items of a brace list that are not used yet.
pub(super) struct Items<'a> {
    pub(in crate::check) rest: std::collections::VecDeque<Item<'a>>,
}

impl<'a> Items<'a> {
    pub(in crate::check) fn of_exprs(exprs: &'a [ast::Expr]) -> Items<'a> {
        Items { rest: exprs.iter().map(|expr| Item::Written(None, expr)).collect() }
    }

    pub(in crate::check) fn of_list(items: &'a [ast::InitItem]) -> Items<'a> {
        let item = |item: &'a ast::InitItem| match &item.index {
            Some((from, to)) => Item::At(from, to.as_ref(), &item.value),
            None => Item::Written(item.designator.as_ref(), &item.value),
        };
        Items { rest: items.iter().map(item).collect() }
    }
}

impl Tables<'_> {
    /// The type of an enum that braces with an integer may initialize.
    fn fixed_type(&self, id: EnumId) -> Option<Ty> {
        let fixed = self.types().enum_(id);
        (fixed.is_fixed && self.std() >= LanguageVersion::new(4, 0)).then_some(fixed.underlying)
    }
}

impl<'a> Checker<'a> {
    /// `T x{…}`, `T{…}`
    pub(in crate::check) fn list_initialize_exprs(
        &mut self,
        ty: QualTy,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Expr {
        // Designators keep their own list: `T{.a = 1}` arrives as `{{.a = 1}}`.
        if let [ast::Expr { kind: ast::ExprKind::InitList(items), .. }] = args
            && items.iter().any(|item| item.designator.is_some() || item.index.is_some())
        {
            return self.list_initialize_items(ty, items, span);
        }
        if let [arg] = args
            && let Some(underlying) = self.tables.types().enum_id(ty.ty).and_then(|id| self.tables.fixed_type(id))
        {
            return self.initialize_enum(ty, underlying, arg, span);
        }
        self.list_initialize(ty, Items::of_exprs(args), span)
    }

    /// `E{1}`: from Metal 4 on, which has C++17, an integer initializes an enum with a fixed type.
    fn initialize_enum(&mut self, ty: QualTy, underlying: Ty, arg: &'a ast::Expr, span: Span) -> Expr {
        if matches!(arg.kind, ast::ExprKind::InitList(_) | ast::ExprKind::PackExpansion(_)) {
            return self.list_initialize(ty, Items::of_exprs(std::slice::from_ref(arg)), span);
        }
        let value = self.check_value(arg);
        if !self.tables.types().is_arithmetic(value.ty.ty) {
            return self.convert(value, ty, Purpose::Variable);
        }
        self.refuse_narrowing(&value, underlying);
        self.explicit_cast(value, ty, span, ast::CastKind::Static)
    }

    pub(in crate::check) fn list_initialize_items(
        &mut self,
        ty: QualTy,
        items: &'a [ast::InitItem],
        span: Span,
    ) -> Expr {
        let value = self.list_initialize(ty, Items::of_list(items), span);
        if let ExprKind::Construct { constructor, .. } = &value.kind
            && self.tables.is_explicit(*constructor)
        {
            let message = "chosen constructor is explicit in copy-initialization";
            self.diagnostics.error("explicit", span, message);
        }
        value
    }

    pub(super) fn list_initialize(&mut self, ty: QualTy, items: Items<'a>, span: Span) -> Expr {
        let result = self.nested(span, |this| this.list_initialize_nested(ty, items, span));
        result.unwrap_or(Expr::error(span))
    }

    fn list_initialize_nested(&mut self, ty: QualTy, items: Items<'a>, span: Span) -> Expr {
        let mut items = self.expand_packs(items);
        if self.tables.is_dependent_type(ty.ty) || ty.ty == Ty::ERROR {
            self.check_unknown_items(items);
            return Expr::value(ExprKind::Error, ty.ty, span);
        }
        self.complete_type(ty.ty);
        let value = match *self.tables.types().kind(ty.ty) {
            TyKind::Struct(class) if self.tables.library_template(class) == Some("initializer_list") => {
                return self.initializer_list(class, items, span);
            }
            TyKind::Struct(class) if !self.tables.is_aggregate(class) => {
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
                        self.diagnostics.error(
                            "reference",
                            span,
                            "a reference is initialized with exactly one value",
                        );
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
                        self.diagnostics.error("excess-elements", span, "excess elements in scalar initializer");
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
            let what = if self.tables.types().struct_id(ty.ty).is_some() { "struct" } else { "array" };
            self.diagnostics.error("excess-elements", at, format!("excess elements in {what} initializer"));
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
                        let scope = self.tables.pack_scope(self.position.scope(), &binding);
                        rest.push_back(Item::Checked(self.in_scope(scope, |this| this.check_expr(inner))));
                    }
                }
                item => rest.push_back(item),
            }
        }
        Items { rest }
    }

    /// Checks items for an object of unknown type, for the mistakes inside them.
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

    /// A brace list as `initializer_list<T>`: the address and the length of an array in thread memory.
    fn initializer_list(&mut self, class: StructId, items: Items<'a>, span: Span) -> Expr {
        let ty = self.tables.struct_type(class);
        let fields: Vec<Ty> = self.tables.types().struct_(class).fields.iter().map(|field| field.ty.ty).collect();
        let [pointer, size] = *fields else { return Expr::error(span) };
        let Some(element) = self.tables.types().pointee(pointer) else { return Expr::error(span) };
        let count = items.rest.len();
        if count == 0 {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        let array = TyKind::Array { element: element.ty, len: Some(count as u64) };
        let array = QualTy::plain(self.tables.types_mut().intern(array));
        let elements = self.list_initialize(array, items, span);
        let place = self.tables.temporary(elements);
        let first = self.load(place);
        let count = Expr::constant(Value::Int(count as i128), size, span);
        Expr::value(ExprKind::Aggregate(vec![first, count]), ty, span)
    }

    /// The type of a constructor's parameter that takes a brace list as a whole.
    fn list_parameter(&mut self, class: StructId) -> Option<QualTy> {
        let constructors = self.tables.class(class).constructors.clone();
        constructors.into_iter().find_map(|constructor| {
            let is_template = self.tables.entity(constructor).header.is_some();
            let signature = if is_template { None } else { self.signature(constructor, &[]) }?;
            let [first] = &*signature.params else { return None };
            let ty = self.tables.types().referent(first.ty).ty;
            let class = self.tables.types().struct_id(ty)?;
            (self.tables.library_template(class) == Some("initializer_list")).then_some(QualTy::plain(ty))
        })
    }

    fn construct_from_list(&mut self, class: StructId, items: Items<'a>, span: Span) -> Expr {
        let ty = self.tables.struct_type(class);
        let args: Vec<Operand<'a>> = items
            .rest
            .into_iter()
            .flat_map(|item| match item {
                Item::Written(_, expr) | Item::At(_, _, expr) => self.check_args(std::slice::from_ref(expr)),
                Item::Checked(expr) => vec![Operand::Value(expr)],
            })
            .collect();
        // `T{other}` with another T is a copy.
        if let [Operand::Value(only)] = &*args
            && only.ty.ty == ty
        {
            let only = only.clone();
            return self.copied(&only, span).unwrap_or_else(|| self.load(only));
        }
        if !args.is_empty()
            && args.iter().all(|arg| matches!(arg, Operand::Value(_)))
            && let Some(list) = self.list_parameter(class)
        {
            let items = args.into_iter().filter_map(|arg| match arg {
                Operand::Value(value) => Some(Item::Checked(value)),
                _ => None,
            });
            let value = self.list_initialize(list, Items { rest: items.collect() }, span);
            return self.construct_operands(class, vec![Operand::Value(value)], span);
        }
        if args.is_empty() && self.tables.class(class).constructors.is_empty() {
            return self.value_initialize(ty, span);
        }
        self.construct_operands(class, args, span)
    }
}
