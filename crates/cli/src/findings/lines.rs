//! Lines of source files, read when a finding is in them.

use std::collections::HashMap;

use compute::SourceLocation;

#[derive(Default)]
pub(super) struct SourceLines {
    /// The lines of files that were read; none for one that could not be.
    files: HashMap<String, Vec<String>>,
}

impl SourceLines {
    /// The line of a location, if its file can be read.
    pub(super) fn line(&mut self, location: &SourceLocation) -> Option<&str> {
        let lines = self.files.entry(location.file.clone()).or_insert_with(|| {
            let text = std::fs::read_to_string(&location.file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        lines.get((location.line as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The text of the line before the location. Columns count bytes.
    pub(super) fn before(&mut self, location: &SourceLocation) -> Option<&str> {
        self.line(location)?.get(..(location.column as usize).saturating_sub(1))
    }
}
