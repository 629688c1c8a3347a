//! NSDictionary and NSMutableDictionary: pairs in the order of insertion. They are small in Metal programs: a lookup goes
//! through them.

use super::array::Items;
use super::enumerate::{enumerator, fast};
use super::object::NS_OBJECT;
use super::{is_equal, string};
use crate::runtime::encode::Enumeration;
use crate::runtime::{Class, Fields, Id, Object, Strong};
use std::ffi::c_void;

/// Keys and values.
#[derive(Default)]
pub(crate) struct Pairs {
    pairs: Vec<(Strong, Strong)>,
}

impl Pairs {
    /// A new dictionary.
    pub(crate) fn strong(pairs: Vec<(Strong, Strong)>) -> Strong {
        Strong::new(Fields::new(Pairs { pairs }))
    }

    /// The pairs of a dictionary; none for nil.
    pub(crate) fn of(dictionary: Id) -> Vec<(Strong, Strong)> {
        dictionary.cast::<Fields<Pairs>>().map(|pairs| pairs.lock().pairs.clone()).unwrap_or_default()
    }

    fn insert(this: Object<Fields<Pairs>>, key: Id, value: Id) {
        let pairs = Pairs::of(this.id());
        let position = pairs.iter().position(|(own, _)| is_equal(own.id(), key));
        let mut fields = this.lock();
        let _old = match position {
            Some(position) => Some(std::mem::replace(&mut fields.pairs[position].1, Strong::retain(value))),
            None => {
                fields.pairs.push((Strong::retain(key), Strong::retain(value)));
                None
            }
        };
        drop(fields);
    }
}

/// The value of a key; nil if there is none.
pub(crate) fn value(dictionary: Id, key: Id) -> Strong {
    let pair = Pairs::of(dictionary).into_iter().find(|(own, _)| is_equal(own.id(), key));
    pair.map(|(_, value)| value).unwrap_or_default()
}

fn from_pointers(values: *const Id, keys: *const Id, count: usize) -> Vec<(Strong, Strong)> {
    // SAFETY: the caller passes that many of both.
    let at = |from: *const Id, at: usize| Strong::retain(unsafe { from.add(at).read() });
    (0..count).map(|number| (at(keys, number), at(values, number))).collect()
}

fn made(class: &'static Class, pairs: Vec<(Strong, Strong)>) -> Id {
    let dictionary = Object::<Fields<Pairs>>::allocate(class);
    dictionary.set(Fields::new(Pairs { pairs }));
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
    refused {
        "dictionaryWithObjectsAndKeys:" "variable arguments are not supported: use dictionaryWithObjects:forKeys:count:",
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
        - "initWithObjects:forKeys:count:" (this, values: *const Id, keys: *const Id, count: usize) -> Id {
            this.set(Fields::new(Pairs { pairs: from_pointers(values, keys, count) }))
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Pairs::strong(Pairs::of(this.id())).into_id() }
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            Strong::retain(made(&NS_MUTABLE_DICTIONARY, Pairs::of(this.id()))).into_id()
        }
        - "count" (this) -> usize { this.lock().pairs.len() }
        - "objectForKey:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
        - "objectForKeyedSubscript:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
        - "valueForKey:" (this, key: Id) -> Id { value(this.id(), key).autorelease() }
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
        - "countByEnumeratingWithState:objects:count:" (this, state: *mut Enumeration, buffer: *mut Id, count: usize) -> usize {
            let keys: Vec<Id> = this.lock().pairs.iter().map(|(key, _)| key.id()).collect();
            // SAFETY: the caller passes its state.
            let from = unsafe { (*state).state };
            fast(state, buffer, count, &keys, from)
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
            forbid!(HERE, value.is_nil() || key.is_nil(), (), "object and key cannot be nil");
            Pairs::insert(this, key, value);
        }
        - "setObject:forKeyedSubscript:" (this, value: Id, key: Id) {
            forbid!(HERE, key.is_nil(), (), "key cannot be nil");
            Pairs::insert(this, key, value);
        }
        - "setValue:forKey:" (this, value: Id, key: Id) {
            forbid!(HERE, value.is_nil() || key.is_nil(), (), "object and key cannot be nil");
            Pairs::insert(this, key, value);
        }
        - "removeObjectForKey:" (this, key: Id) {
            let position = Pairs::of(this.id()).iter().position(|(own, _)| is_equal(own.id(), key));
            let _old = position.map(|position| this.lock().pairs.remove(position));
        }
        - "removeAllObjects" (this) { let _removed = std::mem::take(&mut this.lock().pairs); }
    }
}
