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
use msl::reflect::{Ids, Resource};
use msl::types::{Field, Ty, TyKind};

/// Position among the members of an argument buffer.
#[derive(Default)]
struct Members {
    /// Number of members so far.
    count: u64,
    ids: Ids,
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
                let mut members = self.argument_buffers.is_one(ty).then(Members::default);
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
        let (element, length) = self.argument_buffers.element(field.ty.ty);
        let size = self.number(self.layout(element).size);
        let resource = self.argument_buffers.resource(element).filter(|_| members.is_some());
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
        let id = members.ids.take(&self.argument_buffers, field);
        let has_fields = self.program.types.struct_id(element).is_some() && resource.is_none();
        let described = match has_fields {
            true => self.number(id),
            false => self.member(resource, element, (members.count, id), &type_name, &field.name),
        };
        out.extend([self.text("air.indirect_argument"), described]);
        members.count += 1;
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
}
