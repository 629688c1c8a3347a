//! Blocks: closures of C, Objective-C and Rust programs (clang's Block ABI).

use super::class::{Class, ClassData, IS_BLOCK, Method};
use super::object::{Instance, release as release_object, retain as retain_object};
use super::{Id, Sel};
use crate::foundation::object::NS_OBJECT;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicIsize, Ordering};

/// A block that a program passes, or null.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Block(pub(crate) *mut Layout);

/// The beginning of a block. As in GNUstep's runtime, `count` has the references of a copied block.
#[repr(C)]
pub(crate) struct Layout {
    isa: *const Class,
    flags: i32,
    count: AtomicI32,
    invoke: *const c_void,
    descriptor: *const Descriptor,
}

#[repr(C)]
struct Descriptor {
    reserved: usize,
    size: usize,
    /// Only with [`HAS_HELPERS`].
    copy: Option<unsafe extern "C" fn(*mut c_void, *const c_void)>,
    dispose: Option<unsafe extern "C" fn(*mut c_void)>,
}

const HAS_HELPERS: i32 = 1 << 25;
const IS_GLOBAL: i32 = 1 << 28;

macro_rules! block_classes {
    ($($class:ident $meta:ident,)*) => { $(
        static $meta: Class = Class::new(concat!(stringify!($class), "\0"), std::ptr::null(), &raw const $class, 1, 0, &DATA);
        /// The class of blocks in one kind of memory.
        #[unsafe(no_mangle)]
        pub(crate) static $class: Class =
            Class::new(concat!(stringify!($class), "\0"), &$meta, &NS_OBJECT, IS_BLOCK, 32, &DATA);
    )* };
}

#[allow(non_upper_case_globals, reason = "the names of the Block ABI")]
mod classes {
    use super::*;
    block_classes! {
        _NSConcreteStackBlock STACK, _NSConcreteGlobalBlock GLOBAL, _NSConcreteMallocBlock MALLOC,
    }
}
use classes::_NSConcreteMallocBlock;

/// A block in a static that is never called: only its address counts.
#[repr(transparent)]
pub(crate) struct Marker(Layout);

// SAFETY: nobody changes it.
unsafe impl Sync for Marker {}

impl Marker {
    pub(crate) const fn new() -> Marker {
        Marker(Layout {
            isa: &raw const classes::_NSConcreteGlobalBlock,
            flags: IS_GLOBAL,
            count: AtomicI32::new(0),
            invoke: std::ptr::null(),
            descriptor: std::ptr::null(),
        })
    }

    pub(crate) fn is(&'static self, block: Block) -> bool {
        std::ptr::eq(&raw const self.0, block.0)
    }
}

/// `[block copy]`, as programs without automatic reference counting write.
static METHODS: [Method; 1] = [Method::new(false, "copyWithZone:\0", &["@", "^v"], copy_with_zone as *mut ())];

extern "C-unwind" fn copy_with_zone(block: Id, _: Sel, _zone: *mut c_void) -> Id {
    // SAFETY: the receiver is a block.
    Id(unsafe { _Block_copy(block.0.cast()) }.cast::<Instance>())
}

static DATA: ClassData = ClassData {
    methods: &METHODS,
    properties: &[],
    refused: &[],
    absent: &[],
    added: Mutex::new(Vec::new()),
    ivars: Mutex::new(Vec::new()),
    conforms: &["NSCopying"],
    protocols: Mutex::new(Vec::new()),
    slot: None,
    live: AtomicIsize::new(0),
};

/// A block that is kept: a copy of the program's.
pub(crate) struct Kept(Block);

// SAFETY: the program passes blocks to be called on any thread, as Metal documents.
unsafe impl Send for Kept {}
unsafe impl Sync for Kept {}

impl Kept {
    /// `None` for a null block.
    pub(crate) fn new(block: Block) -> Option<Kept> {
        // SAFETY: programs pass blocks or null.
        let copy = unsafe { _Block_copy(block.0.cast()) };
        (!copy.is_null()).then(|| Kept(Block(copy.cast())))
    }

    /// The function to call, with the block as its first argument.
    fn code(&self) -> (*const c_void, *mut Layout) {
        // SAFETY: a kept block is a block.
        (unsafe { (*self.0.0).invoke }, self.0.0)
    }

    /// # Safety
    ///
    /// The block has no parameters and no result.
    pub(crate) unsafe fn call(&self) {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe { std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout)>(code)(block) }
    }

    /// # Safety
    ///
    /// The block takes one word and returns nothing.
    pub(crate) unsafe fn call1<A>(&self, a: A) {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe { std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A)>(code)(block, a) }
    }

    /// # Safety
    ///
    /// The block takes two words and returns nothing.
    pub(crate) unsafe fn call2<A, B>(&self, a: A, b: B) {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe { std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A, B)>(code)(block, a, b) }
    }

    /// # Safety
    ///
    /// The block takes two words and returns a signed one.
    pub(crate) unsafe fn compare<A>(&self, a: A, b: A) -> isize {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe {
            std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A, A) -> isize>(code)(
                block, a, b,
            )
        }
    }

    /// # Safety
    ///
    /// The block takes three words and returns one.
    pub(crate) unsafe fn ask3<A, B, C>(&self, a: A, b: B, c: C) -> usize {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe {
            std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A, B, C) -> usize>(code)(
                block, a, b, c,
            )
        }
    }

    /// # Safety
    ///
    /// The block takes three words and returns nothing.
    pub(crate) unsafe fn call3<A, B, C>(&self, a: A, b: B, c: C) {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe {
            std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A, B, C)>(code)(block, a, b, c)
        }
    }

    /// # Safety
    ///
    /// The block takes four words and returns an `R`.
    pub(crate) unsafe fn call4<A, B, C, D, R>(&self, a: A, b: B, c: C, d: D) -> R {
        let (code, block) = self.code();
        // SAFETY: as the caller promises.
        unsafe {
            std::mem::transmute::<*const c_void, extern "C-unwind" fn(*mut Layout, A, B, C, D) -> R>(code)(
                block, a, b, c, d,
            )
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { _Block_release(self.0.0.cast()) };
    }
}

/// Retains what has no count in front: a block is copied, others stay.
pub(crate) fn retain(object: Id) -> Id {
    match object.class() {
        // SAFETY: its class says that it is a block.
        Some(class) if class.has(IS_BLOCK) => Id(unsafe { _Block_copy(object.0.cast()) }.cast::<Instance>()),
        _ => object,
    }
}

pub(crate) fn release(object: Id) {
    if object.class().is_some_and(|class| class.has(IS_BLOCK)) {
        // SAFETY: its class says that it is a block.
        unsafe { _Block_release(object.0.cast()) };
    }
}

/// Copies a block on the stack to the heap, or retains one that is there.
///
/// # Safety
///
/// `block` is a block or null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Block_copy(block: *const c_void) -> *mut c_void {
    let from = block.cast::<Layout>().cast_mut();
    if from.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: as the caller promises; the descriptor has the size of the block and, with the flag, its helpers.
    unsafe {
        if (*from).flags & IS_GLOBAL != 0 {
            return from.cast();
        }
        if std::ptr::eq((*from).isa, &raw const _NSConcreteMallocBlock) {
            (*from).count.fetch_add(1, Ordering::Relaxed);
            return from.cast();
        }
        let Descriptor { size, .. } = *(*from).descriptor;
        let to = libc::malloc(size).cast::<Layout>();
        if to.is_null() {
            crate::debug::fatal(format_args!("out of memory: a block of {size} bytes"));
        }
        to.cast::<u8>().copy_from_nonoverlapping(from.cast(), size);
        (*to).isa = &raw const _NSConcreteMallocBlock;
        (*to).count = AtomicI32::new(1);
        if (*to).flags & HAS_HELPERS != 0
            && let Some(copy) = (*(*to).descriptor).copy
        {
            copy(to.cast(), from.cast());
        }
        to.cast()
    }
}

/// # Safety
///
/// `block` is a block or null; a copied one is not used after its last release.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Block_release(block: *const c_void) {
    let block = block.cast::<Layout>().cast_mut();
    // SAFETY: as the caller promises.
    unsafe {
        if block.is_null() || !std::ptr::eq((*block).isa, &raw const _NSConcreteMallocBlock) {
            return;
        }
        if (*block).count.fetch_sub(1, Ordering::AcqRel) == 1 {
            if (*block).flags & HAS_HELPERS != 0
                && let Some(dispose) = (*(*block).descriptor).dispose
            {
                dispose(block.cast());
            }
            libc::free(block.cast());
        }
    }
}

/// A variable with `__block`.
#[repr(C)]
struct Shared {
    isa: *const c_void,
    forwarding: *mut Shared,
    flags: AtomicI32,
    size: i32,
    keep: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    dispose: Option<unsafe extern "C" fn(*mut c_void)>,
}

const FIELD_IS_BLOCK: c_int = 7;
const FIELD_IS_SHARED: c_int = 8;
const SHARED_COUNT: i32 = 0xffff;

/// Called by blocks compiled by clang for what they capture.
///
/// # Safety
///
/// `object` is of the kind that the flags name.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Block_object_assign(place: *mut *mut c_void, object: *mut c_void, flags: c_int) {
    let kind = flags & 15;
    // SAFETY: as the caller promises.
    unsafe {
        *place = match kind {
            FIELD_IS_SHARED => copy_shared(object.cast()).cast(),
            FIELD_IS_BLOCK if flags & 128 == 0 => _Block_copy(object),
            _ if flags & 128 == 0 => retain_object(Id(object.cast())).0.cast(),
            // A `__block` variable does not retain.
            _ => object,
        };
    }
}

/// # Safety
///
/// As [`_Block_object_assign`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Block_object_dispose(object: *mut c_void, flags: c_int) {
    // SAFETY: as the caller promises.
    unsafe {
        match flags & 15 {
            FIELD_IS_SHARED => release_shared(object.cast()),
            FIELD_IS_BLOCK if flags & 128 == 0 => _Block_release(object),
            _ if flags & 128 == 0 => release_object(Id(object.cast())),
            _ => {}
        }
    }
}

unsafe fn copy_shared(from: *mut Shared) -> *mut Shared {
    // SAFETY: a variable with `__block`; the first copy moves it to the heap, with one reference for the stack frame.
    unsafe {
        let current = (*from).forwarding;
        if (*current).flags.load(Ordering::Acquire) & SHARED_COUNT != 0 {
            (*current).flags.fetch_add(2, Ordering::Relaxed);
            return current;
        }
        let size = usize::try_from((*from).size).unwrap_or(0);
        let to = libc::malloc(size).cast::<Shared>();
        if to.is_null() {
            crate::debug::fatal(format_args!("out of memory: a captured variable of {size} bytes"));
        }
        to.cast::<u8>().copy_from_nonoverlapping(from.cast(), size);
        (*to).forwarding = to;
        (*to).flags.fetch_add(4, Ordering::Relaxed);
        (*from).forwarding = to;
        if (*from).flags.load(Ordering::Relaxed) & HAS_HELPERS != 0
            && let Some(keep) = (*from).keep
        {
            keep(to.cast(), from.cast());
        }
        to
    }
}

unsafe fn release_shared(shared: *mut Shared) {
    // SAFETY: a variable with `__block`.
    unsafe {
        let shared = (*shared).forwarding;
        if (*shared).flags.load(Ordering::Acquire) & SHARED_COUNT == 0 {
            return;
        }
        if (*shared).flags.fetch_sub(2, Ordering::AcqRel) & SHARED_COUNT == 2 {
            if (*shared).flags.load(Ordering::Relaxed) & HAS_HELPERS != 0
                && let Some(dispose) = (*shared).dispose
            {
                dispose(shared.cast());
            }
            libc::free(shared.cast());
        }
    }
}
