//! NSUUID: random numbers as text.

use super::object::NS_OBJECT;
use super::string;
use crate::runtime::object::retain;
use crate::runtime::{Id, Strong};
use std::ffi::c_void;

/// A UUID.
#[derive(PartialEq, Eq)]
pub(crate) struct Uuid([u8; 16]);

impl Uuid {
    /// A random one, of version 4.
    fn random() -> Uuid {
        let mut bytes = [0; 16];
        // SAFETY: there is room for that many bytes.
        unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid(bytes)
    }

    fn parse(text: &str) -> Option<Uuid> {
        let parts: Vec<&str> = text.split('-').collect();
        let is_shaped = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
        let number = u128::from_str_radix(&parts.concat(), 16).ok().filter(|_| is_shaped)?;
        Some(Uuid(number.to_be_bytes()))
    }

    fn text(&self) -> String {
        let digits = format!("{:032X}", u128::from_be_bytes(self.0));
        [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
    }
}

class! {
    NS_UUID = "NSUUID": NS_OBJECT, new Uuid, ["NSCopying", "NSCoding"]
    methods {
        + "UUID" (_class) -> Id { Strong::new(Uuid::random()).autorelease() }
        - "init" (this) -> Id { this.set(Uuid::random()) }
        - "initWithUUIDString:" (this, text: Id) -> Id {
            match Uuid::parse(&string::describe(text)) {
                Some(uuid) => this.set(uuid),
                // An initializer that fails releases the object.
                None => {
                    crate::runtime::object::release(this.id());
                    Id::NIL
                }
            }
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "UUIDString" (this) -> Id { string::new(&this.text()).autorelease() }
        - "isEqual:" (this, other: Id) -> bool { other.cast::<Uuid>().is_some_and(|other| *other == *this) }
        - "hash" (this) -> usize { u128::from_be_bytes(this.0) as usize }
        - "description" (this) -> Id { string::new(&this.text()).autorelease() }
    }
}
