//! Functions of the program, one for each set of template arguments.

use crate::check::Checker;
use crate::check::tables::{BodyState, EntityId, FunctionSource, Instance, Signature, Tables, TemplateArg};
use crate::program::{Function, FunctionId, Local, LocalId, TemplateArgument};
use crate::types::{AddressSpace, QualTy, Ty};
use smol_str::SmolStr;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// The program's function for an entity and its template arguments.
    pub(in crate::check) fn function_for(
        &mut self,
        entity: EntityId,
        args: Vec<TemplateArg>,
        signature: Rc<Signature<'a>>,
    ) -> FunctionId {
        if let Some(id) = self.tables.entity(entity).functions.get(&args) {
            return *id;
        }
        if let Some(by) = self.tables.specialization_of(entity, &args)
            && let Some(signature) = self.signature(by, &[])
        {
            return self.function_for(by, Vec::new(), signature);
        }
        let function = self.tables.new_function(entity, &args, &signature);
        let depth = self.function.depth() + usize::from(!args.is_empty());
        let body = BodyState::Unneeded;
        let instance = Instance { entity, args: args.clone(), signature, body, depth, request: None };
        let id = self.tables.add_function(function, instance);
        self.tables.entity_mut(entity).functions.insert(args, id);
        id
    }
}

impl<'a> Tables<'a> {
    pub(super) fn new_function(
        &mut self,
        entity: EntityId,
        args: &[TemplateArg],
        signature: &Signature<'a>,
    ) -> Function {
        let description = self.entity(entity);
        let has_args = description.header.is_some() && description.family.is_none();
        let text = if has_args { self.args_text(args) } else { String::new() };
        let name: SmolStr = format!("{}{}{text}", description.prefix, description.name).into();
        let builtin = description.builtin.clone();
        let span = description.span;
        let no_inline = description
            .source
            .first()
            .is_some_and(|decl| decl.attributes.iter().any(|attribute| attribute.name == "noinline"));
        let is_lambda = matches!(description.source, FunctionSource::Lambda(_));
        let is_constexpr = is_lambda
            || description.source.first().is_some_and(|decl| decl.specifiers.is_constexpr)
            || description.source.latest().is_some_and(|decl| decl.specifiers.is_constexpr);
        let builtin_args = match builtin.is_some() && has_args {
            true => args.iter().filter_map(builtin_argument).collect(),
            false => Vec::new(),
        };
        let mut locals = Vec::new();
        if let Some(this) = signature.this {
            let ty = QualTy::plain(self.types_mut().pointer(this)).constant();
            locals.push(Local { name: "this".into(), ty, space: AddressSpace::Thread, min_align: 1, span });
        }
        for param in &signature.params {
            let name = param.name.map(|name| name.name.clone()).unwrap_or_default();
            locals.push(Local { name, ty: param.ty, space: AddressSpace::Thread, min_align: 1, span: param.span });
        }
        Function {
            name,
            builtin,
            builtin_args,
            params: (0..locals.len() as u32).map(LocalId).collect(),
            result: signature.result.unwrap_or(Ty::DEPENDENT),
            locals,
            body: None,
            is_constexpr,
            no_inline,
            fp_pragmas: Vec::new(),
            span,
        }
    }
}

fn builtin_argument(arg: &TemplateArg) -> Option<TemplateArgument> {
    Some(match arg {
        TemplateArg::Type(ty) => TemplateArgument::Type(*ty),
        arg => TemplateArgument::Value(arg.constant()?.1),
    })
}
