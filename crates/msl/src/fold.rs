//! Folds the files that a program includes into one text, for a compiler that opens none.
//!
//! The text stays as it is but for the lines that include something: the included text takes their place, between
//! `#line` directives, so that messages still name file and line. The headers of Metal's library stay included: the
//! compiler has its own.

use crate::source::{FileId, SourceMap};
use crate::stdlib;
use std::fmt::Write;

/// The text of a main file, with the files that the preprocessor found for its includes. `name` maps the names of files
/// to the names in `#line` directives.
pub fn fold(sources: &SourceMap, name: impl Fn(&str) -> &str) -> String {
    let mut folded = String::new();
    if let Some((main, _)) = sources.files().next() {
        add(sources, main, &name, &mut folded);
    }
    folded
}

/// `#line 3 "gemv.metal"`
pub fn line_directive(line: u32, name: &str) -> String {
    let mut text = format!("#line {line} \"");
    for character in name.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            character if character.is_control() => text.push('?'),
            character => text.push(character),
        }
    }
    text.push('"');
    text
}

/// Adds a file, and those that it includes. The preprocessor has bounded how deep that goes.
fn add(sources: &SourceMap, id: FileId, name: &impl Fn(&str) -> &str, into: &mut String) {
    let file = sources.file(id);
    let _ = writeln!(into, "{}", line_directive(1, name(&file.name)));
    let mut included = included_by(sources, id).peekable();
    let mut at = 0;
    for (number, line) in (1u32..).zip(file.text.split_inclusive('\n')) {
        let end = at + line.len();
        let is_here = |(start, _): &(usize, FileId)| *start < end;
        match included.next_if(is_here) {
            Some((_, included)) => {
                if sources.file(included).builtin {
                    into.push_str(line);
                } else {
                    add(sources, included, name, into);
                    let (file, line) = sources.presumed_line(id, number + 1);
                    let _ = writeln!(into, "{}", line_directive(line, name(file)));
                }
            }
            // Nothing was read for it: it is not to be read twice, or in a part that is left out.
            None if is_own_include(line) => into.push('\n'),
            None => into.push_str(line),
        }
        at = end;
    }
    if !into.ends_with('\n') {
        into.push('\n');
    }
}

/// The files that a file includes, with the places of the includes.
fn included_by(sources: &SourceMap, id: FileId) -> impl Iterator<Item = (usize, FileId)> {
    sources.files().filter_map(move |(file, source)| {
        let span = source.included_from.filter(|span| span.file == id)?;
        Some((span.start as usize, file))
    })
}

/// True if a line includes a header that is not Metal's.
fn is_own_include(line: &str) -> bool {
    let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { return false };
    let name = ["include_next", "include", "import"].iter().find_map(|keyword| directive.strip_prefix(keyword));
    let Some(name) = name.map(str::trim_start) else { return false };
    let inner = match name.strip_prefix('"') {
        Some(name) => name.split_once('"'),
        None => name.strip_prefix('<').and_then(|name| name.split_once('>')),
    };
    inner.is_some_and(|(name, _)| stdlib::header(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compilation, Options, compile_file, compile_source};
    use std::path::{Path, PathBuf};

    fn compiled(path: &Path, include_dirs: Vec<PathBuf>) -> Compilation {
        let compilation = compile_file(path, &Options { include_dirs, ..Options::default() });
        let compilation = compilation.unwrap_or_else(|error| panic!("{error}"));
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        compilation
    }

    /// Writes files into a folder that is gone at the end; folds the first.
    fn folded(name: &str, files: &[(&str, &str)]) -> String {
        let folder = std::env::temp_dir().join(format!("metalworks-fold-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let prefix = format!("{}/", folder.display());
        let folded = fold(&compiled(&folder.join(files[0].0), vec![folder.clone()]).sources, |name| {
            name.strip_prefix(&prefix).unwrap_or(name)
        });
        std::fs::remove_dir_all(&folder).expect("it is ours");
        folded
    }

    #[test]
    fn included_text_takes_the_place_of_its_line() {
        let text = folded(
            "place",
            &[
                ("k.metal", "#include <metal_stdlib>\n#include \"a.h\"\nkernel void k() { a(); b(); }"),
                ("a.h", "#pragma once\n# include \"b.h\" // why\nvoid a();"),
                ("b.h", "void b();\n"),
            ],
        );
        assert_eq!(
            text,
            "#line 1 \"k.metal\"\n#include <metal_stdlib>\n\
             #line 1 \"a.h\"\n#pragma once\n#line 1 \"b.h\"\nvoid b();\n#line 3 \"a.h\"\nvoid a();\n\
             #line 3 \"k.metal\"\nkernel void k() { a(); b(); }\n"
        );
    }

    #[test]
    fn lines_that_were_renamed_stay_so() {
        let text = folded(
            "renamed",
            &[("k.metal", "#line 7 \"x.metal\"\n#include \"a.h\"\nvoid k();\n"), ("a.h", "#line 30\nvoid a();\n")],
        );
        assert_eq!(
            text,
            "#line 1 \"k.metal\"\n#line 7 \"x.metal\"\n#line 1 \"a.h\"\n#line 30\nvoid a();\n\
             #line 8 \"x.metal\"\nvoid k();\n"
        );
    }

    #[test]
    fn what_is_read_once_is_there_once_and_what_is_read_twice_twice() {
        let text = folded(
            "twice",
            &[
                (
                    "k.metal",
                    "#define X x\n#include \"list.h\"\n#define Y y\n#include \"list.h\"\n#include \"once.h\"\n\
                     #include \"once.h\"\n#if 0\n#include \"gone.h\"\n#endif\nkernel void k() { once(); }\n",
                ),
                ("list.h", "#ifdef X\nvoid X();\n#undef X\n#else\nvoid Y();\n#endif\n"),
                ("once.h", "#pragma once\nvoid once();\n"),
            ],
        );
        assert_eq!((text.matches("void X()").count(), text.matches("void once()").count()), (2, 1), "{text}");
        assert!(!text.contains("#include"), "{text}");
        let again = compile_source("k.metal", &text, &Options::default());
        assert!(!again.has_errors(), "{text}\n{}", again.render_diagnostics(false));
    }

    #[test]
    fn the_shader_library_folded_is_the_same_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../inference/src/metal");
        let mut folded_files = 0;
        for file in std::fs::read_dir(root.join("shaders")).expect("the shaders are there") {
            let path = file.expect("it can be listed").path();
            let original = compiled(&path, vec![root.join("include")]);
            let text = fold(&original.sources, |name| name);
            let again = compile_source("folded", &text, &Options::default());
            assert!(!again.has_errors(), "{}: {}", path.display(), again.render_diagnostics(false));
            assert_eq!(original.reflect(), again.reflect(), "{}", path.display());
            folded_files += usize::from(text.matches("#line 1 ").count() > 1);
        }
        assert!(folded_files > 5, "only {folded_files} shaders include something");
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(line_directive(7, "a\"b\\c\nd"), "#line 7 \"a\\\"b\\\\c?d\"");
    }
}
