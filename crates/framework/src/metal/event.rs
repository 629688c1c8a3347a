//! Events with values, and fences.

use super::device::Device;
use crate::dispatch;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Fields, Id, Object, Strong};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// An event, shared with the host or not.
pub(crate) struct Event {
    device: Strong,
    label: Fields<Strong>,
    state: Mutex<EventState>,
    changed: Condvar,
}

#[derive(Default)]
struct EventState {
    value: u64,
    /// Blocks to be called at a value, with the listener.
    listeners: Vec<(u64, Strong, Kept)>,
}

/// An event of commands, or one that the host signals and waits for, too.
pub(crate) fn create(device: Object<Device>, is_shared: bool) -> Strong {
    let (label, state) = (Fields::default(), Mutex::default());
    let event = Event { device: device.strong(), label, state, changed: Condvar::new() };
    Strong::owned(Object::<Event>::allocate(if is_shared { &SHARED_EVENT } else { &EVENT }).set(event))
}

impl Event {
    fn value(&self) -> u64 {
        crate::runtime::object::lock(&self.state).value
    }

    /// Sets the value. As in Metal, the host may set any; commands only increase it.
    fn signal_value(&self, value: u64) -> Vec<(u64, Strong, Kept)> {
        let mut state = crate::runtime::object::lock(&self.state);
        state.value = value;
        self.changed.notify_all();
        state.listeners.extract_if(.., |(at, ..)| *at <= value).collect()
    }

    /// Waits for a value; false if it took too long.
    pub(crate) fn wait(&self, value: u64, most: Option<Duration>) -> bool {
        let state = crate::runtime::object::lock(&self.state);
        let is_lower = |state: &mut EventState| state.value < value;
        match most {
            None => {
                drop(self.changed.wait_while(state, is_lower).unwrap_or_else(PoisonError::into_inner));
                true
            }
            Some(most) => {
                let waited = self.changed.wait_timeout_while(state, most, is_lower);
                !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
            }
        }
    }
}

/// Signals an event from commands.
pub(crate) fn signal(event: Object<Event>, value: u64) {
    if value > event.value() {
        notify(event, value);
    }
}

fn notify(event: Object<Event>, value: u64) {
    for (_, listener, block) in event.signal_value(value) {
        let queue = listener.cast::<Listener>().map(|listener| listener.queue.clone()).unwrap_or_default();
        let event = event.strong();
        dispatch::run_on(queue.id(), move || {
            // SAFETY: the method takes blocks with these parameters.
            unsafe { block.call2(event.id(), value) };
            drop(block);
        });
    }
}

class! {
    EVENT = "MTLDebugEvent": NS_OBJECT, new Event, ["MTLEvent"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
    }
}

class! {
    SHARED_EVENT = "MTLDebugSharedEvent": EVENT, as Event, ["MTLSharedEvent"]
    refused { "newSharedEventHandle" "events are not shared between processes", }
    methods {
        - "signaledValue" (this) -> u64 { this.value() }
        - "setSignaledValue:" (this, value: u64) { notify(this, value) }
        - "waitUntilSignaledValue:timeoutMS:" (this, value: u64, milliseconds: u64) -> bool {
            this.wait(value, Some(Duration::from_millis(milliseconds)))
        }
        - "notifyListener:atValue:block:" (this, listener: Id, value: u64, block: Block) {
            forbid!(HERE, listener.cast::<Listener>().is_none(), (), "listener must not be nil.");
            let Some(block) = Kept::new(block) else { return };
            let reached = {
                let mut state = crate::runtime::object::lock(&this.state);
                state.listeners.push((value, Strong::retain(listener), block));
                (state.value >= value).then_some(state.value)
            };
            if let Some(value) = reached { notify(this, value) }
        }
    }
}

/// The queue that blocks of events are called on.
pub(crate) struct Listener {
    queue: Strong,
}

class! {
    SHARED_EVENT_LISTENER = "MTLSharedEventListener": NS_OBJECT, new Listener, []
    methods {
        + "sharedListener" (_class) -> Id {
            Strong::new(Listener { queue: Strong::retain(dispatch::dispatch_get_global_queue(0, 0)) }).autorelease()
        }
        - "init" (this) -> Id {
            // SAFETY: null and null are a label and an attribute.
            let queue = unsafe { dispatch::dispatch_queue_create(std::ptr::null(), std::ptr::null()) };
            this.set(Listener { queue: Strong::owned(queue) })
        }
        - "initWithDispatchQueue:" (this, queue: Id) -> Id { this.set(Listener { queue: Strong::retain(queue) }) }
        - "dispatchQueue" (this) -> Id { this.queue.id() }
    }
}

/// A fence. Encoders of a command buffer run one after the other: it has nothing to do.
pub(crate) struct Fence {
    device: Strong,
    label: Fields<Strong>,
}

pub(crate) fn fence(device: Object<Device>) -> Strong {
    Strong::new(Fence { device: device.strong(), label: Fields::default() })
}

class! {
    FENCE = "MTLDebugFence": NS_OBJECT, new Fence, ["MTLFence"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
    }
}
