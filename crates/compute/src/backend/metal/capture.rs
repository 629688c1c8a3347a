//! GPU captures for Xcode: `METALWORKS_CAPTURE=trace.gputrace` and `METALWORKS_CAPTURE_COMMAND_BUFFERS`.
//!
//! The first queue that gets work is captured. Metal captures only in processes started with `MTL_CAPTURE_ENABLED=1`.

use super::error::driver_error;
use crate::backend::{CaptureSettings, Settings};
use crate::log;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSString, NSURL};
use objc2_metal::{MTLCaptureDescriptor, MTLCaptureDestination, MTLCaptureManager, MTLCommandQueue};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A process has one capture at most.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Capture state of a queue.
pub(crate) struct Capture {
    /// `None` if captures are off, which makes the check free.
    state: Option<Mutex<CaptureState>>,
}

enum CaptureState {
    Waiting(CaptureSettings),
    Running {
        settings: CaptureSettings,
        /// Command buffers left to capture.
        left: usize,
    },
    Over,
}

impl Capture {
    pub(crate) fn new(settings: &Settings) -> Capture {
        Capture { state: settings.capture().map(|settings| Mutex::new(CaptureState::Waiting(settings.clone()))) }
    }

    fn state(&self) -> Option<MutexGuard<'_, CaptureState>> {
        self.state.as_ref().map(|state| state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts the capture if needed; returns true if the next command buffer is captured.
    pub(crate) fn before_command_buffer(&self, queue: &ProtocolObject<dyn MTLCommandQueue>) -> bool {
        let Some(mut state) = self.state() else { return false };
        if let CaptureState::Waiting(settings) = &*state {
            let started = !IS_TAKEN.swap(true, Ordering::AcqRel) && start(settings, queue);
            *state = match started {
                true => CaptureState::Running { settings: settings.clone(), left: settings.command_buffers },
                false => CaptureState::Over,
            };
        }
        matches!(*state, CaptureState::Running { .. })
    }

    /// Counts a committed command buffer, and stops the capture after the last one. Metal captures work committed
    /// before the stop.
    pub(crate) fn after_command_buffer(&self) {
        let Some(mut state) = self.state() else { return };
        if let CaptureState::Running { settings, left } = &mut *state {
            *left -= 1;
            if *left == 0 {
                stop(settings, 0);
                *state = CaptureState::Over;
            }
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Stop early if there were fewer command buffers than requested, or no file is written.
        if let Some(state) = self.state()
            && let CaptureState::Running { settings, left } = &*state
        {
            stop(settings, *left);
        }
    }
}

fn start(settings: &CaptureSettings, queue: &ProtocolObject<dyn MTLCommandQueue>) -> bool {
    let path = settings.path.display();
    // SAFETY: the call has no preconditions.
    let manager = unsafe { MTLCaptureManager::sharedCaptureManager() };
    if !manager.supportsDestination(MTLCaptureDestination::GPUTraceDocument) {
        log::line(format_args!("METALWORKS_CAPTURE: nothing is captured; set MTL_CAPTURE_ENABLED=1, too"));
        return false;
    }
    let descriptor = MTLCaptureDescriptor::new();
    descriptor.set_capture_command_queue(queue);
    descriptor.setDestination(MTLCaptureDestination::GPUTraceDocument);
    descriptor.setOutputURL(Some(&NSURL::fileURLWithPath(&NSString::from_str(&settings.path.to_string_lossy()))));
    match manager.startCaptureWithDescriptor_error(&descriptor) {
        Ok(()) => true,
        Err(failure) => {
            let error = driver_error(format!("METALWORKS_CAPTURE: nothing is captured to '{path}'"), &failure);
            log::line(format_args!("{error}"));
            false
        }
    }
}

fn stop(settings: &CaptureSettings, left: usize) {
    // SAFETY: the call has no preconditions.
    autoreleasepool(|_| unsafe { MTLCaptureManager::sharedCaptureManager() }.stopCapture());
    let (count, path) = (settings.command_buffers - left, settings.path.display());
    log::line(format_args!("captured {count} command buffers to '{path}'; open it with Xcode"));
}
