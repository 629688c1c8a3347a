//! What the tests have run. A run of all tests ends with this: a kernel that none of them ran fails it, and so does
//! `docs/kernels.md` where it says anything else (`BLESS=1` writes it).

use crate::device::device;
use inference::metal::kernels::ALL;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Has [`at_exit`] called when the process ends: only then have all tests run.
pub(crate) fn watch() {
    // SAFETY: the function is there until the process ends, and takes and gives nothing.
    let registered = unsafe { libc::atexit(at_exit) };
    assert_eq!(registered, 0, "there is room for a function to call at the end");
}

#[allow(clippy::print_stderr, reason = "there is no test left to fail")]
extern "C" fn at_exit() {
    // Of some of the tests, nothing can be said.
    let harmless = |argument: &str| argument.starts_with("--test-threads") || argument == "--nocapture";
    if !std::env::args().skip(1).all(|argument| harmless(&argument)) {
        return;
    }
    if let Err(problem) = check() {
        eprintln!("{problem}");
        // SAFETY: it ends the process, whose tests are done.
        unsafe { libc::_exit(1) };
    }
}

fn check() -> Result<(), String> {
    let keys = device().pipelines().keys();
    let ran: BTreeSet<&str> = keys.iter().map(|key| key.kernel()).collect();
    let missing: Vec<&str> = ALL.iter().map(|kernel| kernel.name).filter(|name| !ran.contains(name)).collect();
    if !missing.is_empty() {
        return Err(format!("no test ran these kernels: {}", missing.join(", ")));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kernels.md");
    let table = table();
    if std::env::var("BLESS").is_ok_and(|bless| bless == "1") {
        return std::fs::write(&path, table).map_err(|error| format!("cannot write docs/kernels.md: {error}"));
    }
    match std::fs::read_to_string(&path) {
        Ok(text) if text == table => Ok(()),
        _ => Err("docs/kernels.md does not say what the tests ran: run them with BLESS=1".into()),
    }
}

/// All kernels by shader; they were run on the device of these tests.
fn table() -> String {
    let mut text = String::from(
        "# Kernels\n\n\
         Every kernel of the shader library, as the tests in `crates/inference/tests/kernels` ran it against its formula.\n\
         The tests write this file. `cpu` is the only device so far.\n\n\
         | shader | kernels | run on |\n|---|---|---|\n",
    );
    for shader in inference::metal::kernels::SHADERS {
        let kernels = ALL.iter().filter(|kernel| kernel.shader.name == shader.name);
        let names: Vec<String> = kernels.map(|kernel| format!("`{}`", kernel.name)).collect();
        let file = format!("crates/inference/src/metal/shaders/{}.metal", shader.name);
        let _ = writeln!(text, "| [{}](../{file}) | {} | cpu |", shader.name, names.join(" "));
    }
    text
}
