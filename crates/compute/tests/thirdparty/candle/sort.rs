//! Orders of rows.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::reference::ascending;
use crate::run::Run;
use half::{bf16, f16};

/// Rows of which each has every value once: there is one order.
fn rows<T: Number>(rows: usize, length: usize) -> Vec<T> {
    let mut random = Random::new(40);
    let row = |_| random.permutation(length).into_iter().map(|x| T::from_f64(x as f64)).collect::<Vec<T>>();
    (0..rows).flat_map(row).collect()
}

pub(super) fn bitonic(corpus: &Corpus) {
    bitonic_of::<f32>(corpus, &[1, 2, 37, 1000]);
    bitonic_of::<f16>(corpus, &[37, 1000]);
    bitonic_of::<u8>(corpus, &[37, 250]);
    bitonic_of::<i64>(corpus, &[37, 300]);
}

fn bitonic_of<T: Number>(corpus: &Corpus, lengths: &[usize]) {
    for &length in lengths {
        let x: Vec<T> = rows(3, length);
        let padded = length.next_power_of_two();
        for descending in [false, true] {
            let name = if descending { "asort_desc" } else { "asort_asc" };
            let run = Run::new(corpus, "sort", format!("{name}_{}", T::NAME)).input(&x).output::<u32>(3 * length);
            let run = run.value(length as i64).value(padded as i64).threadgroup_memory(4 * padded);
            let order = |row: &[f64]| {
                let mut order = ascending(row);
                if descending {
                    order.reverse();
                }
                order
            };
            let want: Vec<f64> = values(&x).chunks(length).flat_map(order).collect();
            run.threadgroups((1, 3, 1), (padded, 1, 1)).output::<u32>().is(&want);
        }
    }
}

pub(super) fn blocks(corpus: &Corpus) {
    block_of::<f32>(corpus, "float32", 128, &[3, 1000]);
    block_of::<f16>(corpus, "float16", 256, &[1100, 2048]);
    block_of::<u32>(corpus, "uint32", 512, &[4001]);
    block_of::<bf16>(corpus, "bfloat16", 128, &[255]);
}

fn block_of<T: Number>(corpus: &Corpus, name: &str, threads: usize, lengths: &[usize]) {
    for &length in lengths {
        let x: Vec<T> = rows(3, length);
        let size = length as i32;
        let sorted = Run::new(corpus, "mlx_sort", format!("c_block_sort_{name}_{name}_bn{threads}_tn8"));
        let run = sorted.input(&x).output::<T>(x.len()).value(size).value(1i32).value(1i32).value(size).value(size);
        let want: Vec<f64> = (0..3).flat_map(|_| (0..length).map(|x| x as f64)).collect();
        run.threadgroups((1, 3, 1), (threads, 1, 1)).output::<T>().is(&want);

        let order = Run::new(corpus, "mlx_sort", format!("carg_block_sort_{name}_uint32_bn{threads}_tn8"));
        let run =
            order.input(&x).output::<u32>(x.len()).value(size).value(1i32).value(1i32).value(size).value(size);
        let want: Vec<f64> = values(&x).chunks(length).flat_map(ascending).collect();
        run.threadgroups((1, 3, 1), (threads, 1, 1)).output::<u32>().is(&want);
    }
}

/// Rows that no threadgroup can sort alone: blocks are sorted, then merged two by two.
pub(super) fn merges(corpus: &Corpus) {
    const THREADS: usize = 512;
    const LENGTH: usize = 3 * THREADS * 8 - 77;
    let (row_count, blocks) = (2, LENGTH.div_ceil(THREADS * 8));
    let x: Vec<f32> = rows(row_count, LENGTH);
    let suffix = "mbsort_float32_uint32_bn512_tn8";
    let run = Run::new(corpus, "mlx_sort", format!("sort_{suffix}")).input(&x);
    let run = run.output::<f32>(x.len()).output::<u32>(x.len());
    let run = run.value(LENGTH as i32).value(1i32).value(1i32).value(row_count as i32).value(LENGTH as i64);
    let ran = run.threadgroups((blocks, row_count, 1), (THREADS, 1, 1));
    let (mut sorted, mut order) = (ran.content::<f32>(1), ran.content::<u32>(2));
    let by_blocks: Vec<f64> = values(&x)
        .chunks(LENGTH)
        .flat_map(|row| row.chunks(THREADS * 8).flat_map(sort).collect::<Vec<_>>())
        .collect();
    ran.output_at::<f32>(1).is(&by_blocks);

    let mut tiles = 2;
    while tiles / 2 < blocks {
        let run =
            Run::new(corpus, "mlx_sort", format!("partition_{suffix}")).output::<u32>(row_count * (blocks + 1));
        let run = run.input(&sorted).input(&order).value(LENGTH as i32).value(tiles as i32).value(blocks as i32);
        let ran = run.threadgroups((1, row_count, 1), (blocks + 1, 1, 1));
        let partitions = ran.content::<u32>(0);
        assert!(partitions.iter().all(|partition| *partition as usize <= LENGTH), "{partitions:?}");
        ran.output_at::<u32>(0).was_compared();

        let run = Run::new(corpus, "mlx_sort", format!("merge_{suffix}")).input(&partitions);
        let run = run.input(&sorted).input(&order).output::<f32>(x.len()).output::<u32>(x.len());
        let run = run.value(LENGTH as i32).value(tiles as i32).value(blocks as i32);
        let ran = run.threadgroups((blocks, row_count, 1), (THREADS, 1, 1));
        (sorted, order) = (ran.content(3), ran.content(4));
        tiles *= 2;
        if tiles / 2 >= blocks {
            let want: Vec<f64> = values(&x).chunks(LENGTH).flat_map(ascending).collect();
            ran.output_at::<u32>(4).is(&want);
            ran.output_at::<f32>(3).is(&values(&x).chunks(LENGTH).flat_map(sort).collect::<Vec<_>>());
        }
    }
}

fn sort(row: &[f64]) -> Vec<f64> {
    let mut row = row.to_vec();
    row.sort_by(f64::total_cmp);
    row
}
