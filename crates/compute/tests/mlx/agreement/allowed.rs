//! Kernels that are not compared, and differences that are no errors, each with its reason.

/// Functions whose results may differ: a part of their names, by how many units in the last place, and the reason.
const BOUNDS: [(&str, u64, &str); 0] = [];

/// The reason why a kernel cannot be compiled from source yet.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    let kind = name.strip_prefix("row_reduce_small_").or_else(|| {
        let kind = name.strip_prefix("col_reduce_")?.split_once('_')?;
        Some(kind.1)
    })?;
    let dimensions = kind.strip_prefix("large_").unwrap_or(kind);
    (!dimensions.starts_with("1_")).then_some("LoopedElemToLoc::next calls itself, which the checker refuses")
}

/// Units in the last place by which results of a function may differ.
pub(crate) fn bound(name: &str) -> u64 {
    BOUNDS.iter().find(|(part, ..)| name.contains(part)).map_or(0, |(_, bound, _)| *bound)
}

#[test]
fn refused_reductions() {
    for name in ["row_reduce_small_2_reduce_sumint8", "col_reduce_looped_large_5_32_32_reduce_sumint8"] {
        assert!(refused(name).is_some(), "{name}");
    }
    for name in ["row_reduce_small_large_1_reduce_sumint8", "col_reduce_2pass_1_32_32_reduce_sumint8", "arangeint8"]
    {
        assert_eq!(refused(name), None, "{name}");
    }
}
