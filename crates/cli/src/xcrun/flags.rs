//! The command line of `metal`.

use std::path::PathBuf;

use msl::{LanguageVersion, MathFunctions, MathMode, Options};

use crate::compile::{Failure, Result};
use crate::{input, output};

/// The last step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Step {
    /// `-E`
    Preprocess,
    /// `-fsyntax-only`
    Check,
    /// `-M`, `-MM`: print the files that a source includes.
    Dependencies,
    /// `-S`: AIR as text.
    Text,
    /// `-c`: an object.
    Compile,
    /// A library.
    #[default]
    Link,
}

/// `-MD` and kin.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependencies {
    /// Written beside the output.
    pub(super) wanted: bool,
    pub(super) file: Option<PathBuf>,
    pub(super) targets: Vec<String>,
    /// `-MP`: a target without prerequisites for each header.
    pub(super) phony: bool,
}

/// A flag about warnings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Warning {
    On(String),
    Off(String),
    /// All, or a group.
    Error(Option<String>),
    NoError(Option<String>),
}

/// The command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    pub(super) step: Step,
    pub(super) inputs: Vec<PathBuf>,
    pub(super) output: Option<PathBuf>,
    pub(super) options: Options,
    /// Major version of macOS, if one was named.
    pub(super) macos: Option<u16>,
    pub(super) debug_info: bool,
    pub(super) dependencies: Dependencies,
    pub(super) warnings: Vec<Warning>,
    pub(super) no_warnings: bool,
    /// `-P`
    pub(super) no_lines: bool,
    pub(super) dynamic: bool,
    pub(super) install_name: Option<String>,
    /// `-l`: names of dynamic libraries, and folders of `-L`.
    pub(super) libraries: Vec<String>,
    pub(super) library_folders: Vec<PathBuf>,
    /// A question about the tool.
    pub(super) question: Option<Question>,
    /// `-H`
    pub(super) shows_includes: bool,
    /// The tool is `metallib`: what comes through stdin is no source.
    pub(super) takes_objects: bool,
    /// Flags that have no effect here, with a warning.
    pub(super) unused: Vec<String>,
}

/// A question about the tool, which needs no input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    Version,
    Help,
    /// `-dumpmachine`
    Target,
    /// `-dumpversion`
    Number,
    /// `-print-search-dirs`
    Folders,
    /// `-print-resource-dir`
    Resources,
}

impl Question {
    fn parse(argument: &str) -> Option<Question> {
        Some(match argument.strip_prefix('-').unwrap_or(argument) {
            "-version" => Question::Version,
            "-help" | "help" => Question::Help,
            "dumpmachine" | "print-target-triple" | "-print-target-triple" => Question::Target,
            "dumpversion" => Question::Number,
            "print-search-dirs" | "-print-search-dirs" => Question::Folders,
            "print-resource-dir" | "-print-resource-dir" => Question::Resources,
            _ => return None,
        })
    }

    pub(super) fn answer(self, tool: &str) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let folder = super::tools_folder().display().to_string();
        let text = match self {
            Question::Version if tool == "metal" => {
                format!(
                    "metalworks metal version {version}\nTarget: {TARGET}\nThread model: posix\nInstalledDir: {folder}\n"
                )
            }
            Question::Version => format!("metalworks {tool} version {version}\n"),
            Question::Help => {
                format!("usage: {tool} [options] FILES -o OUTPUT\n\nmetalworks xcrun --help, docs/linux-ci.md\n")
            }
            Question::Target => format!("{TARGET}\n"),
            Question::Number => format!("{version}\n"),
            Question::Folders => format!("programs: ={folder}\nlibraries: ={folder}\n"),
            Question::Resources => format!("{folder}\n"),
        };
        Ok(output::result(&text)?)
    }
}

/// The target of Apple's compiler.
const TARGET: &str = "air64-apple-macosx";

/// Flags without effect: how Apple's compiler works, prints, or records. Code is always optimized.
const ACCEPTED: &[&str] = &[
    "-v",
    "-pipe",
    "-MO",
    "-ffast-math",
    "-fno-record-sources",
    "-fno-inline",
    "-finline-functions",
    "-fno-inline-functions",
    "-fpreserve-invariance",
    "-fno-preserve-invariance",
    "-fvisibility=default",
    "-g0",
    "-emit-llvm",
    "-Qunused-arguments",
    "-nostdinc",
    "-C",
    "-CC",
    "-pedantic",
    "-funroll-loops",
    "-fno-unroll-loops",
    "-funsafe-math-optimizations",
    "-fno-math-errno",
    "-fmetal-enable-logging",
];

/// Beginnings of flags without effect.
const ACCEPTED_PREFIXES: &[&str] =
    &["-O", "-frecord-sources", "-fmodules", "-fno-modules", "-fdiagnostics-", "-fcolor-"];

/// Flags with an effect that this program does not have, beyond that of the default.
const UNUSED_PREFIXES: &[&str] = &["-ffp-contract=", "-fvisibility=", "-save-temps", "-ftime-"];

/// Flags with a value, joined or separate, that has no effect.
const IGNORED_VALUES: &[&str] = &[
    "-isysroot",
    "-arch",
    "-x",
    "-F",
    "-current_version",
    "-compatibility_version",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-index-store-path",
];

/// Flags that pass a value on to a part of Apple's compiler that is not here, with a warning.
const PASSED_ON: &[&str] = &["-Xclang", "-Xpreprocessor", "-Xlinker", "-mllvm"];

impl Flags {
    pub(super) fn parse(arguments: &[String]) -> Result<Flags> {
        let mut flags = Flags::default();
        let mut std = None;
        let arguments = expanded(arguments)?;
        let mut arguments = arguments.iter().map(String::as_str);
        while let Some(argument) = arguments.next() {
            if let Some(question) = Question::parse(argument) {
                flags.question = Some(question);
                continue;
            }
            // The value of a flag, in the same argument or in the next one.
            let mut value = |flag: &str| match argument.strip_prefix(flag) {
                Some("") => arguments
                    .next()
                    .map(str::to_owned)
                    .ok_or_else(|| Failure::Refused(format!("argument to '{flag}' is missing (expected 1 value)"))),
                joined => Ok(joined.unwrap_or_default().to_owned()),
            };
            match argument {
                "-c" => flags.step = Step::Compile,
                "-E" => flags.step = Step::Preprocess,
                "-S" => flags.step = Step::Text,
                "-fsyntax-only" => flags.step = Step::Check,
                "-M" | "-MM" => flags.step = Step::Dependencies,
                "-MD" | "-MMD" => flags.dependencies.wanted = true,
                "-MP" => flags.dependencies.phony = true,
                "-P" => flags.no_lines = true,
                "-w" => flags.no_warnings = true,
                "-H" => flags.shows_includes = true,
                "-dynamiclib" => flags.dynamic = true,
                "-fno-fast-math" => flags.options.math = MathMode::Safe,
                "-fcikernel" | "-include" | "-dM" | "-dD" => {
                    return Err(Failure::Refused(format!("unsupported option '{argument}'")));
                }
                "-install_name" => flags.install_name = Some(value("-install_name")?),
                "-target" | "--target" => flags.platform(&value(argument)?)?,
                _ if ACCEPTED.contains(&argument) => {}
                _ if argument.starts_with("-MF") => flags.dependencies.file = Some(value("-MF")?.into()),
                _ if argument.starts_with("-MT") => flags.dependencies.targets.push(value("-MT")?),
                _ if argument.starts_with("-MQ") => flags.dependencies.targets.push(quoted(&value("-MQ")?)),
                _ if argument.starts_with("-std=") => std = Some(version(&argument["-std=".len()..])?),
                _ if argument.starts_with("-fmetal-math-mode=") => {
                    flags.options.math = match &argument["-fmetal-math-mode=".len()..] {
                        "fast" => MathMode::Fast,
                        "relaxed" => MathMode::Relaxed,
                        "safe" => MathMode::Safe,
                        other => return Err(invalid(other, argument)),
                    }
                }
                _ if argument.starts_with("-fmetal-math-fp32-functions=") => {
                    flags.options.math_functions = Some(match &argument["-fmetal-math-fp32-functions=".len()..] {
                        "fast" => MathFunctions::Fast,
                        "precise" => MathFunctions::Precise,
                        other => return Err(invalid(other, argument)),
                    })
                }
                _ if argument.starts_with("-mmacosx-version-min=")
                    || argument.starts_with("-mmacos-version-min=") =>
                {
                    flags.deployment(argument.split_once('=').map_or("", |(_, version)| version))?;
                }
                _ if argument.starts_with("-mtargetos=") => flags.platform(&argument["-mtargetos=".len()..])?,
                _ if argument.starts_with("--target=") => flags.platform(&argument["--target=".len()..])?,
                _ if argument.starts_with("-isystem") => flags.options.include_dirs.push(value("-isystem")?.into()),
                _ if argument.starts_with("-iquote") => flags.options.include_dirs.push(value("-iquote")?.into()),
                _ if IGNORED_VALUES.contains(&argument) => drop(value(argument)?),
                _ if PASSED_ON.contains(&argument) => {
                    let passed = value(argument)?;
                    flags.unused.push(format!("{argument} {passed}"));
                }
                _ if argument.starts_with("-I") => flags.options.include_dirs.push(value("-I")?.into()),
                _ if argument.starts_with("-D") => flags.define(&value("-D")?)?,
                _ if argument.starts_with("-U") => {
                    let name = value("-U")?;
                    flags.options.defines.retain(|(other, _)| *other != name);
                }
                _ if argument.starts_with("-L") => flags.library_folders.push(value("-L")?.into()),
                _ if argument.starts_with("-l") => flags.libraries.push(value("-l")?),
                _ if argument.starts_with("-o") => flags.output = Some(value("-o")?.into()),
                _ if argument.starts_with("-W") && !argument.starts_with("-Wl,") => flags.warning(&argument[2..]),
                _ if argument == "-g" || argument.starts_with("-gline-tables") || argument == "-gdwarf" => {
                    flags.debug_info = true;
                }
                _ if ACCEPTED_PREFIXES.iter().any(|prefix| argument.starts_with(prefix)) => {}
                _ if UNUSED_PREFIXES.iter().any(|prefix| argument.starts_with(prefix)) => {
                    flags.unused.push(argument.to_owned());
                }
                "-" => flags.inputs.push("-".into()),
                _ if argument.starts_with('-') => {
                    return Err(Failure::Refused(format!("unknown argument: '{argument}'")));
                }
                _ => flags.inputs.push(argument.into()),
            }
        }
        if let Some(std) = std.or(flags.macos.map(of_macos)) {
            flags.options.std = std;
        }
        flags.options.warnings = !flags.no_warnings
            && flags.warnings.iter().any(|flag| matches!(flag, Warning::On(_) | Warning::Error(Some(_))));
        Ok(flags)
    }

    fn define(&mut self, text: &str) -> Result<()> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !starts_well || name.contains(char::is_whitespace) {
            return Err(Failure::Refused(format!("'{name}' is not a macro name")));
        }
        self.options.defines.retain(|(other, _)| other != name);
        self.options.defines.push((name.to_owned(), value));
        Ok(())
    }

    fn warning(&mut self, name: &str) {
        let group = |text: &str| Some(text.to_owned());
        self.warnings.push(match name {
            "error" => Warning::Error(None),
            "no-error" => Warning::NoError(None),
            _ => match (name.strip_prefix("error="), name.strip_prefix("no-error="), name.strip_prefix("no-")) {
                (Some(name), ..) => Warning::Error(group(name)),
                (_, Some(name), _) => Warning::NoError(group(name)),
                (.., Some(name)) => Warning::Off(name.to_owned()),
                _ => Warning::On(name.to_owned()),
            },
        });
    }

    /// A system such as `macos26.0`, or a triple such as `air64-apple-macosx14.0`.
    fn platform(&mut self, target: &str) -> Result<()> {
        let system = target.rsplit("apple-").next().unwrap_or(target);
        let version = ["macosx", "macos"].iter().find_map(|name| system.strip_prefix(name));
        match version {
            Some("") => Ok(()),
            Some(version) => self.deployment(version),
            None => {
                Err(Failure::Refused(format!("unsupported target '{target}': this program compiles for macOS")))
            }
        }
    }

    fn deployment(&mut self, version: &str) -> Result<()> {
        let invalid = || Failure::Refused(format!("invalid version number in '{version}'"));
        let mut numbers = version.split('.').map(str::parse::<u16>);
        let major = numbers.next().ok_or_else(invalid)?.map_err(|_| invalid())?;
        if numbers.any(|number| number.is_err()) {
            return Err(invalid());
        }
        self.macos = Some(major);
        Ok(())
    }
}

/// The arguments with those of response files (`@FILE`), one or several in a line, in their place.
fn expanded(arguments: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for argument in arguments {
        match argument.strip_prefix('@') {
            Some(file) => {
                let text = input::text(file.as_ref()).map_err(Failure::NotTried)?;
                all.extend(text.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()));
            }
            None => all.push(argument.clone()),
        }
    }
    Ok(all)
}

fn invalid(value: &str, flag: &str) -> Failure {
    Failure::Refused(format!("invalid value '{value}' in '{flag}'"))
}

fn version(name: &str) -> Result<LanguageVersion> {
    name.parse().map_err(|error: msl::preprocess::UnknownLanguageVersion| Failure::Refused(error.to_string()))
}

/// The newest version of the language that a version of macOS has.
fn of_macos(major: u16) -> LanguageVersion {
    match major {
        ..=10 => LanguageVersion::new(2, 2),
        11 => LanguageVersion::new(2, 3),
        12 => LanguageVersion::new(2, 4),
        13 => LanguageVersion::new(3, 0),
        14 => LanguageVersion::new(3, 1),
        15..=25 => LanguageVersion::new(3, 2),
        _ => LanguageVersion::new(4, 0),
    }
}

/// A name as make reads it.
pub(super) fn quoted(name: &str) -> String {
    let mut quoted = String::new();
    for character in name.chars() {
        match character {
            ' ' | '#' => quoted.extend(['\\', character]),
            '$' => quoted.push_str("$$"),
            _ => quoted.push(character),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Flags {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Flags::parse(&arguments).unwrap_or_else(|_| panic!("{line}"))
    }

    #[test]
    fn values_are_joined_or_separate() {
        let flags = parsed("-c -I a -Ib -DX -D Y=1 -oz.air k.metal -UX");
        assert_eq!(flags.options.include_dirs, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(flags.options.defines, [("Y".to_owned(), Some("1".to_owned()))]);
        assert_eq!((flags.step, flags.output), (Step::Compile, Some("z.air".into())));
        assert_eq!(flags.inputs, [PathBuf::from("k.metal")]);
    }

    #[test]
    fn the_system_decides_the_version_of_the_language() {
        let std = |line: &str| parsed(line).options.std.to_string();
        assert_eq!(std(""), "metal3.1");
        assert_eq!(std("-mmacosx-version-min=13.3"), "metal3.0");
        assert_eq!(std("-target air64-apple-macosx15.0"), "metal3.2");
        assert_eq!(std("-mtargetos=macos26.0"), "metal4.0");
        assert_eq!(std("-std=macos-metal2.4 -mmacos-version-min=14.0"), "metal2.4");
    }

    #[test]
    fn wrong_flags_are_refused() {
        for line in ["-fxyz", "-o", "-std=metal9", "-mtargetos=ios17.0", "-mmacos-version-min=a", "-D1", "-Wl,x"] {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert!(Flags::parse(&arguments).is_err(), "{line}");
        }
    }
}
