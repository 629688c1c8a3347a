//! Lambdas: a closure is a struct of its captures, its call operator a method of that struct.

use super::members::place_space;
use super::operand::Operand;
use super::this::this_value;
use crate::check::Checker;
use crate::check::declarations::type_without_qualifiers;
use crate::check::initialization::contains_auto;
use crate::check::tables::{
    ClassState, Closure, Entity, EntityId, FunctionSource, Signature, Symbol, Tables, TemplateArg,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Access, CaptureMode};
use crate::parse::names_in::names_in_block;
use crate::preprocess::LanguageVersion;
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, Field, LayoutRules, QualTy, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(super) fn check_lambda(&mut self, lambda: &'a ast::Lambda) -> Expr {
        let span = lambda.span;
        if self.tables.std() < LanguageVersion::new(3, 2) && !self.tables.is_in_stdlib(span) {
            // Apple's compiler for Metal 3.1 has this wording.
            let error = Diagnostic::error("unsupported", span, "lambda expressions are not supported in Metal");
            let version = format!("this is {}; choose a later version by '--std metal3.2'", self.tables.std());
            self.diagnostics.report(error.note(span, version));
            return Expr::error(span);
        }
        let scope = self.position.scope();
        let class = self.tables.add_class(SmolStr::new_static("(lambda)"), span, scope);
        let class_scope = self.tables.class(class).scope;
        let mut values = Vec::new();
        let mut closure = Closure::default();
        for (name, mode, init) in self.captures(lambda) {
            let at = init.map_or(span, |init: &ast::Expr| init.span);
            if name == "this" {
                let this = if self.function.is_lambda() { self.captured_this(span) } else { None };
                let this = match this {
                    Some(this) => this,
                    None => this_value(&self.function, &mut self.diagnostics, span),
                };
                closure.this_field = Some(self.tables.add_capture(class, &name, QualTy::plain(this.ty.ty), at));
                closure.known.push(None);
                values.push(this);
                continue;
            }
            let (place, known) = match init {
                Some(init) => (self.check_expr(init), None),
                None => match self.tables.lookup(self.position.scope(), &name).map(|found| found.symbol) {
                    Some(Symbol::Local(id)) => (self.local(id, span), self.function.known(id).cloned()),
                    Some(Symbol::Capture(field)) => {
                        let known = self.known_captures().and_then(|known| known.get(field as usize)?.clone());
                        (self.capture_place(field, span), known)
                    }
                    _ => continue,
                },
            };
            closure.known.push(known);
            let (ty, value) = match mode {
                CaptureMode::ByReference if place.is_place => {
                    let target = place.ty.in_space(place_space(&place));
                    let ty = self.tables.types_mut().reference(target);
                    (ty, Expr::value(ExprKind::AddressOf(Box::new(place)), ty, span))
                }
                _ => {
                    // Arrays are captured whole.
                    let value = match self.tables.types().kind(place.ty.ty) {
                        TyKind::Array { .. } => {
                            let ty = place.ty.ty;
                            Expr::value(ExprKind::Load(Box::new(place)), ty, span)
                        }
                        _ => self.load(place),
                    };
                    (value.ty.ty, value)
                }
            };
            let field = self.tables.add_capture(class, &name, QualTy::plain(ty), at);
            self.tables.scopes_mut().insert(class_scope, name, Symbol::Capture(field));
            values.push(value);
        }
        self.tables.types_mut().lay_out(class, LayoutRules::plain(false));
        let definition = self.tables.class_mut(class);
        definition.state = ClassState::Complete;
        definition.closure = Some(closure);
        let entity = self.tables.add_entity(Entity {
            name: SmolStr::new_static("operator()"),
            prefix: SmolStr::new_static("(lambda)::"),
            source: FunctionSource::Lambda(lambda),
            scope: class_scope,
            class: Some(class),
            header: None,
            family: None,
            builtin: None,
            specializations: Vec::new(),
            signatures: HashMap::default(),
            functions: HashMap::default(),
            access: Access::Public,
            span,
        });
        self.tables.scopes_mut().add_function(class_scope, &SmolStr::new_static("operator()"), entity);
        if let Some(closure) = &mut self.tables.class_mut(class).closure {
            closure.call = Some(entity);
        }
        let ty = self.tables.struct_type(class);
        let is_generic = lambda.params.iter().any(|param| contains_auto(&param.ty));
        if !is_generic {
            // Checked even if it is never called.
            if let Some(signature) = self.signature(entity, &[]) {
                let id = self.function_for(entity, Vec::new(), signature);
                if self.position.in_pattern() {
                    self.check_body(id);
                } else {
                    self.tables.need_body(id);
                }
            }
        }
        Expr::value(ExprKind::Aggregate(values), ty, span)
    }

    /// Captures of a lambda: those that are named, and with a default every variable that the body mentions.
    fn captures(&mut self, lambda: &'a ast::Lambda) -> Vec<(SmolStr, CaptureMode, Option<&'a ast::Expr>)> {
        let mut captures: Vec<(SmolStr, CaptureMode, Option<&'a ast::Expr>)> = Vec::new();
        for capture in &lambda.captures {
            if capture.init.is_none()
                && capture.name.name != "this"
                && !matches!(
                    self.tables.lookup(self.position.scope(), &capture.name.name).map(|found| found.symbol),
                    Some(Symbol::Local(_) | Symbol::Capture(_) | Symbol::Dependent | Symbol::Value(..))
                )
            {
                let message = format!("'{}' in capture list does not name a variable", capture.name.name);
                self.diagnostics.error("capture", capture.name.span, message);
                continue;
            }
            let is_reference = capture.mode == CaptureMode::ByReference;
            let repeats = match lambda.default_capture {
                Some(CaptureMode::ByReference) if is_reference && capture.init.is_none() => {
                    Some("'&' cannot precede a capture when the capture default is '&'")
                }
                Some(CaptureMode::ByCopy)
                    if !is_reference && capture.init.is_none() && capture.name.name != "this" =>
                {
                    Some("'&' must precede a capture when the capture default is '='")
                }
                _ => None,
            };
            if let Some(message) = repeats {
                self.diagnostics.error("capture", capture.name.span, message);
            }
            let is_param =
                |param: &ast::Param| param.name.as_ref().is_some_and(|name| name.name == capture.name.name);
            if let Some(param) = lambda.params.iter().find(|param| is_param(param)) {
                let message = "a lambda parameter cannot shadow an explicitly captured entity";
                self.diagnostics.error("capture", param.span, message);
            }
            if captures.iter().any(|(name, ..)| *name == capture.name.name) {
                let message = format!("'{}' can appear only once in a capture list", capture.name.name);
                self.diagnostics.error("capture", capture.name.span, message);
                continue;
            }
            captures.push((capture.name.name.clone(), capture.mode, capture.init.as_ref()));
        }
        let Some(mode) = lambda.default_capture else { return captures };
        let mut names = Vec::new();
        names_in_block(&lambda.body, &mut names);
        for name in names {
            if captures.iter().any(|(captured, ..)| captured == name) {
                continue;
            }
            let symbol = self.tables.lookup(self.position.scope(), name).map(|found| found.symbol);
            if let Some(Symbol::Local(_) | Symbol::Capture(_)) = symbol {
                captures.push((name.clone(), mode, None));
            }
        }
        let has_this = self.function.this().is_some();
        if has_this && !captures.iter().any(|(name, ..)| name == "this") {
            captures.push((SmolStr::new_static("this"), mode, None));
        }
        captures
    }

    /// A captured variable, inside the lambda's body.
    pub(super) fn capture_place(&mut self, field: u32, span: Span) -> Expr {
        let closure = this_value(&self.function, &mut self.diagnostics, span);
        let object = self.tables.deref(closure, span);
        match self.tables.types().struct_id(object.ty.ty) {
            Some(class) => self.tables.field_of(object, class, class, field, span),
            None => Expr::error(span),
        }
    }

    /// The closure of the lambda whose body is checked.
    fn closure(&self) -> Option<&Closure> {
        let closure_ty = self.function.find_local(self.function.this()?)?.ty.ty;
        let class = self
            .tables
            .types()
            .pointee(closure_ty)
            .and_then(|pointee| self.tables.types().struct_id(pointee.ty))?;
        self.tables.class(class).closure.as_ref()
    }

    /// The values of captured constants, by field, in the body of a lambda.
    pub(super) fn known_captures(&self) -> Option<&[Option<Value>]> {
        self.closure().map(|closure| &*closure.known)
    }

    /// The surrounding `this`, where the lambda captured it.
    pub(super) fn captured_this(&mut self, span: Span) -> Option<Expr> {
        let field = self.closure()?.this_field?;
        let place = self.capture_place(field, span);
        Some(self.load(place))
    }

    /// The signature of a lambda for a call: `auto` parameters take the types of the arguments.
    pub(in crate::check) fn lambda_signature(
        &mut self,
        id: EntityId,
        lambda: &'a ast::Lambda,
        args: &[Operand<'a>],
    ) -> Result<(Vec<TemplateArg>, Rc<Signature<'a>>), String> {
        let mut targs = Vec::new();
        for (param, arg) in lambda.params.iter().zip(args) {
            if !contains_auto(&param.ty) {
                continue;
            }
            let Operand::Value(value) = arg else { return Err("the argument has no type".into()) };
            let is_reference = matches!(type_without_qualifiers(&param.ty), ast::TypeExprKind::Reference { .. });
            let actual = match is_reference {
                true => value.ty.in_space(if value.is_place { place_space(value) } else { AddressSpace::Thread }),
                false => QualTy::plain(self.tables.decayed(value.ty)),
            };
            let Some(auto) = self.tables.match_auto_to(&param.ty, value, actual) else {
                return Err(format!("could not match '{}'", self.tables.sources().text(param.span)));
            };
            targs.push(TemplateArg::Type(auto));
        }
        let signature = self.signature(id, &targs).ok_or("its declaration has errors")?;
        Ok((targs, signature))
    }

    /// The types of a lambda's parameters, `auto` replaced by the types that a call deduced.
    pub(in crate::check) fn lambda_param_type(
        &mut self,
        param: &'a ast::Param,
        autos: &mut std::slice::Iter<'_, TemplateArg>,
    ) -> QualTy {
        if !contains_auto(&param.ty) {
            return self.param_type(param);
        }
        let binding = match autos.next() {
            Some(TemplateArg::Type(ty)) => *ty,
            _ => QualTy::plain(Ty::DEPENDENT),
        };
        let saved = self.position.set_auto(Some(binding));
        let ty = self.param_type(param);
        self.position.set_auto(saved);
        ty
    }
}

impl<'a> Tables<'a> {
    fn add_capture(&mut self, class: crate::types::StructId, name: &SmolStr, ty: QualTy, span: Span) -> u32 {
        let name = name.clone();
        let field = Field {
            name,
            ty,
            offset: 0,
            min_align: 1,
            is_packed: false,
            is_mutable: false,
            bits: None,
            is_base: false,
            id: None,
            span,
        };
        self.types_mut().struct_mut(class).fields.push(field);
        self.class_mut(class).field_inits.push(None);
        self.class_mut(class).field_access.push(Access::Public);
        self.class(class).field_inits.len() as u32 - 1
    }
}
