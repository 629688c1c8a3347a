//! Signatures: the parameters and result of a function, for given template arguments.

use crate::check::Checker;
use crate::check::initialization::contains_auto;
use crate::check::names::adjust_param_type;
use crate::check::state::{Diagnostics, FunctionStart, FunctionState};
use crate::check::tables::{EntityId, FunctionSource, Signature, SignatureParam, Symbol, TemplateArg};
use crate::parse::ast::{self, FunctionKind, TypeExprKind};
use crate::program::{Local, LocalId};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use std::collections::HashSet;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// The signature for these template arguments; `None` if they are invalid. Reports the error the first time.
    pub(in crate::check) fn signature(&mut self, id: EntityId, args: &[TemplateArg]) -> Option<Rc<Signature<'a>>> {
        if let Some(known) = self.tables.entity(id).signatures.get(args) {
            return known.clone();
        }
        let signature = self.make_signature(id, args).map(Rc::new);
        self.tables.entity_mut(id).signatures.insert(args.to_vec(), signature.clone());
        signature
    }

    fn make_signature(&mut self, id: EntityId, args: &[TemplateArg]) -> Option<Signature<'a>> {
        let entity = self.tables.entity(id);
        let (source, declared_in, class, span) = (entity.source, entity.scope, entity.class, entity.span);
        let scope = match self.tables.entity(id).header {
            Some(header) => self.bind_all(header, args, declared_in),
            None => declared_in,
        };
        let before = self.diagnostics.mark();
        let params = self.in_scope(scope, |this| match source {
            FunctionSource::Declared { .. } => this.signature_params(source.params(), &[], true),
            FunctionSource::Lambda(_) => this.signature_params(source.params(), args, false),
        });
        if self.tables.entity(id).header.is_none() {
            check_param_list(&mut self.diagnostics, source.params());
        }
        let result = self.in_scope(scope, |this| match source {
            FunctionSource::Declared { declaration, .. } => match &declaration.kind {
                FunctionKind::Constructor => Some(Ty::VOID),
                _ => this.result_type_among(&declaration.result, source.params(), &params),
            },
            FunctionSource::Lambda(lambda) => lambda.result.as_ref().and_then(|written| this.result_type(written)),
        });
        let this = match (class, source) {
            (Some(class), FunctionSource::Declared { declaration, .. }) if !declaration.specifiers.is_static => {
                let quals = declaration.method_quals;
                let space = quals.space.unwrap_or(AddressSpace::Thread);
                let ty = self.tables.struct_type(class);
                let (is_const, is_volatile) = (quals.is_const, quals.is_volatile);
                Some(QualTy { is_const, is_volatile, ..QualTy::plain(ty).in_space(space) })
            }
            (Some(class), FunctionSource::Lambda(lambda)) => {
                let ty = self.tables.struct_type(class);
                let is_const = !lambda.is_mutable;
                Some(QualTy { is_const, ..QualTy::plain(ty).in_space(AddressSpace::Thread) })
            }
            _ => None,
        };
        let result = match result {
            Some(ty) if matches!(self.tables.types().kind(ty), TyKind::Array { .. } | TyKind::Function { .. }) => {
                let message = format!("function cannot return type '{}'", self.tables.name_of(ty));
                self.diagnostics.error("return-type", span, message);
                None?
            }
            result => result,
        };
        let failed = self.diagnostics.has_errors_since(before);
        // An ordinary function with a mistake in its parameters still has a body to check.
        let is_plain = self.tables.entity(id).header.is_none();
        (!failed || is_plain).then_some(Signature { params, result, this, scope })
    }

    /// `-> decltype(x + y)` sees the parameters.
    fn result_type_among(
        &mut self,
        written: &'a ast::TypeExpr,
        params: &'a [ast::Param],
        types: &[SignatureParam<'a>],
    ) -> Option<Ty> {
        if !contains_decltype(written) {
            return self.result_type(written);
        }
        let local = |param: &SignatureParam<'a>| Local {
            name: param.name.map(|name| name.name.clone()).unwrap_or_default(),
            ty: param.ty,
            space: AddressSpace::Thread,
            min_align: 1,
            span: param.span,
        };
        let state = FunctionState::new(FunctionStart {
            locals: types.iter().map(local).collect(),
            ..FunctionStart::default()
        });
        let outer = std::mem::replace(&mut self.function, state);
        let result = self.in_block(|this| {
            let mut ids = (0..types.len() as u32).map(LocalId);
            for param in params {
                let is_pack = param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_));
                let symbol = match is_pack {
                    true => {
                        let count = types.iter().filter(|other| other.pack.is_some()).count();
                        Some(Symbol::LocalPack(ids.by_ref().take(count).collect()))
                    }
                    false => ids.next().map(Symbol::Local),
                };
                if let (Some(name), Some(symbol)) = (&param.name, symbol) {
                    this.tables.scopes_mut().insert(this.position.scope(), name.name.clone(), symbol);
                }
            }
            this.result_type(written)
        });
        self.function = outer;
        result
    }

    /// `None` while `auto` is not deduced.
    fn result_type(&mut self, written: &'a ast::TypeExpr) -> Option<Ty> {
        if contains_auto(written) {
            return None;
        }
        let ty = self.resolve_type(written);
        refuse_space_of_value(&mut self.diagnostics, ty, "return type", written.span);
        Some(ty.ty)
    }

    fn signature_params(
        &mut self,
        params: &'a [ast::Param],
        autos: &[TemplateArg],
        is_declared: bool,
    ) -> Vec<SignatureParam<'a>> {
        let mut autos = autos.iter();
        let mut result = Vec::with_capacity(params.len());
        for param in params {
            // `f(void)`
            if params.len() == 1
                && param.name.is_none()
                && matches!(param.ty.kind, TypeExprKind::Builtin(ast::BuiltinType::Void))
            {
                break;
            }
            if param.is_pack || matches!(param.ty.kind, TypeExprKind::PackExpansion(_)) {
                let pattern = match &param.ty.kind {
                    TypeExprKind::PackExpansion(inner) => &**inner,
                    _ => &param.ty,
                };
                let Some(bindings) = self.pack_bindings_in_type(pattern, param.span) else { continue };
                for binding in bindings {
                    let scope = self.tables.pack_scope(self.position.scope(), &binding);
                    let ty = self.in_scope(scope, |this| this.resolve_type(pattern));
                    let ty = adjust_param_type(&mut self.tables, &mut self.diagnostics, ty, param.span);
                    let span = param.span;
                    result.push(SignatureParam { ty, name: None, default: None, pack: param.name.as_ref(), span });
                }
                continue;
            }
            let ty = self.lambda_param_type(param, &mut autos);
            refuse_space_of_value(&mut self.diagnostics, ty, "parameter", param.span);
            if is_declared && contains_auto(&param.ty) {
                self.diagnostics.error("auto-not-allowed", param.span, "'auto' not allowed in function prototype");
            }
            if ty.ty == Ty::VOID {
                let message = "argument may not have 'void' type";
                self.diagnostics.error("void", param.span, message);
            }
            let (name, default) = (param.name.as_ref(), param.default.as_ref());
            result.push(SignatureParam { ty, name, default, pack: None, span: param.span });
        }
        result
    }
}

fn check_param_list(diagnostics: &mut Diagnostics, params: &[ast::Param]) {
    let mut names = HashSet::new();
    for name in params.iter().filter_map(|param| param.name.as_ref()) {
        if !names.insert(&name.name) {
            diagnostics.error("redefinition", name.span, format!("redefinition of parameter '{}'", name.name));
        }
    }
}

/// Refuses `device float x` as a parameter: only the target of a pointer is in an address space.
fn refuse_space_of_value(diagnostics: &mut Diagnostics, ty: QualTy, what: &str, span: Span) {
    let space = ty.space.filter(|space| *space != AddressSpace::Thread);
    if space.is_some() && !ty.ty.is_unknown() {
        diagnostics.error("address-space", span, format!("{what} may not be qualified with an address space"));
    }
}

pub(in crate::check) fn type_without_qualifiers(written: &ast::TypeExpr) -> &TypeExprKind {
    match &written.kind {
        TypeExprKind::Qualified { inner, .. } => type_without_qualifiers(inner),
        kind => kind,
    }
}

fn contains_decltype(written: &ast::TypeExpr) -> bool {
    match &written.kind {
        TypeExprKind::Decltype(_) | TypeExprKind::Typeof(_) => true,
        TypeExprKind::Qualified { inner, .. }
        | TypeExprKind::Pointer(inner)
        | TypeExprKind::Reference { inner, .. }
        | TypeExprKind::PackExpansion(inner) => contains_decltype(inner),
        TypeExprKind::Named(path) => path.segments.iter().any(|segment| {
            segment.name == "decltype"
                || segment.args.iter().flatten().any(|arg| match arg {
                    ast::TemplateArg::Type(ty) => contains_decltype(ty),
                    ast::TemplateArg::Expr(_) => false,
                })
        }),
        _ => false,
    }
}
