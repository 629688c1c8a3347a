//! Descriptors of queues, command buffers and encoders.

use crate::foundation::object::NS_OBJECT;
use crate::metal::counters::{self, Attachments, BLIT_SAMPLE_BUFFER_ATTACHMENTS, SAMPLE_BUFFER_ATTACHMENTS};
use crate::runtime::{Class, Fields, Id, Object, Strong};
use std::ffi::c_void;

#[derive(Clone)]
pub(crate) struct QueueFields {
    pub(crate) most: usize,
    pub(crate) log_state: Strong,
}

impl Default for QueueFields {
    fn default() -> QueueFields {
        QueueFields { most: 64, log_state: Strong::default() }
    }
}

class! {
    COMMAND_QUEUE_DESCRIPTOR = "MTLCommandQueueDescriptor": NS_OBJECT, default Fields<QueueFields>, ["NSCopying"]
    properties {
        "maxCommandBufferCount" "setMaxCommandBufferCount:" most: usize,
        "logState" "setLogState:" log_state: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone)]
pub(crate) struct CommandBufferFields {
    pub(crate) retains: bool,
    pub(crate) error_options: usize,
    pub(crate) log_state: Strong,
}

impl Default for CommandBufferFields {
    fn default() -> CommandBufferFields {
        CommandBufferFields { retains: true, error_options: 0, log_state: Strong::default() }
    }
}

class! {
    COMMAND_BUFFER_DESCRIPTOR = "MTLCommandBufferDescriptor": NS_OBJECT, default Fields<CommandBufferFields>, ["NSCopying"]
    properties {
        "retainedReferences" "setRetainedReferences:" retains: bool,
        "errorOptions" "setErrorOptions:" error_options: usize,
        "logState" "setLogState:" log_state: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ComputePassFields {
    pub(crate) dispatch_type: usize,
    pub(crate) samples: Strong,
}

class! {
    COMPUTE_PASS_DESCRIPTOR = "MTLComputePassDescriptor": NS_OBJECT, default Fields<ComputePassFields>, ["NSCopying"]
    properties {
        "dispatchType" "setDispatchType:" dispatch_type: usize,
    }
    methods {
        - "sampleBufferAttachments" (this) -> Id { attachments(&mut this.lock().samples, &SAMPLE_BUFFER_ATTACHMENTS) }
        + "computePassDescriptor" (_class) -> Id { Strong::new(Fields::<ComputePassFields>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id {
            let fields = this.lock().clone();
            let samples = counters::copied(&fields.samples);
            Strong::new(Fields::new(ComputePassFields { samples, ..fields })).into_id()
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct BlitPassFields {
    pub(crate) samples: Strong,
}

/// The array of a pass for requests of samples, made on first use.
fn attachments(samples: &mut Strong, class: &'static Class) -> Id {
    if samples.id().is_nil() {
        let array = Object::<Fields<Attachments>>::allocate(class);
        *samples = Strong::owned(array.set(Fields::default()));
    }
    samples.clone().autorelease()
}

class! {
    BLIT_PASS_DESCRIPTOR = "MTLBlitPassDescriptor": NS_OBJECT, default Fields<BlitPassFields>, ["NSCopying"]
    methods {
        - "sampleBufferAttachments" (this) -> Id { attachments(&mut this.lock().samples, &BLIT_SAMPLE_BUFFER_ATTACHMENTS) }
        + "blitPassDescriptor" (_class) -> Id { Strong::new(Fields::<BlitPassFields>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id {
            let fields = this.lock().clone();
            let samples = counters::copied(&fields.samples);
            Strong::new(Fields::new(BlitPassFields { samples })).into_id()
        }
    }
}
