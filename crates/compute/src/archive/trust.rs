//! Files of a folder that others may be able to write to. Their code is run, so they must be the user's own.
//!
//! A cache trusts regular files that belong to the user or to root and that no one else may write: another user who can
//! write to the folder can remove entries or add files that are refused, but cannot have code run.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Reason not to use a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Distrust {
    Link,
    NotAFile,
    Owner,
    Writable,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distrust::Link => "it is a link",
            Distrust::NotAFile => "it is not a file",
            Distrust::Owner => "it belongs to another user",
            Distrust::Writable => "other users can write to it",
        })
    }
}

/// Opens a file without following a link, and refuses what is not the user's own. The inner error is the refusal.
pub(super) fn open_trusted(path: &Path) -> io::Result<Result<File, Distrust>> {
    // Opening a pipe without a writer would wait for one.
    let file = match open(path, libc::O_NOFOLLOW | libc::O_NONBLOCK) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => return Ok(Err(Distrust::Link)),
        // A socket.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Ok(Err(Distrust::NotAFile)),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err(Distrust::NotAFile));
    }
    Ok(distrust(metadata.uid(), metadata.mode(), effective_user()).map_or(Ok(file), Err))
}

/// Opens a file named by the user, which is trusted; a pipe is refused instead of waited for.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let file = open(path, libc::O_NONBLOCK)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "is not a file")),
    }
}

fn open(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// True if only the user and root can add and rename files in a folder.
pub(super) fn is_private_folder(folder: &Path) -> bool {
    let is_private = |metadata: Metadata| {
        metadata.is_dir() && distrust(metadata.uid(), metadata.mode(), effective_user()).is_none()
    };
    std::fs::symlink_metadata(folder).is_ok_and(is_private)
}

fn distrust(owner: u32, mode: u32, user: u32) -> Option<Distrust> {
    match () {
        () if owner != user && owner != 0 => Some(Distrust::Owner),
        () if mode & 0o022 != 0 => Some(Distrust::Writable),
        () => None,
    }
}

fn effective_user() -> u32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::scratch::Scratch;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_files_that_no_one_else_can_write_are_trusted() {
        for (owner, mode, expected) in [
            (1000, 0o600, None),
            (1000, 0o644, None),
            (0, 0o644, None),
            (1001, 0o600, Some(Distrust::Owner)),
            (1000, 0o620, Some(Distrust::Writable)),
            (1000, 0o602, Some(Distrust::Writable)),
            (0, 0o666, Some(Distrust::Writable)),
        ] {
            assert_eq!(distrust(owner, mode, 1000), expected, "{owner} {mode:o}");
        }
    }

    #[test]
    fn refuses_links_and_pipes_without_waiting() {
        let scratch = Scratch::new("trust");
        std::fs::create_dir_all(&scratch.0).expect("a folder");
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| scratch.0.join(name));
        std::fs::write(&file, b"x").expect("a file");
        let set_mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours")
        };
        set_mode(&file, 0o600);
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let name = std::ffi::CString::new(pipe.to_str().expect("a name")).expect("a name");
        // SAFETY: the name ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let refusal = |path: &Path| open_trusted(path).expect("it can be opened").err();
        assert_eq!(refusal(&file), None);
        assert_eq!(refusal(&link), Some(Distrust::Link));
        assert_eq!(refusal(&pipe), Some(Distrust::NotAFile));
        assert_eq!(refusal(&scratch.0), Some(Distrust::NotAFile));
        set_mode(&file, 0o660);
        assert_eq!(refusal(&file), Some(Distrust::Writable));
        assert_eq!(open_trusted(&scratch.0.join("none")).expect_err("nothing").kind(), ErrorKind::NotFound);
        open_file(&link).expect("a link named by the user is followed");
        open_file(&pipe).expect_err("a pipe is not an archive");
        set_mode(&scratch.0, 0o700);
        assert!(is_private_folder(&scratch.0));
        set_mode(&scratch.0, 0o770);
        assert!(!is_private_folder(&scratch.0) && !is_private_folder(&link));
    }
}
