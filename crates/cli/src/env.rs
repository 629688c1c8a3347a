//! `metalworks env`: what a shell needs to build and run programs for Metal on Linux.
//!
//! Writes a folder with the tools, headers and names of libraries that such programs look for, and prints the variables
//! by which shells, compilers and cargo find them. `docs/linux-ci.md` shows how.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use compute::files;

use crate::output::{self, Outcome};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks env --folder /opt/metal
  eval \"$(metalworks env)\"
  clang++ -std=c++17 -fblocks -I metal-cpp main.cpp -lmetal_framework
  clang $METALWORKS_OBJCFLAGS main.m -lmetal_framework
  cargo --config \"$METALWORKS_CARGO_CONFIG\" test

Exit status: 0 success, 1 there is no framework, 2 the folder could not be
written.";

#[derive(Args)]
pub(crate) struct Env {
    /// Use this build of the framework
    ///
    /// By default the file libmetal_framework.so beside this program.
    #[arg(long, value_name = "FILE")]
    framework: Option<PathBuf>,

    /// Write to this folder
    ///
    /// By default metalworks/env in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

macro_rules! headers {
    ($($name:literal,)*) => { &[$(($name, include_str!(concat!("../include/", $name)))),*] };
}

/// The headers, by their names in `#include`.
const HEADERS: &[(&str, &str)] = headers![
    "Availability.h",
    "Block.h",
    "TargetConditionals.h",
    "CoreFoundation/CoreFoundation.h",
    "Foundation/Foundation.h",
    "Foundation/NSArray.h",
    "Foundation/NSAutoreleasePool.h",
    "Foundation/NSBundle.h",
    "Foundation/NSCharacterSet.h",
    "Foundation/NSData.h",
    "Foundation/NSDate.h",
    "Foundation/NSDictionary.h",
    "Foundation/NSEnumerator.h",
    "Foundation/NSError.h",
    "Foundation/NSException.h",
    "Foundation/NSFileManager.h",
    "Foundation/NSLock.h",
    "Foundation/NSObjCRuntime.h",
    "Foundation/NSObject.h",
    "Foundation/NSProcessInfo.h",
    "Foundation/NSScanner.h",
    "Foundation/NSSet.h",
    "Foundation/NSString.h",
    "Foundation/NSThread.h",
    "Foundation/NSURL.h",
    "Foundation/NSUUID.h",
    "Foundation/NSValue.h",
    "IOSurface/IOSurfaceRef.h",
    "Metal/MTL4Compute.h",
    "Metal/MTLCounters.h",
    "Metal/MTLLogState.h",
    "Metal/Metal.h",
    "dispatch/dispatch.h",
    "mach/mach.h",
    "objc/message.h",
    "objc/objc.h",
    "objc/runtime.h",
];

/// File of the framework.
const LIBRARY: &str = "libmetal_framework.so";

/// Libraries of other systems that the framework takes the place of.
const NAMES: [&str; 5] = ["objc", "gnustep-base", "dispatch", "Foundation", "Metal"];

/// Flags for Objective-C.
const OBJC_FLAGS: &str = "-fobjc-runtime=gnustep-2.0 -fblocks -fconstant-string-class=NSConstantString";

/// A file in the complete copy of objc2-metal.
const STAMP: &str = ".patched";

/// The attribute in objc2-metal that asks for a framework of macOS.
const LINK: &str = "#[link(name = \"Metal\", kind = \"framework\")]\n";

/// The feature of objc2 and block2 for this runtime.
const FEATURE: &str = "\"gnustep-2-1\", ";

impl Env {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let Some(framework) = self.framework() else {
            output::error(&format!(
                "no {LIBRARY}: build it with `cargo build -p metalworks-framework`, or name it with --framework"
            ))?;
            return Ok(Outcome::Refused);
        };
        let Some(folder) = self.folder.clone().or_else(default_folder) else {
            output::error("no folder: set HOME, or name one with --folder")?;
            return Ok(Outcome::NotTried);
        };
        match write(&folder, &framework) {
            Ok(folder) => self.print(&folder),
            Err(error) => {
                output::error(&format!("cannot write '{}': {error}", folder.display()))?;
                Ok(Outcome::NotTried)
            }
        }
    }

    fn framework(&self) -> Option<PathBuf> {
        let beside = || Some(std::env::current_exe().ok()?.parent()?.join(LIBRARY));
        let path = self.framework.clone().or_else(beside)?;
        path.canonicalize().ok().filter(|path| path.is_file())
    }

    fn print(&self, folder: &Path) -> io::Result<Outcome> {
        let mut text = String::new();
        for (name, part) in
            [("PATH", "bin"), ("LIBRARY_PATH", "lib"), ("LD_LIBRARY_PATH", "lib"), ("CPATH", "include")]
        {
            let path = quoted(&folder.join(part));
            text += &format!("export {name}={path}\"${{{name}:+:${name}}}\"\n");
        }
        text += &format!("export METALWORKS_OBJCFLAGS='{OBJC_FLAGS}'\n");
        let config = folder.join("cargo.toml");
        match patched_bindings(folder) {
            Ok(Some(bindings)) => {
                let patch = format!("[patch.crates-io]\nobjc2-metal = {{ path = \"{}\" }}\n", bindings.display());
                update(&config, &patch)?;
                text += &format!("export METALWORKS_CARGO_CONFIG={}\n", quoted(&config));
            }
            Ok(None) => output::warning(
                "no objc2-metal in cargo's registry: for a Rust program, run `cargo fetch` in its folder and this again",
            )?,
            Err(message) => output::warning(&message)?,
        }
        output::result(&text)?;
        Ok(Outcome::Fine)
    }
}

/// A path as a word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn default_folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?;
    Some(cache.join("metalworks/env"))
}

/// Writes tools, libraries and headers; returns the absolute path of the folder.
fn write(folder: &Path, framework: &Path) -> io::Result<PathBuf> {
    for part in ["bin", "lib"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let folder = folder.canonicalize()?;
    let program = quoted(&std::env::current_exe()?);
    for tool in std::iter::once("xcrun").chain(crate::xcrun::TOOLS) {
        let argument = if tool == "xcrun" { String::new() } else { format!(" {tool}") };
        let path = folder.join("bin").join(tool);
        let text = format!("#!/bin/sh\nexec {program} xcrun{argument} \"$@\"\n");
        if !holds(&path, &text) || std::fs::metadata(&path)?.permissions().mode() & 0o111 == 0 {
            files::replace_program(&path, &text)?;
        }
    }
    let link = folder.join("lib").join(LIBRARY);
    if std::fs::read_link(&link).ok().as_deref() != Some(framework) {
        files::replace_link(&link, framework)?;
    }
    for name in NAMES {
        update(&folder.join("lib").join(format!("lib{name}.so")), "INPUT(-lmetal_framework)\n")?;
    }
    for (name, text) in HEADERS {
        let path = folder.join("include").join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        update(&path, text)?;
    }
    Ok(folder)
}

/// Writes a file that has another text, or is not there: programs may be using it.
fn update(path: &Path, text: &str) -> io::Result<()> {
    match holds(path, text) {
        true => Ok(()),
        false => files::replace_with(path, text.as_bytes()),
    }
}

fn holds(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|found| found == text.as_bytes())
}

/// A copy of the newest objc2-metal in cargo's registry that does not ask for a framework of macOS, and whose objc2 is
/// for this runtime.
fn patched_bindings(folder: &Path) -> Result<Option<PathBuf>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let Some(sources) = home.map(|home| home.join("registry/src")) else { return Ok(None) };
    let entries = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_version = |path: &PathBuf| {
        let version = name(path).strip_prefix("objc2-metal-").map(str::to_owned);
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    let found = entries(&sources).into_iter().flat_map(|registry| entries(&registry)).filter(is_version);
    let numbers = |path: &PathBuf| -> Vec<u32> {
        name(path).trim_start_matches("objc2-metal-").split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let Some(original) = found.max_by_key(numbers) else { return Ok(None) };
    let copy = folder.join(name(&original));
    let stamp = copy.join(STAMP);
    if !stamp.is_file() {
        let made = files::make_folder(&copy, |beside| {
            copy_folder(&original, beside)?;
            patch(beside).map_err(io::Error::other)?;
            std::fs::write(beside.join(STAMP), "")?;
            // One without the stamp is a part that an earlier version left behind.
            if copy.is_dir() { std::fs::remove_dir_all(&copy) } else { Ok(()) }
        });
        made.map_err(|error| format!("cannot copy '{}': {error}", original.display()))?;
    }
    Ok(Some(copy))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            // Not a copy of the permissions: cargo's files may be read-only.
            false => std::fs::write(&target, std::fs::read(entry.path())?)?,
        }
    }
    Ok(())
}

/// Changes a copy of objc2-metal; the error is a message.
fn patch(copy: &Path) -> Result<(), String> {
    let edit = |path: &str, change: &dyn Fn(String) -> Result<String, String>| {
        let path = copy.join(path);
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        std::fs::write(&path, change(text)?).map_err(|error| error.to_string())
    };
    edit("src/generated/mod.rs", &|text| match text.matches(LINK).count() {
        1 => Ok(text.replace(LINK, "")),
        _ => Err("its link attribute is another one than this program knows".into()),
    })?;
    edit("Cargo.toml", &|mut text| {
        for dependency in ["objc2", "block2"] {
            let section = text.find(&format!("[dependencies.{dependency}]\n"));
            let list = section.and_then(|at| Some(at + text[at..].find("features = [")? + "features = [".len()));
            text.insert_str(list.ok_or(format!("its manifest does not list features of {dependency}"))?, FEATURE);
        }
        Ok(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_written() {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let mut found = Vec::new();
        let mut folders = vec![include.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                match entry.path().is_dir() {
                    true => folders.push(entry.path()),
                    false => found.push(entry.path().strip_prefix(&include).expect("inside").display().to_string()),
                }
            }
        }
        found.sort();
        let mut written: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
        written.sort_unstable();
        assert_eq!(found, written);
    }

    #[test]
    fn paths_are_words_of_the_shell() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
