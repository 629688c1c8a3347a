//! Sources of the library's kernels: the names that tell them.

use crate::harness;
use crate::mlx_sources::{instance, source_for};

#[test]
fn names_tell_templates() {
    let template = |name: &str| instance(name).map(|instance| instance.template);
    let expect = |name, expected: &str| assert_eq!(template(name).as_deref(), Some(expected), "{name}");
    expect("v_Absuint8uint8", "unary_v<uint8_t, uint8_t, Abs, 1>");
    expect("vn_Log2bfloat16bfloat16", "unary_v<bfloat16_t, bfloat16_t, Log2>");
    expect("g3large_LessEqualint64", "binary_g_nd3<int64_t, bool, LessEqual>");
    expect("gn2_ArcTan2float32", "binary_g<float, float, ArcTan2, 2, int>");
    expect("vv_DivModint8", "binary_vv<int8_t, int8_t, DivMod, 1>");
    expect(
        "row_reduce_small_large_2_reduce_sumuint8",
        "row_reduce_small<uint8_t, int32_t, Sum<int32_t>, int64_t, 2>",
    );
    expect(
        "strided_scan_reverse_exclusive_sum_bool__int32",
        "strided_scan<bool, int32_t, CumSum<int32_t>, 4, false, true>",
    );
    expect(
        "steel_gemm_block_outmask_bool__opmask_nomask_tn_float16_float16_bm32_bn32_bk16_wm2_wn2_MN_taligned_K_naligned",
        "block_masked_gemm<half, bool, nomask_t, 32, 32, 16, 2, 2, true, false, true, false>",
    );
    expect(
        "nvfp4_gather_qmm_rhs_nt_float_gs_16_b_4_bm_16_bn_32_bk_32_wm_1_wn_2_hgs",
        "fp_gather_qmm_rhs<float, 16, 4, 16, 32, 32, 1, 2, true, true>",
    );
    assert_eq!(template("rope_float16"), None);
    assert_eq!(template("v_Absfloat32"), None);
    let source = source_for(&["searchsorted_bool__left"]).expect("it is known");
    assert!(source.ends_with(
        "template [[host_name(\"searchsorted_bool__left\")]] [[kernel]] \
         decltype(searchsorted<bool, false>) searchsorted<bool, false>;\n"
    ));
    assert_eq!(source_for(&["v_Absuint8uint8", "arangeint8"]), None);
}

/// The others are in files that the wheel does not have: norms, rope, random bits, and parts of convolution and of
/// attention's gradient.
#[test]
#[ignore = "needs scripts/corpus.sh; run by make mlx"]
fn sources_of_kernels() {
    let names = harness::names("");
    let known = names.iter().filter(|name| instance(name).is_some()).count();
    assert_eq!((known, names.len()), (17_110, 17_248));
}
