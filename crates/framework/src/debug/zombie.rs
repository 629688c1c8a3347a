//! Objects after their last release. Their memory is kept for a while, so that a message to one is reported with the class
//! that it had.

use crate::debug;
use crate::runtime::class::{Class, ClassData, IS_META};
use crate::runtime::object::{HEADER, Id, layout, lock};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

/// The number of zombies that are kept.
const KEPT: usize = 4096;

static META: Class = Class::new("_NSZombie_\0", std::ptr::null(), &raw const ZOMBIE, IS_META, 0, &DATA);
static ZOMBIE: Class = Class::new("_NSZombie_\0", &META, std::ptr::null(), 0, 16, &DATA);
static DATA: ClassData = ClassData {
    methods: &[],
    properties: &[],
    refused: &[],
    absent: &[],
    added: Mutex::new(Vec::new()),
    ivars: Mutex::new(Vec::new()),
    conforms: &[],
    protocols: Mutex::new(Vec::new()),
    slot: None,
    live: AtomicIsize::new(0),
};

static GRAVES: Mutex<VecDeque<Id>> = Mutex::new(VecDeque::new());

/// Makes an object a zombie, and frees the oldest one.
pub(crate) fn bury(object: Id, class: &'static Class) {
    // SAFETY: the last reference is gone; an instance has two words.
    unsafe {
        (*object.0).isa.store((&raw const ZOMBIE).cast_mut(), Ordering::Release);
        object.0.cast::<*const Class>().add(1).write(class);
    }
    let oldest = {
        let mut graves = lock(&GRAVES);
        graves.push_back(object);
        if graves.len() > KEPT { graves.pop_front() } else { None }
    };
    if let Some(oldest) = oldest {
        // SAFETY: `allocate` made it with this layout, whose size it wrote in front.
        unsafe {
            let start = oldest.0.cast::<u8>().sub(HEADER);
            std::alloc::dealloc(start, layout(start.cast::<usize>().read()));
        }
    }
}

#[inline]
pub(crate) fn is_zombie(object: Id) -> bool {
    object.class().is_some_and(|class| std::ptr::eq(class, &ZOMBIE))
}

/// The name of the class that a zombie had; `None` for other objects.
pub(crate) fn class_of(object: Id) -> Option<&'static str> {
    // SAFETY: `bury` wrote the class.
    is_zombie(object).then(|| unsafe { &*object.0.cast::<*const Class>().add(1).read() }.name())
}

/// Reports a message to a zombie.
pub(crate) fn report(object: Id, selector: &CStr) {
    let (name, selector) = (class_of(object).unwrap_or("?"), selector.to_string_lossy());
    debug::report(format_args!("*** -[{name} {selector}]: message sent to deallocated instance {:p}", object.0));
}
