//! Data of libdispatch.

use super::OS_DISPATCH_DATA;
use crate::foundation::data::Bytes;
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::retain;
use crate::runtime::{Id, Object};
use std::ffi::c_void;

/// Copies the bytes unless there is a destructor.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create(start: *const c_void, size: usize, _: Id, destructor: Block) -> Id {
    let bytes = match Kept::new(destructor) {
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
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(Bytes::owned(both.into()))
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
            block.call4(data, 0usize, bytes.as_slice().as_ptr(), bytes.as_slice().len()) != 0
        },
        _ => false,
    }
}
