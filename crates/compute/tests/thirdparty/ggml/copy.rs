//! Copies: between types, to and from blocks of quantized numbers, and of rows by index.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::quants::Format;
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::{bf16, f16};

pub(super) fn copies(corpus: &Corpus) {
    copy::<f32, f32>(corpus);
    copy::<f32, f16>(corpus);
    copy::<f32, bf16>(corpus);
    copy::<f16, f32>(corpus);
    copy::<bf16, f32>(corpus);
    copy::<f32, i32>(corpus);
    copy::<i32, f32>(corpus);
}

/// From a transposed tensor to one with gaps between its rows, and to one of another shape.
fn copy<T: Number, U: Number>(corpus: &Corpus) {
    let from = Tensor::of::<T>([6, 70, 3, 2]).permuted([1, 0, 2, 3]);
    let x: Vec<T> = Random::new(130).numbers(from.len(), -900.0, 900.0);
    let want: Vec<f64> = x.iter().map(|x| U::from_f64(x.to_f64()).to_f64()).collect();
    for to in [Tensor::of::<U>([70, 6, 3, 2]).with_gaps([20, 40, 4]), Tensor::of::<U>([35, 4, 9, 2])] {
        let fields = Fields::new().tensor("0", &from).tensor("", &to).set("nk0", 70);
        let fill = to.lay_out(&vec![U::from_f64(7.0); to.len()]);
        // One row in a threadgroup, or several.
        for rows in [1, 3] {
            let run =
                Run::new(corpus, "quantize", format!("kernel_cpy_{}_{}", T::NAME, U::NAME)).structure(&fields);
            let run = run.input(&from.lay_out(&x)).in_out(&fill);
            let ran = run.threadgroups((6usize.div_ceil(rows), 3, 2), (70, rows, 1));
            let mut output = ran.output::<U>();
            output.numbers = to.collect(&ran.content::<u8>(2));
            output.is(&want);
        }
    }
}

pub(super) fn quantized(corpus: &Corpus) {
    for (name, steps) in
        [("q8_0", 127.0), ("q4_0", 8.0), ("q4_1", 15.0), ("q5_0", 16.0), ("q5_1", 31.0), ("iq4_nl", 2.5)]
    {
        let format = Format::named(name);
        let from = Tensor::of::<f32>([96, 5, 3, 2]).with_gaps([16, 0, 0]);
        let to = Tensor::blocks(from.ne, format.weights, format.bytes);
        let x: Vec<f32> = Random::new(131).numbers(from.len(), -2.0, 2.0);
        let fields = Fields::new().tensor("0", &from).tensor("", &to).set("nk0", 3);
        let run = Run::new(corpus, "quantize", format!("kernel_cpy_f32_{name}")).structure(&fields);
        let ran =
            run.input(&from.lay_out(&x)).output::<u8>(to.rows() * to.nb[1]).threadgroups((5, 3, 2), (3, 1, 1));
        let blocks: Vec<u8> = ran.content(2);
        // No block may be off by more than half a step of it; the largest number is exact but for its rounding.
        for (block, (numbers, decoded)) in x.chunks(32).zip(format.decode(&blocks).chunks(32)).enumerate() {
            let low = numbers.iter().copied().fold(f32::MAX, f32::min);
            let high = numbers.iter().copied().fold(f32::MIN, f32::max);
            let range = if name.ends_with("_1") { high - low } else { high.max(-low) };
            for (x, decoded) in numbers.iter().zip(decoded) {
                let error = (f64::from(*x) - decoded).abs();
                // The end opposite to the largest number is one step away from where it should be.
                let allowed =
                    f64::from(range) / steps * if name.ends_with("_0") && name != "q8_0" { 1.01 } else { 0.51 };
                assert!(error <= allowed + 2e-3, "{name}: block {block}: {decoded} for {x}, allowed {allowed}");
            }
        }
        ran.output::<u8>().was_compared();
        decoded(corpus, format, &blocks);
    }
}

/// And back.
fn decoded(corpus: &Corpus, format: &Format, blocks: &[u8]) {
    if format.name == "iq4_nl" {
        return;
    }
    let from = Tensor::blocks([96, 5, 3, 2], format.weights, format.bytes);
    let want = format.decode(blocks);
    let to = Tensor::of::<f32>(from.ne);
    let fields = Fields::new().tensor("0", &from).tensor("", &to).set("nk0", 6);
    let run = Run::new(corpus, "quantize", format!("kernel_cpy_{}_f32", format.name)).structure(&fields);
    let run = run.input(blocks).output::<f32>(want.len());
    // Formats are decoded in half precision.
    run.threadgroups((5, 3, 2), (6, 1, 1)).output::<f32>().is_within(&want, 1e-3);
    let to = Tensor::of::<f16>(from.ne);
    let fields = Fields::new().tensor("0", &from).tensor("", &to).set("nk0", 6);
    let run = Run::new(corpus, "quantize", format!("kernel_cpy_{}_f16", format.name)).structure(&fields);
    let run = run.input(blocks).output::<f16>(want.len());
    run.threadgroups((5, 3, 2), (6, 1, 1)).output::<f16>().is_within(&want, 1e-3);
}

pub(super) fn get_rows(corpus: &Corpus) {
    for name in [
        "f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "q2_K", "q3_K", "q4_K", "q5_K",
        "q6_K", "iq4_xs",
    ] {
        let format = Format::named(name);
        let from = Tensor::blocks([512, 9, 3, 1], format.weights, format.bytes);
        let bytes = format.random(&mut Random::new(132), from.len());
        let numbers = format.decode(&bytes);
        // Four rows of each of three matrices.
        let ids = [8i32, 0, 3, 3, 1, 2, 3, 4, 7, 6, 5, 0];
        let indices = Tensor::of::<i32>([4, 3, 1, 1]);
        let to = Tensor::of::<f32>([512, 4, 3, 1]);
        let count = if format.weights == 1 { 512 } else { 32 };
        let fields = Fields::new().tensor("0", &from).tensor("1", &indices).tensor("", &to).set("ne00t", count);
        let run = Run::new(corpus, "quantize", format!("kernel_get_rows_{name}"));
        let run = run.structure(&fields.set("ne00", 512)).input(&bytes).input(&ids).output::<f32>(to.len());
        let threads = count.min(200);
        let ran = run.threadgroups((count.div_ceil(threads) * 4, 3, 1), (threads, 1, 1));
        let row = |(at, id): (usize, &i32)| &numbers[(at / 4 * 9 + *id as usize) * 512..][..512];
        let want: Vec<f64> = ids.iter().enumerate().flat_map(row).copied().collect();
        ran.output::<f32>().is_within(&want, 1e-3);
    }
}

pub(super) fn set_rows(corpus: &Corpus) {
    set_rows_of::<i64, f32>(corpus);
    set_rows_of::<i32, f16>(corpus);
    set_rows_of::<i64, bf16>(corpus);

    let format = Format::named("q8_0");
    let (from, ids) = (Tensor::of::<f32>([64, 3, 2, 1]), Tensor::of::<i64>([3, 1, 1, 1]));
    let to = Tensor::blocks([64, 7, 2, 1], 32, 34);
    let x: Vec<f32> = Random::new(133).numbers(from.len(), -2.0, 2.0);
    let fields = Fields::new().tensor("0", &from).tensor("1", &ids).tensor("", &to).set("nk0", 2);
    let run = Run::new(corpus, "quantize", "kernel_set_rows_f32_i64_q8_0").structure(&fields);
    let run = run.input(&x).input(&[5i64, 0, 2]).in_out(&vec![0u8; 7 * 2 * 68]);
    let ran = run.threadgroups((1, 2, 1), (2, 16, 1));
    let mut want = vec![0.0; 7 * 2 * 64];
    for (at, row) in values(&x).chunks(64).enumerate() {
        let to = at / 3 * 7 + [5, 0, 2][at % 3];
        want[to * 64..][..64].copy_from_slice(row);
    }
    let got = format.decode(&ran.content::<u8>(3));
    assert!(got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 0.01), "set_rows to q8_0");
    ran.output::<u8>().was_compared();
}

fn set_rows_of<I: Number, T: Number>(corpus: &Corpus) {
    let (from, ids) = (Tensor::of::<f32>([70, 3, 4, 2]).with_gaps([8, 0, 0]), Tensor::of::<I>([3, 2, 1, 1]));
    let to = Tensor::of::<T>([70, 7, 4, 2]);
    let x: Vec<f32> = Random::new(134).numbers(from.len(), -2.0, 2.0);
    let rows = [5, 0, 2, 6, 1, 3];
    let index: Vec<I> = rows.iter().map(|row| I::from_f64(f64::from(*row))).collect();
    let fields = Fields::new().tensor("0", &from).tensor("1", &ids).tensor("", &to).set("nk0", 70);
    let run =
        Run::new(corpus, "quantize", format!("kernel_set_rows_f32_{}_{}", I::NAME, T::NAME)).structure(&fields);
    let run = run.input(&from.lay_out(&x)).input(&index).in_out(&vec![T::from_f64(9.0); to.len()]);
    let mut want = vec![9.0; to.len()];
    for (index, x) in from.indices().zip(&x) {
        // The indices of two matrices serve all.
        let row = rows[index[2] % 2 * 3 + index[1]] as usize;
        want[((index[3] * 4 + index[2]) * 7 + row) * 70 + index[0]] = T::from_f64(f64::from(*x)).to_f64();
    }
    run.threadgroups((2, 4, 2), (70, 2, 1)).output::<T>().is(&want);
}
