//! NSFileManager.

use super::array::Items;
use super::data::Bytes;
use super::dictionary::Pairs;
use super::error::{store_file_error, write_error};
use super::number::Number;
use super::object::NS_OBJECT;
use super::string::{self, constants};
use crate::runtime::object::allocate;
use crate::runtime::{Flag, Id, Strong};
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

constants! {
    NSFileType = "NSFileType";
    NSFileTypeRegular = "NSFileTypeRegular";
    NSFileTypeDirectory = "NSFileTypeDirectory";
    NSFileTypeSymbolicLink = "NSFileTypeSymbolicLink";
    NSFileTypeUnknown = "NSFileTypeUnknown";
    NSFileSize = "NSFileSize";
}

/// True if the system permits an access to a file.
fn permits(path: &str, mode: i32) -> bool {
    // SAFETY: a C string.
    CString::new(path).is_ok_and(|path| unsafe { libc::access(path.as_ptr(), mode) } == 0)
}

/// Stores the error of an operation; true if there is none.
fn succeeded(result: std::io::Result<()>, path: &str, error: *mut Id) -> bool {
    match result {
        Ok(()) => true,
        Err(problem) => {
            write_error(path, &problem).autorelease().store(error);
            false
        }
    }
}

fn attributes(path: &str) -> std::io::Result<Strong> {
    let found = fs::symlink_metadata(path)?;
    let kind = match found.file_type() {
        kind if kind.is_symlink() => &NSFileTypeSymbolicLink,
        kind if kind.is_dir() => &NSFileTypeDirectory,
        kind if kind.is_file() => &NSFileTypeRegular,
        _ => &NSFileTypeUnknown,
    };
    Ok(Pairs::strong(vec![
        (Strong::retain(NSFileType.id()), Strong::retain(kind.id())),
        (Strong::retain(NSFileSize.id()), Strong::new(Number::Unsigned(found.len()))),
    ]))
}

class! {
    NS_FILE_MANAGER = "NSFileManager": NS_OBJECT, as (), []
    methods {
        + "defaultManager" (_class) -> Id {
            static SHARED: OnceLock<Id> = OnceLock::new();
            *SHARED.get_or_init(|| {
                NS_FILE_MANAGER.data.live.fetch_sub(1, Ordering::Relaxed);
                allocate(&NS_FILE_MANAGER, 0)
            })
        }
        - "fileExistsAtPath:" (_this, path: Id) -> bool { Path::new(&string::describe(path)).exists() }
        - "fileExistsAtPath:isDirectory:" (_this, path: Id, is_directory: *mut u8) -> bool {
            let found = fs::metadata(string::describe(path));
            // SAFETY: the caller passes null or a place for it.
            if let (Ok(found), Some(is_directory)) = (&found, unsafe { is_directory.as_mut() }) {
                *is_directory = found.is_dir().into();
            }
            found.is_ok()
        }
        - "isReadableFileAtPath:" (_this, path: Id) -> bool { permits(&string::describe(path), libc::R_OK) }
        - "isWritableFileAtPath:" (_this, path: Id) -> bool { permits(&string::describe(path), libc::W_OK) }
        - "isExecutableFileAtPath:" (_this, path: Id) -> bool { permits(&string::describe(path), libc::X_OK) }
        - "attributesOfItemAtPath:error:" (_this, path: Id, error: *mut Id) -> Id {
            let path = string::describe(path);
            match attributes(&path) {
                Ok(attributes) => attributes.autorelease(),
                Err(problem) => store_file_error(&path, &problem, error),
            }
        }
        - "destinationOfSymbolicLinkAtPath:error:" (_this, path: Id, error: *mut Id) -> Id {
            let path = string::describe(path);
            match fs::read_link(&path) {
                Ok(destination) => string::new(&destination.to_string_lossy()).autorelease(),
                Err(problem) => store_file_error(&path, &problem, error),
            }
        }
        - "contentsOfDirectoryAtPath:error:" (_this, path: Id, error: *mut Id) -> Id {
            let path = string::describe(path);
            match fs::read_dir(&path) {
                Ok(entries) => {
                    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
                    names.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
                    Items::strong(names.iter().map(|name| string::new(&name.to_string_lossy())).collect()).autorelease()
                }
                Err(problem) => store_file_error(&path, &problem, error),
            }
        }
        - "contentsAtPath:" (_this, path: Id) -> Id {
            let bytes = fs::read(string::describe(path)).ok();
            bytes.map_or(Id::NIL, |bytes| Strong::new(Bytes::owned(bytes)).autorelease())
        }
        - "createDirectoryAtPath:withIntermediateDirectories:attributes:error:" (
            _this, path: Id, all: Flag, _attributes: Id, error: *mut Id
        ) -> bool {
            let path = string::describe(path);
            succeeded(if all != 0 { fs::create_dir_all(&path) } else { fs::create_dir(&path) }, &path, error)
        }
        - "removeItemAtPath:error:" (_this, path: Id, error: *mut Id) -> bool {
            let path = string::describe(path);
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            succeeded(if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }, &path, error)
        }
        - "currentDirectoryPath" (_this) -> Id {
            let folder = std::env::current_dir().unwrap_or_default();
            string::new(&folder.to_string_lossy()).autorelease()
        }
    }
}

/// The folder for temporary files.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn NSTemporaryDirectory() -> Id {
    string::new(&format!("{}/", std::env::temp_dir().to_string_lossy().trim_end_matches('/'))).autorelease()
}
