//! Objects in the bits of a pointer: strings of up to eight ASCII characters, which clang emits for literals.
//!
//! ```text
//! bit 63 … 57  56 … 50  …      7 … 3   2 … 0
//!     first    second          length  4: a string
//! ```
//!
//! Each is backed by an object that lives forever, which answers its messages.

use super::object::{IMMORTAL, Id, lock};
use crate::foundation::string::{self, NS_STRING};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// The bits that are not 0 in such a pointer.
pub(crate) const TAG: usize = 7;
const STRING: usize = 4;

fn text(bits: usize) -> String {
    let length = (bits >> 3 & 31).min(8);
    (0..length).map(|at| char::from((bits >> (57 - 7 * at) & 127) as u8)).collect()
}

/// The object behind a pointer with a tag.
#[cold]
pub(crate) fn object(small: Id) -> Id {
    static OBJECTS: Mutex<Option<HashMap<usize, Id>>> = Mutex::new(None);
    let bits = small.0.addr();
    if bits & TAG != STRING {
        crate::debug::fatal(format_args!("*** {:p} is no object", small.0));
    }
    *lock(&OBJECTS).get_or_insert_default().entry(bits).or_insert_with(|| {
        let object = string::new(&text(bits)).into_id();
        object.count().fetch_or(IMMORTAL, Ordering::AcqRel);
        NS_STRING.data.live.fetch_sub(1, Ordering::Relaxed);
        object
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_literals_are_strings() {
        // The pointer that clang emits for @"hello".
        let hello = Id(std::ptr::without_provenance_mut(0xd197_66cd_e000_002c));
        assert_eq!(string::text(hello).as_deref(), Some("hello"));
        assert_eq!(super::super::object::retain(hello), hello);
        super::super::object::release(hello);
    }
}
