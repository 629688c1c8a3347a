//! Models in the folder of models: listed, and removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{
    DEFAULT, DEFAULT_FILE, ModelError, ModelErrorKind, ModelSource, folder, hidden_sibling, lock, repository,
};
use crate::gguf::PartName;

/// Folders in each other that are searched.
const DEPTH: usize = 8;
/// Weights in a folder with `config.json`.
const SAFETENSORS: &str = "safetensors";

/// Model in the folder of models.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StoredModel {
    /// Name that finds it; its path if it was not downloaded with this program.
    pub name: String,
    /// Path that opens it: a file, the first of its parts, or a folder.
    pub path: PathBuf,
    /// Its files, incomplete ones included.
    pub files: Vec<StoredFile>,
    /// Format of its weights.
    pub format: StoredFormat,
    /// False if its download was interrupted.
    pub is_complete: bool,
}

/// File of a [`StoredModel`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StoredFile {
    /// Path of the file when it is complete.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last change, if the system knows it.
    pub modified: Option<SystemTime>,
    /// False for the received part of an interrupted download.
    pub is_complete: bool,
}

/// Format of a [`StoredModel`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum StoredFormat {
    /// One GGUF file, or several parts.
    Gguf,
    /// A folder with safetensors.
    Safetensors,
}

impl StoredFormat {
    /// Name of the format.
    pub fn name(self) -> &'static str {
        match self {
            StoredFormat::Gguf => "GGUF",
            StoredFormat::Safetensors => SAFETENSORS,
        }
    }
}

/// Returns all models in the folder of models, by name. A folder that is not there has none.
pub fn list() -> Result<Vec<StoredModel>, ModelError> {
    let root = folder()?;
    let mut files = Vec::new();
    walk(&root, DEPTH, &mut files)?;
    let mut groups: BTreeMap<(PathBuf, StoredFormat), Vec<StoredFile>> = BTreeMap::new();
    for file in &files {
        if let Some(key) = key(file, &files) {
            groups.entry(key).or_default().push(file.clone());
        }
    }
    let models = groups.into_iter().map(|((path, format), files)| StoredModel {
        name: name(&root, &path),
        is_complete: is_complete(&path, format, &files),
        path,
        files,
        format,
    });
    let mut models: Vec<StoredModel> = models.collect();
    models.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(models)
}

/// Returns the model of a name, or of a path in the folder of models.
pub fn stored(name: &str) -> Result<StoredModel, ModelError> {
    let root = folder()?;
    let path = std::path::absolute(name).ok();
    let found = name.parse::<ModelSource>().and_then(|source| source.find()).ok();
    let same = |model: &StoredModel| {
        let canonical = name.parse::<ModelSource>().is_ok_and(|source| model.name == source.to_string());
        let is_path = [&path, &found].into_iter().flatten().any(|path| *path == model.path);
        model.name == name || canonical || is_path
    };
    list()?.into_iter().find(same).ok_or_else(|| match Path::new(name).exists() {
        true => ModelError::new(
            ModelErrorKind::NotFound,
            format!("'{name}' is not a model in the folder of models, '{}'", root.display()),
        ),
        false => ModelError::new(
            ModelErrorKind::NotFound,
            format!("there is no model '{name}' in the folder of models, '{}'", root.display()),
        ),
    })
}

impl StoredModel {
    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Time of the last change, if the system knows it.
    pub fn modified(&self) -> Option<SystemTime> {
        self.files.iter().filter_map(|file| file.modified).max()
    }

    /// Removes its files, and the folders that are empty then.
    pub fn remove(&self) -> Result<(), ModelError> {
        let root = folder()?;
        let mut locks = Vec::new();
        for file in &self.files {
            locks.push(lock(&file.path)?);
        }
        for StoredFile { path, is_complete, .. } in &self.files {
            let file = if *is_complete { path.clone() } else { hidden_sibling(path, "part") };
            fs::remove_file(&file)
                .map_err(|error| ModelError::failed(format!("cannot remove '{}': {error}", file.display())))?;
            for extension in ["note", "lock"] {
                let _ = fs::remove_file(hidden_sibling(path, extension));
            }
        }
        for file in &self.files {
            let parents = file.path.ancestors().skip(1).take_while(|parent| **parent != root);
            // A folder with other files stays.
            let _ = parents.map(fs::remove_dir).take_while(Result::is_ok).count();
        }
        Ok(())
    }
}

/// Collects complete and incomplete files. Links to folders are left alone: they lead out of the folder of models.
fn walk(folder: &Path, depth: usize, files: &mut Vec<StoredFile>) -> Result<(), ModelError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(ModelError::failed(format!("cannot read the folder '{}': {error}", folder.display())));
        }
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        let part = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
        if kind.is_dir() {
            if depth > 0 && !name.starts_with('.') {
                walk(&entry.path(), depth - 1, files)?;
            }
            continue;
        }
        let path = match part {
            Some(name) => entry.path().with_file_name(name),
            None if name.starts_with('.') => continue,
            None => entry.path(),
        };
        if let Ok(metadata) = fs::metadata(entry.path())
            && metadata.is_file()
        {
            let (bytes, modified) = (metadata.len(), metadata.modified().ok());
            files.push(StoredFile { path, bytes, modified, is_complete: part.is_none() });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Path and format of the model that a file belongs to.
fn key(file: &StoredFile, files: &[StoredFile]) -> Option<(PathBuf, StoredFormat)> {
    let has_extension = |path: &Path, wanted: &str| path.extension().is_some_and(|extension| extension == wanted);
    if has_extension(&file.path, "gguf") {
        let first = PartName::of(&file.path).map(|name| name.part(0));
        return Some((first.unwrap_or_else(|| file.path.clone()), StoredFormat::Gguf));
    }
    let parent = file.path.parent()?;
    let has_weights =
        files.iter().any(|other| other.path.parent() == Some(parent) && has_extension(&other.path, SAFETENSORS));
    has_weights.then(|| (parent.to_owned(), StoredFormat::Safetensors))
}

fn is_complete(path: &Path, format: StoredFormat, files: &[StoredFile]) -> bool {
    let has = |path: &Path| files.iter().any(|file| file.path == path && file.is_complete);
    let has_all = match (format, PartName::of(path)) {
        (StoredFormat::Safetensors, _) => has(&path.join(repository::CONFIG)),
        (StoredFormat::Gguf, Some(parts)) => {
            files.len() as u64 == parts.count && (0..parts.count).all(|number| has(&parts.part(number)))
        }
        (StoredFormat::Gguf, None) => has(path),
    };
    has_all && files.iter().all(|file| file.is_complete)
}

/// Name of the model at a path.
fn name(root: &Path, path: &Path) -> String {
    if path == root.join(DEFAULT_FILE) {
        return DEFAULT.to_owned();
    }
    let in_hub = path.strip_prefix(root.join("hf")).ok().and_then(Path::to_str);
    let name = in_hub.and_then(|name| format!("{}{name}", repository::PREFIX).parse::<ModelSource>().ok());
    name.map_or_else(|| path.display().to_string(), |source| source.to_string())
}
