//! The files of drivers' archives by their names, which every process knows, also where there is no such driver.

use std::path::Path;
use std::path::PathBuf;

/// Where they are, in the folder of the user.
pub(super) const FOLDER: &str = "metal";
pub(super) const EXTENSION: &str = ".metalar";
const SET_ASIDE: &str = ".damaged";

/// What a file in the folder is.
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

/// For whom an archive is: `metal apple-m2-pro version-14-5-build-23f79`.
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

/// A name for a file, from what a GPU or a system calls itself.
pub(super) fn slug(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    // Names of files end somewhere.
    match slug.get(..80).unwrap_or(&slug) {
        "" => "unknown".into(),
        slug => slug.into(),
    }
}
