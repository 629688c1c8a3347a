//! Calls: functions, methods, constructors, and the library's functions that need a closer look.

use super::convert::Purpose;
use super::expressions::{FunctionSet, Operand};
use super::overload::{CallSite, Candidate};
use super::scope::Symbol;
use super::{Checker, EntityId, Signature, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `callee(args)`
    pub(super) fn check_call(&mut self, callee: &'a ast::Expr, args: &'a [ast::Expr], span: Span) -> Expr {
        // An unqualified name that is not declared may be found among the functions of its arguments' namespaces.
        let target = match self.undeclared_callee(callee) {
            Some(path) => {
                let operands = self.check_args(args);
                return self.call_by_argument_types(path, operands, span);
            }
            None => self.check_operand(callee),
        };
        match target {
            Operand::Type(ty) => self.construct_type(ty, args, span),
            // `m.thread_elements()` of a simdgroup matrix is the only method of a native type.
            Operand::Functions(FunctionSet { entities, object: Some(object), .. }) if entities.is_empty() => {
                if let Some(arg) = args.first() {
                    self.error("argument-count", arg.span, "too many arguments to function call, expected 0");
                }
                object
            }
            Operand::Functions(set) => {
                let operands = self.check_args(args);
                self.call_set(set, operands, span)
            }
            Operand::Value(object) => {
                let operands = self.check_args(args);
                self.call_object(object, operands, span)
            }
            Operand::Braces(_, at) => {
                self.error("call", at, "an initializer list cannot be called");
                Expr::error(span)
            }
        }
    }

    fn undeclared_callee(&mut self, callee: &'a ast::Expr) -> Option<&'a ast::Path> {
        let ast::ExprKind::Path(path) = &callee.kind else { return None };
        if path.segments.len() > 1 || path.global {
            return None;
        }
        (self.late_calls.contains(&path.span) || self.lookup(&path.last().name).is_none()).then_some(path)
    }

    fn call_by_argument_types(&mut self, path: &'a ast::Path, args: Vec<Operand<'a>>, span: Span) -> Expr {
        let name = &path.last().name;
        let mut entities = Vec::new();
        self.add_associated(name, &args, &mut entities);
        let dependent = args.iter().any(|arg| self.is_dependent_operand(arg));
        if entities.is_empty() && dependent {
            if self.in_pattern {
                self.late_calls.insert(path.span);
            }
            return Expr::value(ExprKind::Error, Ty::DEPENDENT, span);
        }
        if entities.is_empty() && self.late_calls.contains(&path.span) {
            self.report_late_call(path);
            return Expr::error(span);
        }
        if entities.is_empty() {
            self.undeclared(path, false);
            return Expr::error(span);
        }
        let set = FunctionSet {
            name: name.clone(),
            entities,
            explicit: path.last().args.as_deref(),
            object: None,
            span: path.span,
            allows_adl: false,
        };
        self.call_set(set, args, span)
    }

    fn report_late_call(&mut self, path: &'a ast::Path) {
        let name = &path.last().name;
        let Some(found) = self.lookup(name) else { return self.undeclared(path, false) };
        let message = format!(
            "call to function '{name}' that is neither visible in the template definition nor found by \
             argument-dependent lookup"
        );
        let diagnostic = Diagnostic::error("late-declaration", path.span, message);
        let declared = self.declared_at(&found.symbol);
        self.report(match declared {
            Some(span) => diagnostic.note(span, format!("'{name}' should be declared prior to the call site")),
            None => diagnostic,
        });
    }

    /// The arguments of a call: packs expanded, lists and function names left as they are.
    pub(super) fn check_args(&mut self, args: &'a [ast::Expr]) -> Vec<Operand<'a>> {
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            if let ast::ExprKind::PackExpansion(inner) = &arg.kind {
                for binding in self.pack_bindings_in_expr(inner, arg.span).unwrap_or_default() {
                    let scope = self.pack_scope(&binding);
                    operands.push(self.in_scope(scope, |this| this.check_argument(inner)));
                }
                continue;
            }
            operands.push(self.check_argument(arg));
        }
        operands
    }

    fn check_argument(&mut self, arg: &'a ast::Expr) -> Operand<'a> {
        match self.check_operand(arg) {
            Operand::Type(_) => {
                let message = "expected an expression, found a type";
                self.error("expected-expression", arg.span, message);
                Operand::Value(Expr::error(arg.span))
            }
            operand => operand,
        }
    }

    /// Functions of the namespaces that the arguments' classes belong to.
    pub(super) fn add_associated(&mut self, name: &str, args: &[Operand<'a>], entities: &mut Vec<EntityId>) {
        for arg in args {
            let Operand::Value(expr) = arg else { continue };
            let mut ty = expr.ty.ty;
            if let Some(pointee) = self.types().pointee(ty) {
                ty = pointee.ty;
            }
            let Some(class) = self.types().struct_id(ty) else { continue };
            let mut spaces = vec![self.namespace_of_class(class)];
            if let Some((_, args)) = self.class(class).template.clone() {
                for arg in args {
                    if let TemplateArg::Type(ty) = arg
                        && let Some(class) = self.types().struct_id(ty.ty)
                    {
                        spaces.push(self.namespace_of_class(class));
                    }
                }
            }
            for space in spaces {
                if let Some(Symbol::Functions(found)) = self.scopes.own(space, name) {
                    for &entity in found {
                        if !entities.contains(&entity) {
                            entities.push(entity);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn call_set(&mut self, mut set: FunctionSet<'a>, args: Vec<Operand<'a>>, span: Span) -> Expr {
        let dependent = args.iter().any(|arg| self.is_dependent_operand(arg))
            || set.explicit.is_some_and(|explicit| self.explicit_args_are_dependent(explicit));
        if dependent {
            return self.dependent_call(&set, span);
        }
        if args.iter().any(|arg| matches!(arg, Operand::Value(e) if e.ty.ty == Ty::ERROR)) {
            return Expr::error(span);
        }
        if set.allows_adl && set.object.is_none() {
            self.add_associated(&set.name.clone(), &args, &mut set.entities);
        }
        let name = set.name.clone();
        let site = CallSite {
            name: &name,
            explicit: set.explicit,
            object: set.object.as_ref(),
            is_constructor: false,
            span: set.span,
        };
        let Some(candidate) = self.choose(&set.entities, &site, &args) else { return Expr::error(span) };
        self.refuse_inaccessible(candidate.entity, set.span);
        self.call_candidate(candidate, set.object, args, span)
    }

    /// The arguments are not known yet; the result may be.
    fn dependent_call(&mut self, set: &FunctionSet<'a>, span: Span) -> Expr {
        let mut result = None;
        for &entity in &set.entities {
            let ty = match self.entity(entity).header {
                None => self.attempt(|this| this.signature(entity, &[])).ok().flatten().and_then(|s| s.result),
                Some(_) => None,
            };
            if result.is_some() && result != ty || ty.is_none() {
                return Expr::value(ExprKind::Error, Ty::DEPENDENT, span);
            }
            result = ty;
        }
        match result {
            Some(ty) if set.entities.len() == 1 => self.result_expr(ExprKind::Error, ty, span),
            _ => Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
        }
    }

    fn explicit_args_are_dependent(&mut self, explicit: &'a [ast::TemplateArg]) -> bool {
        if !self.in_pattern {
            return false;
        }
        explicit.iter().any(|arg| match arg {
            ast::TemplateArg::Type(ty) => {
                self.attempt(|this| this.resolve_type(ty)).is_ok_and(|ty| self.is_dependent_type(ty.ty))
            }
            ast::TemplateArg::Expr(expr) => {
                let checked = self.attempt(|this| match this.expr_as_type(expr) {
                    Some(ty) => this.is_dependent_type(ty.ty),
                    None => {
                        let value = this.check_value(expr);
                        value.ty.ty == Ty::DEPENDENT
                            || matches!(this.try_evaluate(&value), Ok(crate::program::Value::Unknown))
                    }
                });
                checked.unwrap_or(false)
            }
        })
    }

    pub(super) fn is_dependent_operand(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Value(expr) if self.is_dependent_type(expr.ty.ty))
    }

    pub(super) fn is_dependent_type(&self, ty: Ty) -> bool {
        match self.types().kind(ty) {
            TyKind::Dependent => true,
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => self.is_dependent_type(to.ty),
            TyKind::Array { element, .. } => self.is_dependent_type(*element),
            TyKind::Struct(id) => self.class(*id).is_pattern,
            _ => false,
        }
    }

    /// The call itself, once it is decided.
    fn call_candidate(
        &mut self,
        candidate: Candidate<'a>,
        object: Option<Expr>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Expr {
        let Candidate { entity, args: targs, signature, .. } = candidate;
        let meant = self.specialization_of(entity, &targs).unwrap_or(entity);
        if self.entity(meant).source.first().is_some_and(|decl| decl.is_deleted) {
            let message = format!("attempt to use a deleted function '{}'", self.entity(entity).name);
            let declared = self.entity(entity).span;
            let diagnostic = Diagnostic::error("deleted", span, message);
            self.report(diagnostic.note(declared, "it is deleted here"));
            return Expr::error(span);
        }
        let stage = self.entity(meant).source.first().and_then(|decl| decl.specifiers.stage);
        if stage.is_some() && self.function.is_kernel {
            let message = format!(
                "'{}' is a kernel or graphics function and cannot be called by another one",
                self.entity(meant).name
            );
            self.error("kernel-call", span, message);
        }
        let mut converted = Vec::with_capacity(signature.params.len() + 1);
        if signature.this.is_some() {
            match object {
                Some(object) => converted.push(self.object_argument(object, entity)),
                None => {
                    let message = format!(
                        "call to non-static member function '{}' without an object",
                        self.entity(entity).name
                    );
                    self.error("no-object", span, message);
                    return Expr::error(span);
                }
            }
        }
        let given = args.len();
        for (arg, param) in args.into_iter().zip(&signature.params) {
            converted.push(self.argument(arg, param.ty));
        }
        self.fill_defaults(&signature, &mut converted, given);
        let id = self.function_for(entity, targs, signature);
        self.call_function(id, converted, span)
    }

    /// The arguments that were not given, from the declaration.
    pub(super) fn fill_defaults(&mut self, signature: &Signature<'a>, converted: &mut Vec<Expr>, given: usize) {
        for param in signature.params.iter().skip(given) {
            let Some(default) = param.default else { continue };
            // A default argument is not evaluated in a method: it has no object.
            let this = self.function.this.take();
            let value = self.in_scope(signature.scope, |checker| checker.check_for_type(default, param.ty));
            self.function.this = this;
            converted.push(self.convert(value, param.ty, Purpose::Parameter));
        }
    }

    /// Calls a function whose arguments fit.
    pub(super) fn call_function(&mut self, id: FunctionId, args: Vec<Expr>, span: Span) -> Expr {
        self.note_call(id, span);
        if let Some(refused) = self.check_builtin_call(id, &args, span) {
            return refused;
        }
        let result = self.result_of(id, span);
        self.result_expr(ExprKind::Call { function: id, args }, result, span)
    }

    /// Remembers who calls whom, and asks for the body.
    pub(super) fn note_call(&mut self, id: FunctionId, span: Span) {
        if let Some(caller) = self.function.id
            && !self.unevaluated
        {
            self.call_sites.entry((caller, id)).or_insert(span);
        }
        if !self.unevaluated && !self.in_pattern {
            self.request(id, span);
            self.need_body(id);
        }
    }

    /// Remembers what first needed a function.
    pub(super) fn request(&mut self, id: FunctionId, span: Span) {
        let parent = self.function.request.clone();
        self.instances[id.0 as usize].request.get_or_insert((span, parent));
    }

    /// What a function returns; for `auto` its body is checked first.
    pub(super) fn result_of(&mut self, id: FunctionId, span: Span) -> Ty {
        if self.instances[id.0 as usize].signature.result.is_none() {
            let state = self.instances[id.0 as usize].body;
            if state == super::BodyState::InProgress {
                if self.in_pattern {
                    return Ty::DEPENDENT;
                }
                let message = format!(
                    "function '{}' with deduced return type cannot be used before it is defined",
                    self.program.function(id).name
                );
                self.error("auto", span, message);
                return Ty::ERROR;
            }
            self.check_body(id);
        }
        self.program.function(id).result
    }

    /// A call's result: a place where it is a reference.
    fn result_expr(&mut self, kind: ExprKind, result: Ty, span: Span) -> Expr {
        let value = Expr::value(kind, result, span);
        match self.types().kind(result) {
            TyKind::Reference { .. } => self.deref(value, span),
            _ => value,
        }
    }

    /// An argument as its parameter's type.
    pub(super) fn argument(&mut self, arg: Operand<'a>, to: QualTy) -> Expr {
        match arg {
            Operand::Value(expr) => self.convert(expr, to, Purpose::Parameter),
            Operand::Braces(items, span) => match *self.types().kind(to.ty) {
                TyKind::Reference { to: target, .. } => {
                    let value = self.list_initialize_items(QualTy::plain(target.ty), items, span);
                    self.convert(value, to, Purpose::Parameter)
                }
                _ => self.list_initialize_items(to, items, span),
            },
            Operand::Functions(ref set) => {
                let span = set.span;
                let Some(pointee) = self.types().pointee(to.ty) else { return Expr::error(span) };
                self.operand_as_function(arg, pointee.ty, span).unwrap_or(Expr::error(span))
            }
            Operand::Type(_) => Expr::error(Span::default()),
        }
    }

    /// `this` for a call: the object's address, as a pointer to the class that declares the method.
    fn object_argument(&mut self, object: Expr, method: EntityId) -> Expr {
        let span = object.span;
        let place = self.temporary(object);
        let class = self.entity(method).class.expect("a method has a class");
        let class_ty = self.struct_type(class);
        let place = self.upcast_place(place, class_ty);
        let ty = self.types_mut().pointer(place.ty);
        Expr::value(ExprKind::AddressOf(Box::new(place)), ty, span)
    }

    /// Calls a method that is already chosen, with arguments that fit.
    pub(super) fn call_method(
        &mut self,
        entity: EntityId,
        targs: Vec<TemplateArg>,
        object: Expr,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let Some(signature) = self.signature(entity, &targs) else { return Expr::error(span) };
        let mut converted = vec![self.object_argument(object, entity)];
        for (arg, param) in args.into_iter().zip(&signature.params) {
            converted.push(self.convert(arg, param.ty, Purpose::Parameter));
        }
        let id = self.function_for(entity, targs, signature);
        self.call_function(id, converted, span)
    }

    /// `object(args)`: a function pointer that is a template parameter, or `operator()`.
    fn call_object(&mut self, object: Expr, args: Vec<Operand<'a>>, span: Span) -> Expr {
        if object.ty.ty.is_unknown() {
            return Expr::value(ExprKind::Error, object.ty.ty, span);
        }
        if let ExprKind::Function(id) | ExprKind::Constant(crate::program::Value::Function(id)) = object.kind {
            return self.call_known_function(id, args, span);
        }
        if let Some(pointee) = self.types().pointee(object.ty.ty)
            && let TyKind::Function { result, params } = self.types().kind(pointee.ty).clone()
        {
            if matches!(object.kind, ExprKind::Constant(crate::program::Value::Unknown)) || self.in_pattern {
                return self.result_expr(ExprKind::Error, result, span);
            }
            let params: Vec<QualTy> = params.iter().map(|&ty| QualTy::plain(ty)).collect();
            let Some(args) = self.fit_args("the function", args, &params, span) else { return Expr::error(span) };
            let pointer = Box::new(self.load(object));
            return self.result_expr(ExprKind::CallPointer { pointer, args }, result, span);
        }
        if let Some(class) = self.types().struct_id(object.ty.ty) {
            self.complete_class(class);
            match self.lookup_member(class, "operator()").map(|found| found.symbol) {
                Some(Symbol::Functions(entities)) => {
                    let name = "operator()".into();
                    let at = object.span;
                    let set = FunctionSet {
                        name,
                        entities,
                        explicit: None,
                        object: Some(object),
                        span: at,
                        allows_adl: false,
                    };
                    return self.call_set(set, args, span);
                }
                Some(Symbol::Dependent) => return Expr::value(ExprKind::Error, Ty::DEPENDENT, span),
                _ => {}
            }
        }
        let message =
            format!("called object type '{}' is not a function or function pointer", self.name_of(object.ty.ty));
        self.error("not-callable", object.span, message);
        Expr::error(span)
    }

    /// The arguments as the parameters' types, for a function that cannot be overloaded.
    fn fit_args(&mut self, name: &str, args: Vec<Operand<'a>>, params: &[QualTy], span: Span) -> Option<Vec<Expr>> {
        if args.len() != params.len() {
            let message = format!("{name} takes {} arguments, but {} were provided", params.len(), args.len());
            self.error("argument-count", span, message);
            return None;
        }
        Some(args.into_iter().zip(params).map(|(arg, ty)| self.argument(arg, *ty)).collect())
    }

    fn call_known_function(&mut self, id: FunctionId, args: Vec<Operand<'a>>, span: Span) -> Expr {
        let function = self.program.function(id);
        let params: Vec<QualTy> = function.params.iter().map(|p| function.locals[p.0 as usize].ty).collect();
        let name = format!("'{}'", function.name);
        let Some(args) = self.fit_args(&name, args, &params, span) else { return Expr::error(span) };
        self.call_function(id, args, span)
    }

    /// What the declarations in the headers cannot say about a call. `Some` replaces the call.
    fn check_builtin_call(&mut self, id: FunctionId, args: &[Expr], span: Span) -> Option<Expr> {
        let function = self.program.function(id);
        let builtin = function.builtin.clone()?;
        if builtin == "is_function_constant_defined" && !self.in_pattern {
            let names_constant = match args.first().map(|arg| &arg.kind) {
                Some(ExprKind::AddressOf(place)) => match place.kind {
                    ExprKind::Global(id) => self.program.global(id).function_constant.is_some(),
                    _ => false,
                },
                _ => false,
            };
            if !names_constant {
                self.error(
                    "function-constant",
                    span,
                    "is_function_constant_defined takes the name of a function constant",
                );
                return Some(Expr::error(span));
            }
        }
        if builtin == "as_type" {
            let (to, from) = (function.result, args.first()?.ty.ty);
            let (a, b) = (self.types().layout(to), self.types().layout(from));
            if let (Some(a), Some(b)) = (a, b)
                && (a.size != b.size || !self.can_reinterpret(to) || !self.can_reinterpret(from))
            {
                let message = format!(
                    "as_type cast from '{}' to '{}' is not allowed: the sizes are {} and {} bytes",
                    self.name_of(from),
                    self.name_of(to),
                    b.size,
                    a.size
                );
                self.error("as-type", span, message);
                return Some(Expr::error(span));
            }
        }
        None
    }

    fn can_reinterpret(&self, ty: Ty) -> bool {
        let element = self.types().element_of(ty);
        self.types().is_arithmetic(element) && element != Ty::BOOL
            || matches!(self.types().kind(ty), TyKind::Pointer(_))
    }

    /// The only function of a set, with its explicit arguments.
    pub(super) fn only_function(&mut self, set: &FunctionSet<'a>) -> Option<FunctionId> {
        let mut found = None;
        for &entity in &set.entities {
            let args = match (self.entity(entity).header, set.explicit) {
                (None, None) => Vec::new(),
                (Some(header), Some(explicit)) => {
                    let scope = self.entity(entity).scope;
                    let name = set.name.clone();
                    let fitted =
                        self.attempt(|this| this.fit_template_args(&[header], scope, explicit, set.span, &name));
                    match fitted {
                        Ok(Some(args)) => args,
                        _ => continue,
                    }
                }
                _ => continue,
            };
            let signature = match self.attempt(|this| this.signature(entity, &args)) {
                Ok(Some(signature)) => signature,
                _ => continue,
            };
            if found.is_some() {
                return None;
            }
            found = Some(self.function_for(entity, args, signature));
        }
        found
    }
}
