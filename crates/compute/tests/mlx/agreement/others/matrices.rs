//! Products of matrices: with masks, with a choice of matrices, and in segments.

use super::{Constants, Content, Kernel, case, kernels};
use crate::agreement::Offer;
use crate::harness::CaseGrid;
use metalworks_compute::ConstantValue;

/// Sizes and tiles of a product.
struct Product {
    sizes: [usize; 3],
    tiles: [usize; 2],
    parameters: Vec<u8>,
}

impl Product {
    /// `bm`, `bn` and `bk` are the tile; `is_transposed` tells how A and B lie in memory.
    fn new([m, n, k]: [usize; 3], [bm, bn, bk]: [usize; 3], is_transposed: [bool; 2]) -> Product {
        let tiles = [n.div_ceil(bn), m.div_ceil(bm)];
        // Elements from one row to the next.
        let leading = [if is_transposed[0] { m } else { k }, if is_transposed[1] { k } else { n }];
        let ints =
            |values: &[usize]| values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect::<Vec<_>>();
        let longs = [m * k, k * n, m * n].into_iter().flat_map(|value| (value as i64).to_le_bytes());
        let mut parameters = ints(&[m, n, k, leading[0], leading[1], n, tiles[0], tiles[1]]);
        parameters.extend(longs);
        parameters.extend(ints(&[0, k / bk, 1, 0]));
        Product { sizes: [m, n, k], tiles, parameters }
    }
}

fn tile(kernel: &Kernel, first: usize) -> [usize; 3] {
    [kernel.number(first), kernel.number(first + 1), kernel.number(first + 2)]
}

pub(crate) fn masked() -> impl Iterator<Item = Offer> {
    kernels("steel_gemm_block_", "block_masked_gemm").map(|kernel| {
        let [bm, bn, bk] = tile(&kernel, 3);
        let (is_even, has_whole_k) = (kernel.is_true(10), kernel.is_true(11));
        let [m, n] = if is_even { [2 * bm, 2 * bn] } else { [2 * bm - 5, bn + 7] };
        let k = bm + 2 * bk + if has_whole_k { 0 } else { 5 };
        let product = Product::new([m, n, k], [bm, bn, bk], [kernel.is_true(8), kernel.is_true(9)]);
        let group = [32, kernel.number(7), kernel.number(6)];
        let grid = CaseGrid::Threadgroups([product.tiles[0], product.tiles[1], 1], group);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "A" => Content::Numbers(m * k),
                "B" => Content::Numbers(k * n),
                "D" => Content::Written(m * n),
                "params" => Content::Bytes(product.parameters.clone()),
                "batch_shape" => Content::ints(&[1]),
                "batch_strides" => Content::longs(&[m * k, k * n, 1, 1, 1]),
                "out_mask" | "lhs_mask" | "rhs_mask" => Content::Mask(64),
                "mask_strides" => Content::ints(&[1, 4, 1, 5, 1, 3]),
                _ => return None,
            })
        })
    })
}

fn alignment(product: &Product, [bm, bn, bk]: [usize; 3]) -> Constants {
    let [m, n, k] = product.sizes;
    let constants = [(10, true), (199, true), (200, m % bm == 0), (201, n % bn == 0), (202, k % bk == 0)];
    constants.map(|(index, value)| (index, ConstantValue::Bool(value))).into()
}

pub(crate) fn gathered() -> impl Iterator<Item = Offer> {
    let all = kernels("steel_gather_mm_", "gather_mm").map(|kernel| (kernel, false));
    let one_side = kernels("steel_gather_mm_rhs_", "gather_mm_rhs").map(|kernel| (kernel, true));
    all.chain(one_side).map(|(kernel, is_one_sided)| {
        let tile = tile(&kernel, 1);
        let sizes = [2 * tile[0] - 5, tile[1] + 7, 2 * tile[2] + 3];
        let product = Product::new(sizes, tile, [kernel.is_true(6), kernel.is_true(7)]);
        let [m, n, k] = sizes;
        let (rows, depth) = if is_one_sided { (product.tiles[1] + 3, 1) } else { (product.tiles[1], 3) };
        let group = [32, kernel.number(5), kernel.number(4)];
        let grid = CaseGrid::Threadgroups([product.tiles[0], rows, depth], group);
        case(&kernel.name.clone(), alignment(&product, tile), grid, move |argument| {
            Some(match argument {
                "A" => Content::Numbers(3 * m * k),
                "B" => Content::Numbers(3 * k * n),
                "C" => Content::Written(depth * m * n),
                "params" => Content::Bytes(product.parameters.clone()),
                "lhs_indices" => Content::Indices(vec![2, 0, 1]),
                "rhs_indices" => Content::Indices(vec![0, 1, 1]),
                "indices_shape" | "batch_shape_a" | "batch_shape_b" => Content::ints(&[3]),
                "lhs_strides" | "rhs_strides" => Content::longs(&[1]),
                "batch_ndim_a" | "batch_ndim_b" => Content::int(1),
                "batch_strides_a" => Content::longs(&[m * k]),
                "batch_strides_b" => Content::longs(&[k * n]),
                "offsets" => Content::Indices(vec![0, 4, 4]),
                "num_groups" => Content::int(3),
                _ => return None,
            })
        })
    })
}

pub(crate) fn segmented() -> impl Iterator<Item = Offer> {
    kernels("steel_segmented_mm_", "segmented_mm").map(|kernel| {
        let tile = tile(&kernel, 1);
        let sizes = [2 * tile[0] - 5, tile[1] + 7, 3 * tile[2] + 3];
        let product = Product::new(sizes, tile, [kernel.is_true(6), kernel.is_true(7)]);
        let [m, n, k] = sizes;
        let group = [32, kernel.number(5), kernel.number(4)];
        let grid = CaseGrid::Threadgroups([product.tiles[0], product.tiles[1], 3], group);
        case(&kernel.name.clone(), alignment(&product, tile), grid, move |argument| {
            Some(match argument {
                "A" => Content::Numbers(m * k),
                "B" => Content::Numbers(k * n),
                "C" => Content::Written(3 * m * n),
                "params" => Content::Bytes(product.parameters.clone()),
                "segments" => Content::Indices([0, 5, 5, 2 * tile[2], 7, k].map(|at| at as i128).into()),
                _ => return None,
            })
        })
    })
}

/// A matrix times a vector, with masks for blocks of either and of the result.
pub(crate) fn masked_vectors() -> impl Iterator<Item = Offer> {
    let rows = kernels("gemv_outmask_", "gemv_masked").map(|kernel| (kernel, false));
    let columns = kernels("gemv_t_outmask_", "gemv_t_masked").map(|kernel| (kernel, true));
    rows.chain(columns).map(|(kernel, is_transposed)| {
        let (inputs, outputs, batch) = (150usize, 70usize, 2);
        let [bm, bn, sm, sn, tm, tn] = std::array::from_fn(|index| kernel.number(3 + index));
        let per_group = if is_transposed { bn * sn * tn } else { bm * sm * tm };
        let leading = if is_transposed { outputs } else { inputs };
        let grid = CaseGrid::Threadgroups([outputs.div_ceil(per_group), 1, batch], [32, bn, bm]);
        case(&kernel.name.clone(), Vec::new(), grid, move |argument| {
            Some(match argument {
                "mat" => Content::Numbers(batch * inputs * outputs),
                "in_vec" => Content::Numbers(batch * inputs),
                "out_vec" => Content::Written(batch * outputs),
                "in_vec_size" => Content::int(inputs),
                "out_vec_size" => Content::int(outputs),
                "marix_ld" | "matrix_ld" => Content::int(leading),
                "batch_ndim" => Content::int(1),
                "batch_shape" => Content::ints(&[batch]),
                "vector_batch_stride" => Content::longs(&[inputs]),
                "matrix_batch_stride" => Content::longs(&[inputs * outputs]),
                "out_mask" | "mat_mask" | "vec_mask" => Content::Mask(1024),
                "mask_strides" => Content::ints(&[3, 5, 2, 7, 1, 4]),
                "mask_batch_strides" => Content::longs(&[11, 13, 17]),
                _ => return None,
            })
        })
    })
}
