//! Images: patches and pooling.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::Run;
use crate::tensor::Fields;
use half::f16;

/// Width, height, channels, images.
const IMAGE: [usize; 4] = [11, 7, 3, 2];

pub(super) fn im2col(corpus: &Corpus) {
    im2col_of::<f32>(corpus);
    im2col_of::<f16>(corpus);
}

fn im2col_of<T: Number>(corpus: &Corpus) {
    let [width, height, channels, images] = IMAGE;
    let x: Vec<f32> = Random::new(170).numbers(IMAGE.iter().product(), -2.0, 2.0);
    let (kernel, stride, padding, dilation) = ([3, 2], [2, 1], [1, 2], [2, 1]);
    let out = |extent: usize, at: usize| {
        (extent + 2 * padding[at] - dilation[at] * (kernel[at] - 1) - 1) / stride[at] + 1
    };
    let (across, down) = (out(width, 0), out(height, 1));
    let patch = channels * kernel[0] * kernel[1];
    let fields = Fields::new()
        .set("ofs0", width * height * channels)
        .set("ofs1", width * height)
        .set("IW", width)
        .set("IH", height)
        .set("CHW", patch)
        .set("s0", stride[0])
        .set("s1", stride[1])
        .set("p0", padding[0])
        .set("p1", padding[1])
        .set("d0", dilation[0])
        .set("d1", dilation[1])
        .set("N", images)
        .set("KH", kernel[1])
        .set("KW", kernel[0])
        .set("KHW", kernel[0] * kernel[1]);
    let run = Run::new(corpus, "conv", format!("kernel_im2col_{}", T::NAME)).structure(&fields).input(&x);
    let run = run.output::<T>(images * down * across * patch);
    let want: Vec<f64> = (0..images * down * across * patch)
        .map(|at| {
            let (kx, ky, channel) =
                (at % kernel[0], at / kernel[0] % kernel[1], at / kernel[0] / kernel[1] % channels);
            let (ox, oy, image) = (at / patch % across, at / patch / across % down, at / patch / across / down);
            let place = |out: usize, tap: usize, at: usize, extent: usize| {
                (out * stride[at] + tap * dilation[at]).checked_sub(padding[at]).filter(|place| *place < extent)
            };
            let value = |(x0, y): (usize, usize)| x[((image * channels + channel) * height + y) * width + x0];
            let found = place(ox, kx, 0, width).zip(place(oy, ky, 1, height)).map_or(0.0, value);
            T::from_f64(f64::from(found)).to_f64()
        })
        .collect();
    let ran = run.threadgroups((channels, down, across), (images, kernel[1], kernel[0]));
    ran.output::<T>().is(&want);
}

pub(super) fn pool(corpus: &Corpus) {
    let [width, height, channels, images] = IMAGE;
    let x: Vec<f32> = Random::new(171).numbers(IMAGE.iter().product(), -2.0, 2.0);
    let (kernel, stride, padding) = ([3, 2], [2, 2], [1, 0]);
    let (across, down) = (
        (width + 2 * padding[0] - kernel[0]) / stride[0] + 1,
        (height + 2 * padding[1] - kernel[1]) / stride[1] + 1,
    );
    let count = across * down * channels * images;
    let numbers = values(&x);
    let windows: Vec<Vec<f64>> = (0..count)
        .map(|at| {
            let (ox, oy, plane) = (at % across, at / across % down, at / across / down);
            let taps = (0..kernel[0] * kernel[1]).map(|tap| (tap % kernel[0], tap / kernel[0]));
            taps.filter_map(|(kx, ky)| {
                let x = (ox * stride[0] + kx).checked_sub(padding[0]).filter(|x| *x < width)?;
                let y = (oy * stride[1] + ky).checked_sub(padding[1]).filter(|y| *y < height)?;
                Some(numbers[(plane * height + y) * width + x])
            })
            .collect()
        })
        .collect();
    let fields = || {
        Fields::new()
            .set("k0", kernel[0])
            .set("k1", kernel[1])
            .set("s0", stride[0])
            .set("s1", stride[1])
            .set("p0", padding[0])
            .set("p1", padding[1])
            .set("IH", height)
            .set("IW", width)
            .set("OH", down)
            .set("OW", across)
            .set("np", count)
    };
    let size = (kernel[0] * kernel[1]) as f64;
    let references: [(&str, Vec<f64>); 2] = [
        ("max", windows.iter().map(|window| window.iter().copied().fold(f64::MIN, f64::max)).collect()),
        ("avg", windows.iter().map(|window| window.iter().sum::<f64>() / size).collect()),
    ];
    for (name, want) in references {
        let run = Run::new(corpus, "pool", format!("kernel_pool_2d_{name}_f32")).structure(&fields()).input(&x);
        run.output::<f32>(count)
            .threadgroups((count.div_ceil(64), 1, 1), (64, 1, 1))
            .output::<f32>()
            .is_within(&want, 1e-6);
    }
}
