//! Interface to Metal's compiler: names of sources, and diagnostics.

use crate::error::Error;

/// Metal's default name of a source.
const DEFAULT_NAME: &str = "program_source";

/// Adds a `#line` directive, so that Metal's compiler reports the source's own name.
pub fn named_source(name: &str, text: &str) -> String {
    if name == DEFAULT_NAME {
        return text.to_owned();
    }
    format!("{}\n{text}", msl::line_directive(1, name))
}

/// Converts a description by Metal's compiler to the front end's form: locations, lines, carets.
pub fn source_error(description: &str) -> Error {
    let headings = ["Compilation failed:", "Compilation succeeded with:"];
    let text = description.trim();
    let text = headings.iter().find_map(|heading| text.strip_prefix(heading)).unwrap_or(text).trim_start();
    let errors = text.lines().filter(|line| line.contains(": error: ") || line.contains(": fatal error: ")).count();
    Error::Source { errors: errors.max(1), diagnostics: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_has_its_name() {
        assert_eq!(named_source("program_source", "x"), "x");
        assert_eq!(named_source("gemv.metal", "x\ny"), "#line 1 \"gemv.metal\"\nx\ny");
    }

    #[test]
    fn errors_are_counted_and_kept() {
        let description = "Compilation failed: \n\nprogram_source:2:5: error: use of undeclared identifier 'y'\n    \
                           y;\n    ^\nprogram_source:3:1: warning: unused\nk.h:9:1: fatal error: 'a.h' file not found\n";
        let Error::Source { errors, diagnostics } = source_error(description) else { panic!("another kind") };
        assert_eq!(errors, 2);
        assert!(diagnostics.starts_with("program_source:2:5: error: use of undeclared"), "{diagnostics}");
        assert_eq!(source_error("it broke"), Error::Source { errors: 1, diagnostics: "it broke".into() });
    }
}
