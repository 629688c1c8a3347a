//! Images and sequences: patches, resampling, pooling, transposed convolution.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::Run;
use half::f16;

/// Batch, channels, height, width of an image, and its strides: channels lie side by side.
const IMAGE: [usize; 4] = [2, 3, 7, 9];
const STRIDES: [usize; 4] = [189, 1, 27, 3];

fn image<T: Number>() -> (Vec<T>, impl Fn(usize, usize, usize, usize) -> f64) {
    let x: Vec<T> = Random::new(50).numbers(IMAGE.iter().product(), -9.0, 9.0);
    let copy = values(&x);
    let at = move |b: usize, c: usize, h: usize, w: usize| {
        copy[b * STRIDES[0] + c * STRIDES[1] + h * STRIDES[2] + w * STRIDES[3]]
    };
    (x, at)
}

/// The place in the input that a place in a window reads; `None` where there is only padding.
fn source(
    out: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
    extent: usize,
) -> Option<usize> {
    (out * stride + kernel * dilation).checked_sub(padding).filter(|place| *place < extent)
}

pub(super) fn im2col(corpus: &Corpus) {
    im2col_of::<f32>(corpus);
    im2col_of::<f16>(corpus);

    let (x, at) = image::<f32>();
    // One row of the image is a sequence: width 9, kernel 3, stride 2, padding 1, dilation 1.
    let run = Run::new(corpus, "conv", "im2col1d_f32");
    let run = run.sizes(&[2 * 5 * 3 * 3, 5, 3, 2, 1, 1]).values(&[2u64, 3, 9]).values(&[189u64, 1, 3]);
    let mut want = Vec::new();
    for (b, l, c, k) in all([2, 5, 3, 3]) {
        want.push(source(l, k, 2, 1, 1, 9).map_or(0.0, |w| at(b, c, 0, w)));
    }
    run.input(&x).output::<f32>(want.len()).linear(want.len()).output::<f32>().is(&want);
}

/// All indices of a shape, the last the fastest.
fn all([a, b, c, d]: [usize; 4]) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..a * b * c * d).map(move |at| (at / (b * c * d), at / (c * d) % b, at / d % c, at % d))
}

fn im2col_of<T: Number>(corpus: &Corpus) {
    let (x, at) = image::<T>();
    let [batches, channels, height, width] = IMAGE;
    let (kernel, stride, padding, dilation) = ([3, 2], 2, 2, 2);
    let h_out = (height + 2 * padding - dilation * (kernel[0] - 1) - 1) / stride + 1;
    let w_out = (width + 2 * padding - dilation * (kernel[1] - 1) - 1) / stride + 1;
    let mut want = Vec::new();
    for (b, h, w, c) in all([batches, h_out, w_out, channels]) {
        for (kh, kw) in (0..6).map(|at| (at / 2, at % 2)) {
            let h = source(h, kh, stride, padding, dilation, height);
            let w = source(w, kw, stride, padding, dilation, width);
            want.push(h.zip(w).map_or(0.0, |(h, w)| at(b, c, h, w)));
        }
    }
    let run = Run::new(corpus, "conv", format!("im2col_{}", T::NAME));
    let run = run.sizes(&[want.len(), h_out, w_out, kernel[0], kernel[1], stride, padding, dilation]);
    let run = run.shape(&IMAGE).shape(&STRIDES).input(&x).output::<T>(want.len());
    run.linear(want.len()).output::<T>().is(&want);
}

pub(super) fn col2im(corpus: &Corpus) {
    let (batches, length, channels, kernel, stride) = (2, 6, 5, 4, 3);
    let out = (length - 1) * stride + kernel;
    let x: Vec<f32> = Random::new(51).numbers(batches * length * channels * kernel, -9.0, 9.0);
    let mut want = vec![0.0; batches * channels * out];
    for (at, (b, l, c, k)) in all([batches, length, channels, kernel]).enumerate() {
        want[(b * channels + c) * out + l * stride + k] += f64::from(x[at]);
    }
    let run = Run::new(corpus, "conv", "col2im1d_f32").sizes(&[want.len(), out, length, channels, kernel, stride]);
    run.input(&x).output::<f32>(want.len()).linear(want.len()).output::<f32>().is_within(&want, 1e-6);
}

pub(super) fn upsample(corpus: &Corpus) {
    let (x, at) = image::<f32>();
    // candle's nearest neighbour has the width first.
    let (out_w, out_h) = (16, 11);
    let scales = [IMAGE[2] as f32 / out_w as f32, IMAGE[3] as f32 / out_h as f32];
    let run = Run::new(corpus, "conv", "upsample_nearest2d_f32").sizes(&[out_w, out_h]);
    let run = run.value(scales[0]).value(scales[1]).shape(&IMAGE).shape(&STRIDES);
    let near = |out: usize, scale: f32, extent: usize| ((out as f32 * scale) as usize).min(extent - 1);
    let want: Vec<f64> = all([IMAGE[0], IMAGE[1], out_w, out_h])
        .map(|(b, c, w, h)| at(b, c, near(w, scales[0], IMAGE[2]), near(h, scales[1], IMAGE[3])))
        .collect();
    run.input(&x).output::<f32>(want.len()).linear(want.len()).output::<f32>().is(&want);

    for align in [false, true] {
        let run = Run::new(corpus, "conv", "upsample_bilinear2d_f32").sizes(&[out_w, out_h]);
        let run = run.flag(align).flag(false).value(0f32).flag(false).value(0f32);
        let run = run.shape(&IMAGE).shape(&STRIDES);
        let between = |out: usize, count: usize, extent: usize| {
            let place = if align {
                out as f64 * (extent - 1) as f64 / (count - 1) as f64
            } else {
                ((out as f64 + 0.5) * extent as f64 / count as f64 - 0.5).max(0.0)
            };
            (place.floor() as usize, (place.floor() as usize + 1).min(extent - 1), place.fract())
        };
        let want: Vec<f64> = all([IMAGE[0], IMAGE[1], out_h, out_w])
            .map(|(b, c, h, w)| {
                let (h0, h1, y) = between(h, out_h, IMAGE[2]);
                let (w0, w1, x) = between(w, out_w, IMAGE[3]);
                let row = |h| at(b, c, h, w0) * (1.0 - x) + at(b, c, h, w1) * x;
                row(h0) * (1.0 - y) + row(h1) * y
            })
            .collect();
        run.input(&x).output::<f32>(want.len()).linear(want.len()).output::<f32>().is_within(&want, 1e-5);
    }
}

pub(super) fn pool(corpus: &Corpus) {
    pool_of::<f32>(corpus);
    pool_of::<f16>(corpus);
}

fn pool_of<T: Number>(corpus: &Corpus) {
    let (x, at) = image::<T>();
    let (kernel, stride) = ([3, 4], [2, 3]);
    let out = [(IMAGE[2] - kernel[0]) / stride[0] + 1, (IMAGE[3] - kernel[1]) / stride[1] + 1];
    let pooled = |pool: fn(&[f64]) -> f64| -> Vec<f64> {
        all([IMAGE[0], IMAGE[1], out[0], out[1]])
            .map(|(b, c, w, h)| {
                let window = (0..kernel[0] * kernel[1]).map(|k| (k / kernel[1], k % kernel[1]));
                let window = window.map(|(kw, kh)| at(b, c, w * stride[0] + kw, h * stride[1] + kh));
                pool(&window.collect::<Vec<_>>())
            })
            .collect()
    };
    let reference: [(&str, Vec<f64>); 2] = [
        ("max", pooled(|window| window.iter().copied().fold(f64::MIN, f64::max))),
        ("avg", pooled(|window| window.iter().sum::<f64>() / window.len() as f64)),
    ];
    for (name, want) in reference {
        let run = Run::new(corpus, "conv", format!("{name}_pool2d_{}", T::NAME));
        let run = run.sizes(&[kernel[0], kernel[1], stride[0], stride[1]]);
        let run = run.shape(&IMAGE).shape(&STRIDES).input(&x).output::<T>(want.len());
        run.linear(want.len()).output::<T>().is_within(&want, T::EPSILON);
    }
}

pub(super) fn transposed(corpus: &Corpus) {
    transposed_1d::<f32>(corpus);
    transposed_1d::<f16>(corpus);
    transposed_2d(corpus);
}

fn transposed_1d<T: Number>(corpus: &Corpus) {
    let (batches, c_in, c_out, l_in, l_k) = (2, 4, 3, 9, 4);
    let (stride, padding, dilation) = (3, 2, 2);
    let l_out = (l_in - 1) * stride + dilation * (l_k - 1) + 1 - 2 * padding;
    let mut random = Random::new(52);
    let x: Vec<T> = random.numbers(batches * c_in * l_in, -1.0, 1.0);
    let k: Vec<T> = random.numbers(c_in * c_out * l_k, -1.0, 1.0);
    let mut want = vec![0.0; batches * c_out * l_out];
    for (b, i, o, l) in all([batches, c_in, c_out, l_in]) {
        for tap in 0..l_k {
            if let Some(to) = (l * stride + tap * dilation).checked_sub(padding).filter(|to| *to < l_out) {
                want[(b * c_out + o) * l_out + to] +=
                    x[(b * c_in + i) * l_in + l].to_f64() * k[(i * c_out + o) * l_k + tap].to_f64();
            }
        }
    }
    let run = Run::new(corpus, "conv", format!("conv_transpose1d_{}", T::NAME)).sizes(&[l_out, stride, padding, 0]);
    let run = run.value(dilation as u64).shape(&[batches, c_in, l_in]).shape(&[c_in * l_in, l_in, 1]);
    let run = run.shape(&[c_in, c_out, l_k]).shape(&[c_out * l_k, l_k, 1]).input(&x).input(&k);
    run.output::<T>(want.len()).linear(want.len()).output::<T>().is_within(&want, 2e-6);
}

fn transposed_2d(corpus: &Corpus) {
    let [batches, c_in, h_in, w_in] = IMAGE;
    let (c_out, h_k, w_k, stride, padding, dilation) = (2, 3, 2, 2, 1, 1);
    let h_out = (h_in - 1) * stride + dilation * (h_k - 1) + 1 - 2 * padding;
    let w_out = (w_in - 1) * stride + dilation * (w_k - 1) + 1 - 2 * padding;
    let (x, at) = image::<f32>();
    let k: Vec<f32> = Random::new(53).numbers(c_in * c_out * h_k * w_k, -1.0, 1.0);
    let mut want = vec![0.0; batches * c_out * h_out * w_out];
    for (b, i, h, w) in all(IMAGE) {
        for (tap, (_, o, kh, kw)) in all([1, c_out, h_k, w_k]).enumerate() {
            let to = |place: usize, k: usize, extent| {
                (place * stride + k * dilation).checked_sub(padding).filter(|to| *to < extent)
            };
            if let (Some(y), Some(x)) = (to(h, kh, h_out), to(w, kw, w_out)) {
                want[((b * c_out + o) * h_out + y) * w_out + x] +=
                    at(b, i, h, w) * f64::from(k[i * c_out * h_k * w_k + tap]);
            }
        }
    }
    let run = Run::new(corpus, "conv", "conv_transpose2d_f32").sizes(&[w_out, h_out, stride, padding, 0, dilation]);
    let run = run.shape(&IMAGE).shape(&STRIDES).shape(&[c_in, c_out, h_k, w_k]);
    let run = run.shape(&[c_out * h_k * w_k, h_k * w_k, w_k, 1]).input(&x).input(&k);
    run.output::<f32>(want.len()).linear(want.len()).output::<f32>().is_within(&want, 2e-6);
}
