//! Metal's protocols for compute, over the crate `compute` on the CPU.
//!
//! ```text
//! device ── library ── function ── pipeline ── reflection      descriptors: objects with properties only
//!   │                    └ argument_encoder
//!   ├ buffer, heap, residency                                  archive: MTLBinaryArchive
//!   ├ event ── MTLEvent, MTLSharedEvent, MTLFence              function_table: visible functions
//!   ├ counters, log                                            refused: captures
//!   ├ metal4 ── queue, allocator, command buffer, argument table
//!   └ queue ── commands ── compute_encoder, blit_encoder       parts, bindings: work that waits
//! ```
//!
//! Classes have the names of Metal's debug layer, whose rules they check.

pub(crate) mod archive;
pub(crate) mod argument_encoder;
mod bindings;
pub(crate) mod blit_encoder;
pub(crate) mod buffer;
pub(crate) mod commands;
pub(crate) mod compute_encoder;
pub(crate) mod constants;
pub(crate) mod counters;
pub(crate) mod descriptors;
pub(crate) mod device;
pub(crate) mod errors;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod function_table;
pub(crate) mod heap;
pub(crate) mod library;
pub(crate) mod log;
pub(crate) mod metal4;
mod parts;
pub(crate) mod pipeline;
pub(crate) mod queue;
pub(crate) mod reflection;
pub(crate) mod refused;
pub(crate) mod residency;
#[cfg(test)]
mod tests;

use crate::runtime::Class;

pub(crate) static CLASSES: &[&Class] = &[
    &device::DEVICE,
    &device::ARCHITECTURE,
    &library::LIBRARY,
    &function::FUNCTION,
    &function::FUNCTION_CONSTANT,
    &argument_encoder::ARGUMENT_ENCODER,
    &constants::FUNCTION_CONSTANT_VALUES,
    &pipeline::COMPUTE_PIPELINE_STATE,
    &reflection::COMPUTE_PIPELINE_REFLECTION,
    &reflection::BINDING,
    &reflection::TYPE,
    &reflection::POINTER_TYPE,
    &reflection::ARRAY_TYPE,
    &reflection::STRUCT_TYPE,
    &reflection::STRUCT_MEMBER,
    &archive::BINARY_ARCHIVE,
    &function_table::FUNCTION_HANDLE,
    &function_table::VISIBLE_FUNCTION_TABLE,
    &queue::COMMAND_QUEUE,
    &commands::COMMAND_BUFFER,
    &errors::ENCODER_INFO,
    &compute_encoder::COMPUTE_COMMAND_ENCODER,
    &blit_encoder::BLIT_COMMAND_ENCODER,
    &buffer::BUFFER,
    &heap::HEAP,
    &event::EVENT,
    &event::SHARED_EVENT,
    &event::SHARED_EVENT_LISTENER,
    &event::FENCE,
    &residency::RESIDENCY_SET,
    &counters::COUNTER_SET,
    &counters::COUNTER,
    &counters::COUNTER_SAMPLE_BUFFER,
    &counters::SAMPLE_BUFFER_ATTACHMENT,
    &counters::SAMPLE_BUFFER_ATTACHMENTS,
    &counters::BLIT_SAMPLE_BUFFER_ATTACHMENT,
    &counters::BLIT_SAMPLE_BUFFER_ATTACHMENTS,
    &log::LOG_STATE,
    &log::LOG_STATE_DESCRIPTOR,
    &metal4::queue::COMMAND_QUEUE,
    &metal4::queue::COMMAND_QUEUE_DESCRIPTOR,
    &metal4::queue::COMMIT_OPTIONS,
    &metal4::commands::COMMAND_ALLOCATOR,
    &metal4::commands::COMMAND_ALLOCATOR_DESCRIPTOR,
    &metal4::commands::COMMAND_BUFFER,
    &metal4::encoder::COMPUTE_COMMAND_ENCODER,
    &metal4::arguments::ARGUMENT_TABLE,
    &metal4::arguments::ARGUMENT_TABLE_DESCRIPTOR,
    &refused::CAPTURE_MANAGER,
    &refused::CAPTURE_SCOPE,
    &descriptors::COMPILE_OPTIONS,
    &descriptors::FUNCTION_DESCRIPTOR,
    &descriptors::LINKED_FUNCTIONS,
    &descriptors::COMPUTE_PIPELINE_DESCRIPTOR,
    &descriptors::PIPELINE_BUFFER_DESCRIPTOR_ARRAY,
    &descriptors::PIPELINE_BUFFER_DESCRIPTOR,
    &descriptors::VISIBLE_FUNCTION_TABLE_DESCRIPTOR,
    &descriptors::BINARY_ARCHIVE_DESCRIPTOR,
    &descriptors::COMMAND_QUEUE_DESCRIPTOR,
    &descriptors::COMMAND_BUFFER_DESCRIPTOR,
    &descriptors::COMPUTE_PASS_DESCRIPTOR,
    &descriptors::BLIT_PASS_DESCRIPTOR,
    &descriptors::HEAP_DESCRIPTOR,
    &descriptors::ARGUMENT_DESCRIPTOR,
    &descriptors::RESIDENCY_SET_DESCRIPTOR,
    &descriptors::CAPTURE_DESCRIPTOR,
    &descriptors::COUNTER_SAMPLE_BUFFER_DESCRIPTOR,
];
