//! Counters: the times at which encoders begin and end, as Apple's GPUs sample them.

use super::descriptors::CounterFields;
use super::device::{Device, failed};
use super::errors::{self, MTLCommonCounterSetTimestamp, MTLCommonCounterTimestamp};
use crate::foundation;
use crate::foundation::array::Items;
use crate::foundation::data::Bytes;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::process::nanoseconds;
use crate::runtime::{Fields, Id, Object, Range, Strong};
use std::time::Instant;

/// `MTLCounterDontSample`
const DONT_SAMPLE: usize = usize::MAX;
/// The value of a sample that was not taken.
const MISSING: u64 = u64::MAX;
/// The most bytes of a sample buffer, as on Apple's GPUs.
const MOST: usize = 32768;

/// A kind of sample: there is one.
pub(crate) struct Counter;

class! {
    COUNTER = "MTLDebugCounter": NS_OBJECT, new Counter, ["MTLCounter"]
    methods {
        - "name" (_this) -> Id { MTLCommonCounterTimestamp.id() }
    }
}

/// The set of counters: times.
pub(crate) struct CounterSet;

class! {
    COUNTER_SET = "MTLDebugCounterSet": NS_OBJECT, new CounterSet, ["MTLCounterSet"]
    methods {
        - "name" (_this) -> Id { MTLCommonCounterSetTimestamp.id() }
        - "counters" (_this) -> Id { Items::strong(vec![Strong::new(Counter)]).autorelease() }
    }
}

/// All sets of the device.
pub(crate) fn sets() -> Strong {
    Items::strong(vec![Strong::new(CounterSet)])
}

/// A buffer for samples.
pub(crate) struct SampleBuffer {
    device: Strong,
    label: Strong,
    times: Fields<Vec<u64>>,
}

/// A new buffer; nil with an error for a descriptor that asks for too much.
pub(crate) fn create(device: Object<Device>, here: &str, descriptor: &CounterFields, error: *mut Id) -> Id {
    let CounterFields { set, label, samples, .. } = descriptor;
    forbid!(
        here,
        set.cast::<CounterSet>().is_none(),
        Id::NIL,
        "counterSet must be one of the device's counterSets."
    );
    forbid!(here, *samples == 0, Id::NIL, "sampleCount must be greater than 0.");
    if samples.checked_mul(8).is_none_or(|bytes| bytes > MOST) {
        let text = format!("a sample buffer has at most {MOST} bytes, and {samples} samples have more");
        return failed(errors::refused(&errors::MTLCounterErrorDomain, &text), error);
    }
    let (device, label) = (device.strong(), label.clone());
    Strong::new(SampleBuffer { device, label, times: Fields::new(vec![MISSING; *samples]) }).into_id()
}

class! {
    COUNTER_SAMPLE_BUFFER = "MTLDebugCounterSampleBuffer": NS_OBJECT, new SampleBuffer, ["MTLCounterSampleBuffer"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.id() }
        - "sampleCount" (this) -> usize { this.times.lock().len() }
        - "resolveCounterRange:" (this, range: Range) -> Id {
            let times = this.times.lock();
            let end = range.location.checked_add(range.length).filter(|end| *end <= times.len());
            forbid!(HERE, end.is_none(), Id::NIL, "{range:?} must be inside the buffer, of {} samples.", times.len());
            let bytes: Vec<u8> = times[range.location..end.unwrap_or(0)].iter().flat_map(|time| time.to_ne_bytes()).collect();
            Strong::new(Bytes::owned(bytes)).autorelease()
        }
    }
}

/// Samples of one encoder.
#[derive(Clone)]
pub(crate) struct Sample {
    buffer: Strong,
    start: usize,
    end: usize,
}

impl Sample {
    /// Divides the samples of an encoder that has several parts: the first one keeps the beginning.
    pub(crate) fn split(samples: &mut [Sample]) -> Vec<Sample> {
        let last = samples.iter().map(|sample| Sample { start: DONT_SAMPLE, ..sample.clone() }).collect();
        samples.iter_mut().for_each(|sample| sample.end = DONT_SAMPLE);
        last
    }

    /// Stores the times of work that is completed.
    pub(crate) fn take(&self, work: &compute::CommandBuffer) {
        let Some(buffer) = self.buffer.cast::<SampleBuffer>() else { return };
        let mut times = buffer.times.lock();
        for (index, instant) in [(self.start, work.gpu_start_time()), (self.end, work.gpu_end_time())] {
            if let Some(time) = times.get_mut(index) {
                *time = nanoseconds(instant.unwrap_or_else(Instant::now));
            }
        }
    }
}

/// The request of a pass for samples.
#[derive(Clone)]
pub(crate) struct AttachmentFields {
    buffer: Strong,
    start: usize,
    end: usize,
}

impl Default for AttachmentFields {
    fn default() -> AttachmentFields {
        AttachmentFields { buffer: Strong::default(), start: DONT_SAMPLE, end: DONT_SAMPLE }
    }
}

/// The requests of a pass, up to four.
#[derive(Default)]
pub(crate) struct Attachments {
    attachments: Vec<Strong>,
}

const ATTACHMENTS: usize = 4;

/// A copy of the requests of a pass; nil for nil.
pub(crate) fn copied(of: &Strong) -> Strong {
    let Some((own, class)) = of.cast::<Fields<Attachments>>().zip(of.id().class()) else {
        return Strong::default();
    };
    let attachments = own.lock().attachments.clone();
    let attachments = attachments.iter().map(|attachment| foundation::copied(attachment.id())).collect();
    Strong::owned(Object::<Fields<Attachments>>::allocate(class).set(Fields::new(Attachments { attachments })))
}

fn attachment(own: &Fields<Attachments>, index: usize) -> Option<Strong> {
    let own = &mut own.lock().attachments;
    while own.len() < ATTACHMENTS {
        own.push(Strong::new(Fields::<AttachmentFields>::default()));
    }
    own.get(index).cloned()
}

/// The samples that a pass asks for; `None` after a mistake.
pub(crate) fn samples(attachments: &Strong, here: &str) -> Option<Vec<Sample>> {
    let Some(own) = attachments.cast::<Fields<Attachments>>() else { return Some(Vec::new()) };
    let own = own.lock().attachments.clone();
    let mut samples = Vec::new();
    for own in own.iter().filter_map(Strong::cast::<Fields<AttachmentFields>>) {
        let AttachmentFields { buffer, start, end } = own.lock().clone();
        if buffer.id().is_nil() {
            continue;
        }
        let count = buffer.cast::<SampleBuffer>()?.times.lock().len();
        for (name, index) in [("startOfEncoderSampleIndex", start), ("endOfEncoderSampleIndex", end)] {
            forbid!(here, index != DONT_SAMPLE && index >= count, None, "{name}({index}) must be < {count}.");
        }
        samples.push(Sample { buffer, start, end });
    }
    Some(samples)
}

class! {
    SAMPLE_BUFFER_ATTACHMENT = "MTLComputePassSampleBufferAttachmentDescriptor": NS_OBJECT, default Fields<AttachmentFields>,
        ["NSCopying"]
    properties {
        "sampleBuffer" "setSampleBuffer:" buffer: Strong,
        "startOfEncoderSampleIndex" "setStartOfEncoderSampleIndex:" start: usize,
        "endOfEncoderSampleIndex" "setEndOfEncoderSampleIndex:" end: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut std::ffi::c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}

class! {
    BLIT_SAMPLE_BUFFER_ATTACHMENT = "MTLBlitPassSampleBufferAttachmentDescriptor": SAMPLE_BUFFER_ATTACHMENT,
        as Fields<AttachmentFields>, []
    methods {
    }
}

class! {
    SAMPLE_BUFFER_ATTACHMENTS = "MTLComputePassSampleBufferAttachmentDescriptorArray": NS_OBJECT, default Fields<Attachments>, []
    methods {
        - "objectAtIndexedSubscript:" (this, index: usize) -> Id {
            forbid!(HERE, index >= ATTACHMENTS, Id::NIL, "attachmentIndex({index}) must be < {ATTACHMENTS}.");
            attachment(&this, index).map_or(Id::NIL, Strong::autorelease)
        }
        - "setObject:atIndexedSubscript:" (this, attached: Id, index: usize) {
            forbid!(HERE, index >= ATTACHMENTS, (), "attachmentIndex({index}) must be < {ATTACHMENTS}.");
            let fields = attached.cast::<Fields<AttachmentFields>>().map(|fields| fields.lock().clone()).unwrap_or_default();
            let _ = attachment(&this, index);
            let _old = std::mem::replace(&mut this.lock().attachments[index], Strong::new(Fields::new(fields)));
        }
    }
}

class! {
    BLIT_SAMPLE_BUFFER_ATTACHMENTS = "MTLBlitPassSampleBufferAttachmentDescriptorArray": SAMPLE_BUFFER_ATTACHMENTS,
        as Fields<Attachments>, []
    methods {
    }
}
