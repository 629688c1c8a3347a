//! The loaded code of a kernel, for all its dispatches.

use super::code::loader::Image;
use super::device::MAX_THREADS_PER_THREADGROUP;
use crate::backend;
use crate::error::{Error, Result};
use abi::{Entry, Lanes, Site, WaveKernel};
use std::ops::Range;
use std::sync::Arc;

/// A kernel for this CPU.
pub(super) struct Pipeline {
    row: Option<Code>,
    any: Option<Code>,
    static_threadgroup_memory: usize,
}

/// Loaded machine code.
pub(super) struct Code {
    /// Owns the memory behind `entry`.
    image: Image,
    pub(super) entry: Entry,
    pub(super) has_barrier: bool,
    pub(super) private_memory: u64,
    pub(super) flush_denormals: bool,
    /// Messages of the failures that its threads can report.
    pub(super) failures: Arc<[String]>,
    /// The places of its checks.
    pub(super) sites: Arc<[Site]>,
}

impl Code {
    /// The addresses of the code.
    pub(super) fn addresses(&self) -> Range<usize> {
        self.image.addresses()
    }

    fn load(kernel: &WaveKernel) -> Result<Code> {
        let image = Image::load(kernel)?;
        Ok(Code {
            entry: image.entry(),
            image,
            has_barrier: kernel.has_barrier,
            private_memory: kernel.private_memory,
            flush_denormals: kernel.flush_denormals,
            failures: kernel.failures.as_slice().into(),
            sites: kernel.sites.as_slice().into(),
        })
    }
}

impl Pipeline {
    /// Loads the variants of one kernel, at least one.
    pub(super) fn new(kernels: &[WaveKernel]) -> Result<Pipeline> {
        let Some(first) = kernels.first() else {
            return Err(Error::Library("a compiled kernel without code".into()));
        };
        let static_threadgroup_memory = first.static_threadgroup_memory as usize;
        let load = |lanes: Lanes| kernels.iter().find(|kernel| kernel.lanes == lanes).map(Code::load).transpose();
        Ok(Pipeline { row: load(Lanes::Row)?, any: load(Lanes::Any)?, static_threadgroup_memory })
    }

    /// The code for some simdgroups. A missing variant was promised not to be needed, or is missing from the caller's
    /// artifacts.
    pub(super) fn code(&self, lanes: Lanes) -> Result<&Code> {
        let code = match lanes {
            Lanes::Row => &self.row,
            Lanes::Any => &self.any,
        };
        code.as_ref().ok_or_else(|| {
            Error::Library(match lanes {
                Lanes::Row => "the kernel was not compiled for full simdgroups".into(),
                Lanes::Any => {
                    "the kernel was not compiled for threadgroups whose width is not a multiple of 32".into()
                }
            })
        })
    }
}

impl backend::Pipeline for Pipeline {
    fn thread_execution_width(&self) -> usize {
        abi::LANES
    }

    fn max_total_threads(&self) -> usize {
        MAX_THREADS_PER_THREADGROUP
    }

    fn static_threadgroup_memory(&self) -> usize {
        self.static_threadgroup_memory
    }

    fn code_size(&self) -> usize {
        [&self.row, &self.any].into_iter().flatten().map(|code| code.image.size()).sum()
    }
}
