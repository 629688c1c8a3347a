//! Registers operations: every `.rs` file of the folder is a module with a table `OPERATIONS`.

use crate::library::names;
use std::fmt::Write;
use std::path::PathBuf;

/// The contents of `operations.rs`.
pub(crate) fn operations(files: &[PathBuf]) -> Result<String, String> {
    let (mut modules, mut tables, mut count) = (String::new(), String::new(), 0);
    for file in files.iter().filter(|file| file.file_stem().is_some_and(|stem| stem != "mod")) {
        let name = names::module(file)?;
        let path = std::path::absolute(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let _ = writeln!(modules, "#[path = {:?}]\nmod {name};\npub use {name}::*;", path.display().to_string());
        let _ = writeln!(tables, "    {name}::OPERATIONS,");
        count += 1;
    }
    Ok(format!(
        "{modules}/// The operations of each file.\npub(crate) static TABLES: [&[Operation]; {count}] = [\n{tables}];\n"
    ))
}
