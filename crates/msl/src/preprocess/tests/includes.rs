//! Finding and reading files.

use super::*;
use std::fs;
use std::path::Path;

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("msl-include-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let folder = Folder(path);
        fs::create_dir_all(&folder.0).unwrap();
        for (name, text) in files {
            let file = folder.0.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder
    }

    /// Preprocesses `text` as a file in this folder.
    fn run(&self, text: &str) -> (String, SourceMap, Vec<Diagnostic>) {
        let mut sources = SourceMap::new();
        let path = self.0.join("a.metal");
        let main = sources.add_file("a.metal", Some(Path::new(&path)), text, None, false);
        let options = Options { include_dirs: vec![self.0.join("include")], ..Options::default() };
        let mut diagnostics = Vec::new();
        let tokens = preprocess(&mut sources, main, &options, &mut diagnostics);
        let shown = show(&tokens, &sources, &diagnostics).replace(&self.0.display().to_string(), "DIR");
        (shown, sources, diagnostics)
    }

    #[track_caller]
    fn check(&self, text: &str, expected: &str) {
        assert_eq!(self.run(text).0, expected, "{text}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_found_and_read_once_if_they_say_so() {
    let folder = Folder::new(
        "find",
        &[
            ("b.h", "b"),
            ("sub/c.h", "#include \"d.h\"\nc"),
            ("sub/d.h", "d __INCLUDE_LEVEL__"),
            ("include/e.h", "e"),
            ("include/b.h", "other"),
            ("once.h", "#pragma once\nonce"),
            ("guard.h", "#ifndef G\n#define G\nguard\n#endif"),
            ("open.h", "#if 1\n#define F(x) x\n"),
            ("end.h", "F("),
        ],
    );
    folder.check("#include \"b.h\"\n#include <b.h>\n#include \"e.h\"\n#include <e.h>", "b other e e");
    folder.check("#include \"sub/c.h\"\n__INCLUDE_LEVEL__", "d 2 c 0");
    folder.check(
        "#include \"once.h\"\n#include \"./once.h\"\n#include \"guard.h\"\n#include \"guard.h\"",
        "once guard",
    );
    folder.check("#import \"b.h\"\n#import \"b.h\"", "b");
    folder.check("#define H \"b.h\"\n#define L <e.h>\n#include H\n#include L", "b e");
    let (_, sources, diagnostics) = folder.run("#include <metal_stdlib>\n#include <metal_stdlib>\nx");
    let headers = sources.files().filter(|(_, file)| file.name == "<metal_stdlib>");
    assert_eq!((headers.count(), diagnostics), (1, Vec::new()));
    folder
        .check("#include \"open.h\"\n#endif", "\n1:2: unterminated conditional directive\n2:2: #endif without #if");
    folder
        .check("#define F(x) x\n#include \"end.h\"\n1)", "F 1 )\n1:1: unterminated function-like macro invocation");
    folder.check("#if __has_include(\"b.h\") && __has_include(<e.h>)\nyes\n#endif", "yes");
}

#[test]
fn what_an_include_guard_keeps_out_is_not_opened() {
    for (text, tokens, opened) in [
        ("// why\n#ifndef G\n#define G\n#if 1\nx\n#else\n#endif\n#endif // G\n", "x", 1),
        ("#ifndef G\n#define G\nx\n#endif\ny", "x y y", 2),
        ("x\n#ifndef G\n#define G\n#endif\n", "x x", 2),
        ("#ifndef G\n#define G\nx\n#else\ny\n#endif", "x y", 2),
        ("#ifndef G\n#define G\nx\n#elif 1\ny\n#endif", "x y", 2),
        ("#ifndef G\nx\n#endif", "x x", 2),
        ("#ifndef G\n#define G\nx\n#undef G\n#endif", "x x", 2),
        ("#ifdef G\n#else\n#define G\nx\n#endif", "x", 2),
    ] {
        let folder = Folder::new("guard", &[("g.h", text)]);
        let (shown, sources, _) = folder.run("#include \"g.h\"\n#include \"./g.h\"");
        let found = sources.files().filter(|(_, file)| file.name.ends_with("g.h")).count();
        assert_eq!((shown.as_str(), found), (tokens, opened), "{text}");
    }
}

#[test]
fn missing_and_unreadable_files() {
    let folder = Folder::new("missing", &[("include/x.h", ""), ("sub/y.h", "")]);
    fs::write(folder.0.join("latin.h"), b"caf\xe9").unwrap();
    let (shown, _, diagnostics) = folder.run("#include \"foo.h\"\nx");
    assert_eq!(shown, "x\n1:10: 'foo.h' file not found");
    let note = diagnostics[0].notes[0].message.replace(&folder.0.display().to_string(), "DIR");
    assert_eq!(note, "searched in 'DIR', 'DIR/include', the built-in headers");
    folder.check("#include <foo>", "\n1:10: 'foo' file not found");
    folder.check("#include \"sub\"", "\n1:10: cannot open file 'DIR/sub': it is a directory");
    folder
        .check("#include \"latin.h\"", "\n1:10: cannot open file 'DIR/latin.h': it is not valid UTF-8 (at byte 3)");
    folder.check("#include", "\n1:9: expected \"FILENAME\" or <FILENAME>");
    folder.check("#include x.h", "\n1:10: expected \"FILENAME\" or <FILENAME>");
    folder.check("#include <x.h", "\n1:14: expected '>'");
    folder.check("#include \"x.h", "\n1:10: expected \"FILENAME\" or <FILENAME>");
    folder.check("#include \"\"", "\n1:10: empty filename");
    folder.check("#include \"a\0b\"", "\n1:10: 'a\0b' file not found");
    folder.check("#include <x.h> y", "\n1:16: warning: extra tokens at end of #include directive");
}

#[test]
fn cycles_end() {
    let folder = Folder::new(
        "cycle",
        &[
            ("b.h", "#include \"c.h\"\n"),
            ("c.h", "#include \"b.h\"\n"),
            ("t.h", "#include \"t.h\"\n#include \"t.h\""),
        ],
    );
    let (shown, _, diagnostics) = folder.run("#include \"b.h\"\nx");
    assert_eq!(shown, "\n1:10: #include nested too deeply");
    let note = &diagnostics[0].notes[0].message;
    assert!(note.starts_with("a file includes itself: ") && note.matches(" includes ").count() == 3, "{note}");
    folder.check("#include \"t.h\"", "\n1:10: #include nested too deeply");
    // A file may well include itself if it knows when to stop.
    let folder = Folder::new("self", &[("s.h", "#ifndef A\n#define A\n#include \"s.h\"\n1\n#else\n2\n#endif")]);
    folder.check("#include \"s.h\"", "2 1");
}

#[test]
fn inclusion_that_doubles_ends() {
    let files: Vec<(String, String)> = (0..40)
        .map(|i| (format!("f{i}.h"), format!("#include \"f{}.h\"\n", i + 1).repeat(2)))
        .chain([("f40.h".into(), "x".into())])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let folder = Folder::new("double", &files);
    let (shown, ..) = folder.run("#include \"f0.h\"");
    assert!(shown.ends_with("too many files are included"), "{shown}");
}
