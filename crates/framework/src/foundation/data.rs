//! NSData and NSMutableData.

use super::object::NS_OBJECT;
use super::{error, string, url};
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::retain;
use crate::runtime::{Class, Flag, Id, Object, Range, Strong};
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
    Owned(Vec<u8>),
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
        Bytes::owned(bytes.to_vec())
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Bytes {
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
        Bytes::new(slice(start, length))
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
        Ok(bytes) => Some(Bytes::owned(bytes)),
        Err(problem) => {
            error::file_error(path, &problem).autorelease().store(failure);
            None
        }
    }
}

fn made(class: &'static Class, bytes: Bytes) -> Id {
    Object::<Bytes>::allocate(class).set(bytes).autorelease()
}

fn of_file(class: &'static Class, path: &str, failure: *mut Id) -> Id {
    read(path, failure).map_or(Id::NIL, |bytes| made(class, bytes))
}

/// Sets the bytes of a new object; one that gets none is released, as by an initializer that fails.
fn set(this: Object<Bytes>, bytes: Option<Bytes>) -> Id {
    match bytes {
        Some(bytes) => this.set(bytes),
        None => {
            crate::runtime::object::release(this.id());
            Id::NIL
        }
    }
}

fn written(this: Object<Bytes>, path: &str, failure: *mut Id) -> bool {
    let result = compute::files::replace_with(path.as_ref(), this.as_slice());
    if let Err(problem) = &result {
        error::write_error(path, problem).autorelease().store(failure);
    }
    result.is_ok()
}

/// Changes the bytes of mutable data.
fn edit(this: Object<Bytes>, change: impl FnOnce(&mut Vec<u8>)) {
    // As in Foundation, one thread at a time uses mutable data.
    this.change(|bytes| {
        let mut own = match &mut bytes.release {
            Release::Owned(own) => std::mem::take(own),
            _ => bytes.as_slice().to_vec(),
        };
        change(&mut own);
        *bytes = Bytes::owned(own);
    });
}

/// The end of a range of bytes; throws for one outside.
fn end(this: Object<Bytes>, here: &str, range: Range) -> usize {
    let end = range.location.checked_add(range.length).filter(|end| *end <= this.length);
    throw_if!(NSRangeException, here, end.is_none(), "range {range:?} exceeds data length {}", this.length);
    end.unwrap_or(0)
}

fn slice<'a>(bytes: *const c_void, length: usize) -> &'a [u8] {
    // SAFETY: the caller of a method with bytes and a length passes that many.
    if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(bytes.cast(), length) } }
}

class! {
    NS_DATA = "NSData": NS_OBJECT, new Bytes, ["NSCopying", "NSMutableCopying", "NSCoding"]
    methods {
        + "data" (class) -> Id { made(class, Bytes::new(&[])) }
        + "dataWithBytes:length:" (class, start: *const c_void, length: usize) -> Id {
            made(class, Bytes::copied(start, length))
        }
        + "dataWithBytesNoCopy:length:" (class, start: *mut c_void, length: usize) -> Id {
            made(class, Bytes::freed(start, length))
        }
        + "dataWithBytesNoCopy:length:freeWhenDone:" (class, start: *mut c_void, length: usize, free: Flag) -> Id {
            let release = if free != 0 { Release::Free } else { Release::Never };
            made(class, Bytes { start: start.cast_const().cast(), length, release })
        }
        + "dataWithData:" (class, other: Id) -> Id {
            made(class, other.cast::<Bytes>().map_or(Bytes::new(&[]), |other| Bytes::new(other.as_slice())))
        }
        + "dataWithContentsOfFile:" (class, path: Id) -> Id { of_file(class, &string::describe(path), std::ptr::null_mut()) }
        + "dataWithContentsOfFile:options:error:" (class, path: Id, _options: usize, error: *mut Id) -> Id {
            of_file(class, &string::describe(path), error)
        }
        + "dataWithContentsOfURL:" (class, of: Id) -> Id { of_file(class, &url::path(of), std::ptr::null_mut()) }
        + "dataWithContentsOfURL:options:error:" (class, of: Id, _options: usize, error: *mut Id) -> Id {
            of_file(class, &url::path(of), error)
        }
        - "initWithContentsOfFile:" (this, path: Id) -> Id { set(this, read(&string::describe(path), std::ptr::null_mut())) }
        - "initWithContentsOfURL:" (this, of: Id) -> Id { set(this, read(&url::path(of), std::ptr::null_mut())) }
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
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            Object::<Bytes>::allocate(&NS_MUTABLE_DATA).set(Bytes::new(this.as_slice()))
        }
        - "subdataWithRange:" (this, range: Range) -> Id {
            let end = end(this, HERE, range);
            Strong::new(Bytes::new(&this.as_slice()[range.location..end])).autorelease()
        }
        - "getBytes:range:" (this, to: *mut c_void, range: Range) {
            let bytes = &this.as_slice()[range.location..end(this, HERE, range)];
            // SAFETY: the caller passes room for that many bytes.
            unsafe { to.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
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
            written(this, &string::describe(path), std::ptr::null_mut())
        }
        - "writeToURL:atomically:" (this, to: Id, _atomically: Flag) -> bool {
            written(this, &url::path(to), std::ptr::null_mut())
        }
        - "writeToFile:options:error:" (this, path: Id, _options: usize, error: *mut Id) -> bool {
            written(this, &string::describe(path), error)
        }
        - "writeToURL:options:error:" (this, to: Id, _options: usize, error: *mut Id) -> bool {
            written(this, &url::path(to), error)
        }
        - "description" (this) -> Id { string::new(&format!("{{length = {}}}", this.length)).autorelease() }
    }
}

class! {
    NS_MUTABLE_DATA = "NSMutableData": NS_DATA, as Bytes, []
    methods {
        + "dataWithCapacity:" (class, _capacity: usize) -> Id { made(class, Bytes::new(&[])) }
        + "dataWithLength:" (class, length: usize) -> Id { made(class, Bytes::owned(vec![0; length])) }
        - "initWithCapacity:" (this, _capacity: usize) -> Id { this.set(Bytes::new(&[])) }
        - "initWithLength:" (this, length: usize) -> Id { this.set(Bytes::owned(vec![0; length])) }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Bytes::new(this.as_slice())).into_id() }
        - "mutableBytes" (this) -> *mut c_void { this.start.cast_mut().cast() }
        - "setLength:" (this, length: usize) { edit(this, |own| own.resize(length, 0)) }
        - "increaseLengthBy:" (this, more: usize) { edit(this, |own| own.resize(own.len() + more, 0)) }
        - "appendBytes:length:" (this, bytes: *const c_void, length: usize) {
            let more = slice(bytes, length).to_vec();
            edit(this, |own| own.extend_from_slice(&more));
        }
        - "appendData:" (this, other: Id) {
            let more = other.cast::<Bytes>().map(|other| other.as_slice().to_vec()).unwrap_or_default();
            edit(this, |own| own.extend_from_slice(&more));
        }
        - "setData:" (this, other: Id) {
            let bytes = other.cast::<Bytes>().map(|other| other.as_slice().to_vec()).unwrap_or_default();
            edit(this, |own| *own = bytes);
        }
        - "replaceBytesInRange:withBytes:" (this, range: Range, bytes: *const c_void) {
            let (end, by) = (end(this, HERE, range), slice(bytes, range.length).to_vec());
            edit(this, |own| own[range.location..end].copy_from_slice(&by));
        }
        - "resetBytesInRange:" (this, range: Range) {
            let end = end(this, HERE, range);
            edit(this, |own| own[range.location..end].fill(0));
        }
    }
}
