//! Argument tables: addresses for the arguments of dispatches.

use crate::foundation::object::NS_OBJECT;
use crate::metal::bindings::Bindings;
use crate::metal::buffer;
use crate::metal::device::Device;
use crate::runtime::encode::ResourceId;
use crate::runtime::{Copied, Fields, Id, Object, Strong};
use std::collections::BTreeMap;
use std::ffi::c_void;

#[derive(Clone, Default)]
pub(crate) struct ArgumentTableFields {
    buffers: usize,
    textures: usize,
    samplers: usize,
    initializes: bool,
    strides: bool,
    label: Strong,
}

class! {
    ARGUMENT_TABLE_DESCRIPTOR = "MTL4ArgumentTableDescriptor": NS_OBJECT, default Fields<ArgumentTableFields>, ["NSCopying"]
    properties {
        "maxBufferBindCount" "setMaxBufferBindCount:" buffers: usize,
        "maxTextureBindCount" "setMaxTextureBindCount:" textures: usize,
        "maxSamplerStateBindCount" "setMaxSamplerStateBindCount:" samplers: usize,
        "initializeBindings" "setInitializeBindings:" initializes: bool,
        "supportAttributeStrides" "setSupportAttributeStrides:" strides: bool,
        "label" "setLabel:" label: Copied,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}

/// An argument table.
pub(crate) struct ArgumentTable {
    device: Strong,
    label: Strong,
    most: usize,
    addresses: Fields<BTreeMap<usize, u64>>,
}

pub(crate) fn create(device: Object<Device>, here: &str, fields: &ArgumentTableFields) -> Option<Strong> {
    let most = fields.buffers;
    forbid!(here, most > 31, None, "maxBufferBindCount({most}) must be <= 31.");
    forbid!(here, fields.textures > 0, None, "maxTextureBindCount must be 0: this device has no textures.");
    forbid!(here, fields.samplers > 0, None, "maxSamplerStateBindCount must be 0: this device has no textures.");
    let (device, label) = (device.strong(), fields.label.clone());
    Some(Strong::new(ArgumentTable { device, label, most, addresses: Fields::default() }))
}

impl ArgumentTable {
    fn set_address(&self, here: &str, address: u64, index: usize) {
        let most = self.most;
        forbid!(here, index >= most, (), "bindingIndex({index}) must be < maxBufferBindCount ({most}).");
        self.addresses.lock().insert(index, address);
    }

    /// Adds the arguments as they are now; `None` after a mistake.
    pub(crate) fn add_to(&self, bindings: &mut Bindings, here: &str) -> Option<()> {
        let addresses = self.addresses.lock().clone();
        for (index, address) in addresses.into_iter().filter(|(_, address)| *address != 0) {
            let found = buffer::at_address(address);
            forbid!(here, found.is_none(), None, "the address {address:#x} at index {index} is in no buffer.");
            let (buffer, offset) = found?;
            bindings.set_buffer(index, buffer, offset);
        }
        Some(())
    }
}

class! {
    ARGUMENT_TABLE = "MTL4DebugArgumentTable": NS_OBJECT, new ArgumentTable, ["MTL4ArgumentTable"]
    refused {
        "setTexture:atIndex:" "this device has no textures",
        "setSamplerState:atIndex:" "this device has no textures",
    }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.id() }
        - "setAddress:atIndex:" (this, address: u64, index: usize) { this.set_address(HERE, address, index) }
        - "setAddress:attributeStride:atIndex:" (this, address: u64, _stride: usize, index: usize) {
            this.set_address(HERE, address, index);
        }
        - "setResource:atBufferIndex:" (this, resource: ResourceId, index: usize) { this.set_address(HERE, resource.0, index) }
    }
}
