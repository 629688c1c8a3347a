//! Binary archives. A file has one part for each archive that was opened and added to:
//!
//! ```text
//! "MWBA" · for each part: its length, 8 bytes · an archive of `compute`
//! ```

use super::descriptors::{ComputePipelineFields, LinkedFunctions};
use super::device::{Device, failed};
use super::errors::{self, ArchiveError};
use super::function::Function;
use super::pipeline;
use crate::foundation::array::Items;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::{string, url};
use crate::runtime::{Fields, Id, Object, Strong};
use compute::BinaryArchive;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const MAGIC: &[u8; 4] = b"MWBA";

/// An archive.
pub(crate) struct Archive {
    device: Strong,
    label: Fields<Option<String>>,
    /// Parts of the file that it was opened from, with their bytes.
    opened: Vec<(BinaryArchive, Vec<u8>)>,
    /// Code that was added.
    added: BinaryArchive,
}

impl Archive {
    /// All archives to look in.
    pub(crate) fn parts(&self) -> Vec<BinaryArchive> {
        self.opened.iter().map(|(part, _)| part.clone()).chain([self.added.clone()]).collect()
    }

    fn write(&self, path: &str) -> Result<(), String> {
        let mut parts: Vec<Vec<u8>> = self.opened.iter().map(|(_, bytes)| bytes.clone()).collect();
        if !self.added.is_empty() {
            let file = Scratch::new()?;
            self.added.serialize(&file.0).map_err(|problem| problem.to_string())?;
            parts.push(std::fs::read(&file.0).map_err(|problem| problem.to_string())?);
        }
        let mut bytes = MAGIC.to_vec();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&part);
        }
        compute::files::replace_with(path.as_ref(), &bytes).map_err(|problem| format!("'{path}': {problem}"))
    }
}

/// A file for a moment: archives are opened by path. It is in a folder of its own, which is new and only the user's: the
/// file contains code, and others can write to the folder of temporary files.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        Scratch::in_folder(&std::env::temp_dir()).map_err(|problem| format!("no temporary file: {problem}"))
    }

    fn in_folder(parent: &Path) -> io::Result<Scratch> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let name = format!("metal-archive-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let folder = parent.join(name);
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok(Scratch(folder.join("part"))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = self.0.parent().map(std::fs::remove_dir);
    }
}

/// The parts of a file.
fn read(path: &str) -> Result<Vec<(BinaryArchive, Vec<u8>)>, String> {
    let bytes = std::fs::read(path).map_err(|problem| format!("'{path}': {problem}"))?;
    let damaged = || format!("'{path}' is not a binary archive, or damaged");
    let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (part, after) = after.split_at_checked(length).ok_or_else(damaged)?;
        let file = Scratch::new()?;
        std::fs::write(&file.0, part).map_err(|problem| problem.to_string())?;
        // The file is mapped or read: its name is not needed any more.
        parts.push((BinaryArchive::open(&file.0).map_err(|problem| problem.to_string())?, part.to_vec()));
        rest = after;
    }
    Ok(parts)
}

fn refused(code: ArchiveError, text: &str, error: *mut Id) -> bool {
    failed(errors::of_archive(code, text), error);
    false
}

pub(crate) fn open(device: Object<Device>, url: &Strong, error: *mut Id) -> Id {
    let opened = if url.id().is_nil() { Ok(Vec::new()) } else { read(&url::path(url.id())) };
    match opened {
        Ok(opened) => {
            let (label, added) = (Fields::default(), BinaryArchive::new());
            Strong::new(Archive { device: device.strong(), label, opened, added }).into_id()
        }
        Err(problem) => {
            refused(ArchiveError::InvalidFile, &problem, error);
            Id::NIL
        }
    }
}

class! {
    BINARY_ARCHIVE = "MTLDebugBinaryArchive": NS_OBJECT, new Archive, ["MTLBinaryArchive"]
    refused {
        "addRenderPipelineFunctionsWithDescriptor:error:" "this device computes only: it has no render pipelines",
        "addTileRenderPipelineFunctionsWithDescriptor:error:" "this device computes only: it has no render pipelines",
        "addMeshRenderPipelineFunctionsWithDescriptor:error:" "this device computes only: it has no render pipelines",
    }
    absent { "addFunctionWithDescriptor:library:error:", "addLibraryWithDescriptor:error:", }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id {
            let label = this.label.lock().clone();
            label.map_or(Id::NIL, |label| string::new(&label).autorelease())
        }
        - "setLabel:" (this, label: Id) { *this.label.lock() = string::text(label) }
        - "addComputePipelineFunctionsWithDescriptor:error:" (this, descriptor: Id, error: *mut Id) -> bool {
            let Some(fields) = descriptor.expect::<Fields<ComputePipelineFields>>(HERE, "descriptor") else { return false };
            let fields = fields.lock().clone();
            let Some(function) = fields.function.id().expect::<Function>(HERE, "computeFunction") else { return false };
            let Some(device) = this.device.cast::<Device>() else { return false };
            let linked = fields.linked.cast::<Fields<LinkedFunctions>>().map(|linked| linked.lock().functions.clone());
            let linked = Items::of(linked.unwrap_or_default().id());
            let made = pipeline::descriptor(&fields, &linked, vec![this.added.clone()], false);
            match made.and_then(|descriptor| pipeline::state(device, function, &descriptor)) {
                Ok(_) => true,
                Err(problem) => refused(ArchiveError::CompilationFailure, &problem.to_string(), error),
            }
        }
        - "serializeToURL:error:" (this, to: Id, error: *mut Id) -> bool {
            match this.write(&url::path(to)) {
                Ok(()) => true,
                Err(problem) => refused(ArchiveError::InternalError, &problem, error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Another user may have made a file or a link under the next name.
    #[test]
    fn temporary_files_are_in_new_folders_of_the_user() {
        let parent = Scratch::new().expect("a folder");
        let folder = parent.0.parent().expect("it has one");
        let first = Scratch::in_folder(folder).expect("a file");
        let name = first.0.parent().and_then(Path::file_name).expect("a name").to_string_lossy().into_owned();
        let number: usize = name.rsplit('-').next().and_then(|number| number.parse().ok()).expect("a number");
        let taken: Vec<PathBuf> = (1..100)
            .map(|more| folder.join(format!("metal-archive-{}-{}", std::process::id(), number + more)))
            .collect();
        for path in &taken {
            std::os::unix::fs::symlink("/nonexistent", path).expect("a link");
        }
        let second = Scratch::in_folder(folder).expect("a file");
        let made = second.0.parent().expect("it has one");
        assert!(!taken.iter().any(|path| path == made), "{}", made.display());
        assert_eq!(made.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
        for path in &taken {
            std::fs::remove_file(path).expect("a link");
        }
    }
}
