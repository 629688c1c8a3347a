//! Models of Hugging Face, through curl. A download that was interrupted goes on where it was.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{self, Ended};
use super::{ModelError, ModelErrorKind, Progress, Step, beside, checksum, put, space};
use crate::gguf::{self, PartName};

pub(super) const PREFIX: &str = "hf:";
/// Another place that has the same files, as for Hugging Face's own programs.
const ENDPOINT: &str = "HF_ENDPOINT";
/// What models that are not for everybody need.
const TOKEN: &str = "HF_TOKEN";

/// A file of a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HuggingFace {
    user: String,
    repository: String,
    revision: String,
    /// May be in a folder.
    file: String,
}

impl fmt::Display for HuggingFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}/{}/{}", self.user, self.folder(), self.file)
    }
}

/// What the server says about a file.
struct Remote {
    size: u64,
    /// Known of large files.
    sha256: Option<String>,
}

impl HuggingFace {
    /// `user/repo/file.gguf`, `user/repo@revision/folder/file.gguf`.
    pub(super) fn parse(text: &str) -> Result<HuggingFace, ModelError> {
        let wrong = |why: &str| {
            let form = "hf:USER/REPO/FILE.gguf or hf:USER/REPO@REVISION/FILE.gguf";
            ModelError::new(
                ModelErrorKind::Name,
                format!("'{PREFIX}{text}' names no model: {why}; it must be {form}"),
            )
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [user, repository, file @ ..] = &parts[..] else { return Err(wrong("it has no user and repository")) };
        let (repository, revision) = repository.split_once('@').unwrap_or((repository, "main"));
        let file = file.join("/");
        // These are parts of a path and of an address: nothing that means something there.
        let is_plain = |part: &str| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
            !part.is_empty() && !part.starts_with(['.', '-']) && part.bytes().all(known)
        };
        if !file.ends_with(".gguf") {
            return Err(wrong("it does not end in .gguf"));
        }
        if let Some(part) =
            [*user, repository, revision].into_iter().chain(file.split('/')).find(|part| !is_plain(part))
        {
            return Err(wrong(&format!("'{part}' has characters that it cannot have")));
        }
        let [user, repository, revision] = [*user, repository, revision].map(str::to_owned);
        Ok(HuggingFace { user, repository, revision, file })
    }

    fn folder(&self) -> String {
        match self.revision.as_str() {
            "main" => self.repository.clone(),
            revision => format!("{}@{revision}", self.repository),
        }
    }

    /// Where the file belongs.
    pub(super) fn path(&self, models: &Path) -> PathBuf {
        models.join("hf").join(&self.user).join(self.folder()).join(&self.file)
    }

    fn address(&self, file: &str) -> String {
        let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let endpoint = endpoint.as_deref().unwrap_or("https://huggingface.co").trim_end_matches('/');
        format!("{endpoint}/{}/{}/resolve/{}/{file}", self.user, self.repository, self.revision)
    }

    /// Gets the file, and the other parts of the model if it is one of several; whether all were there.
    pub(super) fn pull(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<bool, ModelError> {
        let Some(parts) = PartName::of(path) else { return self.pull_file(&self.file, path, progress) };
        let names = PartName::of(Path::new(&self.file));
        let mut were_there = true;
        for number in 0..parts.count {
            let name = names.as_ref().map_or_else(|| self.file.clone().into(), |names| names.part(number));
            were_there &= self.pull_file(&name.to_string_lossy(), &parts.part(number), progress)?;
        }
        Ok(were_there)
    }

    fn pull_file(&self, file: &str, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<bool, ModelError> {
        if path.is_file() {
            return Ok(true);
        }
        let curl = Curl { address: self.address(file), log: beside(path, "log") };
        let remote = curl.ask()?;
        let part = beside(path, "part");
        let there = || fs::metadata(&part).map_or(0, |metadata| metadata.len());
        if there() > remote.size {
            let _ = fs::remove_file(&part);
        }
        if there() < remote.size {
            space::ensure(path.parent().unwrap_or(path), remote.size - there())?;
            curl.download(&part, remote.size, progress)?;
        }
        let wrong = match &remote.sha256 {
            _ if there() != remote.size => Some(format!("{} bytes came of {}", there(), remote.size)),
            Some(expected) if checksum::of_file(&part, progress)? != *expected => {
                Some("its SHA-256 differs".into())
            }
            _ => gguf::check(&part).err().map(|error| error.to_string()),
        };
        if let Some(wrong) = wrong {
            // Going on from here would never make it right.
            let _ = fs::remove_file(&part);
            return Err(ModelError::failed(format!(
                "what came from {} is not right: {wrong}; try again",
                curl.address
            )));
        }
        put(&part, path)?;
        Ok(false)
    }
}

/// An address that curl is to get.
struct Curl {
    address: String,
    log: PathBuf,
}

impl Curl {
    /// Asks for the head of the answer alone.
    fn ask(&self) -> Result<Remote, ModelError> {
        let mut command = Command::new("curl");
        command.arg("--head");
        let ended = self.run(&mut command, Path::new(""), &mut |_| {})?;
        Remote::of_headers(&ended.output)
            .ok_or_else(|| ModelError::failed(format!("{} does not say how large it is", self.address)))
    }

    fn download(&self, part: &Path, total: u64, progress: &mut dyn FnMut(Progress)) -> Result<(), ModelError> {
        let mut command = Command::new("curl");
        command.args(["--continue-at", "-", "--retry", "3", "--output"]).arg(part);
        let mut on_bytes = |done| progress(Progress { step: Step::Downloading, done, total });
        self.run(&mut command, part, &mut on_bytes).map(drop)
    }

    fn run(
        &self,
        command: &mut Command,
        watched: &Path,
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<Ended, ModelError> {
        command.args(["--silent", "--show-error", "--fail", "--location", "--connect-timeout", "30"]);
        // Not as an argument, which every user of the machine can see.
        command.args(["--config", "-"]).arg(&self.address);
        let token = std::env::var(TOKEN)
            .ok()
            .filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"'));
        let config = token.map(|token| format!("header = \"Authorization: Bearer {token}\"\n")).unwrap_or_default();
        let ended = process::run_with_input(command, &config, &self.log, watched, on_bytes);
        let _ = fs::remove_file(&self.log);
        let ended = ended.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                ModelError::failed(format!("curl is not in PATH: install it, or download {} by hand", self.address))
            }
            _ => ModelError::failed(format!("cannot run curl: {error}")),
        })?;
        match ended.succeeded() {
            true => Ok(ended),
            false => Err(self.failure(&ended)),
        }
    }

    fn failure(&self, ended: &Ended) -> ModelError {
        let says = |code: &str| ended.output.contains(&format!("error: {code}"));
        let advice = match ended.status {
            Some(22) if says("404") => {
                "there is no such file: look at the names of user, repository and file".to_owned()
            }
            Some(22) if says("401") || says("403") => {
                format!("it may not be had by everybody: set {TOKEN} to a token of Hugging Face that may")
            }
            Some(5..=7 | 35 | 60) => "is there a network?".to_owned(),
            Some(23) => "it cannot be written: is the disk full?".to_owned(),
            Some(18 | 28 | 52 | 55 | 56) => {
                "the connection broke: try again, and it goes on where it was".to_owned()
            }
            Some(33 | 36) => "the server cannot go on where it was: remove the .part file and try again".to_owned(),
            _ => "curl failed".to_owned(),
        };
        ModelError::failed(format!("cannot get {}: {advice} (it says: {})", self.address, ended.last_lines()))
    }
}

impl Remote {
    /// Reads the heads of all answers: those that only point elsewhere, and the last.
    fn of_headers(headers: &str) -> Option<Remote> {
        let values = |name: &str| -> Vec<String> {
            let lines = headers.lines().filter_map(|line| line.split_once(':'));
            let found = lines.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().trim_matches('"').to_owned()).collect()
        };
        // The first answer knows the file itself; that of a pointer has a length of its own.
        let size = values("x-linked-size")
            .into_iter()
            .chain(values("content-length").pop())
            .find_map(|size| size.parse().ok());
        let is_sha256 = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sha256 = values("x-linked-etag").into_iter().find(is_sha256).map(|hash| hash.to_ascii_lowercase());
        size.map(|size| Remote { size, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_files_of_repositories() {
        let parse = |text: &str| HuggingFace::parse(text);
        let source = parse("user/repo-GGUF/sub/model.Q4_0.gguf").expect("it is a name");
        assert_eq!(source.path(Path::new("/m")), Path::new("/m/hf/user/repo-GGUF/sub/model.Q4_0.gguf"));
        assert_eq!(source.to_string(), "hf:user/repo-GGUF/sub/model.Q4_0.gguf");
        let source = parse("user/repo@v1.0/model.gguf").expect("it is a name");
        assert_eq!(source.path(Path::new("/m")), Path::new("/m/hf/user/repo@v1.0/model.gguf"));
        assert!(source.address("model.gguf").ends_with("/user/repo/resolve/v1.0/model.gguf"));
        for wrong in
            ["", "model.gguf", "user/model.gguf", "user/repo/model.bin", "user/repo/../x.gguf", "../repo/x.gguf"]
        {
            assert_eq!(parse(wrong).expect_err(wrong).kind(), ModelErrorKind::Name);
        }
        for wrong in
            ["user/repo//x.gguf", "user/repo@/x.gguf", "user/repo/a b.gguf", "-o/repo/x.gguf", "u/r/x?y.gguf"]
        {
            assert!(
                parse(wrong).expect_err(wrong).to_string().contains("characters that it cannot have"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_head_of_the_first_answer_knows_the_file() {
        let headers = "HTTP/2 302\r\ncontent-length: 1100\r\nX-Linked-Size: 98362432\r\n\
            x-linked-etag: \"B179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53\"\r\n\r\n\
            HTTP/2 200\r\ncontent-length: 98362432\r\netag: \"x\"\r\n\r\n";
        let remote = Remote::of_headers(headers).expect("it says");
        assert_eq!(remote.size, 98_362_432);
        assert!(remote.sha256.is_some_and(|hash| hash.starts_with("b179c952")));
        let plain = Remote::of_headers("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n").expect("it says");
        assert_eq!((plain.size, plain.sha256), (12, None));
        assert!(Remote::of_headers("HTTP/1.1 200 OK\r\n\r\n").is_none());
    }
}
