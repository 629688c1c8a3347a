//! Artifacts for back ends that compile AIR themselves: code comes from the first archive that has it, or else from the
//! compiler, and is then archived.
//!
//! ```text
//! PipelineRequest ── key for each variant ── archives ─┬─ found ────────────────────────────────────────┐
//!                                                      └─ missing ── KernelCompiler::compile ── archives ┴─ Provided
//! ```

use super::{BinaryArchive, PipelineOrigin, PipelineRequest};
use crate::archive::Query;
use crate::archive::artifact::{ArchiveEntry, Artifact, ArtifactTarget, TargetSelector};
use crate::archive::key::Key;
use crate::digest::Hasher;
use crate::error::{Error, Result};
use crate::kernel::constants::describe;
use abi::Constants;
use msl::reflect::Kernel;
use std::sync::Arc;

/// One of the pieces of code that a kernel is compiled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Variant {
    /// The back end's name for it.
    pub(crate) name: &'static str,
    /// The name in messages.
    pub(crate) description: &'static str,
}

/// The compiler of a back end.
pub(crate) trait KernelCompiler {
    /// Selects the code that runs on this machine.
    fn machine(&self) -> Result<Box<dyn TargetSelector>>;

    /// Compiles variants of a kernel, in this order. Fails if the program has no compiler.
    fn compile(&self, request: &PipelineRequest, variants: &[Variant]) -> Result<Compiled>;
}

/// Artifacts that were compiled, and the interface of their kernel.
pub(crate) struct Compiled {
    pub(crate) reflection: Kernel,
    pub(crate) artifacts: Vec<Artifact>,
}

/// All the code of a pipeline.
pub(crate) struct Provided {
    pub(crate) reflection: Kernel,
    /// One per requested variant.
    pub(crate) artifacts: Vec<Arc<ArchiveEntry>>,
    pub(crate) origin: PipelineOrigin,
}

/// Finds all variants of a kernel in archives, and compiles those that no archive has.
pub(crate) fn provide(
    compiler: &dyn KernelCompiler,
    request: &PipelineRequest,
    variants: &[Variant],
) -> Result<Provided> {
    let mut entries: Vec<Option<Arc<ArchiveEntry>>> = find_all(compiler, request, variants)?;
    let missing: Vec<Variant> =
        (variants.iter().zip(&entries)).filter(|(_, entry)| entry.is_none()).map(|(variant, _)| *variant).collect();
    let origin = if missing.is_empty() { PipelineOrigin::Archive } else { PipelineOrigin::Compiled };
    if let Some(first) = missing.first() {
        if request.fail_on_archive_miss {
            return Err(miss(compiler, request, *first, "and the descriptor forbids compiling"));
        }
        let mut compiled = compile(compiler, request, &missing)?.into_iter();
        for entry in entries.iter_mut().filter(|entry| entry.is_none()) {
            *entry = compiled.next();
        }
    }
    let artifacts: Vec<Arc<ArchiveEntry>> = entries.into_iter().flatten().collect();
    match artifacts.first() {
        Some(first) if artifacts.len() == variants.len() => {
            Ok(Provided { reflection: first.reflection.clone(), artifacts, origin })
        }
        _ => Err(Error::Internal(format!("kernel '{}': the compiler returned too few artifacts", request.kernel))),
    }
}

/// The reflection of a kernel that some archive has a variant of.
pub(crate) fn reflection(
    compiler: &dyn KernelCompiler,
    request: &PipelineRequest,
    variants: &[Variant],
) -> Option<Kernel> {
    let machine = compiler.machine().ok()?;
    let mut entries = variants.iter().filter_map(|variant| find(&*machine, request, *variant));
    entries.next().map(|entry| entry.reflection.clone())
}

fn find_all(
    compiler: &dyn KernelCompiler,
    request: &PipelineRequest,
    variants: &[Variant],
) -> Result<Vec<Option<Arc<ArchiveEntry>>>> {
    // Without archives, the machine does not matter.
    if request.archives.is_empty() {
        return Ok(vec![None; variants.len()]);
    }
    let machine = compiler.machine()?;
    Ok(variants.iter().map(|variant| find(&*machine, request, *variant)).collect())
}

fn find(machine: &dyn TargetSelector, request: &PipelineRequest, variant: Variant) -> Option<Arc<ArchiveEntry>> {
    let key = key(request, variant)?;
    let query = Query { key, kernel: &request.kernel, variant: variant.name, machine };
    request.archives.iter().find_map(|archive| archive.find(&query))
}

/// Returns `None` if the inputs that decide the code are not known.
pub(crate) fn key(request: &PipelineRequest, variant: Variant) -> Option<Key> {
    let PipelineRequest { library, kernel, constants, linked, preloaded, .. } = request;
    let mut digest = library.digest(kernel)?;
    if !linked.is_empty() {
        let mut hasher = Hasher::new("linked");
        hasher.bytes(&digest);
        for function in linked {
            hasher.text(&function.name);
            hasher.bytes(&function.digest?);
        }
        digest = hasher.finish();
    }
    let libraries = library.linked_libraries();
    if !(preloaded.is_empty() && libraries.is_empty()) {
        let mut hasher = Hasher::new("dynamic");
        hasher.bytes(&digest);
        for library in preloaded.iter().chain(&libraries) {
            hasher.bytes(&library.backend().digest()?);
        }
        digest = hasher.finish();
    }
    Some(Key::new(&digest, kernel, constants, variant.name))
}

/// Compiles variants and adds them to the archives. Code without a key is not archived.
fn compile(
    compiler: &dyn KernelCompiler,
    request: &PipelineRequest,
    variants: &[Variant],
) -> Result<Vec<Arc<ArchiveEntry>>> {
    let mut entries = Vec::new();
    let Compiled { reflection, artifacts } = compiler.compile(request, variants).map_err(|error| match error {
        Error::ArchiveMiss { problem, .. } => miss(compiler, request, variants[0], &problem),
        other => other,
    })?;
    for (artifact, variant) in artifacts.into_iter().zip(variants) {
        let key = key(request, *variant);
        let entry = Arc::new(entry(key.unwrap_or(Key([0; 32])), &request.constants, reflection.clone(), artifact));
        if key.is_some() {
            request.archives.iter().for_each(|archive| archive.add(&entry));
        }
        entries.push(entry);
    }
    Ok(entries)
}

pub(crate) fn entry(key: Key, constants: &Constants, reflection: Kernel, artifact: Artifact) -> ArchiveEntry {
    ArchiveEntry { key, constants: describe(constants), reflection, artifact }
}

fn miss(compiler: &dyn KernelCompiler, request: &PipelineRequest, variant: Variant, why: &str) -> Error {
    let PipelineRequest { kernel, constants, archives, .. } = request;
    let key = key(request, variant);
    let others: Vec<ArtifactTarget> = match (key, compiler.machine()) {
        (Some(key), Ok(machine)) => {
            let targets = archives.iter().flat_map(|archive| archive.targets_of(key));
            targets.filter(|target| machine.rank(target).is_none()).collect()
        }
        _ => Vec::new(),
    };
    let others: Vec<String> = others.iter().map(ArtifactTarget::name).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" (there is code for {}, which does not run on this machine)", others.join(", ")),
    };
    let archives: Vec<String> = archives.iter().map(BinaryArchive::describe).collect();
    let archives = if archives.is_empty() { "none".into() } else { archives.join(", ") };
    Error::ArchiveMiss {
        kernel: kernel.to_string(),
        constants: describe(constants),
        problem: format!(
            "code for {} is not in any archive ({archives}){others}, {why}; compile it into an archive with \
             'metalworks compile --target', of this version",
            variant.description
        ),
    }
}

/// Adds the code of a kernel, one artifact for each of `variants`, to an archive.
#[cfg(llvm)]
pub(crate) fn add(
    archive: &BinaryArchive,
    request: &PipelineRequest,
    compiled: Compiled,
    variants: &[Variant],
) -> Result<()> {
    for (artifact, &variant) in compiled.artifacts.into_iter().zip(variants) {
        let Some(key) = key(request, variant) else {
            let what = "a source that asks with '__has_include' whether files exist, in an archive,".into();
            return Err(Error::Unsupported { kernel: request.kernel.to_string(), what });
        };
        archive.add(&Arc::new(entry(key, &request.constants, compiled.reflection.clone(), artifact)));
    }
    Ok(())
}

/// The error of a program that cannot compile.
#[cfg(not(llvm))]
pub(crate) fn without_compiler(request: &PipelineRequest) -> Result<Compiled> {
    // A missing kernel is a different error.
    match request.library.reflection(&request.kernel, &request.constants) {
        Err(error @ Error::Source { .. }) => return Err(error),
        Ok(None) => return Err(request.no_function()),
        Ok(Some(_)) | Err(_) => {}
    }
    Err(Error::ArchiveMiss {
        kernel: request.kernel.to_string(),
        constants: String::new(),
        problem: "and there is no compiler in this program (the feature 'compiler' of the crate 'compute')".into(),
    })
}
