//! The parts of a command buffer: work of `compute`, with what must happen before and after it. Usually it is just one.
//!
//! A new part begins behind a signal of an event and before a wait for one, around an encoder whose times are sampled, and
//! around work that is deferred: a dispatch whose size is in a buffer is encoded when everything before it is completed.

use super::bindings::Bindings;
use super::buffer::Buffer;
use super::commands::{self, CommandBuffer};
use super::counters::Sample;
use super::event::{self, Event};
use super::log;
use crate::debug;
use crate::runtime::{Size3, Strong, pool};
use compute::Size;

/// Work, and what comes before and after it.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) waits: Vec<(Strong, u64)>,
    /// Work that is known when everything before it is completed.
    deferred: Option<Deferred>,
    pub(crate) work: compute::CommandBuffer,
    pub(crate) signals: Vec<(Strong, u64)>,
    /// Places for the times of the work.
    pub(crate) samples: Vec<Sample>,
}

/// Work that the host prepares or does between the device's.
#[derive(Clone)]
pub(crate) enum Deferred {
    Dispatch(Indirect),
    /// Sets bytes that are no whole words, which `compute` does not fill.
    Fill {
        buffer: Strong,
        range: std::ops::Range<usize>,
        value: u8,
    },
    /// Copies bytes that are no whole words, from a buffer and an offset to others.
    Copy {
        from: (Strong, usize),
        to: (Strong, usize),
        size: usize,
    },
}

impl Deferred {
    fn run(&self, work: &compute::CommandBuffer) {
        match self {
            Deferred::Dispatch(indirect) => {
                if let Err(problem) = indirect.encode(work) {
                    debug::fail(indirect.here, format_args!("{problem}"));
                }
            }
            Deferred::Fill { buffer, range, value } => {
                if let Some(buffer) = buffer.cast::<Buffer>() {
                    let start = buffer.buffer.contents().wrapping_add(range.start);
                    // SAFETY: the encoder checked that the range is inside the buffer.
                    unsafe { start.write_bytes(*value, range.len()) };
                }
            }
            Deferred::Copy { from, to, size } => {
                if let (Some(source), Some(destination)) = (from.0.cast::<Buffer>(), to.0.cast::<Buffer>()) {
                    let source = source.buffer.contents().wrapping_add(from.1);
                    // SAFETY: the encoder checked that both ranges are inside their buffers.
                    unsafe { destination.buffer.contents().wrapping_add(to.1).copy_from(source, *size) };
                }
            }
        }
    }
}

/// A dispatch whose number of threadgroups is in a buffer.
#[derive(Clone)]
pub(crate) struct Indirect {
    pub(crate) here: &'static str,
    pub(crate) bindings: Bindings,
    pub(crate) buffer: Strong,
    pub(crate) offset: usize,
    pub(crate) threads: Size3,
}

impl Indirect {
    fn encode(&self, work: &compute::CommandBuffer) -> compute::Result<()> {
        let Some(buffer) = self.buffer.cast::<Buffer>() else { return Ok(()) };
        let start = buffer.buffer.contents().wrapping_add(self.offset).cast::<[u32; 3]>();
        // SAFETY: the encoder checked that the numbers are inside the buffer.
        let [width, height, depth] = unsafe { start.read_unaligned() }.map(|count| count as usize);
        // Metal takes a grid without threadgroups for no dispatch.
        if width == 0 || height == 0 || depth == 0 {
            return Ok(());
        }
        let mut encoder = work.compute_command_encoder()?;
        self.bindings.apply(&mut encoder, [self.threads.width; 2])?;
        let threads = Size::new(self.threads.width, self.threads.height, self.threads.depth);
        let dispatched = encoder.dispatch_threadgroups(Size::new(width, height, depth), threads);
        encoder.end_encoding()?;
        dispatched
    }
}

impl Part {
    pub(crate) fn new(queue: &compute::CommandQueue) -> Part {
        Part {
            waits: Vec::new(),
            deferred: None,
            work: queue.new_command_buffer(),
            signals: Vec::new(),
            samples: Vec::new(),
        }
    }

    pub(crate) fn sampled(queue: &compute::CommandQueue, samples: Vec<Sample>) -> Part {
        Part { samples, ..Part::new(queue) }
    }

    pub(crate) fn deferred(queue: &compute::CommandQueue, deferred: Deferred) -> Part {
        Part { deferred: Some(deferred), ..Part::new(queue) }
    }
}

/// A command buffer on its way.
pub(crate) struct Parts {
    pub(crate) commands: Strong,
    pub(crate) parts: Vec<Part>,
}

impl Parts {
    /// True if something must be waited for.
    pub(crate) fn waits(&self) -> bool {
        self.parts.iter().any(|part| !part.waits.is_empty() || part.deferred.is_some())
    }

    /// Commits everything, and waits before.
    pub(crate) fn commit(self) {
        let last = self.parts.len() - 1;
        let log_state =
            self.commands.cast::<CommandBuffer>().map(|commands| commands.log_state()).unwrap_or_default();
        let mut before: Option<compute::CommandBuffer> = None;
        for (number, Part { waits, deferred, work, signals, samples }) in self.parts.into_iter().enumerate() {
            for (event, value) in waits {
                if let Some(event) = event.cast::<Event>() {
                    event.wait(value, None);
                }
            }
            if let Some(deferred) = deferred {
                if let Some(before) = before {
                    // Its error is that of the command buffer.
                    let _ = before.wait_until_completed();
                }
                deferred.run(&work);
            }
            let commands = (number == last).then(|| self.commands.clone());
            let handled = work.add_completed_handler(move |work| {
                pool::with(|| {
                    samples.iter().for_each(|sample| sample.take(work));
                    for (event, value) in &signals {
                        if let Some(event) = event.cast::<Event>() {
                            event::signal(event, *value);
                        }
                    }
                    if let Some(commands) = &commands {
                        commands::completed(commands);
                    }
                });
            });
            let handled = handled.and_then(|()| log::attach(&log_state, &work));
            if let Err(problem) = handled.and_then(|()| work.commit()) {
                debug::fail("-[MTLDebugCommandBuffer commit]", format_args!("{problem}"));
            }
            before = Some(work);
        }
        commands::submitted(&self.commands);
    }
}
