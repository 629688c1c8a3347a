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
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut devices = devices(&text);
    if std::env::var("BLESS").is_ok_and(|bless| bless == "1") {
        devices.insert(device().device().kind().to_string());
        return std::fs::write(&path, table(&devices))
            .map_err(|error| format!("cannot write docs/kernels.md: {error}"));
    }
    match text == table(&devices) {
        true => Ok(()),
        false => Err("docs/kernels.md does not say what the tests ran: run them with BLESS=1".into()),
    }
}

/// The devices that the file names: who runs the tests on another one adds it.
fn devices(text: &str) -> BTreeSet<String> {
    let row = text.lines().find(|line| line.starts_with("| ["));
    let devices = row.and_then(|row| row.strip_suffix(" |")?.rsplit(" | ").next());
    devices.into_iter().flat_map(|devices| devices.split(", ")).map(str::to_owned).collect()
}

/// All kernels by shader, and the devices that they were run on.
fn table(devices: &BTreeSet<String>) -> String {
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let devices = devices.join(", ");
    let mut text = String::from(
        "# Kernels\n\n\
         Every kernel of the shader library, as the tests in `crates/inference/tests/kernels` ran it against its formula.\n\
         The tests write this file (`BLESS=1`), and add the device that they ran on.\n\n\
         | shader | kernels | run on |\n|---|---|---|\n",
    );
    for shader in inference::metal::kernels::SHADERS {
        let kernels = ALL.iter().filter(|kernel| kernel.shader.name == shader.name);
        let names: Vec<String> = kernels.map(|kernel| format!("`{}`", kernel.name)).collect();
        let file = format!("crates/inference/src/metal/shaders/{}.metal", shader.name);
        let _ = writeln!(text, "| [{}](../{file}) | {} | {devices} |", shader.name, names.join(" "));
    }
    text
}
