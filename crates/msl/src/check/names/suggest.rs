//! "did you mean": the nearest of several names.

/// Names that need no declaration.
pub(super) const COMMON_TYPES: &[&str] = &[
    "bool",
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "half",
    "bfloat",
    "float",
    "float2",
    "float3",
    "float4",
    "half2",
    "half3",
    "half4",
    "int2",
    "int3",
    "int4",
    "uint2",
    "uint3",
    "uint4",
    "size_t",
    "int32_t",
    "uint32_t",
    "simdgroup_float8x8",
    "simdgroup_half8x8",
    "atomic_int",
    "atomic_uint",
    "atomic_float",
];

/// The name nearest to `name`, if one is near enough to be what was meant.
pub(in crate::check) fn closest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    // Of a name of one or two letters nothing is left to recognize.
    if name.len() < 3 {
        return None;
    }
    let limit = (name.len() / 3).min(3);
    names
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit && *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate.to_string())
}

/// The number of insertions, deletions, replacements and swaps between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i];
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        let names = ["simd_sum", "simd_max", "float4", "x"];
        let check = |name: &str| closest(name, names.into_iter());
        assert_eq!(check("simd_smu").as_deref(), Some("simd_sum"));
        assert_eq!(check("flaot4").as_deref(), Some("float4"));
        assert_eq!(check("completely_different"), None);
        assert_eq!(check("q"), None);
        assert_eq!(check(""), None);
    }
}
