//! Data of libdispatch.

use super::{OS_DISPATCH_DATA, OS_DISPATCH_DATA_EMPTY};
use crate::foundation::data::Bytes;
use crate::runtime::block::{Block, Kept, Marker};
use crate::runtime::object::{Instance, retain};
use crate::runtime::{Id, Object};
use std::ffi::c_void;

/// Blocks that stand for a way to release bytes.
macro_rules! destructors {
    ($($name:ident)*) => { $(
        #[allow(non_upper_case_globals, reason = "the library's name")]
        #[unsafe(no_mangle)]
        pub(crate) static $name: &Marker = {
            static MARKER: Marker = Marker::new();
            &MARKER
        };
    )* };
}
destructors! { _dispatch_data_destructor_free _dispatch_data_destructor_munmap }

/// Data without bytes, which programs know by its address.
#[allow(non_upper_case_globals, reason = "the library's name")]
#[unsafe(no_mangle)]
pub(crate) static _dispatch_data_empty: Instance = {
    static NONE: Bytes = Bytes::none();
    Instance::constant(&OS_DISPATCH_DATA_EMPTY, &NONE)
};

/// Copies the bytes unless there is a destructor.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create(start: *const c_void, size: usize, _: Id, destructor: Block) -> Id {
    let bytes = match Kept::new(destructor) {
        Some(_) if _dispatch_data_destructor_free.is(destructor) => Bytes::freed(start, size),
        Some(_) if _dispatch_data_destructor_munmap.is(destructor) => Bytes::unmapped(start, size),
        Some(destructor) => Bytes::with_destructor(start, size, destructor),
        None => Bytes::copied(start, size),
    };
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_get_size(data: Id) -> usize {
    data.cast::<Bytes>().map_or(0, |data| data.as_slice().len())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create_concat(a: Id, b: Id) -> Id {
    let slice = |data: Id| data.cast::<Bytes>().map(|data| data.as_slice().to_vec()).unwrap_or_default();
    let both = [slice(a), slice(b)].concat();
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(Bytes::owned(both))
}

/// A part of the bytes, as far as there are any.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create_subrange(data: Id, offset: usize, length: usize) -> Id {
    let part = data.cast::<Bytes>().map_or(Vec::new(), |data| {
        let bytes = data.as_slice();
        let start = offset.min(bytes.len());
        bytes[start..start.saturating_add(length).min(bytes.len())].to_vec()
    });
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(Bytes::owned(part))
}

/// # Safety
///
/// The places are null or can be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_data_create_map(data: Id, start: *mut *const u8, size: *mut usize) -> Id {
    if let Some(bytes) = data.cast::<Bytes>() {
        // SAFETY: as the caller promises.
        unsafe {
            if let Some(start) = start.as_mut() {
                *start = bytes.as_slice().as_ptr();
            }
            if let Some(size) = size.as_mut() {
                *size = bytes.as_slice().len();
            }
        }
    }
    retain(data)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_apply(data: Id, block: Block) -> bool {
    match (data.cast::<Bytes>(), Kept::new(block)) {
        // SAFETY: the function takes blocks with these parameters.
        (Some(bytes), Some(block)) => unsafe {
            let bytes = bytes.as_slice();
            block.call4::<_, _, _, _, u8>(data, 0usize, bytes.as_ptr(), bytes.len()) != 0
        },
        _ => false,
    }
}
