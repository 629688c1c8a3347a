//! The compiled code of a kernel: what was asked for at once, the rest when a dispatch first needs it.

use crate::archive::entry::Payload;
use crate::archive::key::lanes_description;
use crate::cache::{LateMisses, Phase};
use crate::cpu::loader::Image;
use crate::cpu::shape::Shape;
use crate::error::{Error, Result};
use crate::pipeline::PipelineOrigin;
use crate::recipe::{Provided, Recipe};
use crate::size::Size;
use abi::{Entry, Lanes, WaveKernel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A kernel for this processor.
pub(crate) struct Pipeline {
    /// How to come by more code. Without it there is only what was compiled before.
    recipe: Option<Recipe>,
    row: OnceLock<Code>,
    any: OnceLock<Code>,
    /// Held while more code is made.
    making: Mutex<()>,
    /// Of the cache that has it: once that is sealed, a dispatch that needs more code is a mistake.
    phase: OnceLock<Arc<Phase>>,
    static_threadgroup_memory: usize,
}

/// Machine code that was loaded.
pub(crate) struct Code {
    /// Keeps the memory behind `entry`.
    image: Image,
    origin: PipelineOrigin,
    pub(crate) entry: Entry,
    pub(crate) has_barrier: bool,
    pub(crate) private_memory: u64,
    pub(crate) flush_denormals: bool,
}

impl Code {
    fn load(kernel: &WaveKernel, origin: PipelineOrigin) -> Result<Code> {
        let image = Image::load(kernel)?;
        Ok(Code {
            entry: image.entry(),
            image,
            origin,
            has_barrier: kernel.has_barrier,
            private_memory: kernel.private_memory,
            flush_denormals: kernel.flush_denormals,
        })
    }
}

impl Pipeline {
    /// Takes what has been provided, one piece at least, and what provides more.
    pub(crate) fn new(provided: Vec<Provided>, recipe: Recipe) -> Result<Pipeline> {
        let mut pipeline = Pipeline::empty(Some(recipe));
        for Provided { entry, origin } in provided {
            let Payload::Wave(kernel) = &entry.payload;
            pipeline.load(kernel, origin)?;
        }
        Ok(pipeline)
    }

    /// Takes what was compiled before.
    pub(crate) fn with_binary(row: Option<WaveKernel>, any: Option<WaveKernel>) -> Result<Pipeline> {
        if row.is_none() && any.is_none() {
            return Err(Error::Library("a compiled kernel without code".into()));
        }
        let mut pipeline = Pipeline::empty(None);
        for (kernel, lanes) in [(row, Lanes::Row), (any, Lanes::Any)] {
            let Some(kernel) = kernel else { continue };
            if kernel.lanes != lanes {
                return Err(Error::Library(format!("kernel '{}' was compiled for other simdgroups", kernel.name)));
            }
            pipeline.load(&kernel, PipelineOrigin::Archive)?;
        }
        Ok(pipeline)
    }

    fn empty(recipe: Option<Recipe>) -> Pipeline {
        Pipeline {
            recipe,
            row: OnceLock::new(),
            any: OnceLock::new(),
            making: Mutex::new(()),
            phase: OnceLock::new(),
            static_threadgroup_memory: 0,
        }
    }

    fn load(&mut self, kernel: &WaveKernel, origin: PipelineOrigin) -> Result<()> {
        self.static_threadgroup_memory = kernel.static_threadgroup_memory as usize;
        let code = OnceLock::from(Code::load(kernel, origin)?);
        match kernel.lanes {
            Lanes::Row => self.row = code,
            Lanes::Any => self.any = code,
        }
        Ok(())
    }

    pub(crate) fn static_threadgroup_memory(&self) -> usize {
        self.static_threadgroup_memory
    }

    /// Has it keep to the phases of a cache. The first cache that has it decides.
    pub(crate) fn keep_to(&self, phase: &Arc<Phase>) {
        let _ = self.phase.set(phase.clone());
    }

    fn slot(&self, lanes: Lanes) -> &OnceLock<Code> {
        match lanes {
            Lanes::Row => &self.row,
            Lanes::Any => &self.any,
        }
    }

    /// The code that a dispatch needs for some simdgroups; compiled now if it was not before.
    pub(crate) fn code(&self, lanes: Lanes) -> Result<&Code> {
        if let Some(code) = self.slot(lanes).get() {
            return Ok(code);
        }
        if self.phase.get().and_then(|phase| phase.late_code()) == Some(LateMisses::Refuse) {
            return Err(Error::Usage(format!(
                "code for {} was not compiled while loading; declare the pipeline with the size of its threadgroups \
                 (`PipelineConfig::with_threads_per_threadgroup`)",
                lanes_description(lanes)
            )));
        }
        self.make(lanes)
    }

    /// The code for some simdgroups; compiled now if it was not before, once however many threads ask. A failure is not
    /// kept: who asks next tries again.
    fn make(&self, lanes: Lanes) -> Result<&Code> {
        let slot = self.slot(lanes);
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = slot.get() {
            return Ok(code);
        }
        let Some(recipe) = &self.recipe else {
            let description = lanes_description(lanes);
            return Err(Error::Library(format!("the kernel was not compiled for {description}")));
        };
        let Provided { entry, origin } = recipe.code(lanes)?;
        let Payload::Wave(kernel) = &entry.payload;
        let code = Code::load(kernel, origin)?;
        Ok(slot.get_or_init(|| code))
    }

    pub(crate) fn prepare(&self, threads_per_threadgroup: Size) -> Result<()> {
        for lanes in Pipeline::lanes(threads_per_threadgroup) {
            self.make(lanes)?;
        }
        Ok(())
    }

    /// The code that threadgroups of a size need.
    pub(crate) fn lanes(threads_per_threadgroup: Size) -> Vec<Lanes> {
        let narrow = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
        let Size { width, height, depth } = threads_per_threadgroup;
        Shape::new([narrow(width), narrow(height), narrow(depth)]).lanes().collect()
    }

    pub(crate) fn origin(&self) -> PipelineOrigin {
        match self.loaded().any(|code| code.origin == PipelineOrigin::Compiled) {
            true => PipelineOrigin::Compiled,
            false => PipelineOrigin::Archive,
        }
    }

    pub(crate) fn code_size(&self) -> usize {
        self.loaded().map(|code| code.image.size()).sum()
    }

    fn loaded(&self) -> impl Iterator<Item = &Code> {
        [&self.row, &self.any].into_iter().filter_map(OnceLock::get)
    }
}
