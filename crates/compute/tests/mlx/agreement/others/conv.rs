//! Convolutions as products of matrices.

use super::{Content, Kernel, case, kernels};
use crate::agreement::Offer;
use crate::harness::CaseGrid;
use metalworks_compute::ConstantValue;

/// A convolution of images or volumes.
struct Convolution {
    channels: usize,
    outputs: usize,
    input: Vec<usize>,
    filter: Vec<usize>,
    output: Vec<usize>,
    stride: usize,
    /// Distance of the input's elements in what is convolved; the elements between are zero.
    input_dilation: usize,
}

const IMAGES: usize = 2;
const PADDING: usize = 1;

impl Convolution {
    fn new(
        channels: usize,
        outputs: usize,
        input: &[usize],
        filter: &[usize],
        [stride, dilation]: [usize; 2],
    ) -> Convolution {
        let extent =
            |(input, filter): (&usize, &usize)| ((input - 1) * dilation + 1 + 2 * PADDING - filter) / stride + 1;
        Convolution {
            channels,
            outputs,
            input: input.into(),
            filter: filter.into(),
            output: input.iter().zip(filter).map(extent).collect(),
            stride,
            input_dilation: dilation,
        }
    }

    fn input_length(&self) -> usize {
        IMAGES * self.input.iter().product::<usize>() * self.channels
    }

    fn filter_length(&self) -> usize {
        self.outputs * self.filter.iter().product::<usize>() * self.channels
    }

    /// Elements of the output without its channels.
    fn pixels(&self) -> usize {
        IMAGES * self.output.iter().product::<usize>()
    }

    /// `MLXConvParams`.
    fn parameters(&self) -> Vec<u8> {
        let dimensions = self.input.len();
        let repeated = |value: usize| vec![value; dimensions];
        let mut ints = vec![IMAGES, self.channels, self.outputs];
        ints.extend(self.input.iter().chain(&self.filter).chain(&self.output));
        for value in [self.stride, PADDING, 1, self.input_dilation] {
            ints.extend(repeated(value));
        }
        let mut bytes: Vec<u8> = ints.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        for (extents, last) in
            [(&self.input, self.channels), (&self.filter, self.channels), (&self.output, self.outputs)]
        {
            bytes.extend(strides(extents, last).iter().flat_map(|value| (*value as i64).to_le_bytes()));
        }
        // One group, not flipped.
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }
}

/// Elements between neighbours, channels last: the first is from one image to the next.
fn strides(extents: &[usize], channels: usize) -> Vec<usize> {
    let mut strides = vec![1];
    let mut stride = channels;
    for extent in extents.iter().rev() {
        strides.push(stride);
        stride *= extent;
    }
    strides.push(stride);
    strides.reverse();
    strides
}

fn convolve(kernel: &Kernel, convolution: Convolution, product: Vec<i32>, grid: [usize; 3], more: Extra) -> Offer {
    let grid = CaseGrid::Threadgroups(grid, [32, kernel.number(5), kernel.number(4)]);
    case(&kernel.name, vec![(200, ConstantValue::Bool(true))], grid, move |argument| {
        Some(match argument {
            "A" => Content::Numbers(convolution.input_length()),
            "B" => Content::Numbers(convolution.filter_length()),
            "C" => Content::Written(convolution.pixels() * convolution.outputs),
            "params" => Content::Bytes(convolution.parameters()),
            "gemm_params" => Content::Bytes(product.iter().flat_map(|value| value.to_le_bytes()).collect()),
            "jump_params" => Content::ints(&more.jumps),
            "base_h" | "base_w" => Content::ints(&more.bases),
            _ => return None,
        })
    })
}

/// Arguments of the general kernel.
#[derive(Default)]
struct Extra {
    jumps: Vec<usize>,
    bases: Vec<usize>,
}

/// Steps in the input from one element of the filter to the next, by dimension from the last, then to the next channels.
fn jumps(convolution: &Convolution, block: usize) -> Vec<i32> {
    let strides = strides(&convolution.input, convolution.channels);
    let mut jumps = Vec::new();
    // Distance walked along the dimensions so far.
    let mut walked = 0i32;
    for dimension in (0..convolution.input.len()).rev() {
        let stride = strides[dimension + 1] as i32;
        jumps.push(stride - walked);
        walked += (convolution.filter[dimension] as i32 - 1) * stride;
    }
    jumps.push(block as i32 - walked);
    jumps
}

/// Number of outputs. MLX's kernels check where the filters end only if a tile has 8 columns; others must be full.
fn outputs(columns: usize) -> usize {
    if columns == 8 { 21 } else { 2 * columns }
}

/// Images, with few channels or many, and small filters or large.
pub(crate) fn images() -> impl Iterator<Item = Offer> {
    kernels("implicit_gemm_conv_2d_", "implicit_gemm_conv_2d").map(|kernel| {
        let (bm, bn, bk) = (kernel.number(1), kernel.number(2), kernel.number(3));
        let channels = if kernel.number(6) == 0 { 2 * bk } else { kernel.number(6) };
        let convolution = Convolution::new(channels, outputs(bn), &[9, 8], &[3, 2], [2, 1]);
        let depth = 3 * 2 * channels;
        let iterations = if kernel.number(6) == 0 { 3 * 2 * (channels / bk) } else { depth.div_ceil(bk) };
        let (m, n) = (convolution.pixels(), convolution.outputs);
        let tiles = [n.div_ceil(bn), m.div_ceil(bm)];
        let mut product = [m, n, depth, iterations].map(|value| value as i32).to_vec();
        product.extend(jumps(&convolution, bk));
        product.extend([tiles[0] as i32, tiles[1] as i32, 0]);
        convolve(&kernel, convolution, product, [tiles[0], tiles[1], 1], Extra::default())
    })
}

pub(crate) fn volumes() -> impl Iterator<Item = Offer> {
    kernels("implicit_gemm_conv_3d_", "implicit_gemm_conv_3d").map(|kernel| {
        let (bm, bn, bk) = (kernel.number(1), kernel.number(2), kernel.number(3));
        let convolution = Convolution::new(2 * bk, outputs(bn), &[4, 5, 6], &[2, 3, 2], [1, 1]);
        let (m, n) = (convolution.pixels(), convolution.outputs);
        let tiles = [n.div_ceil(bn), m.div_ceil(bm)];
        let filter = 2 * 3 * 2;
        let mut product = [m, n, filter * 2 * bk, filter * 2].map(|value| value as i32).to_vec();
        product.extend(jumps(&convolution, bk));
        product.extend([tiles[0] as i32, tiles[1] as i32, 0]);
        convolve(&kernel, convolution, product, [tiles[0], tiles[1], 1], Extra::default())
    })
}

/// Images whose elements lie apart: every second element of the filter meets one.
pub(crate) fn general() -> impl Iterator<Item = Offer> {
    kernels("implicit_gemm_conv_2d_general_", "implicit_gemm_conv_2d_general").map(|kernel| {
        let (bm, bn, bk) = (kernel.number(1), kernel.number(2), kernel.number(3));
        let (channels, step) = (2 * bk, 2);
        let convolution = Convolution::new(channels, outputs(bn), &[5, 4], &[3, 4], [1, step]);
        let adjusted: Vec<usize> = convolution.output.iter().map(|extent| extent.div_ceil(step)).collect();
        let rows = IMAGES * adjusted[0] * adjusted[1];
        let tiles = [convolution.outputs.div_ceil(bn), rows.div_ceil(bm)];
        let depth = 3 * 4 * channels;
        let product =
            [convolution.pixels(), convolution.outputs, depth, channels / bk, 0, 0, 0, tiles[0], tiles[1], 0]
                .map(|value| value as i32)
                .to_vec();
        let extra = Extra {
            jumps: vec![step, step, step, step, adjusted[0], adjusted[1], adjusted[0] * adjusted[1], rows],
            // With a padding of one, the first row meets the filter at its second element.
            bases: vec![1, 1, 0, 2],
        };
        convolve(&kernel, convolution, product, [tiles[0], tiles[1], step * step], extra)
    })
}
