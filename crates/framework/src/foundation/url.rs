//! NSURL: files, and other addresses as text.

use super::object::NS_OBJECT;
use super::{path, string};
use crate::runtime::object::retain;
use crate::runtime::{Flag, Id, Object, Strong};
use std::ffi::{CStr, c_char, c_void};

/// An address.
pub(crate) enum Url {
    /// An absolute path.
    File(String),
    Other(String),
}

impl Url {
    pub(crate) fn file(path: &str) -> Url {
        let absolute = std::path::absolute(path).map(|path| path.display().to_string());
        Url::File(absolute.unwrap_or_else(|_| path.to_owned()))
    }

    fn parse(text: &str) -> Url {
        match text.strip_prefix("file://") {
            Some(path) => Url::File(percent_decoded(path)),
            None => Url::Other(text.to_owned()),
        }
    }

    fn text(&self) -> String {
        match self {
            Url::File(path) => format!("file://{}", percent_encoded(path)),
            Url::Other(text) => text.clone(),
        }
    }

    fn path(&self) -> &str {
        match self {
            Url::File(path) => path,
            Url::Other(text) => {
                text.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or(text)
            }
        }
    }
}

impl Object<Url> {
    /// The same address with another path.
    fn with_path(self, path: &str) -> Id {
        let changed = match &*self {
            Url::File(_) => Url::File(path.to_owned()),
            Url::Other(text) => {
                let start = text.strip_suffix(self.path()).unwrap_or(text);
                Url::Other(format!("{start}{}", percent_encoded(path)))
            }
        };
        Strong::new(changed).autorelease()
    }
}

fn percent_encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'=' => {
                text.push(byte.into())
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn percent_decoded(text: &str) -> String {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], digits) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The path of a URL; empty for nil.
pub(crate) fn path(url: Id) -> String {
    url.cast::<Url>().map(|url| url.path().to_owned()).unwrap_or_default()
}

class! {
    NS_URL = "NSURL": NS_OBJECT, new Url, ["NSCopying", "NSCoding"]
    methods {
        + "fileURLWithPath:" (_class, path: Id) -> Id { Strong::new(Url::file(&string::describe(path))).autorelease() }
        + "fileURLWithPath:isDirectory:" (_class, path: Id, _is_directory: Flag) -> Id {
            Strong::new(Url::file(&string::describe(path))).autorelease()
        }
        + "URLWithString:" (_class, text: Id) -> Id { Strong::new(Url::parse(&string::describe(text))).autorelease() }
        - "initFileURLWithPath:" (this, path: Id) -> Id { this.set(Url::file(&string::describe(path))) }
        - "initWithString:" (this, text: Id) -> Id { this.set(Url::parse(&string::describe(text))) }
        - "initFileURLWithFileSystemRepresentation:isDirectory:relativeToURL:" (
            this, path: *const c_char, is_directory: Flag, base: Id
        ) -> Id {
            // SAFETY: the caller passes a C string.
            let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
            let base = base.cast::<Url>().map(|base| format!("{}/", base.path().trim_end_matches('/'))).unwrap_or_default();
            let end = if is_directory != 0 && !path.ends_with('/') { "/" } else { "" };
            this.set(Url::file(&format!("{}{path}{end}", if path.starts_with('/') { "" } else { &base })))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "path" (this) -> Id {
            let path = this.path();
            string::new(if path.len() > 1 { path.trim_end_matches('/') } else { path }).autorelease()
        }
        - "fileSystemRepresentation" (this) -> *const c_char {
            // The string lives as long as the innermost pool.
            let path = string::new(this.path()).autorelease();
            path.cast::<string::Text>().map_or(std::ptr::null(), |text| text.as_str().as_ptr().cast())
        }
        - "absoluteString" (this) -> Id { string::new(&this.text()).autorelease() }
        - "absoluteURL" (this) -> Id { this.strong().autorelease() }
        - "isFileURL" (this) -> bool { matches!(*this, Url::File(_)) }
        - "lastPathComponent" (this) -> Id {
            string::new(this.path().trim_end_matches('/').rsplit('/').next().unwrap_or("")).autorelease()
        }
        - "pathExtension" (this) -> Id { string::new(path::extension(this.path())).autorelease() }
        - "relativePath" (this) -> Id { string::new(this.path()).autorelease() }
        - "relativeString" (this) -> Id { string::new(&this.text()).autorelease() }
        - "scheme" (this) -> Id {
            let text = this.text();
            text.split_once(':').map_or(Id::NIL, |(scheme, _)| string::new(scheme).autorelease())
        }
        - "URLByDeletingLastPathComponent" (this) -> Id { this.with_path(&format!("{}/", path::parent(this.path()).trim_end_matches('/'))) }
        - "URLByDeletingPathExtension" (this) -> Id { this.with_path(path::without_extension(this.path())) }
        - "URLByAppendingPathExtension:" (this, extension: Id) -> Id {
            this.with_path(&format!("{}.{}", this.path().trim_end_matches('/'), string::describe(extension)))
        }
        - "URLByStandardizingPath" (this) -> Id { this.with_path(&path::standardized(this.path())) }
        - "checkResourceIsReachableAndReturnError:" (this, error: *mut Id) -> bool {
            let found = std::fs::metadata(this.path());
            if let Err(problem) = &found { super::error::store_file_error(this.path(), problem, error); }
            found.is_ok()
        }
        - "URLByAppendingPathComponent:isDirectory:" (this, name: Id, is_directory: Flag) -> Id {
            let end = if is_directory != 0 { "/" } else { "" };
            this.with_path(&format!("{}/{}{end}", this.path().trim_end_matches('/'), string::describe(name)))
        }
        - "URLByAppendingPathComponent:" (this, name: Id) -> Id {
            this.with_path(&format!("{}/{}", this.path().trim_end_matches('/'), string::describe(name)))
        }
        - "isEqual:" (this, other: Id) -> bool { other.cast::<Url>().is_some_and(|other| other.text() == this.text()) }
        - "hash" (this) -> usize { this.text().len() }
        - "description" (this) -> Id { string::new(&this.text()).autorelease() }
    }
}
