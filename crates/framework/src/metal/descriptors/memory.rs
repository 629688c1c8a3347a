//! Descriptors of heaps, residency sets, captures, samples and members of argument buffers.

use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::{Copied, Fields, Id, Strong};
use std::ffi::c_void;

#[derive(Clone, Default)]
pub(crate) struct HeapFields {
    pub(crate) size: usize,
    pub(crate) storage: usize,
    pub(crate) cache_mode: usize,
    pub(crate) hazards: usize,
    pub(crate) kind: isize,
    sparse_page: isize,
    placement_page: isize,
}

/// `MTLStorageModePrivate`
pub(crate) const PRIVATE: usize = 2;

class! {
    HEAP_DESCRIPTOR = "MTLHeapDescriptor": NS_OBJECT, default Fields<HeapFields>, ["NSCopying"]
    properties {
        "size" "setSize:" size: usize,
        "storageMode" "setStorageMode:" storage: usize,
        "cpuCacheMode" "setCpuCacheMode:" cache_mode: usize,
        "hazardTrackingMode" "setHazardTrackingMode:" hazards: usize,
        "type" "setType:" kind: isize,
        "sparsePageSize" "setSparsePageSize:" sparse_page: isize,
        "maxCompatiblePlacementSparsePageSize" "setMaxCompatiblePlacementSparsePageSize:" placement_page: isize,
    }
    methods {
        - "init" (this) -> Id { this.set(Fields::new(HeapFields { storage: PRIVATE, ..HeapFields::default() })) }
        - "resourceOptions" (this) -> usize {
            let HeapFields { storage, cache_mode, hazards, .. } = *this.lock();
            cache_mode | storage << 4 | hazards << 8
        }
        - "setResourceOptions:" (this, options: usize) {
            let mut fields = this.lock();
            (fields.cache_mode, fields.storage, fields.hazards) = (options & 15, options >> 4 & 15, options >> 8 & 3);
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ResidencyFields {
    pub(crate) label: Strong,
    capacity: usize,
}

class! {
    RESIDENCY_SET_DESCRIPTOR = "MTLResidencySetDescriptor": NS_OBJECT, default Fields<ResidencyFields>, ["NSCopying"]
    properties {
        "label" "setLabel:" label: Copied,
        "initialCapacity" "setInitialCapacity:" capacity: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct CaptureFields {
    object: Strong,
    destination: isize,
    url: Strong,
}

class! {
    CAPTURE_DESCRIPTOR = "MTLCaptureDescriptor": NS_OBJECT, default Fields<CaptureFields>, ["NSCopying"]
    properties {
        "captureObject" "setCaptureObject:" object: Strong,
        "destination" "setDestination:" destination: isize,
        "outputURL" "setOutputURL:" url: Copied,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct CounterFields {
    pub(crate) set: Strong,
    pub(crate) label: Strong,
    pub(crate) storage: usize,
    pub(crate) samples: usize,
}

class! {
    COUNTER_SAMPLE_BUFFER_DESCRIPTOR = "MTLCounterSampleBufferDescriptor": NS_OBJECT, default Fields<CounterFields>,
        ["NSCopying"]
    properties {
        "counterSet" "setCounterSet:" set: Strong,
        "label" "setLabel:" label: Copied,
        "storageMode" "setStorageMode:" storage: usize,
        "sampleCount" "setSampleCount:" samples: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
        - "description" (this) -> Id {
            string::new(&format!("<MTLCounterSampleBufferDescriptor: {} samples>", this.lock().samples)).autorelease()
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ArgumentFields {
    pub(crate) data_type: usize,
    pub(crate) index: usize,
    pub(crate) length: usize,
    access: usize,
    texture_type: usize,
    pub(crate) block_alignment: usize,
}

class! {
    ARGUMENT_DESCRIPTOR = "MTLArgumentDescriptor": NS_OBJECT, default Fields<ArgumentFields>, ["NSCopying"]
    properties {
        "dataType" "setDataType:" data_type: usize,
        "index" "setIndex:" index: usize,
        "arrayLength" "setArrayLength:" length: usize,
        "access" "setAccess:" access: usize,
        "textureType" "setTextureType:" texture_type: usize,
        "constantBlockAlignment" "setConstantBlockAlignment:" block_alignment: usize,
    }
    methods {
        + "argumentDescriptor" (_class) -> Id { Strong::new(Fields::<ArgumentFields>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}
