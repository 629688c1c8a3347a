//! The functions of libdispatch that Metal programs use. Its objects are Objective-C objects.

mod data;
mod queue;
mod wait;
mod work;

use crate::foundation::data::NS_DATA;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::object::{release, retain};
use crate::runtime::{Class, Id};
pub(crate) use queue::{DispatchQueue, dispatch_get_global_queue, dispatch_queue_create, run_on};
use wait::{Group, Semaphore};

pub(crate) static CLASSES: &[&Class] = &[
    &OS_DISPATCH_DATA,
    &OS_DISPATCH_DATA_EMPTY,
    &OS_DISPATCH_QUEUE,
    &OS_DISPATCH_QUEUE_MAIN,
    &OS_DISPATCH_SEMAPHORE,
    &OS_DISPATCH_GROUP,
];

class! {
    OS_DISPATCH_DATA = "OS_dispatch_data": NS_DATA, as Bytes, ["OS_dispatch_data"]
    methods {
    }
}
class! {
    OS_DISPATCH_DATA_EMPTY = "OS_dispatch_data_empty": OS_DISPATCH_DATA, static Bytes, []
    methods {
    }
}
class! {
    OS_DISPATCH_QUEUE = "OS_dispatch_queue": NS_OBJECT, new DispatchQueue, ["OS_dispatch_queue"]
    methods {
    }
}
class! {
    OS_DISPATCH_QUEUE_MAIN = "OS_dispatch_queue_main": OS_DISPATCH_QUEUE, static DispatchQueue, []
    methods {
    }
}
class! {
    OS_DISPATCH_SEMAPHORE = "OS_dispatch_semaphore": NS_OBJECT, new Semaphore, ["OS_dispatch_semaphore"]
    methods {
    }
}
class! {
    OS_DISPATCH_GROUP = "OS_dispatch_group": NS_OBJECT, new Group, ["OS_dispatch_group"]
    methods {
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_retain(object: Id) {
    retain(object);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_release(object: Id) {
    release(object);
}
