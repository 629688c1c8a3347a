//! Entry points: what kernels may look like, what their parameters are bound to, and explicit instantiations of them.

use super::attributes::{InputKind, builtin_input};
use super::scope::Symbol;
use super::{Checker, EntityId, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Stage};
use crate::program::{Binding, BindingKind, EntryPoint, FunctionId, GlobalId, LocalId};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

/// Indices of one kind of argument: given, then filled up in order.
#[derive(Default)]
struct Slots {
    taken: Vec<(u32, SmolStr, Span, bool)>,
}

/// Buffers 0 to 30, textures 0 to 127, samplers 0 to 15, threadgroup memory 0 to 30.
const MAX_BUFFER: u32 = 30;
const MAX_TEXTURE: u32 = 127;
const MAX_SAMPLER: u32 = 15;

/// What a parameter is, by its type alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParamClass {
    Buffer,
    Threadgroup,
    Texture,
    Sampler,
    Other,
}

impl<'a> Checker<'a> {
    /// Makes a function that is marked as a kernel, or a graphics function, one of the program's entry points.
    pub(super) fn declare_entry_point(&mut self, entity: EntityId, id: FunctionId) {
        let Some(decl) = self.entity(entity).source.latest() else { return };
        let Some(stage) =
            self.entity(entity).source.first().and_then(|d| d.specifiers.stage).or(decl.specifiers.stage)
        else {
            return;
        };
        if decl.body.is_none() || self.entity(entity).class.is_some() {
            return;
        }
        let name = self.host_name(&decl.attributes).unwrap_or_else(|| self.program.function(id).name.clone());
        let span = self.entity(entity).span;
        self.add_entry_point(entity, id, stage, name, span);
    }

    fn host_name(&mut self, attributes: &'a [ast::Attribute]) -> Option<SmolStr> {
        let attribute = attributes.iter().find(|attribute| attribute.name == "host_name")?;
        match &*attribute.args {
            [ast::Expr { kind: ast::ExprKind::Str(name), .. }] => Some(name.clone()),
            _ => {
                self.error("host-name", attribute.span, "'host_name' attribute requires a string");
                None
            }
        }
    }

    fn add_entry_point(&mut self, entity: EntityId, id: FunctionId, stage: Stage, name: SmolStr, span: Span) {
        if let Some(other) = self.program.entry_points.iter().find(|entry| entry.name == name) {
            let message = format!("two functions have the name '{name}'");
            let diagnostic = Diagnostic::error("duplicate-entry-point", span, message);
            let diagnostic = diagnostic.note(other.span, "the other one is here");
            self.report(diagnostic);
            return;
        }
        let Some(decl) = self.entity(entity).source.latest() else { return };
        if stage == Stage::Kernel {
            let result = self.program.function(id).result;
            if result != Ty::VOID && !result.is_unknown() {
                let message =
                    format!("kernel function '{name}' must return 'void', not '{}'", self.name_of(result));
                self.error("kernel-result", decl.result.span, message);
            }
        }
        let scope = self.instances[id.0 as usize].signature.scope;
        let (bindings, max_total_threads) =
            self.in_scope(scope, |this| (this.bind_params(id, decl, stage), this.max_total_threads(decl)));
        self.program.entry_points.push(EntryPoint { name, stage, function: id, bindings, max_total_threads, span });
    }

    fn max_total_threads(&mut self, decl: &'a ast::FunctionDecl) -> Option<u32> {
        let attribute = decl.attributes.iter().find(|a| a.name == "max_total_threads_per_threadgroup")?;
        let value = self.attribute_index(attribute, 1024)?;
        if value == 0 {
            self.error("attribute-range", attribute.span, "max_total_threads_per_threadgroup must be at least 1");
            return None;
        }
        Some(value)
    }

    fn bind_params(&mut self, id: FunctionId, decl: &'a ast::FunctionDecl, stage: Stage) -> Vec<Binding> {
        let types: Vec<QualTy> = {
            let function = self.program.function(id);
            function.params.iter().map(|param| function.locals[param.0 as usize].ty).collect()
        };
        let mut slots: [Slots; 4] = Default::default();
        let mut kinds: Vec<Option<BindingKind>> = Vec::new();
        let mut conditions = Vec::new();
        let mut classes = Vec::new();
        let mut grid_width: Option<(u8, Span)> = None;
        // First what is given, then the rest in order: automatic indices avoid those that are taken.
        for (param, &ty) in decl.params.iter().zip(&types) {
            self.complete_type(ty.ty);
            let pointee = match *self.types().kind(ty.ty) {
                TyKind::Pointer(to) | TyKind::Reference { to, .. } => to.ty,
                _ => ty.ty,
            };
            self.complete_type(pointee);
            let class = self.param_class(ty.ty);
            let condition = self.condition_of(param);
            kinds.push(self.given_binding(
                param,
                ty,
                class,
                stage,
                condition.is_some(),
                &mut slots,
                &mut grid_width,
            ));
            conditions.push(condition);
            classes.push(class);
        }
        let mut bindings = Vec::new();
        for (index, param) in decl.params.iter().enumerate().take(types.len()) {
            let kind = match kinds[index].take() {
                Some(kind) => kind,
                None => {
                    let slot = match classes[index] {
                        ParamClass::Buffer => 0,
                        ParamClass::Threadgroup => 1,
                        ParamClass::Texture => 2,
                        ParamClass::Sampler => 3,
                        ParamClass::Other => {
                            bindings.push(self.unbound(
                                param,
                                types[index],
                                LocalId(index as u32),
                                stage,
                                conditions[index],
                            ));
                            continue;
                        }
                    };
                    let next = slots[slot].next_free();
                    let name = param.name.as_ref().map(|name| name.name.clone()).unwrap_or_default();
                    slots[slot].taken.push((next, name, param.span, conditions[index].is_some()));
                    match classes[index] {
                        ParamClass::Buffer => {
                            if next > MAX_BUFFER {
                                self.error(
                                    "buffer-index",
                                    param.span,
                                    format!("there are only {} buffers", MAX_BUFFER + 1),
                                );
                            }
                            BindingKind::Buffer(next)
                        }
                        ParamClass::Threadgroup => BindingKind::Threadgroup(next),
                        ParamClass::Texture => BindingKind::Texture(next),
                        _ => BindingKind::Sampler(next),
                    }
                }
            };
            bindings.push(Binding { param: LocalId(index as u32), kind, condition: conditions[index] });
        }
        bindings
    }

    /// A parameter that nothing is bound to.
    fn unbound(
        &mut self,
        param: &'a ast::Param,
        ty: QualTy,
        id: LocalId,
        stage: Stage,
        condition: Option<GlobalId>,
    ) -> Binding {
        let binding = Binding { param: id, kind: BindingKind::Other(SmolStr::default()), condition };
        let known_attribute = param.attributes.iter().any(|a| a.name != "function_constant");
        if stage == Stage::Kernel && !ty.ty.is_unknown() && !known_attribute {
            let shown = self.name_of_qual(ty);
            let message = format!("invalid type '{shown}' for input declaration in a kernel function");
            let span = param.name.as_ref().map_or(param.span, |name| name.span);
            let diagnostic = Diagnostic::error("kernel-parameter", span, message);
            let hint = "a kernel takes pointers and references to device, constant or threadgroup memory, textures, \
                        samplers, and built-in values with an attribute such as [[thread_position_in_grid]]";
            self.report(diagnostic.note(span, hint));
        }
        binding
    }

    fn param_class(&self, ty: Ty) -> ParamClass {
        match *self.types().kind(ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => match to.space {
                Some(AddressSpace::Device | AddressSpace::Constant) => ParamClass::Buffer,
                Some(AddressSpace::Threadgroup) => ParamClass::Threadgroup,
                _ => ParamClass::Other,
            },
            TyKind::Struct(id) if self.types().struct_(id).is_opaque => {
                if self.types().struct_(id).name.starts_with("sampler") {
                    ParamClass::Sampler
                } else {
                    ParamClass::Texture
                }
            }
            // `array<texture2d<float>, 4>`
            TyKind::Struct(id) => match &*self.types().struct_(id).fields {
                [field] => match *self.types().kind(field.ty.ty) {
                    TyKind::Array { element, .. } => match self.param_class(element) {
                        class @ (ParamClass::Texture | ParamClass::Sampler) => class,
                        _ => ParamClass::Other,
                    },
                    _ => ParamClass::Other,
                },
                _ => ParamClass::Other,
            },
            _ => ParamClass::Other,
        }
    }

    /// `[[function_constant(name)]]`
    fn condition_of(&mut self, param: &'a ast::Param) -> Option<GlobalId> {
        let attribute = param.attributes.iter().find(|attribute| attribute.name == "function_constant")?;
        let [arg] = &*attribute.args else {
            self.error(
                "attribute",
                attribute.span,
                "'function_constant' attribute takes the name of a function constant",
            );
            return None;
        };
        let checked = self.check_expr(arg);
        if checked.ty.ty.is_unknown() {
            return None;
        }
        let is_bool = checked.ty.ty == Ty::BOOL;
        match checked.kind {
            crate::program::ExprKind::Global(id) if is_bool => {
                let global = self.program.global(id);
                if global.function_constant.is_some() || global.init.is_some() {
                    return Some(id);
                }
                // A constant that is always true or false needs no condition at run time; refuse it like Apple's.
                self.error(
                    "function-constant",
                    arg.span,
                    "the condition of an argument must be a function constant",
                );
                None
            }
            _ => {
                self.error(
                    "function-constant",
                    arg.span,
                    "the condition of an argument must be a function constant of type 'bool'",
                );
                None
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the state of binding one kernel's parameters")]
    fn given_binding(
        &mut self,
        param: &'a ast::Param,
        ty: QualTy,
        class: ParamClass,
        stage: Stage,
        conditional: bool,
        slots: &mut [Slots; 4],
        grid_width: &mut Option<(u8, Span)>,
    ) -> Option<BindingKind> {
        let mut result = None;
        for attribute in &param.attributes {
            let name = attribute.name.as_str();
            if name == "function_constant" || self.refuse_unknown_input(attribute) {
                continue;
            }
            let (slot, most, wanted) = match name {
                "buffer" => (0, MAX_BUFFER, ParamClass::Buffer),
                "threadgroup" => (1, MAX_BUFFER, ParamClass::Threadgroup),
                "texture" => (2, MAX_TEXTURE, ParamClass::Texture),
                "sampler" => (3, MAX_SAMPLER, ParamClass::Sampler),
                "maybe_unused" | "unused" => continue,
                _ => {
                    if let (Some(_), Some(BindingKind::Builtin(other))) = (builtin_input(name), &result) {
                        let message = format!("'{name}' and '{other}' attributes are not compatible");
                        self.error("attribute", attribute.span, message);
                        continue;
                    }
                    if let Some(kind) = builtin_input(name) {
                        if stage == Stage::Kernel {
                            self.check_builtin_type(kind, attribute, ty, grid_width);
                        }
                        result = Some(BindingKind::Builtin(attribute.name.clone()));
                    } else {
                        result = Some(BindingKind::Other(attribute.name.clone()));
                    }
                    continue;
                }
            };
            let index = self.attribute_index(attribute, most);
            if class != wanted && !ty.ty.is_unknown() {
                let message = format!(
                    "'{name}' attribute cannot be applied to a parameter of type '{}'",
                    self.name_of(ty.ty)
                );
                self.error("attribute-type", attribute.span, message);
            }
            let index = index?;
            let param_name = param.name.as_ref().map(|name| name.name.clone()).unwrap_or_default();
            if let Some((_, other, span, _)) =
                slots[slot].taken.iter().find(|(taken, _, _, other)| *taken == index && !(*other && conditional))
            {
                let message =
                    format!("cannot reserve '{name}' resource location at index {index}: '{other}' has it");
                let diagnostic = Diagnostic::error("duplicate-index", attribute.span, message);
                let diagnostic = diagnostic.note(*span, format!("'{other}' is declared here"));
                self.report(diagnostic);
            }
            slots[slot].taken.push((index, param_name, param.span, conditional));
            result = Some(match name {
                "buffer" => BindingKind::Buffer(index),
                "threadgroup" => BindingKind::Threadgroup(index),
                "texture" => BindingKind::Texture(index),
                _ => BindingKind::Sampler(index),
            });
        }
        result
    }

    fn check_builtin_type(
        &mut self,
        kind: InputKind,
        attribute: &'a ast::Attribute,
        ty: QualTy,
        grid_width: &mut Option<(u8, Span)>,
    ) {
        if ty.ty.is_unknown() {
            return;
        }
        let (element, width) = self.types().vector_parts(ty.ty).unwrap_or((ty.ty, 1));
        let is_packed = matches!(self.types().kind(ty.ty), TyKind::PackedVector { .. });
        let most = if kind == InputKind::Grid { 3 } else { 1 };
        if !matches!(element, Ty::UINT | Ty::USHORT) || width > most || is_packed {
            let allowed = match kind {
                InputKind::Grid => "'ushort', 'ushort2', 'ushort3', 'uint', 'uint2' or 'uint3'",
                InputKind::Scalar => "'ushort' or 'uint'",
            };
            let message = format!(
                "type '{}' is not valid for attribute '{}': it must be {allowed}",
                self.name_of(ty.ty),
                attribute.name
            );
            self.error("attribute-type", attribute.span, message);
            return;
        }
        if kind == InputKind::Grid && width > 1 {
            match *grid_width {
                Some((other, span)) if other != width => {
                    let message = format!(
                        "'{}' has {width} components, but another position or size of this kernel has {other}: \
                         vectors must have the same number",
                        attribute.name
                    );
                    let diagnostic = Diagnostic::error("attribute-type", attribute.span, message);
                    self.report(diagnostic.note(span, "the other one is here"));
                }
                Some(_) => {}
                None => *grid_width = Some((width, attribute.span)),
            }
        }
    }

    // --- explicit instantiation --------------------------------------------------------------------------------

    /// `template [[host_name("…")]] kernel void f<float>(…);`
    pub(super) fn declare_instantiation(&mut self, instantiation: &'a ast::InstantiationDecl) {
        let path = &instantiation.name;
        let found = match self.resolve_path(path) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.undeclared(path, false);
                return;
            }
            Err(()) => return,
        };
        let entities = match found.symbol {
            Symbol::Functions(entities) => entities,
            Symbol::ClassTemplate(_) | Symbol::Type(_) => {
                let last = path.last();
                let ty = self.symbol_as_type(&found.symbol, last.args.as_deref(), last.span);
                self.complete_type(ty.ty);
                return;
            }
            _ => {
                let message =
                    format!("explicit instantiation of '{}' does not refer to a template", path.last().name);
                self.error("instantiation", path.span, message);
                return;
            }
        };
        if instantiation.is_extern {
            return;
        }
        let Some(written) = &instantiation.ty else { return };
        let ty = self.resolve_type(written);
        if ty.ty.is_unknown() {
            return;
        }
        let TyKind::Function { result, params } = self.types().kind(ty.ty).clone() else {
            let message = format!(
                "explicit instantiation of '{}' needs a function type, not '{}'",
                path.last().name,
                self.name_of(ty.ty)
            );
            self.error("instantiation", path.span, message);
            return;
        };
        let params: Vec<QualTy> = params.into_iter().map(QualTy::plain).collect();
        self.instantiate_function(&entities, instantiation, result, &params);
    }

    fn instantiate_function(
        &mut self,
        entities: &[EntityId],
        instantiation: &'a ast::InstantiationDecl,
        result: Ty,
        params: &[QualTy],
    ) {
        let path = &instantiation.name;
        let explicit = path.last().args.as_deref();
        let mut matches: Vec<(EntityId, Vec<TemplateArg>)> = Vec::new();
        for &entity in entities {
            if self.entity(entity).family.is_some() {
                continue;
            }
            if let Some(args) = self.deduce_from_types(entity, explicit, params, Some(result)) {
                matches.push((entity, args));
            }
        }
        let Some((entity, args)) = matches.into_iter().next() else {
            let name = &path.last().name;
            let message =
                format!("explicit instantiation of '{name}' does not refer to a function template that fits");
            let mut diagnostic = Diagnostic::error("instantiation", path.span, message);
            for &entity in entities.iter().take(4) {
                let reason = self.refusal(entity, explicit, params);
                diagnostic =
                    diagnostic.note(self.entity(entity).span, format!("candidate template ignored: {reason}"));
            }
            self.report(diagnostic);
            return;
        };
        let Some(signature) = self.signature(entity, &args) else { return };
        let id = self.function_for(entity, args, signature);
        if let Some(earlier) = self.program.entry_points.iter().find(|entry| entry.function == id) {
            let name = self.program.function(id).name.clone();
            let message = format!("duplicate explicit instantiation of '{name}'");
            let diagnostic = Diagnostic::error("instantiation", path.span, message);
            let diagnostic = diagnostic.note(earlier.span, "previous explicit instantiation is here");
            self.report(diagnostic);
            return;
        }
        let actual = self.result_of(id, path.span);
        if actual != result && !actual.is_unknown() && !result.is_unknown() {
            let message = format!(
                "explicit instantiation of '{}' returns '{}', but the template returns '{}'",
                path.last().name,
                self.name_of(result),
                self.name_of(actual)
            );
            self.error("instantiation", path.span, message);
            return;
        }
        self.request(id, path.span);
        self.need_body(id);
        let stage = instantiation
            .specifiers
            .stage
            .or_else(|| self.entity(entity).source.first().and_then(|decl| decl.specifiers.stage));
        let Some(stage) = stage else { return };
        let name =
            self.host_name(&instantiation.attributes).unwrap_or_else(|| self.program.function(id).name.clone());
        let at = path.span;
        self.add_entry_point(entity, id, stage, name, at);
    }

    fn refusal(&mut self, entity: EntityId, explicit: Option<&'a [ast::TemplateArg]>, params: &[QualTy]) -> String {
        let Some(header) = self.entity(entity).header else { return "it is not a template".into() };
        let count = self.entity(entity).source.params().len();
        if count != params.len() {
            return format!("it has {count} parameters, not {}", params.len());
        }
        let Some(explicit) = explicit else { return "its arguments cannot be deduced".into() };
        let scope = self.entity(entity).scope;
        let name = self.entity(entity).name.clone();
        let span = self.entity(entity).span;
        let fitted = self.attempt(|this| this.fit_template_args(&[header], scope, explicit, span, &name));
        match fitted {
            Err(first) => first.message,
            Ok(Some(args)) => match self.signature(entity, &args) {
                Some(signature) => {
                    let differs = signature.params.iter().zip(params).position(|(a, b)| a.ty.ty != b.ty);
                    match differs {
                        Some(index) => format!(
                            "parameter {} is '{}', not '{}'",
                            index + 1,
                            self.name_of(signature.params[index].ty.ty),
                            self.name_of(params[index].ty)
                        ),
                        None => "its arguments cannot be deduced".into(),
                    }
                }
                None => "substitution failed".into(),
            },
            Ok(None) => "its arguments do not fit".into(),
        }
    }
}

impl Slots {
    fn next_free(&self) -> u32 {
        (0..).find(|index| self.taken.iter().all(|(taken, ..)| taken != index)).unwrap_or(u32::MAX)
    }
}
