//! Residency sets: all memory is resident, so that they only remember their allocations.

use super::device::Device;
use crate::foundation::array::Items;
use crate::foundation::ask;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::{Fields, Id, Object, Strong};
use std::sync::atomic::{AtomicU64, Ordering};

/// A residency set.
pub(crate) struct ResidencySet {
    device: Strong,
    label: Strong,
    /// With additions and removals that are not committed.
    allocations: Fields<Vec<Strong>>,
    /// Bytes at the last commit.
    size: AtomicU64,
}

pub(crate) fn create(device: Object<Device>, label: Strong) -> Strong {
    Strong::new(ResidencySet {
        device: device.strong(),
        label,
        allocations: Fields::default(),
        size: AtomicU64::new(0),
    })
}

impl ResidencySet {
    fn add(&self, here: &str, allocation: Id) {
        forbid!(here, allocation.is_nil(), (), "allocation must not be nil.");
        let mut allocations = self.allocations.lock();
        if !allocations.iter().any(|own| own.id() == allocation) {
            allocations.push(Strong::retain(allocation));
        }
    }

    fn remove(&self, allocation: Id) {
        let _removed: Vec<Strong> = self.allocations.lock().extract_if(.., |own| own.id() == allocation).collect();
    }
}

/// The objects of an array of the program.
pub(crate) fn objects<'a>(objects: *const Id, count: usize) -> &'a [Id] {
    // SAFETY: the program passes that many objects.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(objects, count) } }
}

class! {
    RESIDENCY_SET = "MTLDebugResidencySet": NS_OBJECT, new ResidencySet, ["MTLResidencySet"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.id() }
        - "allocatedSize" (this) -> u64 { this.size.load(Ordering::Acquire) }
        - "allocationCount" (this) -> usize { this.allocations.lock().len() }
        - "allAllocations" (this) -> Id { Items::strong(this.allocations.lock().clone()).autorelease() }
        - "containsAllocation:" (this, allocation: Id) -> bool {
            this.allocations.lock().iter().any(|own| own.id() == allocation)
        }
        - "addAllocation:" (this, allocation: Id) { this.add(HERE, allocation) }
        - "addAllocations:count:" (this, allocations: *const Id, count: usize) {
            objects(allocations, count).iter().for_each(|allocation| this.add(HERE, *allocation));
        }
        - "removeAllocation:" (this, allocation: Id) { this.remove(allocation) }
        - "removeAllocations:count:" (this, allocations: *const Id, count: usize) {
            objects(allocations, count).iter().for_each(|allocation| this.remove(*allocation));
        }
        - "removeAllAllocations" (this) { let _removed = std::mem::take(&mut *this.allocations.lock()); }
        - "commit" (this) {
            let allocations = this.allocations.lock().clone();
            let size = |own: &Strong| ask(own.id(), c"allocatedSize").map_or(0, |size| size.0.addr() as u64);
            this.size.store(allocations.iter().map(size).sum(), Ordering::Release);
        }
        - "requestResidency" (_this) {}
        - "endResidency" (_this) {}
    }
}
