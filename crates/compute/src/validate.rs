//! What an encoder checks before it records: the rules of Metal's API against the kernel's reflection.

use crate::device::MAX_THREADGROUP_MEMORY;
use crate::error::{Result, usage};
use crate::pipeline::ComputePipelineState;
use crate::recording::{BYTES_ALIGNMENT, Binding};
use crate::size::Size;
use abi::LANES;
use abi::call::ARGUMENT_SLOTS;
use msl::reflect::{Argument, ArgumentKind};

/// The alignment of a threadgroup argument's memory.
pub(crate) const THREADGROUP_ALIGNMENT: usize = 16;

pub(crate) fn index(call: &str, index: usize) -> Result<()> {
    if index < ARGUMENT_SLOTS {
        return Ok(());
    }
    usage(format!("{call}: index {index}; there are {ARGUMENT_SLOTS}, from 0 to {}", ARGUMENT_SLOTS - 1))
}

pub(crate) fn threadgroup_memory_length(index: usize, bytes: usize) -> Result<u32> {
    let problem = if bytes > MAX_THREADGROUP_MEMORY {
        format!("at most {MAX_THREADGROUP_MEMORY} are there")
    } else if !bytes.is_multiple_of(THREADGROUP_ALIGNMENT) {
        format!("it must be a multiple of {THREADGROUP_ALIGNMENT}")
    } else {
        return Ok(bytes as u32);
    };
    usage(format!("set_threadgroup_memory_length: {bytes} bytes at index {index}; {problem}"))
}

/// The grid and the threadgroup in threads, as the back ends take them.
pub(crate) fn grid(
    call: &str,
    pipeline: &ComputePipelineState,
    grid: Size,
    threadgroup: Size,
) -> Result<([u32; 3], [u32; 3])> {
    let kernel = pipeline.shared_name();
    if grid.volume() == Some(0) || threadgroup.volume() == Some(0) {
        return usage(format!(
            "{call} of '{kernel}': a dimension is 0 (grid of {grid} threads in threadgroups of {threadgroup}); each \
             must be at least 1"
        ));
    }
    let most = pipeline.max_total_threads_per_threadgroup();
    if threadgroup.volume().is_none_or(|threads| threads > most) {
        return usage(format!(
            "{call} of '{kernel}': a threadgroup of {threadgroup} threads; at most {most} are allowed in all"
        ));
    }
    if pipeline.only_full_simdgroups() {
        full_simdgroups(call, kernel, grid, threadgroup)?;
    }
    match (grid.volume(), narrow(grid), narrow(threadgroup)) {
        (Some(_), Some(grid), Some(threadgroup)) => Ok((grid, threadgroup)),
        _ => usage(format!("{call} of '{kernel}': a grid of {grid} threads; positions have 32 bits, sizes 64")),
    }
}

/// Keeps the promise of `thread_group_size_is_multiple_of_thread_execution_width`.
fn full_simdgroups(call: &str, kernel: &str, grid: Size, threadgroup: Size) -> Result<()> {
    // Along each dimension there are whole threadgroups and perhaps, at the end, a smaller one.
    let sizes = |grid: usize, threadgroup: usize| {
        let whole = (grid >= threadgroup).then_some(threadgroup);
        let rest = Some(grid % threadgroup).filter(|&rest| rest > 0);
        whole.into_iter().chain(rest)
    };
    for width in sizes(grid.width, threadgroup.width) {
        for height in sizes(grid.height, threadgroup.height) {
            for depth in sizes(grid.depth, threadgroup.depth) {
                let size = Size { width, height, depth };
                if !size.volume().is_some_and(|threads| threads.is_multiple_of(LANES)) {
                    return usage(format!(
                        "{call} of '{kernel}': a threadgroup of {size} threads; the pipeline's descriptor promised \
                         multiples of {LANES}"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn narrow(size: Size) -> Option<[u32; 3]> {
    let narrow = |extent: usize| u32::try_from(extent).ok();
    Some([narrow(size.width)?, narrow(size.height)?, narrow(size.depth)?])
}

/// The bindings that the kernel uses, if all are there and fit.
pub(crate) fn bindings(
    call: &str,
    pipeline: &ComputePipelineState,
    bound: &[Option<Binding>; ARGUMENT_SLOTS],
) -> Result<Vec<(u8, Binding)>> {
    let arguments = &pipeline.reflection().arguments;
    let buffers = arguments.iter().filter(|argument| argument.kind == ArgumentKind::Buffer);
    let mut bindings = Vec::with_capacity(arguments.len());
    for argument in buffers {
        let Some(binding) = bound.get(argument.index as usize).and_then(Option::as_ref) else {
            return usage(format!(
                "{call} of '{}': no buffer is bound at index {} for the argument '{}'; call set_buffer or set_bytes",
                pipeline.shared_name(),
                argument.index,
                argument.name
            ));
        };
        if let Some(problem) = misfit(argument, binding) {
            return usage(format!(
                "{call} of '{}': buffer {} for the argument '{}': {problem}",
                pipeline.shared_name(),
                argument.index,
                argument.name
            ));
        }
        bindings.push((argument.index as u8, binding.clone()));
    }
    Ok(bindings)
}

/// Why a binding cannot serve an argument.
fn misfit(argument: &Argument, binding: &Binding) -> Option<String> {
    let (len, alignment) = match binding {
        Binding::Buffer { buffer, offset } => {
            let address = buffer.contents().addr().wrapping_add(*offset);
            (buffer.len() - offset, 1u64 << address.trailing_zeros().min(63))
        }
        Binding::Bytes { len, .. } => (*len, BYTES_ALIGNMENT as u64),
    };
    if (len as u64) < argument.element_size {
        return Some(format!(
            "{len} bytes from its offset on; one '{}' takes {}",
            argument.element_type, argument.element_size
        ));
    }
    if alignment < argument.element_align {
        return Some(format!(
            "it begins at an address that is a multiple of {alignment} only; '{}' needs a multiple of {}",
            argument.element_type, argument.element_align
        ));
    }
    None
}

/// The sizes of the kernel's threadgroup arguments, if all are set and fit with its own variables.
pub(crate) fn threadgroup_memory(
    call: &str,
    pipeline: &ComputePipelineState,
    lengths: &[u32; ARGUMENT_SLOTS],
) -> Result<Vec<(u8, u32)>> {
    let arguments = pipeline.reflection().arguments.iter();
    let mut total = pipeline.static_threadgroup_memory_length().next_multiple_of(THREADGROUP_ALIGNMENT);
    let mut memory = Vec::new();
    for argument in arguments.filter(|argument| argument.kind == ArgumentKind::ThreadgroupMemory) {
        let length = lengths.get(argument.index as usize).copied().unwrap_or(0);
        if u64::from(length) < argument.element_size.max(1) {
            return usage(format!(
                "{call} of '{}': threadgroup memory {} for the argument '{}' has {length} bytes; call \
                 set_threadgroup_memory_length with at least {}",
                pipeline.shared_name(),
                argument.index,
                argument.name,
                argument.element_size.max(1)
            ));
        }
        total += (length as usize).next_multiple_of(THREADGROUP_ALIGNMENT);
        memory.push((argument.index as u8, length));
    }
    if total > MAX_THREADGROUP_MEMORY {
        return usage(format!(
            "{call} of '{}': {total} bytes of threadgroup memory, the kernel's own variables included; at most \
             {MAX_THREADGROUP_MEMORY} are there",
            pipeline.shared_name()
        ));
    }
    Ok(memory)
}
