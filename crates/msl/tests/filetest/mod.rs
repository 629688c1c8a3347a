//! Reads, runs and judges one `.metal` file of `tests/files`; `tests/files/main.rs` describes one.

mod expectation;
mod reflection;

use metalworks_msl::Compilation;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Directives of a file.
#[derive(Debug)]
pub(crate) struct Case {
    /// Kind of test.
    pub(crate) test: Test,
    /// Compiler options; include directories are relative to the file's folder.
    pub(crate) options: metalworks_msl::Options,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Test {
    Check,
    Reflect,
}

impl Case {
    /// Reads the directives of a file; an error says what is wrong with them.
    pub(crate) fn parse(text: &str) -> Result<Case, String> {
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.strip_prefix("// test "));
        let test = match first.map(str::trim) {
            Some("check") => Test::Check,
            Some("reflect") => Test::Reflect,
            Some(unknown) => return Err(format!("unknown test '{unknown}'")),
            None => return Err("the first line is not `// test …`".into()),
        };
        let options = match lines.next().and_then(|line| line.strip_prefix("// options:")) {
            Some(words) => options(words)?,
            None => metalworks_msl::Options::default(),
        };
        expectation::read(text, test)?;
        Ok(Case { test, options })
    }
}

fn options(words: &str) -> Result<metalworks_msl::Options, String> {
    let mut options = metalworks_msl::Options::default();
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("option '{word}' without a value"));
        match word {
            "-D" => {
                let define = value()?;
                options.defines.push(match define.split_once('=') {
                    Some((name, value)) => (name.into(), Some(value.into())),
                    None => (define.into(), None),
                });
            }
            "-I" => options.include_dirs.push(value()?.into()),
            "--std" => {
                let version = value()?;
                options.std = version.parse().map_err(|_| format!("unknown version '{version}'"))?;
            }
            "-W" => options.warnings = true,
            _ => return Err(format!("unknown option '{word}'")),
        }
    }
    Ok(options)
}

/// The files of an area and what came of them.
#[derive(Default)]
pub(crate) struct Tally {
    area: String,
    files: usize,
    expectations: usize,
    kernels: usize,
    /// For each file that failed its name and why.
    pub(crate) failures: Vec<(String, String)>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { area, files, expectations, kernels, failures } = self;
        let failed = failures.len();
        write!(f, "{area}: {files} files, {kernels} kernels, {expectations} expectations, {failed} failed")
    }
}

impl Tally {
    /// Runs every file of the area.
    pub(crate) fn of_area(area: &str) -> Tally {
        let mut tally = Tally { area: area.into(), ..Tally::default() };
        let mut others: BTreeSet<PathBuf> = BTreeSet::new();
        let mut read: BTreeSet<PathBuf> = BTreeSet::new();
        for path in files_below(&files_dir().join(area)) {
            if path.extension().is_none_or(|extension| extension != "metal") {
                others.insert(canonical(&path));
                continue;
            }
            tally.files += 1;
            match run(&path, &mut tally, &mut read) {
                Ok(()) => {}
                Err(reason) => tally.failures.push((path.display().to_string(), reason)),
            }
        }
        if tally.files == 0 {
            tally.failures.push((area.into(), "there is nothing to run".into()));
        }
        for orphan in others.difference(&read) {
            tally.failures.push((orphan.display().to_string(), "an orphan: no shader includes it".into()));
        }
        tally
    }

    /// All failures as text.
    pub(crate) fn failure_report(&self) -> String {
        let mut report = format!("{self}\n");
        for (file, reason) in &self.failures {
            report += &format!("\n━━ {file}\n{reason}\n");
        }
        report
    }
}

fn run(path: &Path, tally: &mut Tally, read: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let (case, compilation) = compile(path)?;
    for (_, file) in compilation.sources.files() {
        read.extend(file.path.as_deref().map(canonical));
    }
    let kernels = compilation.reflect().kernels.len();
    let judged = match case.test {
        Test::Check => expectation::judge(&compilation).map(|met| tally.expectations += met),
        Test::Reflect => reflection::judge(path, &compilation).map(|()| tally.expectations += 1),
    };
    judged.map(|()| tally.kernels += kernels)
}

/// Compiles a file as its directives say.
pub(crate) fn compile(path: &Path) -> Result<(Case, Compilation), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut case = Case::parse(&text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for dir in &mut case.options.include_dirs {
        *dir = folder.join(&*dir);
    }
    let compilation = metalworks_msl::compile_file(path, &case.options).map_err(|error| error.to_string())?;
    Ok((case, compilation))
}

/// `tests/files`; tests run in the folder of their package, so that names in expectations are the same everywhere.
pub(crate) fn files_dir() -> PathBuf {
    PathBuf::from("tests/files")
}

/// All files below a folder, in the order of their names.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|entry| if entry.is_dir() { files_below(&entry) } else { vec![entry] }).collect()
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
