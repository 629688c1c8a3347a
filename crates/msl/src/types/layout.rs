//! Sizes and alignments, as the Metal specification gives them: a three-component vector takes the room of four, a
//! packed one does not, a matrix is an array of its columns.

use super::{FloatKind, StructId, Ty, TyKind, Types};

/// A size and an alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The size.
    pub size: u64,
    /// The alignment, at least 1.
    pub align: u64,
}

impl Layout {
    fn scalar(size: u64) -> Layout {
        Layout { size, align: size }
    }

    /// `offset` rounded up to this alignment.
    pub fn align_up(self, offset: u64) -> u64 {
        offset.div_ceil(self.align.max(1)).saturating_mul(self.align.max(1))
    }
}

impl Types {
    /// The layout of `ty`; `None` where it has none: `void`, functions, incomplete types, textures.
    pub fn layout(&self, ty: Ty) -> Option<Layout> {
        Some(match self.kind(ty) {
            TyKind::Bool => Layout::scalar(1),
            TyKind::Int(kind) => Layout::scalar(u64::from(kind.bits() / 8)),
            TyKind::Float(FloatKind::Float) => Layout::scalar(4),
            TyKind::Float(_) => Layout::scalar(2),
            TyKind::Pointer(_) | TyKind::Reference { .. } | TyKind::NullPtr => Layout::scalar(8),
            TyKind::Vector { element, len } => {
                let slots = if *len == 3 { 4 } else { u64::from(*len) };
                Layout::scalar(self.layout(*element)?.size * slots)
            }
            TyKind::PackedVector { element, len } => {
                let element = self.layout(*element)?;
                Layout { size: element.size * u64::from(*len), align: element.align }
            }
            TyKind::Matrix { element, columns, rows } => {
                let slots = if *rows == 3 { 4 } else { u64::from(*rows) };
                let column = self.layout(*element)?.size * slots;
                Layout { size: column * u64::from(*columns), align: column }
            }
            // Storage for all 64 components in every thread, of which the first two are the thread's own.
            TyKind::SimdgroupMatrix { element } => Layout::scalar(self.layout(*element)?.size * 64),
            TyKind::Atomic(element) => self.layout(*element)?,
            TyKind::Array { element, len } => {
                let element = self.layout(*element)?;
                Layout { size: element.size.checked_mul((*len)?)?, align: element.align }
            }
            TyKind::Struct(id) => {
                let definition = self.struct_(*id);
                if !definition.is_complete || definition.is_opaque {
                    return None;
                }
                definition.layout
            }
            TyKind::Enum(id) => self.layout(self.enum_(*id).underlying)?,
            TyKind::Error | TyKind::Dependent | TyKind::Void | TyKind::Function { .. } => return None,
        })
    }

    /// A base class without fields takes no room.
    fn is_empty_struct(&self, ty: Ty) -> bool {
        self.struct_id(ty).is_some_and(|id| self.struct_(id).fields.iter().all(|field| field.is_base))
    }

    /// Gives the fields of a struct their offsets, and the struct its size. `min_align` comes from `alignas`.
    pub(crate) fn lay_out(&mut self, id: StructId, min_align: u64) {
        let is_union = self.struct_(id).is_union;
        let mut total = Layout { size: 0, align: min_align.max(1) };
        let mut bit_cursor: Option<(u64, u64, u32)> = None; // storage offset, storage size, next free bit
        for index in 0..self.struct_(id).fields.len() {
            let field = &self.struct_(id).fields[index];
            let mut layout = self.layout(field.ty.ty).unwrap_or(Layout { size: 0, align: 1 });
            layout.align = layout.align.max(field.min_align);
            if field.is_base && self.is_empty_struct(field.ty.ty) {
                layout.size = 0;
            }
            let width = field.bits.map(|(_, width)| width);
            let (offset, bits) = match width {
                Some(width) => {
                    let unit = (layout.size * 8) as u32;
                    match bit_cursor {
                        Some((offset, size, next)) if width != 0 && size == layout.size && next + width <= unit => {
                            bit_cursor = Some((offset, size, next + width));
                            (offset, Some((next, width)))
                        }
                        _ => {
                            let offset = if is_union { 0 } else { layout.align_up(total.size) };
                            bit_cursor = (width != 0).then_some((offset, layout.size, width));
                            (offset, Some((0, width)))
                        }
                    }
                }
                None => {
                    bit_cursor = None;
                    (if is_union { 0 } else { layout.align_up(total.size) }, None)
                }
            };
            total.align = total.align.max(layout.align);
            total.size = total.size.max(offset.saturating_add(layout.size));
            let field = &mut self.struct_mut(id).fields[index];
            field.offset = offset;
            field.bits = bits;
        }
        total.size = total.align_up(total.size.max(1));
        let definition = self.struct_mut(id);
        definition.layout = total;
        definition.is_complete = true;
    }
}
