//! Products of matrices, and of matrices and vectors.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::Run;
use crate::tensor::Fields;
use half::{bf16, f16};
use metalworks_compute::ConstantValue::Bool;

/// Batches of matrices `rows × columns`, or their transposed.
struct Matrices<T> {
    numbers: Vec<T>,
    shape: (usize, usize),
    transposed: bool,
}

impl<T: Number> Matrices<T> {
    fn new(random: &mut Random, batches: usize, shape: (usize, usize), transposed: bool) -> Matrices<T> {
        Matrices { numbers: random.numbers(batches * shape.0 * shape.1, -1.0, 1.0), shape, transposed }
    }

    fn get(&self, batch: usize, row: usize, column: usize) -> f64 {
        let (rows, columns) = self.shape;
        let at = if self.transposed { column * rows + row } else { row * columns + column };
        self.numbers[batch * rows * columns + at].to_f64()
    }

    /// The distance of neighbouring rows as they lie in memory.
    fn leading(&self) -> usize {
        if self.transposed { self.shape.0 } else { self.shape.1 }
    }
}

fn product<T: Number>(a: &Matrices<T>, b: &Matrices<T>, batches: usize) -> Vec<f64> {
    let mut product = Vec::new();
    for batch in 0..batches {
        for row in 0..a.shape.0 {
            for column in 0..b.shape.1 {
                product.push((0..a.shape.1).map(|k| a.get(batch, row, k) * b.get(batch, k, column)).sum());
            }
        }
    }
    product
}

pub(super) fn gemm(corpus: &Corpus) {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        gemm_of::<f32>(corpus, [32, 32, 16, 2, 2], (1, 37, 41, 29), (a, b));
        gemm_of::<f16>(corpus, [32, 32, 16, 2, 2], (2, 32, 64, 48), (a, b));
    }
    gemm_of::<bf16>(corpus, [32, 32, 16, 2, 2], (1, 33, 20, 17), (false, false));
    gemm_of::<f32>(corpus, [64, 64, 16, 2, 2], (1, 65, 70, 33), (false, true));
    gemm_of::<f32>(corpus, [32, 64, 16, 1, 2], (2, 40, 64, 16), (false, true));
    gemm_of::<f16>(corpus, [64, 32, 32, 2, 2], (1, 70, 33, 100), (false, true));
    gemm_of::<f16>(corpus, [64, 64, 16, 1, 2], (1, 20, 90, 50), (true, false));
}

/// One product by tiles: rows, columns, depth of a tile, and simdgroups along rows and columns of it.
fn gemm_of<T: Number>(
    corpus: &Corpus,
    tile: [usize; 5],
    (batches, m, n, k): (usize, usize, usize, usize),
    (a_transposed, b_transposed): (bool, bool),
) {
    let mut random = Random::new(70);
    let a = Matrices::<T>::new(&mut random, batches, (m, k), a_transposed);
    let b = Matrices::<T>::new(&mut random, batches, (k, n), b_transposed);
    let [bm, bn, bk, wm, wn] = tile;
    let letter = |transposed| if transposed { "t" } else { "n" };
    let kernel = format!(
        "gemm_{}{}_{ty}_{ty}_{bm}_{bn}_{bk}_{wm}_{wn}",
        letter(a_transposed),
        letter(b_transposed),
        ty = T::NAME
    );
    let constants = [
        (10, Bool(batches > 1)),
        (100, Bool(false)),
        (110, Bool(false)),
        (200, Bool(m % bm == 0)),
        (201, Bool(n % bn == 0)),
        (202, Bool(k % bk == 0)),
        (300, Bool(false)),
    ];
    let (tiles_m, tiles_n) = (m.div_ceil(bm), n.div_ceil(bn));
    let parameters = Fields::new()
        .set("M", m)
        .set("N", n)
        .set("K", k)
        .set("lda", a.leading())
        .set("ldb", b.leading())
        .set("ldd", n)
        .set("tiles_n", tiles_n)
        .set("tiles_m", tiles_m)
        .set("batch_stride_a", m * k)
        .set("batch_stride_b", k * n)
        .set("batch_stride_d", m * n)
        .set("swizzle_log", 0)
        .set("gemm_k_iterations_aligned", k / bk)
        .set("batch_ndim", 1);
    let want = product(&a, &b, batches);
    let run = Run::with_constants(corpus, "mlx_gemm", kernel, &constants);
    let run = run.input(&a.numbers).input(&b.numbers).absent().output::<T>(want.len()).structure(&parameters);
    let run = run.absent().values(&[batches as i32]).shape(&[m * k, k * n]);
    let ran = run.threadgroups((tiles_n, tiles_m, batches), (32, wn, wm));
    ran.output::<T>().is_within(&want, 1e-5);
}

pub(super) fn gemv(corpus: &Corpus) {
    // Matrices whose rows lie side by side, for each of candle's shapes of threadgroups.
    gemv_of::<f32>(corpus, [4, 1, 1, 32, 4, 4], (2, 50, 333), false);
    gemv_of::<f32>(corpus, [4, 1, 1, 32, 1, 4], (1, 3, 200), false);
    gemv_of::<f16>(corpus, [1, 8, 1, 32, 4, 4], (1, 10, 1100), false);
    gemv_of::<bf16>(corpus, [1, 1, 8, 4, 4, 4], (3, 70, 61), false);
    gemv_of::<f32>(corpus, [8, 1, 1, 32, 4, 4], (1, 101, 130), false);
    // Columns.
    gemv_of::<f32>(corpus, [1, 2, 8, 4, 4, 4], (2, 101, 77), true);
    gemv_of::<f16>(corpus, [1, 4, 8, 4, 4, 4], (1, 530, 100), true);
    gemv_of::<f32>(corpus, [1, 16, 8, 4, 4, 4], (1, 300, 70), true);
    gemv_of::<f32>(corpus, [1, 2, 8, 4, 4, 1], (1, 3, 50), true);
}

fn gemv_of<T: Number>(
    corpus: &Corpus,
    [bm, bn, sm, sn, tm, tn]: [usize; 6],
    (batches, m, k): (usize, usize, usize),
    transposed: bool,
) {
    let mut random = Random::new(71);
    let matrix = Matrices::<T>::new(&mut random, 1, (m, k), transposed);
    let x: Vec<T> = random.numbers(batches * k, -1.0, 1.0);
    let ty = match T::NAME {
        "f32" => "float32",
        "f16" => "float16",
        _ => "bfloat16",
    };
    let prefix = if transposed { "gemv_t" } else { "gemv" };
    let kernel = format!("{prefix}_{ty}_bm{bm}_bn{bn}_sm{sm}_sn{sn}_tm{tm}_tn{tn}_nc0_axpby0");
    let vector = values(&x);
    let want: Vec<f64> = (0..batches * m)
        .map(|at| (0..k).map(|i| matrix.get(0, at % m, i) * vector[at / m * k + i]).sum())
        .collect();
    // candle leaves the bias unbound, which this kernel does not read.
    let run = Run::new(corpus, "gemv", kernel).input(&matrix.numbers).input(&x).input(&[0u64; 2]);
    let run = run.output::<T>(want.len()).value(k as i32).value(m as i32).value(matrix.leading() as i32);
    let run = run.value(1f32).value(0f32).value(1i32).values(&[batches as i32]).values(&[k as i64]);
    let run = run.values(&[0i64]).values(&[0i64]).value(1i32);
    let outputs = if transposed { bn * sn * tn } else { bm * sm * tm };
    let ran = run.threadgroups((m.div_ceil(outputs), 1, batches), (32, bn, bm));
    ran.output::<T>().is_within(&want, 1e-5);
}
