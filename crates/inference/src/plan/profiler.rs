//! Profiles of a plan's command buffers.
//!
//! Encoding notes the work of each replayed dispatch. When the command buffer has completed, its times are added to it.

use super::Plan;
use crate::profile::{DispatchWork, Phase, Profile, TimedDispatch};
use compute::{CommandBuffer, CommandBufferDescriptor};
use std::time::{Duration, Instant};

/// State of a plan that is profiled.
#[derive(Default)]
pub(super) struct Profiler {
    profile: Profile,
    /// Work of the dispatches of the command buffer that is being encoded.
    encoded: Vec<EncodedWork>,
    /// Phase of the step that is being encoded.
    phase: Option<Phase>,
}

/// Work of a dispatch in a command buffer.
pub(super) struct EncodedWork {
    work: Option<DispatchWork>,
    phase: Phase,
}

impl Profiler {
    /// Begins a step that evaluates this many tokens.
    pub(super) fn begin_step(&mut self, tokens: usize) {
        self.phase = Some(if tokens > 1 { Phase::Prompt } else { Phase::Decode });
    }

    /// Adds the work of dispatches that evaluate this many tokens.
    pub(super) fn encode(&mut self, works: Vec<Option<DispatchWork>>, tokens: usize) {
        let phase = self.phase.unwrap_or(Phase::Decode);
        self.profile.phase(phase).tokens += tokens;
        self.encoded.extend(works.into_iter().map(|work| EncodedWork { work, phase }));
    }

    /// The work of the command buffer that was encoded.
    fn take_encoded(&mut self) -> Vec<EncodedWork> {
        std::mem::take(&mut self.encoded)
    }

    /// Adds command buffers that have completed, in order. They took `time`, from encoding the first to the end of the
    /// last.
    fn complete(&mut self, command_buffers: Vec<ProfiledBuffer>, time: Duration) {
        let (mut busy, mut last): (Duration, Option<Instant>) = (Duration::ZERO, None);
        let mut phase = None;
        for ProfiledBuffer { command_buffer, encoded } in command_buffers {
            let times = command_buffer.gpu_start_time().zip(command_buffer.gpu_end_time());
            let Some((start, end)) = times else { continue };
            // Command buffers of a queue may overlap at their ends.
            let start = last.map_or(start, |last| last.max(start));
            busy += end.saturating_duration_since(start);
            last = Some(last.map_or(end, |last| last.max(end)));
            phase = encoded.last().map(|encoded| encoded.phase).or(phase);
            let timings = command_buffer.dispatch_timings();
            let dispatches = timings.into_iter().zip(encoded).map(|(timing, encoded)| TimedDispatch {
                kernel: timing.kernel,
                start: timing.start,
                end: timing.end,
                work: encoded.work,
                phase: encoded.phase,
            });
            self.profile.add(start, end, dispatches.collect());
        }
        if let Some(phase) = phase {
            self.profile.add_host_time(phase, time.saturating_sub(busy));
        }
    }
}

/// A command buffer, and the work of its dispatches.
pub(super) struct ProfiledBuffer {
    command_buffer: CommandBuffer,
    encoded: Vec<EncodedWork>,
}

impl Plan {
    /// Turns profiling on or off. It begins with an empty profile, and costs some time for each dispatch.
    pub fn set_profiling(&mut self, on: bool) {
        self.profiler = on.then(Box::default);
    }

    /// The profile since the last call, if profiling is on.
    pub fn take_profile(&mut self) -> Option<Profile> {
        Some(std::mem::take(&mut self.profiler.as_mut()?.profile))
    }

    /// A command buffer that records times if profiling is on.
    pub(super) fn command_buffer(&self) -> CommandBuffer {
        let descriptor =
            CommandBufferDescriptor { profiling: self.profiler.is_some(), ..CommandBufferDescriptor::default() };
        self.device.queue().new_command_buffer_with_descriptor(&descriptor)
    }

    /// Begins a step that evaluates the pending tokens, or the last one.
    pub(super) fn begin_step(&mut self) {
        let tokens = self.pending().max(1);
        if let Some(profiler) = &mut self.profiler {
            profiler.begin_step(tokens);
        }
    }

    /// A committed command buffer with its work.
    pub(super) fn profiled(&mut self, command_buffer: &CommandBuffer) -> Option<ProfiledBuffer> {
        let profiler = self.profiler.as_mut()?;
        Some(ProfiledBuffer { command_buffer: command_buffer.clone(), encoded: profiler.take_encoded() })
    }

    /// Adds completed command buffers to the profile.
    pub(super) fn add_to_profile(&mut self, command_buffers: Vec<ProfiledBuffer>, since: Instant) {
        if let Some(profiler) = &mut self.profiler {
            profiler.complete(command_buffers, since.elapsed());
        }
    }
}
