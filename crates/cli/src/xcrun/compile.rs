//! `metal`: from sources to objects, and further to a library.

use std::path::{Path, PathBuf};

use air::metallib::Header;
use msl::vocabulary::warnings;
use msl::{Compilation, Severity, SourceMap};

use super::flags::{Flags, Step, Warning, quoted};
use super::{link, preprocess};
use crate::compile::{Contents, Failure, LeftOut, Result, graphics_functions, none_compiled, program_functions};
use crate::input;
use crate::output::{self, Color, Outcome};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let flags = Flags::parse(arguments)?;
    if let Some(question) = flags.question {
        return question.answer("metal");
    }
    for flag in &flags.unused {
        output::warning(&format!("argument unused during compilation: '{flag}'"))?;
    }
    if flags.inputs.is_empty() {
        return Err(Failure::Refused("no input files".into()));
    }
    if flags.output.is_some() && flags.inputs.len() > 1 && !matches!(flags.step, Step::Link) {
        return Err(Failure::Refused("cannot specify -o when generating multiple output files".into()));
    }
    match flags.step {
        Step::Link => link::link(&flags),
        _ => flags.inputs.iter().try_for_each(|file| one(&flags, file)),
    }
}

/// All steps but the last one of linking.
fn one(flags: &Flags, file: &Path) -> Result<()> {
    if matches!(flags.step, Step::Preprocess | Step::Dependencies) {
        return preprocess::run(flags, file);
    }
    let compilation = checked(flags, file)?;
    let output = match flags.step {
        Step::Check => return dependencies(flags, file, &compilation.sources, None),
        Step::Text => flags.output.clone().unwrap_or_else(|| beside(file, "ll")),
        _ => flags.output.clone().unwrap_or_else(|| beside(file, "air")),
    };
    let contents = contents(flags, file, &compilation)?;
    let bytes = match flags.step {
        Step::Text => text(&contents, file)?.into_bytes(),
        _ => air::write_object(&contents.functions).map_err(|error| refused(file, &error))?,
    };
    write(&output, &bytes)?;
    dependencies(flags, file, &compilation.sources, Some(&output))
}

/// A source without errors.
fn checked(flags: &Flags, file: &Path) -> Result<Compilation> {
    let mut compilation = input::compile(file, &flags.options).map_err(Failure::NotTried)?;
    compilation.diagnostics.retain_mut(|diagnostic| {
        if diagnostic.severity == Severity::Error {
            return true;
        }
        let (is_shown, is_error) = treatment(flags, diagnostic.id);
        if is_error {
            diagnostic.severity = Severity::Error;
        }
        is_shown
    });
    if !compilation.diagnostics.is_empty() {
        output::styled_diagnostics(&compilation.render_diagnostics(Color::Auto.on_stderr()))?;
        let (errors, warnings) = (compilation.error_count(), compilation.warning_count());
        let summary = msl::diagnostics::render::summary(errors, warnings);
        output::diagnostics(&format!("{}\n", summary.unwrap_or_default().trim_end()))?;
    }
    match compilation.has_errors() {
        true => Err(Failure::Said(Outcome::Refused)),
        false => Ok(compilation),
    }
}

/// A warning is shown, and is an error. Of flags about the same, the last one counts.
fn treatment(flags: &Flags, id: &str) -> (bool, bool) {
    let (mut is_shown, mut is_error) = (warnings::is_always_shown(id), false);
    for flag in &flags.warnings {
        match flag {
            Warning::On(group) if warnings::contains(group, id) => is_shown = true,
            Warning::Off(group) if warnings::contains(group, id) => is_shown = false,
            Warning::Error(None) => is_error = true,
            Warning::Error(Some(group)) if warnings::contains(group, id) => (is_shown, is_error) = (true, true),
            Warning::NoError(None) => is_error = false,
            Warning::NoError(Some(group)) if warnings::contains(group, id) => is_error = false,
            _ => {}
        }
    }
    let is_shown = is_shown && !flags.no_warnings;
    (is_shown, is_shown && is_error)
}

/// The compiled functions of a source, and its dependencies if they are wanted.
pub(super) fn functions(flags: &Flags, file: &Path, output: &Path) -> Result<Contents> {
    let compilation = checked(flags, file)?;
    dependencies(flags, file, &compilation.sources, Some(output))?;
    contents(flags, file, &compilation)
}

fn contents(flags: &Flags, file: &Path, compilation: &Compilation) -> Result<Contents> {
    let source = air::ProgramSource::from(compilation);
    let source = air::ProgramSource {
        has_locations: flags.debug_info,
        may_import: !flags.libraries.is_empty() || flags.step != Step::Link,
        ..source
    };
    let mut contents = program_functions(source, compilation, flags.options.math, file, |_| true);
    // Builds have files of graphics functions beside those of kernels, which tests may need alone.
    let graphics = graphics_functions(&compilation.program).count();
    if contents.functions.is_empty() && contents.left_out.len() > graphics {
        return Err(none_compiled(&contents.left_out));
    }
    for LeftOut { place, function, error } in &contents.left_out {
        output::warning(&format!("{place}: {function} is left out: {error}"))?;
    }
    if let Some(major) = flags.macos {
        contents.header = Header::for_macos(major);
    }
    Ok(contents)
}

fn text(contents: &Contents, file: &Path) -> Result<String> {
    let mut all = String::new();
    for function in &contents.functions {
        let bitcode = function.bitcode().map_err(|error| refused(file, &error))?;
        all += &air::bitcode_text(bitcode, function.name()).map_err(|error| refused(file, &error))?;
    }
    Ok(all)
}

/// Writes the rule of `-MD`.
fn dependencies(flags: &Flags, file: &Path, sources: &SourceMap, output: Option<&Path>) -> Result<()> {
    if !flags.dependencies.wanted {
        return Ok(());
    }
    let beside_output = output.map(|output| output.with_extension("d"));
    let path = flags.dependencies.file.clone().or(beside_output).unwrap_or_else(|| beside(file, "d"));
    let target = output.map_or_else(|| beside(file, "air"), Path::to_path_buf);
    write(&path, rule(flags, sources, &target).as_bytes())
}

/// The rule for make: the output depends on the source and on the files that it includes.
pub(super) fn rule(flags: &Flags, sources: &SourceMap, target: &Path) -> String {
    let targets = match &flags.dependencies.targets[..] {
        [] => quoted(&target.display().to_string()),
        targets => targets.join(" "),
    };
    let mut files: Vec<String> = Vec::new();
    for (_, source) in sources.files().filter(|(_, source)| !source.builtin && source.path.is_some()) {
        let name = quoted(&source.name);
        if !files.contains(&name) {
            files.push(name);
        }
    }
    let mut rule = format!("{targets}: {}\n", files.join(" \\\n  "));
    if flags.dependencies.phony {
        files.iter().skip(1).for_each(|file| rule += &format!("\n{file}:\n"));
    }
    rule
}

/// `dir/k.metal` becomes `k.air` in the current folder.
pub(super) fn beside(file: &Path, extension: &str) -> PathBuf {
    Path::new(file.file_name().unwrap_or(file.as_os_str())).with_extension(extension)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if input::is_stdin(path) {
        use std::io::Write;
        std::io::stdout().lock().write_all(bytes)?;
        return Ok(());
    }
    compute::files::replace_with(path, bytes)
        .map_err(|error| Failure::NotTried(format!("cannot write '{}': {error}", path.display())))
}

pub(super) fn refused(file: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::Refused(format!("{}: {error}", input::display_name(file)))
}
