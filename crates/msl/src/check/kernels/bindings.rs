//! Bindings: the resource or built-in value behind each parameter of a kernel.

use super::StageKind;
use super::inputs::{InputKind, builtin_input, is_input, refuse_input};
use super::stages::check_value;
use super::written::names_template;
use crate::check::Checker;
use crate::check::classes::ResourceKind;
use crate::check::declarations::type_without_qualifiers;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Stage, TypeExprKind};
use crate::program::{Binding, BindingKind, FunctionId, GlobalId, LocalId};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// Indices of one kind of argument: explicit ones, then automatic ones in order.
#[derive(Default)]
struct Slots {
    /// For each index the arguments there; true for those under a condition.
    taken: HashMap<u32, Vec<(SmolStr, Span, bool)>>,
    /// No index below this one is free.
    first_free: u32,
}

/// Buffers 0 to 30, textures 0 to 127, samplers 0 to 15, threadgroup memory 0 to 30.
const MAX_BUFFER: u32 = 30;

const MAX_TEXTURE: u32 = 127;

const MAX_SAMPLER: u32 = 15;

/// Kind of resource, by the type of the parameter alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParamClass {
    Buffer,
    FunctionTable,
    Threadgroup,
    Texture,
    Sampler,
    Other,
}

impl<'a> Checker<'a> {
    pub(super) fn bind_params(
        &mut self,
        id: FunctionId,
        decl: &'a ast::FunctionDecl,
        stage: Stage,
    ) -> Vec<Binding> {
        let types: Vec<QualTy> = {
            let function = self.tables.function(id);
            function.params.iter().map(|param| function.locals[param.0 as usize].ty).collect()
        };
        let mut slots: [Slots; 4] = Default::default();
        let mut kinds: Vec<Option<BindingKind>> = Vec::new();
        let mut conditions = Vec::new();
        let mut classes = Vec::new();
        let mut grid_width: Option<(u8, Span)> = None;
        // Explicit indices first, then automatic ones in order, which avoid those that are taken.
        for (param, &ty) in decl.params.iter().zip(&types) {
            self.complete_type(ty.ty);
            let pointee = match *self.tables.types().kind(ty.ty) {
                TyKind::Pointer(to) | TyKind::Reference { to, .. } => to.ty,
                _ => ty.ty,
            };
            self.complete_type(pointee);
            let class = self.tables.param_class(ty.ty);
            let condition = self.condition_of(param);
            kinds.push(self.given_binding(
                param,
                ty,
                class,
                StageKind::of(stage, decl),
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
                        ParamClass::Buffer | ParamClass::FunctionTable => 0,
                        ParamClass::Threadgroup => 1,
                        ParamClass::Texture => 2,
                        ParamClass::Sampler => 3,
                        ParamClass::Other => {
                            bindings.push(unbound(
                                &self.tables,
                                &mut self.diagnostics,
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
                    slots[slot].take(next, name, param.span, conditions[index].is_some());
                    match classes[index] {
                        class @ (ParamClass::Buffer | ParamClass::FunctionTable) => {
                            if next > MAX_BUFFER {
                                self.diagnostics.error(
                                    "buffer-index",
                                    param.span,
                                    format!("there are only {} buffers", MAX_BUFFER + 1),
                                );
                            }
                            buffer_binding(class, next)
                        }
                        ParamClass::Threadgroup => BindingKind::Threadgroup(next),
                        ParamClass::Texture => BindingKind::Texture(next),
                        _ => BindingKind::Sampler(next),
                    }
                }
            };
            let array_len = self.array_len(param, types[index]);
            let names_template = names_template(&self.tables, self.position.scope(), &param.ty);
            let (param, condition) = (LocalId(index as u32), conditions[index]);
            bindings.push(Binding { param, kind, condition, array_len, names_template });
        }
        bindings
    }

    /// The length of a parameter that is written as an array, whose type `ty` is that of a pointer.
    fn array_len(&mut self, param: &'a ast::Param, ty: QualTy) -> Option<u64> {
        let is_pointer = matches!(self.tables.types().kind(ty.ty), TyKind::Pointer(_));
        if !is_pointer || matches!(type_without_qualifiers(&param.ty), TypeExprKind::Pointer(_)) {
            return None;
        }
        let written = self.resolve_type(&param.ty);
        match *self.tables.types().kind(written.ty) {
            TyKind::Array { len, .. } => len,
            _ => None,
        }
    }

    /// `[[function_constant(name)]]`
    fn condition_of(&mut self, param: &'a ast::Param) -> Option<GlobalId> {
        let attribute = param.attributes.iter().find(|attribute| attribute.name == "function_constant")?;
        let [arg] = &*attribute.args else {
            self.diagnostics.error(
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
                let global = self.tables.global(id);
                if global.function_constant.is_some() || global.init.is_some() {
                    return Some(id);
                }
                // A constant that is always true or false needs no condition at run time; Apple's compiler refuses
                // it, too.
                self.diagnostics.error(
                    "function-constant",
                    arg.span,
                    "the condition of an argument must be a function constant",
                );
                None
            }
            _ => {
                self.diagnostics.error(
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
        kind_of_stage: StageKind,
        conditional: bool,
        slots: &mut [Slots; 4],
        grid_width: &mut Option<(u8, Span)>,
    ) -> Option<BindingKind> {
        let mut result = None;
        for attribute in &param.attributes {
            let name = attribute.name.as_str();
            if name == "function_constant" || refuse_input(&mut self.diagnostics, &param.attributes, attribute) {
                continue;
            }
            let (slot, most, wanted) = match name {
                "buffer" => (0, MAX_BUFFER, ParamClass::Buffer),
                "threadgroup" => (1, MAX_BUFFER, ParamClass::Threadgroup),
                "texture" => (2, MAX_TEXTURE, ParamClass::Texture),
                "sampler" => (3, MAX_SAMPLER, ParamClass::Sampler),
                _ if !is_input(name) => continue,
                _ => {
                    if let (Some(_), Some(BindingKind::Builtin(other))) = (builtin_input(name), &result) {
                        let message = format!("'{name}' and '{other}' attributes are not compatible");
                        self.diagnostics.error("attribute", attribute.span, message);
                        continue;
                    }
                    check_value(&self.tables, &mut self.diagnostics, attribute, kind_of_stage, ty.ty, false);
                    if let Some(kind) = builtin_input(name) {
                        if kind_of_stage.has_grid() {
                            check_builtin_type(
                                &self.tables,
                                &mut self.diagnostics,
                                kind,
                                attribute,
                                ty,
                                grid_width,
                            );
                        }
                        result = Some(BindingKind::Builtin(attribute.name.clone()));
                    } else {
                        result = Some(BindingKind::Other(attribute.name.clone()));
                    }
                    continue;
                }
            };
            let index = self.attribute_index(attribute, most);
            let is_table = name == "buffer" && class == ParamClass::FunctionTable;
            if class != wanted && !is_table && !ty.ty.is_unknown() {
                let message = format!(
                    "'{name}' attribute cannot be applied to a parameter of type '{}'",
                    self.tables.name_of(ty.ty)
                );
                self.diagnostics.error("attribute-type", attribute.span, message);
            }
            let index = index?;
            let param_name = param.name.as_ref().map(|name| name.name.clone()).unwrap_or_default();
            if let Some((other, span, _)) = slots[slot].conflict(index, conditional) {
                let message =
                    format!("cannot reserve '{name}' resource location at index {index}: '{other}' has it");
                let diagnostic = Diagnostic::error("duplicate-index", attribute.span, message);
                let diagnostic = diagnostic.note(*span, format!("'{other}' is declared here"));
                self.diagnostics.report(diagnostic);
            }
            slots[slot].take(index, param_name, param.span, conditional);
            result = Some(match name {
                "buffer" => buffer_binding(class, index),
                "threadgroup" => BindingKind::Threadgroup(index),
                "texture" => BindingKind::Texture(index),
                _ => BindingKind::Sampler(index),
            });
        }
        result
    }
}

impl<'a> Tables<'a> {
    fn param_class(&self, ty: Ty) -> ParamClass {
        match *self.types().kind(ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => match to.space {
                Some(AddressSpace::Device | AddressSpace::Constant) => ParamClass::Buffer,
                Some(AddressSpace::Threadgroup) => ParamClass::Threadgroup,
                _ => ParamClass::Other,
            },
            TyKind::Struct(id) if self.types().struct_(id).is_opaque => {
                match ResourceKind::of(&self.types().struct_(id).name) {
                    Some(ResourceKind::Texture) => ParamClass::Texture,
                    Some(ResourceKind::Sampler) => ParamClass::Sampler,
                    Some(ResourceKind::Buffer) => ParamClass::Buffer,
                    Some(ResourceKind::State) | None => ParamClass::Other,
                }
            }
            TyKind::Struct(id) if self.library_template(id) == Some("visible_function_table") => {
                ParamClass::FunctionTable
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
}

/// The binding of a parameter at a buffer index.
fn buffer_binding(class: ParamClass, index: u32) -> BindingKind {
    match class {
        ParamClass::FunctionTable => BindingKind::FunctionTable(index),
        _ => BindingKind::Buffer(index),
    }
}

/// A parameter without a binding.
fn unbound(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    param: &ast::Param,
    ty: QualTy,
    id: LocalId,
    stage: Stage,
    condition: Option<GlobalId>,
) -> Binding {
    let kind = BindingKind::Other(SmolStr::default());
    let binding = Binding { param: id, kind, condition, array_len: None, names_template: false };
    let known_attribute = param.attributes.iter().any(|a| a.name != "function_constant");
    let class = tables.types().struct_id(ty.ty);
    let is_imageblock = class.is_some_and(|id| tables.library_template(id) == Some("imageblock"));
    if stage == Stage::Kernel && !ty.ty.is_unknown() && !known_attribute && !is_imageblock {
        let shown = tables.name_of_qual(ty);
        let message = format!("invalid type '{shown}' for input declaration in a kernel function");
        let span = param.name.as_ref().map_or(param.span, |name| name.span);
        let diagnostic = Diagnostic::error("kernel-parameter", span, message);
        let hint = "a kernel takes pointers and references to device, constant or threadgroup memory, textures, \
                    samplers, and built-in values with an attribute such as [[thread_position_in_grid]]";
        diagnostics.report(diagnostic.note(span, hint));
    }
    binding
}

fn check_builtin_type(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    kind: InputKind,
    attribute: &ast::Attribute,
    ty: QualTy,
    grid_width: &mut Option<(u8, Span)>,
) {
    if ty.ty.is_unknown() {
        return;
    }
    let (element, width) = tables.types().vector_parts(ty.ty).unwrap_or((ty.ty, 1));
    let is_packed = matches!(tables.types().kind(ty.ty), TyKind::PackedVector { .. });
    let most = if kind == InputKind::Grid { 3 } else { 1 };
    if !matches!(element, Ty::UINT | Ty::USHORT) || width > most || is_packed {
        let allowed = match kind {
            InputKind::Grid => "'ushort', 'ushort2', 'ushort3', 'uint', 'uint2' or 'uint3'",
            InputKind::Scalar => "'ushort' or 'uint'",
        };
        let message = format!(
            "type '{}' is not valid for attribute '{}': it must be {allowed}",
            tables.name_of(ty.ty),
            attribute.name
        );
        diagnostics.error("attribute-type", attribute.span, message);
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
                diagnostics.report(diagnostic.note(span, "the other one is here"));
            }
            Some(_) => {}
            None => *grid_width = Some((width, attribute.span)),
        }
    }
}

impl Slots {
    fn next_free(&mut self) -> u32 {
        while self.taken.contains_key(&self.first_free) {
            self.first_free += 1;
        }
        self.first_free
    }

    fn take(&mut self, index: u32, name: SmolStr, span: Span, conditional: bool) {
        self.taken.entry(index).or_default().push((name, span, conditional));
    }

    /// Another argument at `index`. Two may share it if both are under conditions.
    fn conflict(&self, index: u32, conditional: bool) -> Option<&(SmolStr, Span, bool)> {
        self.taken.get(&index)?.iter().find(|(_, _, other)| !(*other && conditional))
    }
}
