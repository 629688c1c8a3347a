//! Command queues, and the options of a commit.

use super::commands::CommandBuffer4;
use crate::foundation::object::NS_OBJECT;
use crate::metal::commands;
use crate::metal::device::Device;
use crate::metal::event::Event;
use crate::metal::parts::{Part, Parts};
use crate::metal::queue::{self, Queue};
use crate::metal::residency::objects;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Copied, Fields, Id, Object, Strong};
use std::ffi::c_void;

#[derive(Clone, Default)]
pub(crate) struct Queue4Fields {
    pub(crate) label: Strong,
    feedback: Strong,
}

class! {
    COMMAND_QUEUE_DESCRIPTOR = "MTL4CommandQueueDescriptor": NS_OBJECT, default Fields<Queue4Fields>, ["NSCopying"]
    properties {
        "label" "setLabel:" label: Copied,
        "feedbackQueue" "setFeedbackQueue:" feedback: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}

/// Handlers for the end of work.
#[derive(Default)]
pub(crate) struct CommitFields {
    handlers: Vec<Kept>,
}

class! {
    COMMIT_OPTIONS = "MTL4CommitOptions": NS_OBJECT, default Fields<CommitFields>, []
    methods {
        - "addFeedbackHandler:" (this, block: Block) { this.lock().handlers.extend(Kept::new(block)) }
    }
}

/// A command queue.
pub(crate) struct Queue4 {
    device: Strong,
    label: Strong,
}

pub(crate) fn create(device: Object<Device>, label: Strong) -> Strong {
    Strong::new(Queue4 { device: device.strong(), label })
}

impl Queue4 {
    fn queue(&self) -> Option<Object<Queue>> {
        self.device.cast::<Device>()?.queue4().cast::<Queue>()
    }

    /// Commits parts, and calls the handlers behind them with an object that has the times and the error.
    fn submit(&self, parts: Vec<Part>, handlers: Vec<Kept>) {
        if let (Some(queue), false) = (self.queue(), parts.is_empty()) {
            let commands = commands::committed(queue, parts.clone(), handlers);
            queue::commit(queue, commands.id(), Parts { commands, parts });
        }
    }

    fn commit(&self, here: &str, buffers: &[Id], handlers: Vec<Kept>) {
        let mut all = Vec::new();
        for buffer in buffers {
            let Some(buffer) = buffer.expect::<CommandBuffer4>(here, "commandBuffer") else { return };
            let Some(parts) = buffer.take(here) else { return };
            all.extend(parts);
        }
        self.submit(all, handlers);
    }

    /// A part without work.
    fn part(&self) -> Option<Part> {
        self.queue().map(|queue| Part::new(&queue.queue))
    }
}

class! {
    COMMAND_QUEUE = "MTL4DebugCommandQueue": NS_OBJECT, new Queue4, ["MTL4CommandQueue"]
    refused {
        "signalDrawable:" "this device computes only: it has no drawables",
        "waitForDrawable:" "this device computes only: it has no drawables",
    }
    absent {
        "copyBufferMappingsFromBuffer:toBuffer:operations:count:", "copyTextureMappingsFromTexture:toTexture:operations:count:",
        "updateBufferMappings:heap:operations:count:", "updateTextureMappings:heap:operations:count:",
    }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.id() }
        - "commit:count:" (this, buffers: *const Id, count: usize) { this.commit(HERE, objects(buffers, count), Vec::new()) }
        - "commit:count:options:" (this, buffers: *const Id, count: usize, options: Id) {
            let options = options.cast::<Fields<CommitFields>>();
            let handlers = options.map(|options| std::mem::take(&mut options.lock().handlers)).unwrap_or_default();
            this.commit(HERE, objects(buffers, count), handlers);
        }
        - "signalEvent:value:" (this, event: Id, value: u64) {
            let (Some(event), Some(mut part)) = (event.expect::<Event>(HERE, "event"), this.part()) else { return };
            part.signals.push((event.strong(), value));
            this.submit(vec![part], Vec::new());
        }
        - "waitForEvent:value:" (this, event: Id, value: u64) {
            let (Some(event), Some(mut part)) = (event.expect::<Event>(HERE, "event"), this.part()) else { return };
            part.waits.push((event.strong(), value));
            this.submit(vec![part], Vec::new());
        }
        - "addResidencySet:" (_this, _set: Id) {}
        - "addResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
        - "removeResidencySet:" (_this, _set: Id) {}
        - "removeResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
    }
}
