//! Objects: memory and reference counts.
//!
//! ```text
//! [ size | count ][ isa | value | … ]
//!                  └ the address of the object
//! ```
//!
//! Objects that a program has as static data (constant strings, protocols) have no count, and short strings are pointers
//! with a tag (`small`).
//!
//! A released object becomes a zombie: its memory is kept for a while, and its class reports every message (`debug`).

use super::class::{CONSTRUCTS, DESTRUCTS, IS_BLOCK, IS_META, IS_STATIC, Slot};
use super::{Class, Object, Payload, Sel, associate, block, pool, send, small, weak};
use crate::debug::{self, zombie};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An object or nil, as programs pass it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct Id(pub(crate) *mut Instance);

/// The beginning of an object.
#[repr(C)]
pub(crate) struct Instance {
    pub(crate) isa: AtomicPtr<Class>,
    /// The Rust value, boxed; null before `init`. Only in instances of classes that have one.
    pub(super) value: AtomicPtr<()>,
}

impl Instance {
    /// An object in a static, of a class whose instances are static.
    pub(crate) const fn constant<T>(class: &'static Class, value: &'static T) -> Instance {
        Instance {
            isa: AtomicPtr::new(std::ptr::from_ref(class).cast_mut()),
            value: AtomicPtr::new(std::ptr::from_ref(value).cast_mut().cast()),
        }
    }
}

// SAFETY: a pointer; the objects behind it are shared as their own types allow, as in Objective-C.
unsafe impl Send for Id {}
unsafe impl Sync for Id {}

/// Bytes in front of an object.
pub(crate) const HEADER: usize = 16;
/// The count of an object that lives forever.
pub(crate) const IMMORTAL: usize = 1 << 63;
/// Set in the count of an object with weak references.
pub(crate) const HAS_WEAK: usize = 1 << 62;
/// Set in the count of an object with associated objects.
pub(crate) const HAS_ASSOCIATED: usize = 1 << 61;
const COUNT: usize = HAS_ASSOCIATED - 1;

impl Id {
    pub(crate) const NIL: Id = Id(std::ptr::null_mut());

    pub(crate) fn is_nil(self) -> bool {
        self.0.is_null()
    }

    /// True if it is a value in the bits of a pointer.
    #[inline]
    pub(crate) fn is_small(self) -> bool {
        self.0.addr() & small::TAG != 0
    }

    /// The object of a value in the bits of a pointer, or else itself.
    #[inline]
    pub(crate) fn in_memory(self) -> Id {
        if self.is_small() { small::object(self) } else { self }
    }

    /// Its class, if it is not nil.
    pub(crate) fn class(self) -> Option<&'static Class> {
        // SAFETY: an object begins with its class, and classes live forever.
        unsafe { self.in_memory().0.as_ref()?.isa.load(Ordering::Acquire).as_ref() }
    }

    /// The object with its Rust value, if it is of that class.
    pub(crate) fn cast<T: Payload>(self) -> Option<Object<T>> {
        self.class()?.is_kind_of(T::class()).then(|| Object::of(self))
    }

    /// The object as an argument that must be of a class; a mistake is reported.
    pub(crate) fn expect<T: Payload>(self, here: &str, what: &str) -> Option<Object<T>> {
        if self.is_nil() {
            debug::fail(here, format_args!("{what} must not be nil."));
            return None;
        }
        let object = self.cast();
        if let Some(class) = debug::zombie::class_of(self) {
            debug::fail(here, format_args!("{what} is a {class} that was released before, {:p}.", self.0));
        } else if object.is_none() {
            let (wanted, class) = (T::class().name(), self.class().map_or("?", Class::name));
            debug::fail(here, format_args!("{what} is a {class}, not a {wanted}."));
        }
        object
    }

    pub(super) fn count(self) -> &'static AtomicUsize {
        // SAFETY: called for objects that `allocate` made or that are static: they have a count in front of them.
        unsafe { &*self.in_memory().0.cast::<AtomicUsize>().sub(1) }
    }

    /// True if it has a count: classes, blocks and static data of programs do not.
    fn is_counted(self) -> bool {
        self.class().is_some_and(|class| !class.has(IS_META | IS_BLOCK | IS_STATIC))
    }

    pub(crate) fn retain_count(self) -> usize {
        if self.is_counted() { self.count().load(Ordering::Relaxed) & COUNT } else { usize::MAX }
    }

    /// Remembers that others know it: [`HAS_WEAK`], [`HAS_ASSOCIATED`].
    pub(crate) fn mark(self, flag: usize) {
        if self.is_counted() {
            self.count().fetch_or(flag, Ordering::AcqRel);
        }
    }

    /// Retains it unless its count is 0.
    pub(crate) fn try_retain(self) -> bool {
        if !self.is_counted() {
            return true;
        }
        let retained =
            self.count().fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| match count & COUNT {
                _ if count & IMMORTAL != 0 => Some(count),
                0 => None,
                _ => Some(count + 1),
            });
        retained.is_ok()
    }

    /// Adds it to the innermost pool, which releases it.
    pub(crate) fn autorelease(self) -> Id {
        pool::add(self);
        self
    }

    /// Stores an error of a method that failed, if the caller wants it.
    pub(crate) fn store(self, to: *mut Id) {
        // SAFETY: a caller of a method with an out parameter passes null or a place for it.
        if let Some(to) = unsafe { to.as_mut() } {
            *to = self;
        }
    }

    pub(crate) fn responds_to(self, selector: &CStr) -> bool {
        self.class().is_some_and(|class| class.method(selector).is_some())
    }
}

/// A reference that is released when it is dropped; nil is possible.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Strong(Id);

impl Default for Strong {
    fn default() -> Strong {
        Strong(Id::NIL)
    }
}

impl Strong {
    pub(crate) fn retain(id: Id) -> Strong {
        Strong(retain(id))
    }

    /// Takes over a reference that the caller owns.
    pub(crate) fn owned(id: Id) -> Strong {
        Strong(id)
    }

    /// A new object of the class that declares `T`.
    pub(crate) fn new<T: Payload>(value: T) -> Strong {
        Strong(Object::<T>::allocate(T::class()).set(value))
    }

    pub(crate) fn id(&self) -> Id {
        self.0
    }

    /// Gives the reference to the caller of a method that returns a new object.
    pub(crate) fn into_id(self) -> Id {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Gives the reference to the innermost pool.
    pub(crate) fn autorelease(self) -> Id {
        self.into_id().autorelease()
    }

    pub(crate) fn cast<T: Payload>(&self) -> Option<Object<T>> {
        self.0.cast()
    }
}

impl Clone for Strong {
    fn clone(&self) -> Strong {
        Strong::retain(self.0)
    }
}

impl Drop for Strong {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// Locks a mutex; a panic under it was ours, and ends the process anyway.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new instance, zeroed, with a count of 1.
pub(crate) fn allocate(class: &'static Class, extra: usize) -> Id {
    let size = usize::try_from(class.instance_size.load(Ordering::Acquire)).unwrap_or(0).max(16) + extra;
    let layout = layout(size);
    // SAFETY: the layout has a size.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the words are inside the allocation.
    unsafe {
        start.cast::<usize>().write(size);
        start.cast::<usize>().add(1).write(1);
        let instance = start.add(HEADER).cast::<Instance>();
        (*instance).isa = AtomicPtr::new(std::ptr::from_ref(class).cast_mut());
        class.data.live.fetch_add(1, Ordering::Relaxed);
        if class.has(CONSTRUCTS) {
            construct(Id(instance), class);
        }
        Id(instance)
    }
}

/// Constructs variables of classes that a compiler emitted, those of the superclass first.
#[cold]
fn construct(object: Id, class: &'static Class) {
    let chain: Vec<&'static Class> = class.chain().collect();
    chain.into_iter().rev().for_each(|class| call_own(object, class, c".cxx_construct"));
}

/// Calls a method of a compiler without arguments, if the class itself has it.
fn call_own(object: Id, class: &'static Class, selector: &CStr) {
    if let Some(method) = class.own_method(selector) {
        // SAFETY: such methods take no other arguments.
        let code = unsafe { std::mem::transmute::<*mut (), extern "C-unwind" fn(Id, Sel)>(method.code()) };
        code(object, Sel::register(selector));
    }
}

/// The layout of an instance with its header.
pub(crate) fn layout(size: usize) -> Layout {
    Layout::from_size_align(HEADER + size, 16)
        .unwrap_or_else(|_| debug::fatal(format_args!("an instance too large")))
}

/// `init` of an object without one of its own: makes the value, if its class can.
pub(crate) fn initialize(object: Id) -> Id {
    if let Some(Slot { make: Some(make), .. }) = slot(object) {
        // SAFETY: an instance of a class with a value has the place for it; nobody else uses it yet.
        unsafe {
            if (*object.0).value.load(Ordering::Acquire).is_null() {
                (*object.0).value.store(make(), Ordering::Release);
            }
        }
    }
    object
}

fn slot(object: Id) -> Option<Slot> {
    object.class()?.chain().find_map(|class| class.data.slot)
}

/// Drops the value of an object and makes it a zombie. Called by `dealloc` of the root class.
pub(crate) fn deallocate(object: Id) {
    let Some(class) = object.class().filter(|_| object.is_counted()) else { return };
    if object.count().load(Ordering::Acquire) & HAS_WEAK != 0 {
        weak::clear(object);
    }
    if object.count().load(Ordering::Acquire) & HAS_ASSOCIATED != 0 {
        associate::objc_removeAssociatedObjects(object);
    }
    for class in class.chain().filter(|class| class.has(DESTRUCTS)) {
        call_own(object, class, c".cxx_destruct");
    }
    if let Some(slot) = slot(object) {
        // SAFETY: the last reference is gone.
        unsafe {
            let value = (*object.0).value.swap(std::ptr::null_mut(), Ordering::AcqRel);
            if !value.is_null() {
                (slot.drop)(value);
            }
        }
    }
    class.data.live.fetch_sub(1, Ordering::Relaxed);
    zombie::bury(object, class);
}

pub(crate) fn retain(object: Id) -> Id {
    if object.is_nil() || object.is_small() {
        return object;
    }
    if object.is_counted() {
        if zombie::is_zombie(object) {
            zombie::report(object, c"retain");
        }
        if object.count().load(Ordering::Relaxed) & IMMORTAL == 0 {
            object.count().fetch_add(1, Ordering::Relaxed);
        }
        return object;
    }
    block::retain(object)
}

pub(crate) fn release(object: Id) {
    if object.is_nil() || object.is_small() {
        return;
    }
    if !object.is_counted() {
        return block::release(object);
    }
    if zombie::is_zombie(object) {
        return zombie::report(object, c"release");
    }
    if object.count().load(Ordering::Relaxed) & IMMORTAL != 0 {
        return;
    }
    if object.count().fetch_sub(1, Ordering::AcqRel) & COUNT == 1 {
        send::send(object, dealloc());
    }
}

fn dealloc() -> Sel {
    static DEALLOC: std::sync::OnceLock<Sel> = std::sync::OnceLock::new();
    *DEALLOC.get_or_init(|| Sel::register(c"dealloc"))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_retain(object: Id) -> Id {
    retain(object)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_release(object: Id) {
    release(object);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_retainBlock(object: Id) -> Id {
    retain(object)
}

/// # Safety
///
/// `place` holds a reference or nil.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_storeStrong(place: *mut Id, value: Id) {
    let value = retain(value);
    // SAFETY: as the caller promises.
    release(unsafe { std::ptr::replace(place, value) });
}
