//! Command queues, and the order of command buffers.
//!
//! Command buffers are committed to `compute` in the order in which they were enqueued, or committed without that. One that
//! was enqueued and is not committed yet holds up those behind it. When one waits for something, a thread commits it and
//! those behind it, and does the waiting.

use super::commands;
use super::descriptors::{CommandBufferFields, QueueFields};
use super::device::Device;
use super::parts::Parts;
use super::residency::ResidencySet;
use crate::foundation::copied;
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
    /// Takes messages of command buffers that have no log state of their own.
    pub(crate) log_state: Strong,
    label: Fields<Strong>,
    order: Mutex<Order>,
}

/// Command buffers that are not submitted yet.
#[derive(Default)]
struct Order {
    turns: VecDeque<Turn>,
    /// True while a thread submits them.
    has_thread: bool,
}

enum Turn {
    /// Enqueued and not committed: the address of the command buffer.
    Reserved(usize),
    Ready(Parts),
}

pub(crate) fn create(device: Object<Device>, fields: QueueFields) -> Strong {
    let QueueFields { most, log_state } = fields;
    let queue = device.device.new_command_queue();
    let (label, order) = (Fields::default(), Mutex::default());
    Strong::new(Queue { device: device.strong(), queue, most, log_state, label, order })
}

/// Reserves the next turn for a command buffer.
pub(crate) fn reserve(queue: Object<Queue>, commands: Id) {
    lock(&queue.order).turns.push_back(Turn::Reserved(commands.0.addr()));
}

/// Gives up the turn of a command buffer that is released without being committed.
pub(crate) fn give_up(queue: Object<Queue>, commands: usize) {
    let submitted = {
        let mut order = lock(&queue.order);
        order.turns.retain(|turn| !matches!(turn, Turn::Reserved(own) if *own == commands));
        submit(queue, &mut order)
    };
    submitted.iter().for_each(commands::scheduled);
}

/// Submits a command buffer when it is its turn.
pub(crate) fn commit(queue: Object<Queue>, commands: Id, parts: Parts) {
    let submitted = {
        let mut order = lock(&queue.order);
        let is_own = |turn: &&mut Turn| matches!(turn, Turn::Reserved(own) if *own == commands.0.addr());
        match order.turns.iter_mut().find(is_own) {
            Some(turn) => *turn = Turn::Ready(parts),
            None => order.turns.push_back(Turn::Ready(parts)),
        }
        submit(queue, &mut order)
    };
    submitted.iter().for_each(commands::scheduled);
}

/// Submits all that are ready, under the lock, so that the order stays; returns them. What waits is left to a thread.
fn submit(queue: Object<Queue>, order: &mut Order) -> Vec<Strong> {
    let mut submitted = Vec::new();
    while !order.has_thread && matches!(order.turns.front(), Some(Turn::Ready(_))) {
        if let Some(Turn::Ready(parts)) = order.turns.front()
            && parts.waits()
        {
            order.has_thread = true;
            let queue = queue.strong();
            std::thread::spawn(move || {
                if let Some(queue) = queue.cast::<Queue>() {
                    submit_on_thread(queue);
                }
            });
        } else if let Some(Turn::Ready(parts)) = order.turns.pop_front() {
            submitted.push(parts.commands.clone());
            parts.commit();
        }
    }
    submitted
}

fn submit_on_thread(queue: Object<Queue>) {
    loop {
        let parts = {
            let mut order = lock(&queue.order);
            match order.turns.pop_front() {
                Some(Turn::Ready(parts)) => parts,
                other => {
                    // A turn that is reserved stays the first.
                    other.into_iter().for_each(|turn| order.turns.push_front(turn));
                    order.has_thread = false;
                    return;
                }
            }
        };
        crate::runtime::pool::with(|| {
            let commands = parts.commands.clone();
            parts.commit();
            commands::scheduled(&commands);
        });
    }
}

class! {
    COMMAND_QUEUE = "MTLDebugCommandQueue": NS_OBJECT, new Queue, ["MTLCommandQueue"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
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
        - "addResidencySet:" (_this, set: Id) { set.expect::<ResidencySet>(HERE, "residencySet"); }
        - "addResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
        - "removeResidencySet:" (_this, set: Id) { set.expect::<ResidencySet>(HERE, "residencySet"); }
        - "removeResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
    }
}
