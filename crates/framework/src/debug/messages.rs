//! The part of the API that a program uses: `METALWORKS_MESSAGES=FILE` appends each message that was understood, with the
//! class of its method's receiver, when the process ends.

use crate::runtime::class::with_classes;
use crate::runtime::{Class, Sel};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Prepares the list, if it is wanted.
pub(crate) fn watch() {
    if let Some(file) = std::env::var_os("METALWORKS_MESSAGES").filter(|file| !file.is_empty())
        && FILE.set(file.into()).is_ok()
    {
        // SAFETY: the function does not unwind.
        unsafe { libc::atexit(write) };
    }
}

/// The messages that a class has received, from its dispatch table.
fn received(class: &'static Class, sign: &str, selectors: &[Sel]) -> Vec<String> {
    let used = selectors.iter().filter(|selector| !class.cached(selector.index()).is_null());
    used.map(|selector| format!("{sign}[{} {}]", class.name(), selector.name().to_string_lossy())).collect()
}

extern "C" fn write() {
    let (Some(file), selectors) = (FILE.get(), Sel::all()) else { return };
    let classes: Vec<&'static Class> = with_classes(|classes| classes.values().copied().collect());
    let mut all = BTreeSet::new();
    for class in classes {
        all.extend(received(class, "-", &selectors));
        // SAFETY: classes live forever.
        if let Some(meta) = unsafe { class.isa.load(Ordering::Acquire).as_ref() } {
            all.extend(received(meta, "+", &selectors));
        }
    }
    let text: String = all.into_iter().map(|message| message + "\n").collect();
    let written = std::fs::OpenOptions::new().append(true).create(true).open(file);
    if let Err(problem) = written.and_then(|mut file| file.write_all(text.as_bytes())) {
        super::print(format_args!("METALWORKS_MESSAGES: {}: {problem}", file.display()));
    }
}
