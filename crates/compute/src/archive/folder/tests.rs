use super::*;
use crate::archive::artifact::{Artifact, TargetSelector};
use crate::archive::format;
use crate::archive::scratch::Scratch;
use msl::reflect::Kernel;
use std::process::Command;

const NO_LIMIT: u64 = u64::MAX;

fn target() -> ArtifactTarget {
    let [backend, machine, details] = ["cpu", "x86_64 haswell", "22.1.0"].map(str::to_owned);
    ArtifactTarget { backend, machine, details }
}

/// A machine that compiles for exactly this target.
struct Exactly(ArtifactTarget);

impl TargetSelector for Exactly {
    fn exact(&self) -> Option<&ArtifactTarget> {
        Some(&self.0)
    }

    fn rank(&self, target: &ArtifactTarget) -> Option<usize> {
        (self.0 == *target).then_some(usize::MAX)
    }
}

/// An entry with bytes derived from its number.
fn entry(number: u32, size: usize) -> ArchiveEntry {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_le_bytes());
    ArchiveEntry {
        key: Key(key),
        constants: String::new(),
        reflection: Kernel {
            name: format!("kernel{number:03}"),
            arguments: Vec::new(),
            builtins: Vec::new(),
            function_constants: Vec::new(),
            threadgroup_memory: Vec::new(),
            static_threadgroup_memory: 0,
            max_total_threads_per_threadgroup: None,
            file: String::new(),
            line: 1,
        },
        artifact: Artifact {
            target: target(),
            variant: "row".into(),
            bytes: number.to_le_bytes().into_iter().cycle().take(size).collect(),
        },
    }
}

fn find(folder: &Folder, number: u32) -> Option<Arc<ArchiveEntry>> {
    let problems = Problems::default();
    let machine = Exactly(target());
    let query = Query { key: entry(number, 0).key, kernel: "", variant: "row", machine: &machine };
    let found = folder.find(&query, &problems);
    assert_eq!(problems.texts(), Vec::<String>::new());
    found
}

fn add(folder: &Folder, entry: &ArchiveEntry) {
    let problems = Problems::default();
    folder.add(entry, &problems);
    assert_eq!(problems.texts(), Vec::<String>::new());
}

/// Sets a file's time of last use to some seconds ago.
fn age(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).expect("the file is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).expect("it is ours");
}

#[test]
fn entries_are_found_by_everyone_who_opens_the_folder() {
    let place = Scratch::new("folder-found");
    let folder = place.folder(NO_LIMIT);
    assert!(find(&folder, 1).is_none() && !place.0.exists(), "a lookup creates nothing");
    add(&folder, &entry(1, 100));
    assert!(find(&place.folder(NO_LIMIT), 1).as_deref() == Some(&entry(1, 100)));
    assert!(find(&folder, 2).is_none());
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(&place.0).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "only the user may write code that is run from here");
}

#[test]
fn least_recently_used_entries_are_evicted_first() {
    let place = Scratch::new("folder-evict");
    let size = format::write([&entry(0, 1000)]).expect("it is small").len() as u64;
    let folder = place.folder(10 * size);
    for number in 0..10 {
        add(&folder, &entry(number, 1000));
        age(&folder.path(&target(), entry(number, 0).key), 10_000 - u64::from(number));
    }
    // The first entry is used again, and so stays.
    assert!(find(&folder, 0).is_some());
    add(&folder, &entry(10, 1000));
    let left: Vec<u32> = (0..11).filter(|number| find(&folder, *number).is_some()).collect();
    assert_eq!(left, [0, 3, 4, 5, 6, 7, 8, 9, 10], "a tenth is free again");
    let total: u64 = folder.files().iter().map(|file| file.bytes).sum();
    assert!(total <= 9 * size);
    // An entry larger than the limit is not written.
    add(&folder, &entry(11, 100_000));
    assert_eq!(folder.files().len(), 9);
}

#[test]
fn the_limit_holds_with_several_writers() {
    let place = Scratch::new("folder-limit");
    let size = format::write([&entry(0, 1000)]).expect("it is small").len() as u64;
    let folders = [place.folder(20 * size), place.folder(20 * size)];
    for number in 0..400 {
        add(&folders[number as usize % 2], &entry(number, 1000));
        // Neither knows what the other has written since its last count.
        assert!(folders[0].files().len() <= 20 + COUNT_AFTER_AT_MOST);
    }
}

/// Allowance over the limit: files of the other writer.
const COUNT_AFTER_AT_MOST: usize = 20;

#[test]
fn files_of_killed_processes_are_removed() {
    let place = Scratch::new("folder-temporary");
    let folder = place.folder(NO_LIMIT);
    add(&folder, &entry(1, 100));
    let target_folder = folder.targets().expect("it is there").remove(0);
    for (name, seconds) in [(".metalworks-1-0.tmp", 10_000), (".metalworks-2-0.tmp", 0)] {
        std::fs::write(target_folder.join(name), b"half").expect("a file");
        age(&target_folder.join(name), seconds);
    }
    assert_eq!(folder.files().len(), 3);
    add(&place.folder(NO_LIMIT), &entry(2, 100));
    let names: Vec<PathBuf> = folder.files().into_iter().map(|file| file.path).collect();
    assert!(names.contains(&target_folder.join(".metalworks-2-0.tmp")), "this one may still be written");
    assert_eq!(names.len(), 3);
}

#[test]
fn clearing_leaves_foreign_files() {
    let place = Scratch::new("folder-clear");
    let folder = place.folder(NO_LIMIT);
    add(&folder, &entry(1, 100));
    let target_folder = folder.targets().expect("it is there").remove(0);
    std::fs::create_dir(place.0.join("photographs")).expect("a folder");
    let others =
        [place.0.join("letter.txt"), place.0.join("photographs/sea.jpg"), target_folder.join("note.mwarchive")];
    for other in &others {
        std::fs::write(other, b"mine").expect("a file");
    }
    assert_eq!(folder.clear(&Problems::default()), 1);
    assert!(others.iter().all(|other| other.exists()) && find(&folder, 1).is_none());
}

#[test]
fn damaged_files_are_removed() {
    let place = Scratch::new("folder-damaged");
    let folder = place.folder(NO_LIMIT);
    let path = folder.path(&target(), entry(1, 0).key);
    add(&folder, &entry(1, 100));
    let whole = std::fs::read(&path).expect("it is there");
    let write = |bytes: &[u8]| std::fs::write(&path, bytes).expect("it is ours");
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        for bytes in [&damaged, &whole[..at]] {
            write(bytes);
            assert!(find(&folder, 1).is_none() && !path.exists(), "byte {at}");
        }
    }
    // Valid files for something else: another key, another target, several entries.
    let mut for_another_machine = entry(1, 100);
    for_another_machine.artifact.target.machine = "aarch64 apple-m1".into();
    for bytes in [
        format::write([&entry(2, 100)]),
        format::write([&for_another_machine]),
        format::write([&entry(1, 100), &entry(2, 100)]),
        format::write([]),
    ] {
        write(&bytes.expect("it is small"));
        assert!(find(&folder, 1).is_none());
    }
    write(&whole);
    assert!(find(&folder, 1).is_some());
}

#[test]
fn unreadable_and_unwritable_folders_are_recorded() {
    let place = Scratch::new("folder-unwritable");
    std::fs::write(&place.0, b"a file, no folder").expect("a file");
    for root in [place.0.join("below"), PathBuf::from("/proc/metalworks")] {
        let folder = Folder::new(root, FolderOptions::default());
        let problems = Problems::default();
        for _ in 0..3 {
            folder.add(&entry(1, 100), &problems);
        }
        let texts = problems.texts();
        assert!(texts.len() == 1 && texts[0].starts_with("cannot write to '"), "{texts:?}");
        assert!(folder.files().is_empty() && folder.clear(&problems) == 0);
    }
    let _ = std::fs::remove_file(&place.0);
}

#[test]
fn entries_are_private_and_others_are_refused() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let place = Scratch::new("private");
    let folder = place.folder(NO_LIMIT);
    let problems = Problems::default();
    folder.add(&entry(1, 100), &problems);
    let path = folder.path(&target(), entry(1, 0).key);
    assert_eq!(std::fs::metadata(&path).expect("an entry").mode() & 0o777, 0o600);
    let refusal = || {
        let problems = Problems::default();
        assert!(folder.read(&path, &problems).is_none());
        problems.texts().concat()
    };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("it is ours");
    assert!(refusal().ends_with("other users can write to it"), "{}", refusal());
    // It is replaced by one that is private.
    folder.add(&entry(1, 100), &problems);
    assert!(find(&folder, 1).is_some());
}

/// None is waited for or followed, and all but a folder are replaced by an entry.
#[test]
fn entries_that_are_no_files_are_refused_and_replaced() {
    let place = Scratch::new("not-files");
    let folder = place.folder(NO_LIMIT);
    let path = folder.path(&target(), entry(1, 0).key);
    add(&folder, &entry(1, 100));
    let elsewhere = place.0.join("elsewhere");
    std::fs::copy(&path, &elsewhere).expect("it is ours");
    let before = std::fs::read(&elsewhere).expect("it is ours");
    let special = |kind: libc::mode_t| {
        let name = std::ffi::CString::new(path.to_str().expect("a name")).expect("a name");
        // SAFETY: the name ends with a zero byte.
        assert_eq!(unsafe { libc::mknod(name.as_ptr(), kind | 0o600, 0) }, 0);
    };
    let kinds: [(&str, &dyn Fn(), &str); 5] = [
        ("link", &|| std::os::unix::fs::symlink(&elsewhere, &path).expect("a link"), "it is a link"),
        ("link to a device", &|| std::os::unix::fs::symlink("/dev/zero", &path).expect("a link"), "it is a link"),
        ("pipe", &|| special(libc::S_IFIFO), "it is not a file"),
        ("socket", &|| special(libc::S_IFSOCK), "it is not a file"),
        ("folder", &|| std::fs::create_dir(&path).expect("a folder"), "it is not a file"),
    ];
    for (kind, create, refusal) in kinds {
        std::fs::remove_file(&path).expect("it is ours");
        create();
        let problems = Problems::default();
        assert!(folder.read(&path, &problems).is_none(), "{kind}");
        let texts = problems.texts().concat();
        assert!(texts.ends_with(refusal), "{kind}: {texts}");
        assert!(folder.all().is_empty() && folder.clear(&problems) == 0, "{kind}");
        assert!(std::fs::symlink_metadata(&path).is_ok(), "a {kind} is not ours to remove");
        let problems = Problems::default();
        folder.add(&entry(1, 100), &problems);
        match kind {
            "folder" => assert!(problems.texts().concat().starts_with("cannot write to '"), "{kind}"),
            _ => assert!(find(&folder, 1).is_some(), "{kind}"),
        }
        assert_eq!(std::fs::read(&elsewhere).expect("it is ours"), before, "nothing was written through a {kind}");
    }
}

#[test]
fn clearing_follows_no_links() {
    let (place, other) = (Scratch::new("clear-links"), Scratch::new("clear-links-other"));
    let problems = Problems::default();
    let (folder, others) = (place.folder(NO_LIMIT), other.folder(NO_LIMIT));
    others.add(&entry(1, 100), &problems);
    let name = others.targets().expect("a folder")[0].clone();
    std::fs::create_dir_all(&place.0).expect("a folder");
    std::os::unix::fs::symlink(&name, place.0.join(name.file_name().expect("a name"))).expect("a link");
    std::os::unix::fs::symlink(&name, place.0.join(driver_files::FOLDER)).expect("a link");
    std::fs::write(name.join(".metalworks-1-1.tmp"), b"").expect("a file");
    assert_eq!(folder.clear(&problems), 0);
    assert_eq!(problems.texts(), Vec::<String>::new());
    assert!(find(&others, 1).is_some() && name.join(".metalworks-1-1.tmp").exists());
}

/// Set in child processes: the folder to write to.
const WRITE_TO: &str = "METALWORKS_TEST_FOLDER";

/// Writes entries to the folder until it is killed. They are prepared first: hashing takes longer than writing.
fn write_until_killed(root: &str) {
    let folder = Folder::new(root.into(), FolderOptions { size_limit: 1 << 20 });
    let files: Vec<(PathBuf, Vec<u8>)> = (0..6)
        .map(|number| entry(number, 250_000))
        .map(|entry| {
            (folder.path(&entry.artifact.target, entry.key), format::write([&entry]).expect("it is small"))
        })
        .collect();
    std::fs::write(format!("{root}/ready-{}", std::process::id()), b"").expect("the folder is there");
    for (path, bytes) in files.iter().cycle() {
        let problems = Problems::default();
        folder.write(path, bytes).expect("there is space");
        folder.bound(bytes.len() as u64, &problems);
        assert_eq!(problems.texts(), Vec::<String>::new());
    }
}

#[test]
fn processes_killed_while_writing_leave_no_damaged_entry() {
    if let Ok(folder) = std::env::var(WRITE_TO) {
        return write_until_killed(&folder);
    }
    let place = Scratch::new("folder-killed");
    let mut unfinished = 0;
    // The moment of the kill is random, so repeat until some have died while writing.
    for round in 0.. {
        if round >= 25 && unfinished > 0 {
            break;
        }
        assert!(round < 1000, "none of them died while it wrote");
        let writer = || {
            let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
            command
                .args(["--exact", "archive::folder::tests::processes_killed_while_writing_leave_no_damaged_entry"]);
            command.env(WRITE_TO, &place.0).stdout(std::process::Stdio::null()).spawn().expect("it starts")
        };
        std::fs::create_dir_all(&place.0).expect("a folder");
        let mut writers = [writer(), writer()];
        for writer in &mut writers {
            let ready = place.0.join(format!("ready-{}", writer.id()));
            while std::fs::remove_file(&ready).is_err() {
                assert!(writer.try_wait().expect("it is ours").is_none(), "it failed by itself");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(Duration::from_millis(3 + round % 5));
        for writer in &mut writers {
            assert!(writer.try_wait().expect("it is ours").is_none(), "it failed by itself");
            writer.kill().expect("it is ours");
            writer.wait().expect("it is ours");
        }
        let folder = place.folder(1 << 20);
        unfinished += folder.files().iter().filter(|file| file.is(FileKind::Temporary)).count();
        // A named file is whole in any case.
        assert!(folder.all().iter().all(|(_, entry)| entry.is_some()), "round {round}");
        add(&folder, &entry(100, 1000));
        assert!(find(&folder, 100).as_deref() == Some(&entry(100, 1000)));
    }
    for file in place.folder(NO_LIMIT).files() {
        age(&file.path, 10_000);
    }
    add(&place.folder(NO_LIMIT), &entry(101, 1000));
    assert!(place.folder(NO_LIMIT).files().iter().all(|file| !file.is(FileKind::Temporary)));
}
