//! Messages of kernels: generated code hands over those of a simdgroup at once.

mod format;

use super::fault::ThreadRecord;
use super::grid::Grid;
use crate::finding::ThreadPosition;
use crate::message::{LogHandler, LogLevel, LogMessage};
use abi::{LANES, Threadgroup};
use format::Format;
use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most messages of an execution.
const MOST_MESSAGES: usize = 10_000;

/// The longest text that is read from a kernel's constants.
const MOST_TEXT: usize = 4096;

/// The handler of a device.
#[derive(Default)]
pub(crate) struct LogSettings {
    handler: Mutex<Option<LogHandler>>,
}

impl LogSettings {
    pub(crate) fn set_handler(&self, handler: Option<LogHandler>) {
        *self.handler.lock().unwrap_or_else(PoisonError::into_inner) = handler;
    }

    /// Collects messages for the handler of a command buffer, or else for the device's, if there is one.
    pub(crate) fn begin(&self, own: Option<&LogHandler>) -> Option<Messages> {
        let of_device = || self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let handler = own.cloned().or_else(of_device)?;
        Some(Messages { handler, list: Mutex::default(), count: AtomicUsize::new(0) })
    }
}

/// The messages of an execution.
pub(crate) struct Messages {
    handler: LogHandler,
    /// Messages with their dispatch.
    list: Mutex<Vec<(usize, LogMessage)>>,
    /// Number of all messages, those that were dropped included.
    count: AtomicUsize,
}

impl Messages {
    /// Hands all messages to the handler: by dispatch, threadgroup and thread, those of a thread in their order.
    pub(crate) fn deliver(&self) {
        let mut list = std::mem::take(&mut *self.list.lock().unwrap_or_else(PoisonError::into_inner));
        let in_order = |[x, y, z]: [u32; 3]| [z, y, x];
        list.sort_by_key(|(number, message)| {
            (*number, in_order(message.thread.threadgroup), in_order(message.thread.thread))
        });
        for (_, message) in &list {
            (self.handler)(message);
        }
        let dropped = self.count.load(Ordering::Relaxed).saturating_sub(list.len());
        if let (Some((_, last)), 1..) = (list.last(), dropped) {
            let text = format!("{dropped} more messages were dropped");
            (self.handler)(&LogMessage { level: LogLevel::Notice, text, location: None, ..last.clone() });
        }
    }
}

/// The state behind [`Threadgroup::log_context`].
pub(crate) struct MessageContext<'a> {
    pub(crate) messages: &'a Messages,
    pub(crate) grid: &'a Grid,
    /// The number of the dispatch.
    pub(crate) number: usize,
    pub(crate) record: &'a ThreadRecord,
}

/// Drops messages: nobody takes them.
#[allow(clippy::too_many_arguments, reason = "generated code calls it")]
pub(crate) unsafe extern "C" fn ignore(
    _: *const Threadgroup,
    _: u32,
    _: u32,
    _: u32,
    _: *const c_char,
    _: *const c_char,
    _: *const c_char,
    _: u32,
    _: *const [u32; LANES],
    _: u32,
) {
}

/// Takes messages of a simdgroup.
///
/// # Safety
///
/// Only for generated code, of threadgroups whose context is a [`MessageContext`].
#[allow(clippy::too_many_arguments, reason = "generated code calls it")]
pub(crate) unsafe extern "C" fn take(
    threadgroup: *const Threadgroup,
    simdgroup: u32,
    mask: u32,
    level: u32,
    subsystem: *const c_char,
    category: *const c_char,
    format: *const c_char,
    site: u32,
    words: *const [u32; LANES],
    count: u32,
) {
    // SAFETY: as the caller promises; generated code passes `count` arrays.
    let (threadgroup, context, words) = unsafe {
        let threadgroup = &*threadgroup;
        let context = &*threadgroup.log_context.cast::<MessageContext<'_>>();
        (threadgroup, context, std::slice::from_raw_parts(words, count as usize))
    };
    context.record.outside(|| {
        let messages = context.messages;
        let new = mask.count_ones() as usize;
        if messages.count.fetch_add(new, Ordering::Relaxed) >= MOST_MESSAGES {
            return;
        }
        let text = |address: *const c_char| context.text(address.addr() as u64).unwrap_or_default();
        let site = context.grid.messages().and_then(|sites| sites.get(site as usize));
        let types = site.map_or("", |site| site.instruction.as_str());
        let format = text(format);
        let format = Format { text: &format, types, constant: &|address| context.text(address) };
        let [width, height, _] = threadgroup.size;
        let message = |lane: u32| {
            let thread = simdgroup * LANES as u32 + lane;
            let words: Vec<u32> = words.iter().map(|lanes| lanes[lane as usize]).collect();
            LogMessage {
                level: LogLevel::of(level),
                subsystem: text(subsystem),
                category: text(category),
                text: format.with(&words),
                kernel: context.grid.kernel().to_string(),
                location: site.and_then(|site| site.locations.first().cloned()),
                thread: ThreadPosition {
                    threadgroup: threadgroup.position,
                    thread: [thread % width, thread / width % height, thread / (width * height)],
                    simdgroup,
                    lane,
                },
            }
        };
        let lanes = (0..LANES as u32).filter(|lane| mask >> lane & 1 == 1);
        let new: Vec<_> = lanes.map(|lane| (context.number, message(lane))).collect();
        messages.list.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
    });
}

impl MessageContext<'_> {
    /// A text among the kernel's constants; `None` for other addresses.
    fn text(&self, address: u64) -> Option<String> {
        let address = usize::try_from(address).ok()?;
        let image = self.grid.addresses().into_iter().find(|image| image.contains(&address))?;
        let most = (image.end - address).min(MOST_TEXT);
        // SAFETY: the range is in the image of the kernel, which is readable and lives as long as the grid.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), most) };
        let end = bytes.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}
