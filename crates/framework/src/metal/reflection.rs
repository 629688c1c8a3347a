//! The arguments of a pipeline state: MTLComputePipelineReflection and the objects in it.

use crate::foundation::array::Items;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::{Id, Strong};
use air::metallib::data_type;
use compute::reflect::{Access, Argument, ArgumentKind, FieldInfo, Kernel};

/// The reflection of a pipeline state.
pub(crate) struct Reflection {
    arguments: Vec<Argument>,
}

pub(crate) fn create(kernel: &Kernel) -> Strong {
    Strong::new(Reflection { arguments: kernel.arguments.clone() })
}

/// `MTLDataTypeNone`
const NONE: usize = 0;
/// `MTLDataTypeStruct`
const STRUCT: usize = 1;
/// `MTLDataTypeArray`
const ARRAY: usize = 2;
/// `MTLDataTypePointer`
pub(super) const POINTER: usize = 60;

fn type_of(name: &str, has_fields: bool) -> usize {
    match data_type(name) {
        Some(number) => number.into(),
        None if has_fields => STRUCT,
        None => 0,
    }
}

/// An array as a member: `float [3][4]` is 3 elements of `float [4]`, and `device int *[2]` 2 of `device int *`. A pointer
/// to an array, `device int (*)[2]`, is none.
pub(super) fn array_of(ty: &str) -> Option<(u64, String)> {
    let (element, lengths) = ty.split_once('[').filter(|(element, _)| !element.ends_with(')'))?;
    let (length, inner) = lengths.split_once(']')?;
    let element = element.trim_end();
    let element = if inner.is_empty() { element.to_owned() } else { format!("{element} {inner}") };
    Some((length.parse().ok()?, element))
}

/// A pointer as a member: the type behind it, and true if it is read only.
pub(super) fn pointee_of(ty: &str) -> Option<(&str, bool)> {
    let pointee = ty.strip_suffix('*').or_else(|| ty.strip_suffix('&'))?.trim_end();
    let is_constant = pointee.split(' ').any(|word| word == "const" || word == "constant");
    let mut name = pointee.split(' ').filter(|word| !["const", "constant", "device", "threadgroup"].contains(word));
    name.next_back().map(|name| (name, is_constant))
}

/// The type of a member. One whose name is no type of the language's is a struct.
fn member_type(ty: &str) -> usize {
    match data_type(ty) {
        Some(number) => number.into(),
        None if array_of(ty).is_some() => ARRAY,
        None if pointee_of(ty).is_some() => POINTER,
        // `packed_float3` and the like have no number.
        None if ty.starts_with("packed_") || ty.starts_with("atomic_") || ty.contains('<') => 0,
        None => STRUCT,
    }
}

/// True for a number or a vector.
pub(super) fn is_value(ty: &str) -> bool {
    data_type(ty).is_some() || ty.starts_with("packed_")
}

pub(super) fn is_buffer(argument: &Argument, index: usize) -> bool {
    argument.kind == ArgumentKind::Buffer && argument.index as usize == index
}

pub(super) fn listed(argument: &Argument) -> Strong {
    Strong::new(ListedArgument { argument: argument.clone() })
}

fn bindings(this: &Reflection) -> Id {
    Items::strong(this.arguments.iter().map(listed).collect()).autorelease()
}

class! {
    COMPUTE_PIPELINE_REFLECTION = "MTLComputePipelineReflection": NS_OBJECT, new Reflection, []
    methods {
        - "bindings" (this) -> Id { bindings(&this) }
        - "arguments" (this) -> Id { bindings(&this) }
    }
}

/// An argument.
pub(crate) struct ListedArgument {
    pub(super) argument: Argument,
}

class! {
    BINDING = "MTLBindingInternal": NS_OBJECT, new ListedArgument,
        ["MTLBinding", "MTLBufferBinding", "MTLThreadgroupBinding"]
    absent {
        "objectPayloadAlignment", "objectPayloadDataSize", "textureType", "textureDataType",
        "isDepthTexture", "tensorDataType", "indexType", "dimensions",
    }
    methods {
        - "name" (this) -> Id { string::new(&this.argument.name).autorelease() }
        - "type" (this) -> isize {
            match this.argument.kind {
                ArgumentKind::Buffer | ArgumentKind::Other => 0,
                ArgumentKind::ThreadgroupMemory => 1,
                ArgumentKind::Texture => 2,
                ArgumentKind::Sampler => 3,
                ArgumentKind::VisibleFunctionTable => 24,
            }
        }
        - "access" (this) -> usize {
            access_number(this.argument.access)
        }
        - "index" (this) -> usize { this.argument.index as usize }
        - "isUsed" (this) -> bool { this.argument.is_used }
        - "isActive" (this) -> bool { this.argument.is_used }
        - "isArgument" (_this) -> bool { true }
        - "arrayLength" (_this) -> usize { 1 }
        - "bufferAlignment" (this) -> usize { this.argument.element_align as usize }
        - "bufferDataSize" (this) -> usize { this.argument.element_size as usize }
        - "bufferDataType" (this) -> usize { type_of(&this.argument.element_type, !this.argument.fields.is_empty()) }
        - "bufferStructType" (this) -> Id {
            match type_of(&this.argument.element_type, !this.argument.fields.is_empty()) {
                STRUCT => Strong::new(StructType { fields: this.argument.fields.clone() }).autorelease(),
                _ => Id::NIL,
            }
        }
        - "bufferPointerType" (this) -> Id {
            let Argument { element_type, element_size, element_align, access, fields, .. } = &this.argument;
            let element = type_of(element_type, !fields.is_empty());
            Strong::new(PointerType {
                element,
                size: *element_size as usize,
                align: *element_align as usize,
                access: access_number(*access),
                fields: fields.clone(),
            })
            .autorelease()
        }
        - "threadgroupMemoryAlignment" (this) -> usize { this.argument.element_align as usize }
        - "threadgroupMemoryDataSize" (this) -> usize { this.argument.element_size as usize }
    }
}

/// `MTLBindingAccess`
fn access_number(access: Access) -> usize {
    match access {
        Access::Read => 0,
        Access::ReadWrite => 1,
        Access::Write => 2,
    }
}

class! {
    TYPE = "MTLType": NS_OBJECT, as (), []
    methods {
        - "dataType" (_this) -> usize { NONE }
    }
}

/// The type of a pointer.
pub(crate) struct PointerType {
    element: usize,
    /// Size and alignment of an element; 0 where they are not known.
    size: usize,
    align: usize,
    access: usize,
    fields: Vec<FieldInfo>,
}

class! {
    POINTER_TYPE = "MTLPointerType": TYPE, new PointerType, []
    absent { "elementArrayType", }
    methods {
        - "dataType" (_this) -> usize { POINTER }
        - "elementType" (this) -> usize { this.element }
        - "access" (this) -> usize { this.access }
        - "alignment" (this) -> usize { this.align }
        - "dataSize" (this) -> usize { this.size }
        - "elementIsArgumentBuffer" (this) -> bool { this.fields.iter().any(|field| field.id.is_some()) }
        - "elementStructType" (this) -> Id {
            match this.fields.is_empty() {
                true => Id::NIL,
                false => Strong::new(StructType { fields: this.fields.clone() }).autorelease(),
            }
        }
    }
}

/// The type of an array.
pub(crate) struct ArrayType {
    element: String,
    length: u64,
    size: u64,
}

class! {
    ARRAY_TYPE = "MTLArrayType": TYPE, new ArrayType, []
    absent { "elementStructType", "elementTextureReferenceType", "elementTensorReferenceType", }
    methods {
        - "dataType" (_this) -> usize { ARRAY }
        - "elementType" (this) -> usize { member_type(&this.element) }
        - "arrayLength" (this) -> usize { this.length as usize }
        - "stride" (this) -> usize { (this.size / this.length.max(1)) as usize }
        - "argumentIndexStride" (this) -> usize { usize::from(pointee_of(&this.element).is_some()) }
        - "elementArrayType" (this) -> Id { array_type(&this.element, this.size / this.length.max(1)) }
        - "elementPointerType" (this) -> Id { pointer_type(&this.element) }
    }
}

/// The object for the type of a member that is an array; nil for others.
fn array_type(ty: &str, size: u64) -> Id {
    let array = array_of(ty).map(|(length, element)| Strong::new(ArrayType { element, length, size }));
    array.map_or(Id::NIL, Strong::autorelease)
}

/// The object for the type of a member that is a pointer; nil for others.
fn pointer_type(ty: &str) -> Id {
    let Some((element, is_constant)) = pointee_of(ty) else { return Id::NIL };
    let (element, access) = (member_type(element), usize::from(!is_constant));
    Strong::new(PointerType { element, size: 0, align: 0, access, fields: Vec::new() }).autorelease()
}

/// The type of a struct.
pub(crate) struct StructType {
    fields: Vec<FieldInfo>,
}

class! {
    STRUCT_TYPE = "MTLStructType": TYPE, new StructType, []
    methods {
        - "members" (this) -> Id {
            Items::strong(this.fields.iter().map(|field| Strong::new(Member { field: field.clone() })).collect())
                .autorelease()
        }
        - "memberByName:" (this, name: Id) -> Id {
            let name = string::describe(name);
            let field = this.fields.iter().find(|field| field.name == name);
            field.map_or(Id::NIL, |field| Strong::new(Member { field: field.clone() }).autorelease())
        }
        - "dataType" (_this) -> usize { STRUCT }
    }
}

/// A member of a struct.
pub(crate) struct Member {
    field: FieldInfo,
}

class! {
    STRUCT_MEMBER = "MTLStructMember": NS_OBJECT, new Member, []
    absent { "structType", "textureReferenceType", "tensorReferenceType", }
    methods {
        - "name" (this) -> Id { string::new(&this.field.name).autorelease() }
        - "offset" (this) -> usize { this.field.offset as usize }
        - "dataType" (this) -> usize { member_type(&this.field.ty) }
        - "arrayType" (this) -> Id { array_type(&this.field.ty, this.field.size) }
        - "pointerType" (this) -> Id { pointer_type(&this.field.ty) }
        - "argumentIndex" (this) -> usize { this.field.id.unwrap_or_default() as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_members() {
        assert_eq!(array_of("float [3][4]"), Some((3, "float [4]".into())));
        assert_eq!(array_of("float [4]"), Some((4, "float".into())));
        assert_eq!(array_of("float4"), None);
        assert_eq!(array_of("const device int *[2]"), Some((2, "const device int *".into())));
        assert_eq!(array_of("device int *[2][3]"), Some((2, "device int * [3]".into())));
        assert_eq!(array_of("device int (*)[2]"), None);
        assert_eq!(pointee_of("const device float4 *"), Some(("float4", true)));
        assert_eq!(pointee_of("device Node *"), Some(("Node", false)));
        assert_eq!(
            [member_type("int [5]"), member_type("device int *"), member_type("Inner")],
            [ARRAY, POINTER, STRUCT]
        );
        assert_eq!([member_type("uint"), member_type("packed_float3")], [33, 0]);
    }
}
