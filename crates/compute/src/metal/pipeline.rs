//! Kernels that Metal compiled.

use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLComputePipelineState;

/// A kernel that is ready to run. Metal's pipeline states may be used by any thread.
pub(crate) struct Pipeline {
    state: Retained<ProtocolObject<dyn MTLComputePipelineState>>,
}

impl Pipeline {
    /// Metal's own.
    pub(crate) fn state(&self) -> &ProtocolObject<dyn MTLComputePipelineState> {
        &self.state
    }

    /// Bytes of threadgroup memory for the kernel's own variables.
    pub(crate) fn static_threadgroup_memory(&self) -> usize {
        self.state.staticThreadgroupMemoryLength()
    }

    /// The largest threadgroup that it can run with.
    pub(crate) fn max_total_threads(&self) -> usize {
        self.state.maxTotalThreadsPerThreadgroup()
    }

    /// The number of threads in a simdgroup.
    pub(crate) fn thread_execution_width(&self) -> usize {
        self.state.threadExecutionWidth()
    }
}
