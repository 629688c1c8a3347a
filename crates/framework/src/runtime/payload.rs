//! The Rust value behind an instance, and fields with accessors.

use super::object::{Id, Strong, allocate, lock};
use super::{Class, Encode};
use crate::debug;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

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
    /// An object that is known to be of this class.
    pub(super) fn of(id: Id) -> Object<T> {
        Object(id, PhantomData)
    }

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
        unsafe { (*self.0.in_memory().0).value.load(Ordering::Acquire).cast() }
    }

    /// Changes the value of an object that only one thread at a time uses, as Foundation's mutable objects are.
    pub(crate) fn change(self, change: impl FnOnce(&mut T)) {
        // SAFETY: no reference to the value outlives a method, and no other method runs.
        if let Some(value) = unsafe { self.value().as_mut() } {
            change(value);
        }
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

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A field that has accessors.
pub(crate) trait Property {
    /// Its type in methods.
    type Raw: Encode;
    /// Its type in the struct.
    type Field;
    fn get(field: &Self::Field) -> Self::Raw;
    fn from_raw(raw: Self::Raw) -> Self::Field;
}

macro_rules! plain_properties {
    ($($ty:ty),*) => { $(impl Property for $ty {
        type Raw = $ty;
        type Field = $ty;
        fn get(field: &$ty) -> $ty { *field }
        fn from_raw(raw: $ty) -> $ty { raw }
    })* };
}
plain_properties!(usize, isize, u64, u32, f64, super::Size3);

impl Property for bool {
    type Raw = u8;
    type Field = bool;
    fn get(field: &bool) -> u8 {
        (*field).into()
    }
    fn from_raw(raw: u8) -> bool {
        raw != 0
    }
}

impl Property for Strong {
    type Raw = Id;
    type Field = Strong;
    fn get(field: &Strong) -> Id {
        field.clone().autorelease()
    }
    fn from_raw(raw: Id) -> Strong {
        Strong::retain(raw)
    }
}

/// An object that the setter copies, as `@property (copy)`: what a program changes in its own later stays out.
pub(crate) enum Copied {}

impl Property for Copied {
    type Raw = Id;
    type Field = Strong;
    fn get(field: &Strong) -> Id {
        field.clone().autorelease()
    }
    fn from_raw(raw: Id) -> Strong {
        crate::foundation::copied(raw)
    }
}
