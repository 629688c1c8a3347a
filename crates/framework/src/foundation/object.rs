//! NSObject, Protocol, NSAutoreleasePool, NSNull.

use super::{error, string};
use crate::runtime::build::{self, ProtocolName};
use crate::runtime::object::{allocate, deallocate, initialize, release, retain};
use crate::runtime::{Class, Fields, Id, Object, Payload, Sel, pool, send};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

impl Payload for () {
    fn class() -> &'static Class {
        &NS_OBJECT
    }
}

fn object_of(class: &'static Class) -> Id {
    Id(std::ptr::from_ref(class).cast_mut().cast())
}

class! {
    NS_OBJECT = "NSObject": ROOT, as (), ["NSObject"]
    absent {
        "forwardingTargetForSelector:", "forwardInvocation:", "methodSignatureForSelector:", "valueForKey:",
        "setValue:forKey:", "performSelector:withObject:withObject:", "performSelectorOnMainThread:withObject:waitUntilDone:",
    }
    methods {
        + "alloc" (class) -> Id { allocate(class, 0) }
        + "allocWithZone:" (class, _zone: *mut c_void) -> Id { allocate(class, 0) }
        + "new" (class) -> Id { send::send(allocate(class, 0), Sel::register(c"init")) }
        + "class" (class) -> &'static Class { class }
        + "superclass" (class) -> Id { class.parent().map_or(Id::NIL, object_of) }
        + "instancesRespondToSelector:" (class, selector: Sel) -> bool { class.method(selector.name()).is_some() }
        + "instanceMethodForSelector:" (class, selector: Sel) -> *mut c_void {
            class.method(selector.name()).map_or(std::ptr::null_mut(), |method| method.code().cast())
        }
        + "conformsToProtocol:" (class, protocol: Id) -> bool { build::conforms(class, protocol) }
        + "isSubclassOfClass:" (class, other: &'static Class) -> bool { class.is_kind_of(other) }
        + "description" (class) -> Id { string::new(class.name()).autorelease() }
        - "init" (this) -> Id { initialize(this.id()) }
        - "dealloc" (this) { deallocate(this.id()) }
        - "retain" (this) -> Id { retain(this.id()) }
        - "release" (this) { release(this.id()) }
        - "autorelease" (this) -> Id { this.id().autorelease() }
        - "retainCount" (this) -> usize { this.id().retain_count() }
        - "self" (this) -> Id { this.id() }
        - "class" (this) -> Id { this.id().class().map_or(Id::NIL, object_of) }
        - "superclass" (this) -> Id { this.id().class().and_then(Class::parent).map_or(Id::NIL, object_of) }
        - "isKindOfClass:" (this, class: &'static Class) -> bool {
            this.id().class().is_some_and(|own| own.is_kind_of(class))
        }
        - "isMemberOfClass:" (this, class: &'static Class) -> bool {
            this.id().class().is_some_and(|own| std::ptr::eq(own, class))
        }
        - "respondsToSelector:" (this, selector: Sel) -> bool { this.id().responds_to(selector.name()) }
        - "conformsToProtocol:" (this, protocol: Id) -> bool {
            this.id().class().is_some_and(|class| build::conforms(class, protocol))
        }
        - "methodForSelector:" (this, selector: Sel) -> *mut c_void { send::code(this.id(), selector).cast() }
        - "isEqual:" (this, other: Id) -> bool { this.id() == other }
        - "hash" (this) -> usize { this.id().0.addr() >> 4 }
        - "isProxy" (_this) -> bool { false }
        - "copy" (this) -> Id { copy(this, c"copyWithZone:") }
        - "mutableCopy" (this) -> Id { copy(this, c"mutableCopyWithZone:") }
        - "performSelector:" (this, selector: Sel) -> Id { send::send(this.id(), selector) }
        - "performSelector:withObject:" (this, selector: Sel, object: Id) -> Id {
            Id(std::ptr::with_exposed_provenance_mut(send::send1(this.id(), selector, object)))
        }
        - "description" (this) -> Id {
            let class = this.id().class().map_or("?", Class::name);
            string::new(&format!("<{class}: {:p}>", this.id().0)).autorelease()
        }
        - "debugDescription" (this) -> Id { send::send(this.id(), Sel::register(c"description")) }
        - "doesNotRecognizeSelector:" (this, selector: Sel) {
            let class = this.id().class().unwrap_or(&NS_OBJECT);
            let reason = crate::debug::not_understood(class, selector.name(), this.id());
            error::raise(&error::NSInvalidArgumentException, &reason);
        }
    }
}

fn copy(this: Object<()>, selector: &std::ffi::CStr) -> Id {
    Id(std::ptr::without_provenance_mut(send::send1(this.id(), Sel::register(selector), Id::NIL)))
}

class! {
    PROTOCOL = "Protocol": NS_OBJECT, new ProtocolName, []
    methods {
        - "description" (this) -> Id { string::new(&this.name.to_string_lossy()).autorelease() }
    }
}

class! {
    NS_NULL = "NSNull": NS_OBJECT, as (), ["NSCopying"]
    methods {
        + "null" (_class) -> Id {
            static NULL: std::sync::OnceLock<Id> = std::sync::OnceLock::new();
            *NULL.get_or_init(|| {
                let null = allocate(&NS_NULL, 0);
                NS_NULL.data.live.fetch_sub(1, Ordering::Relaxed);
                null
            })
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { retain(this.id()) }
        - "description" (_this) -> Id { string::new("<null>").autorelease() }
    }
}

/// The token of the pool that an NSAutoreleasePool stands for.
#[derive(Default)]
pub(crate) struct OldPool(usize);

class! {
    NS_AUTORELEASE_POOL = "NSAutoreleasePool": NS_OBJECT, default Fields<OldPool>, []
    methods {
        + "addObject:" (_class, object: Id) { object.autorelease(); }
        - "init" (this) -> Id {
            this.set(Fields::new(OldPool(pool::objc_autoreleasePoolPush().expose_provenance())))
        }
        - "addObject:" (_this, object: Id) { object.autorelease(); }
        - "drain" (this) { release(this.id()) }
        - "dealloc" (this) {
            let OldPool(token) = std::mem::take(&mut *this.lock());
            pool::objc_autoreleasePoolPop(std::ptr::with_exposed_provenance_mut(token));
            deallocate(this.id());
        }
    }
}
