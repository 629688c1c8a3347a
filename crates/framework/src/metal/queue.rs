//! Command queues, and the order of command buffers that wait for events.
//!
//! Command buffers are committed to `compute` at once. When one waits for an event, it and those behind it are committed
//! by a thread, which does the waiting.

use super::commands::{self, Parts};
use super::descriptors::CommandBufferFields;
use super::device::Device;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::object::lock;
use crate::runtime::{Fields, Id, Object, Strong};
use std::collections::VecDeque;
use std::sync::Mutex;

/// A command queue.
pub(crate) struct Queue {
    pub(crate) device: Strong,
    pub(crate) queue: compute::CommandQueue,
    most: usize,
    label: Fields<Strong>,
    /// Command buffers that a thread commits; `None` if there is no such thread.
    behind: Mutex<Option<VecDeque<Parts>>>,
}

pub(crate) fn create(device: Object<Device>, most: usize) -> Strong {
    let queue = device.device.new_command_queue();
    Strong::new(Queue { device: device.strong(), queue, most, label: Fields::default(), behind: Mutex::new(None) })
}

/// Commits a command buffer, or leaves that to a thread.
pub(crate) fn commit(queue: Object<Queue>, parts: Parts) {
    let mut behind = lock(&queue.behind);
    match &mut *behind {
        Some(waiting) => waiting.push_back(parts),
        None if parts.waits() => {
            *behind = Some(VecDeque::from([parts]));
            let queue = queue.strong();
            std::thread::spawn(move || {
                if let Some(queue) = queue.cast::<Queue>() {
                    commit_those_behind(queue);
                }
            });
        }
        // Under the lock, so that the order stays.
        None => parts.commit(),
    }
}

fn commit_those_behind(queue: Object<Queue>) {
    loop {
        let parts = {
            let mut behind = lock(&queue.behind);
            match behind.as_mut().and_then(VecDeque::pop_front) {
                Some(parts) => parts,
                None => {
                    *behind = None;
                    return;
                }
            }
        };
        crate::runtime::pool::with(|| parts.commit());
    }
}

class! {
    COMMAND_QUEUE = "MTLDebugCommandQueue": NS_OBJECT, new Queue, ["MTLCommandQueue"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), Strong::retain(label));
        }
        - "maxCommandBufferCount" (this) -> usize { this.most }
        - "commandBuffer" (this) -> Id { commands::create(this, &CommandBufferFields::default()).autorelease() }
        - "commandBufferWithUnretainedReferences" (this) -> Id {
            let fields = CommandBufferFields { retains: false, ..CommandBufferFields::default() };
            commands::create(this, &fields).autorelease()
        }
        - "commandBufferWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<CommandBufferFields>>(HERE, "descriptor") else { return Id::NIL };
            let fields = fields.lock().clone();
            commands::create(this, &fields).autorelease()
        }
        - "insertDebugCaptureBoundary" (_this) {}
        - "addResidencySet:" (_this, _set: Id) {}
        - "addResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
        - "removeResidencySet:" (_this, _set: Id) {}
        - "removeResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
    }
}
