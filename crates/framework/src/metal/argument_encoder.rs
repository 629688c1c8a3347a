//! MTLArgumentEncoder: writes addresses and values to the members of an argument buffer, by their ids. The members lie as in
//! the struct of the kernel, so that a program can also write them itself (`gpuAddress`).

use super::buffer::{Buffer, storage};
use super::constants;
use super::descriptors::{ArgumentFields, PRIVATE};
use super::device::Device;
use super::function::Function;
use super::library::Library;
use super::reflection::{self, ListedArgument, array_of, pointee_of};
use crate::foundation::array::Items;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::{Fields, Id, Object, Range, Strong};
use compute::reflect::{Argument, FieldInfo};
use std::ffi::c_void;

/// An encoder.
pub(crate) struct ArgumentEncoder {
    device: Strong,
    members: Vec<Member>,
    size: usize,
    align: usize,
    label: Fields<Strong>,
    target: Fields<Destination>,
}

/// The part of a buffer that is written.
#[derive(Clone, Default)]
struct Destination {
    buffer: Strong,
    offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Buffer,
    Value,
    /// A texture, a sampler or a struct.
    Other,
}

/// Elements with ids in a row.
#[derive(PartialEq, Eq, Debug)]
struct Member {
    id: usize,
    count: usize,
    offset: usize,
    stride: usize,
    kind: Kind,
}

/// The size of an address.
const ADDRESS: usize = 8;

impl Member {
    /// `None` for a field of another struct than an argument buffer.
    fn of(field: &FieldInfo) -> Option<Member> {
        let (mut element, mut count) = (field.ty.clone(), 1);
        while let Some((length, inner)) = array_of(&element).or_else(|| array_class(&element)) {
            count *= usize::try_from(length).ok()?.max(1);
            element = inner;
        }
        let kind = match pointee_of(&element) {
            Some(_) => Kind::Buffer,
            None if reflection::is_value(&element) => Kind::Value,
            None => Kind::Other,
        };
        let (id, offset) = (usize::try_from(field.id?).ok()?, usize::try_from(field.offset).ok()?);
        Some(Member { id, count, offset, stride: usize::try_from(field.size).ok()? / count, kind })
    }
}

/// The length and element of `array<device float *, 4>`.
fn array_class(ty: &str) -> Option<(u64, String)> {
    let inside = ty.strip_prefix("metal::").unwrap_or(ty).strip_prefix("array<")?.strip_suffix('>')?;
    let (element, length) = inside.rsplit_once(", ")?;
    Some((length.parse().ok()?, element.to_owned()))
}

/// The encoder for a buffer of a function.
pub(crate) fn of_function(this: Object<Function>, here: &str, index: usize, reflection: *mut Id) -> Id {
    let library = this.library.cast::<Library>();
    let Some((library, device)) = library.and_then(|library| Some((library, library.device.cast::<Device>()?)))
    else {
        return Id::NIL;
    };
    let found = library.library.reflection(&this.listed.name, &this.constants);
    let arguments = found.map(|kernel| kernel.arguments).unwrap_or_default();
    let argument = arguments.into_iter().find(|argument| reflection::is_buffer(argument, index));
    forbid!(
        here,
        argument.is_none(),
        Id::NIL,
        "bufferIndex({index}) is no buffer of the function '{}'.",
        this.listed.name
    );
    let Some(argument) = argument else { return Id::NIL };
    if !reflection.is_null() {
        reflection::listed(&argument).autorelease().store(reflection);
    }
    of_argument(device, here, &argument)
}

/// The encoder for a buffer of a pipeline's reflection.
pub(crate) fn of_binding(this: Object<Device>, here: &str, binding: Id) -> Id {
    match binding.expect::<ListedArgument>(here, "bufferBinding") {
        Some(binding) => of_argument(this, here, &binding.argument),
        None => Id::NIL,
    }
}

fn of_argument(device: Object<Device>, here: &str, argument: &Argument) -> Id {
    let members: Vec<Member> = argument.fields.iter().filter_map(Member::of).collect();
    forbid!(here, members.is_empty(), Id::NIL, "the buffer '{}' is not an argument buffer.", argument.name);
    create(device, members, argument.element_size as usize, argument.element_align as usize)
}

fn create(device: Object<Device>, members: Vec<Member>, size: usize, align: usize) -> Id {
    let (label, target) = (Fields::default(), Fields::default());
    Strong::new(ArgumentEncoder { device: device.strong(), members, size, align, label, target }).into_id()
}

/// The encoder for members that the program describes, in the order of their indices.
pub(crate) fn of_descriptors(this: Object<Device>, here: &str, descriptors: Id) -> Id {
    let mut described = Vec::new();
    for descriptor in Items::of(descriptors) {
        let Some(descriptor) = descriptor.id().expect::<Fields<ArgumentFields>>(here, "arguments") else {
            return Id::NIL;
        };
        described.push(descriptor.lock().clone());
    }
    described.sort_by_key(|descriptor| descriptor.index);
    let (mut members, mut end, mut align) = (Vec::new(), 0usize, 1usize);
    for descriptor in described {
        let ArgumentFields { data_type, index, length, block_alignment, .. } = descriptor;
        let is_buffer = data_type == reflection::POINTER;
        let size = if is_buffer { Some(ADDRESS) } else { constants::size(data_type) };
        forbid!(
            here,
            size.is_none(),
            Id::NIL,
            "dataType({data_type}) is not supported: this device has no textures."
        );
        let Some(size) = size else { return Id::NIL };
        let own = size.max(block_alignment);
        forbid!(here, !own.is_power_of_two(), Id::NIL, "constantBlockAlignment({own}) must be a power of two.");
        let taken = members.last().is_some_and(|last: &Member| index < last.id + last.count);
        forbid!(here, taken, Id::NIL, "index({index}) is used by two arguments.");
        let (offset, count) = (end.next_multiple_of(own), length.max(1));
        let kind = if is_buffer { Kind::Buffer } else { Kind::Value };
        members.push(Member { id: index, count, offset, stride: size, kind });
        (end, align) = (offset + size * count, align.max(own));
    }
    forbid!(here, members.is_empty(), Id::NIL, "arguments must not be empty.");
    create(this, members, end.next_multiple_of(align), align)
}

impl ArgumentEncoder {
    /// The memory of a member.
    fn place(&self, here: &str, index: usize, kind: Kind) -> Option<*mut u8> {
        let Destination { buffer, offset } = self.target.lock().clone();
        let buffer = buffer.cast::<Buffer>();
        forbid!(here, buffer.is_none(), None, "no argument buffer has been set.");
        let holds = |member: &&Member| (member.id..member.id + member.count).contains(&index);
        let member = self.members.iter().find(holds);
        forbid!(here, member.is_none(), None, "index({index}) is not in the argument buffer.");
        let member = member?;
        forbid!(
            here,
            member.kind != kind,
            None,
            "index({index}) is {}.",
            match member.kind {
                Kind::Buffer => "a buffer",
                Kind::Value => "a value",
                Kind::Other => "a texture, a sampler or a struct, which this encoder cannot write",
            }
        );
        let at = offset + member.offset + (index - member.id) * member.stride;
        Some(buffer?.buffer.contents().wrapping_add(at))
    }

    fn set_buffer(&self, here: &str, buffer: Id, offset: usize, index: usize) {
        let address = match buffer.is_nil() {
            true => 0,
            false => {
                let Some(buffer) = buffer.expect::<Buffer>(here, "buffer") else { return };
                let length = buffer.buffer.len();
                forbid!(here, offset > length, (), "offset({offset}) must be <= the buffer's length({length}).");
                (buffer.buffer.contents().addr() + offset) as u64
            }
        };
        if let Some(place) = self.place(here, index, Kind::Buffer) {
            // SAFETY: the member is inside the argument buffer, and addresses in it may be unaligned without the layer.
            unsafe { place.cast::<u64>().write_unaligned(address) };
        }
    }

    fn set_target(&self, here: &str, buffer: Id, offset: usize) {
        if !buffer.is_nil() {
            let Some(buffer) = buffer.expect::<Buffer>(here, "argumentBuffer") else { return };
            let (size, align, length) = (self.size, self.align, buffer.buffer.len());
            forbid!(
                here,
                storage(buffer.options()) == PRIVATE,
                (),
                "storageMode of the argument buffer must not be MTLStorageModePrivate."
            );
            forbid!(here, !offset.is_multiple_of(align), (), "offset({offset}) must be a multiple of {align}.");
            let end = offset.checked_add(size);
            forbid!(
                here,
                end.is_none_or(|end| end > length),
                (),
                "offset({offset}) + encodedLength({size}) must be <= the buffer's length({length})."
            );
        }
        let _old =
            std::mem::replace(&mut *self.target.lock(), Destination { buffer: Strong::retain(buffer), offset });
    }
}

class! {
    ARGUMENT_ENCODER = "MTLDebugArgumentEncoder": NS_OBJECT, new ArgumentEncoder, ["MTLArgumentEncoder"]
    refused {
        "setTexture:atIndex:" "this device has no textures",
        "setTextures:withRange:" "this device has no textures",
        "setSamplerState:atIndex:" "this device has no textures",
        "setSamplerStates:withRange:" "this device has no textures",
        "setVisibleFunctionTable:atIndex:" "tables of functions are bound to kernels: setVisibleFunctionTable:atBufferIndex:",
        "setVisibleFunctionTables:withRange:" "tables of functions are bound to kernels: setVisibleFunctionTable:atBufferIndex:",
        "setIndirectCommandBuffer:atIndex:" "this device has no indirect command buffers",
        "setIndirectCommandBuffers:withRange:" "this device has no indirect command buffers",
        "newArgumentEncoderForBufferAtIndex:" "make the encoder of a nested buffer by newArgumentEncoderWithArguments: of the device",
    }
    absent {
        "setRenderPipelineState:atIndex:", "setRenderPipelineStates:withRange:", "setComputePipelineState:atIndex:",
        "setComputePipelineStates:withRange:", "setAccelerationStructure:atIndex:",
        "setIntersectionFunctionTable:atIndex:", "setIntersectionFunctionTables:withRange:",
        "setDepthStencilState:atIndex:", "setDepthStencilStates:withRange:",
    }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "encodedLength" (this) -> usize { this.size }
        - "alignment" (this) -> usize { this.align }
        - "setArgumentBuffer:offset:" (this, buffer: Id, offset: usize) { this.set_target(HERE, buffer, offset) }
        - "setArgumentBuffer:startOffset:arrayElement:" (this, buffer: Id, start: usize, element: usize) {
            let offset = element.checked_mul(this.size).and_then(|offset| offset.checked_add(start));
            this.set_target(HERE, buffer, offset.unwrap_or(usize::MAX & !0xfff))
        }
        - "setBuffer:offset:atIndex:" (this, buffer: Id, offset: usize, index: usize) {
            this.set_buffer(HERE, buffer, offset, index)
        }
        - "setBuffers:offsets:withRange:" (this, buffers: *const Id, offsets: *const usize, range: Range) {
            for (at, buffer) in super::residency::objects(buffers, range.length).iter().enumerate() {
                // SAFETY: the program passes as many offsets as buffers.
                this.set_buffer(HERE, *buffer, unsafe { *offsets.add(at) }, range.location + at)
            }
        }
        - "constantDataAtIndex:" (this, index: usize) -> *mut c_void {
            this.place(HERE, index, Kind::Value).map_or(std::ptr::null_mut(), <*mut u8>::cast)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_by_their_types() {
        let member = |ty: &str, size| {
            Member::of(&FieldInfo { name: "m".into(), ty: ty.into(), offset: 16, size, id: Some(3) })
        };
        let expected = |count, stride, kind| Some(Member { id: 3, count, offset: 16, stride, kind });
        assert_eq!(member("device float *", 8), expected(1, 8, Kind::Buffer));
        assert_eq!(member("const device Node *[4]", 32), expected(4, 8, Kind::Buffer));
        assert_eq!(member("array<device float *, 3>", 24), expected(3, 8, Kind::Buffer));
        assert_eq!(member("float4", 16), expected(1, 16, Kind::Value));
        assert_eq!(member("uint [2][3]", 24), expected(6, 4, Kind::Value));
        assert_eq!(member("texture2d<float>", 8), expected(1, 8, Kind::Other));
        assert_eq!(member("Inner", 40), expected(1, 40, Kind::Other));
    }
}
