//! Buffers. A private one has shared memory below: only programs cannot get at it.

use super::descriptors::PRIVATE;
use super::device::Device;
use super::heap::Piece;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::block::Kept;
use crate::runtime::object::lock;
use crate::runtime::{Fields, Id, Object, Range, Strong};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Weak};

/// A buffer.
pub(crate) struct Buffer {
    device: Strong,
    pub(crate) buffer: compute::Buffer,
    options: usize,
    /// The length that the program asked for; the memory may be longer.
    length: usize,
    /// The part of a heap that it is in.
    piece: Option<Piece>,
    label: Fields<Strong>,
    /// Its object, by which its addresses are known.
    own: AtomicUsize,
    /// The work that needs it without retaining it.
    borrowers: Mutex<Vec<Borrower>>,
}

/// Work of a command buffer without retained references.
struct Borrower {
    /// Gone with the command buffer.
    commands: Weak<()>,
    work: compute::CommandBuffer,
}

impl Borrower {
    fn needs_it(&self) -> bool {
        self.commands.upgrade().is_some() && self.work.status() < compute::CommandBufferStatus::Completed
    }
}

/// The buffers that exist, by their first address and their object, with their lengths.
static ADDRESSES: Mutex<BTreeMap<(usize, usize), usize>> = Mutex::new(BTreeMap::new());

/// The buffer that an address of the device lies in, and the offset in it.
pub(crate) fn at_address(address: u64) -> Option<(Strong, usize)> {
    let address = usize::try_from(address).ok()?;
    let addresses = lock(&ADDRESSES);
    let candidates = addresses.range(..=(address, usize::MAX)).rev();
    let mut candidates = candidates.filter(|((start, _), length)| address - start < **length);
    candidates.find_map(|((start, own), _)| {
        let own = Id(std::ptr::with_exposed_provenance_mut(*own));
        // One that is being released is still listed, and its count is 0.
        own.try_retain().then(|| (Strong::owned(own), address - start))
    })
}

/// The request for a buffer.
pub(crate) struct NewBuffer {
    pub(crate) length: usize,
    pub(crate) options: usize,
    pub(crate) contents: Contents,
}

/// The memory of a new buffer.
pub(crate) enum Contents {
    Zeros,
    Copy(*const c_void),
    /// The program's memory, with a block that is called with it and its length when it is no longer used.
    Share(*mut c_void, Option<Kept>),
}

/// Calls the program's deallocator.
struct Deallocator {
    block: Option<Kept>,
    start: usize,
    length: usize,
}

impl Drop for Deallocator {
    fn drop(&mut self) {
        if let Some(block) = &self.block {
            // SAFETY: the program passed a block with these parameters.
            unsafe { block.call2(self.start, self.length) };
        }
    }
}

const MEMORYLESS: usize = 3;
/// The least memory of a buffer without the debug layer.
const SMALLEST: usize = 16;
const MANAGED: usize = 1;

/// The storage mode in resource options.
pub(crate) fn storage(options: usize) -> usize {
    options >> 4 & 15
}

fn page_size() -> usize {
    // SAFETY: the call has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

impl Buffer {
    pub(crate) fn create(device: Object<Device>, here: &str, new: NewBuffer) -> Option<Strong> {
        let NewBuffer { mut length, options, mut contents } = new;
        let mode = storage(options);
        forbid!(
            here,
            length == 0 && !crate::debug::is_off(),
            None,
            "Buffer Validation\nCannot create buffer of zero length."
        );
        // Without the layer, a Mac makes one, and programs bind buffers of tensors without elements: the memory then has
        // the largest element that a kernel may declare.
        let asked = length;
        let mut padded = [0; SMALLEST];
        if crate::debug::is_off() && length < SMALLEST && !matches!(contents, Contents::Share(..)) {
            if let Contents::Copy(bytes) = contents
                && !bytes.is_null()
            {
                // SAFETY: the program passes that many bytes, and there is room for more.
                unsafe { padded.as_mut_ptr().copy_from_nonoverlapping(bytes.cast::<u8>(), length) };
            }
            (length, contents) = (SMALLEST, Contents::Copy(padded.as_ptr().cast()));
        }
        let most = device.device.max_buffer_length();
        forbid!(here, length > most, None, "Buffer Validation\nLength {length} must not exceed {most}.");
        forbid!(
            here,
            mode == MEMORYLESS,
            None,
            "Buffer Validation\nstorageMode cannot be MTLStorageModeMemoryless."
        );
        let made = match contents {
            Contents::Zeros => device.device.new_buffer(length),
            Contents::Copy(bytes) => {
                forbid!(here, bytes.is_null(), None, "Buffer Validation\npointer must not be NULL.");
                forbid!(
                    here,
                    mode == PRIVATE && asked == length,
                    None,
                    "Buffer Validation\nstorageMode cannot be MTLStorageModePrivate."
                );
                // SAFETY: the program passes that many bytes.
                device.device.new_buffer_with_bytes(unsafe { std::slice::from_raw_parts(bytes.cast(), length) })
            }
            Contents::Share(start, block) => {
                // Without the layer, a Mac shares all pages that the memory touches.
                let (page, is_checked) = (page_size(), !crate::debug::is_off());
                forbid!(
                    here,
                    mode == PRIVATE,
                    None,
                    "Buffer Validation\nstorageMode cannot be MTLStorageModePrivate."
                );
                forbid!(here, start.is_null(), None, "Buffer Validation\npointer must not be NULL.");
                forbid!(
                    here,
                    is_checked && !start.addr().is_multiple_of(page),
                    None,
                    "Buffer Validation\npointer {start:p} is not {page} byte aligned."
                );
                forbid!(
                    here,
                    is_checked && !length.is_multiple_of(page),
                    None,
                    "Buffer Validation\nlength {length} is not {page} byte aligned."
                );
                let deallocator = Deallocator { block, start: start.expose_provenance(), length };
                let memory = NonNull::slice_from_raw_parts(NonNull::new(start.cast::<u8>())?, length);
                // SAFETY: the program keeps the memory until the deallocator is called.
                unsafe { device.device.new_buffer_with_bytes_no_copy(memory, deallocator) }
            }
        };
        // Metal returns nil if there is not enough memory.
        let buffer = made.ok()?;
        device.allocate(length);
        Some(Buffer::strong(device.strong(), buffer, options, asked, None))
    }

    pub(crate) fn strong(
        device: Strong,
        buffer: compute::Buffer,
        options: usize,
        length: usize,
        piece: Option<Piece>,
    ) -> Strong {
        let (start, memory) = (buffer.contents().addr(), buffer.len());
        let label = Fields::default();
        let (own, borrowers) = (AtomicUsize::new(0), Mutex::default());
        let made = Strong::new(Buffer { device, buffer, options, length, piece, label, own, borrowers });
        if let Some(buffer) = made.cast::<Buffer>() {
            let own = made.id().0.expose_provenance();
            buffer.own.store(own, Ordering::Release);
            lock(&ADDRESSES).insert((start, own), memory);
        }
        made
    }
}

impl Buffer {
    pub(crate) fn options(&self) -> usize {
        self.options
    }

    /// Notes work that needs the buffer until it is completed, unless its command buffer goes away before.
    pub(crate) fn lend(&self, commands: Weak<()>, work: compute::CommandBuffer) {
        let mut borrowers = lock(&self.borrowers);
        borrowers.retain(Borrower::needs_it);
        borrowers.push(Borrower { commands, work });
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !crate::debug::is_off() && lock(&self.borrowers).iter().any(Borrower::needs_it) {
            let own = self.own.load(Ordering::Acquire);
            crate::debug::fail(
                "-[MTLDebugBuffer dealloc]",
                format_args!(
                    "The following Metal object is being destroyed while still required to be alive by a command \
                     buffer without retained references: <MTLDebugBuffer: {own:#x}>"
                ),
            );
        }
        let start = self.buffer.contents().addr();
        lock(&ADDRESSES).remove(&(start, self.own.load(Ordering::Acquire)));
        if let (Some(device), None) = (self.device.cast::<Device>(), &self.piece) {
            device.release(self.buffer.len());
        }
    }
}

class! {
    BUFFER = "MTLDebugBuffer": NS_OBJECT, new Buffer, ["MTLBuffer", "MTLResource", "MTLAllocation"]
    refused {
        "newTextureWithDescriptor:offset:bytesPerRow:" "this device has no textures",
        "newTensorWithDescriptor:offset:error:" "this device has no Metal 4 (supportsFamily:MTLGPUFamilyMetal4 returns NO)",
        "newRemoteBufferViewForDevice:" "this device has no peers (peerCount is 0)",
    }
    absent { "sparseBufferTier", "setOwnerWithIdentity:", }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            this.buffer.set_label(&crate::foundation::string::describe(label));
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "length" (this) -> usize { this.length }
        - "allocatedSize" (this) -> usize { this.buffer.len() }
        - "contents" (this) -> *mut c_void {
            if storage(this.options) == PRIVATE { std::ptr::null_mut() } else { this.buffer.contents().cast() }
        }
        - "didModifyRange:" (this, range: Range) {
            forbid!(HERE, storage(this.options) != MANAGED, (), "storageMode must be MTLStorageModeManaged.");
            let end = range.location.checked_add(range.length);
            let length = this.buffer.len();
            forbid!(HERE, end.is_none_or(|end| end > length), (), "{range:?} must be inside the buffer, of length {length}.");
        }
        - "gpuAddress" (this) -> u64 { this.buffer.contents().addr() as u64 }
        - "storageMode" (this) -> usize { storage(this.options) }
        - "cpuCacheMode" (this) -> usize { this.options & 15 }
        - "hazardTrackingMode" (this) -> usize { if this.options >> 8 & 3 == 1 { 1 } else { 2 } }
        - "resourceOptions" (this) -> usize { this.options }
        - "heap" (this) -> Id { this.piece.as_ref().map_or(Id::NIL, |piece| piece.heap.clone().autorelease()) }
        - "heapOffset" (this) -> usize { this.piece.as_ref().map_or(0, |piece| piece.offset) }
        - "makeAliasable" (this) {
            forbid!(HERE, this.piece.is_none(), (), "the buffer must be allocated from a heap.");
            if let Some(piece) = &this.piece { piece.make_aliasable() }
        }
        - "isAliasable" (this) -> bool { this.piece.as_ref().is_some_and(Piece::is_aliasable) }
        - "setPurgeableState:" (_this, _state: usize) -> usize { 2 }
        - "addDebugMarker:range:" (_this, _marker: Id, _range: Range) {}
        - "removeAllDebugMarkers" (_this) {}
        - "remoteStorageBuffer" (_this) -> Id { Id::NIL }
    }
}
