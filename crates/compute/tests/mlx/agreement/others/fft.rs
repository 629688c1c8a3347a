//! Fourier transforms.

use super::{Constants, Content, case, kernels};
use crate::agreement::Offer;
use crate::harness::{self, CaseGrid};
use metalworks_compute::ConstantValue;

/// Elements of a transform that a thread has.
const PER_THREAD: usize = 8;

/// Transforms of as many elements as fit into the kernel's memory, of real or complex numbers.
pub(crate) fn whole() -> impl Iterator<Item = Offer> {
    let kernels = kernels("fft_mem_", "fft").filter(|kernel| !kernel.name.contains("complex32"));
    let transforms = kernels.map(|kernel| {
        let (n, batch) = (kernel.number(0), 4);
        let is_packed = kernel.arguments[1] != kernel.arguments[2];
        // Two sequences of real numbers are one of complex numbers.
        let rows = if is_packed { batch / 2 } else { batch };
        let grid = CaseGrid::Threads([rows, 1, n / PER_THREAD], [1, 1, n / PER_THREAD]);
        case(&kernel.name.clone(), plan(n, kernel.arguments[2] == "float"), grid, move |argument| {
            Some(match argument {
                "in" => Content::Numbers(batch * n),
                "out" => Content::Written(batch * n),
                "n" => Content::int(n),
                "batch_size" => Content::int(batch),
                _ => return None,
            })
        })
    });
    let table = harness::names("generate_bluestein_twiddles").into_iter().map(|name| {
        let grid = CaseGrid::Threads([584, 1, 1], [32, 1, 1]);
        case(&name, plan(256, false), grid, |argument| (argument == "twiddles").then_some(Content::Written(584)))
    });
    transforms.chain(table)
}

/// Steps of radix 8, and of 4 and 2 for what is left.
fn plan(n: usize, is_inverse: bool) -> Constants {
    let bits = n.trailing_zeros() as i32;
    let steps = [(6, bits / 3), (10, i32::from(bits % 3 == 2)), (12, i32::from(bits % 3 == 1))];
    let count = |index: u32| steps.iter().find(|(radix, _)| *radix == index).map_or(0, |(_, count)| *count);
    let mut constants = vec![
        (0, ConstantValue::Bool(is_inverse)),
        (1, ConstantValue::Bool(true)),
        (2, ConstantValue::Int(PER_THREAD as i32)),
        (22, ConstantValue::Bool(false)),
    ];
    constants.extend((3..22).map(|index| (index, ConstantValue::Int(count(index)))));
    constants
}
