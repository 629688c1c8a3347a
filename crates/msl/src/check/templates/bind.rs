//! Template parameters bound to arguments in a scope of their own.

use crate::check::Checker;
use crate::check::tables::{ScopeId, ScopeKind, Symbol, Tables, TemplateArg};
use crate::parse::ast::{self, TemplateParamKind};
use crate::program::Value;
use crate::types::{QualTy, Ty};

impl<'a> Checker<'a> {
    /// Binds a parameter's name to its argument in `scope`.
    pub(in crate::check) fn bind_param(
        &mut self,
        scope: ScopeId,
        param: &'a ast::TemplateParam,
        arg: &TemplateArg,
    ) {
        let Some(name) = &param.name else { return };
        let symbol = match arg {
            TemplateArg::Type(ty) => Symbol::Type(*ty),
            TemplateArg::Int(..) | TemplateArg::Object(..) => {
                let (ty, value) = arg.constant().unwrap_or((Ty::ERROR, Value::Unknown));
                Symbol::Value(ty, value)
            }
            TemplateArg::Function(id) => {
                let method = self.tables.method_pointer_type(*id);
                let ty = method.unwrap_or_else(|| self.tables.function_pointer_type(*id));
                Symbol::Value(ty, Value::Function(*id))
            }
            TemplateArg::Template(id) => Symbol::ClassTemplate(*id),
            TemplateArg::Pack(args) => Symbol::Pack(args.clone()),
            TemplateArg::UnknownValue => match &param.kind {
                TemplateParamKind::Value { ty, .. }
                    if !matches!(ty.kind, ast::TypeExprKind::Auto | ast::TypeExprKind::DecltypeAuto) =>
                {
                    let resolved = self.attempt(|this| this.in_scope(scope, |this| this.value_param_type(ty)));
                    let ty = resolved.ok().flatten().flatten().unwrap_or(Ty::DEPENDENT);
                    Symbol::Value(ty, Value::Unknown)
                }
                _ => Symbol::Dependent,
            },
        };
        self.tables.scopes_mut().insert(scope, name.name.clone(), symbol);
    }

    /// A scope below `parent` in which the parameters of `header` are bound to `args`.
    pub(in crate::check) fn bind_all(
        &mut self,
        header: &'a ast::TemplateHeader,
        args: &[TemplateArg],
        parent: ScopeId,
    ) -> ScopeId {
        let scope = self.tables.scopes_mut().add(parent, ScopeKind::Template);
        for (param, arg) in header.params.iter().zip(args) {
            self.bind_param(scope, param, arg);
        }
        scope
    }
}

impl<'a> Tables<'a> {
    /// Unknown arguments, for the check of a template as written.
    pub(in crate::check) fn unknown_args(&self, header: &ast::TemplateHeader) -> Vec<TemplateArg> {
        let unknown = |param: &ast::TemplateParam| match param.kind {
            TemplateParamKind::Type { .. } => TemplateArg::Type(QualTy::plain(Ty::DEPENDENT)),
            TemplateParamKind::Value { .. } | TemplateParamKind::Template { .. } => TemplateArg::UnknownValue,
        };
        let arg = |param: &ast::TemplateParam| match param.is_pack {
            true => TemplateArg::Pack(vec![unknown(param)]),
            false => unknown(param),
        };
        header.params.iter().map(arg).collect()
    }
}
