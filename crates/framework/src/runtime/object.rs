//! Objects: memory, reference counts, and the Rust value behind an instance.
//!
//! ```text
//! [ size | count ][ isa | value | … ]
//!                  └ the address of the object
//! ```
//!
//! A released object becomes a zombie: its memory is kept for a while, and its class reports every message (`debug`).

use super::class::{IS_BLOCK, IS_META, Slot};
use super::{Class, Encode, Sel, block, pool, send, weak};
use crate::debug::{self, zombie};
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::Deref;
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
    value: AtomicPtr<()>,
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
const COUNT: usize = HAS_WEAK - 1;

impl Id {
    pub(crate) const NIL: Id = Id(std::ptr::null_mut());

    pub(crate) fn is_nil(self) -> bool {
        self.0.is_null()
    }

    /// Its class, if it is not nil.
    pub(crate) fn class(self) -> Option<&'static Class> {
        // SAFETY: an object begins with its class, and classes live forever.
        unsafe { self.0.as_ref()?.isa.load(Ordering::Acquire).as_ref() }
    }

    /// The object with its Rust value, if it is of that class.
    pub(crate) fn cast<T: Payload>(self) -> Option<Object<T>> {
        self.class()?.is_kind_of(T::class()).then_some(Object(self, PhantomData))
    }

    /// The object as an argument that must be of a class; a mistake is reported.
    pub(crate) fn expect<T: Payload>(self, here: &str, what: &str) -> Option<Object<T>> {
        if self.is_nil() {
            debug::fail(here, format_args!("{what} must not be nil."));
            return None;
        }
        let object = self.cast();
        if object.is_none() {
            let (wanted, class) = (T::class().name(), self.class().map_or("?", Class::name));
            debug::fail(here, format_args!("{what} is a {class}, not a {wanted}."));
        }
        object
    }

    fn count(self) -> &'static AtomicUsize {
        // SAFETY: called for objects that `allocate` made or that are static: they have a count in front of them.
        unsafe { &*self.0.cast::<AtomicUsize>().sub(1) }
    }

    /// True if it has a count: classes and blocks do not.
    fn is_counted(self) -> bool {
        self.class().is_some_and(|class| class.info.load(Ordering::Relaxed) & (IS_META | IS_BLOCK) == 0)
    }

    pub(crate) fn retain_count(self) -> usize {
        if self.is_counted() { self.count().load(Ordering::Relaxed) & COUNT } else { usize::MAX }
    }

    pub(crate) fn mark_weak(self) {
        if self.is_counted() {
            self.count().fetch_or(HAS_WEAK, Ordering::AcqRel);
        }
    }

    /// Retains it unless its count is 0.
    pub(crate) fn try_retain(self) -> bool {
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

    pub(crate) fn responds_to(self, selector: &std::ffi::CStr) -> bool {
        self.class().is_some_and(|class| class.method(selector).is_some())
    }
}

/// The Rust value behind the instances of a class.
pub(crate) trait Payload: 'static {
    /// The class that declares it.
    fn class() -> &'static Class;
}

/// An object whose class has the Rust value `T`.
#[repr(transparent)]
pub(crate) struct Object<T>(Id, PhantomData<T>);

impl<T> Clone for Object<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Object<T> {}

impl<T> Object<T> {
    pub(crate) fn id(self) -> Id {
        self.0
    }

    /// A new instance of a class whose value is of this type, not initialized yet.
    pub(crate) fn allocate(class: &'static Class) -> Object<T> {
        Object(allocate(class, 0), PhantomData)
    }

    /// A reference of our own.
    pub(crate) fn strong(self) -> Strong {
        Strong::retain(self.0)
    }

    fn value(self) -> *mut T {
        // SAFETY: instances of a class with a value have the place for it.
        unsafe { (*self.0.0).value.load(Ordering::Acquire).cast() }
    }

    /// Sets the value of an object that `alloc` returned, in an initializer.
    pub(crate) fn set(self, value: T) -> Id {
        let value = Box::into_raw(Box::new(value)).cast();
        // SAFETY: as above; nobody else uses an object before it is initialized.
        let old = unsafe { (*self.0.0).value.swap(value, Ordering::AcqRel) };
        if !old.is_null() {
            // SAFETY: it was a value of this type.
            unsafe { drop_value::<T>(old) };
        }
        self.0
    }
}

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the value is that of the class, and lives as long as the object, which the caller of a method keeps.
        match unsafe { self.value().as_ref() } {
            Some(value) => value,
            None => debug::fatal(format_args!(
                "*** message sent to an instance of {} that is not initialized",
                self.0.class().map_or("?", Class::name)
            )),
        }
    }
}

/// # Safety
///
/// `value` is a boxed `T`, and dropped once.
pub(crate) unsafe fn drop_value<T>(value: *mut ()) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
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
        let object = Object::<T>(allocate(T::class(), 0), PhantomData);
        object.set(value);
        Strong(object.0)
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

/// Fields of an object that can change.
#[derive(Default)]
pub(crate) struct Fields<T>(Mutex<T>);

impl<T> Fields<T> {
    pub(crate) const fn new(fields: T) -> Fields<T> {
        Fields(Mutex::new(fields))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        lock(&self.0)
    }
}

/// Locks a mutex; a panic under it was ours, and ends the process anyway.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A field that has accessors.
pub(crate) trait Property {
    /// Its type in methods.
    type Raw: Encode;
    fn get(&self) -> Self::Raw;
    fn from_raw(raw: Self::Raw) -> Self;
}

macro_rules! plain_properties {
    ($($ty:ty),*) => { $(impl Property for $ty {
        type Raw = $ty;
        fn get(&self) -> $ty { *self }
        fn from_raw(raw: $ty) -> $ty { raw }
    })* };
}
plain_properties!(usize, isize, u64, u32, f64, super::Size3);

impl Property for bool {
    type Raw = u8;
    fn get(&self) -> u8 {
        (*self).into()
    }
    fn from_raw(raw: u8) -> bool {
        raw != 0
    }
}

impl Property for Strong {
    type Raw = Id;
    fn get(&self) -> Id {
        self.clone().autorelease()
    }
    fn from_raw(raw: Id) -> Strong {
        Strong::retain(raw)
    }
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
        Id(instance)
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
    if object.is_nil() {
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
    if object.is_nil() {
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
