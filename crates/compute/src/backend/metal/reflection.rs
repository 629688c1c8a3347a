//! Reads Metal's reflection of a compiled kernel's arguments.

use super::data_type;
use crate::backend::driver::reported::ReportedBinding;
use msl::reflect::{Access, ArgumentKind};
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBinding, MTLBindingAccess, MTLBindingType, MTLBufferBinding, MTLComputePipelineReflection, MTLStructMember,
    MTLThreadgroupBinding,
};

/// The arguments that the host binds.
pub(super) fn bindings(reflection: &MTLComputePipelineReflection) -> Vec<ReportedBinding> {
    let bindings = reflection.bindings().to_vec();
    bindings.iter().filter(|binding| is_bound(binding)).map(|binding| read(binding)).collect()
}

/// The host does not bind threadgroup memory declared in the kernel.
fn is_bound(binding: &ProtocolObject<dyn MTLBinding>) -> bool {
    binding.r#type() != MTLBindingType::ThreadgroupMemory || binding.isArgument()
}

fn read(binding: &ProtocolObject<dyn MTLBinding>) -> ReportedBinding {
    let mut reported = ReportedBinding {
        name: binding.name().to_string(),
        kind: kind(binding.r#type()),
        index: u32::try_from(binding.index()).unwrap_or(u32::MAX),
        access: access(binding.access()),
        is_used: binding.isUsed(),
        element_type: String::new(),
        element_size: 0,
        element_align: 0,
        fields: Vec::new(),
    };
    match reported.kind {
        ArgumentKind::Buffer => {
            // SAFETY: bindings of this type conform to this protocol.
            let buffer = unsafe { as_protocol::<dyn MTLBufferBinding>(binding) };
            reported.element_type = data_type::name(buffer.bufferDataType());
            reported.element_size = buffer.bufferDataSize() as u64;
            reported.element_align = buffer.bufferAlignment() as u64;
            if let Some(structure) = buffer.bufferStructType() {
                reported.fields = structure.members().to_vec().iter().map(|member| field(member)).collect();
            }
        }
        ArgumentKind::ThreadgroupMemory => {
            // SAFETY: bindings of this type conform to this protocol.
            let memory = unsafe { as_protocol::<dyn MTLThreadgroupBinding>(binding) };
            // Its alignment is the device's, not the element's.
            reported.element_size = memory.threadgroupMemoryDataSize() as u64;
        }
        ArgumentKind::VisibleFunctionTable
        | ArgumentKind::Texture
        | ArgumentKind::Sampler
        | ArgumentKind::Other => {}
    }
    reported
}

/// # Safety
///
/// The object must conform to the protocol `P`.
unsafe fn as_protocol<P: ?Sized>(binding: &ProtocolObject<dyn MTLBinding>) -> &ProtocolObject<P> {
    // SAFETY: a protocol object is the object itself, for any protocol.
    unsafe { &*std::ptr::from_ref(binding).cast::<ProtocolObject<P>>() }
}

fn field(member: &MTLStructMember) -> (String, String, u64) {
    (member.name().to_string(), data_type::name(member.dataType()), member.offset() as u64)
}

fn kind(ty: MTLBindingType) -> ArgumentKind {
    match ty {
        MTLBindingType::Buffer => ArgumentKind::Buffer,
        MTLBindingType::ThreadgroupMemory => ArgumentKind::ThreadgroupMemory,
        MTLBindingType::VisibleFunctionTable => ArgumentKind::VisibleFunctionTable,
        MTLBindingType::Texture => ArgumentKind::Texture,
        MTLBindingType::Sampler => ArgumentKind::Sampler,
        _ => ArgumentKind::Other,
    }
}

fn access(access: MTLBindingAccess) -> Access {
    match access {
        MTLBindingAccess::ReadOnly => Access::Read,
        MTLBindingAccess::WriteOnly => Access::Write,
        // Unknown access counts as a write.
        _ => Access::ReadWrite,
    }
}
