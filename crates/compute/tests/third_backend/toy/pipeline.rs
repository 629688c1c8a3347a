//! Pipelines: pipeline states of the inner device, within the limits of the toy.

use super::library::{Function, Library};
use compute::backend::{self, Artifact, Limits, NewPipeline, PipelineRequest, Simdgroups, own};
use compute::reflect::Kernel;
use compute::{ComputePipelineDescriptor, ComputePipelineState, Device, FunctionDescriptor, Result};

pub(super) struct Pipeline {
    pub(super) inner: ComputePipelineState,
    max_threads: usize,
}

impl Pipeline {
    fn made(inner: ComputePipelineState, limits: &Limits) -> NewPipeline {
        NewPipeline {
            reflection: inner.reflection().clone(),
            origin: inner.origin(),
            pipeline: Box::new(Pipeline { inner, max_threads: limits.max_threads_per_threadgroup.width }),
        }
    }
}

impl backend::Pipeline for Pipeline {
    fn thread_execution_width(&self) -> usize {
        self.inner.thread_execution_width()
    }

    fn max_total_threads(&self) -> usize {
        self.inner.max_total_threads_per_threadgroup().min(self.max_threads)
    }

    fn static_threadgroup_memory(&self) -> usize {
        self.inner.static_threadgroup_memory_length()
    }

    fn code_size(&self) -> usize {
        self.inner.code_size()
    }
}

pub(super) fn new(inner: &Device, limits: &Limits, request: &PipelineRequest) -> Result<NewPipeline> {
    let PipelineRequest { library, function, label, simdgroups, archives, fail_on_archive_miss, .. } = request;
    let descriptor = ComputePipelineDescriptor {
        label: label.clone(),
        thread_group_size_is_multiple_of_thread_execution_width: *simdgroups == Simdgroups::Full,
        thread_group_width_is_multiple_of_thread_execution_width: *simdgroups == Simdgroups::Rows,
        threads_per_threadgroup: request.threads_per_threadgroup,
        binary_archives: archives.clone(),
        fail_on_binary_archive_miss: *fail_on_archive_miss,
        ..ComputePipelineDescriptor::default()
    };
    let state = match function {
        Some(function) => {
            let function = own::<Function>(&**function)?;
            inner.new_compute_pipeline_state_with_descriptor(&function.inner, &descriptor)?
        }
        None => {
            let function = descriptor_of(own::<Library>(&**library)?, request);
            inner.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)?
        }
    };
    Ok(Pipeline::made(state, limits))
}

fn descriptor_of<'a>(library: &'a Library, request: &'a PipelineRequest) -> FunctionDescriptor<'a> {
    FunctionDescriptor { library: &library.inner, name: &request.kernel, constants: &request.constants }
}

/// # Safety
///
/// The artifacts must come from this version's compiler, and be for this kernel.
pub(super) unsafe fn of_artifacts(
    inner: &Device,
    limits: &Limits,
    kernel: &Kernel,
    artifacts: &[Artifact],
) -> Result<NewPipeline> {
    let descriptor = ComputePipelineDescriptor::default();
    // SAFETY: as the caller promises.
    let state = unsafe { inner.new_compute_pipeline_state_with_artifacts(kernel, artifacts, &descriptor)? };
    Ok(Pipeline::made(state, limits))
}

pub(super) fn archived_reflection(inner: &Device, request: &PipelineRequest) -> Option<Kernel> {
    let library = own::<Library>(&*request.library).ok()?;
    inner.archived_reflection(&descriptor_of(library, request), &request.archives)
}
