//! Types in memory: the metadata that Apple's compiler writes at loads and stores.
//!
//! ```text
//! !tbaa   the type of the access: accesses of different types do not meet, but those of `omnipotent char`
//! !range  a `bool` in memory is 0 or 1
//! ```
//!
//! As in clang, `char`, vectors and members of unions are `omnipotent char`, signed and unsigned integers are one type,
//! and so are all pointers. Of a member of a struct, the tag names the struct and the offset, which tells apart two
//! members of one type; the struct has the name of its `typeinfo`. Enumerations, bit-fields, and members that are
//! `omnipotent char` say less than clang says.

use super::{Lowering, symbols};
use inkwell::values::{InstructionValue, MetadataValue, PointerValue};
use msl::types::{Field, FloatKind, IntKind, Ty, TyKind};

const ROOT: &str = "Simple C++ TBAA";
const ANY: &str = "omnipotent char";

/// A member of a struct, perhaps within other structs: that around all of them, and the offset in it.
pub(super) struct Member {
    pub(super) base: Ty,
    pub(super) offset: u64,
    pub(super) ty: Ty,
}

impl<'ctx> Lowering<'ctx, '_> {
    /// Notes of which member `part` is the address; `whole` is that of the struct around it.
    pub(super) fn mark_member(&mut self, whole: PointerValue<'ctx>, part: PointerValue<'ctx>, member: Member) {
        // The address of a constant's first member is that of the constant, which may be used for others.
        if !self.is_for_library || whole == part || part.as_instruction().is_none() {
            return;
        }
        let outer = self.members.get(&whole).filter(|outer| outer.ty == member.base);
        let member = match outer {
            Some(outer) => Member { base: outer.base, offset: outer.offset + member.offset, ty: member.ty },
            None => member,
        };
        self.members.insert(part, member);
    }

    /// Marks the address of a member of a union, or of a part of it.
    pub(super) fn mark_shared(&mut self, place: PointerValue<'ctx>) {
        if self.is_for_library {
            self.shared.insert(place);
        }
    }

    /// Marks the address of a part if that of the whole is marked.
    pub(super) fn mark_like(&mut self, whole: PointerValue<'ctx>, part: PointerValue<'ctx>) {
        if self.shared.contains(&whole) {
            self.mark_shared(part);
        }
    }

    /// Says of which type a load or store in a library is.
    pub(super) fn describe_access(&self, access: InstructionValue<'ctx>, place: PointerValue<'ctx>, ty: Ty) {
        if !self.is_for_library {
            return;
        }
        let name = if self.shared.contains(&place) { ANY } else { self.access_name(ty) };
        let member = self.members.get(&place).filter(|member| name != ANY && self.access_name(member.ty) == name);
        self.set_node(access, "tbaa", self.access_tag(name, member));
        if ty == Ty::BOOL && access.get_opcode() == inkwell::values::InstructionOpcode::Load {
            let byte = self.context.i8_type();
            let range = [byte.const_zero().into(), byte.const_int(2, false).into()];
            self.set_node(access, "range", self.context.metadata_node(&range));
        }
    }

    /// The name of a type among those that may meet in memory.
    fn access_name(&self, ty: Ty) -> &'static str {
        match *self.program.types.kind(ty) {
            TyKind::Bool => "bool",
            TyKind::Int(IntKind::Short | IntKind::UShort) => "short",
            TyKind::Int(IntKind::Int | IntKind::UInt) => "int",
            TyKind::Int(IntKind::Long | IntKind::ULong) => "long",
            TyKind::Float(FloatKind::Half) => "half",
            TyKind::Float(FloatKind::BFloat) => "bfloat",
            TyKind::Float(FloatKind::Float) => "float",
            TyKind::Pointer(_) | TyKind::Reference { .. } => "any pointer",
            _ => ANY,
        }
    }

    /// `!{type, type, i64 0}`, or `!{struct, type, i64 offset}` for a member.
    fn access_tag(&self, name: &str, member: Option<&Member>) -> MetadataValue<'ctx> {
        let node = self.named_type(name);
        let (base, offset) = match member {
            Some(member) => (self.access_type(member.base), member.offset),
            None => (node, 0),
        };
        let offset = self.context.i64_type().const_int(offset, false);
        self.context.metadata_node(&[base.into(), node.into(), offset.into()])
    }

    /// `!{"float", !{"omnipotent char", !{"Simple C++ TBAA"}, i64 0}, i64 0}`
    fn named_type(&self, name: &str) -> MetadataValue<'ctx> {
        let text = |text| self.context.metadata_string(text).into();
        let zero = self.context.i64_type().const_zero().into();
        let root = self.context.metadata_node(&[text(ROOT)]);
        let any = self.context.metadata_node(&[text(ANY), root.into(), zero]);
        match name {
            ANY => any,
            name => self.context.metadata_node(&[text(name), any.into(), zero]),
        }
    }

    /// The type of a member: `!{"_ZTS1S", !{"int", …}, i64 0, !{"float", …}, i64 4}` for a struct. An array is the type
    /// of its elements.
    fn access_type(&self, ty: Ty) -> MetadataValue<'ctx> {
        let types = &self.program.types;
        let id = match *types.kind(ty) {
            TyKind::Array { element, .. } => return self.access_type(element),
            TyKind::Struct(id) if !types.struct_(id).is_union && !types.struct_(id).fields.is_empty() => id,
            _ => return self.named_type(self.access_name(ty)),
        };
        if let Some(known) = self.access_types.borrow().get(&ty) {
            return *known;
        }
        // An empty one shares the place of others.
        let is_empty = |ty: Ty| types.struct_id(ty).is_some_and(|id| types.struct_(id).fields.is_empty());
        let mut fields: Vec<_> = types.struct_(id).fields.iter().filter(|field| !is_empty(field.ty.ty)).collect();
        let first_byte = |field: &Field| field.offset + field.bits.map_or(0, |(first, _)| u64::from(first / 8));
        fields.sort_by_key(|field| first_byte(field));
        let mut operands = vec![self.context.metadata_string(&symbols::type_name(self.program, ty)).into()];
        for field in fields {
            let of = if field.bits.is_some() { self.named_type(ANY) } else { self.access_type(field.ty.ty) };
            operands.push(of.into());
            operands.push(self.context.i64_type().const_int(first_byte(field), false).into());
        }
        let node = self.context.metadata_node(&operands);
        self.access_types.borrow_mut().insert(ty, node);
        node
    }

    fn set_node(&self, instruction: InstructionValue<'ctx>, kind: &str, node: MetadataValue<'ctx>) {
        // It fails for a node that is none only.
        let _ = instruction.set_metadata(node, self.context.get_kind_id(kind));
    }
}
