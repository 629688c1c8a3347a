//! A pipeline as the layers above the back ends see it, and as tables of dispatches keep it.

use super::{BinaryArchive, NewPipeline, Pipeline, PipelineOrigin, Properties, Simdgroups};
use crate::error::{Error, Result};
use crate::kernel::arguments::ArgumentTable;
use crate::size::Size;
use msl::reflect::{ArgumentKind, Kernel};
use std::any::Any;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A descriptor's promises about all dispatches of its pipeline.
#[derive(Clone, Copy, Default)]
pub(crate) struct Promises {
    pub(crate) simdgroups: Simdgroups,
    pub(crate) threads_per_threadgroup: Option<Size>,
}

fn next_number() -> NonZeroU64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    NonZeroU64::MIN.saturating_add(LAST.fetch_add(1, Ordering::Relaxed))
}

/// A kernel that a device can run.
pub struct Executable {
    pub(crate) label: Option<Arc<str>>,
    pub(crate) name: Arc<str>,
    pub(crate) reflection: Kernel,
    pub(crate) arguments: ArgumentTable,
    pub(crate) promises: Promises,
    pub(crate) max_total_threads: usize,
    /// The device's limits.
    pub(crate) most_threads: Size,
    pub(crate) most_threadgroup_memory: usize,
    /// [`Properties::domain`] of the device that can run it.
    pub(crate) domain: u32,
    pub(crate) origin: PipelineOrigin,
    /// Tells it from all others: function tables are of one pipeline.
    pub(crate) number: NonZeroU64,
    /// Archives that keep its code.
    pub(crate) archives: Vec<BinaryArchive>,
    pub(crate) pipeline: Box<dyn Pipeline>,
}

impl Executable {
    /// Checks that a device with these properties can run the kernel.
    pub(crate) fn new(
        new: NewPipeline,
        properties: &Properties,
        label: Option<&str>,
        promises: Promises,
        archives: Vec<BinaryArchive>,
    ) -> Result<Executable> {
        let NewPipeline { reflection, origin, pipeline } = new;
        let unsupported = |what: String| Error::Unsupported { kernel: reflection.name.clone(), what };
        for argument in &reflection.arguments {
            let what = match argument.kind {
                ArgumentKind::Buffer | ArgumentKind::ThreadgroupMemory | ArgumentKind::VisibleFunctionTable
                    if argument.index < 31 =>
                {
                    continue;
                }
                ArgumentKind::Buffer | ArgumentKind::ThreadgroupMemory | ArgumentKind::VisibleFunctionTable => {
                    "an index above 30"
                }
                ArgumentKind::Texture => "a texture",
                ArgumentKind::Sampler => "a sampler",
                ArgumentKind::Other => "an argument that is not a buffer",
            };
            return Err(unsupported(format!("{what} (the argument '{}')", argument.name)));
        }
        let (memory, most_memory) =
            (pipeline.static_threadgroup_memory(), properties.limits.max_threadgroup_memory_length);
        if memory > most_memory {
            let kernel = reflection.name;
            return Err(Error::ThreadgroupMemory { kernel, bytes: memory, limit: most_memory });
        }
        let most = pipeline.max_total_threads();
        let own = reflection.max_total_threads_per_threadgroup;
        Ok(Executable {
            label: label.map(Arc::from),
            name: reflection.name.as_str().into(),
            arguments: ArgumentTable::new(&reflection, memory),
            reflection,
            promises,
            max_total_threads: own.map_or(most, |own| most.min(own as usize)),
            most_threads: properties.limits.max_threads_per_threadgroup,
            most_threadgroup_memory: most_memory,
            domain: properties.domain,
            origin,
            number: next_number(),
            archives,
            pipeline,
        })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name shown in tools.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Back-end state.
    pub fn pipeline(&self) -> &dyn Any {
        &*self.pipeline
    }
}
