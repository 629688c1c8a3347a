//! Objective-C objects held by Rust objects.

use objc2::Message;
use objc2::rc::{Retained, autoreleasepool};
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// An object that is released inside an autorelease pool, on any thread: otherwise objects that Metal autoreleases then
/// would leak.
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
        // SAFETY: this is the only drop, and the object is not used afterwards.
        autoreleasepool(|_| unsafe { ManuallyDrop::drop(&mut self.object) });
    }
}
