//! NSString, immutable.

use super::ask;
use super::object::NS_OBJECT;
use crate::runtime::object::{HEADER, IMMORTAL, retain};
use crate::runtime::{Class, Id, Object, Range, Strong};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;

/// UTF-8 with a zero byte at its end.
pub(crate) struct Text(Cow<'static, [u8]>);

impl Text {
    fn new(text: &str) -> Text {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        Text(Cow::Owned(bytes))
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0[..self.0.len() - 1]).unwrap_or("")
    }
}

/// A string that lives in a static.
#[repr(C)]
pub(crate) struct Constant {
    header: [usize; HEADER / 8],
    isa: AtomicPtr<Class>,
    value: AtomicPtr<()>,
}

impl Constant {
    pub(crate) const fn new(text: &'static Text) -> Constant {
        Constant {
            header: [16, IMMORTAL | 1],
            isa: AtomicPtr::new((&raw const NS_STRING).cast_mut()),
            value: AtomicPtr::new(std::ptr::from_ref(text).cast_mut().cast()),
        }
    }
}

/// A variable that holds a string, as frameworks export their keys and domains.
#[repr(transparent)]
pub(crate) struct Exported(pub(crate) *const AtomicPtr<Class>);
// SAFETY: it points to a static.
unsafe impl Sync for Exported {}

impl Exported {
    pub(crate) fn id(&self) -> Id {
        Id(self.0.cast_mut().cast())
    }
}

impl Text {
    /// The text of a constant; it ends with a zero byte.
    pub(crate) const fn constant(text: &'static str) -> Text {
        Text(Cow::Borrowed(text.as_bytes()))
    }
}

impl Constant {
    pub(crate) const fn exported(&'static self) -> Exported {
        Exported(&raw const self.isa)
    }
}

/// Declares exported variables with strings.
macro_rules! constants {
    ($($name:ident = $text:literal;)*) => { $(
        #[allow(non_upper_case_globals, reason = "the framework's name")]
        #[unsafe(no_mangle)]
        pub(crate) static $name: $crate::foundation::string::Exported = {
            use $crate::foundation::string::{Constant, Text};
            static TEXT: Text = Text::constant(concat!($text, "\0"));
            static OBJECT: Constant = Constant::new(&TEXT);
            OBJECT.exported()
        };
    )* };
}
pub(crate) use constants;

/// A new string.
pub(crate) fn new(text: &str) -> Strong {
    Strong::new(Text::new(text))
}

/// The text of a string, or of the description of another object.
pub(crate) fn describe(object: Id) -> String {
    if object.is_nil() {
        return "(null)".into();
    }
    let text = |object: Id| object.cast::<Text>().map(|text| text.as_str().to_owned());
    text(object).or_else(|| text(ask(object, c"description")?)).unwrap_or_default()
}

/// The text of a string; `None` for nil and other objects.
pub(crate) fn text(object: Id) -> Option<String> {
    object.cast::<Text>().map(|text| text.as_str().to_owned())
}

const ASCII: usize = 1;
const UTF8: usize = 4;
const UTF16: [usize; 2] = [10, 0x9400_0100];

/// The text of bytes in an encoding.
fn decode(bytes: &[u8], encoding: usize) -> Option<Text> {
    match encoding & 0xffff_ffff {
        ASCII | UTF8 => std::str::from_utf8(bytes).ok().map(Text::new),
        encoding if UTF16.contains(&encoding) => {
            let units = bytes.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]]));
            let text: Result<String, _> = char::decode_utf16(units).collect();
            text.ok().map(|text| Text::new(&text))
        }
        _ => None,
    }
}

fn set(this: Object<Text>, text: Option<Text>) -> Id {
    match text {
        Some(text) => this.set(text),
        // An initializer that fails releases the object.
        None => {
            crate::runtime::object::release(this.id());
            Id::NIL
        }
    }
}

fn bytes_at<'a>(bytes: *const c_void, length: usize) -> &'a [u8] {
    // SAFETY: the caller of a method with bytes and a length passes that many; a length of 0 with any pointer.
    if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(bytes.cast(), length) } }
}

fn c_bytes<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the caller passes a C string or null.
    if text.is_null() { &[] } else { unsafe { CStr::from_ptr(text) }.to_bytes() }
}

// Encodings are words in Apple's headers, and `int` in those of GNUstep, whose types bindings use for the most common
// methods: only the lower half counts.
class! {
    NS_STRING = "NSString": NS_OBJECT, new Text, ["NSCopying", "NSMutableCopying", "NSSecureCoding", "NSCoding"]
    refused {
        "stringWithFormat:" "formats are not supported: make the string with stringWithUTF8String:",
        "initWithFormat:" "formats are not supported: make the string with initWithUTF8String:",
    }
    methods {
        + "string" (_class) -> Id { new("").autorelease() }
        + "stringWithUTF8String:" (_class, text: *const c_char) -> Id {
            decode(c_bytes(text), UTF8).map_or(Id::NIL, |text| Strong::new(text).autorelease())
        }
        + "stringWithCString:encoding:" (_class, text: *const c_char, encoding: usize) -> Id {
            decode(c_bytes(text), encoding).map_or(Id::NIL, |text| Strong::new(text).autorelease())
        }
        + "stringWithString:" (_class, other: Id) -> Id { Strong::retain(other).autorelease() }
        + "stringWithContentsOfFile:encoding:error:" (_class, path: Id, _encoding: usize, error: *mut Id) -> Id {
            match std::fs::read_to_string(describe(path)) {
                Ok(contents) => new(&contents).autorelease(),
                Err(problem) => {
                    super::error::file_error(&describe(path), &problem).autorelease().store(error);
                    Id::NIL
                }
            }
        }
        - "init" (this) -> Id { this.set(Text::new("")) }
        - "initWithBytes:length:encoding:" (this, bytes: *const c_void, length: usize, encoding: i32) -> Id {
            set(this, decode(bytes_at(bytes, length), encoding as usize))
        }
        - "initWithUTF8String:" (this, text: *const c_char) -> Id { set(this, decode(c_bytes(text), UTF8)) }
        - "initWithCString:encoding:" (this, text: *const c_char, encoding: usize) -> Id {
            set(this, decode(c_bytes(text), encoding))
        }
        - "initWithString:" (this, other: Id) -> Id { this.set(Text::new(&describe(other))) }
        - "initWithData:encoding:" (this, data: Id, encoding: usize) -> Id {
            let bytes = data.cast::<super::data::Bytes>();
            set(this, bytes.and_then(|bytes| decode(bytes.as_slice(), encoding)))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "length" (this) -> usize { this.as_str().encode_utf16().count() }
        - "characterAtIndex:" (this, index: usize) -> u16 {
            let unit = this.as_str().encode_utf16().nth(index);
            forbid!(HERE, unit.is_none(), 0, "Index {index} out of bounds");
            unit.unwrap_or(0)
        }
        - "UTF8String" (this) -> *const c_char { this.0.as_ptr().cast() }
        - "cStringUsingEncoding:" (this, _encoding: usize) -> *const c_char { this.0.as_ptr().cast() }
        - "fileSystemRepresentation" (this) -> *const c_char { this.0.as_ptr().cast() }
        - "lengthOfBytesUsingEncoding:" (this, encoding: i32) -> usize {
            match encoding as usize & 0xffff_ffff {
                ASCII | UTF8 => this.as_str().len(),
                encoding if UTF16.contains(&encoding) => 2 * this.as_str().encode_utf16().count(),
                _ => 0,
            }
        }
        - "isEqual:" (this, other: Id) -> bool { other.cast::<Text>().is_some_and(|other| other.as_str() == this.as_str()) }
        - "isEqualToString:" (this, other: Id) -> bool {
            other.cast::<Text>().is_some_and(|other| other.as_str() == this.as_str())
        }
        - "compare:" (this, other: Id) -> isize { this.as_str().cmp(&describe(other)) as isize }
        - "hash" (this) -> usize {
            // FNV-1a.
            let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            this.as_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step) as usize
        }
        - "description" (this) -> Id { this.strong().autorelease() }
        - "hasPrefix:" (this, other: Id) -> bool { this.as_str().starts_with(&describe(other)) }
        - "hasSuffix:" (this, other: Id) -> bool { this.as_str().ends_with(&describe(other)) }
        - "containsString:" (this, other: Id) -> bool { this.as_str().contains(&describe(other)) }
        - "stringByAppendingString:" (this, other: Id) -> Id {
            new(&format!("{}{}", this.as_str(), describe(other))).autorelease()
        }
        - "stringByAppendingPathComponent:" (this, other: Id) -> Id {
            new(&format!("{}/{}", this.as_str().trim_end_matches('/'), describe(other))).autorelease()
        }
        - "lastPathComponent" (this) -> Id {
            new(this.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or("")).autorelease()
        }
        - "substringWithRange:" (this, range: Range) -> Id {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            let end = range.location.checked_add(range.length).filter(|end| *end <= units.len());
            forbid!(HERE, end.is_none(), Id::NIL, "Range {range:?} out of bounds; string length {}", units.len());
            new(&String::from_utf16_lossy(&units[range.location..end.unwrap_or(0)])).autorelease()
        }
        - "integerValue" (this) -> isize { this.as_str().trim().parse().unwrap_or(0) }
        - "intValue" (this) -> i32 { this.as_str().trim().parse().unwrap_or(0) }
        - "doubleValue" (this) -> f64 { this.as_str().trim().parse().unwrap_or(0.0) }
        - "boolValue" (this) -> bool { matches!(this.as_str().trim().chars().next(), Some('1'..='9' | 'y' | 'Y' | 't' | 'T')) }
    }
}
