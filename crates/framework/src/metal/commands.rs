//! Command buffers.

use super::buffer::Buffer;
use super::counters::{self, Sample};
use super::descriptors::{BlitPassFields, CommandBufferFields, ComputePassFields};
use super::event::Event;
use super::parts::{Deferred, Part, Parts};
use super::queue::{self, Queue};
use super::{blit_encoder, compute_encoder, errors};
use crate::foundation::array::Items;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::process::nanoseconds;
use crate::foundation::{error, string};
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::lock;
use crate::runtime::{Fields, Id, Object, Strong};
use compute::{CommandBufferStatus, DispatchType};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// A command buffer.
pub(crate) struct CommandBuffer {
    pub(crate) queue: Strong,
    fields: CommandBufferFields,
    state: Mutex<State>,
    changed: Condvar,
    /// Gone with it, for buffers that it does not retain.
    life: Arc<()>,
}

struct State {
    label: Strong,
    stage: Stage,
    /// Work with the events around it. The last one is encoded to.
    parts: Vec<Part>,
    /// True while an encoder is open.
    is_encoding: bool,
    scheduled: Vec<Kept>,
    /// True while the handlers of the scheduling are called: those of the completion come after them.
    is_calling: bool,
    completed: Vec<Kept>,
    /// Labels of the encoders, for errors.
    encoders: Vec<Strong>,
    groups: usize,
    /// Its address, under which a turn of the queue is reserved.
    turn: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    New,
    Enqueued,
    Committed,
    /// Committed to `compute`, which knows the rest.
    Submitted,
}

/// Called when all parts were committed.
pub(crate) fn submitted(commands: &Strong) {
    if let Some(commands) = commands.cast::<CommandBuffer>() {
        lock(&commands.state).stage = Stage::Submitted;
        commands.changed.notify_all();
    }
}

/// Calls the handlers of a command buffer that is scheduled. The queue must not be locked: they may commit others.
pub(crate) fn scheduled(commands: &Strong) {
    let Some(commands) = commands.cast::<CommandBuffer>() else { return };
    let handlers = {
        let mut state = lock(&commands.state);
        state.is_calling |= !state.scheduled.is_empty();
        std::mem::take(&mut state.scheduled)
    };
    if handlers.is_empty() {
        return;
    }
    for handler in handlers {
        // SAFETY: the method takes blocks with this parameter.
        unsafe { handler.call1(commands.id()) };
    }
    lock(&commands.state).is_calling = false;
    commands.changed.notify_all();
}

/// Calls the handlers after the last part, which may be completed before the thread that commits it goes on.
pub(crate) fn completed(commands: &Strong) {
    submitted(commands);
    scheduled(commands);
    let Some(commands) = commands.cast::<CommandBuffer>() else { return };
    let handlers = {
        let state = commands.changed.wait_while(lock(&commands.state), |state| state.is_calling);
        std::mem::take(&mut state.unwrap_or_else(PoisonError::into_inner).completed)
    };
    for handler in handlers {
        // SAFETY: the method takes blocks with this parameter.
        unsafe { handler.call1(commands.id()) };
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        let (stage, own) = {
            let state = lock(&self.state);
            (state.stage, state.turn)
        };
        if let (Stage::Enqueued, Some(queue)) = (stage, self.queue.cast::<Queue>()) {
            queue::give_up(queue, own);
        }
    }
}

pub(crate) fn create(queue: Object<Queue>, fields: &CommandBufferFields) -> Strong {
    make(queue, fields, Stage::New, vec![Part::new(&queue.queue)], Vec::new())
}

/// One that is committed, with work that was encoded elsewhere. Metal 4 calls it a feedback.
pub(crate) fn committed(queue: Object<Queue>, parts: Vec<Part>, completed: Vec<Kept>) -> Strong {
    make(queue, &CommandBufferFields::default(), Stage::Committed, parts, completed)
}

fn make(
    queue: Object<Queue>,
    fields: &CommandBufferFields,
    stage: Stage,
    parts: Vec<Part>,
    completed: Vec<Kept>,
) -> Strong {
    let state = State {
        label: Strong::default(),
        stage,
        parts,
        is_encoding: false,
        scheduled: Vec::new(),
        is_calling: false,
        completed,
        encoders: Vec::new(),
        groups: 0,
        turn: 0,
    };
    let (queue, fields) = (queue.strong(), fields.clone());
    let (state, changed, life) = (Mutex::new(state), Condvar::new(), Arc::default());
    Strong::new(CommandBuffer { queue, fields, state, changed, life })
}

impl CommandBuffer {
    /// Begins an encoder: only one can be open. One with samples is a part of its own.
    fn begin(&self, here: &str, samples: Vec<Sample>) -> Option<compute::CommandBuffer> {
        let queue = self.queue.cast::<Queue>()?;
        let mut state = lock(&self.state);
        forbid!(here, state.stage >= Stage::Committed, None, "A committed command buffer cannot be encoded to.");
        forbid!(here, state.is_encoding, None, "A command encoder is already encoding to this command buffer");
        state.is_encoding = true;
        if !samples.is_empty() {
            state.parts.push(Part::sampled(&queue.queue, samples));
        }
        state.parts.last().map(|part| part.work.clone())
    }

    /// True if it does not retain the buffers that it uses. It then must not outlive this one.
    pub(crate) fn borrows(&self, buffer: &Buffer) -> bool {
        if !self.fields.retains
            && let Some(part) = lock(&self.state).parts.last()
        {
            buffer.lend(Arc::downgrade(&self.life), part.work.clone());
        }
        !self.fields.retains
    }

    /// Adds work of the open encoder that is known later; returns the work that goes on behind it.
    pub(crate) fn defer(&self, deferred: Deferred) -> Option<compute::CommandBuffer> {
        let queue = self.queue.cast::<Queue>()?;
        let mut state = lock(&self.state);
        // An encoder's samples begin with its first part, and end with its last.
        let samples = state.parts.last_mut().map(|part| Sample::split(&mut part.samples)).unwrap_or_default();
        state.parts.push(Part::deferred(&queue.queue, deferred));
        state.parts.push(Part::sampled(&queue.queue, samples));
        state.parts.last().map(|part| part.work.clone())
    }

    /// Ends the encoder.
    pub(crate) fn end(&self, label: Strong) {
        let mut state = lock(&self.state);
        state.is_encoding = false;
        state.encoders.push(label);
        let is_sampled = state.parts.last().is_some_and(|part| !part.samples.is_empty());
        if let (true, Some(queue)) = (is_sampled, self.queue.cast::<Queue>()) {
            state.parts.push(Part::new(&queue.queue));
        }
    }

    /// The log state of its messages: its own, or else that of the queue.
    pub(crate) fn log_state(&self) -> Strong {
        let own = self.fields.log_state.clone();
        match self.queue.cast::<Queue>() {
            Some(queue) if own.id().is_nil() => queue.log_state.clone(),
            _ => own,
        }
    }

    /// The parts of `compute` that have been committed.
    fn work(&self) -> Vec<compute::CommandBuffer> {
        lock(&self.state).parts.iter().map(|part| part.work.clone()).collect()
    }

    fn stage(&self) -> Stage {
        lock(&self.state).stage
    }

    fn status(&self) -> usize {
        match self.stage() {
            Stage::New => 0,
            Stage::Enqueued => 1,
            Stage::Committed => 2,
            Stage::Submitted => {
                let all: Vec<CommandBufferStatus> = self.work().iter().map(|work| work.status()).collect();
                match all.iter().all(|status| *status >= CommandBufferStatus::Completed) {
                    false => 3,
                    true if all.contains(&CommandBufferStatus::Error) => 5,
                    true => 4,
                }
            }
        }
    }

    /// Waits until a thread has submitted it.
    fn wait_until_submitted(&self) {
        let state = lock(&self.state);
        let is_behind = |state: &mut State| state.stage < Stage::Submitted;
        drop(self.changed.wait_while(state, is_behind).unwrap_or_else(PoisonError::into_inner));
    }

    fn wait(&self) {
        self.wait_until_submitted();
        for work in self.work() {
            // Its error is that of the command buffer.
            let _ = work.wait_until_completed();
        }
    }

    /// The first error of its parts.
    fn error(&self) -> Option<Strong> {
        let problem = self.work().iter().find_map(|work| work.error())?;
        let (code, text) = errors::of_commands(&problem);
        let mut details = vec![(Strong::retain(error::NSLocalizedDescriptionKey.id()), string::new(&text))];
        const ENCODER_STATUS: usize = 1;
        if self.fields.error_options & ENCODER_STATUS != 0 {
            // The part at fault is not known: all encoders are affected.
            let infos = lock(&self.state).encoders.clone();
            let infos = infos.into_iter().map(|label| Strong::new(errors::EncoderInfo { label })).collect();
            details.push((Strong::retain(errors::MTLCommandBufferEncoderInfoErrorKey.id()), Items::strong(infos)));
        }
        Some(error::with_details(errors::MTLCommandBufferErrorDomain.id(), code, details))
    }

    fn add_handler(&self, here: &str, block: Block, list: fn(&mut State) -> &mut Vec<Kept>) {
        let mut state = lock(&self.state);
        forbid!(
            here,
            state.stage >= Stage::Committed,
            (),
            "Handlers must be added before the command buffer is committed."
        );
        let Some(block) = Kept::new(block) else { return };
        list(&mut state).push(block);
    }
}

/// Seconds since the machine started.
fn seconds(instant: Option<Instant>) -> f64 {
    instant.map_or(0.0, |instant| nanoseconds(instant) as f64 * 1e-9)
}

fn device(this: &CommandBuffer) -> Id {
    this.queue.cast::<Queue>().map_or(Id::NIL, |queue| queue.device.id())
}

class! {
    COMMAND_BUFFER = "MTLDebugCommandBuffer": NS_OBJECT, new CommandBuffer,
        ["MTLCommandBuffer", "MTL4CommitFeedback"]
    refused {
        "renderCommandEncoderWithDescriptor:" "this device computes only: it has no render pipelines",
        "parallelRenderCommandEncoderWithDescriptor:" "this device computes only: it has no render pipelines",
        "presentDrawable:" "this device computes only: it has no drawables",
        "presentDrawable:atTime:" "this device computes only: it has no drawables",
        "presentDrawable:afterMinimumDuration:" "this device computes only: it has no drawables",
        "accelerationStructureCommandEncoder" "this device has no ray tracing (supportsRaytracing is NO)",
        "accelerationStructureCommandEncoderWithDescriptor:" "this device has no ray tracing (supportsRaytracing is NO)",
        "resourceStateCommandEncoder" "this device has no sparse resources",
        "resourceStateCommandEncoderWithDescriptor:" "this device has no sparse resources",
    }
    methods {
        - "device" (this) -> Id { device(&this) }
        - "commandQueue" (this) -> Id { this.queue.id() }
        - "retainedReferences" (this) -> bool { this.fields.retains }
        - "errorOptions" (this) -> usize { this.fields.error_options }
        - "label" (this) -> Id { lock(&this.state).label.clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut lock(&this.state).label, copied(label));
        }
        - "status" (this) -> usize { this.status() }
        - "error" (this) -> Id { this.error().map_or(Id::NIL, Strong::autorelease) }
        - "logs" (_this) -> Id { Items::strong(Vec::new()).autorelease() }
        - "kernelStartTime" (this) -> f64 { seconds(this.work().iter().find_map(|work| work.gpu_start_time())) }
        - "kernelEndTime" (this) -> f64 { seconds(this.work().iter().rev().find_map(|work| work.gpu_end_time())) }
        - "GPUStartTime" (this) -> f64 { seconds(this.work().iter().find_map(|work| work.gpu_start_time())) }
        - "GPUEndTime" (this) -> f64 { seconds(this.work().iter().rev().find_map(|work| work.gpu_end_time())) }

        - "enqueue" (this) {
            let mut state = lock(&this.state);
            forbid!(HERE, state.stage != Stage::New, (), "The command buffer has already been enqueued or committed.");
            (state.stage, state.turn) = (Stage::Enqueued, this.id().0.addr());
            if let Some(queue) = this.queue.cast::<Queue>() { queue::reserve(queue, this.id()) }
        }
        - "commit" (this) {
            let parts = {
                let mut state = lock(&this.state);
                forbid!(HERE, state.stage >= Stage::Committed, (), "commit an already committed command buffer");
                forbid!(HERE, state.is_encoding, (), "commit command buffer with uncommitted encoder");
                forbid!(HERE, state.groups > 0, (), "{} debug groups were pushed and not popped.", state.groups);
                state.stage = Stage::Committed;
                state.parts.clone()
            };
            if let Some(queue) = this.queue.cast::<Queue>() {
                queue::commit(queue, this.id(), Parts { commands: this.strong(), parts });
            }
        }
        - "waitUntilScheduled" (this) {
            forbid!(HERE, this.stage() < Stage::Committed, (), "waitUntilScheduled before the command buffer is committed");
            this.wait_until_submitted();
        }
        - "waitUntilCompleted" (this) {
            forbid!(HERE, this.stage() < Stage::Committed, (), "waitUntilCompleted before the command buffer is committed");
            this.wait();
        }
        - "addScheduledHandler:" (this, block: Block) { this.add_handler(HERE, block, |state| &mut state.scheduled) }
        - "addCompletedHandler:" (this, block: Block) { this.add_handler(HERE, block, |state| &mut state.completed) }

        - "computeCommandEncoder" (this) -> Id {
            let Some(work) = this.begin(HERE, Vec::new()) else { return Id::NIL };
            compute_encoder::create(this, &work, DispatchType::Serial, HERE).map_or(Id::NIL, Strong::autorelease)
        }
        - "computeCommandEncoderWithDispatchType:" (this, dispatch_type: usize) -> Id {
            let Some(work) = this.begin(HERE, Vec::new()) else { return Id::NIL };
            compute_encoder::create(this, &work, dispatches(dispatch_type), HERE).map_or(Id::NIL, Strong::autorelease)
        }
        - "computeCommandEncoderWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<ComputePassFields>>(HERE, "descriptor") else { return Id::NIL };
            let ComputePassFields { dispatch_type, samples } = fields.lock().clone();
            let dispatch_type = dispatches(dispatch_type);
            let Some(samples) = counters::samples(&samples, HERE) else { return Id::NIL };
            let Some(work) = this.begin(HERE, samples) else { return Id::NIL };
            compute_encoder::create(this, &work, dispatch_type, HERE).map_or(Id::NIL, Strong::autorelease)
        }
        - "blitCommandEncoder" (this) -> Id {
            let Some(work) = this.begin(HERE, Vec::new()) else { return Id::NIL };
            blit_encoder::create(this, work).autorelease()
        }
        - "blitCommandEncoderWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<BlitPassFields>>(HERE, "descriptor") else { return Id::NIL };
            let samples = fields.lock().samples.clone();
            let Some(samples) = counters::samples(&samples, HERE) else { return Id::NIL };
            let Some(work) = this.begin(HERE, samples) else { return Id::NIL };
            blit_encoder::create(this, work).autorelease()
        }
        - "encodeSignalEvent:value:" (this, event: Id, value: u64) {
            let Some(event) = event.expect::<Event>(HERE, "event") else { return };
            let Some(queue) = this.queue.cast::<Queue>() else { return };
            let mut state = lock(&this.state);
            forbid!(HERE, state.is_encoding, (), "encodeSignalEvent:value: with uncommitted encoder");
            forbid!(HERE, state.stage >= Stage::Committed, (), "A committed command buffer cannot be encoded to.");
            if let Some(part) = state.parts.last_mut() { part.signals.push((event.strong(), value)) }
            state.parts.push(Part::new(&queue.queue));
        }
        - "encodeWaitForEvent:value:" (this, event: Id, value: u64) {
            let Some(event) = event.expect::<Event>(HERE, "event") else { return };
            let Some(queue) = this.queue.cast::<Queue>() else { return };
            let mut state = lock(&this.state);
            forbid!(HERE, state.is_encoding, (), "encodeWaitForEvent:value: with uncommitted encoder");
            forbid!(HERE, state.stage >= Stage::Committed, (), "A committed command buffer cannot be encoded to.");
            let mut part = Part::new(&queue.queue);
            part.waits.push((event.strong(), value));
            state.parts.push(part);
        }
        - "useResidencySet:" (_this, _set: Id) {}
        - "useResidencySets:count:" (_this, _sets: *const Id, _count: usize) {}
        - "pushDebugGroup:" (this, _name: Id) { lock(&this.state).groups += 1 }
        - "popDebugGroup" (this) {
            let mut state = lock(&this.state);
            forbid!(HERE, state.groups == 0, (), "popDebugGroup without a matching pushDebugGroup:.");
            state.groups -= 1;
        }
    }
}

/// `MTLDispatchType`
fn dispatches(number: usize) -> DispatchType {
    if number == 1 { DispatchType::Concurrent } else { DispatchType::Serial }
}
