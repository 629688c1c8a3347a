//! Builds the embedded shader library from the folder of shaders.
//!
//! ```text
//! shaders/*.metal ── check: msl, every error with a caret ─┬─ fold: one text without our includes ───── *.metal ─┐
//!                                                          ├─ interface: families of kernels, constants          │
//!                                                          │      └─ emit: bindings, selection ────── kernels.rs ┼─ OUT_DIR
//!                                                          └─ metallib: Apple's compiler, or ours ─── *.metallib ┤
//! operations/*.rs ── emit: their modules, and a table of their operations ────────────────────── operations.rs ──┘
//! ```
//!
//! All shaders are checked before the build fails, so that one build reports all errors.

mod check;
mod constants;
mod emit;
mod interface;
pub(crate) mod metallib;
mod names;
mod parallel;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders that the build reads and writes.
pub(crate) struct Folders {
    /// Shaders: one library for each `.metal` file.
    pub(crate) shaders: PathBuf,
    /// Files for `#include "…"`.
    pub(crate) include: PathBuf,
    /// Operations: one module for each `.rs` file.
    pub(crate) operations: PathBuf,
    /// Output.
    pub(crate) out: PathBuf,
}

/// A shader without errors.
struct Shader {
    /// Name of the file without `.metal`, and of its Rust module.
    name: String,
    path: PathBuf,
    /// Comment at the head of the file, which becomes its documentation.
    head: String,
    families: Vec<interface::Family>,
    /// All declared function constants, used or not.
    function_constants: Vec<msl::reflect::FunctionConstant>,
    shared_constants: Vec<interface::SharedConstant>,
    warnings: String,
    /// Compiler of its `.metallib`: a variant of `compute::LibraryCompiler`.
    compiler: Option<&'static str>,
}

/// Checks all shaders and writes `kernels.rs` with the files that it embeds; returns the warnings. The error is the
/// text to show to the user.
pub(crate) fn build(folders: &Folders, compiler: Option<&metallib::Compiler>) -> Result<String, String> {
    let mut shaders = Vec::new();
    let mut warnings = String::new();
    let mut problems = String::new();
    let mut shown = Vec::new();
    let shader_files = files(&folders.shaders, "metal")?;
    for result in parallel::map(&shader_files, |path| shader(path, folders, compiler)) {
        match result {
            Ok(shader) => {
                warnings.push_str(&shader.warnings);
                shaders.push(shader);
            }
            // An error in an include is shown for the first shader that includes it.
            Err(problem) if shown.contains(&without_chain(&problem)) => {}
            Err(problem) => {
                problems.push_str(&(problem.trim_end().to_owned() + "\n"));
                shown.push(without_chain(&problem));
            }
        }
    }
    if problems.is_empty() {
        problems = duplicates(&shaders) + &constants::contradictions(&shaders);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    write(&folders.out.join("kernels.rs"), &emit::library(&shaders)?)?;
    write(&folders.out.join("operations.rs"), &emit::operations(&files(&folders.operations, "rs")?)?)?;
    Ok(warnings)
}

/// Builds one shader.
fn shader(path: &Path, folders: &Folders, compiler: Option<&metallib::Compiler>) -> Result<Shader, String> {
    let name = names::module(path)?;
    let checked = check::check(path, &folders.include)?;
    let families = interface::families(&checked).map_err(|problem| format!("{}: {problem}", path.display()))?;
    // One source that compiles without include folders, for compilation at run time on every device.
    let text = msl::fold(&checked.sources, |file| file.rsplit(['/', '\\']).next().unwrap_or(file));
    write(&folders.out.join(format!("{name}.metal")), &text)?;
    if let Some(compiler) = compiler {
        compiler.compile(path, &text, folders)?;
    }
    let (head, warnings) = (head_comment(&read(path)?), checked.render_diagnostics(false));
    let function_constants = msl::reflect::function_constants(&checked.program).to_vec();
    let shared_constants = interface::shared_constants(&checked);
    let compiler = compiler.map(metallib::Compiler::variant);
    let path = path.to_path_buf();
    Ok(Shader { name, path, head, families, function_constants, shared_constants, warnings, compiler })
}

/// The comment that a file begins with.
fn head_comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// Reports duplicate host names: a name must identify one kernel of the library.
fn duplicates(shaders: &[Shader]) -> String {
    let mut problems = String::new();
    let mut known: BTreeMap<&str, &interface::Kernel> = BTreeMap::new();
    let families = shaders.iter().flat_map(|shader| &shader.families);
    for kernel in families.flat_map(|family| &family.instances).map(|instance| &instance.kernel) {
        if let Some(other) = known.insert(&kernel.name, kernel) {
            let (file, line, name) = (&kernel.file, kernel.line, &kernel.name);
            let message = format!("{file}:{line}: error: another kernel has the host name '{name}'");
            problems += &format!("{message}\n{}:{}: note: it is here\n", other.file, other.line);
        }
    }
    problems
}

/// The message without the lines about the chain of includes.
fn without_chain(problem: &str) -> String {
    problem.lines().filter(|line| !line.starts_with("In file included from ")).collect()
}

/// Files of a folder with this extension, sorted by name.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("cannot list '{}': {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read '{}': {error}", path.display()))
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    std::fs::write(path, contents).map_err(|error| format!("cannot write '{}': {error}", path.display()))
}
