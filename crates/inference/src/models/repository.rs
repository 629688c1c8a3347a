//! Models on Hugging Face, downloaded with curl. An interrupted download resumes.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{self, Exited, Files};
use super::{ModelError, ModelErrorKind, PullProgress, PullStep, checksum, hidden_sibling, move_into_place, space};
use crate::gguf::{self, PartName};

pub(super) const PREFIX: &str = "hf:";
/// Environment variable with the address of a mirror, as for Hugging Face's own programs.
const ENDPOINT: &str = "HF_ENDPOINT";
/// Environment variable with the access token for gated and private models.
const TOKEN: &str = "HF_TOKEN";

/// File of a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HuggingFace {
    user: String,
    repository: String,
    revision: String,
    /// Path in the repository.
    file: String,
}

impl fmt::Display for HuggingFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}/{}/{}", self.user, self.folder(), self.file)
    }
}

/// Size and checksum of a file on the server.
struct RemoteFile {
    size: u64,
    /// Known for files in large file storage.
    sha256: Option<String>,
}

impl HuggingFace {
    /// Parses `user/repo/file.gguf` or `user/repo@revision/folder/file.gguf`.
    pub(super) fn parse(text: &str) -> Result<HuggingFace, ModelError> {
        let wrong = |why: &str| {
            let form = "hf:USER/REPO/FILE.gguf or hf:USER/REPO@REVISION/FILE.gguf";
            ModelError::new(
                ModelErrorKind::Name,
                format!("'{PREFIX}{text}' is not a model name: {why}; expected {form}"),
            )
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [user, repository, file @ ..] = &parts[..] else { return Err(wrong("it has no user and repository")) };
        let (repository, revision) = repository.split_once('@').unwrap_or((repository, "main"));
        let file = file.join("/");
        // The parts go into a path and a URL: reject everything with a special meaning there.
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
            return Err(wrong(&format!("'{part}' is empty or has invalid characters")));
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

    /// Path of the file in the folder of models.
    pub(super) fn path(&self, models: &Path) -> PathBuf {
        models.join("hf").join(&self.user).join(self.folder()).join(&self.file)
    }

    fn address(&self, file: &str) -> String {
        let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty());
        let endpoint = endpoint.as_deref().unwrap_or("https://huggingface.co").trim_end_matches('/');
        format!("{endpoint}/{}/{}/resolve/{}/{file}", self.user, self.repository, self.revision)
    }

    /// Downloads the file, or all parts if it is one part of a split model. Returns true if all were present.
    pub(super) fn pull(&self, path: &Path, progress: &mut dyn FnMut(PullProgress)) -> Result<bool, ModelError> {
        let Some(parts) = PartName::of(path) else { return self.pull_file(&self.file, path, progress) };
        let names = PartName::of(Path::new(&self.file));
        let mut were_present = true;
        for number in 0..parts.count {
            let name = names.as_ref().map_or_else(|| self.file.clone().into(), |names| names.part(number));
            were_present &= self.pull_file(&name.to_string_lossy(), &parts.part(number), progress)?;
        }
        Ok(were_present)
    }

    fn pull_file(
        &self,
        file: &str,
        path: &Path,
        progress: &mut dyn FnMut(PullProgress),
    ) -> Result<bool, ModelError> {
        if path.is_file() {
            return Ok(true);
        }
        let curl = Curl { address: self.address(file), log: hidden_sibling(path, "log") };
        let remote = curl.remote_file()?;
        let part = hidden_sibling(path, "part");
        let received = || fs::metadata(&part).map_or(0, |metadata| metadata.len());
        if received() > remote.size {
            let _ = fs::remove_file(&part);
        }
        if received() < remote.size {
            space::ensure(path.parent().unwrap_or(path), remote.size - received())?;
            let downloaded = curl.download(&part, remote.size, progress);
            if downloaded.is_err() && received() >= remote.size {
                let _ = fs::remove_file(&part);
                return Err(ModelError::failed(format!(
                    "{}: the server sends more than the {} bytes that it announced",
                    curl.address, remote.size
                )));
            }
            downloaded?;
        }
        let wrong = match &remote.sha256 {
            _ if received() != remote.size => Some(format!("received {} of {} bytes", received(), remote.size)),
            Some(expected) if checksum::of_file(&part, progress)? != *expected => {
                Some("its SHA-256 differs".into())
            }
            _ => gguf::check(&part).err().map(|error| error.to_string()),
        };
        if let Some(wrong) = wrong {
            // Resuming would append to corrupt data.
            let _ = fs::remove_file(&part);
            return Err(ModelError::failed(format!(
                "the download from {} is corrupt: {wrong}; try again",
                curl.address
            )));
        }
        move_into_place(&part, path)?;
        Ok(false)
    }
}

/// Runs curl on one URL.
struct Curl {
    address: String,
    log: PathBuf,
}

impl Curl {
    /// Queries size and checksum with a HEAD request.
    fn remote_file(&self) -> Result<RemoteFile, ModelError> {
        let mut command = Command::new("curl");
        command.args(["--head", "--max-time", "120"]);
        let exited = self.run(&mut command, Path::new(""), 0, &mut |_| {})?;
        RemoteFile::from_headers(&exited.output)
            .ok_or_else(|| ModelError::failed(format!("{}: the server did not send a size", self.address)))
    }

    fn download(&self, part: &Path, total: u64, progress: &mut dyn FnMut(PullProgress)) -> Result<(), ModelError> {
        let mut command = Command::new("curl");
        // A server that sends less than a byte per second for two minutes is not there any more.
        command.args(["--continue-at", "-", "--retry", "3", "--speed-time", "120", "--output"]).arg(part);
        let mut on_bytes = |done| progress(PullProgress { step: PullStep::Downloading, done, total });
        self.run(&mut command, part, total, &mut on_bytes).map(drop)
    }

    fn run(
        &self,
        command: &mut Command,
        watched: &Path,
        most: u64,
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<Exited, ModelError> {
        command.args(["--silent", "--show-error", "--fail", "--location", "--connect-timeout", "30"]);
        // Pass the token on stdin: every user of the machine can see arguments.
        command.args(["--config", "-"]).arg(&self.address);
        let token = std::env::var(TOKEN)
            .ok()
            .filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"'));
        let config = token.map(|token| format!("header = \"Authorization: Bearer {token}\"\n")).unwrap_or_default();
        let exited = process::run(command, &config, &Files { log: &self.log, watched, most }, on_bytes);
        let _ = fs::remove_file(&self.log);
        let exited = exited.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                ModelError::failed(format!("curl is not in PATH: install it, or download {} by hand", self.address))
            }
            _ => ModelError::failed(format!("cannot run curl: {error}")),
        })?;
        match exited.succeeded() {
            true => Ok(exited),
            false => Err(self.failure(&exited)),
        }
    }

    fn failure(&self, exited: &Exited) -> ModelError {
        let says = |code: &str| exited.output.contains(&format!("error: {code}"));
        let advice = match exited.status {
            Some(22) if says("404") => {
                "there is no such file: check the names of user, repository and file".to_owned()
            }
            Some(22) if says("401") || says("403") => {
                format!("access denied: set {TOKEN} to a Hugging Face token that has access")
            }
            Some(5..=7 | 35 | 60) => "cannot connect: check the network".to_owned(),
            Some(23) => "cannot write the file: check the disk space".to_owned(),
            Some(18 | 28 | 52 | 55 | 56) => "the connection broke: try again to resume".to_owned(),
            Some(33 | 36) => "the server cannot resume: remove the .part file and try again".to_owned(),
            _ => "curl failed".to_owned(),
        };
        ModelError::failed(format!("cannot download {}: {advice} (curl: {})", self.address, exited.last_lines()))
    }
}

impl RemoteFile {
    /// Reads the headers of all responses: redirects, and the last.
    fn from_headers(headers: &str) -> Option<RemoteFile> {
        let values = |name: &str| -> Vec<String> {
            let lines = headers.lines().filter_map(|line| line.split_once(':'));
            let found = lines.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().trim_matches('"').to_owned()).collect()
        };
        // The redirect's x-linked-size is the size of the file; its content-length is its own.
        let size = values("x-linked-size")
            .into_iter()
            .chain(values("content-length").pop())
            .find_map(|size| size.parse().ok());
        let is_sha256 = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sha256 = values("x-linked-etag").into_iter().find(is_sha256).map(|hash| hash.to_ascii_lowercase());
        size.map(|size| RemoteFile { size, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_names_and_rejects_special_characters() {
        let parse = |text: &str| HuggingFace::parse(text);
        let source = parse("user/repo-GGUF/sub/model.Q4_0.gguf").expect("the name is valid");
        assert_eq!(source.path(Path::new("/m")), Path::new("/m/hf/user/repo-GGUF/sub/model.Q4_0.gguf"));
        assert_eq!(source.to_string(), "hf:user/repo-GGUF/sub/model.Q4_0.gguf");
        let source = parse("user/repo@v1.0/model.gguf").expect("the name is valid");
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
                parse(wrong).expect_err(wrong).to_string().contains("is empty or has invalid characters"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn reads_size_and_checksum_from_the_redirect() {
        let headers = "HTTP/2 302\r\ncontent-length: 1100\r\nX-Linked-Size: 98362432\r\n\
            x-linked-etag: \"B179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53\"\r\n\r\n\
            HTTP/2 200\r\ncontent-length: 98362432\r\netag: \"x\"\r\n\r\n";
        let remote = RemoteFile::from_headers(headers).expect("the headers have a size");
        assert_eq!(remote.size, 98_362_432);
        assert!(remote.sha256.is_some_and(|hash| hash.starts_with("b179c952")));
        let plain = RemoteFile::from_headers("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
        let plain = plain.expect("the headers have a size");
        assert_eq!((plain.size, plain.sha256), (12, None));
        assert!(RemoteFile::from_headers("HTTP/1.1 200 OK\r\n\r\n").is_none());
    }
}
