//! Files that are replaced as a whole.
//!
//! ```text
//! write beside: .metalworks-….tmp ── sync ── rename over the old file ── sync the folder
//! ```
//!
//! **Invariant:** a name refers to the whole old file or to the whole new one, even if the process is killed at any system
//! call or the disk is full. A killed process may leave its temporary file behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Replaces a file named by the user with what `write` writes. A device or a pipe is written to, not replaced; a link is
/// followed, not replaced. The new file keeps the permissions of the old one.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    replace_with_mode(path, 0o666, write)
}

/// [`replace`] with the text of a program, which everybody may start.
pub fn replace_program(path: &Path, text: &str) -> io::Result<()> {
    replace_with_mode(path, 0o777, |out| out.write_all(text.as_bytes()))
}

/// Replaces a file. A new one has this mode, less what the user takes from all files; an old one becomes a program with it.
fn replace_with_mode(
    path: &Path,
    new: u32,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let write = |file: File| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)
    };
    match Destination::of(path)? {
        Destination::Stream => write(OpenOptions::new().write(true).open(path)?).map(drop),
        Destination::File { path, mode } => {
            let temporary = Temporary::create(&path, new)?;
            let file = write(temporary.file.try_clone()?).map_err(|error| unchanged(&path, error))?;
            if let Some(mode) = mode {
                file.set_permissions(fs::Permissions::from_mode(mode | new & 0o111))?;
            }
            drop(file);
            temporary.rename_durably(&path).map_err(|error| unchanged(&path, error))
        }
    }
}

/// [`replace`] with bytes.
pub fn replace_with(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |out| out.write_all(bytes))
}

/// Checks that [`replace`] can write this file, before the work that it is for.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Stream => Ok(()),
        Destination::File { path, .. } => Temporary::create(&path, 0o600).map(drop),
    }
}

/// Gives a finished file its final name, in the same folder, once the disk has it.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    sync_folder(to)
}

/// Makes a link, or lets one lead elsewhere.
pub fn replace_link(path: &Path, to: &Path) -> io::Result<()> {
    let temporary = path.with_file_name(temporary_name());
    std::os::unix::fs::symlink(to, &temporary)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Makes a folder that `write` fills. Whoever sees its name sees all of it.
pub fn make_folder(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let temporary = path.with_file_name(temporary_name());
    fs::create_dir(&temporary)?;
    let made = write(&temporary).and_then(|()| fs::rename(&temporary, path));
    made.inspect_err(|_| drop(fs::remove_dir_all(&temporary)))
}

/// Replaces a file that only the user may read and write. Without waiting for the disk, so that a power failure can
/// leave a damaged file.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = Temporary::create(path, 0o600)?;
    temporary.file.write_all(bytes)?;
    temporary.rename(path)
}

/// Says that the old file is still there, if there is one.
fn unchanged(path: &Path, error: io::Error) -> io::Error {
    match path.exists() {
        true => io::Error::new(error.kind(), format!("{error}; the old file is unchanged")),
        false => error,
    }
}

/// Place that output goes to.
enum Destination {
    /// A device or a pipe.
    Stream,
    /// A file, present with this mode or absent.
    File { path: PathBuf, mode: Option<u32> },
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(metadata) if !metadata.is_file() => Ok(Destination::Stream),
            Ok(metadata) => {
                let mode = metadata.permissions().mode();
                // A file that the user protected stays.
                if mode & 0o222 == 0 {
                    return Err(io::Error::from(io::ErrorKind::PermissionDenied));
                }
                Ok(Destination::File { path: path.canonicalize()?, mode: Some(mode & 0o777) })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Destination::File { path: path.to_owned(), mode: None })
            }
            Err(error) => Err(error),
        }
    }
}

/// A file that is being written, removed on drop unless it was renamed.
struct Temporary {
    path: PathBuf,
    file: File,
    is_renamed: bool,
}

impl Temporary {
    fn create(beside: &Path, mode: u32) -> io::Result<Temporary> {
        if beside.file_name().is_none() {
            return Err(io::Error::other("the path does not name a file"));
        }
        let path = beside.with_file_name(temporary_name());
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        Ok(Temporary { path, file, is_renamed: false })
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        self.is_renamed = true;
        Ok(())
    }

    fn rename_durably(self, to: &Path) -> io::Result<()> {
        // Some file systems report only here that the disk is full.
        self.file.sync_all()?;
        self.rename(to)?;
        sync_folder(to)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A new name is durable once its folder is synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // A folder that cannot be read, or a file system that cannot sync it: the file is there all the same.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        result => result,
    }
}

const TEMPORARY: &str = ".metalworks-";

/// A name unique to this thread and process.
pub(crate) fn temporary_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Processes in different containers can share a folder and have the same ID.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{TEMPORARY}{}-{random:016x}.tmp", std::process::id())
}

/// True for files that a process is writing or left behind.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY) && name.ends_with(".tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of a test, removed when it is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("metalworks-files-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder");
            Scratch(path)
        }

        fn names(&self) -> Vec<String> {
            let items = fs::read_dir(&self.0).expect("a folder").flatten();
            items.map(|item| item.file_name().to_string_lossy().into_owned()).collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn replaces_files_and_keeps_links_and_permissions() {
        let scratch = Scratch::new("links");
        let (path, link) = (scratch.0.join("a"), scratch.0.join("link"));
        replace_with(&path, b"old").expect("a new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        replace_with(&link, b"new").expect("the file behind the link");
        assert_eq!(fs::read(&path).expect("a file"), b"new");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("it is ours");
        replace_with(&path, b"x").expect_err("the file is protected");
        check_replaceable(&path).expect_err("the file is protected");
        replace_with(Path::new("/dev/null"), b"x").expect("a device is written to");
        replace_with(&scratch.0, b"x").expect_err("a folder is not replaced");
        replace_private(&scratch.0.join("p"), b"x").expect("a new file");
        let mode = fs::metadata(scratch.0.join("p")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(scratch.names().len(), 3, "nothing else is left: {:?}", scratch.names());
    }

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let scratch = Scratch::new("failed");
        let path = scratch.0.join("a");
        replace_with(&path, b"old").expect("a new file");
        let error = replace(&path, |out| {
            out.write_all(b"part")?;
            out.flush()?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let error = error.expect_err("the disk is full").to_string();
        assert!(error.ends_with("; the old file is unchanged"), "{error}");
        assert_eq!(fs::read(&path).expect("a file"), b"old");
        assert_eq!(scratch.names(), ["a"]);
    }

    /// Kills a process before each of its system calls, with the debugger's interface.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_killed_at_any_system_call_keeps_the_old_file() {
        let scratch = Scratch::new("killed");
        let path = scratch.0.join("a");
        let (old, new) = (vec![b'o'; 3000], vec![b'n'; 5000]);
        let (mut olds, mut news) = (0, 0);
        for calls in 0.. {
            fs::write(&path, &old).expect("a file");
            let has_ended = kill_after(calls, || replace_with(&path, &new).is_ok());
            let found = fs::read(&path).expect("a file");
            assert!(found == old || found == new, "killed after {calls} stops: {} bytes", found.len());
            olds += usize::from(found == old);
            news += usize::from(found == new);
            if has_ended {
                break;
            }
        }
        // Opening, writing, syncing: before the file is renamed; closing and syncing the folder: after.
        assert!(olds > 6 && news > 2, "{olds} times the old file, {news} times the new one");
    }

    /// Runs `work` in a child process that is killed after this many stops, two at each system call. True if it ended
    /// before.
    #[cfg(target_os = "linux")]
    fn kill_after(stops: usize, work: impl FnOnce() -> bool) -> bool {
        let mut status = 0;
        // SAFETY: the child uses only memory of its own and the allocator, which the C library releases in a fork, and
        // ends without returning. The parent waits for its own child.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "a process");
            if child == 0 {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                libc::raise(libc::SIGSTOP);
                libc::_exit(i32::from(!work()));
            }
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert!(libc::WIFSTOPPED(status), "the system lets processes be traced");
            for _ in 0..stops {
                libc::ptrace(libc::PTRACE_SYSCALL, child, 0, 0);
                libc::waitpid(child, &mut status, 0);
                if libc::WIFEXITED(status) {
                    assert_eq!(libc::WEXITSTATUS(status), 0, "the file was written");
                    return true;
                }
            }
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, &mut status, 0);
            false
        }
    }
}
