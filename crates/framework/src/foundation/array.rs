//! NSArray and NSMutableArray.

use super::enumerate::{enumerator, fast};
use super::object::NS_OBJECT;
use super::order::{by_block, by_selector, visit};
use super::{is_equal, string};
use crate::runtime::block::Block;
use crate::runtime::encode::Enumeration;
use crate::runtime::variadic::Variable;
use crate::runtime::{Class, Fields, Id, Object, Range, Sel, Strong, send};
use std::ffi::c_void;
use std::sync::MutexGuard;

/// The objects of an array.
#[derive(Default)]
pub(crate) struct Items {
    objects: Vec<Strong>,
    /// Number of changes, which loops over the array compare.
    changes: usize,
}

impl Items {
    /// A new array.
    pub(crate) fn strong(objects: Vec<Strong>) -> Strong {
        Strong::new(Items::fields(objects))
    }

    fn fields(objects: Vec<Strong>) -> Fields<Items> {
        Fields::new(Items { objects, changes: 0 })
    }

    /// The objects of an array; empty for nil.
    pub(crate) fn of(array: Id) -> Vec<Strong> {
        array.cast::<Fields<Items>>().map(|items| items.lock().objects.clone()).unwrap_or_default()
    }
}

fn from_pointer(objects: *const Id, count: usize) -> Vec<Strong> {
    // SAFETY: the caller passes that many objects.
    let objects = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(objects, count) } };
    let nil = objects.iter().position(|object| object.is_nil());
    throw_if!(
        NSInvalidArgumentException,
        "-[NSArray initWithObjects:count:]",
        nil.is_some(),
        "attempt to insert nil object from objects[{}]",
        nil.unwrap_or(0)
    );
    objects.iter().map(|object| Strong::retain(*object)).collect()
}

/// The objects of a mutable array, to change them.
fn changing(this: &Fields<Items>) -> MutexGuard<'_, Items> {
    let mut items = this.lock();
    items.changes += 1;
    items
}

fn made(class: &'static Class, objects: Vec<Strong>) -> Id {
    let array = Object::<Fields<Items>>::allocate(class);
    array.set(Items::fields(objects));
    array.id().autorelease()
}

fn write(to: *mut Id, objects: &[Strong]) {
    for (at, object) in objects.iter().enumerate() {
        // SAFETY: the caller passes room for all of them.
        unsafe { to.add(at).write(object.id()) };
    }
}

/// The objects of a list that nil ends.
fn listed(first: Id, rest: &mut Variable) -> Vec<Strong> {
    if first.is_nil() {
        return Vec::new();
    }
    std::iter::once(Strong::retain(first)).chain(rest.objects().map(Strong::retain)).collect()
}

extern "C-unwind" fn with_objects(class: &'static Class, _: Sel, first: Id, rest: &mut Variable) -> Id {
    made(class, listed(first, rest))
}

extern "C-unwind" fn initialized(this: Object<Fields<Items>>, _: Sel, first: Id, rest: &mut Variable) -> Id {
    this.set(Items::fields(listed(first, rest)))
}

variadic! {
    array_with_objects => with_objects, 3;
    init_with_objects => initialized, 3;
}

class! {
    NS_ARRAY = "NSArray": NS_OBJECT, default Fields<Items>, ["NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSCoding"]
    variadic { + "arrayWithObjects:" array_with_objects, - "initWithObjects:" init_with_objects, }
    methods {
        + "array" (class) -> Id { made(class, Vec::new()) }
        + "arrayWithObject:" (class, object: Id) -> Id { made(class, vec![Strong::retain(object)]) }
        + "arrayWithObjects:count:" (class, objects: *const Id, count: usize) -> Id { made(class, from_pointer(objects, count)) }
        + "arrayWithArray:" (class, other: Id) -> Id { made(class, Items::of(other)) }
        - "initWithObjects:count:" (this, objects: *const Id, count: usize) -> Id {
            this.set(Items::fields(from_pointer(objects, count)))
        }
        - "initWithArray:" (this, other: Id) -> Id { this.set(Items::fields(Items::of(other))) }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Items::strong(Items::of(this.id())).into_id() }
        - "mutableCopyWithZone:" (this, _zone: *mut c_void) -> Id {
            Strong::retain(made(&NS_MUTABLE_ARRAY, Items::of(this.id()))).into_id()
        }
        - "count" (this) -> usize { this.lock().objects.len() }
        - "objectAtIndex:" (this, index: usize) -> Id {
            let (object, count) = { let items = this.lock(); (items.objects.get(index).cloned(), items.objects.len()) };
            throw_if!(NSRangeException, HERE, object.is_none(), "index {index} beyond bounds of an array with {count} objects");
            object.map_or(Id::NIL, Strong::autorelease)
        }
        - "objectAtIndexedSubscript:" (this, index: usize) -> Id {
            let (object, count) = { let items = this.lock(); (items.objects.get(index).cloned(), items.objects.len()) };
            throw_if!(NSRangeException, HERE, object.is_none(), "index {index} beyond bounds of an array with {count} objects");
            object.map_or(Id::NIL, Strong::autorelease)
        }
        - "firstObject" (this) -> Id { this.lock().objects.first().cloned().map_or(Id::NIL, Strong::autorelease) }
        - "lastObject" (this) -> Id { this.lock().objects.last().cloned().map_or(Id::NIL, Strong::autorelease) }
        - "getObjects:range:" (this, to: *mut Id, range: Range) {
            let items = this.lock();
            let end = range.location.checked_add(range.length).filter(|end| *end <= items.objects.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "range {range:?} extends beyond bounds");
            write(to, &items.objects[range.location..end.unwrap_or(0)]);
        }
        - "getObjects:" (this, to: *mut Id) { write(to, &this.lock().objects) }
        - "containsObject:" (this, object: Id) -> bool {
            Items::of(this.id()).iter().any(|own| is_equal(own.id(), object))
        }
        - "indexOfObject:" (this, object: Id) -> usize {
            // NSNotFound is the largest signed number.
            Items::of(this.id()).iter().position(|own| is_equal(own.id(), object)).unwrap_or(isize::MAX as usize)
        }
        - "indexOfObjectIdenticalTo:" (this, object: Id) -> usize {
            Items::of(this.id()).iter().position(|own| own.id() == object).unwrap_or(isize::MAX as usize)
        }
        - "indexOfObjectPassingTest:" (this, block: Block) -> usize {
            let (objects, mut found) = (Items::of(this.id()), isize::MAX as usize);
            visit(block, objects.iter().enumerate(), |block, (index, object), stop| {
                // SAFETY: the block takes an object, its index, and where it may say to stop; it returns a BOOL.
                if unsafe { block.ask3(object.id(), index, stop) } & 0xff != 0 {
                    found = index;
                    // SAFETY: the place that it may use, too.
                    unsafe { stop.write(true) };
                }
            });
            found
        }
        - "isEqual:" (this, other: Id) -> bool {
            let (own, theirs) = (Items::of(this.id()), Items::of(other));
            other.cast::<Fields<Items>>().is_some()
                && own.len() == theirs.len()
                && own.iter().zip(&theirs).all(|(own, other)| is_equal(own.id(), other.id()))
        }
        - "isEqualToArray:" (this, other: Id) -> bool { is_equal(this.id(), other) }
        - "hash" (this) -> usize { this.lock().objects.len() }
        - "objectEnumerator" (this) -> Id { enumerator(Items::of(this.id()).into_iter()).autorelease() }
        - "reverseObjectEnumerator" (this) -> Id { enumerator(Items::of(this.id()).into_iter().rev()).autorelease() }
        - "sortedArrayUsingComparator:" (this, block: Block) -> Id {
            Items::strong(by_block(Items::of(this.id()), block)).autorelease()
        }
        - "sortedArrayUsingSelector:" (this, selector: Sel) -> Id {
            Items::strong(by_selector(Items::of(this.id()), selector)).autorelease()
        }
        - "enumerateObjectsUsingBlock:" (this, block: Block) {
            let objects = Items::of(this.id());
            // SAFETY: the block takes an object, its index, and where it may say to stop.
            visit(block, objects.iter().enumerate(), |block, (index, object), stop| unsafe {
                block.call3(object.id(), index, stop);
            });
        }
        - "countByEnumeratingWithState:objects:count:" (this, state: *mut Enumeration, buffer: *mut Id, count: usize) -> usize {
            let items = this.lock();
            let objects: Vec<Id> = items.objects.iter().map(Strong::id).collect();
            // SAFETY: the caller passes its state.
            let from = unsafe { (*state).state };
            fast(state, buffer, count, &objects, from, &raw const items.changes)
        }
        - "componentsJoinedByString:" (this, separator: Id) -> Id {
            let items: Vec<String> = Items::of(this.id()).iter().map(|item| string::describe(item.id())).collect();
            string::new(&items.join(&string::describe(separator))).autorelease()
        }
        - "makeObjectsPerformSelector:" (this, selector: Sel) {
            for own in Items::of(this.id()) {
                send::send(own.id(), selector);
            }
        }
        - "arrayByAddingObjectsFromArray:" (this, other: Id) -> Id {
            Items::strong([Items::of(this.id()), Items::of(other)].concat()).autorelease()
        }
        - "arrayByAddingObject:" (this, object: Id) -> Id {
            let mut objects = Items::of(this.id());
            objects.push(Strong::retain(object));
            Items::strong(objects).autorelease()
        }
        - "subarrayWithRange:" (this, range: Range) -> Id {
            let objects = Items::of(this.id());
            let end = range.location.checked_add(range.length).filter(|end| *end <= objects.len());
            throw_if!(NSRangeException, HERE, end.is_none(), "range {range:?} extends beyond bounds");
            Items::strong(objects[range.location..end.unwrap_or(0)].to_vec()).autorelease()
        }
        - "description" (this) -> Id {
            let items: Vec<String> = Items::of(this.id()).iter().map(|item| string::describe(item.id())).collect();
            string::new(&format!("({})", items.join(", "))).autorelease()
        }
    }
}

class! {
    NS_MUTABLE_ARRAY = "NSMutableArray": NS_ARRAY, as Fields<Items>, []
    methods {
        + "arrayWithCapacity:" (class, _capacity: usize) -> Id { made(class, Vec::new()) }
        - "initWithCapacity:" (this, _capacity: usize) -> Id { this.set(Fields::default()) }
        - "addObject:" (this, object: Id) {
            throw_if!(NSInvalidArgumentException, HERE, object.is_nil(), "object cannot be nil");
            changing(&this).objects.push(Strong::retain(object));
        }
        - "insertObject:atIndex:" (this, object: Id, index: usize) {
            throw_if!(NSInvalidArgumentException, HERE, object.is_nil(), "object cannot be nil");
            let count = this.lock().objects.len();
            throw_if!(NSRangeException, HERE, index > count, "index {index} beyond bounds of an array with {count} objects");
            changing(&this).objects.insert(index, Strong::retain(object));
        }
        - "removeObjectAtIndex:" (this, index: usize) {
            let count = this.lock().objects.len();
            throw_if!(NSRangeException, HERE, index >= count, "index {index} beyond bounds of an array with {count} objects");
            let _removed = changing(&this).objects.remove(index);
        }
        - "addObjectsFromArray:" (this, other: Id) {
            let others = Items::of(other);
            changing(&this).objects.extend(others);
        }
        - "removeObject:" (this, object: Id) {
            let own = Items::of(this.id());
            let kept = own.iter().filter(|own| !is_equal(own.id(), object)).cloned().collect();
            let _removed = std::mem::replace(&mut changing(&this).objects, kept);
        }
        - "removeObjectIdenticalTo:" (this, object: Id) {
            let _removed: Vec<Strong> = changing(&this).objects.extract_if(.., |own| own.id() == object).collect();
        }
        - "setObject:atIndexedSubscript:" (this, object: Id, index: usize) {
            throw_if!(NSInvalidArgumentException, HERE, object.is_nil(), "object cannot be nil");
            let count = this.lock().objects.len();
            throw_if!(NSRangeException, HERE, index > count, "index {index} beyond bounds of an array with {count} objects");
            let object = Strong::retain(object);
            let _old = {
                let objects = &mut changing(&this).objects;
                if index == objects.len() {
                    objects.push(object);
                    None
                } else {
                    Some(std::mem::replace(&mut objects[index], object))
                }
            };
        }
        - "sortUsingComparator:" (this, block: Block) {
            let sorted = by_block(Items::of(this.id()), block);
            let _old = std::mem::replace(&mut changing(&this).objects, sorted);
        }
        - "sortUsingSelector:" (this, selector: Sel) {
            let sorted = by_selector(Items::of(this.id()), selector);
            let _old = std::mem::replace(&mut changing(&this).objects, sorted);
        }
        - "exchangeObjectAtIndex:withObjectAtIndex:" (this, first: usize, second: usize) {
            let count = this.lock().objects.len();
            throw_if!(NSRangeException, HERE, first.max(second) >= count, "index {} beyond bounds of an array with {count} objects", first.max(second));
            changing(&this).objects.swap(first, second);
        }
        - "setArray:" (this, other: Id) {
            let others = Items::of(other);
            let _old = std::mem::replace(&mut changing(&this).objects, others);
        }
        - "removeLastObject" (this) { let _removed = changing(&this).objects.pop(); }
        - "removeAllObjects" (this) { let _removed = std::mem::take(&mut changing(&this).objects); }
        - "replaceObjectAtIndex:withObject:" (this, index: usize, object: Id) {
            let count = this.lock().objects.len();
            throw_if!(NSRangeException, HERE, index >= count, "index {index} beyond bounds of an array with {count} objects");
            let _old = std::mem::replace(&mut changing(&this).objects[index], Strong::retain(object));
        }
    }
}
