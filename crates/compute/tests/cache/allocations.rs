//! Hits do not allocate.

use super::{cache, k};
use metalworks_compute::{
    ConstantBits, ConstantName, ConstantValue, FunctionConstantValues, KernelConstants, PipelineConfig,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system allocator, counting allocations per thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

struct Attention {
    head_size: u32,
    tile: [u32; 2],
    scale: f32,
    causal: bool,
}

impl KernelConstants for Attention {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        each(ConstantName::Name("HEAD_SIZE"), self.head_size.into());
        each(ConstantName::Name("TILE"), self.tile.into());
        each(ConstantName::Name("SCALE"), self.scale.into());
        each(ConstantName::Index(4), self.causal.into());
    }
}

#[test]
fn a_hit_allocates_nothing() {
    let (cache, _) = cache();
    let attention = Attention { head_size: 64, tile: [8, 8], scale: 0.125, causal: true };
    let mut values = FunctionConstantValues::new();
    values.set_named("K", ConstantValue::Uint(4096));
    let config = PipelineConfig::new("gemm", k(1)).with_full_simdgroups();
    let ask = || {
        cache.get_or_create_pso("attention", &attention).expect("it is right");
        cache.get_or_create_pso("gemv", &values).expect("it is right");
        cache.get_or_create_pso("gemv", k(7)).expect("it is right");
        cache.get_or_create_pso("add", ()).expect("it is right");
        cache.get_or_create(&config).expect("it is right");
    };
    assert!(allocations(ask) > 0, "misses allocate: the counter works");
    cache.seal();
    assert_eq!(allocations(ask), 0);
    let stats = cache.stats();
    assert_eq!((stats.hits, stats.misses), (5, 5));
}
