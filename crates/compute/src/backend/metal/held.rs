//! Objective-C objects that our own keep.

use objc2::Message;
use objc2::rc::{Retained, autoreleasepool};
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// An object whose end, on whatever thread, is inside of an autorelease pool: what Metal lets go of then would stay forever
/// without one.
pub(crate) struct Held<T: ?Sized + Message> {
    object: ManuallyDrop<Retained<T>>,
}

impl<T: ?Sized + Message> Held<T> {
    pub(crate) fn new(object: Retained<T>) -> Held<T> {
        Held { object: ManuallyDrop::new(object) }
    }
}

impl<T: ?Sized + Message> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: ?Sized + Message> Drop for Held<T> {
    fn drop(&mut self) {
        // SAFETY: it is dropped here and nowhere else, and not used after.
        autoreleasepool(|_| unsafe { ManuallyDrop::drop(&mut self.object) });
    }
}
