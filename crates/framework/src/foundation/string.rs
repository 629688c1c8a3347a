//! NSString and NSMutableString.

use super::array::Items;
use super::encoding::{ASCII, UTF8, UTF16, decode, leading, order, range_of};
use super::object::NS_OBJECT;
use super::scanner::Characters;
use super::{ask, format, path};
use crate::runtime::object::{HEADER, IMMORTAL, retain};
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Flag, Id, Object, Range, Strong};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;

/// UTF-8 with a zero byte at its end.
pub(crate) struct Text(Cow<'static, [u8]>);

impl Text {
    pub(crate) fn new(text: &str) -> Text {
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

/// A new string of a class of strings, in the innermost pool; nil without a text.
fn made(class: &'static Class, text: Option<Text>) -> Id {
    text.map_or(Id::NIL, |text| Object::<Text>::allocate(class).set(text).autorelease())
}

fn of_file(class: &'static Class, path: &str, error: *mut Id) -> Id {
    match std::fs::read_to_string(path) {
        Ok(contents) => made(class, Some(Text::new(&contents))),
        Err(problem) => super::error::store_file_error(path, &problem, error),
    }
}

/// Appends to a mutable string.
pub(crate) fn append(this: Object<Text>, more: &str) {
    this.change(|text| {
        let bytes = text.0.to_mut();
        bytes.pop();
        bytes.extend_from_slice(more.as_bytes());
        bytes.push(0);
    });
}

/// Changes a mutable string.
pub(crate) fn edit(this: Object<Text>, change: impl FnOnce(&mut String)) {
    // As in Foundation, one thread at a time uses a mutable string; the old text is not looked at any more.
    this.change(|text| {
        let mut bytes = std::mem::take(&mut text.0).into_owned();
        bytes.pop();
        let mut own = String::from_utf8(bytes).unwrap_or_default();
        change(&mut own);
        let mut bytes = own.into_bytes();
        bytes.push(0);
        text.0 = Cow::Owned(bytes);
    });
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
    variadic {
        + "stringWithFormat:" format::with_format,
        - "initWithFormat:" format::initialized_with_format,
        - "stringByAppendingFormat:" format::appending_format,
    }
    methods {
        + "string" (class) -> Id { made(class, Some(Text::new(""))) }
        + "stringWithUTF8String:" (class, text: *const c_char) -> Id { made(class, decode(c_bytes(text), UTF8)) }
        + "stringWithCString:encoding:" (class, text: *const c_char, encoding: usize) -> Id {
            made(class, decode(c_bytes(text), encoding))
        }
        + "stringWithCharacters:length:" (class, units: *const c_void, length: usize) -> Id {
            made(class, decode(bytes_at(units, 2 * length), UTF16[0]))
        }
        + "stringWithString:" (class, other: Id) -> Id { made(class, Some(Text::new(&describe(other)))) }
        + "pathWithComponents:" (_class, parts: Id) -> Id {
            let parts = Items::of(parts);
            let path = parts.iter().fold(String::new(), |path, part| path::joined(&path, &describe(part.id())));
            new(&path).autorelease()
        }
        + "stringWithContentsOfFile:encoding:error:" (class, path: Id, _encoding: usize, error: *mut Id) -> Id {
            of_file(class, &describe(path), error)
        }
        + "stringWithContentsOfURL:encoding:error:" (class, of: Id, _encoding: usize, error: *mut Id) -> Id {
            of_file(class, &super::url::path(of), error)
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
        - "initWithFormat:arguments:" (this, format: Id, arguments: &'static mut Variable) -> Id {
            this.set(Text::new(&format::text(&describe(format), arguments)))
        }
        - "initWithData:encoding:" (this, data: Id, encoding: usize) -> Id {
            let bytes = data.cast::<super::data::Bytes>();
            set(this, bytes.and_then(|bytes| decode(bytes.as_slice(), encoding)))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            Object::<Text>::allocate(&NS_MUTABLE_STRING).set(Text::new(this.as_str()))
        }
        - "length" (this) -> usize { this.as_str().encode_utf16().count() }
        - "characterAtIndex:" (this, index: usize) -> u16 {
            let unit = this.as_str().encode_utf16().nth(index);
            throw_if!(NSRangeException, HERE, unit.is_none(), "Index {index} out of bounds");
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
        - "compare:" (this, other: Id) -> isize { order(this.as_str(), &describe(other), 0) as isize }
        - "compare:options:" (this, other: Id, options: usize) -> isize { order(this.as_str(), &describe(other), options) as isize }
        - "caseInsensitiveCompare:" (this, other: Id) -> isize { order(this.as_str(), &describe(other), 1) as isize }
        - "localizedStandardCompare:" (this, other: Id) -> isize { order(this.as_str(), &describe(other), 65) as isize }
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
            new(&path::joined(this.as_str(), &describe(other))).autorelease()
        }
        - "stringByAppendingPathExtension:" (this, extension: Id) -> Id {
            new(&format!("{}.{}", this.as_str().trim_end_matches('/'), describe(extension))).autorelease()
        }
        - "lastPathComponent" (this) -> Id { new(path::name(this.as_str())).autorelease() }
        - "pathExtension" (this) -> Id { new(path::extension(this.as_str())).autorelease() }
        - "stringByDeletingLastPathComponent" (this) -> Id { new(path::parent(this.as_str())).autorelease() }
        - "stringByDeletingPathExtension" (this) -> Id { new(path::without_extension(this.as_str())).autorelease() }
        - "stringByStandardizingPath" (this) -> Id { new(&path::standardized(this.as_str())).autorelease() }
        - "stringByExpandingTildeInPath" (this) -> Id { new(&path::standardized(this.as_str())).autorelease() }
        - "isAbsolutePath" (this) -> bool { this.as_str().starts_with(['/', '~']) }
        - "componentsSeparatedByString:" (this, separator: Id) -> Id {
            let separator = describe(separator);
            throw_if!(NSInvalidArgumentException, HERE, separator.is_empty(), "the separator must not be empty");
            Items::strong(this.as_str().split(&separator).map(new).collect()).autorelease()
        }
        - "componentsSeparatedByCharactersInSet:" (this, set: Id) -> Id {
            let Some(set) = set.expect::<Characters>(HERE, "set") else { return Id::NIL };
            Items::strong(this.as_str().split(|character| set.contains(character)).map(new).collect()).autorelease()
        }
        - "stringByTrimmingCharactersInSet:" (this, set: Id) -> Id {
            let Some(set) = set.expect::<Characters>(HERE, "set") else { return Id::NIL };
            new(this.as_str().trim_matches(|character| set.contains(character))).autorelease()
        }
        - "stringByReplacingOccurrencesOfString:withString:" (this, old: Id, by: Id) -> Id {
            let old = describe(old);
            let replaced = if old.is_empty() { this.as_str().to_owned() } else { this.as_str().replace(&old, &describe(by)) };
            new(&replaced).autorelease()
        }
        - "rangeOfString:" (this, other: Id) -> Range { range_of(this.as_str(), &describe(other), 0, Range { location: 0, length: usize::MAX }) }
        - "rangeOfString:options:" (this, other: Id, options: usize) -> Range {
            range_of(this.as_str(), &describe(other), options, Range { location: 0, length: usize::MAX })
        }
        - "rangeOfString:options:range:" (this, other: Id, options: usize, range: Range) -> Range {
            range_of(this.as_str(), &describe(other), options, range)
        }
        - "stringByReplacingCharactersInRange:withString:" (this, range: Range, by: Id) -> Id {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            let end = range.location.checked_add(range.length).filter(|end| *end <= units.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "Range {range:?} out of bounds; string length {}", units.len());
            let text = |units: &[u16]| String::from_utf16_lossy(units);
            let (before, after) = (text(&units[..range.location]), text(&units[end.unwrap_or(0)..]));
            new(&format!("{before}{}{after}", describe(by))).autorelease()
        }
        - "capitalizedString" (this) -> Id {
            let mut text = String::new();
            for character in this.as_str().chars() {
                match text.chars().last() {
                    Some(last) if last.is_alphanumeric() || last == '\'' => text.extend(character.to_lowercase()),
                    _ => text.extend(character.to_uppercase()),
                }
            }
            new(&text).autorelease()
        }
        - "uppercaseString" (this) -> Id { new(&this.as_str().to_uppercase()).autorelease() }
        - "lowercaseString" (this) -> Id { new(&this.as_str().to_lowercase()).autorelease() }
        - "dataUsingEncoding:" (this, encoding: usize) -> Id {
            let own = this.as_str();
            let bytes: Vec<u8> = match encoding & 0xffff_ffff {
                ASCII | UTF8 => own.as_bytes().to_vec(),
                encoding if UTF16.contains(&encoding) => own.encode_utf16().flat_map(u16::to_ne_bytes).collect(),
                _ => return Id::NIL,
            };
            Strong::new(super::data::Bytes::owned(bytes)).autorelease()
        }
        - "writeToFile:atomically:encoding:error:" (this, path: Id, _atomically: Flag, _encoding: usize, error: *mut Id) -> bool {
            match compute::files::replace_with(describe(path).as_ref(), this.as_str().as_bytes()) {
                Ok(()) => true,
                Err(problem) => {
                    super::error::write_error(&describe(path), &problem).autorelease().store(error);
                    false
                }
            }
        }
        - "substringToIndex:" (this, end: usize) -> Id {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            throw_if!(NSRangeException, HERE, end > units.len(), "Index {end} out of bounds; string length {}", units.len());
            new(&String::from_utf16_lossy(&units[..end])).autorelease()
        }
        - "substringFromIndex:" (this, start: usize) -> Id {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            throw_if!(NSRangeException, HERE, start > units.len(), "Index {start} out of bounds; string length {}", units.len());
            new(&String::from_utf16_lossy(&units[start..])).autorelease()
        }
        - "substringWithRange:" (this, range: Range) -> Id {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            let end = range.location.checked_add(range.length).filter(|end| *end <= units.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "Range {range:?} out of bounds; string length {}", units.len());
            new(&String::from_utf16_lossy(&units[range.location..end.unwrap_or(0)])).autorelease()
        }
        - "integerValue" (this) -> isize { leading(this.as_str(), false).parse().unwrap_or(0) }
        - "longLongValue" (this) -> i64 { leading(this.as_str(), false).parse().unwrap_or(0) }
        - "intValue" (this) -> i32 { leading(this.as_str(), false).parse().unwrap_or(0) }
        - "floatValue" (this) -> f32 { leading(this.as_str(), true).parse().unwrap_or(0.0) }
        - "doubleValue" (this) -> f64 { leading(this.as_str(), true).parse().unwrap_or(0.0) }
        - "boolValue" (this) -> bool { matches!(this.as_str().trim().chars().next(), Some('1'..='9' | 'y' | 'Y' | 't' | 'T')) }
    }
}

class! {
    NS_CONSTANT_STRING = "NSConstantString": NS_STRING, as Text, []
    methods {
    }
}

class! {
    NS_MUTABLE_STRING = "NSMutableString": NS_STRING, as Text, []
    variadic { - "appendFormat:" format::append_format, }
    methods {
        + "stringWithCapacity:" (class, _capacity: usize) -> Id { made(class, Some(Text::new(""))) }
        - "initWithCapacity:" (this, _capacity: usize) -> Id { this.set(Text::new("")) }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { new(this.as_str()).into_id() }
        - "UTF8String" (this) -> *const c_char {
            // The copy lives as long as the innermost pool, the text only until it changes.
            let copy = new(this.as_str()).autorelease();
            copy.cast::<Text>().map_or(std::ptr::null(), |copy| copy.as_str().as_ptr().cast())
        }
        - "appendString:" (this, other: Id) {
            throw_if!(NSInvalidArgumentException, HERE, other.is_nil(), "nil argument");
            append(this, &describe(other));
        }
        - "insertString:atIndex:" (this, other: Id, index: usize) {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            throw_if!(NSRangeException, HERE, index > units.len(), "Index {index} out of bounds; string length {}", units.len());
            let (before, after) = (String::from_utf16_lossy(&units[..index]), String::from_utf16_lossy(&units[index..]));
            let other = describe(other);
            edit(this, |own| *own = format!("{before}{other}{after}"));
        }
        - "deleteCharactersInRange:" (this, range: Range) {
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            let end = range.location.checked_add(range.length).filter(|end| *end <= units.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "Range {range:?} out of bounds; string length {}", units.len());
            let rest = [&units[..range.location], &units[end.unwrap_or(0)..]].concat();
            edit(this, |own| *own = String::from_utf16_lossy(&rest));
        }
        - "setString:" (this, other: Id) {
            let other = describe(other);
            edit(this, |own| *own = other);
        }
        - "replaceOccurrencesOfString:withString:options:range:" (this, old: Id, by: Id, _options: usize, range: Range) -> usize {
            let (old, by) = (describe(old), describe(by));
            let units: Vec<u16> = this.as_str().encode_utf16().collect();
            let end = range.location.checked_add(range.length).filter(|end| *end <= units.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "Range {range:?} out of bounds; string length {}", units.len());
            let text = |units: &[u16]| String::from_utf16_lossy(units);
            let (start, end) = (range.location, end.unwrap_or(0));
            let (before, inside, after) = (text(&units[..start]), text(&units[start..end]), text(&units[end..]));
            if old.is_empty() {
                return 0;
            }
            let count = inside.matches(&old).count();
            edit(this, |own| *own = format!("{before}{}{after}", inside.replace(&old, &by)));
            count
        }
    }
}
