//! Enumeration: NSEnumerator, and the fast one of loops.

use super::array::{Items, NS_ARRAY};
use super::object::NS_OBJECT;
use crate::runtime::encode::Enumeration;
use crate::runtime::{Fields, Id, Strong};

/// Objects that are left.
#[derive(Default)]
pub(crate) struct Remaining(std::collections::VecDeque<Strong>);

/// An enumerator over objects.
pub(crate) fn enumerator(objects: impl Iterator<Item = Strong>) -> Strong {
    Strong::new(Fields::new(Remaining(objects.collect())))
}

class! {
    NS_ENUMERATOR = "NSEnumerator": NS_OBJECT, default Fields<Remaining>, ["NSFastEnumeration"]
    methods {
        - "nextObject" (this) -> Id {
            let next = this.lock().0.pop_front();
            next.map_or(Id::NIL, Strong::autorelease)
        }
        - "allObjects" (this) -> Id {
            let _ = &NS_ARRAY;
            Items::strong(std::mem::take(&mut this.lock().0).into()).autorelease()
        }
        - "countByEnumeratingWithState:objects:count:" (this, state: *mut Enumeration, buffer: *mut Id, count: usize) -> usize {
            let next: Vec<Strong> = {
                let left = &mut this.lock().0;
                let count = count.min(left.len());
                left.drain(..count).collect()
            };
            let next: Vec<Id> = next.into_iter().map(Strong::autorelease).collect();
            static UNCHANGED: usize = 0;
            fast(state, buffer, count, &next, 0, &raw const UNCHANGED)
        }
    }
}

/// Copies objects from `from` on into the caller's buffer; returns their number. The loop compares the number of changes.
pub(crate) fn fast(
    state: *mut Enumeration,
    buffer: *mut Id,
    room: usize,
    objects: &[Id],
    from: usize,
    changes: *const usize,
) -> usize {
    let rest = objects.get(from..).unwrap_or(&[]);
    let count = rest.len().min(room);
    // SAFETY: the caller passes its state and a buffer with room for that many.
    unsafe {
        for (at, object) in rest[..count].iter().enumerate() {
            buffer.add(at).write(*object);
        }
        (*state).items = buffer;
        (*state).mutations = changes.cast_mut();
        (*state).state = from + count;
    }
    count
}
