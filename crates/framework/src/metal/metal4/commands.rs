//! Command allocators and command buffers, which are begun and ended, and begun again when they were committed.

use super::encoder;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::metal::device::Device;
use crate::metal::parts::{Deferred, Part};
use crate::metal::queue::Queue;
use crate::runtime::object::lock;
use crate::runtime::{Copied, Fields, Id, Object, Strong};
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Default)]
pub(crate) struct AllocatorFields {
    pub(crate) label: Strong,
}

class! {
    COMMAND_ALLOCATOR_DESCRIPTOR = "MTL4CommandAllocatorDescriptor": NS_OBJECT, default Fields<AllocatorFields>, ["NSCopying"]
    properties {
        "label" "setLabel:" label: Copied,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}

/// A command allocator. Commands have memory of their own: it only knows if a command buffer is being encoded with it.
pub(crate) struct Allocator {
    device: Strong,
    label: Strong,
    is_encoding: AtomicBool,
}

pub(crate) fn allocator(device: Object<Device>, label: Strong) -> Strong {
    Strong::new(Allocator { device: device.strong(), label, is_encoding: AtomicBool::new(false) })
}

class! {
    COMMAND_ALLOCATOR = "MTL4DebugCommandAllocator": NS_OBJECT, new Allocator, ["MTL4CommandAllocator"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.id() }
        - "allocatedSize" (_this) -> u64 { 0 }
        - "reset" (this) {
            let is_encoding = this.is_encoding.load(Ordering::Acquire);
            forbid!(HERE, is_encoding, (), "reset while a command buffer is encoded with the allocator");
        }
    }
}

/// A command buffer.
pub(crate) struct CommandBuffer4 {
    pub(crate) device: Strong,
    label: Fields<Strong>,
    state: Mutex<Stage4>,
}

enum Stage4 {
    /// Not begun, or committed.
    Idle,
    Begun {
        allocator: Strong,
        parts: Vec<Part>,
        is_encoding: bool,
    },
    Ended(Vec<Part>),
}

pub(crate) fn create(device: Object<Device>) -> Strong {
    Strong::new(CommandBuffer4 {
        device: device.strong(),
        label: Fields::default(),
        state: Mutex::new(Stage4::Idle),
    })
}

impl CommandBuffer4 {
    fn queue(&self) -> Option<Object<Queue>> {
        self.device.cast::<Device>()?.queue4().cast::<Queue>()
    }

    fn begin(&self, here: &str, allocator: Id) {
        let Some(allocator) = allocator.expect::<Allocator>(here, "allocator") else { return };
        let Some(queue) = self.queue() else { return };
        let mut state = lock(&self.state);
        forbid!(here, matches!(*state, Stage4::Begun { .. }), (), "the command buffer has already begun.");
        let is_taken = allocator.is_encoding.swap(true, Ordering::AcqRel);
        forbid!(here, is_taken, (), "the allocator is in use by another command buffer.");
        let parts = vec![Part::new(&queue.queue)];
        *state = Stage4::Begun { allocator: allocator.strong(), parts, is_encoding: false };
    }

    /// Begins or ends an encoder: only one can be open. False after a mistake.
    pub(crate) fn set_encoding(&self, here: &str, on: bool) -> bool {
        let mut state = lock(&self.state);
        let Stage4::Begun { is_encoding, .. } = &mut *state else {
            drop(state);
            crate::debug::fail(here, format_args!("the command buffer has not begun."));
            return false;
        };
        if on && *is_encoding {
            drop(state);
            crate::debug::fail(here, format_args!("A command encoder is already encoding to this command buffer"));
            return false;
        }
        *is_encoding = on;
        true
    }

    /// The work that is encoded to.
    pub(crate) fn work(&self) -> Option<compute::CommandBuffer> {
        match &*lock(&self.state) {
            Stage4::Begun { parts, .. } => parts.last().map(|part| part.work.clone()),
            _ => None,
        }
    }

    /// Adds work that is known later.
    pub(crate) fn defer(&self, deferred: Deferred) {
        let Some(queue) = self.queue() else { return };
        if let Stage4::Begun { parts, .. } = &mut *lock(&self.state) {
            parts.push(Part::deferred(&queue.queue, deferred));
            parts.push(Part::new(&queue.queue));
        }
    }

    /// Takes the work of a command buffer that has ended; `None` after a mistake.
    pub(crate) fn take(&self, here: &str) -> Option<Vec<Part>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, Stage4::Idle) {
            Stage4::Ended(parts) => Some(parts),
            other => {
                let what = if matches!(other, Stage4::Idle) { "was not begun" } else { "has not ended" };
                *state = other;
                drop(state);
                crate::debug::fail(here, format_args!("commit a command buffer that {what}."));
                None
            }
        }
    }
}

class! {
    COMMAND_BUFFER = "MTL4DebugCommandBuffer": NS_OBJECT, new CommandBuffer4, ["MTL4CommandBuffer"]
    refused {
        "renderCommandEncoderWithDescriptor:" "this device computes only: it has no render pipelines",
        "renderCommandEncoderWithDescriptor:options:" "this device computes only: it has no render pipelines",
        "machineLearningCommandEncoder" "this device has no machine learning encoders",
    }
    absent { "resolveCounterHeap:withRange:intoBuffer:waitFence:updateFence:", "writeTimestampIntoHeap:atIndex:", }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "beginCommandBufferWithAllocator:" (this, allocator: Id) { this.begin(HERE, allocator) }
        - "beginCommandBufferWithAllocator:options:" (this, allocator: Id, _options: Id) { this.begin(HERE, allocator) }
        - "endCommandBuffer" (this) {
            let mut state = lock(&this.state);
            let is_encoding = matches!(*state, Stage4::Begun { is_encoding: true, .. });
            forbid!(HERE, is_encoding, (), "endCommandBuffer with an encoder that is not ended");
            forbid!(HERE, !matches!(*state, Stage4::Begun { .. }), (), "the command buffer has not begun.");
            if let Stage4::Begun { allocator, parts, .. } = std::mem::replace(&mut *state, Stage4::Idle) {
                if let Some(allocator) = allocator.cast::<Allocator>() {
                    allocator.is_encoding.store(false, Ordering::Release);
                }
                *state = Stage4::Ended(parts);
            }
        }
        - "computeCommandEncoder" (this) -> Id {
            if this.set_encoding(HERE, true) { encoder::create(this).autorelease() } else { Id::NIL }
        }
        - "useResidencySet:" (_this, _set: Id) {}
        - "useResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
        - "pushDebugGroup:" (_this, _name: Id) {}
        - "popDebugGroup" (_this) {}
    }
}
