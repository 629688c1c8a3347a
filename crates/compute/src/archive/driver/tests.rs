//! Archives of a test driver that stores lines of text.

use super::*;
use crate::archive::driver_files::driver_target;
use crate::archive::folder::FileKind;
use crate::archive::scratch::Scratch;
use crate::archive::{BinaryArchive, FolderOptions};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A driver whose archives are lists of words, and whose files begin with `archive`.
#[derive(Clone, Default)]
struct Words {
    /// Writing fails.
    is_full: Arc<AtomicBool>,
}

impl Driver for Words {
    type Archive = Mutex<Vec<String>>;
    type Item = String;

    fn open(&self, file: Option<&Path>) -> Result<Self::Archive, String> {
        let Some(file) = file else { return Ok(Mutex::default()) };
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        let mut lines = text.lines().map(str::to_owned);
        match lines.next().as_deref() {
            Some("archive") => Ok(Mutex::new(lines.collect())),
            _ => Err("no archive".into()),
        }
    }

    fn add(&self, archive: &Self::Archive, item: &String) -> Result<(), String> {
        match item.as_str() {
            "invalid" => Err("it is invalid".into()),
            item => {
                archive.lock().expect("nobody panics").push(item.into());
                Ok(())
            }
        }
    }

    fn serialize(&self, archive: &Self::Archive, file: &Path) -> Result<(), String> {
        let words = archive.lock().expect("nobody panics").join("\n");
        let text = if self.is_full.load(Ordering::Relaxed) { "arch".into() } else { format!("archive\n{words}\n") };
        std::fs::write(file, text).map_err(|error| error.to_string())?;
        if self.is_full.load(Ordering::Relaxed) { Err("no space".into()) } else { Ok(()) }
    }
}

/// More than the tests write.
const LARGE: u64 = 1 << 20;

/// File names in a folder.
fn names(place: &Scratch) -> Vec<String> {
    let files = place.folder(LARGE).files();
    let name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = files.iter().map(|file| name(&file.path)).collect();
    names.sort();
    names
}

const NAME: &str = "apple-m2-pro_version-14-5-build-23f79.metalar";

fn archive() -> DriverArchive<Words> {
    DriverArchive::new(Words::default(), "Apple M2 Pro", "Version 14.5 (Build 23F79)")
}

fn words(archive: &DriverArchive<Words>, folder: Option<&Folder>, problems: &Problems) -> Vec<String> {
    let look = |words: &Mutex<Vec<String>>| words.lock().expect("nobody panics").clone();
    archive.look(folder, problems, look).expect("there is one")
}

/// Adds and flushes objects like a process; returns the recorded problems.
fn process(place: &Scratch, new: &[&str]) -> Vec<String> {
    let (archive, folder, problems) = (archive(), place.folder(LARGE), Problems::default());
    for word in new {
        archive.add(Some(&folder), (*word).to_owned(), &problems);
    }
    archive.flush(&folder, &problems);
    problems.texts()
}

fn kept(place: &Scratch) -> (Vec<String>, Vec<String>) {
    let problems = Problems::default();
    (words(&archive(), Some(&place.folder(LARGE)), &problems), problems.texts())
}

#[test]
fn next_process_finds_what_was_compiled() {
    let place = Scratch::new("gpu-next");
    assert_eq!(kept(&place), (vec![], vec![]));
    assert!(!place.0.exists(), "a lookup creates no folder");
    assert_eq!(process(&place, &["gemv", "softmax"]), [""; 0]);
    assert_eq!(kept(&place).0, ["gemv", "softmax"]);
    assert_eq!(process(&place, &["rope"]), [""; 0]);
    assert_eq!(kept(&place), (["gemv", "softmax", "rope"].map(str::to_owned).into(), vec![]));
    assert_eq!(names(&place), [NAME]);
}

#[test]
fn writes_only_if_something_was_added() {
    let place = Scratch::new("gpu-news");
    assert_eq!(process(&place, &[]), [""; 0]);
    assert!(!place.0.exists());
    process(&place, &["gemv"]);
    let file = place.0.join(FOLDER).join(NAME);
    let written = std::fs::metadata(&file).expect("it is there").ino();
    let (archive, folder, problems) = (archive(), place.folder(LARGE), Problems::default());
    assert_eq!(words(&archive, Some(&folder), &problems), ["gemv"]);
    archive.flush(&folder, &problems);
    assert_eq!(std::fs::metadata(&file).expect("it is there").ino(), written, "the same file");
    // A second flush writes nothing.
    archive.add(Some(&folder), "rope".into(), &problems);
    archive.flush(&folder, &problems);
    let written = std::fs::metadata(&file).expect("it is there").ino();
    archive.flush(&folder, &problems);
    assert_eq!(std::fs::metadata(&file).expect("it is there").ino(), written, "the same file");
}

#[test]
fn folders_need_a_flush_and_memory_does_not() {
    let (place, problems) = (Scratch::new("gpu-waits"), Problems::default());
    let (in_folder, in_memory, folder) = (archive(), archive(), place.folder(LARGE));
    in_folder.add(Some(&folder), "gemv".into(), &problems);
    in_memory.add(None, "gemv".into(), &problems);
    assert_eq!(words(&in_folder, Some(&folder), &problems), [""; 0]);
    assert_eq!(words(&in_memory, None, &problems), ["gemv"]);
    in_folder.flush(&folder, &problems);
    assert_eq!(words(&in_folder, Some(&folder), &problems), ["gemv"]);
    assert_eq!(problems.texts(), [""; 0]);
}

#[test]
fn refused_files_are_set_aside_and_replaced() {
    let place = Scratch::new("gpu-damaged");
    for damage in ["torn", "", "archiv"] {
        process(&place, &["gemv"]);
        let file = place.0.join(FOLDER).join(NAME);
        std::fs::write(&file, damage).expect("it can be damaged");
        let (words, problems) = kept(&place);
        assert_eq!(words, [""; 0]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains(NAME) && problems[0].ends_with("is set aside: no archive"), "{problems:?}");
        assert_eq!(process(&place, &["rope"]), [""; 0]);
        assert_eq!(kept(&place), (vec!["rope".into()], vec![]));
        let damaged = format!("{NAME}.damaged");
        assert_eq!(names(&place), [NAME.to_owned(), damaged.clone()]);
        assert_eq!(std::fs::read_to_string(place.0.join(FOLDER).join(damaged)).expect("it is there"), damage);
    }
}

#[test]
fn a_failed_write_keeps_the_old_file() {
    let place = Scratch::new("gpu-full");
    process(&place, &["gemv"]);
    let (archive, folder, problems) = (archive(), place.folder(LARGE), Problems::default());
    archive.driver.is_full.store(true, Ordering::Relaxed);
    archive.add(Some(&folder), "rope".into(), &problems);
    archive.flush(&folder, &problems);
    assert_eq!(problems.texts().len(), 1);
    assert!(problems.texts()[0].ends_with(": no space"), "{:?}", problems.texts());
    assert_eq!(names(&place), [NAME], "no temporary file stays");
    assert_eq!(kept(&place).0, ["gemv"]);
    // There is space again.
    archive.driver.is_full.store(false, Ordering::Relaxed);
    archive.flush(&folder, &problems);
    assert_eq!(kept(&place).0, ["gemv", "rope"]);
}

#[test]
fn an_unwritable_folder_is_recorded() {
    let place = Scratch::new("gpu-no-folder");
    std::fs::write(&place.0, "a file").expect("it is written");
    let problems = process(&place, &["gemv"]);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("cannot read ") && problems[1].starts_with("cannot write "), "{problems:?}");
    std::fs::remove_file(&place.0).expect("it is ours");
}

#[test]
fn an_object_that_the_driver_refuses_is_left_out() {
    let place = Scratch::new("gpu-item");
    let problems = process(&place, &["invalid", "gemv"]);
    assert_eq!(problems, ["the driver cannot archive a kernel: it is invalid"]);
    assert_eq!(kept(&place).0, ["gemv"]);
    // Without new objects, nothing is written.
    assert_eq!(process(&Scratch::new("gpu-nothing"), &["invalid"]).len(), 1);
}

#[test]
fn an_archive_that_fills_the_folder_starts_over() {
    let place = Scratch::new("gpu-limit");
    process(&place, &["a-long-name-of-a-kernel"]);
    let problems = Problems::default();
    assert_eq!(words(&archive(), Some(&place.folder(100)), &problems).len(), 1);
    assert_eq!(words(&archive(), Some(&place.folder(40)), &problems), [""; 0]);
    // A file larger than the limit is not kept.
    let (archive, folder) = (archive(), place.folder(20));
    archive.add(Some(&folder), "another-long-name-of-a-kernel".into(), &problems);
    archive.flush(&folder, &problems);
    assert!(problems.texts()[0].contains("exceed the folder's limit (20)"), "{:?}", problems.texts());
    assert_eq!(kept(&place).0, ["a-long-name-of-a-kernel"]);
}

#[test]
fn the_last_writer_wins_and_no_file_is_torn() {
    let place = Scratch::new("gpu-threads");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for round in 0..25 {
                    assert_eq!(process(place, &[&format!("kernel-{writer}-{round}")]), [""; 0]);
                    let (words, problems) = kept(place);
                    assert_eq!(problems, [""; 0]);
                    assert!(words.iter().all(|word| word.starts_with("kernel-")), "{words:?}");
                }
            });
        }
    });
    assert_eq!(names(&place), [NAME]);
}

#[test]
fn driver_archives_are_counted_and_cleared() {
    let place = Scratch::new("gpu-info");
    process(&place, &["gemv"]);
    std::fs::write(place.0.join(FOLDER).join("other.metalar.damaged"), "x").expect("it is written");
    std::fs::write(place.0.join(FOLDER).join("notes.txt"), "not ours").expect("it is written");
    let archive = BinaryArchive::folder(&place.0, FolderOptions::default());
    let info = archive.info();
    assert_eq!((info.entries, info.damaged, info.unfinished), (1, 1, 0));
    assert_eq!((info.bytes, archive.size(), archive.len()), (14, 14, 1));
    assert_eq!(info.targets.len(), 1);
    assert_eq!(info.targets[0].target, "metal apple-m2-pro version-14-5-build-23f79");
    assert_eq!((info.targets[0].entries, info.targets[0].code_bytes), (1, 13));
    assert!(info.oldest.is_some());
    assert_eq!(archive.clear(), 2);
    assert_eq!(names(&place), [""; 0]);
    assert!(place.0.join(FOLDER).join("notes.txt").exists());
}

#[test]
fn the_oldest_file_is_evicted_first() {
    let (place, problems) = (Scratch::new("gpu-oldest"), Problems::default());
    process(&place, &["gemv"]);
    let old = place.0.join(FOLDER).join(NAME);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
    File::open(&old).and_then(|file| file.set_modified(long_ago)).expect("it is ours");
    let newer = DriverArchive::new(Words::default(), "Apple M3", "Version 15.0 (Build 24A335)");
    let folder = place.folder(20);
    newer.add(Some(&folder), "softmax".into(), &problems);
    newer.flush(&folder, &problems);
    assert_eq!(problems.texts(), [""; 0]);
    assert_eq!(names(&place), ["apple-m3_version-15-0-build-24a335.metalar"]);
    assert!(place.folder(LARGE).files().iter().all(|file| file.is(FileKind::Driver)));
}

#[test]
fn file_names_are_slugs() {
    assert_eq!(slug("Apple M2 Pro"), "apple-m2-pro");
    assert_eq!(slug("  ../..//é "), "unknown");
    assert_eq!(slug(&"x".repeat(200)).len(), 80);
    assert_eq!(driver_target(Path::new("/a/apple-m1_version-14.metalar")), "metal apple-m1 version-14");
}
