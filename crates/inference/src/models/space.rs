//! Free disk space.

use std::path::Path;

use super::ModelError;

/// Returns an error if the disk of a folder has fewer than `needed` bytes free. Assumes enough if the system cannot
/// tell.
pub(super) fn ensure(folder: &Path, needed: u64) -> Result<(), ModelError> {
    match available(folder) {
        Some(available) if available < needed => Err(ModelError::failed(format!(
            "not enough disk space for the model: '{}' has {} MB free, {} MB are needed",
            folder.display(),
            available / 1_000_000,
            needed.div_ceil(1_000_000)
        ))),
        _ => Ok(()),
    }
}

#[cfg(unix)]
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the types of the fields differ between systems"
)]
fn available(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;

    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut statistics = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path is NUL-terminated, and the pointer is to a writable statvfs.
    let result = unsafe { libc::statvfs(path.as_ptr(), statistics.as_mut_ptr()) };
    if result != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it initialized the structure.
    let statistics = unsafe { statistics.assume_init() };
    (statistics.f_bavail as u64).checked_mul(statistics.f_frsize as u64)
}

#[cfg(not(unix))]
fn available(_: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn rejects_more_than_the_free_space() {
        let folder = std::env::temp_dir();
        assert_eq!(ensure(&folder, 0), Ok(()));
        let error = ensure(&folder, u64::MAX).expect_err("no disk is so large").to_string();
        assert!(error.contains("MB free, 18446744073710 MB are needed"), "{error}");
        assert_eq!(ensure(Path::new("/no/such/folder"), u64::MAX), Ok(()));
    }
}
