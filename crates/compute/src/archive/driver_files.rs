//! Names of the drivers' archive files, known to every process, even without such a driver.

use std::path::Path;
use std::path::PathBuf;

/// Their folder in the user's folder.
pub(super) const FOLDER: &str = "metal";
pub(super) const EXTENSION: &str = ".metalar";
const SET_ASIDE: &str = ".damaged";

/// A kind of file in the folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DriverFile {
    Archive,
    SetAside,
}

pub(super) fn driver_file(name: &str) -> Option<DriverFile> {
    match name.strip_suffix(SET_ASIDE) {
        Some(name) => name.ends_with(EXTENSION).then_some(DriverFile::SetAside),
        None => name.ends_with(EXTENSION).then_some(DriverFile::Archive),
    }
}

/// The target of an archive: `metal apple-m2-pro version-14-5-build-23f79`.
pub(super) fn driver_target(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(EXTENSION).unwrap_or(&name);
    format!("metal {}", name.replacen('_', " ", 1))
}

pub(super) fn set_aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(SET_ASIDE);
    path.with_file_name(name)
}

/// A file name made from the name of a GPU or a system.
pub(super) fn slug(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    // Limit for the length of file names.
    match slug.get(..80).unwrap_or(&slug) {
        "" => "unknown".into(),
        slug => slug.into(),
    }
}
