//! Where the code of a pipeline state comes from: the first archive that has it, or else the compiler.

use crate::archive::BinaryArchive;
use crate::archive::Query;
use crate::archive::entry::Entry;
use crate::archive::key::{self, Identity};
use crate::archive::target::Host;
use crate::error::{Error, Result};
use crate::library::{Function, Made};
use crate::pipeline::{ComputePipelineDescriptor, PipelineOrigin};
use abi::Lanes;
use std::sync::Arc;

#[cfg(target_os = "macos")]
use crate::metal;
#[cfg(llvm)]
use crate::{
    archive::CompileTarget,
    archive::entry::Payload,
    compiler::{self, Air},
    library::FunctionDescriptor,
};
#[cfg(llvm)]
use std::sync::OnceLock;

/// How to come by the code of one kernel with its constants, now and when more of it is needed.
pub(crate) struct Recipe {
    identity: Identity,
    archives: Vec<BinaryArchive>,
    fail_on_miss: bool,
    /// Made when something has to be compiled.
    #[cfg(llvm)]
    air: OnceLock<Arc<Air>>,
    /// What Metal has of it already.
    #[cfg(target_os = "macos")]
    pub(crate) metal: Option<Arc<metal::DescribedFunction>>,
}

/// Code, and where it came from.
pub(crate) struct Provided {
    pub(crate) entry: Arc<Entry>,
    pub(crate) origin: PipelineOrigin,
}

impl Recipe {
    pub(crate) fn new(identity: Identity, descriptor: &ComputePipelineDescriptor) -> Recipe {
        Recipe {
            identity,
            archives: descriptor.binary_archives.clone(),
            fail_on_miss: descriptor.fail_on_binary_archive_miss,
            #[cfg(llvm)]
            air: OnceLock::new(),
            #[cfg(target_os = "macos")]
            metal: None,
        }
    }

    /// The recipe for a function that is there already.
    pub(crate) fn with_function(function: &Function, descriptor: &ComputePipelineDescriptor) -> Recipe {
        let recipe = Recipe::new(function.identity().clone(), descriptor);
        match function.made() {
            #[cfg(llvm)]
            Made::Air(air) => Recipe { air: OnceLock::from(air.clone()), ..recipe },
            #[cfg(not(llvm))]
            Made::Described(_) => recipe,
            #[cfg(target_os = "macos")]
            Made::Metal(function) => Recipe { metal: Some(function.clone()), ..recipe },
        }
    }

    #[cfg(target_os = "macos")]
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The code for some simdgroups.
    pub(crate) fn code(&self, lanes: Lanes) -> Result<Provided> {
        if let Some(entry) = self.archived(lanes)? {
            return Ok(Provided { entry, origin: PipelineOrigin::Archive });
        }
        if self.fail_on_miss {
            return Err(self.miss(lanes, "and the descriptor says not to compile"));
        }
        let entry = self.compile(lanes)?;
        Ok(Provided { entry, origin: PipelineOrigin::Compiled })
    }

    fn archived(&self, lanes: Lanes) -> Result<Option<Arc<Entry>>> {
        // Without archives there is no need to ask what this machine is.
        if self.archives.is_empty() {
            return Ok(None);
        }
        let Some(key) = self.identity.key(lanes) else { return Ok(None) };
        let host = host()?;
        let query = Query { key, kernel: &self.identity.kernel, lanes, host: &host };
        Ok(self.archives.iter().find_map(|archive| archive.find(&query)))
    }

    #[cfg(llvm)]
    fn compile(&self, lanes: Lanes) -> Result<Arc<Entry>> {
        let Identity { library, kernel, constants } = &self.identity;
        let air = match self.air.get() {
            Some(air) => air,
            // A failure is not kept: who asks next tries again.
            None => {
                let air = Arc::new(library.air(kernel, constants)?);
                self.air.get_or_init(|| air)
            }
        };
        let key = self.identity.key(lanes);
        // Without a key it is kept nowhere.
        let entry = Arc::new(compile(&self.identity, air, &compiler::Target::host()?, lanes)?);
        if key.is_some() {
            self.archives.iter().for_each(|archive| archive.add(&entry));
        }
        Ok(entry)
    }

    #[cfg(not(llvm))]
    fn compile(&self, lanes: Lanes) -> Result<Arc<Entry>> {
        // A name that the library does not have is another mistake.
        self.identity.library.find(&self.identity.kernel)?;
        Err(self.miss(
            lanes,
            "and there is no compiler in this program (the feature 'compiler' of the crate 'compute')",
        ))
    }

    fn miss(&self, lanes: Lanes, why: &str) -> Error {
        let archives: Vec<String> = self.archives.iter().map(BinaryArchive::describe).collect();
        let archives = if archives.is_empty() { "none".into() } else { archives.join(", ") };
        let others = match (self.identity.key(lanes), host()) {
            (Some(key), Ok(host)) => {
                let targets = self.archives.iter().flat_map(|archive| archive.targets_of(key));
                let others = targets.filter(|target| host.rank(target).is_none());
                others.map(|target| target.name()).collect()
            }
            _ => Vec::new(),
        };
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(" (there is some for {}, which is not for this machine)", others.join(", ")),
        };
        let lanes = key::lanes_description(lanes);
        Error::ArchiveMiss {
            kernel: self.identity.kernel.to_string(),
            constants: key::describe(&self.identity.constants),
            problem: format!(
                "code for {lanes} is not in any archive ({archives}){others}, {why}; compile it into an archive with \
                 'metalworks compile --target', of this version"
            ),
        }
    }
}

/// An entry for one kernel.
#[cfg(llvm)]
fn compile(identity: &Identity, air: &Air, target: &compiler::Target, lanes: Lanes) -> Result<Entry> {
    let wave = compiler::compile(air, target, lanes)?;
    Ok(Entry {
        key: identity.key(lanes).unwrap_or(key::Key([0; 32])),
        target: target.identity(),
        constants: key::describe(&identity.constants),
        reflection: air.reflection().clone(),
        payload: Payload::Wave(wave),
    })
}

/// All code of a kernel, for any machine.
#[cfg(llvm)]
pub(crate) fn compile_for(function: &FunctionDescriptor, target: &CompileTarget) -> Result<Vec<Entry>> {
    let identity = Identity::new(function);
    let air = identity.library.air(function.name, function.constants)?;
    let target = compiler::Target::new(target)?;
    if identity.key(Lanes::Row).is_none() {
        let what = "a source that asks with '__has_include' whether files exist, in an archive,".into();
        return Err(Error::Unsupported { kernel: function.name.into(), what });
    }
    [Lanes::Row, Lanes::Any].into_iter().map(|lanes| compile(&identity, &air, &target, lanes)).collect()
}

/// What code is wanted here.
fn host() -> Result<Host> {
    let taken_for = std::env::var("METALWORKS_CPU").ok();
    #[cfg(llvm)]
    let exact = Some(compiler::Target::host()?.identity());
    #[cfg(not(llvm))]
    let exact = None;
    Ok(Host { exact, taken_for })
}
