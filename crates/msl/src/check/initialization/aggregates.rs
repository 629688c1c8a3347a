//! Aggregates: structs and arrays from brace lists, with elided braces, designators and member initializers.

use super::lists::{Item, Items};
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::expressions::this_value;
use crate::check::state::{FunctionStart, FunctionState};
use crate::parse::ast;
use crate::program::{Expr, ExprKind, Function, FunctionId, Local, LocalId, Stmt, StmtKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, Field, QualTy, StructId, Ty, TyKind};
use rustc_hash::FxHashSet as HashSet;

impl<'a> Checker<'a> {
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
            match *self.tables.types().kind(ty.ty) {
                TyKind::Struct(class)
                    if self.tables.is_aggregate(class) && !self.tables.types().struct_(class).fields.is_empty() =>
                {
                    items.rest.push_front(Item::Checked(value));
                    return self.fill_struct(class, items, span);
                }
                TyKind::Array { element, len } => {
                    items.rest.push_front(Item::Checked(value));
                    return self.fill_array(element, len, items, span);
                }
                _ => {}
            }
        }
        self.refuse_narrowing(&value, ty.ty);
        self.convert(value, ty, purpose)
    }

    pub(super) fn fill_array(&mut self, element: Ty, len: Option<u64>, items: &mut Items<'a>, span: Span) -> Expr {
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
        let array = self.tables.types_mut().array(element, Some(actual));
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
            self.diagnostics.error(
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

    pub(super) fn fill_struct(&mut self, class: StructId, items: &mut Items<'a>, span: Span) -> Expr {
        let ty = self.tables.struct_type(class);
        let fields = self.tables.types().struct_(class).fields.clone();
        let is_union = self.tables.types().struct_(class).is_union;
        let mut values: Vec<Option<Expr>> = Vec::new();
        let mut next = 0;
        while let Some(item) = items.rest.front() {
            if let Item::Written(Some(designator), _) = item {
                let Some(index) = fields.iter().position(|field| field.name == designator.name) else {
                    let message = format!(
                        "field designator '{}' does not refer to any field in type '{}'",
                        designator.name,
                        self.tables.name_of(ty)
                    );
                    self.diagnostics.error("designator", designator.span, message);
                    items.rest.pop_front();
                    continue;
                };
                next = index;
            }
            while fields.get(next).is_some_and(Field::is_padding) && !is_union {
                next += 1;
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
    pub(in crate::check) fn finish_struct(
        &mut self,
        class: StructId,
        ty: Ty,
        values: Vec<Option<Expr>>,
        span: Span,
    ) -> Expr {
        let fields = self.tables.types().struct_(class).fields.clone();
        let needs_function = (0..fields.len())
            .any(|index| values[index].is_none() && self.tables.class(class).field_inits[index].is_some());
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
                None => match self.tables.types().kind(field.ty.ty) {
                    TyKind::Reference { .. } => {
                        let message = format!("reference member '{}' is not initialized", field.name);
                        self.diagnostics.error("uninitialized", span, message);
                        Expr::error(span)
                    }
                    _ => self.value_initialize(field.ty.ty, span),
                },
            });
        }
        Expr::value(ExprKind::Aggregate(complete), ty, span)
    }

    /// `T()`: the result of the default constructor, or zero.
    pub(in crate::check) fn value_initialize(&mut self, ty: Ty, span: Span) -> Expr {
        match self.default_initialize(QualTy::plain(ty), span) {
            Some(value) => value,
            None => Expr::value(ExprKind::Zero, ty, span),
        }
    }

    /// Initialization that `T x;` runs, if any.
    pub(in crate::check) fn default_initialize(&mut self, ty: QualTy, span: Span) -> Option<Expr> {
        self.complete_type(ty.ty);
        match *self.tables.types().kind(ty.ty) {
            TyKind::Struct(class) => {
                if !self.tables.class(class).constructors.is_empty()
                    && !self.tables.class(class).has_default_constructor
                {
                    return Some(self.construct(class, &[], span));
                }
                let fields = self.tables.types().struct_(class).fields.clone();
                let mut needed = self.tables.class(class).field_inits.iter().any(Option::is_some);
                let mut seen = HashSet::from_iter([class]);
                for field in &fields {
                    if let Some(inner) = self.tables.types().struct_id(field.ty.ty) {
                        needed |= self.needs_construction(inner, &mut seen);
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

    /// True if a class is not one of those `seen` and has an initializer of its own or in a member. Each is looked at
    /// once, or types that double would take forever.
    fn needs_construction(&mut self, class: StructId, seen: &mut HashSet<StructId>) -> bool {
        if !seen.insert(class) {
            return false;
        }
        self.complete_class(class);
        let fields = self.tables.types().struct_(class).fields.clone();
        (!self.tables.class(class).constructors.is_empty() && !self.tables.class(class).has_default_constructor)
            || self.tables.class(class).field_inits.iter().any(Option::is_some)
            || fields.iter().any(|field| {
                self.tables.types().struct_id(field.ty.ty).is_some_and(|inner| self.needs_construction(inner, seen))
            })
    }

    /// A function that fills a struct: the given fields from parameters, the others by their own initializers, which
    /// may refer to fields before them.
    fn aggregate_constructor(&mut self, class: StructId, given: &[bool], span: Span) -> FunctionId {
        if let Some(known) = self.tables.aggregate_constructor(class, given) {
            return known;
        }
        let class_ty = self.tables.struct_type(class);
        let fields = self.tables.types().struct_(class).fields.clone();
        let this = QualTy::plain(class_ty).in_space(AddressSpace::Thread);
        let this_ty = QualTy::plain(self.tables.types_mut().pointer(this)).constant();
        let mut locals =
            vec![Local { name: "this".into(), ty: this_ty, space: AddressSpace::Thread, min_align: 1, span }];
        for (field, _) in fields.iter().zip(given).filter(|(_, given)| **given) {
            let ty = QualTy { is_const: false, ..field.ty };
            locals.push(Local {
                name: field.name.clone(),
                ty,
                space: AddressSpace::Thread,
                min_align: 1,
                span: field.span,
            });
        }
        let params: Vec<LocalId> = (0..locals.len() as u32).map(LocalId).collect();
        let name = format!("{}::(aggregate)", self.tables.name_of(class_ty)).into();
        let function = Function {
            name,
            builtin: None,
            builtin_args: Vec::new(),
            params,
            result: Ty::VOID,
            locals: Vec::new(),
            body: None,
            is_constexpr: true,
            no_inline: false,
            fp_pragmas: Vec::new(),
            span,
        };
        let id = self.tables.add_synthetic_function(function, self.function.depth());
        self.tables.add_aggregate_constructor(class, given, id);
        let state = FunctionState::new(FunctionStart {
            id: Some(id),
            locals,
            result: Some(Ty::VOID),
            this: Some(LocalId(0)),
            ..FunctionStart::default()
        });
        let outer = std::mem::replace(&mut self.function, state);
        let scope = self.tables.class(class).scope;
        let mut stmts = Vec::new();
        let mut next_param = 1;
        self.in_scope(scope, |this| {
            for (index, field) in fields.iter().enumerate().filter(|(_, field)| !field.is_padding()) {
                let value = if given[index] {
                    let local = this.function.local(LocalId(next_param as u32));
                    let (ty, place_ty) = (local.ty.ty, local.ty);
                    let place = Expr::place(ExprKind::Local(LocalId(next_param as u32)), place_ty, field.span);
                    next_param += 1;
                    Expr::value(ExprKind::Load(Box::new(place)), ty, field.span)
                } else {
                    match this.tables.class(class).field_inits[index] {
                        Some(init) => this.initialize(field.ty, init),
                        None => this.value_initialize(field.ty.ty, field.span),
                    }
                };
                let this_value = this_value(&this.function, &mut this.diagnostics, field.span);
                let object = this.tables.deref(this_value, field.span);
                let ty = QualTy { is_const: false, space: object.ty.space, ..field.ty };
                let kind = ExprKind::Field { base: Box::new(object), field: index as u32 };
                let place = Expr::place(kind, ty, field.span);
                stmts.push(Stmt { kind: StmtKind::Init { place, value }, span: field.span });
            }
        });
        let state = std::mem::replace(&mut self.function, outer);
        let function = self.tables.function_mut(id);
        function.locals = state.into_locals();
        function.body = Some(stmts);
        id
    }
}
