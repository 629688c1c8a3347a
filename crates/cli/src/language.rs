//! Language flags, shared by the subcommands that read shaders.

use std::path::PathBuf;

use clap::Args;
use msl::{LanguageVersion, Options};

#[derive(Args)]
#[command(next_help_heading = "Language")]
pub(crate) struct LanguageFlags {
    /// Search a folder for included files
    ///
    /// May be given several times; folders are searched in that order, after the folder of the including file.
    #[arg(short = 'I', value_name = "DIR")]
    include_dirs: Vec<PathBuf>,

    /// Define a macro; its default value is 1
    ///
    /// `-D TILE=8` is `#define TILE 8`, and `-D DEBUG` is `#define DEBUG 1`. May be given several times.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    defines: Vec<(String, Option<String>)>,

    /// Choose the language version
    ///
    /// Sets `__METAL_VERSION__` and the available features and functions. Named as in Apple's compiler, such as
    /// `metal3.1`.
    #[arg(long, value_name = "VERSION", value_parser = language_version)]
    std: Option<LanguageVersion>,
}

impl LanguageFlags {
    /// The flags as options of the front end.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options {
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.clone(),
            ..Options::default()
        };
        if let Some(version) = self.std {
            options.std = version;
        }
        options
    }
}

fn language_version(name: &str) -> Result<LanguageVersion, String> {
    name.parse::<LanguageVersion>().map_err(|message| message.to_string())
}

/// Parses `NAME[=VALUE]`. An empty value is a value: `-D X=` defines `X` as nothing.
fn define(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    // As clang, `-D 'MAX(a, b)=…'` is a macro with parameters; the preprocessor checks these.
    let word = name.split_once('(').filter(|(_, rest)| rest.ends_with(')')).map_or(name, |(word, _)| word);
    let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok((name.to_owned(), value))
    } else {
        Err(format!("'{name}' is not a macro name"))
    }
}

/// Flags about floating point.
#[derive(Args)]
pub(crate) struct MathFlags {
    /// Choose fast, relaxed or safe math
    ///
    /// `fast` reorders and approximates operations, like Apple's compiler by default; `relaxed` does the same, and
    /// `__FAST_MATH__` is not defined, as NaN and infinity are kept; `safe` computes in the order of the source, with
    /// precise math functions. In safe mode a product and a sum in the same expression are still rounded once
    /// (`#pragma METAL fp contract(off)` prevents that). Has no effect on a library.
    #[arg(
        long,
        value_name = "MODE",
        default_value = "fast",
        hide_possible_values = true,
        help_heading = "Language"
    )]
    math: MathChoice,

    /// Use strict floating-point semantics
    ///
    /// The same as `--math safe`, and `-fno-fast-math` of Apple's compiler.
    #[arg(long, conflicts_with = "math", help_heading = "Language")]
    safe_math: bool,

    /// Choose fast or precise math functions
    ///
    /// Variant of `exp(x)` and other functions on `float` that are not written with a namespace, like
    /// `-fmetal-math-fp32-functions` of Apple's compiler. By default fast, and precise with `--math safe`. Has no
    /// effect on a library.
    #[arg(long, value_name = "SET", hide_possible_values = true, help_heading = "Language")]
    math_functions: Option<FunctionsChoice>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FunctionsChoice {
    Fast,
    Precise,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum MathChoice {
    Fast,
    Relaxed,
    Safe,
}

impl MathFlags {
    pub(crate) fn mode(&self) -> compute::MathMode {
        match self.math {
            _ if self.safe_math => compute::MathMode::Safe,
            MathChoice::Fast => compute::MathMode::Fast,
            MathChoice::Relaxed => compute::MathMode::Relaxed,
            MathChoice::Safe => compute::MathMode::Safe,
        }
    }

    /// The variant of the functions, if one is chosen.
    pub(crate) fn functions(&self) -> Option<msl::MathFunctions> {
        self.math_functions.map(|choice| match choice {
            FunctionsChoice::Fast => msl::MathFunctions::Fast,
            FunctionsChoice::Precise => msl::MathFunctions::Precise,
        })
    }

    #[cfg(llvm)]
    pub(crate) fn of_compiler(&self) -> msl::MathMode {
        match self.mode() {
            compute::MathMode::Fast => msl::MathMode::Fast,
            compute::MathMode::Relaxed => msl::MathMode::Relaxed,
            compute::MathMode::Safe => msl::MathMode::Safe,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::define;

    #[test]
    fn parses_a_name_and_an_optional_value() {
        assert_eq!(define("A"), Ok(("A".to_owned(), None)));
        assert_eq!(define("A="), Ok(("A".to_owned(), Some(String::new()))));
        assert_eq!(define("_a1=x=y"), Ok(("_a1".to_owned(), Some("x=y".to_owned()))));
        assert_eq!(define("F(x)=x"), Ok(("F(x)".to_owned(), Some("x".to_owned()))));
    }

    #[test]
    fn rejects_a_define_without_a_name() {
        for text in ["", "=1", "1A", "A B", "F(x=x", "(x)=x", "é"] {
            assert!(define(text).is_err(), "{text}");
        }
    }
}
