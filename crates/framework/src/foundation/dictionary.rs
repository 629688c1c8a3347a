//! NSDictionary and NSMutableDictionary: pairs in the order of insertion. They are small in Metal programs: a lookup goes
//! through the hashes of their keys.

use super::array::Items;
use super::enumerate::{enumerator, fast};
use super::object::NS_OBJECT;
use super::order::visit;
use super::{hash, is_equal, string};
use crate::runtime::block::Block;
use crate::runtime::encode::Enumeration;
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Fields, Id, Object, Sel, Strong, send};
use std::ffi::c_void;

/// Keys and values, with the hashes of the keys, by which a lookup goes.
#[derive(Default)]
pub(crate) struct Pairs {
    pairs: Vec<(Strong, Strong)>,
    hashes: Vec<usize>,
    /// Number of keys that came and went, which loops over the dictionary compare.
    changes: usize,
}

impl Pairs {
    /// Pairs with keys that differ; of equal ones, the last remains.
    fn new(pairs: Vec<(Strong, Strong)>) -> Fields<Pairs> {
        let mut own = Pairs::default();
        for (key, value) in pairs {
            let hash = hash(key.id());
            let at = own.hashes.iter().enumerate().find(|(at, other)| {
                **other == hash && own.pairs.get(*at).is_some_and(|(own, _)| is_equal(own.id(), key.id()))
            });
            match at.map(|(at, _)| at) {
                Some(at) => own.pairs[at].1 = value,
                None => {
                    own.pairs.push((key, value));
                    own.hashes.push(hash);
                }
            }
        }
        Fields::new(own)
    }

    /// A new dictionary.
    pub(crate) fn strong(pairs: Vec<(Strong, Strong)>) -> Strong {
        Strong::new(Pairs::new(pairs))
    }

    /// The pairs of a dictionary; none for nil.
    pub(crate) fn of(dictionary: Id) -> Vec<(Strong, Strong)> {
        dictionary.cast::<Fields<Pairs>>().map(|pairs| pairs.lock().pairs.clone()).unwrap_or_default()
    }

    /// The position of a key. Messages are sent outside the lock.
    fn position(this: Object<Fields<Pairs>>, key: Id) -> Option<usize> {
        let hash = hash(key);
        let candidates: Vec<(usize, Strong)> = {
            let own = this.lock();
            let equal = own.hashes.iter().enumerate().filter(|(_, other)| **other == hash);
            equal.filter_map(|(at, _)| Some((at, own.pairs.get(at)?.0.clone()))).collect()
        };
        candidates.into_iter().find(|(_, own)| is_equal(own.id(), key)).map(|(at, _)| at)
    }

    /// Sets the value of a key, which is copied, as strings are.
    fn insert(this: Object<Fields<Pairs>>, key: Id, value: Id) {
        let (position, hash, value) = (Pairs::position(this, key), hash(key), Strong::retain(value));
        let _old = match position {
            Some(position) => Some(std::mem::replace(&mut this.lock().pairs[position].1, value)),
            None => {
                let key = if key.responds_to(c"copyWithZone:") {
                    Strong::owned(send::send(key, Sel::register(c"copy")))
                } else {
                    Strong::retain(key)
                };
                let mut fields = this.lock();
                fields.changes += 1;
                fields.pairs.push((key, value));
                fields.hashes.push(hash);
                None
            }
        };
    }

    fn remove(this: Object<Fields<Pairs>>, key: Id) -> Option<(Strong, Strong)> {
        let position = Pairs::position(this, key)?;
        let mut fields = this.lock();
        fields.changes += 1;
        fields.hashes.remove(position);
        Some(fields.pairs.remove(position))
    }
}

/// The value of a key; nil if there is none.
pub(crate) fn value(dictionary: Id, key: Id) -> Strong {
    let Some(dictionary) = dictionary.cast::<Fields<Pairs>>() else { return Strong::default() };
    let position = Pairs::position(dictionary, key);
    position.and_then(|at| Some(dictionary.lock().pairs.get(at)?.1.clone())).unwrap_or_default()
}

/// Values with their keys, in a list that nil ends.
fn listed(first: Id, rest: &mut Variable) -> Vec<(Strong, Strong)> {
    if first.is_nil() {
        return Vec::new();
    }
    let all: Vec<Strong> = std::iter::once(first).chain(rest.objects()).map(Strong::retain).collect();
    all.chunks_exact(2).map(|pair| (pair[1].clone(), pair[0].clone())).collect()
}

extern "C-unwind" fn with_objects(class: &'static Class, _: Sel, first: Id, rest: &mut Variable) -> Id {
    made(class, listed(first, rest))
}

extern "C-unwind" fn initialized(this: Object<Fields<Pairs>>, _: Sel, first: Id, rest: &mut Variable) -> Id {
    this.set(Pairs::new(listed(first, rest)))
}

variadic! {
    dictionary_with_objects_and_keys => with_objects, 3;
    init_with_objects_and_keys => initialized, 3;
}

fn from_pointers(values: *const Id, keys: *const Id, count: usize) -> Vec<(Strong, Strong)> {
    // SAFETY: the caller passes that many of both.
    let at = |from: *const Id, at: usize| Strong::retain(unsafe { from.add(at).read() });
    let nil = (0..count).find(|number| at(keys, *number).id().is_nil() || at(values, *number).id().is_nil());
    throw_if!(
        NSInvalidArgumentException,
        "-[NSDictionary initWithObjects:forKeys:count:]",
        nil.is_some(),
        "attempt to insert nil object from objects[{}]",
        nil.unwrap_or(0)
    );
    (0..count).map(|number| (at(keys, number), at(values, number))).collect()
}

fn made(class: &'static Class, pairs: Vec<(Strong, Strong)>) -> Id {
    let dictionary = Object::<Fields<Pairs>>::allocate(class);
    dictionary.set(Pairs::new(pairs));
    dictionary.id().autorelease()
}

/// Copies keys and values to the program's arrays, each null or with room for all.
fn write(this: Object<Fields<Pairs>>, values: *mut Id, keys: *mut Id, count: usize) {
    for (at, (key, value)) in this.lock().pairs.iter().take(count).enumerate() {
        // SAFETY: as the caller of the method promises.
        unsafe {
            if !values.is_null() {
                values.add(at).write(value.id());
            }
            if !keys.is_null() {
                keys.add(at).write(key.id());
            }
        }
    }
}

class! {
    NS_DICTIONARY = "NSDictionary": NS_OBJECT, default Fields<Pairs>,
        ["NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSCoding"]
    variadic {
        + "dictionaryWithObjectsAndKeys:" dictionary_with_objects_and_keys,
        - "initWithObjectsAndKeys:" init_with_objects_and_keys,
    }
    methods {
        + "dictionary" (class) -> Id { made(class, Vec::new()) }
        + "dictionaryWithObject:forKey:" (class, value: Id, key: Id) -> Id {
            made(class, vec![(Strong::retain(key), Strong::retain(value))])
        }
        + "dictionaryWithObjects:forKeys:count:" (class, values: *const Id, keys: *const Id, count: usize) -> Id {
            made(class, from_pointers(values, keys, count))
        }
        + "dictionaryWithDictionary:" (class, other: Id) -> Id { made(class, Pairs::of(other)) }
        + "dictionaryWithObjects:forKeys:" (class, values: Id, keys: Id) -> Id {
            let (keys, values) = (Items::of(keys), Items::of(values));
            throw_if!(NSInvalidArgumentException, HERE, keys.len() != values.len(),
                "count of objects ({}) differs from count of keys ({})", values.len(), keys.len());
            made(class, keys.into_iter().zip(values).collect())
        }
        - "initWithDictionary:" (this, other: Id) -> Id { this.set(Pairs::new(Pairs::of(other))) }
        - "initWithObjects:forKeys:count:" (this, values: *const Id, keys: *const Id, count: usize) -> Id {
            this.set(Pairs::new(from_pointers(values, keys, count)))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Pairs::strong(Pairs::of(this.id())).into_id() }
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            Strong::retain(made(&NS_MUTABLE_DICTIONARY, Pairs::of(this.id()))).into_id()
        }
        - "count" (this) -> usize { this.lock().pairs.len() }
        - "objectForKey:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
        - "objectForKeyedSubscript:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
        - "valueForKey:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
        - "isEqual:" (this, other: Id) -> bool {
            let (own, theirs) = (Pairs::of(this.id()), Pairs::of(other));
            other.cast::<Fields<Pairs>>().is_some()
                && own.len() == theirs.len()
                && own.iter().all(|(key, own)| is_equal(value(other, key.id()).id(), own.id()))
        }
        - "isEqualToDictionary:" (this, other: Id) -> bool { is_equal(this.id(), other) }
        - "hash" (this) -> usize { this.lock().pairs.len() }
        - "allKeys" (this) -> Id {
            Items::strong(Pairs::of(this.id()).into_iter().map(|(key, _)| key).collect()).autorelease()
        }
        - "allValues" (this) -> Id {
            Items::strong(Pairs::of(this.id()).into_iter().map(|(_, value)| value).collect()).autorelease()
        }
        - "getObjects:andKeys:count:" (this, values: *mut Id, keys: *mut Id, count: usize) { write(this, values, keys, count) }
        - "getObjects:andKeys:" (this, values: *mut Id, keys: *mut Id) { write(this, values, keys, usize::MAX) }
        - "keyEnumerator" (this) -> Id { enumerator(Pairs::of(this.id()).into_iter().map(|(key, _)| key)).autorelease() }
        - "objectEnumerator" (this) -> Id {
            enumerator(Pairs::of(this.id()).into_iter().map(|(_, value)| value)).autorelease()
        }
        - "enumerateKeysAndObjectsUsingBlock:" (this, block: Block) {
            let pairs = Pairs::of(this.id());
            // SAFETY: the block takes a key, its value, and where it may say to stop.
            visit(block, pairs.iter(), |block, (key, value), stop| unsafe { block.call3(key.id(), value.id(), stop) });
        }
        - "countByEnumeratingWithState:objects:count:" (this, state: *mut Enumeration, buffer: *mut Id, count: usize) -> usize {
            let keys: Vec<Id> = this.lock().pairs.iter().map(|(key, _)| key.id()).collect();
            // SAFETY: the caller passes its state.
            let from = unsafe { (*state).state };
            fast(state, buffer, count, &keys, from, &raw const this.lock().changes)
        }
        - "description" (this) -> Id {
            let pairs = Pairs::of(this.id());
            let pairs = pairs.iter().map(|(key, value)| format!("{} = {};", string::describe(key.id()), string::describe(value.id())));
            string::new(&format!("{{{}}}", pairs.collect::<Vec<_>>().join(" "))).autorelease()
        }
    }
}

class! {
    NS_MUTABLE_DICTIONARY = "NSMutableDictionary": NS_DICTIONARY, as Fields<Pairs>, []
    methods {
        + "dictionaryWithCapacity:" (class, _capacity: usize) -> Id { made(class, Vec::new()) }
        - "initWithCapacity:" (this, _capacity: usize) -> Id { this.set(Fields::default()) }
        - "setObject:forKey:" (this, value: Id, key: Id) {
            throw_if!(NSInvalidArgumentException, HERE, value.is_nil() || key.is_nil(), "object and key cannot be nil");
            Pairs::insert(this, key, value);
        }
        - "setObject:forKeyedSubscript:" (this, value: Id, key: Id) {
            throw_if!(NSInvalidArgumentException, HERE, key.is_nil(), "key cannot be nil");
            // A nil value takes the key away.
            if value.is_nil() {
                let _old = Pairs::remove(this, key);
            } else {
                Pairs::insert(this, key, value);
            }
        }
        - "setValue:forKey:" (this, value: Id, key: Id) {
            throw_if!(NSInvalidArgumentException, HERE, key.is_nil(), "key cannot be nil");
            if value.is_nil() {
                let _old = Pairs::remove(this, key);
            } else {
                Pairs::insert(this, key, value);
            }
        }
        - "setDictionary:" (this, other: Id) {
            let Pairs { pairs, hashes, .. } = Pairs::new(Pairs::of(other)).into_inner();
            let _old = {
                let mut own = this.lock();
                own.changes += 1;
                (std::mem::replace(&mut own.pairs, pairs), std::mem::replace(&mut own.hashes, hashes))
            };
        }
        - "removeObjectsForKeys:" (this, keys: Id) {
            Items::of(keys).iter().for_each(|key| drop(Pairs::remove(this, key.id())));
        }
        - "addEntriesFromDictionary:" (this, other: Id) {
            for (key, value) in Pairs::of(other) {
                Pairs::insert(this, key.id(), value.id());
            }
        }
        - "removeObjectForKey:" (this, key: Id) {
            let _old = Pairs::remove(this, key);
        }
        - "removeAllObjects" (this) { let _removed = std::mem::take(&mut *this.lock()); }
    }
}
