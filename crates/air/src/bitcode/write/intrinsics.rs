//! Functions whose name says what their pointers point to: LLVM's own, and those of AIR.

use super::types::{Type, TypeId, Types};
use super::{Result, missing};

/// LLVM's functions that LLVM 14 has with the parameters of LLVM 22, without the types at the end of their names.
/// Those for coroutines, exceptions, garbage collection, profiles and targets are left out.
const KNOWN: &[&str] = &[
    "abs",
    "arithmetic.fence",
    "assume",
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "copysign",
    "cos",
    "ctlz",
    "ctpop",
    "cttz",
    "dbg.declare",
    "dbg.label",
    "dbg.value",
    "debugtrap",
    "donothing",
    "exp",
    "exp2",
    "expect",
    "expect.with.probability",
    "experimental.noalias.scope.decl",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fptosi.sat",
    "fptoui.sat",
    "fshl",
    "fshr",
    "invariant.end",
    "invariant.start",
    "is.constant",
    "launder.invariant.group",
    "lifetime.end",
    "lifetime.start",
    "llrint",
    "llround",
    "log",
    "log10",
    "log2",
    "lrint",
    "lround",
    "maximum",
    "maxnum",
    "memcpy",
    "memcpy.inline",
    "memmove",
    "memset",
    "minimum",
    "minnum",
    "nearbyint",
    "objectsize",
    "pow",
    "powi",
    "prefetch",
    "ptrmask",
    "readcyclecounter",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "sdiv.fix",
    "sdiv.fix.sat",
    "sideeffect",
    "sin",
    "smax",
    "smin",
    "smul.fix",
    "smul.fix.sat",
    "smul.with.overflow",
    "sqrt",
    "ssa.copy",
    "sshl.sat",
    "ssub.sat",
    "ssub.with.overflow",
    "strip.invariant.group",
    "trap",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "udiv.fix",
    "udiv.fix.sat",
    "umax",
    "umin",
    "umul.fix",
    "umul.fix.sat",
    "umul.with.overflow",
    "ushl.sat",
    "usub.sat",
    "usub.with.overflow",
    "vector.reduce.add",
    "vector.reduce.and",
    "vector.reduce.fadd",
    "vector.reduce.fmax",
    "vector.reduce.fmin",
    "vector.reduce.fmul",
    "vector.reduce.mul",
    "vector.reduce.or",
    "vector.reduce.smax",
    "vector.reduce.smin",
    "vector.reduce.umax",
    "vector.reduce.umin",
    "vector.reduce.xor",
];

/// The name of a function in LLVM 14; an error if it is one of LLVM's that LLVM 14 does not have.
pub(super) fn name(name: &[u8]) -> Result<Vec<u8>> {
    let Some(own) = name.strip_prefix(b"llvm.") else { return Ok(name.to_vec()) };
    let text = std::str::from_utf8(own).map_err(|_| missing("name"))?;
    let is_known = KNOWN.iter().any(|known| {
        let types = text.strip_prefix(known);
        types.is_some_and(|types| types.is_empty() || types.starts_with('.') && types[1..].split('.').all(is_type))
    });
    if !is_known {
        return Err(format!("LLVM 14 has no function 'llvm.{text}'"));
    }
    let parts = text.split('.').map(|part| match part.strip_prefix('p') {
        Some(space) if !space.is_empty() && space.bytes().all(|byte| byte.is_ascii_digit()) => format!("{part}i8"),
        _ => part.to_owned(),
    });
    Ok(format!("llvm.{}", parts.collect::<Vec<_>>().join(".")).into_bytes())
}

/// True for a type in the name of an intrinsic: `i32`, `v4f32`, `p1`.
fn is_type(part: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match part.as_bytes().first() {
        Some(b'i' | b'f' | b'p') => number(&part[1..]),
        Some(b'b') => part == "bf16",
        Some(b'v') => {
            let end = part[1..].find(|one: char| !one.is_ascii_digit()).map_or(part.len(), |end| end + 1);
            end > 1 && is_type(&part[end..])
        }
        Some(b's') => part.starts_with("s_") || part.starts_with("sl_"),
        _ => false,
    }
}

/// True for `llvm.lifetime.start` and `end`, which have lost the parameter for the size since LLVM 14.
pub(super) fn is_lifetime(name: &[u8]) -> bool {
    name.starts_with(b"llvm.lifetime.start.") || name.starts_with(b"llvm.lifetime.end.")
}

/// The pointee of a function's pointer, which is its `index`th, as the name shows; none if it does not.
pub(super) fn pointee(name: &[u8], index: usize, types: &mut Types) -> Option<TypeId> {
    let name = std::str::from_utf8(name).ok()?;
    if name.starts_with("llvm.") || name == crate::log::OS_LOG {
        return Some(types.integer(8));
    }
    let parts = || name.split('.').skip(1);
    if name.starts_with("air.atomic.") {
        return parts().filter_map(|part| mangled(part, types)).last();
    }
    // air.simdgroup_matrix_8x8_load.v64f32.p1f32
    let pointers = parts().filter_map(|part| {
        let rest = part.strip_prefix('p')?;
        mangled(rest.trim_start_matches(|one: char| one.is_ascii_digit()), types)
    });
    let pointers: Vec<TypeId> = pointers.collect();
    pointers.get(index).copied()
}

/// A type as names spell it: `f32`, `v4i16`.
fn mangled(text: &str, types: &mut Types) -> Option<TypeId> {
    if let Some(vector) = text.strip_prefix('v') {
        let end = vector.find(|one: char| !one.is_ascii_digit())?;
        let element = mangled(&vector[end..], types)?;
        return Some(types.intern(Type::Vector(vector[..end].parse().ok()?, element)));
    }
    Some(match text {
        "f16" => types.intern(Type::Half),
        "bf16" => types.intern(Type::BFloat),
        "f32" => types.intern(Type::Float),
        "f64" => types.intern(Type::Double),
        "i8" | "i16" | "i32" | "i64" => types.integer(text[1..].parse().ok()?),
        _ => return None,
    })
}

/// The type of a value in memory, by its name in Metal; none for structures and other types that LLVM spells as it
/// likes.
pub(super) fn metal_type(name: &str, types: &mut Types) -> Option<TypeId> {
    let (scalar, length) = match name.as_bytes().last()? {
        digit @ b'2'..=b'4' => (&name[..name.len() - 1], u64::from(digit - b'0')),
        _ => (name, 1),
    };
    let scalar = match scalar {
        "float" => types.intern(Type::Float),
        "half" => types.intern(Type::Half),
        "bfloat" => types.intern(Type::BFloat),
        "char" | "uchar" | "bool" => types.integer(8),
        "short" | "ushort" => types.integer(16),
        "int" | "uint" => types.integer(32),
        "long" | "ulong" => types.integer(64),
        _ => return None,
    };
    Some(if length == 1 { scalar } else { types.intern(Type::Vector(length, scalar)) })
}

#[cfg(test)]
mod tests {
    use super::{metal_type, name, pointee};
    use crate::bitcode::write::types::{Type, Types};

    #[test]
    fn names_of_llvm_14() {
        let known = |text: &str| name(text.as_bytes()).map(|name| String::from_utf8(name).expect("text"));
        assert_eq!(known("llvm.memcpy.p0.p1.i64"), Ok("llvm.memcpy.p0i8.p1i8.i64".into()));
        assert_eq!(known("llvm.lifetime.start.p0"), Ok("llvm.lifetime.start.p0i8".into()));
        assert_eq!(known("llvm.fmuladd.v4f32"), Ok("llvm.fmuladd.v4f32".into()));
        assert_eq!(known("llvm.exp.bf16"), Ok("llvm.exp.bf16".into()));
        assert_eq!(known("air.exp.f32"), Ok("air.exp.f32".into()));
        for new in
            ["llvm.ucmp.i32.i32", "llvm.is.fpclass.f32", "llvm.ldexp.f32.i32", "llvm.exp10.f32", "llvm.tan.f32"]
        {
            assert_eq!(known(new), Err(format!("LLVM 14 has no function '{new}'")));
        }
        assert!(known("llvm.masked.load.v4f32.p0").is_err());
    }

    #[test]
    fn pointees_in_names() {
        let mut types = Types::default();
        let float = types.intern(Type::Float);
        let (byte, word) = (types.integer(8), types.integer(32));
        let mut of = |name: &str, index| pointee(name.as_bytes(), index, &mut types);
        assert_eq!(of("air.atomic.global.add.f32", 0), Some(float));
        assert_eq!(of("air.atomic.local.max.u.i32", 0), Some(word));
        assert_eq!(of("air.simdgroup_matrix_8x8_load.v64f32.p1f32", 0), Some(float));
        assert_eq!(of("air.simdgroup_async_copy_2d.p3i8.p1i8", 1), Some(byte));
        assert_eq!(of("llvm.memcpy.p0.p1.i64", 1), Some(byte));
        assert_eq!(of("air.os_log", 3), Some(byte));
        assert_eq!(of("air.frexp.f32", 0), None);
        let four = types.intern(Type::Vector(4, float));
        assert_eq!(metal_type("float4", &mut types), Some(four));
        assert_eq!(metal_type("packed_float3", &mut types), None);
    }
}
