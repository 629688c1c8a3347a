//! Names of Metal's data types.

use objc2_metal::MTLDataType;

/// All types of function constants: those of [`abi::ConstantValue`].
const TYPES: [(MTLDataType, &str); 48] = [
    (MTLDataType::Bool, "bool"),
    (MTLDataType::Bool2, "bool2"),
    (MTLDataType::Bool3, "bool3"),
    (MTLDataType::Bool4, "bool4"),
    (MTLDataType::Char, "char"),
    (MTLDataType::Char2, "char2"),
    (MTLDataType::Char3, "char3"),
    (MTLDataType::Char4, "char4"),
    (MTLDataType::UChar, "uchar"),
    (MTLDataType::UChar2, "uchar2"),
    (MTLDataType::UChar3, "uchar3"),
    (MTLDataType::UChar4, "uchar4"),
    (MTLDataType::Short, "short"),
    (MTLDataType::Short2, "short2"),
    (MTLDataType::Short3, "short3"),
    (MTLDataType::Short4, "short4"),
    (MTLDataType::UShort, "ushort"),
    (MTLDataType::UShort2, "ushort2"),
    (MTLDataType::UShort3, "ushort3"),
    (MTLDataType::UShort4, "ushort4"),
    (MTLDataType::Int, "int"),
    (MTLDataType::Int2, "int2"),
    (MTLDataType::Int3, "int3"),
    (MTLDataType::Int4, "int4"),
    (MTLDataType::UInt, "uint"),
    (MTLDataType::UInt2, "uint2"),
    (MTLDataType::UInt3, "uint3"),
    (MTLDataType::UInt4, "uint4"),
    (MTLDataType::Long, "long"),
    (MTLDataType::Long2, "long2"),
    (MTLDataType::Long3, "long3"),
    (MTLDataType::Long4, "long4"),
    (MTLDataType::ULong, "ulong"),
    (MTLDataType::ULong2, "ulong2"),
    (MTLDataType::ULong3, "ulong3"),
    (MTLDataType::ULong4, "ulong4"),
    (MTLDataType::Half, "half"),
    (MTLDataType::Half2, "half2"),
    (MTLDataType::Half3, "half3"),
    (MTLDataType::Half4, "half4"),
    (MTLDataType::BFloat, "bfloat"),
    (MTLDataType::BFloat2, "bfloat2"),
    (MTLDataType::BFloat3, "bfloat3"),
    (MTLDataType::BFloat4, "bfloat4"),
    (MTLDataType::Float, "float"),
    (MTLDataType::Float2, "float2"),
    (MTLDataType::Float3, "float3"),
    (MTLDataType::Float4, "float4"),
];

/// The Metal type with this name.
pub(super) fn by_name(name: &str) -> Option<MTLDataType> {
    TYPES.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
}

/// The name of a type; types other than scalars and vectors are named by their kind.
pub(super) fn name(number: MTLDataType) -> String {
    let known = TYPES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    match (known, number) {
        (Some(name), _) => name.into(),
        (None, MTLDataType::None) => String::new(),
        (None, MTLDataType::Struct) => "struct".into(),
        (None, MTLDataType::Array) => "array".into(),
        (None, MTLDataType::Pointer) => "pointer".into(),
        (None, number) => format!("MTLDataType {}", number.0),
    }
}
