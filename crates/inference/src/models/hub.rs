//! Models of Hugging Face: the list of a repository's files, and downloads of those that make a model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::download::{self, Download};
use super::http::{Client, Failure, FailureKind};
use super::repository::{self, Choice, Repository};
use super::{ModelError, PullEvent, PullOptions, Pulled};

/// Time to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(15);

/// Most files of a model. Each is locked while they are downloaded.
const MOST_FILES: usize = 500;

/// A repository, as the hub describes it.
#[derive(Deserialize)]
struct Listing {
    /// Commit, so that all files are of one state.
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
}

/// Address of a file in a repository.
pub(super) fn address(client: &Client, repository: &Repository, revision: &str, file: &str) -> String {
    client.address(&format!("{}/{}/resolve/{revision}/{file}", repository.user, repository.name))
}

/// Downloads a model into its folder, unless it is there.
pub(super) fn pull(
    repository: &Repository,
    models: &Path,
    options: &PullOptions,
    report: &mut dyn FnMut(PullEvent<'_>),
) -> Result<Pulled, ModelError> {
    // All parts of a split model are looked for below.
    if let Some(path) = repository.find(models).filter(|_| !matches!(repository.choice, Choice::File(_))) {
        return Ok(Pulled { path, was_present: true });
    }
    let client = Client::new(PATIENCE, options)?;
    let (chosen, revision) = match &repository.choice {
        Choice::File(_) => (repository.choose(&[])?, repository.revision.clone()),
        _ => {
            let listing = list(&client, repository)?;
            let files: Vec<String> = listing.siblings.into_iter().map(|sibling| sibling.rfilename).collect();
            // A name may become a path here.
            let mut files: Vec<String> =
                files.into_iter().filter(|file| file.split('/').all(repository::is_plain)).collect();
            // A file that is listed twice would wait for itself.
            files.sort();
            files.dedup();
            (repository.choose(&files)?, listing.sha)
        }
    };
    if chosen.files().len() > MOST_FILES {
        let count = chosen.files().len();
        return Err(ModelError::failed(format!(
            "{repository} has {count} files: at most {MOST_FILES} make a model"
        )));
    }
    let folder = repository.folder(models);
    let downloads: Vec<Download> = chosen
        .files()
        .iter()
        .map(|file| Download {
            address: address(&client, repository, &revision, file),
            path: folder.join(file),
            pinned: None,
        })
        .collect();
    let was_present = download::all(&client, &downloads, report)?;
    let path: PathBuf = match &repository.choice {
        Choice::File(file) => folder.join(file),
        _ => chosen.path(&folder),
    };
    Ok(Pulled { path, was_present })
}

fn list(client: &Client, repository: &Repository) -> Result<Listing, ModelError> {
    let Repository { user, name, revision, .. } = repository;
    let address = client.address(&format!("api/models/{user}/{name}/revision/{revision}"));
    let text = client.text(&address)?;
    let listing: Result<Listing, _> = serde_json::from_str(&text);
    match listing {
        Ok(listing) if repository::is_plain(&listing.sha) => Ok(listing),
        Ok(_) => Err(wrong_listing(&address, "its commit has invalid characters").into()),
        Err(error) => Err(wrong_listing(&address, &error.to_string()).into()),
    }
}

fn wrong_listing(address: &str, why: &str) -> Failure {
    Failure::new(FailureKind::Final, format!("{address} is not a list of files: {why}"))
}
