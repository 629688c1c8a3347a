//! Names of models on Hugging Face, and the files that they choose.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ModelError, ModelErrorKind};
use crate::gguf::PartName;

pub(super) const PREFIX: &str = "hf:";
/// Forms of a name, for messages.
const FORMS: &str = "USER/REPO, USER/REPO:QUANTIZATION or USER/REPO/FILE.gguf, with @REVISION after REPO if needed";
/// File that makes a folder a model. It is downloaded last, so that a folder with it is complete.
pub(super) const CONFIG: &str = "config.json";
/// Quantizations in the order of preference where a name has none: of four bits first, as other programs do.
const PREFERRED: [&str; 8] = ["Q4_K_M", "Q4_K_S", "Q4_0", "Q4_1", "Q5_K_M", "Q8_0", "F16", "BF16"];
/// Files of a folder besides its weights.
const SIDE_FILES: [&str; 12] = [
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "generation_config.json",
    "merges.txt",
    "model.safetensors.index.json",
    "preprocessor_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
];
/// Folders in a repository that are searched for files on this machine.
const DEPTH: usize = 4;

/// Model in a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Repository {
    pub(super) user: String,
    pub(super) name: String,
    pub(super) revision: String,
    pub(super) choice: Choice,
}

/// The part of a repository that is the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// Path of a file in the repository; of a split model any part.
    File(String),
    /// The GGUF file of a quantization.
    Quantization(String),
    /// A GGUF file of a preferred quantization, or else the folder with safetensors.
    Any,
}

/// Files of one model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Chosen {
    /// GGUF files: one, or all parts.
    Gguf(Vec<String>),
    /// A folder with safetensors. The last file is [`CONFIG`].
    Folder(Vec<String>),
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, folder) = (&self.user, self.folder_name());
        match &self.choice {
            Choice::File(file) => write!(f, "{PREFIX}{user}/{folder}/{file}"),
            Choice::Quantization(name) => write!(f, "{user}/{folder}:{name}"),
            Choice::Any => write!(f, "{user}/{folder}"),
        }
    }
}

impl Repository {
    /// Parses `user/repo`, `user/repo:Q4_K_M`, `user/repo:file.gguf` or `user/repo/folder/file.gguf`, each also with
    /// `@revision` after the repository.
    pub(super) fn parse(text: &str) -> Result<Repository, ModelError> {
        let wrong = |why: &str| {
            ModelError::new(
                ModelErrorKind::Name,
                format!("'{text}' is not a model of Hugging Face: {why}; expected {FORMS}"),
            )
        };
        let (path, chosen) = match text.split_once(':') {
            Some((path, chosen)) => (path, Some(chosen)),
            None => (text, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let [user, repository, file @ ..] = &parts[..] else { return Err(wrong("it has no user and repository")) };
        let (name, revision) = repository.split_once('@').unwrap_or((repository, "main"));
        let choice = match (file, chosen) {
            ([], None) if name.ends_with(".gguf") => return Err(wrong("it has no repository")),
            ([], None | Some("latest")) => Choice::Any,
            ([], Some(chosen)) if chosen.ends_with(".gguf") => Choice::File(chosen.to_owned()),
            ([], Some(chosen)) => Choice::Quantization(chosen.to_owned()),
            (file, None) => Choice::File(file.join("/")),
            _ => return Err(wrong("it has a file and a quantization")),
        };
        let chosen = match &choice {
            Choice::File(file) if !file.ends_with(".gguf") => return Err(wrong("it does not end in .gguf")),
            Choice::File(chosen) | Choice::Quantization(chosen) => chosen.as_str(),
            Choice::Any => "any",
        };
        if let Some(part) =
            [*user, name, revision].into_iter().chain(chosen.split('/')).find(|part| !is_plain(part))
        {
            return Err(wrong(&format!("'{part}' is empty or has invalid characters")));
        }
        let [user, name, revision] = [*user, name, revision].map(str::to_owned);
        Ok(Repository { user, name, revision, choice })
    }

    fn folder_name(&self) -> String {
        match self.revision.as_str() {
            "main" => self.name.clone(),
            revision => format!("{}@{revision}", self.name),
        }
    }

    /// Folder of the repository in the folder of models.
    pub(super) fn folder(&self, models: &Path) -> PathBuf {
        models.join("hf").join(&self.user).join(self.folder_name())
    }

    /// Path of the model on this machine, if all its files are there: a GGUF file, the first of its parts, or a folder.
    pub(super) fn find(&self, models: &Path) -> Option<PathBuf> {
        let folder = self.folder(models);
        if let Choice::File(file) = &self.choice {
            return Some(folder.join(file)).filter(|path| path.is_file());
        }
        let mut files = Vec::new();
        collect(&folder, "", DEPTH, &mut files);
        let chosen = self.choose(&files).ok()?;
        let path = chosen.path(&folder);
        let is_there = |file: &String| folder.join(file).is_file();
        match chosen {
            Chosen::Gguf(files) => files.iter().all(is_there).then_some(path),
            Chosen::Folder(_) => Some(path),
        }
    }

    /// Chooses the files of the model among those of the repository. The error names what there is.
    pub(super) fn choose(&self, files: &[String]) -> Result<Chosen, ModelError> {
        let none = |why: String| {
            ModelError::new(ModelErrorKind::NotFound, format!("{}/{} {why}", self.user, self.folder_name()))
        };
        let mut ggufs: Vec<&String> = files.iter().filter(|file| is_model(file)).collect();
        // The shortest name first: a longer one adds something that was not asked for.
        ggufs.sort_by_key(|file| (file.len(), file.as_str()));
        let of = |name: &str| ggufs.iter().find(|file| has_quantization(file, name)).copied();
        let chosen = match &self.choice {
            Choice::File(file) => return Ok(Chosen::Gguf(parts(file))),
            Choice::Quantization(name) => of(name).ok_or_else(|| {
                let names: Vec<&str> = ggufs.iter().take(20).map(|file| file.as_str()).collect();
                none(match names.is_empty() {
                    true => {
                        "has no GGUF files: leave out the quantization, or choose another repository".to_owned()
                    }
                    false => format!("has no GGUF file of quantization {name}; it has {}", names.join(", ")),
                })
            })?,
            Choice::Any => match PREFERRED.iter().find_map(|name| of(name)).or_else(|| ggufs.first().copied()) {
                Some(file) => file,
                None => {
                    let folder = folder_files(files);
                    return folder.map(Chosen::Folder).ok_or_else(|| {
                        none(format!(
                            "has neither GGUF files nor {CONFIG} with safetensors: choose another repository"
                        ))
                    });
                }
            },
        };
        Ok(Chosen::Gguf(parts(chosen)))
    }
}

impl Chosen {
    #[cfg(feature = "hub")]
    pub(super) fn files(&self) -> &[String] {
        match self {
            Chosen::Gguf(files) | Chosen::Folder(files) => files,
        }
    }

    /// Path that opens the model.
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        match self {
            Chosen::Gguf(files) => files.first().map_or_else(|| folder.to_owned(), |file| folder.join(file)),
            Chosen::Folder(_) => folder.to_owned(),
        }
    }
}

/// True for a part of a name without special meaning in a path or a URL.
pub(super) fn is_plain(part: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    !part.is_empty() && !part.starts_with(['.', '-']) && part.bytes().all(known)
}

/// True for a GGUF file with the weights of a language model.
fn is_model(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    let is_aid = ["mmproj", "imatrix"].iter().any(|aid| name.contains(aid));
    name.ends_with(".gguf") && !is_aid
}

/// True if a file's name has a quantization as a word: `Q4_K` is not in `Q4_K_M`.
fn has_quantization(file: &str, quantization: &str) -> bool {
    let (file, quantization) = (file.to_ascii_uppercase(), quantization.to_ascii_uppercase());
    let continues = |c: char| c.is_ascii_alphanumeric() || c == '_';
    file.match_indices(&quantization).any(|(start, _)| {
        let (before, after) = (&file[..start], &file[start + quantization.len()..]);
        !before.ends_with(continues) && !after.starts_with(continues)
    })
}

/// All parts of a split model, or the one file.
fn parts(file: &str) -> Vec<String> {
    match PartName::of(Path::new(file)) {
        Some(name) if name.count > 0 => {
            (0..name.count).map(|number| name.part(number).to_string_lossy().into_owned()).collect()
        }
        _ => vec![file.to_owned()],
    }
}

/// Files of a model with safetensors, if the repository has one.
fn folder_files(files: &[String]) -> Option<Vec<String>> {
    let of_weights = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        let weights = files.iter().filter(|file| !file.contains('/') && file.ends_with(".safetensors"));
        weights.filter(|file| wanted(file)).cloned().collect()
    };
    // Some repositories have the weights a second time, in another layout.
    let mut weights = of_weights(&|file| file.starts_with("model"));
    if weights.is_empty() {
        weights = of_weights(&|file| !file.starts_with("consolidated"));
    }
    if weights.is_empty() || !files.iter().any(|file| file == CONFIG) {
        return None;
    }
    let side = files.iter().filter(|file| SIDE_FILES.contains(&file.as_str())).cloned();
    Some(side.chain(weights).chain([CONFIG.to_owned()]).collect())
}

/// Collects the files of a folder, with paths relative to it. Hidden files are incomplete. Links to folders are left alone:
/// they may lead back here.
pub(super) fn collect(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        match fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_dir() => {
                if depth == 0 || entry.path().is_symlink() {
                    continue;
                }
                collect(&entry.path(), &format!("{path}/"), depth - 1, files);
            }
            Ok(metadata) if metadata.is_file() => files.push(path),
            _ => {}
        }
    }
    files.sort();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Repository {
        Repository::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn files(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn parses_names_and_rejects_special_characters() {
        let source = parse("user/repo-GGUF/sub/model.Q4_0.gguf");
        assert_eq!(source.choice, Choice::File("sub/model.Q4_0.gguf".into()));
        assert_eq!(source.folder(Path::new("/m")), Path::new("/m/hf/user/repo-GGUF"));
        assert_eq!(source.to_string(), "hf:user/repo-GGUF/sub/model.Q4_0.gguf");
        let source = parse("user/repo@v1.0/model.gguf");
        assert_eq!(source.folder(Path::new("/m")), Path::new("/m/hf/user/repo@v1.0"));
        assert_eq!((parse("u/r").choice, parse("u/r:latest").choice), (Choice::Any, Choice::Any));
        assert_eq!(parse("u/r@v2:Q4_K_M").to_string(), "u/r@v2:Q4_K_M");
        assert_eq!(parse("u/r:m.gguf").choice, Choice::File("m.gguf".into()));
        for wrong in [
            "",
            "model.gguf",
            "user/model.gguf",
            "user/repo/model.bin",
            "user/repo/../x.gguf",
            "../repo/x.gguf",
            "user/repo:",
            "user/repo:../x.gguf",
            "user/repo/x.gguf:Q4_0",
            "./repo",
            "/repo",
        ] {
            assert_eq!(Repository::parse(wrong).expect_err(wrong).kind(), ModelErrorKind::Name);
        }
        for wrong in
            ["user/repo//x.gguf", "user/repo@/x.gguf", "user/repo/a b.gguf", "-o/repo/x.gguf", "u/r/x?y.gguf"]
        {
            let error = Repository::parse(wrong).expect_err(wrong).to_string();
            assert!(error.contains("is empty or has invalid characters"), "{error}");
        }
    }

    #[test]
    fn chooses_a_quantization_by_a_word_of_the_name() {
        let names = files(&[
            "README.md",
            "mmproj-Q4_K_M.gguf",
            "m-Q4_K_S.gguf",
            "m-UD-Q4_K_M.gguf",
            "m-Q4_K_M.gguf",
            "big/m-q8_0-00001-of-00002.gguf",
            "big/m-q8_0-00002-of-00002.gguf",
        ]);
        let choose = |name: &str| parse(name).choose(&names);
        assert_eq!(choose("u/r"), Ok(Chosen::Gguf(files(&["m-Q4_K_M.gguf"]))));
        assert_eq!(choose("u/r:q4_k_m"), Ok(Chosen::Gguf(files(&["m-Q4_K_M.gguf"]))));
        assert_eq!(choose("u/r:UD-Q4_K_M"), Ok(Chosen::Gguf(files(&["m-UD-Q4_K_M.gguf"]))));
        assert_eq!(choose("u/r:Q8_0"), Ok(Chosen::Gguf(names[5..].to_vec())));
        let error = choose("u/r:Q4_K").expect_err("there is none").to_string();
        assert!(error.starts_with("u/r has no GGUF file of quantization Q4_K; it has m-Q4_K_M.gguf, "), "{error}");
        assert!(!error.contains("mmproj"), "{error}");
    }

    #[test]
    fn chooses_a_folder_whose_configuration_comes_last() {
        let names = files(&[
            "config.json",
            "consolidated.safetensors",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json",
            "onnx/model.onnx",
            "tokenizer.json",
        ]);
        let expected = files(&[
            "model.safetensors.index.json",
            "tokenizer.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "config.json",
        ]);
        assert_eq!(parse("u/r").choose(&names), Ok(Chosen::Folder(expected)));
        assert_eq!(parse("u/r").choose(&names[1..]).expect_err("no config.json").kind(), ModelErrorKind::NotFound);
        assert!(parse("u/r:Q4_0").choose(&names).expect_err("no GGUF").to_string().contains("has no GGUF files"));
    }
}
