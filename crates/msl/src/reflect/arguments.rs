//! Arguments: what a parameter points to, and what may be done with it.

use super::argument_buffers::{ArgumentBuffers, Ids};
use super::{Access, Argument, ArgumentKind, FieldInfo};
use crate::program::{Binding, BindingKind, Function, Program};
use crate::types::{AddressSpace, Layout, QualTy, Struct, Ty, TyKind};

/// The argument of a binding; `None` if the host does not bind it.
pub(super) fn argument(program: &Program, function: &Function, binding: &Binding) -> Option<Argument> {
    let (kind, index) = match &binding.kind {
        BindingKind::Buffer(index) => (ArgumentKind::Buffer, *index),
        BindingKind::FunctionTable(index) => (ArgumentKind::VisibleFunctionTable, *index),
        BindingKind::Threadgroup(index) => (ArgumentKind::ThreadgroupMemory, *index),
        BindingKind::Texture(index) => (ArgumentKind::Texture, *index),
        BindingKind::Sampler(index) => (ArgumentKind::Sampler, *index),
        BindingKind::Other(_) => (ArgumentKind::Other, 0),
        BindingKind::Builtin(_) => return None,
    };
    let types = &program.types;
    let local = function.locals.get(binding.param.0 as usize)?;
    let (element, is_pointer) = match *types.kind(local.ty.ty) {
        TyKind::Pointer(pointee) => (pointee, true),
        TyKind::Reference { to, .. } => (to, true),
        _ => (local.ty, false),
    };
    // A resource itself is no memory that the host fills, and the representation of a table is the device's own.
    let is_table = kind == ArgumentKind::VisibleFunctionTable;
    let is_memory = is_pointer && !is_table;
    let layout = is_memory.then(|| types.layout(element.ty)).flatten().unwrap_or(Layout { size: 0, align: 0 });
    let mut fields = Vec::new();
    if let TyKind::Struct(_) = types.kind(element.ty)
        && !is_table
    {
        let buffers = ArgumentBuffers::new(types);
        let mut ids = buffers.is_one(element.ty).then(Ids::default);
        add_fields(&buffers, element.ty, 0, ids.as_mut(), &mut fields);
    }
    let element_type = match is_pointer {
        true => element_name(program, binding, element.ty),
        false => types.full_name(element.ty),
    };
    let space = element.space.filter(|_| is_pointer).map_or("", |space| space.text());
    let access = if is_pointer { pointer_access(element) } else { texture_access(kind, &element_type) };
    let is_reference = matches!(types.kind(local.ty.ty), TyKind::Reference { .. });
    Some(Argument {
        name: local.name.to_string(),
        kind,
        index,
        ty: match is_pointer {
            true => super::pointer_type(&element_type, space, access, is_reference),
            false => element_type.clone(),
        },
        address_space: space.into(),
        access,
        element_type,
        element_size: layout.size,
        element_align: layout.align,
        is_reference,
        // An array of one reads as a pointer, in libraries too.
        array_length: binding.array_len.filter(|length| *length > 1 && kind == ArgumentKind::Buffer),
        fields,
        function_constant: binding.condition.map(|id| program.global(id).name.to_string()),
        is_used: true,
    })
}

/// The name of the type `ty` behind a parameter, as Apple's compiler writes it: an instance of a class template loses
/// its template arguments if the declaration names the template (`constant Params<2> &` points to `Params`) or an
/// alias, but not if it names a template parameter that stands for the instance.
pub fn element_name(program: &Program, binding: &Binding, ty: Ty) -> String {
    let types = &program.types;
    match *types.kind(ty) {
        TyKind::Struct(id) if binding.names_template && !types.struct_(id).is_opaque => {
            let Struct { name, qualifier, .. } = types.struct_(id);
            format!("{qualifier}{}", name.split('<').next().unwrap_or_default())
        }
        _ => types.full_name(ty),
    }
}

fn pointer_access(pointee: QualTy) -> Access {
    if pointee.is_const || pointee.space == Some(AddressSpace::Constant) { Access::Read } else { Access::ReadWrite }
}

/// By the template argument, as in `texture2d<float, access::write>`; without one, a texture is sampled.
fn texture_access(kind: ArgumentKind, name: &str) -> Access {
    match kind {
        ArgumentKind::Texture if name.contains("read_write") => Access::ReadWrite,
        ArgumentKind::Texture if name.contains("access::write") => Access::Write,
        _ => Access::Read,
    }
}

/// The fields of a struct at `base`; those of unnamed members and base classes in their place. `ids` are those of an
/// argument buffer.
fn add_fields(buffers: &ArgumentBuffers, ty: Ty, base: u64, mut ids: Option<&mut Ids>, into: &mut Vec<FieldInfo>) {
    let types = buffers.types;
    let Some(id) = types.struct_id(ty) else { return };
    for field in &types.struct_(id).fields {
        let offset = base.saturating_add(field.offset);
        if field.name.is_empty() && types.struct_id(field.ty.ty).is_some() {
            add_fields(buffers, field.ty.ty, offset, ids.as_deref_mut(), into);
        } else if !field.name.is_empty() {
            into.push(FieldInfo {
                name: field.name.to_string(),
                ty: types.full_name(field.ty.ty),
                offset,
                size: types.layout(field.ty.ty).map_or(0, |layout| layout.size),
                id: ids.as_deref_mut().map(|ids| ids.take(buffers, field)),
            });
        }
    }
}
