//! NSValue: bytes of a C type in an object.

use super::object::NS_OBJECT;
use super::string;
use crate::runtime::object::{release, retain};
use crate::runtime::{Id, Range, Strong};
use std::ffi::{CStr, CString, c_char, c_void};

/// The bytes of a value, and the encoding of its type.
pub(crate) struct Plain {
    bytes: Box<[u8]>,
    code: CString,
}

/// The encoding behind its first type, which may be one without a size: what a pointer points to.
fn after(code: &[u8]) -> &[u8] {
    let mut depth = 0usize;
    for (at, letter) in code.iter().enumerate() {
        match letter {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            b'^' | b'r' | b'n' | b'N' | b'o' | b'O' | b'V' | b'A' if depth == 0 => continue,
            _ => {}
        }
        if depth == 0 {
            return &code[at + 1..];
        }
    }
    &[]
}

/// Size and alignment of the type at the start of an encoding, and the rest of it; `None` for a type without a size.
fn layout(code: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (&letter, rest) = code.split_first()?;
    let scalar = |size: usize| Some((size, size, rest));
    match letter {
        // Qualifiers.
        b'r' | b'n' | b'N' | b'o' | b'O' | b'V' | b'A' => layout(rest),
        b'c' | b'C' | b'B' => scalar(1),
        b's' | b'S' => scalar(2),
        b'i' | b'I' | b'f' => scalar(4),
        b'l' | b'L' | b'q' | b'Q' | b'd' | b'*' | b'@' | b'#' | b':' => scalar(8),
        b'^' => Some((8, 8, after(rest))),
        b'[' => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let count: usize = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
            let (size, align, rest) = layout(&rest[digits..])?;
            Some((size.checked_mul(count)?, align, rest.strip_prefix(b"]")?))
        }
        b'{' | b'(' => {
            let close = if letter == b'{' { b'}' } else { b')' };
            let name = rest.iter().position(|byte| *byte == b'=')?;
            let (mut rest, mut size, mut most) = (&rest[name + 1..], 0usize, 1);
            while *rest.first()? != close {
                let (own, align, after) = layout(rest)?;
                size = if letter == b'{' { size.next_multiple_of(align) + own } else { size.max(own) };
                (most, rest) = (most.max(align), after);
            }
            Some((size.next_multiple_of(most), most, &rest[1..]))
        }
        _ => None,
    }
}

/// A new value of bytes of a type; nil for a type without a size.
fn with_bytes(bytes: *const c_void, code: *const c_char) -> Strong {
    // SAFETY: the caller passes the encoding of a type.
    let code = unsafe { CStr::from_ptr(code) }.to_owned();
    let Some((size, ..)) = layout(code.to_bytes()) else { return Strong::default() };
    // SAFETY: the caller passes a value of this type.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
    Strong::new(Plain { bytes: bytes.into(), code })
}

fn with_word(word: usize, code: &CStr) -> Id {
    Strong::new(Plain { bytes: word.to_ne_bytes().into(), code: code.to_owned() }).autorelease()
}

impl Plain {
    /// The word at a place; 0 outside.
    fn word(&self, at: usize) -> usize {
        let bytes = self.bytes.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, usize::from_ne_bytes)
    }

    /// Copies at most so many bytes.
    fn copy_to(&self, to: *mut c_void, room: usize) {
        // SAFETY: the caller passes room for that many bytes.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(self.bytes.as_ptr(), room.min(self.bytes.len())) };
    }
}

class! {
    NS_VALUE = "NSValue": NS_OBJECT, as (), ["NSCopying", "NSCoding"]
    methods {
        + "valueWithBytes:objCType:" (_class, bytes: *const c_void, code: *const c_char) -> Id {
            with_bytes(bytes, code).autorelease()
        }
        + "value:withObjCType:" (_class, bytes: *const c_void, code: *const c_char) -> Id {
            with_bytes(bytes, code).autorelease()
        }
        + "valueWithPointer:" (_class, pointer: *const c_void) -> Id { with_word(pointer.expose_provenance(), c"^v") }
        + "valueWithNonretainedObject:" (_class, object: Id) -> Id { with_word(object.0.expose_provenance(), c"@") }
        + "valueWithRange:" (_class, range: Range) -> Id {
            let bytes = [range.location.to_ne_bytes(), range.length.to_ne_bytes()].concat();
            Strong::new(Plain { bytes: bytes.into(), code: c"{_NSRange=QQ}".to_owned() }).autorelease()
        }
        - "initWithBytes:objCType:" (this, bytes: *const c_void, code: *const c_char) -> Id {
            release(this.id());
            with_bytes(bytes, code).into_id()
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
    }
}

class! {
    NS_CONCRETE_VALUE = "NSConcreteValue": NS_VALUE, new Plain, []
    methods {
        - "getValue:" (this, to: *mut c_void) { this.copy_to(to, usize::MAX) }
        - "getValue:size:" (this, to: *mut c_void, size: usize) { this.copy_to(to, size) }
        - "objCType" (this) -> *const c_char { this.code.as_ptr() }
        - "pointerValue" (this) -> *mut c_void { std::ptr::with_exposed_provenance_mut(this.word(0)) }
        - "nonretainedObjectValue" (this) -> Id { Id(std::ptr::with_exposed_provenance_mut(this.word(0))) }
        - "rangeValue" (this) -> Range { Range { location: this.word(0), length: this.word(1) } }
        - "isEqual:" (this, other: Id) -> bool {
            other.cast::<Plain>().is_some_and(|other| other.bytes == this.bytes && other.code == this.code)
        }
        - "isEqualToValue:" (this, other: Id) -> bool {
            other.cast::<Plain>().is_some_and(|other| other.bytes == this.bytes && other.code == this.code)
        }
        - "hash" (this) -> usize { this.word(0) }
        - "description" (this) -> Id {
            let bytes: String = this.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            string::new(&format!("{{length = {}, bytes = 0x{bytes}}}", this.bytes.len())).autorelease()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::layout;

    #[test]
    fn encodings_have_sizes() {
        let size = |code: &str| layout(code.as_bytes()).map(|(size, align, _)| (size, align));
        assert_eq!(size("{Pair=id}"), Some((16, 8)));
        assert_eq!(size("{?=c[3s]^{Other}q}"), Some((24, 8)));
        assert_eq!(size("(U=c{P=ff}d)"), Some((8, 8)));
        assert_eq!(size("{Opaque}"), None);
        assert_eq!(size("v"), None);
        assert_eq!(size("{P=i"), None);
    }
}
