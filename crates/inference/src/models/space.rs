//! Room on disks.

use std::path::Path;

use super::ModelError;

/// Fails where the disk of a folder has no room for so many bytes. Where that cannot be told, it has.
pub(super) fn ensure(folder: &Path, needed: u64) -> Result<(), ModelError> {
    match available(folder) {
        Some(available) if available < needed => Err(ModelError::failed(format!(
            "there is no room for the model: '{}' has {} MB left, and {} MB are needed",
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
    // SAFETY: the path ends in a zero, and the structure is large enough.
    let result = unsafe { libc::statvfs(path.as_ptr(), statistics.as_mut_ptr()) };
    if result != 0 {
        return None;
    }
    // SAFETY: the call has filled it.
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
    fn a_disk_has_room_for_a_byte_and_not_for_all() {
        let folder = std::env::temp_dir();
        assert_eq!(ensure(&folder, 0), Ok(()));
        let error = ensure(&folder, u64::MAX).expect_err("no disk is so large").to_string();
        assert!(error.contains("MB left, and 18446744073710 MB are needed"), "{error}");
        assert_eq!(ensure(Path::new("/no/such/folder"), u64::MAX), Ok(()));
    }
}
