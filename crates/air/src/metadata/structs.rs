//! Structs in metadata: their fields, and the members of argument buffers.
//!
//! ```text
//! ["air.struct_type_info", {field, …},] i32 offset, i32 size, i32 length, "type", "name"
//! ["air.indirect_argument", {member} | i32 id]
//! ```
//!
//! Size and type are those of an element, and the length is 0 where the field is no array. `atomic<T>` is a struct
//! `metal::_atomic` with the field `__s`.
//!
//! A struct with pointers, textures or samplers is an argument buffer (`air.indirect_buffer`), and each of its fields
//! has an id. A member is described like an argument, with its id as the location: `air.buffer`, `air.texture`,
//! `air.sampler`, or `air.indirect_constant` for a value. A struct in it has the id from which its own ids count.

use super::emit::{ATOMIC, Nodes, Operands, texture};
use inkwell::values::BasicMetadataValueEnum;
use msl::types::{Field, QualTy, Ty, TyKind};

/// Position among the members of an argument buffer.
#[derive(Default)]
struct Members {
    /// Number of members so far.
    count: u64,
    /// Id of the next member.
    next_id: u64,
}

impl<'ctx> Nodes<'ctx, '_> {
    /// The fields of a struct, where it is one that has some.
    pub(super) fn struct_type_info(&self, ty: Ty, out: &mut Operands<'ctx>) {
        if let Some(node) = self.struct_node(ty) {
            out.extend([self.text("air.struct_type_info"), node]);
        }
    }

    fn struct_node(&self, ty: Ty) -> Option<BasicMetadataValueEnum<'ctx>> {
        if let Some(known) = self.structs.borrow().get(&ty) {
            return *known;
        }
        let types = &self.program.types;
        let mut fields = Vec::new();
        match *types.kind(ty) {
            TyKind::Struct(id) if !types.struct_(id).is_opaque => {
                // A pointer to a struct inside the same struct does not describe it again.
                self.structs.borrow_mut().insert(ty, None);
                let mut members = self.is_argument_buffer(ty).then(Members::default);
                self.fields(ty, 0, members.as_mut(), &mut fields);
            }
            TyKind::Atomic(element) => {
                let (offset, length) = (self.number(0), self.number(0));
                let size = self.number(self.layout(element).size);
                fields.extend([offset, size, length, self.text(&types.name(element)), self.text(ATOMIC.1)]);
            }
            _ => return None,
        }
        let node = self.node(&fields);
        self.structs.borrow_mut().insert(ty, Some(node));
        Some(node)
    }

    /// True for a struct with resources in it.
    pub(super) fn is_argument_buffer(&self, ty: Ty) -> bool {
        let types = &self.program.types;
        match *types.kind(ty) {
            TyKind::Array { element, .. } => self.is_argument_buffer(element),
            TyKind::Struct(id) if !types.struct_(id).is_opaque => {
                // A struct of structs has as many members as a power of two.
                if let Some(&known) = self.argument_buffers.borrow().get(&ty) {
                    return known;
                }
                let is_argument_buffer = types.struct_(id).fields.iter().any(|field| {
                    self.resource(element_of(self, field.ty.ty).0).is_some() || self.is_argument_buffer(field.ty.ty)
                });
                self.argument_buffers.borrow_mut().insert(ty, is_argument_buffer);
                is_argument_buffer
            }
            _ => false,
        }
    }

    fn resource(&self, ty: Ty) -> Option<Resource> {
        let types = &self.program.types;
        match *types.kind(ty) {
            TyKind::Pointer(to) if !matches!(types.kind(to.ty), TyKind::Function { .. }) => {
                Some(Resource::Buffer(to, false))
            }
            TyKind::Reference { to, .. } => Some(Resource::Buffer(to, true)),
            TyKind::Struct(id) if types.struct_(id).is_opaque => {
                let name = types.struct_(id).name.as_str();
                match name.split('<').next().unwrap_or_default() {
                    "sampler" => Some(Resource::Sampler),
                    name if name.starts_with("texture")
                        || name.starts_with("depth") && name != "depth_stencil_state" =>
                    {
                        Some(Resource::Texture)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The fields of a struct at `base`; those of unnamed members and base classes in their place, as in
    /// `msl::reflect`.
    fn fields(&self, ty: Ty, base: u64, mut members: Option<&mut Members>, out: &mut Operands<'ctx>) {
        let types = &self.program.types;
        let Some(id) = types.struct_id(ty) else { return };
        for field in &types.struct_(id).fields {
            let offset = base.saturating_add(field.offset);
            if field.name.is_empty() {
                self.fields(field.ty.ty, offset, members.as_deref_mut(), out);
            } else {
                self.field(field, offset, members.as_deref_mut(), out);
            }
        }
    }

    fn field(&self, field: &Field, offset: u64, members: Option<&mut Members>, out: &mut Operands<'ctx>) {
        let (element, length) = element_of(self, field.ty.ty);
        let size = self.number(self.layout(element).size);
        let resource = self.resource(element).filter(|_| members.is_some());
        if resource.is_none() {
            self.struct_type_info(element, out);
        }
        out.extend([self.number(offset), size, self.number(length)]);
        let type_name = match resource {
            Some(Resource::Buffer(to, _)) => self.type_name(to.ty),
            Some(Resource::Texture) => texture(&self.program.types.name(element)).0,
            Some(Resource::Sampler) => "sampler".into(),
            None if members.is_some() => self.name_in_argument_buffer(element),
            None => self.type_name(element),
        };
        out.extend([self.text(&type_name), self.text(&field.name)]);
        let Some(members) = members else { return };
        let id = field.id.map_or(members.next_id, u64::from);
        let has_fields = self.program.types.struct_id(element).is_some() && resource.is_none();
        let described = match has_fields {
            true => self.number(id),
            false => self.member(resource, element, (members.count, id), &type_name, &field.name),
        };
        out.extend([self.text("air.indirect_argument"), described]);
        members.count += 1;
        members.next_id = id.saturating_add(self.ids_of(element).saturating_mul(length.max(1)));
    }

    /// A member of an argument buffer, described like an argument.
    fn member(
        &self,
        resource: Option<Resource>,
        ty: Ty,
        (position, id): (u64, u64),
        type_name: &str,
        name: &str,
    ) -> BasicMetadataValueEnum<'ctx> {
        let mut member = vec![self.number(position)];
        // One, even for an array, whose length the field has.
        let location = [self.text("air.location_index"), self.number(id), self.number(1)];
        match resource {
            Some(Resource::Buffer(pointee, is_reference)) => {
                let size = is_reference.then(|| self.layout(pointee.ty).size);
                self.buffer(location, pointee, size, &mut member);
            }
            Some(Resource::Texture) => {
                member.push(self.text("air.texture"));
                member.extend(location);
                member.push(self.text(texture(&self.program.types.name(ty)).1));
            }
            Some(Resource::Sampler) => {
                member.push(self.text("air.sampler"));
                member.extend(location);
            }
            None => {
                member.push(self.text("air.indirect_constant"));
                member.extend(location);
            }
        }
        member.extend([self.text("air.arg_type_name"), self.text(type_name)]);
        member.extend([self.text("air.arg_name"), self.text(name)]);
        self.node(&member)
    }

    /// `metal::array<device float *, 4>` is `metal::array` there.
    fn name_in_argument_buffer(&self, ty: Ty) -> String {
        let types = &self.program.types;
        let fields = types.struct_id(ty).map_or(&[][..], |id| &types.struct_(id).fields);
        match fields {
            [only] if only.name == "__elems" => "metal::array".into(),
            _ => self.type_name(ty),
        }
    }

    /// The number of ids that a member takes.
    fn ids_of(&self, ty: Ty) -> u64 {
        let types = &self.program.types;
        match types.struct_id(ty) {
            Some(id) if !types.struct_(id).is_opaque => {
                if let Some(&known) = self.ids.borrow().get(&ty) {
                    return known;
                }
                let mut next = 0u64;
                for field in &types.struct_(id).fields {
                    let (element, length) = element_of(self, field.ty.ty);
                    let id = field.id.map_or(next, u64::from);
                    next = id.saturating_add(self.ids_of(element).saturating_mul(length.max(1)));
                }
                self.ids.borrow_mut().insert(ty, next);
                next
            }
            _ => 1,
        }
    }
}

/// A member of an argument buffer that is no value.
enum Resource {
    /// The pointee, and true for a reference.
    Buffer(QualTy, bool),
    Texture,
    Sampler,
}

/// The element and length of an array; another type, and 0.
fn element_of(nodes: &Nodes<'_, '_>, ty: Ty) -> (Ty, u64) {
    match *nodes.program.types.kind(ty) {
        TyKind::Array { element, len } => (element, len.unwrap_or(0)),
        _ => (ty, 0),
    }
}
