//! Argument buffers: structs with pointers, textures or samplers in them. Each of their members has an id, by which the
//! host finds it.

use crate::types::{Field, QualTy, Ty, TyKind, Types};
use std::cell::RefCell;
use std::collections::HashMap;

/// A member of an argument buffer that is no value.
#[derive(Clone, Copy)]
pub enum Resource {
    /// The pointee, and true for a reference.
    Buffer(QualTy, bool),
    /// A texture.
    Texture,
    /// A sampler.
    Sampler,
}

/// The structs of a program. Each is looked at once: a struct of structs has as many members as a power of two.
pub struct ArgumentBuffers<'p> {
    pub(super) types: &'p Types,
    /// Structs that were looked at: true for those with resources in them.
    found: RefCell<HashMap<Ty, bool>>,
    /// The number of ids that a struct takes.
    ids: RefCell<HashMap<Ty, u64>>,
}

impl<'p> ArgumentBuffers<'p> {
    /// Those among `types`.
    pub fn new(types: &'p Types) -> ArgumentBuffers<'p> {
        ArgumentBuffers { types, found: RefCell::default(), ids: RefCell::default() }
    }

    /// True for a struct with resources in it, and for arrays of such.
    pub fn is_one(&self, ty: Ty) -> bool {
        match *self.types.kind(ty) {
            TyKind::Array { element, .. } => self.is_one(element),
            TyKind::Struct(id) if !self.types.struct_(id).is_opaque => {
                if let Some(&known) = self.found.borrow().get(&ty) {
                    return known;
                }
                let is_one =
                    self.types.struct_(id).fields.iter().any(|field| {
                        self.resource(self.element(field.ty.ty).0).is_some() || self.is_one(field.ty.ty)
                    });
                self.found.borrow_mut().insert(ty, is_one);
                is_one
            }
            _ => false,
        }
    }

    /// The resource that a member of this type is.
    pub fn resource(&self, ty: Ty) -> Option<Resource> {
        match *self.types.kind(ty) {
            TyKind::Pointer(to) if !matches!(self.types.kind(to.ty), TyKind::Function { .. }) => {
                Some(Resource::Buffer(to, false))
            }
            TyKind::Reference { to, .. } => Some(Resource::Buffer(to, true)),
            TyKind::Struct(id) if self.types.struct_(id).is_opaque => {
                let name = self.types.struct_(id).name.as_str();
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

    /// The element and length of an array; another type, and 0.
    pub fn element(&self, ty: Ty) -> (Ty, u64) {
        match *self.types.kind(ty) {
            TyKind::Array { element, len } => (element, len.unwrap_or(0)),
            _ => (ty, 0),
        }
    }

    /// The number of ids that a member takes.
    fn ids_of(&self, ty: Ty) -> u64 {
        match self.types.struct_id(ty) {
            Some(id) if !self.types.struct_(id).is_opaque => {
                if let Some(&known) = self.ids.borrow().get(&ty) {
                    return known;
                }
                let mut ids = Ids::default();
                for field in &self.types.struct_(id).fields {
                    ids.take(self, field);
                }
                self.ids.borrow_mut().insert(ty, ids.next);
                ids.next
            }
            _ => 1,
        }
    }
}

/// Ids of the members of an argument buffer, in their order.
#[derive(Default)]
pub struct Ids {
    next: u64,
}

impl Ids {
    /// The id of the next member: the one that it has (`[[id(n)]]`), or the one behind the member before.
    pub fn take(&mut self, buffers: &ArgumentBuffers, field: &Field) -> u64 {
        let (element, length) = buffers.element(field.ty.ty);
        let id = field.id.map_or(self.next, u64::from);
        self.next = id.saturating_add(buffers.ids_of(element).saturating_mul(length.max(1)));
        id
    }
}
