//! Loads of matrices from threadgroup memory, seen in the PTX.

use super::code::{count, entry, ptx};

/// A product of 16 × 16 matrices that are staged in rows of STRIDE elements, from element START on.
const STAGED: &str = "kernel void k(device const T *x, device float *c, uint i [[thread_index_in_threadgroup]]) {
    threadgroup T staged[2048];
    for (uint j = i; j < 2048; j += 32) staged[j] = x[j];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_matrix<float, 8, 8> sums[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    threadgroup const T *a = staged + START, *b = a + 16 * STRIDE;
    for (int k = 0; k < 16; k += 8) {
        simdgroup_matrix<T, 8, 8> left[2], right[2];
        for (int i = 0; i < 2; i++) simdgroup_load(left[i], a + i * 8 * STRIDE + k, STRIDE);
        for (int j = 0; j < 2; j++) RIGHT
        BETWEEN
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) simdgroup_store(sums[i][j], c + i * 8 * 16 + j * 8, 16);
}";

const BY_ROWS: &str = "simdgroup_load(right[j], b + k * STRIDE + j * 8, STRIDE);";
const BY_COLUMNS: &str = "simdgroup_load(right[j], b + j * 8 * STRIDE + k, STRIDE, ulong2(0, 0), true);";

fn staged(ty: &str, right: &str, [stride, start, between]: [&str; 3]) -> String {
    let source = STAGED.replace("RIGHT", right).replace("BETWEEN", between);
    ptx(&source.replace("STRIDE", stride).replace("START", start).replace('T', ty))
}

const LOAD: &str = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
const TRANSPOSED: &str = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";

#[test]
fn operands_of_a_product_are_loaded_together() {
    for ty in ["half", "bfloat"] {
        let text = staged(ty, BY_COLUMNS, ["24", "0", ""]);
        let text = entry(&text);
        assert_eq!((count(text, LOAD), count(text, "ldmatrix"), count(text, "mma.sync")), (2, 2, 2), "{text}");
        assert!(!text.contains("movmatrix") && !text.contains("ld.shared"), "{text}");
        // The GPU transposes right operands that are in rows.
        let text = staged(ty, BY_ROWS, ["24", "16", ""]);
        let text = entry(&text);
        assert_eq!((count(text, LOAD), count(text, TRANSPOSED), count(text, "ldmatrix")), (1, 1, 2), "{text}");
        assert!(!text.contains("movmatrix") && !text.contains("ld.shared"), "{text}");
    }
}

#[test]
fn rows_that_are_not_aligned_are_loaded_by_the_lanes() {
    for (stride, start) in [("20", "0"), ("24", "4"), ("24", "i")] {
        let text = staged("half", BY_COLUMNS, [stride, start, ""]);
        assert!(!text.contains("ldmatrix") && text.contains("ld.shared"), "{text}");
    }
    let text = staged("float", BY_COLUMNS, ["24", "0", ""]);
    assert!(!text.contains("ldmatrix"), "there is none of float: {text}");
}

#[test]
fn loads_stay_on_their_side_of_a_write() {
    let barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);";
    for between in [barrier, "staged[i] = T(k);"] {
        let text = staged("half", BY_COLUMNS, ["24", "0", between]);
        assert!(!text.contains("ldmatrix.sync.aligned.m8n8.x4"), "{text}");
    }
}

#[test]
fn right_operands_stay_so_around_a_loop() {
    let text = ptx("kernel void k(device const half *x, device float *c, constant uint &n,
                                  uint i [[thread_index_in_threadgroup]]) {
        threadgroup half staged[2][512];
        staged[0][i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_matrix<float, 8, 8> sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        simdgroup_matrix<half, 8, 8> left[2], right[2];
        for (int j = 0; j < 2; j++) {
            simdgroup_load(left[j], staged[0] + 8 * j, 16);
            simdgroup_load(right[j], staged[0] + 256 + 8 * j, 16, ulong2(0, 0), true);
        }
        for (uint k = 1; k < n; k++) {
            staged[k % 2][i] = x[k * 32 + i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sum, left[j], right[j], sum);
            for (int j = 0; j < 2; j++) {
                simdgroup_load(left[j], staged[k % 2] + 8 * j, 16);
                simdgroup_load(right[j], staged[k % 2] + 256 + 8 * j, 16, ulong2(0, 0), true);
            }
        }
        simdgroup_store(sum, c, 8);
    }");
    let text = entry(&text);
    assert!(!text.contains("movmatrix") && !text.contains("ld.shared"), "{text}");
    assert_eq!(count(text, "ldmatrix.sync.aligned.m8n8.x2.shared.b16"), count(text, "ldmatrix"), "{text}");
    assert!(text.contains("mma.sync.aligned.m16n8k16"), "{text}");
    // The assembler would move loads of constant memory to where they are stored.
    assert!(text.contains("ld.global.b16") && !text.contains("ld.global.nc"), "{text}");
}
