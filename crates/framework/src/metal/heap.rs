//! Heaps: one allocation, with buffers in parts of it.

use super::buffer::{Buffer, storage};
use super::descriptors::HeapFields;
use super::device::Device;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::{Fields, Id, Object, Strong};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Alignment of buffers in a heap, and the granularity of their sizes.
pub(crate) const ALIGNMENT: usize = 256;
const PLACEMENT: isize = 1;
/// `MTLHazardTrackingModeUntracked`
const UNTRACKED: usize = 1;
/// `MTLHazardTrackingModeTracked`
const TRACKED: usize = 2;

/// A heap.
pub(crate) struct Heap {
    device: Strong,
    memory: compute::Buffer,
    descriptor: HeapFields,
    label: Fields<Strong>,
    /// Parts in use, by offset.
    used: Fields<Vec<(usize, usize)>>,
}

/// The part of a heap that a buffer is in.
pub(crate) struct Piece {
    pub(crate) heap: Strong,
    pub(crate) offset: usize,
    length: usize,
    aliasable: AtomicBool,
}

impl Piece {
    /// Lets other buffers use the same memory.
    pub(crate) fn make_aliasable(&self) {
        if !self.aliasable.swap(true, Ordering::AcqRel)
            && let Some(heap) = self.heap.cast::<Heap>()
        {
            let mut used = heap.used.lock();
            if let Some(at) = used.iter().position(|part| *part == (self.offset, self.length)) {
                used.remove(at);
            }
        }
    }

    pub(crate) fn is_aliasable(&self) -> bool {
        self.aliasable.load(Ordering::Acquire)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.make_aliasable();
    }
}

pub(crate) fn create(device: Object<Device>, here: &str, descriptor: &HeapFields) -> Option<Strong> {
    let HeapFields { size, storage, .. } = *descriptor;
    forbid!(here, size == 0, None, "Heap Descriptor Validation\nsize must be non-zero.");
    forbid!(here, storage == 1, None, "Heap Descriptor Validation\nstorageMode cannot be MTLStorageModeManaged.");
    let memory = device.device.new_buffer(size).ok()?;
    device.allocate(size);
    let descriptor = descriptor.clone();
    let (label, used) = (Fields::default(), Fields::default());
    Some(Strong::new(Heap { device: device.strong(), memory, descriptor, label, used }))
}

impl Drop for Heap {
    fn drop(&mut self) {
        if let Some(device) = self.device.cast::<Device>() {
            device.release(self.memory.len());
        }
    }
}

impl Heap {
    /// The first gap that is large enough, or the largest gap.
    fn gap(&self, length: usize) -> Result<usize, usize> {
        let (mut start, mut largest) = (0, 0);
        for (offset, length_used) in self.used.lock().iter().copied().chain([(self.memory.len(), 0)]) {
            let gap = offset.saturating_sub(start);
            if gap >= length {
                return Ok(start);
            }
            largest = largest.max(gap);
            start = start.max(offset + length_used);
        }
        Err(largest)
    }

    /// The options of a buffer: it is tracked only if the heap is, which is not the default.
    fn tracking(&self, options: usize) -> usize {
        const MASK: usize = 3 << 8;
        let is_tracked = self.hazards() == TRACKED && options >> 8 & 3 != UNTRACKED;
        options & !MASK | if is_tracked { TRACKED } else { UNTRACKED } << 8
    }

    fn hazards(&self) -> usize {
        if self.descriptor.hazards == TRACKED { TRACKED } else { UNTRACKED }
    }

    fn is_placement(&self) -> bool {
        self.descriptor.kind == PLACEMENT
    }
}

/// A buffer in a part of a heap.
fn new_buffer(heap: Object<Heap>, length: usize, options: usize, offset: usize) -> Option<Strong> {
    let size = length.next_multiple_of(ALIGNMENT).min(heap.memory.len().checked_sub(offset)?);
    let start = heap.memory.contents().wrapping_add(offset);
    let memory = NonNull::slice_from_raw_parts(NonNull::new(start)?, length);
    let device = heap.device.cast::<Device>()?;
    // SAFETY: the part is inside the heap's memory, which the clone keeps.
    let buffer = unsafe { device.device.new_buffer_with_bytes_no_copy(memory, heap.memory.clone()) }.ok()?;
    {
        let mut used = heap.used.lock();
        used.push((offset, size));
        used.sort_unstable();
    }
    let piece = Piece { heap: heap.strong(), offset, length: size, aliasable: AtomicBool::new(false) };
    let length = buffer.len();
    Some(Buffer::strong(heap.device.clone(), buffer, heap.tracking(options), length, Some(piece)))
}

class! {
    HEAP = "MTLDebugHeap": NS_OBJECT, new Heap, ["MTLHeap", "MTLAllocation"]
    refused {
        "newTextureWithDescriptor:" "this device has no textures",
        "newTextureWithDescriptor:offset:" "this device has no textures",
    }
    absent {
        "newAccelerationStructureWithDescriptor:", "newAccelerationStructureWithDescriptor:offset:",
        "newAccelerationStructureWithSize:", "newAccelerationStructureWithSize:offset:",
    }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "type" (this) -> isize { this.descriptor.kind }
        - "size" (this) -> usize { this.memory.len() }
        - "allocatedSize" (this) -> usize { this.memory.len() }
        - "currentAllocatedSize" (this) -> usize { this.memory.len() }
        - "usedSize" (this) -> usize { this.used.lock().iter().map(|(_, length)| length).sum() }
        - "maxAvailableSizeWithAlignment:" (this, _alignment: usize) -> usize {
            this.gap(usize::MAX).unwrap_or_else(|largest| largest)
        }
        - "storageMode" (this) -> usize { this.descriptor.storage }
        - "cpuCacheMode" (this) -> usize { this.descriptor.cache_mode }
        - "hazardTrackingMode" (this) -> usize { this.hazards() }
        - "resourceOptions" (this) -> usize {
            this.descriptor.cache_mode | this.descriptor.storage << 4 | this.hazards() << 8
        }
        - "setPurgeableState:" (_this, _state: usize) -> usize { 2 }
        - "newBufferWithLength:options:" (this, length: usize, options: usize) -> Id {
            forbid!(HERE, this.is_placement(), Id::NIL, "a placement heap needs an offset: newBufferWithLength:options:offset:.");
            forbid!(HERE, length == 0, Id::NIL, "Buffer Validation\nCannot create buffer of zero length.");
            forbid!(HERE, storage(options) != this.descriptor.storage, Id::NIL,
                "Buffer Validation\nThe storage mode of the options does not match the heap's.");
            // Metal returns nil if there is no room.
            let offset = this.gap(length.next_multiple_of(ALIGNMENT).min(this.memory.len()).max(length));
            offset.ok().and_then(|offset| new_buffer(this, length, options, offset)).map_or(Id::NIL, Strong::into_id)
        }
        - "newBufferWithLength:options:offset:" (this, length: usize, options: usize, offset: usize) -> Id {
            forbid!(HERE, !this.is_placement(), Id::NIL, "heap type must be MTLHeapTypePlacement.");
            forbid!(HERE, length == 0, Id::NIL, "Buffer Validation\nCannot create buffer of zero length.");
            forbid!(HERE, storage(options) != this.descriptor.storage, Id::NIL,
                "Buffer Validation\nThe storage mode of the options does not match the heap's.");
            forbid!(HERE, !offset.is_multiple_of(ALIGNMENT), Id::NIL, "offset({offset}) must be a multiple of {ALIGNMENT}.");
            let end = offset.checked_add(length);
            let size = this.memory.len();
            forbid!(HERE, end.is_none_or(|end| end > size), Id::NIL, "offset({offset}) + length({length}) must be <= {size}.");
            new_buffer(this, length, options, offset).map_or(Id::NIL, Strong::into_id)
        }
    }
}
