//! GPU queues: the committing thread encodes, and Metal's thread completes.
//!
//! ```text
//! submit ── MTLCommandBuffer: encoded, a completed handler added, committed ── returns
//!                                     └ later, on Metal's thread: times, error ── Submission::complete
//! ```
//!
//! Nothing leaks: Metal drops the handler after calling it; the handler owns the submission and no Metal object, and
//! gives the submission away when called. Command buffers retain their resources until then (Metal's default), and the
//! submission keeps the buffers' memory.

use super::capture::Capture;
use super::clock::Clock;
use super::device::Device;
use super::encode::Encoding;
use super::held::Held;
use super::{error, profile};
use crate::backend::{Outcome, Settings, Submission, Submit};
use crate::error::{Error, Result};
use block2::RcBlock;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLCommandBuffer, MTLCommandBufferDescriptor, MTLCommandBufferErrorOption, MTLCommandBufferStatus,
    MTLCommandQueue, MTLDevice,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) type Commands = ProtocolObject<dyn MTLCommandBuffer>;

/// A queue. Metal queues are thread-safe.
pub(crate) struct Queue {
    device: Arc<Device>,
    settings: Arc<Settings>,
    /// Declared before the queue, so that it is dropped first.
    capture: Capture,
    /// `None` if Metal could not create one.
    queue: Option<Held<ProtocolObject<dyn MTLCommandQueue>>>,
}

impl Queue {
    pub(crate) fn new(device: Arc<Device>, settings: Arc<Settings>) -> Queue {
        let queue = autoreleasepool(|_| device.raw().newCommandQueue().map(Held::new));
        let capture = Capture::new(&settings);
        Queue { device, settings, capture, queue }
    }

    fn submit_now(&self, submission: Submission) {
        let Some(queue) = &self.queue else {
            return submission.fail(Error::Internal(format!("{} has no command queue", self.device.name())));
        };
        let is_captured = self.capture.before_command_buffer(queue);
        let encoding = Encoding { device: &self.device, named: is_captured || self.settings.is_validating() };
        if submission.profiling() {
            profile::run(self, queue, encoding, submission);
        } else {
            self.run(queue, encoding, submission);
        }
        self.capture.after_command_buffer();
    }

    /// Encodes all work in one command buffer.
    fn run(&self, queue: &ProtocolObject<dyn MTLCommandQueue>, encoding: Encoding, submission: Submission) {
        let encoded = self.new_commands(queue, submission.label()).and_then(|commands| {
            encoding.work(&commands, submission.work())?;
            Ok(commands)
        });
        let commands = match encoded {
            Ok(commands) => commands,
            // An uncommitted command buffer is dropped and does not run.
            Err(error) => return submission.fail(error),
        };
        commit(&commands, move |commands| {
            let clock = Clock::now();
            let executed = executed(commands, submission.label(), None);
            let (start, end) = clock.gpu_times(commands);
            submission.complete(Outcome { executed, start, end, timings: Vec::new() });
        });
    }

    pub(super) fn new_commands(
        &self,
        queue: &ProtocolObject<dyn MTLCommandQueue>,
        label: Option<&str>,
    ) -> Result<Retained<Commands>> {
        let commands = if self.settings.is_validating() {
            let descriptor = MTLCommandBufferDescriptor::new();
            descriptor.setErrorOptions(MTLCommandBufferErrorOption::EncoderExecutionStatus);
            queue.commandBufferWithDescriptor(&descriptor)
        } else {
            queue.commandBuffer()
        };
        let commands = commands.ok_or_else(|| Error::Internal("Metal could not create a command buffer".into()))?;
        if let Some(label) = label {
            commands.setLabel(Some(&NSString::from_str(label)));
        }
        Ok(commands)
    }
}

impl Submit for Queue {
    fn submit(&self, submission: Submission) {
        autoreleasepool(|_| self.submit_now(submission));
    }
}

/// Calls `completed` once when Metal is done with the command buffer, and commits it.
pub(super) fn commit(commands: &Commands, completed: impl FnOnce(&Commands) + Send + 'static) {
    let completed = Mutex::new(Some(completed));
    let handler = RcBlock::new(move |commands: NonNull<Commands>| {
        let Some(completed) = lock(&completed).take() else { return };
        // SAFETY: Metal passes the command buffer, which lives during the call.
        let commands = unsafe { commands.as_ref() };
        // A panic must not unwind through Metal. A submission that is dropped by one completes with an error.
        let _ = catch_unwind(AssertUnwindSafe(|| autoreleasepool(|_| completed(commands))));
    });
    // SAFETY: the block is valid, and Metal copies it. Its contents are `Send`: Metal calls it on its own thread.
    unsafe { commands.addCompletedHandler(RcBlock::as_ptr(&handler)) };
    commands.commit();
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a completed command buffer.
pub(super) fn executed(commands: &Commands, label: Option<&str>, kernel: Option<&str>) -> Result<()> {
    match commands.error() {
        Some(failure) => Err(error::execution_error(label, kernel, &failure)),
        None if commands.status() == MTLCommandBufferStatus::Error => {
            Err(Error::Internal("a command buffer failed, and Metal reports no reason".into()))
        }
        None => Ok(()),
    }
}
