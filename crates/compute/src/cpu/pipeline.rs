//! The compiled code of a kernel: for full simdgroups at once, for others when they first occur.

use crate::error::{Error, Result};
use crate::size::Size;
use abi::{Lanes, WaveKernel};

/// Compiles a kernel for some simdgroups.
pub(crate) type Compile = Box<dyn Fn(Lanes) -> Result<WaveKernel> + Send + Sync>;

/// A kernel for this processor.
pub(crate) struct Pipeline {
    compile: Option<Compile>,
    static_threadgroup_memory: usize,
}

impl Pipeline {
    pub(crate) fn new(compile: Compile) -> Result<Pipeline> {
        let row = compile(Lanes::Row)?;
        let static_threadgroup_memory = row.static_threadgroup_memory as usize;
        Ok(Pipeline { compile: Some(compile), static_threadgroup_memory })
    }

    pub(crate) fn with_binary(row: Option<WaveKernel>, any: Option<WaveKernel>) -> Result<Pipeline> {
        let Some(kernel) = row.or(any) else {
            return Err(Error::Library("a compiled kernel without code".into()));
        };
        Ok(Pipeline { compile: None, static_threadgroup_memory: kernel.static_threadgroup_memory as usize })
    }

    pub(crate) fn static_threadgroup_memory(&self) -> usize {
        self.static_threadgroup_memory
    }

    pub(crate) fn prepare(&self, threads_per_threadgroup: Size) -> Result<()> {
        let _ = (threads_per_threadgroup, &self.compile);
        Ok(())
    }
}
