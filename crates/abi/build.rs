//! The fingerprint of the compiler: a change of its sources may change the code that it generates, so code that was
//! kept before is not used again. The same in every build of the same sources, with and without LLVM.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The crates that decide the code of a kernel.
const CRATES: [&str; 3] = ["abi", "air", "msl"];

fn main() -> std::io::Result<()> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = CRATES.map(|name| crates.join(name).join("src"));
    let version = env!("CARGO_PKG_VERSION");
    // A crate that came alone from a registry does not change: its version says it all. Cargo would run this again and
    // again for a folder that is not there.
    let fingerprint = match sources.iter().all(|folder| folder.is_dir()) {
        true => {
            for folder in &sources {
                println!("cargo::rerun-if-changed={}", folder.display());
            }
            format!("{version}-{}", hash(&sources)?)
        }
        false => version.to_owned(),
    };
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=METALWORKS_COMPILER_FINGERPRINT={fingerprint}");
    Ok(())
}

/// The hash of the names and contents of all files.
fn hash(folders: &[PathBuf]) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    for folder in folders {
        let mut files = Vec::new();
        list(folder, &mut files)?;
        let mut files: Vec<(String, PathBuf)> = files
            .into_iter()
            .map(|path| (path.strip_prefix(folder).unwrap_or(&path).display().to_string().replace('\\', "/"), path))
            .collect();
        files.sort();
        for (name, path) in files {
            let contents = std::fs::read(&path)?;
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update((contents.len() as u64).to_le_bytes());
            hasher.update(contents);
        }
    }
    Ok(hasher.finalize()[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for item in std::fs::read_dir(folder)? {
        let path = item?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
