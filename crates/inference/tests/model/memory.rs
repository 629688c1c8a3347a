//! After loading, nothing is compiled, and nothing that is allocated stays.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{Shape, Tiny};
use compute::{BinaryArchive, CpuOptions, Device};
use inference::generate::Sampling;
use inference::metal::MetalDevice;
use inference::plan::{Plan, PlanOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and how often it did.
    static ALLOCATED: Cell<(isize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: all is the system's; what is counted is a number of this thread's alone.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATED.try_with(|count| count.set((count.get().0 + layout.size() as isize, count.get().1 + 1)));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = ALLOCATED.try_with(|count| count.set((count.get().0 - layout.size() as isize, count.get().1)));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_compiled_and_no_memory_stays_after_loading() {
    // A device of its own, since others load meanwhile; with one thread, or others would free what this one allocated.
    let device = MetalDevice::with_device(
        Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("there is a processor"),
        BinaryArchive::user_cache().expect("the cache can be found"),
    )
    .expect("the library is right");
    let model = Tiny::new(&Shape::new("qwen2"), 21);
    let sampling = Sampling { temperature: 0.8, top_k: Some(20), repeat_penalty: 1.1, ..Sampling::GREEDY };
    let mut plan = Plan::load(&device, &model.file, &PlanOptions { sampling, ..EXACT }, |_| ()).unwrap();
    let before = device.stats();
    assert!(before.pipelines > 10, "{before}");
    let prompt = random_tokens(model.shape.vocabulary, 45, 6);
    let mut tokens = Vec::with_capacity(1000);
    let mut round = |tokens: &mut Vec<u32>| {
        plan.truncate(0);
        plan.push(&prompt).unwrap();
        for _ in 0..20 {
            plan.generate(5, tokens).unwrap();
        }
    };
    // What is kept for the next command buffer is there after the first. What the queue's own thread is faster to execute, it
    // frees, too, which counts as memory that stays; so the best of some rounds counts. What a step leaves, it leaves in all.
    round(&mut tokens);
    let allocated = [(); 5].map(|()| {
        let before = ALLOCATED.get();
        round(&mut tokens);
        let after = ALLOCATED.get();
        (after.0 - before.0, after.1 - before.1)
    });
    assert!(allocated.iter().any(|(bytes, _)| *bytes < 512), "bytes that stay, and allocations: {allocated:?}");
    // Per step: the command buffer, and the patches of its tables.
    assert!(allocated.iter().all(|(_, times)| *times < 100 * 8), "{allocated:?} in 100 steps each");
    assert_eq!(tokens[..100], tokens[100..200]);
    let after = device.stats();
    assert_eq!((after.misses, after.late_misses, after.failures), (before.misses, 0, 0), "{after}");
}
