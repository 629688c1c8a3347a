//! Types in memory: the metadata that Apple's compiler writes at loads and stores.
//!
//! ```text
//! !tbaa   the type of the access: accesses of different types do not meet, but those of `omnipotent char`
//! !range  a `bool` in memory is 0 or 1
//! ```
//!
//! As in clang, `char`, vectors and members of unions are `omnipotent char`, signed and unsigned integers are one type,
//! and so are all pointers. Enumerations and bit-fields say less than clang says. So do members of structs: clang names
//! the struct and the offset, which tells apart two members of one type.

use super::Lowering;
use inkwell::values::{InstructionValue, MetadataValue, PointerValue};
use msl::types::{FloatKind, IntKind, Ty, TyKind};

const ROOT: &str = "Simple C++ TBAA";
const ANY: &str = "omnipotent char";

impl<'ctx> Lowering<'ctx, '_> {
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
        self.set_node(access, "tbaa", self.access_tag(name));
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

    /// `!{type, type, i64 0}`, where a type is `!{"float", !{"omnipotent char", !{"Simple C++ TBAA"}, i64 0}, i64 0}`.
    fn access_tag(&self, name: &str) -> MetadataValue<'ctx> {
        let text = |text| self.context.metadata_string(text).into();
        let zero = self.context.i64_type().const_zero().into();
        let root = self.context.metadata_node(&[text(ROOT)]);
        let any = self.context.metadata_node(&[text(ANY), root.into(), zero]);
        let node = match name {
            ANY => any,
            name => self.context.metadata_node(&[text(name), any.into(), zero]),
        };
        self.context.metadata_node(&[node.into(), node.into(), zero])
    }

    fn set_node(&self, instruction: InstructionValue<'ctx>, kind: &str, node: MetadataValue<'ctx>) {
        // It fails for a node that is none only.
        let _ = instruction.set_metadata(node, self.context.get_kind_id(kind));
    }
}
