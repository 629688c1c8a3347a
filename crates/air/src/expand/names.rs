//! The names of functions: `air.[fast_]base[.s|.u].type`, `air.convert.f.f32.s.i32`, `llvm.base.type`.

/// The class of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Float,
    Signed,
    Unsigned,
}

/// The name of a function, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name<'a> {
    /// A function of AIR that concerns one thread.
    Air { base: &'a str, is_fast: bool, sign: Option<Class> },
    /// `air.convert`
    Convert { to: Class, from: Class },
    /// One of LLVM's intrinsics that have no good code on vectors.
    Llvm { base: &'a str },
    /// A function that other threads take part in.
    AcrossThreads,
}

/// Prefixes of the names of functions across threads.
const ACROSS_THREADS: &[&str] =
    &["simd_", "quad_", "simdgroup", "wg.", "atomic.", "get_simdgroup_size", "get_thread_index_in_simdgroup"];

impl<'a> Name<'a> {
    /// `None` for functions that are neither AIR's nor of interest here.
    pub(super) fn parse(name: &'a str) -> Option<Name<'a>> {
        if let Some(name) = name.strip_prefix("llvm.") {
            let base = without_types(name);
            return super::math::is_expanded(base).then_some(Name::Llvm { base });
        }
        let name = name.strip_prefix("air.")?;
        if ACROSS_THREADS.iter().any(|prefix| name.starts_with(prefix)) {
            return Some(Name::AcrossThreads);
        }
        if let Some(types) = name.strip_prefix("convert.") {
            let mut parts = types.split('.');
            if let (Some(to), Some(_), Some(from), Some(_), None) = (
                parts.next().and_then(class),
                parts.next(),
                parts.next().and_then(class),
                parts.next(),
                parts.next(),
            ) {
                return Some(Name::Convert { to, from });
            }
        }
        let base = without_types(name);
        let (base, sign) = match base.rsplit_once('.') {
            Some((base, "s")) => (base, Some(Class::Signed)),
            Some((base, "u")) => (base, Some(Class::Unsigned)),
            _ => (base, None),
        };
        Some(match base.strip_prefix("fast_") {
            Some(base) => Name::Air { base, is_fast: true, sign },
            None => Name::Air { base, is_fast: false, sign },
        })
    }
}

fn class(letter: &str) -> Option<Class> {
    match letter {
        "f" => Some(Class::Float),
        "s" => Some(Class::Signed),
        "u" => Some(Class::Unsigned),
        _ => None,
    }
}

/// A name without the types at its end.
fn without_types(mut name: &str) -> &str {
    while let Some((base, last)) = name.rsplit_once('.') {
        if !is_type(last) {
            break;
        }
        name = base;
    }
    name
}

/// `f32`, `v4i16`, `bf16`, `p0`
fn is_type(text: &str) -> bool {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let scalar = match text.strip_prefix('v') {
        Some(vector) => vector.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => text,
    };
    ["bf", "f", "i", "p"].iter().any(|kind| scalar.strip_prefix(kind).is_some_and(all_digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn air(base: &str, is_fast: bool, sign: Option<Class>) -> Option<Name<'_>> {
        Some(Name::Air { base, is_fast, sign })
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(Name::parse("air.fast_exp.v4f32"), air("exp", true, None));
        assert_eq!(Name::parse("air.fma.bf16"), air("fma", false, None));
        assert_eq!(Name::parse("air.clamp.u.v3i16"), air("clamp", false, Some(Class::Unsigned)));
        assert_eq!(Name::parse("air.pack.unorm4x8.srgb.v4f32"), air("pack.unorm4x8.srgb", false, None));
        assert_eq!(
            Name::parse("air.is_function_constant_defined"),
            air("is_function_constant_defined", false, None)
        );
        let convert = Name::Convert { to: Class::Float, from: Class::Unsigned };
        assert_eq!(Name::parse("air.convert.f.v2f16.u.v2i8"), Some(convert));
        assert_eq!(Name::parse("air.convert.f.f32"), air("convert.f", false, None));
        assert_eq!(Name::parse("air.simd_sum.f32"), Some(Name::AcrossThreads));
        assert_eq!(Name::parse("air.simdgroup.barrier"), Some(Name::AcrossThreads));
        assert_eq!(Name::parse("llvm.ldexp.v2f32.v2i32"), Some(Name::Llvm { base: "ldexp" }));
        assert_eq!(Name::parse("llvm.fmuladd.f32"), None);
        assert_eq!(Name::parse("helper"), None);
    }
}
