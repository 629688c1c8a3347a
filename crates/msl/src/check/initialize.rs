//! Initialization: variables, members and temporaries, from values, parentheses and braces.

use super::convert::Purpose;
use super::{Checker, ClassState, FunctionState, evaluate};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Init, TypeExprKind};
use crate::program::{Expr, ExprKind, Function, FunctionId, Local, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, StructId, Ty, TyKind};

/// One item of a brace list: as written, or already checked while braces were elided.
enum Item<'a> {
    Written(Option<&'a ast::Ident>, &'a ast::Expr),
    /// `[i] = e`, `[i ... j] = e`
    At(&'a ast::Expr, Option<&'a ast::Expr>, &'a ast::Expr),
    Checked(Expr),
}

/// The items of a brace list that are still to be used.
struct Items<'a> {
    rest: std::collections::VecDeque<Item<'a>>,
}

impl<'a> Items<'a> {
    fn of_exprs(exprs: &'a [ast::Expr]) -> Items<'a> {
        Items { rest: exprs.iter().map(|expr| Item::Written(None, expr)).collect() }
    }

    fn of_list(items: &'a [ast::InitItem]) -> Items<'a> {
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
        let value = self.initialize(ty, init, variable_span(var));
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

    pub(super) fn deduce_auto_variable(&mut self, var: &'a ast::VarDecl) -> Option<(QualTy, Option<Expr>)> {
        let span = variable_span(var);
        let expr = match &var.init {
            Some(Init::Equal(expr)) => expr,
            Some(Init::Paren(exprs, _) | Init::Brace(exprs, _)) if exprs.len() == 1 => &exprs[0],
            Some(_) => {
                self.error("auto", span, "cannot deduce type for variable with 'auto' from this initializer");
                return None;
            }
            None => {
                let name = var.name.as_ref().map(|name| name.last().name.clone()).unwrap_or_default();
                let message =
                    format!("declaration of variable '{name}' with deduced type 'auto' requires an initializer");
                self.error("auto", span, message);
                return None;
            }
        };
        let value = self.check_expr(expr);
        if value.ty.ty == Ty::ERROR {
            return None;
        }
        if value.ty.ty == Ty::VOID {
            self.error("auto", expr.span, "variable has incomplete type 'void'");
            return None;
        }
        let mut ty = self.auto_type(&var.ty, &value)?;
        ty.is_const |= var.specifiers.is_constexpr;
        let value = self.convert(value, ty, Purpose::Variable);
        Some((ty, Some(value)))
    }

    /// What a type with `auto` in it means for this initializer.
    pub(super) fn auto_type(&mut self, written: &'a ast::TypeExpr, value: &Expr) -> Option<QualTy> {
        let is_reference = matches!(self.type_without_qualifiers(written), TypeExprKind::Reference { .. });
        let actual = if is_reference {
            let space = value.ty.space.unwrap_or(AddressSpace::Thread);
            value.ty.in_space(space)
        } else {
            QualTy::plain(self.decayed(value.ty))
        };
        let Some(auto) = self.match_auto(written, actual) else {
            let message = format!(
                "variable has deduced type that does not fit an initializer of type '{}'",
                self.name_of_qual(value.ty)
            );
            self.error("auto", value.span, message);
            return None;
        };
        let saved = self.auto_binding.replace(auto);
        let ty = self.resolve_type(written);
        self.auto_binding = saved;
        (ty.ty != Ty::ERROR).then_some(ty)
    }

    /// What `auto` stands for when `written` means `actual`.
    pub(super) fn match_auto(&mut self, written: &'a ast::TypeExpr, actual: QualTy) -> Option<QualTy> {
        match &written.kind {
            TypeExprKind::Auto => Some(actual),
            TypeExprKind::Qualified { quals, inner } => {
                if let Some(space) = quals.space {
                    let fits = actual.space.is_none_or(|actual| actual == space);
                    if !fits && !actual.ty.is_unknown() {
                        return None;
                    }
                }
                let space = if quals.space.is_some() { None } else { actual.space };
                self.match_auto(inner, QualTy { is_const: actual.is_const && !quals.is_const, space, ..actual })
            }
            TypeExprKind::Reference { inner, .. } => {
                let to = self.types().referent(actual);
                self.match_auto(inner, to)
            }
            TypeExprKind::Pointer(inner) => match *self.types().kind(actual.ty) {
                TyKind::Pointer(pointee) => self.match_auto(inner, pointee),
                TyKind::Dependent => Some(actual),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of something of type `ty` with this initializer.
    pub(super) fn initialize(&mut self, ty: QualTy, init: &'a Init, span: Span) -> Expr {
        match init {
            Init::Equal(ast::Expr { kind: ast::ExprKind::InitList(items), span }) => {
                self.list_initialize(ty, Items::of_list(items), *span)
            }
            Init::Equal(expr) => {
                let operand = self.check_for_type(expr, ty);
                self.convert(operand, ty, Purpose::Variable)
            }
            Init::Paren(args, span) => self.direct_initialize(ty, args, *span),
            Init::Brace(args, list_span) => {
                let _ = span;
                self.list_initialize(ty, Items::of_exprs(args), *list_span)
            }
        }
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
                    self.explicit_cast(value, ty, span, ast::CastKind::Static)
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
        // `T{{a, b}}` and `T{a, b}` both arrive here with the outer braces off.
        self.list_initialize(ty, Items::of_exprs(args), span)
    }

    pub(super) fn list_initialize_items(&mut self, ty: QualTy, items: &'a [ast::InitItem], span: Span) -> Expr {
        self.list_initialize(ty, Items::of_list(items), span)
    }

    fn list_initialize(&mut self, ty: QualTy, items: Items<'a>, span: Span) -> Expr {
        let result = self.nested(span, |this| this.list_initialize_nested(ty, items, span));
        result.unwrap_or(Expr::error(span))
    }

    fn list_initialize_nested(&mut self, ty: QualTy, mut items: Items<'a>, span: Span) -> Expr {
        if ty.ty.is_unknown() {
            self.check_rest(items);
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
            TyKind::Array { element, len } => self.fill_array(ty, element, len, &mut items, span),
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
                    1 => self.list_initialize_scalar(ty, items, span),
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

    fn list_initialize_scalar(&mut self, ty: QualTy, mut items: Items<'a>, span: Span) -> Expr {
        let value = match items.rest.pop_front().expect("one item") {
            Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), span }) => {
                return self.list_initialize_items(ty, inner, *span);
            }
            Item::Written(_, expr) | Item::At(_, _, expr) => self.check_for_type(expr, ty),
            Item::Checked(value) => value,
        };
        self.refuse_narrowing(&value, ty.ty);
        let _ = span;
        self.convert(value, ty, Purpose::Variable)
    }

    /// Complains where a conversion inside braces may lose something.
    fn refuse_narrowing(&mut self, value: &Expr, to: Ty) {
        let from = value.ty.ty;
        let types = self.types();
        let is_number = |ty: Ty| types.is_arithmetic(ty) || types.enum_id(ty).is_some();
        if from == to || from.is_unknown() || !is_number(from) || !types.is_arithmetic(to) {
            return;
        }
        let integer = |ty: Ty| types.int_kind(ty).or_else(|| types.int_kind(self.promoted(ty)));
        let widens = match (types.float_kind(from), types.float_kind(to)) {
            (Some(_), Some(crate::types::FloatKind::Float)) => true,
            (Some(_), _) => false,
            (None, Some(_)) => false,
            (None, None) => match (types.int_kind(from), types.int_kind(to)) {
                (None, Some(_)) if from == Ty::BOOL => true,
                (_, None) => false,
                (_, Some(to)) => integer(from).is_some_and(|from| {
                    (from.is_signed() == to.is_signed() && from.bits() <= to.bits())
                        || (!from.is_signed() && from.bits() < to.bits())
                }),
            },
        };
        if widens {
            return;
        }
        let loaded = self.load(value.clone());
        match self.try_evaluate(&loaded) {
            Ok(Value::Unknown) => {}
            Ok(constant) => {
                let float_to_int = self.types().float_kind(from).is_some() && self.types().float_kind(to).is_none();
                if float_to_int {
                    let message = format!(
                        "type '{}' cannot be narrowed to '{}' in initializer list",
                        self.name_of(from),
                        self.name_of(to)
                    );
                    self.error("narrowing", value.span, message);
                } else if !evaluate::fits(self.types(), &constant, to) {
                    let shown = match &constant {
                        Value::Int(value) => value.to_string(),
                        Value::Float(value) => value.to_string(),
                        other => format!("{other:?}"),
                    };
                    let message = format!(
                        "constant expression evaluates to {shown} which cannot be narrowed to type '{}'",
                        self.name_of(to)
                    );
                    self.error("narrowing", value.span, message);
                }
            }
            Err(_) => {
                let message = format!(
                    "non-constant-expression cannot be narrowed from type '{}' to '{}' in initializer list",
                    self.name_of(from),
                    self.name_of(to)
                );
                let fix = self.name_of(to);
                let diagnostic = Diagnostic::error("narrowing", value.span, message);
                let note = format!("insert an explicit cast to silence this issue: static_cast<{fix}>(…)");
                self.report(diagnostic.note(value.span, note));
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

    // --- aggregates --------------------------------------------------------------------------------------------

    /// The value of one member of an aggregate, from the next item; braces around it may be left out.
    fn fill_one(&mut self, ty: QualTy, items: &mut Items<'a>, purpose: Purpose) -> Expr {
        let item = items.rest.pop_front().expect("an item is left");
        let value = match item {
            Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), span })
            | Item::At(_, _, ast::Expr { kind: ast::ExprKind::InitList(inner), span }) => {
                return self.list_initialize_items(ty, inner, *span);
            }
            Item::Written(_, expr) | Item::At(_, _, expr) => self.check_for_type(expr, ty),
            Item::Checked(value) => value,
        };
        let span = value.span;
        if self.conversion(&value, ty).is_none() {
            match *self.types().kind(ty.ty) {
                TyKind::Struct(class)
                    if self.is_aggregate(class) && !self.types().struct_(class).fields.is_empty() =>
                {
                    items.rest.push_front(Item::Checked(value));
                    return self.fill_struct(class, items, span);
                }
                TyKind::Array { element, len } => {
                    items.rest.push_front(Item::Checked(value));
                    return self.fill_array(ty, element, len, items, span);
                }
                _ => {}
            }
        }
        self.refuse_narrowing(&value, ty.ty);
        self.convert(value, ty, purpose)
    }

    fn fill_array(&mut self, ty: QualTy, element: Ty, len: Option<u64>, items: &mut Items<'a>, span: Span) -> Expr {
        let mut values: Vec<Expr> = Vec::new();
        while let Some(item) = items.rest.front() {
            if let Item::At(from, to, _) = item {
                let (from, to) = (*from, *to);
                let Some((first, last)) = self.designated_range(from, to, len) else {
                    items.rest.pop_front();
                    continue;
                };
                let value = self.fill_one(QualTy::plain(element), items, Purpose::Element);
                values.truncate(first);
                while values.len() < first {
                    values.push(self.value_initialize(element, span));
                }
                values.extend(std::iter::repeat_n(value, last + 1 - first));
                continue;
            }
            if len.is_some_and(|len| values.len() as u64 >= len) {
                break;
            }
            values.push(self.fill_one(QualTy::plain(element), items, Purpose::Element));
        }
        let actual = len.unwrap_or(values.len() as u64);
        let array = self.types_mut().array(element, Some(actual));
        let _ = ty;
        Expr::value(ExprKind::Aggregate(values), array, span)
    }

    /// The elements that `[i] =` or `[i ... j] =` names.
    fn designated_range(
        &mut self,
        from: &'a ast::Expr,
        to: Option<&'a ast::Expr>,
        len: Option<u64>,
    ) -> Option<(usize, usize)> {
        const MOST: i128 = 1 << 20;
        let first = self.designator_value(from)?;
        let last = to.map_or(Some(first), |to| self.designator_value(to))?;
        let end = len.map_or(MOST, i128::from).min(MOST);
        if first < 0 || last < first || last >= end {
            self.error(
                "designator",
                from.span,
                format!("array designator [{first} ... {last}] is outside the array"),
            );
            return None;
        }
        Some((first as usize, last as usize))
    }

    fn designator_value(&mut self, index: &'a ast::Expr) -> Option<i128> {
        let checked = self.check_value(index);
        match self.evaluate_or_report(&checked, "array designator is not a constant expression")? {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    fn fill_struct(&mut self, class: StructId, items: &mut Items<'a>, span: Span) -> Expr {
        let ty = self.struct_type(class);
        let fields = self.types().struct_(class).fields.clone();
        let is_union = self.types().struct_(class).is_union;
        let mut values: Vec<Option<Expr>> = Vec::new();
        let mut next = 0;
        while let Some(item) = items.rest.front() {
            if let Item::Written(Some(designator), _) = item {
                let Some(index) = fields.iter().position(|field| field.name == designator.name) else {
                    let message = format!(
                        "field designator '{}' does not refer to any field in type '{}'",
                        designator.name,
                        self.name_of(ty)
                    );
                    self.error("designator", designator.span, message);
                    items.rest.pop_front();
                    continue;
                };
                next = index;
            }
            if next >= fields.len() || (is_union && next > 0 && !values.is_empty()) {
                break;
            }
            let value = self.fill_one(fields[next].ty, items, Purpose::Member);
            values.resize(values.len().max(next + 1), None);
            values[next] = Some(value);
            next += 1;
        }
        if is_union {
            values.truncate(fields.len());
            let values: Vec<Expr> = values.into_iter().flatten().collect();
            return Expr::value(ExprKind::Aggregate(values), ty, span);
        }
        values.resize(fields.len(), None);
        self.finish_struct(class, ty, values, span)
    }

    /// Fills in members without a value: by their own initializers, or zero.
    fn finish_struct(&mut self, class: StructId, ty: Ty, values: Vec<Option<Expr>>, span: Span) -> Expr {
        let fields = self.types().struct_(class).fields.clone();
        let needs_function = (0..fields.len())
            .any(|index| values[index].is_none() && self.class(class).field_inits[index].is_some());
        if needs_function {
            let given: Vec<bool> = values.iter().map(Option::is_some).collect();
            let constructor = self.aggregate_constructor(class, &given, span);
            let args = values.into_iter().flatten().collect();
            return Expr::value(ExprKind::Construct { constructor, args }, ty, span);
        }
        let mut complete = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let field = &fields[index];
            complete.push(match value {
                Some(value) => value,
                None => match self.types().kind(field.ty.ty) {
                    TyKind::Reference { .. } => {
                        let message = format!("reference member '{}' is not initialized", field.name);
                        self.error("uninitialized", span, message);
                        Expr::error(span)
                    }
                    _ => self.value_initialize(field.ty.ty, span),
                },
            });
        }
        Expr::value(ExprKind::Aggregate(complete), ty, span)
    }

    /// `T()`: what the default constructor makes, or zero.
    pub(super) fn value_initialize(&mut self, ty: Ty, span: Span) -> Expr {
        match self.default_initialize(QualTy::plain(ty), span) {
            Some(value) => value,
            None => Expr::value(ExprKind::Zero, ty, span),
        }
    }

    /// What `T x;` runs, if anything.
    pub(super) fn default_initialize(&mut self, ty: QualTy, span: Span) -> Option<Expr> {
        self.complete_type(ty.ty);
        match *self.types().kind(ty.ty) {
            TyKind::Struct(class) => {
                if !self.class(class).constructors.is_empty() {
                    return Some(self.construct(class, &[], span));
                }
                let fields = self.types().struct_(class).fields.clone();
                let mut needed = self.class(class).field_inits.iter().any(Option::is_some);
                for field in &fields {
                    if let Some(inner) = self.types().struct_id(field.ty.ty) {
                        needed |= self.needs_construction(inner);
                    }
                }
                if !needed {
                    return None;
                }
                let given = vec![false; fields.len()];
                let constructor = self.aggregate_constructor(class, &given, span);
                let kind = ExprKind::Construct { constructor, args: Vec::new() };
                Some(Expr::value(kind, ty.ty, span))
            }
            TyKind::Array { element, len: Some(len) } => {
                let one = self.default_initialize(QualTy::plain(element), span)?;
                // Longer arrays of objects with constructors do not occur in kernels; keep the program small.
                (len <= 4096).then(|| Expr::value(ExprKind::Aggregate(vec![one; len as usize]), ty.ty, span))
            }
            _ => None,
        }
    }

    fn needs_construction(&mut self, class: StructId) -> bool {
        self.complete_class(class);
        let fields = self.types().struct_(class).fields.clone();
        !self.class(class).constructors.is_empty()
            || self.class(class).field_inits.iter().any(Option::is_some)
            || fields.iter().any(|field| {
                self.types()
                    .struct_id(field.ty.ty)
                    .is_some_and(|inner| inner != class && self.needs_construction(inner))
            })
    }

    /// A function that fills a struct: the given fields from parameters, the others by their own initializers, which may
    /// refer to fields before them.
    fn aggregate_constructor(&mut self, class: StructId, given: &[bool], span: Span) -> FunctionId {
        let key = (class, given.to_vec());
        if let Some(&known) = self.aggregate_constructors.get(&key) {
            return known;
        }
        let class_ty = self.struct_type(class);
        let fields = self.types().struct_(class).fields.clone();
        let this = QualTy::plain(class_ty).in_space(AddressSpace::Thread);
        let this_ty = QualTy::plain(self.types_mut().pointer(this)).constant();
        let mut locals = vec![Local { name: "this".into(), ty: this_ty, space: AddressSpace::Thread, span }];
        for (field, _) in fields.iter().zip(given).filter(|(_, given)| **given) {
            let ty = QualTy { is_const: false, ..field.ty };
            locals.push(Local { name: field.name.clone(), ty, space: AddressSpace::Thread, span: field.span });
        }
        let params: Vec<LocalId> = (0..locals.len() as u32).map(LocalId).collect();
        let name = format!("{}::(aggregate)", self.name_of(class_ty)).into();
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            name,
            builtin: None,
            builtin_args: Vec::new(),
            params,
            result: Ty::VOID,
            locals: Vec::new(),
            body: None,
            no_inline: false,
            fp_pragmas: Vec::new(),
            span,
        });
        self.add_synthetic_instance();
        self.aggregate_constructors.insert(key, id);
        let state = FunctionState {
            id: Some(id),
            locals,
            result: Some(Ty::VOID),
            this: Some(LocalId(0)),
            ..FunctionState::outside()
        };
        let outer = std::mem::replace(&mut self.function, state);
        let scope = self.class(class).scope;
        let mut stmts = Vec::new();
        let mut next_param = 1;
        self.in_scope(scope, |this| {
            for (index, field) in fields.iter().enumerate() {
                let value = if given[index] {
                    let local = &this.function.locals[next_param];
                    let (ty, place_ty) = (local.ty.ty, local.ty);
                    let place = Expr::place(ExprKind::Local(LocalId(next_param as u32)), place_ty, field.span);
                    next_param += 1;
                    Expr::value(ExprKind::Load(Box::new(place)), ty, field.span)
                } else {
                    match this.class(class).field_inits[index] {
                        Some(init) => this.initialize(field.ty, init, field.span),
                        None => this.value_initialize(field.ty.ty, field.span),
                    }
                };
                let this_value = this.this_value(field.span);
                let object = this.deref(this_value, field.span);
                let ty = QualTy { is_const: false, space: object.ty.space, ..field.ty };
                let kind = ExprKind::Field { base: Box::new(object), field: index as u32 };
                let place = Expr::place(kind, ty, field.span);
                stmts.push(Stmt { kind: StmtKind::Init { place, value }, span: field.span });
            }
        });
        let state = std::mem::replace(&mut self.function, outer);
        let function = &mut self.program.functions[id.0 as usize];
        function.locals = state.locals;
        function.body = Some(stmts);
        id
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

    // --- vectors and matrices ----------------------------------------------------------------------------------

    fn compose_vector_from_list(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        let (element, len) = self.types().vector_parts(ty).expect("a vector");
        let mut count = 0;
        for arg in &args {
            count += usize::from(self.types().vector_parts(arg.ty.ty).map_or(1, |(_, len)| len));
        }
        if args.len() == 1 && args[0].ty.ty == ty {
            return args.into_iter().next().expect("one");
        }
        // Missing components are zero.
        let mut args = args;
        while count < usize::from(len) {
            args.push(Expr::value(ExprKind::Zero, element, span));
            count += 1;
        }
        self.compose_vector(ty, args, span)
    }

    /// `float4(a, b.xyz)`
    pub(super) fn compose_vector(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        if args.is_empty() {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        if args.iter().any(|arg| arg.ty.ty.is_unknown()) {
            return Expr::value(ExprKind::Error, ty, span);
        }
        let (element, len) = self.types().vector_parts(ty).expect("a vector");
        let mut parts = Vec::new();
        let mut count = 0;
        for arg in args {
            match self.types().vector_parts(arg.ty.ty) {
                Some((part_element, part_len)) => {
                    count += usize::from(part_len);
                    if part_element != element {
                        let message = format!(
                            "no matching constructor for initialization of '{}': '{}' is not made of '{}'",
                            self.name_of(ty),
                            self.name_of(arg.ty.ty),
                            self.name_of(element)
                        );
                        self.error("no-constructor", arg.span, message);
                        return Expr::error(span);
                    }
                    let plain = self.types_mut().unpacked(arg.ty.ty);
                    parts.push(self.convert_value(arg, plain));
                }
                None => {
                    count += 1;
                    parts.push(self.convert(arg, QualTy::plain(element), Purpose::Element));
                }
            }
        }
        if count != usize::from(len) {
            let message = format!(
                "no matching constructor for initialization of '{}': {len} components are needed, {count} are given",
                self.name_of(ty)
            );
            self.error("no-constructor", span, message);
            return Expr::error(span);
        }
        let plain = self.types_mut().unpacked(ty);
        let vector = Expr::value(ExprKind::Compose(parts), plain, span);
        self.convert_value(vector, ty)
    }

    /// `float2x2(c0, c1)`, `float2x2(a, b, c, d)`, `float2x2(diagonal)`, `half2x2(float2x2)`
    pub(super) fn compose_matrix(&mut self, ty: Ty, args: Vec<Expr>, span: Span) -> Expr {
        let TyKind::Matrix { element, columns, rows } = *self.types().kind(ty) else { return Expr::error(span) };
        if args.iter().any(|arg| arg.ty.ty.is_unknown()) {
            return Expr::value(ExprKind::Error, ty, span);
        }
        let column_ty = self.types_mut().vector(element, rows);
        let all_vectors = args.iter().all(|arg| self.types().vector_parts(arg.ty.ty).is_some());
        let all_scalars = args.iter().all(|arg| self.types().is_arithmetic(arg.ty.ty));
        if args.len() == 1 {
            let arg = args.into_iter().next().expect("one");
            return match *self.types().kind(arg.ty.ty) {
                TyKind::Matrix { columns: c, rows: r, .. } if (c, r) == (columns, rows) => {
                    let kind = ExprKind::Cast { kind: crate::program::CastKind::Matrix, operand: Box::new(arg) };
                    Expr::value(kind, ty, span)
                }
                _ if self.types().is_arithmetic(arg.ty.ty) => {
                    let arg = self.convert(arg, QualTy::plain(element), Purpose::Element);
                    Expr::value(ExprKind::Splat(Box::new(arg)), ty, span)
                }
                _ => {
                    self.no_matrix_constructor(ty, span);
                    Expr::error(span)
                }
            };
        }
        if all_vectors && args.len() == usize::from(columns) {
            let columns: Vec<Expr> =
                args.into_iter().map(|arg| self.convert(arg, QualTy::plain(column_ty), Purpose::Element)).collect();
            return Expr::value(ExprKind::Compose(columns), ty, span);
        }
        if all_scalars && args.len() == usize::from(columns) * usize::from(rows) {
            let mut parts = Vec::new();
            let mut column = Vec::new();
            for arg in args {
                column.push(self.convert(arg, QualTy::plain(element), Purpose::Element));
                if column.len() == usize::from(rows) {
                    let full = std::mem::take(&mut column);
                    parts.push(Expr::value(ExprKind::Compose(full), column_ty, span));
                }
            }
            return Expr::value(ExprKind::Compose(parts), ty, span);
        }
        self.no_matrix_constructor(ty, span);
        Expr::error(span)
    }

    fn no_matrix_constructor(&mut self, ty: Ty, span: Span) {
        let message = format!("no matching constructor for initialization of '{}'", self.name_of(ty));
        self.error("no-constructor", span, message);
    }

    fn matrix_from_list(&mut self, ty: Ty, shape: (u8, u8, Ty), items: Items<'a>, span: Span) -> Expr {
        let (_, rows, element) = shape;
        if items.rest.is_empty() {
            return Expr::value(ExprKind::Zero, ty, span);
        }
        let column_ty = self.types_mut().vector(element, rows);
        let mut args = Vec::new();
        for item in items.rest {
            args.push(match item {
                Item::Written(_, ast::Expr { kind: ast::ExprKind::InitList(inner), span }) => {
                    self.list_initialize_items(QualTy::plain(column_ty), inner, *span)
                }
                Item::Written(_, expr) | Item::At(_, _, expr) => self.check_value(expr),
                Item::Checked(expr) => expr,
            });
        }
        if args.len() == 1 && args[0].ty.ty == ty {
            return args.remove(0);
        }
        self.compose_matrix(ty, args, span)
    }
}

fn variable_span(var: &ast::VarDecl) -> Span {
    var.name.as_ref().map_or(var.ty.span, |name| name.last().span)
}

pub(super) fn contains_auto(written: &ast::TypeExpr) -> bool {
    match &written.kind {
        TypeExprKind::Auto => true,
        TypeExprKind::Qualified { inner, .. } | TypeExprKind::Pointer(inner) => contains_auto(inner),
        TypeExprKind::Reference { inner, .. } => contains_auto(inner),
        _ => false,
    }
}
