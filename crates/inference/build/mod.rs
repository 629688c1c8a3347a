//! From the folder of shaders to what the crate embeds.
//!
//! ```text
//! shaders/*.metal ── check: msl, every error with a caret ─┬─ fold: one text without our includes ───── *.metal ─┐
//!                                                          ├─ interface: families of kernels, constants          │
//!                                                          │      └─ emit: bindings, selection ────── kernels.rs ┼─ OUT_DIR
//!                                                          └─ metallib: Apple's compiler, or ours ─── *.metallib ┤
//! operations/*.rs ── emit: their modules, and a table of their operations ────────────────────── operations.rs ──┘
//! ```
//!
//! All shaders are looked at before anything fails, so that one build shows all mistakes.

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
    /// The shaders: one library for each `.metal` file.
    pub(crate) shaders: PathBuf,
    /// Files for `#include "…"`.
    pub(crate) include: PathBuf,
    /// The operations: one module for each `.rs` file.
    pub(crate) operations: PathBuf,
    /// The results.
    pub(crate) out: PathBuf,
}

/// A shader that was accepted.
struct Shader {
    /// The name of the file without `.metal`, which is the name of its module, too.
    name: String,
    path: PathBuf,
    /// The comment at its head, which describes it.
    head: String,
    families: Vec<interface::Family>,
    /// All that it declares, used or not.
    function_constants: Vec<msl::reflect::FunctionConstant>,
    shared_constants: Vec<interface::SharedConstant>,
    warnings: String,
    /// The compiler that wrote a `.metallib`: a variant of `compute::LibraryCompiler`.
    compiler: Option<&'static str>,
}

/// Checks all shaders and writes `kernels.rs` with what it embeds; gives their warnings. The error is what to show the person
/// who builds.
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
            // A mistake in an include is shown for the first shader that includes it.
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

/// The steps for one file, in order.
fn shader(path: &Path, folders: &Folders, compiler: Option<&metallib::Compiler>) -> Result<Shader, String> {
    let name = names::module(path)?;
    let checked = check::check(path, &folders.include)?;
    let families = interface::families(&checked).map_err(|problem| format!("{}: {problem}", path.display()))?;
    // One text that compiles without any folder, as run-time compilation on every device wants it.
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

/// The lines of the comment that a file begins with.
fn head_comment(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// A host name stands for one kernel of the library, so that it alone is enough to ask for it.
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

/// A message without the lines that say who includes the file.
fn without_chain(problem: &str) -> String {
    problem.lines().filter(|line| !line.starts_with("In file included from ")).collect()
}

/// The files of a folder with this extension, by name.
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
