//! Folds our own includes into a shader: one text that compiles without any folder, as run-time compilation on every
//! device wants it.
//!
//! The text stays as it is but for the lines with `#include "…"`: the first of each file becomes its text between
//! `#line` directives, so that messages still name file and line; later ones vanish, as they would by the include guard.
//! `#include <…>` stays, for the compiler's own headers.

use super::read;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The text of `path` without includes in quotes.
pub(crate) fn flatten(path: &Path, include: &Path) -> Result<String, String> {
    let mut flattened = Flattened { include, seen: Vec::new(), text: String::new() };
    flattened.file(path)?;
    Ok(flattened.text)
}

struct Flattened<'a> {
    include: &'a Path,
    seen: Vec<PathBuf>,
    text: String,
}

impl Flattened<'_> {
    fn file(&mut self, path: &Path) -> Result<(), String> {
        self.seen.push(path.to_path_buf());
        let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.line_marker(1, &shown);
        for (index, line) in read(path)?.lines().enumerate() {
            let Some(name) = quoted_include(line) else {
                self.text.push_str(line);
                self.text.push('\n');
                continue;
            };
            let Some(included) = self.find(path, name) else {
                // The front end has accepted the file: only text that it skipped can get here.
                return Err(format!("{}:{}: cannot fold in '{name}': no such file", path.display(), index + 1));
            };
            if !self.seen.contains(&included) {
                self.file(&included)?;
            }
            self.line_marker(index + 2, &shown);
        }
        Ok(())
    }

    /// The file next to the one that includes it, or in the folder of includes.
    fn find(&self, from: &Path, name: &str) -> Option<PathBuf> {
        let beside = from.parent().map(|folder| folder.join(name));
        beside.into_iter().chain([self.include.join(name)]).find(|path| path.is_file())
    }

    fn line_marker(&mut self, line: usize, file: &str) {
        let _ = writeln!(self.text, "#line {line} \"{file}\"");
    }
}

/// The `name` of a line `#include "name"`.
fn quoted_include(line: &str) -> Option<&str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    directive.strip_prefix("include")?.trim_start().strip_prefix('"')?.split('"').next()
}
