//! Every thread of a grid runs once, for any shape and any number of CPU threads.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{DispatchCall, RustKernel, device, numbers, run, threads};
use metalworks_compute::{CpuOptions, Device, Size};

/// Adds `mark` to the number of each thread in the grid, and checks the positions that the kernel is given.
unsafe fn visit(
    dispatch: *const Dispatch,
    threadgroup: *const Threadgroup,
    simdgroup: *const Simdgroup,
    count: u32,
    mark: u32,
) {
    unsafe {
        let (grid, most) = ((*dispatch).threads_per_grid, (*dispatch).threads_per_threadgroup);
        let group = (*threadgroup).position;
        for position in threads(threadgroup, simdgroup, count) {
            let at: [u32; 3] = std::array::from_fn(|i| group[i] * most[i] + position[i]);
            let index = at[0] + grid[0] * (at[1] + grid[1] * at[2]);
            *numbers(dispatch, 0).add(index as usize) += mark;
        }
    }
}

unsafe extern "C" fn visit_row(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, count: u32) {
    unsafe { visit(d, t, s, count, 1) };
}

unsafe extern "C" fn visit_any(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, count: u32) {
    unsafe { visit(d, t, s, count, 100) };
}

/// Number of threads that ran in code for rows, and in the other. Fails if one ran twice or not at all.
fn visits(device: &Device, threads: Size, grid: DispatchCall, has_barrier: bool) -> (usize, usize) {
    let volume = threads.volume().expect("a small grid");
    let buffer = device.new_buffer(volume * 4).expect("memory");
    let kernel = RustKernel { has_barrier, ..RustKernel::new(visit_row, visit_any, 1) };
    run(&device.new_command_queue(), &kernel, &[&buffer], grid).expect("it runs");
    let numbers = buffer.read::<u32>();
    let (row, any) = numbers.iter().fold((0, 0), |(row, any), number| match number {
        1 => (row + 1, any),
        100 => (row, any + 1),
        other => panic!("{grid:?}: a thread ran {other} times"),
    });
    assert_eq!(row + any, volume);
    (row, any)
}

fn by_threads(device: &Device, threads: Size, threadgroup: Size) -> (usize, usize) {
    let visited = visits(device, threads, DispatchCall::Threads(threads, threadgroup), false);
    assert_eq!(visits(device, threads, DispatchCall::Threads(threads, threadgroup), true), visited);
    visited
}

#[test]
fn rows_are_used_where_possible() {
    let device = device(1);
    assert_eq!(by_threads(&device, Size::linear(1024), Size::linear(256)), (1024, 0));
    assert_eq!(by_threads(&device, Size::linear(1000), Size::linear(256)), (992, 8));
    assert_eq!(by_threads(&device, Size::linear(1000), Size::linear(1000)), (992, 8));
    assert_eq!(by_threads(&device, Size::linear(7), Size::linear(256)), (0, 7));
    assert_eq!(by_threads(&device, Size::new(64, 3, 5), Size::new(32, 2, 2)), (960, 0));
    assert_eq!(by_threads(&device, Size::new(40, 8, 1), Size::new(40, 8, 1)), (0, 320));
    assert_eq!(by_threads(&device, Size::new(16, 16, 4), Size::new(8, 8, 4)), (0, 1024));
    // The last threadgroup along x is a single column.
    assert_eq!(by_threads(&device, Size::new(65, 4, 1), Size::new(32, 4, 1)), (256, 4));
}

#[test]
fn grids_of_all_shapes_are_covered() {
    for threads in [1, 2, 5] {
        let device = device(threads);
        for (x, y, z) in [(1, 1, 1), (33, 1, 1), (1, 33, 1), (1, 1, 33), (17, 9, 5), (130, 7, 3), (64, 64, 2)] {
            for (a, b, c) in [(1, 1, 1), (32, 1, 1), (8, 4, 2), (5, 3, 7), (64, 2, 1), (1, 32, 1), (10, 10, 10)] {
                by_threads(&device, Size::new(x, y, z), Size::new(a, b, c));
            }
        }
    }
}

#[test]
fn threadgroups_are_whole() {
    let device = device(2);
    let (groups, size) = (Size::new(3, 2, 2), Size::new(20, 3, 1));
    let threads = Size::new(60, 6, 2);
    assert_eq!(visits(&device, threads, DispatchCall::Threadgroups(groups, size), false), (0, 720));
    let (groups, size) = (Size::linear(1000), Size::linear(64));
    assert_eq!(visits(&device, Size::linear(64_000), DispatchCall::Threadgroups(groups, size), false), (64_000, 0));
}

#[test]
fn large_grids_are_shared_between_threads() {
    let device = device(4);
    for _ in 0..10 {
        let threads = Size::new(1000, 300, 1);
        visits(&device, threads, DispatchCall::Threads(threads, Size::new(64, 4, 1)), false);
    }
}

#[test]
fn a_device_reports_its_limits() {
    let device = Device::cpu_with_options(&CpuOptions { threads: Some(3) }).expect("a CPU");
    assert!(device.name().contains("3 threads"), "{}", device.name());
    assert_eq!(device.max_threadgroup_memory_length(), 32 << 10);
    assert_eq!(device.max_threads_per_threadgroup(), Size::new(1024, 1024, 1024));
    assert!(device.max_buffer_length() > 64 << 20);
    assert!(Device::cpu_with_options(&CpuOptions { threads: Some(0) }).is_err());
}
