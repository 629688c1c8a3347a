//! NSData, immutable.

use super::object::NS_OBJECT;
use super::{error, string, url};
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::retain;
use crate::runtime::{Flag, Id, Strong};
use std::ffi::c_void;

/// Bytes, owned or the program's.
pub(crate) struct Bytes {
    start: *const u8,
    length: usize,
    release: Release,
}

// SAFETY: the bytes are not changed, and those of a program stay until they are released.
unsafe impl Send for Bytes {}
unsafe impl Sync for Bytes {}

/// The way bytes are released.
enum Release {
    Owned(#[allow(dead_code, reason = "it is dropped")] Box<[u8]>),
    Never,
    Free,
    Unmap,
    /// A block that takes the bytes and their number.
    Call(Kept),
    /// A block without arguments.
    CallEmpty(Kept),
}

impl Bytes {
    pub(crate) fn new(bytes: &[u8]) -> Bytes {
        Bytes::owned(bytes.into())
    }

    pub(crate) fn owned(bytes: Box<[u8]>) -> Bytes {
        Bytes { start: bytes.as_ptr(), length: bytes.len(), release: Release::Owned(bytes) }
    }

    /// The program's bytes, with a block that releases them.
    pub(crate) fn with_destructor(start: *const c_void, length: usize, destructor: Kept) -> Bytes {
        Bytes { start: start.cast(), length, release: Release::CallEmpty(destructor) }
    }

    /// The program's bytes, which are released in one of the usual ways.
    pub(crate) fn freed(start: *const c_void, length: usize) -> Bytes {
        Bytes { start: start.cast(), length, release: Release::Free }
    }

    pub(crate) fn unmapped(start: *const c_void, length: usize) -> Bytes {
        Bytes { start: start.cast(), length, release: Release::Unmap }
    }

    /// No bytes, in a static.
    pub(crate) const fn none() -> Bytes {
        Bytes { start: std::ptr::dangling(), length: 0, release: Release::Never }
    }

    /// The bytes of a pointer, copied.
    pub(crate) fn copied(start: *const c_void, length: usize) -> Bytes {
        // SAFETY: the caller of a method with bytes and a length passes that many.
        Bytes::new(if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start.cast(), length) } })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: that many bytes are there until they are released.
        if self.length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.start, self.length) } }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        match &self.release {
            Release::Owned(_) | Release::Never => {}
            // SAFETY: the program passed memory of `malloc` to be freed.
            Release::Free => unsafe { libc::free(self.start.cast_mut().cast()) },
            // SAFETY: the program passed memory of `mmap` to be unmapped.
            Release::Unmap => unsafe {
                libc::munmap(self.start.cast_mut().cast(), self.length);
            },
            // SAFETY: the program passed a block of this type.
            Release::Call(block) => unsafe { block.call2(self.start, self.length) },
            // SAFETY: the program passed a block of this type.
            Release::CallEmpty(block) => unsafe { block.call() },
        }
    }
}

fn read(path: &str, failure: *mut Id) -> Option<Bytes> {
    match std::fs::read(path) {
        Ok(bytes) => Some(Bytes::owned(bytes.into())),
        Err(problem) => {
            error::file_error(path, &problem).autorelease().store(failure);
            None
        }
    }
}

fn of_file(path: &str) -> Id {
    read(path, std::ptr::null_mut()).map_or(Id::NIL, |bytes| Strong::new(bytes).autorelease())
}

class! {
    NS_DATA = "NSData": NS_OBJECT, new Bytes, ["NSCopying", "NSMutableCopying", "NSCoding"]
    methods {
        + "data" (_class) -> Id { Strong::new(Bytes::new(&[])).autorelease() }
        + "dataWithBytes:length:" (_class, start: *const c_void, length: usize) -> Id {
            Strong::new(Bytes::copied(start, length)).autorelease()
        }
        + "dataWithBytesNoCopy:length:freeWhenDone:" (_class, start: *mut c_void, length: usize, free: Flag) -> Id {
            let release = if free != 0 { Release::Free } else { Release::Never };
            Strong::new(Bytes { start: start.cast_const().cast(), length, release }).autorelease()
        }
        + "dataWithContentsOfFile:" (_class, path: Id) -> Id { of_file(&string::describe(path)) }
        + "dataWithContentsOfURL:" (_class, of: Id) -> Id { of_file(&url::path(of)) }
        - "init" (this) -> Id { this.set(Bytes::new(&[])) }
        - "initWithBytes:length:" (this, start: *const c_void, length: usize) -> Id { this.set(Bytes::copied(start, length)) }
        - "initWithBytesNoCopy:length:freeWhenDone:" (this, start: *mut c_void, length: usize, free: Flag) -> Id {
            let release = if free != 0 { Release::Free } else { Release::Never };
            this.set(Bytes { start: start.cast_const().cast(), length, release })
        }
        - "initWithBytesNoCopy:length:deallocator:" (this, start: *mut c_void, length: usize, deallocator: Block) -> Id {
            let release = Kept::new(deallocator).map_or(Release::Never, Release::Call);
            this.set(Bytes { start: start.cast_const().cast(), length, release })
        }
        - "initWithData:" (this, other: Id) -> Id {
            this.set(other.cast::<Bytes>().map_or(Bytes::new(&[]), |other| Bytes::new(other.as_slice())))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "bytes" (this) -> *const c_void { this.start.cast() }
        - "length" (this) -> usize { this.length }
        - "getBytes:length:" (this, to: *mut c_void, length: usize) {
            let length = length.min(this.length);
            // SAFETY: the caller passes room for that many bytes.
            unsafe { to.cast::<u8>().copy_from_nonoverlapping(this.start, length) };
        }
        - "isEqual:" (this, other: Id) -> bool {
            other.cast::<Bytes>().is_some_and(|other| other.as_slice() == this.as_slice())
        }
        - "isEqualToData:" (this, other: Id) -> bool {
            other.cast::<Bytes>().is_some_and(|other| other.as_slice() == this.as_slice())
        }
        - "hash" (this) -> usize { this.length }
        - "writeToFile:atomically:" (this, path: Id, _atomically: Flag) -> bool {
            std::fs::write(string::describe(path), this.as_slice()).is_ok()
        }
        - "description" (this) -> Id { string::new(&format!("{{length = {}}}", this.length)).autorelease() }
    }
}
