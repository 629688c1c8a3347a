//! The arguments of a kernel, condensed from its reflection once, so that each dispatch only walks a short table.
//!
//! **Invariant:** an argument that the specialized kernel does not use needs no binding, on any back end and in any
//! build. If it is bound, it is checked and passed on like the others.

use msl::reflect::{Access, Argument, ArgumentKind, Kernel};

/// The alignment of a threadgroup argument's memory.
pub(crate) const THREADGROUP_ALIGNMENT: usize = 16;

/// The arguments of one kernel.
pub(crate) struct ArgumentTable {
    pub(crate) buffers: Box<[BufferArgument]>,
    pub(crate) threadgroup_memory: Box<[ThreadgroupArgument]>,
    /// One bit per index in `buffers`.
    pub(crate) buffer_indices: u32,
    /// Bytes of the kernel's own threadgroup variables.
    pub(crate) static_threadgroup_memory: usize,
    /// The same, rounded up to the alignment of arguments.
    pub(crate) own_threadgroup_memory: usize,
    /// True if the kernel has function constants, which may have removed arguments of its source.
    pub(crate) may_lack_some: bool,
}

/// `[[buffer(index)]]`
pub(crate) struct BufferArgument {
    pub(crate) index: u8,
    pub(crate) is_written: bool,
    /// True for a visible function table.
    pub(crate) is_table: bool,
    /// True if it must be bound.
    pub(crate) is_used: bool,
    /// Index into the reflection's arguments.
    pub(crate) argument: u32,
    /// Size of an element in bytes.
    pub(crate) size: usize,
    /// Address bits that must be zero.
    pub(crate) misalignment: usize,
}

/// `[[threadgroup(index)]]`
pub(crate) struct ThreadgroupArgument {
    pub(crate) index: u8,
    /// True if it must have memory.
    pub(crate) is_used: bool,
    /// Index into the reflection's arguments.
    pub(crate) argument: u32,
    /// Size of an element in bytes.
    pub(crate) size: u32,
}

/// Required alignment of an argument's offset: Apple GPUs read `constant` memory in words, and Metal requires an offset
/// that is a multiple of 4 (feature set tables, "minimum constant buffer offset alignment").
fn alignment(argument: &Argument) -> usize {
    let least = if argument.address_space == "constant" { 4 } else { 1 };
    usize::try_from(argument.element_align).unwrap_or(usize::MAX).max(least)
}

impl ArgumentTable {
    /// The indices in `kernel` must be below 31.
    pub(crate) fn new(kernel: &Kernel, own_threadgroup_memory: usize) -> ArgumentTable {
        let arguments = || kernel.arguments.iter().zip(0u32..);
        let buffers: Box<[BufferArgument]> = arguments()
            .filter(|(argument, _)| {
                matches!(argument.kind, ArgumentKind::Buffer | ArgumentKind::VisibleFunctionTable)
            })
            .map(|(argument, position)| BufferArgument {
                index: argument.index as u8,
                is_written: argument.access != Access::Read,
                is_table: argument.kind == ArgumentKind::VisibleFunctionTable,
                is_used: argument.is_used,
                argument: position,
                size: usize::try_from(argument.element_size).unwrap_or(usize::MAX),
                misalignment: alignment(argument).saturating_sub(1),
            })
            .collect();
        let threadgroup_memory = arguments()
            .filter(|(argument, _)| argument.kind == ArgumentKind::ThreadgroupMemory)
            .map(|(argument, position)| ThreadgroupArgument {
                index: argument.index as u8,
                is_used: argument.is_used,
                argument: position,
                size: u32::try_from(argument.element_size).unwrap_or(u32::MAX).max(1),
            })
            .collect();
        ArgumentTable {
            buffer_indices: buffers.iter().fold(0, |indices, argument| indices | 1 << argument.index),
            buffers,
            threadgroup_memory,
            static_threadgroup_memory: own_threadgroup_memory,
            own_threadgroup_memory: own_threadgroup_memory.next_multiple_of(THREADGROUP_ALIGNMENT),
            may_lack_some: !kernel.function_constants.is_empty(),
        }
    }
}
