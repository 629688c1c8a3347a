//! Kernels flush denormal numbers if they were compiled to, without affecting other code.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{DispatchCall, RustKernel, device, numbers, run};
use metalworks_compute::Size;
use std::hint::black_box;

fn half_of_the_smallest() -> f32 {
    black_box(f32::MIN_POSITIVE) * black_box(0.5)
}

unsafe extern "C" fn halve(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, count: u32) {
    unsafe {
        ((*t).barrier)(s);
        for index in 0..count {
            *numbers(d, 0).add(((*s).index + index) as usize) = half_of_the_smallest().to_bits();
        }
    }
}

#[test]
fn only_kernels_compiled_to_flush_do() {
    let device = device(2);
    let queue = device.new_command_queue();
    for has_barrier in [false, true] {
        for flush_denormals in [true, false] {
            let buffer = device.new_buffer_with_bytes(&[0xff; 16]).expect("memory");
            let kernel = RustKernel { has_barrier, flush_denormals, ..RustKernel::new(halve, halve, 1) };
            let grid = DispatchCall::Threadgroups(Size::linear(1), Size::linear(128));
            run(&queue, &kernel, &[&buffer], grid).expect("it runs");
            let expected = if flush_denormals { 0 } else { 0x0040_0000 };
            assert_eq!(buffer.read::<u32>(), [expected; 4]);
            assert!(half_of_the_smallest() > 0.0, "the caller's mode is restored");
        }
    }
}
