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

/// `MTLDataTypeStruct`
const STRUCT: usize = 1;

fn type_of(name: &str, has_fields: bool) -> usize {
    match data_type(name) {
        Some(number) => number.into(),
        None if has_fields => STRUCT,
        None => 0,
    }
}

fn bindings(this: &Reflection) -> Id {
    Items::strong(
        this.arguments.iter().map(|argument| Strong::new(ListedArgument { argument: argument.clone() })).collect(),
    )
    .autorelease()
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
    argument: Argument,
}

class! {
    BINDING = "MTLBindingInternal": NS_OBJECT, new ListedArgument,
        ["MTLBinding", "MTLBufferBinding", "MTLThreadgroupBinding"]
    absent {
        "bufferPointerType", "objectPayloadAlignment", "objectPayloadDataSize", "textureType", "textureDataType",
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
            match this.argument.access { Access::Read => 0, Access::ReadWrite => 1, Access::Write => 2 }
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
        - "threadgroupMemoryAlignment" (this) -> usize { this.argument.element_align as usize }
        - "threadgroupMemoryDataSize" (this) -> usize { this.argument.element_size as usize }
    }
}

/// The type of a struct.
pub(crate) struct StructType {
    fields: Vec<FieldInfo>,
}

class! {
    STRUCT_TYPE = "MTLStructType": NS_OBJECT, new StructType, []
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
    absent { "structType", "arrayType", "textureReferenceType", "pointerType", "tensorReferenceType", }
    methods {
        - "name" (this) -> Id { string::new(&this.field.name).autorelease() }
        - "offset" (this) -> usize { this.field.offset as usize }
        - "dataType" (this) -> usize { type_of(&this.field.ty, false) }
        - "argumentIndex" (_this) -> usize { 0 }
    }
}
