//! Examines folders: compiled kernels, and models.

use std::fs;
use std::path::Path;

use compute::BinaryArchive;
use inference::models;

use super::findings::{CacheFinding, Models};
use super::problems::Problems;
use crate::output::{count, size};

/// Examines the user's cache of compiled kernels.
pub(super) fn examine_cache(problems: &mut Problems) -> (Option<BinaryArchive>, CacheFinding) {
    let archive = match BinaryArchive::user_cache() {
        Ok(archive) => archive,
        Err(error) => {
            problems.error(error.to_string(), "unset or correct the variable");
            return (None, CacheFinding::default());
        }
    };
    let info = archive.info();
    let writable = match &info.path {
        Some(path) => match probe(path) {
            Ok(()) => true,
            Err(reason) => {
                let what = format!("compiled kernels cannot be cached in '{}': {reason}", path.display());
                problems.warning(what, "make the folder writable, or set METALWORKS_CACHE to another one");
                false
            }
        },
        None => {
            let why = info.off.as_deref().unwrap_or("there is no folder");
            problems
                .note(format!("compiled kernels are not cached: {why}"), "every start compiles its kernels again");
            false
        }
    };
    if info.damaged > 0 {
        let what = format!("{} of the cache is damaged, or of another version", count(info.damaged, "file"));
        problems.warning(what, "it is compiled again when it is needed; 'metalworks cache clear' removes all");
    }
    if let Some(limit) = info.size_limit.filter(|limit| writable && info.bytes > limit / 10 * 9) {
        let what = format!("the cache is nearly full: {} of {}", size(info.bytes), size(limit));
        problems.note(what, "the least recently used kernels are removed; METALWORKS_CACHE_SIZE=1G allows more");
    }
    let cache = CacheFinding {
        path: info.path.map(|path| path.display().to_string()),
        off: info.off,
        writable,
        entries: info.entries,
        bytes: info.bytes,
        size_limit: info.size_limit,
        damaged: info.damaged,
        unfinished: info.unfinished,
    };
    (Some(archive), cache)
}

/// Size of a small compiled kernel.
const PROBE: usize = 16 << 10;

/// Checks that a folder can be created and written, with a file that is removed again.
fn probe(folder: &Path) -> Result<(), String> {
    let path = folder.join(format!(".metalworks-doctor-{}.tmp", std::process::id()));
    // A full disk still has room for a file without content.
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, [0; PROBE]));
    let removed = fs::remove_file(&path);
    written.and(removed).map_err(|error| error.to_string())
}

/// Examines the folder of models.
pub(super) fn examine_models(problems: &mut Problems) -> Models {
    let folder = match models::folder() {
        Ok(folder) => folder,
        Err(error) => {
            problems.warning(error.to_string(), "set METALWORKS_MODELS");
            return Models::default();
        }
    };
    let (files, bytes) = match files(&folder, 0) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (0, 0),
        Err(error) => {
            let what = format!("the models folder '{}' cannot be read: {error}", folder.display());
            problems.warning(what, "make the folder readable, or set METALWORKS_MODELS to another one");
            (0, 0)
        }
    };
    let path = Some(folder.display().to_string());
    Models { path, files, bytes, default_model: models::default_model().is_ok() }
}

/// Number and total size of GGUF files. Downloaded models are some folders deep.
fn files(folder: &Path, depth: usize) -> std::io::Result<(usize, u64)> {
    let mut found = (0, 0);
    for item in fs::read_dir(folder)? {
        let item = item?;
        // Skip links: they lead to files in the folder, or out of it.
        let Ok(metadata) = item.metadata() else { continue };
        if metadata.is_dir() && depth < 4 {
            let (files, bytes) = files(&item.path(), depth + 1).unwrap_or_default();
            found = (found.0 + files, found.1 + bytes);
        } else if metadata.is_file() && item.path().extension().is_some_and(|extension| extension == "gguf") {
            found = (found.0 + 1, found.1 + metadata.len());
        }
    }
    Ok(found)
}
