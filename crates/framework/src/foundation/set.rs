//! NSSet and NSMutableSet.

use super::array::Items;
use super::enumerate::{enumerator, fast};
use super::object::NS_OBJECT;
use super::{hash, is_equal, string};
use crate::runtime::encode::Enumeration;
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Fields, Id, Object, Sel, Strong};
use std::collections::HashMap;
use std::ffi::c_void;

/// The objects of a set, by their hash.
#[derive(Default)]
pub(crate) struct Members {
    members: HashMap<usize, Vec<Strong>>,
    /// Changes, for loops over the set.
    count: usize,
}

impl Members {
    fn of(set: Id) -> Vec<Strong> {
        let Some(set) = set.cast::<Fields<Members>>() else { return Vec::new() };
        let mut members: Vec<(usize, Vec<Strong>)> =
            set.lock().members.iter().map(|(hash, members)| (*hash, members.clone())).collect();
        members.sort_unstable_by_key(|(hash, _)| *hash);
        members.into_iter().flat_map(|(_, members)| members).collect()
    }

    /// The member that is equal to an object.
    fn find(set: Object<Fields<Members>>, object: Id) -> Option<Strong> {
        // Messages are sent outside the lock.
        let hash = hash(object);
        let candidates = set.lock().members.get(&hash).cloned().unwrap_or_default();
        candidates.into_iter().find(|own| is_equal(own.id(), object))
    }

    fn add(set: Object<Fields<Members>>, object: Id) {
        if Members::find(set, object).is_none() {
            let (hash, object) = (hash(object), Strong::retain(object));
            let mut members = set.lock();
            members.members.entry(hash).or_default().push(object);
            members.count += 1;
        }
    }

    fn remove(set: Object<Fields<Members>>, object: Id) -> Option<Strong> {
        let (found, hash) = (Members::find(set, object)?, hash(object));
        let mut members = set.lock();
        members.count -= 1;
        let own = members.members.get_mut(&hash)?;
        let at = own.iter().position(|own| own.id() == found.id())?;
        let removed = own.remove(at);
        if own.is_empty() {
            members.members.remove(&hash);
        }
        Some(removed)
    }
}

fn filled(set: Object<Fields<Members>>, objects: impl Iterator<Item = Id>) -> Id {
    set.set(Fields::default());
    objects.for_each(|object| Members::add(set, object));
    set.id()
}

fn made(class: &'static Class, objects: impl Iterator<Item = Id>) -> Id {
    filled(Object::allocate(class), objects).autorelease()
}

fn at<'a>(objects: *const Id, count: usize) -> &'a [Id] {
    // SAFETY: the caller passes that many objects.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(objects, count) } }
}

extern "C-unwind" fn with_objects(class: &'static Class, _: Sel, first: Id, rest: &mut Variable) -> Id {
    let rest = if first.is_nil() { Vec::new() } else { rest.objects().collect() };
    made(class, Some(first).filter(|first| !first.is_nil()).into_iter().chain(rest))
}

variadic! { set_with_objects => with_objects, 3; }

class! {
    NS_SET = "NSSet": NS_OBJECT, default Fields<Members>, ["NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSCoding"]
    variadic { + "setWithObjects:" set_with_objects, }
    methods {
        + "set" (class) -> Id { made(class, std::iter::empty()) }
        + "setWithObject:" (class, object: Id) -> Id { made(class, [object].into_iter()) }
        + "setWithObjects:count:" (class, objects: *const Id, count: usize) -> Id { made(class, at(objects, count).iter().copied()) }
        + "setWithArray:" (class, array: Id) -> Id { made(class, Items::of(array).iter().map(Strong::id)) }
        + "setWithSet:" (class, other: Id) -> Id { made(class, Members::of(other).iter().map(Strong::id)) }
        - "initWithObjects:count:" (this, objects: *const Id, count: usize) -> Id { filled(this, at(objects, count).iter().copied()) }
        - "initWithArray:" (this, array: Id) -> Id { filled(this, Items::of(array).iter().map(Strong::id)) }
        - "initWithSet:" (this, other: Id) -> Id { filled(this, Members::of(other).iter().map(Strong::id)) }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id {
            filled(Object::allocate(&NS_SET), Members::of(this.id()).iter().map(Strong::id))
        }
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            filled(Object::allocate(&NS_MUTABLE_SET), Members::of(this.id()).iter().map(Strong::id))
        }
        - "count" (this) -> usize { this.lock().count }
        - "containsObject:" (this, object: Id) -> bool { Members::find(this, object).is_some() }
        - "member:" (this, object: Id) -> Id { Members::find(this, object).map_or(Id::NIL, Strong::autorelease) }
        - "anyObject" (this) -> Id { Members::of(this.id()).into_iter().next().map_or(Id::NIL, Strong::autorelease) }
        - "allObjects" (this) -> Id { Items::strong(Members::of(this.id())).autorelease() }
        - "isEqual:" (this, other: Id) -> bool {
            other.cast::<Fields<Members>>().is_some_and(|other| {
                other.lock().count == this.lock().count
                    && Members::of(this.id()).iter().all(|own| Members::find(other, own.id()).is_some())
            })
        }
        - "hash" (this) -> usize { this.lock().count }
        - "objectEnumerator" (this) -> Id { enumerator(Members::of(this.id()).into_iter()).autorelease() }
        - "countByEnumeratingWithState:objects:count:" (this, state: *mut Enumeration, buffer: *mut Id, count: usize) -> usize {
            let members = Members::of(this.id());
            let members: Vec<Id> = members.iter().map(Strong::id).collect();
            // SAFETY: the caller passes its state.
            let from = unsafe { (*state).state };
            fast(state, buffer, count, &members, from, &raw const this.lock().count)
        }
        - "description" (this) -> Id {
            let members: Vec<String> = Members::of(this.id()).iter().map(|own| string::describe(own.id())).collect();
            string::new(&format!("{{({})}}", members.join(", "))).autorelease()
        }
    }
}

class! {
    NS_MUTABLE_SET = "NSMutableSet": NS_SET, as Fields<Members>, []
    methods {
        + "setWithCapacity:" (class, _capacity: usize) -> Id { made(class, std::iter::empty()) }
        - "initWithCapacity:" (this, _capacity: usize) -> Id { this.set(Fields::default()) }
        - "addObject:" (this, object: Id) {
            throw_if!(NSInvalidArgumentException, HERE, object.is_nil(), "object cannot be nil");
            Members::add(this, object);
        }
        - "addObjectsFromArray:" (this, array: Id) {
            Items::of(array).iter().for_each(|object| Members::add(this, object.id()));
        }
        - "unionSet:" (this, other: Id) { Members::of(other).iter().for_each(|own| Members::add(this, own.id())) }
        - "removeObject:" (this, object: Id) { let _removed = Members::remove(this, object); }
        - "minusSet:" (this, other: Id) {
            Members::of(other).iter().for_each(|own| drop(Members::remove(this, own.id())));
        }
        - "intersectSet:" (this, other: Id) {
            let Some(other) = other.cast::<Fields<Members>>() else { return };
            let gone = Members::of(this.id()).into_iter().filter(|own| Members::find(other, own.id()).is_none());
            gone.for_each(|own| drop(Members::remove(this, own.id())));
        }
        - "removeAllObjects" (this) { let _removed = std::mem::take(&mut *this.lock()); }
    }
}
