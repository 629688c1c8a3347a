//! Simdgroups wait for each other at barriers, except for those that have returned.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{DispatchCall, RustKernel, argument, device, numbers, run};
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{Error, Size};

const ROUNDS: u32 = 10;

/// In each round, every simdgroup writes its number and reads those of all others.
unsafe extern "C" fn exchange(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, count: u32) {
    unsafe {
        assert_eq!(count, 1);
        let memory = (*t).memory.cast::<u32>();
        assert_eq!(memory.addr() % 64, 0);
        let (index, simdgroups) = ((*s).index, (*t).simdgroups);
        let mut total = 0;
        for round in 0..ROUNDS {
            *memory.add(index as usize) = index + round;
            ((*t).barrier)(s);
            total += (0..simdgroups).map(|other| *memory.add(other as usize)).sum::<u32>();
            ((*t).barrier)(s);
        }
        let first = (*t).position[0] * 32;
        *numbers(d, 0).add((first + index) as usize) = total;
    }
}

#[test]
fn barriers_synchronize_all_simdgroups() {
    for pool in [1, 3] {
        let device = device(pool);
        let queue = device.new_command_queue();
        let kernel = RustKernel {
            has_barrier: true,
            static_threadgroup_memory: 128,
            ..RustKernel::new(exchange, exchange, 1)
        };
        for size in [32, 64, 100, 1000, 1024] {
            let groups = 200;
            let buffer = device.new_buffer(groups * 32 * 4).expect("memory");
            let grid = DispatchCall::Threadgroups(Size::linear(groups), Size::linear(size));
            run(&queue, &kernel, &[&buffer], grid).expect("it runs");
            let simdgroups = size.div_ceil(32) as u32;
            let expected: u32 = (0..ROUNDS).flat_map(|round| (0..simdgroups).map(move |index| index + round)).sum();
            let found = buffer.read::<u32>();
            for group in found.chunks(32) {
                assert!(group[..simdgroups as usize].iter().all(|&total| total == expected), "size {size}");
            }
        }
    }
}

/// Every second simdgroup returns before the barrier, the others pass three.
unsafe extern "C" fn leave(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, _: u32) {
    unsafe {
        let index = (*s).index;
        if index.is_multiple_of(2) {
            for _ in 0..3 {
                ((*t).barrier)(s);
            }
        }
        *numbers(d, 0).add(index as usize) = index + 1;
    }
}

#[test]
fn a_simdgroup_that_returned_is_not_waited_for() {
    let device = device(1);
    let buffer = device.new_buffer(32 * 4).expect("memory");
    let kernel = RustKernel { has_barrier: true, ..RustKernel::new(leave, leave, 1) };
    let grid = DispatchCall::Threadgroups(Size::linear(1), Size::linear(1024));
    run(&device.new_command_queue(), &kernel, &[&buffer], grid).expect("it ends");
    assert_eq!(buffer.read::<u32>(), (1..=32).collect::<Vec<u32>>());
}

/// Uses as much stack as declared.
unsafe extern "C" fn dig(d: *const Dispatch, _: *const Threadgroup, s: *const Simdgroup, count: u32) {
    unsafe {
        let mut array = [1u8; 6 << 20];
        std::hint::black_box(&mut array);
        let sum = array.iter().map(|&byte| u32::from(byte)).sum::<u32>();
        for index in 0..count {
            *numbers(d, 0).add(((*s).index + index) as usize) = sum;
        }
    }
}

#[test]
fn private_arrays_fit_on_the_stack() {
    let device = device(2);
    let queue = device.new_command_queue();
    for has_barrier in [false, true] {
        let buffer = device.new_buffer(4 * 4).expect("memory");
        let kernel = RustKernel { has_barrier, private_memory: 12 << 20, ..RustKernel::new(dig, dig, 1) };
        let grid = DispatchCall::Threadgroups(Size::linear(1), Size::linear(128));
        // This thread has a small stack.
        let (queue, buffer) = (&queue, &buffer);
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            let thread = thread.spawn_scoped(scope, move || run(queue, &kernel, &[buffer], grid));
            thread.expect("a thread").join().expect("no panic").expect("it runs");
        });
        assert_eq!(buffer.read::<u32>(), [6 << 20; 4]);
    }
}

#[test]
fn too_large_private_arrays_are_an_error() {
    let device = device(1);
    let buffer = device.new_buffer(64).expect("memory");
    for private_memory in [1 << 60, u64::MAX] {
        let kernel = RustKernel { private_memory, ..RustKernel::new(dig, dig, 1) };
        let grid = DispatchCall::Threadgroups(Size::linear(1), Size::linear(32));
        let error =
            run(&device.new_command_queue(), &kernel, &[&buffer], grid).expect_err("there is no such stack");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    }
}

/// Writes the offsets of its two threadgroup arguments.
unsafe extern "C" fn offsets(d: *const Dispatch, t: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        let out = numbers(d, 0);
        for (place, index) in [3, 7].into_iter().enumerate() {
            *out.add(place) = (*d).threadgroup_offsets[index];
        }
        *out.add(2) = u32::from((*t).memory.is_null());
        // The last byte is accessible.
        *(*t).memory.add((*d).threadgroup_offsets[7] as usize + 63) = 1;
    }
}

#[test]
fn threadgroup_arguments_follow_the_kernels_own_memory() {
    let device = device(1);
    let buffer = device.new_buffer(64).expect("memory");
    let mut kernel = RustKernel { static_threadgroup_memory: 20, ..RustKernel::new(offsets, offsets, 1) };
    kernel.arguments.push(argument(ArgumentKind::ThreadgroupMemory, 3, 4));
    kernel.arguments.push(argument(ArgumentKind::ThreadgroupMemory, 7, 16));
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    assert_eq!(pipeline.static_threadgroup_memory_length(), 20);
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    let mut encode = || {
        encoder.set_compute_pipeline_state(&pipeline)?;
        kernel.bind(&mut encoder)?;
        encoder.set_buffer(0, &buffer, 0)?;
        encoder.set_threadgroup_memory_length(3, 48)?;
        encoder.set_threadgroup_memory_length(7, 64)?;
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32))?;
        encoder.end_encoding()
    };
    encode().expect("it encodes");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(buffer.read::<u32>()[..3], [32, 80, 0]);
}
