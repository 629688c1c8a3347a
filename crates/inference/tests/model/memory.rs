//! Memory of plans: no compilation and no lasting allocation after loading; mapped weights are not copied.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{self, TinyModel, TinyShape};
use compute::{BinaryArchive, CpuOptions, Device};
use metalworks_inference::formats::Format;
use metalworks_inference::generate::Sampling;
use metalworks_inference::gguf::Gguf;
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::plan::{Plan, PlanOptions, WeightMemory};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread allocated and did not free, and its number of allocations.
    static ALLOCATED: Cell<(isize, usize)> = const { Cell::new((0, 0)) };
}

struct CountingAllocator;

// SAFETY: every call is forwarded to the system allocator; the counters are thread-local, and counting does not
// allocate.
unsafe impl GlobalAlloc for CountingAllocator {
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
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn decoding_compiles_nothing_and_leaves_no_memory_allocated() {
    // A separate device, because other tests load models at the same time. One thread, or others would free what this
    // thread allocated.
    let device = MetalDevice::with_device(
        Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("there is a CPU"),
        BinaryArchive::user_cache().expect("the cache can be found"),
    )
    .expect("the shader library is valid");
    let model = TinyModel::new(&TinyShape::new("qwen2"), 21);
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
    // The first round allocates what later command buffers reuse. If the queue's thread executes a command buffer, it
    // also frees it, which counts as a leak here: so one round without a leak is enough. A leak of each step would show
    // in all.
    round(&mut tokens);
    let allocated = [(); 5].map(|()| {
        let before = ALLOCATED.get();
        round(&mut tokens);
        let after = ALLOCATED.get();
        (after.0 - before.0, after.1 - before.1)
    });
    assert!(allocated.iter().any(|(bytes, _)| *bytes < 512), "bytes not freed, and allocations: {allocated:?}");
    // Per step: the command buffer, and the patches of its tables.
    assert!(allocated.iter().all(|(_, times)| *times < 100 * 8), "{allocated:?} in 100 steps each");
    assert_eq!(tokens[..100], tokens[100..200]);
    let after = device.stats();
    assert_eq!((after.misses, after.late_misses, after.failures), (before.misses, 0, 0), "{after}");
}

#[test]
fn maps_tensors_that_need_no_other_layout() {
    let shape =
        TinyShape { untied: true, format: Format::Q8_0, other_format: Format::Q8_0, ..TinyShape::new("qwen3") };
    let tensors = tiny::tensors(&shape, 23);
    let folder = std::env::temp_dir().join(format!("metalworks-mapped-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for a folder");
    let path = folder.join("tiny.gguf");
    std::fs::write(&path, tiny::bytes(tiny::keys(&shape), &tensors)).expect("there is room for a file");
    let tokens = random_tokens(shape.vocabulary, 40, 8);
    let logits = |maps_weights: bool| {
        let tuning = Tuning { maps_weights, ..*crate::device().tuning() };
        let device = crate::device_with(tuning);
        let file = Gguf::open(&path).expect("the file can be read");
        let mut plan = Plan::load(&device, &file, &EXACT, |_| ()).unwrap_or_else(|error| panic!("{error}"));
        drop(file);
        plan.push(&tokens).unwrap();
        (plan.logits().unwrap(), plan.weight_memory(), mappings_of(&path))
    };
    let (mapped, copied) = (logits(true), logits(false));
    std::fs::remove_dir_all(&folder).expect("the folder is ours");

    assert_eq!(mapped.0, copied.0, "mapped and copied weights give the same logits");
    let size = |names: &[&str]| {
        let of = |(name, ..): &&tiny::RawTensor| names.iter().any(|part| name.contains(part));
        tensors.iter().filter(of).map(|(.., bytes)| bytes.len() as u64).sum::<u64>()
    };
    // Norms are f32 in the file, and the embedding is only indexed: the output matrix is a separate tensor.
    let stays = size(&["norm", "token_embd"]);
    let all = size(&[""]);
    assert_eq!(mapped.1, WeightMemory { copied: all - stays, mapped: stays });
    assert_eq!(copied.1, WeightMemory { copied: all, mapped: 0 });
    #[cfg(target_os = "linux")]
    {
        let norms = tensors.iter().filter(|(name, ..)| name.contains("norm")).count();
        // The system may merge adjacent ranges into one mapping.
        assert!((1..=norms + 1).contains(&mapped.2), "{} mappings of the file for {norms} + 1 tensors", mapped.2);
        assert_eq!(copied.2, 0);
    }
}

/// Number of mappings of a file in this process; 0 on systems other than Linux.
fn mappings_of(path: &std::path::Path) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().filter(|line| line.ends_with(&*path.to_string_lossy())).count()
}
