//! Simdgroups of a threadgroup that wait for each other, on one thread: each has a stack of its own, and a barrier
//! switches to the next one.
//!
//! **Invariant:** a fiber is never abandoned in the middle. Generated code cannot be unwound, so each fiber runs until its
//! function returns; one that has returned takes no further part, and the others go on without it.

use crate::error::{Error, Result};
use abi::{Dispatch, Entry, Simdgroup, Threadgroup};
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, Yielder};

/// Room on each stack for everything but private arrays.
const STACK_SIZE: u64 = 256 << 10;

/// A call of generated code.
#[derive(Clone, Copy)]
pub(crate) struct KernelCall {
    pub(crate) entry: Entry,
    pub(crate) simdgroup: *mut Simdgroup,
    pub(crate) count: u32,
}

impl KernelCall {
    /// Makes the call on this stack.
    ///
    /// # Safety
    ///
    /// It must be what generated code expects, and nothing may be waiting for it at a barrier.
    pub(crate) unsafe fn make(self, dispatch: *const Dispatch, threadgroup: *const Threadgroup) {
        // SAFETY: as the caller promises.
        unsafe { (self.entry)(dispatch, threadgroup, self.simdgroup, self.count) };
    }
}

/// The stacks of one thread.
#[derive(Default)]
pub(crate) struct Fibers {
    stacks: Vec<FiberStack>,
    /// The size of each of them.
    stack_size: usize,
    running: Vec<Coroutine<(), (), (), FiberStack>>,
}

/// A stack with a guard page. Each begins at another distance from the end of a page: otherwise the stacks' first lines,
/// which every switch touches, would share a few cache lines.
struct FiberStack {
    memory: DefaultStack,
    base: StackPointer,
}

/// The distances come back after a page.
const DISTANCE: usize = 128;
const PAGE: usize = 4096;

impl FiberStack {
    fn new(size: usize, index: usize) -> Option<FiberStack> {
        let memory = DefaultStack::new(size + PAGE).ok()?;
        let base = StackPointer::new(memory.base().get() - index * DISTANCE % PAGE)?;
        Some(FiberStack { memory, base })
    }
}

// SAFETY: it is the memory of a stack with a guard page, of which less than a page at the base is left out.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.memory.limit()
    }
}

impl Fibers {
    /// Sees to it that there are `count` stacks for code with this much private memory.
    pub(crate) fn reserve(&mut self, count: usize, private_memory: u64) -> Result<()> {
        let size = private_memory.saturating_add(STACK_SIZE).checked_next_multiple_of(STACK_SIZE);
        let bytes = size.unwrap_or(u64::MAX);
        let out_of_memory = || Error::OutOfMemory { what: "the stack of a simdgroup".into(), bytes };
        let size = usize::try_from(bytes).ok().filter(|&size| size <= isize::MAX as usize / 2);
        let size = size.ok_or_else(out_of_memory)?;
        if size > self.stack_size {
            self.stacks.clear();
            self.stack_size = size;
        }
        while self.stacks.len() < count {
            let index = self.stacks.len();
            self.stacks.push(FiberStack::new(self.stack_size, index).ok_or_else(out_of_memory)?);
        }
        Ok(())
    }

    /// Makes all calls, each on its own stack, until all have returned. There must be a stack for each.
    ///
    /// # Safety
    ///
    /// The calls must be what generated code expects, and `threadgroup` must have the barrier [`switch`].
    pub(crate) unsafe fn run(
        &mut self,
        dispatch: *const Dispatch,
        threadgroup: *const Threadgroup,
        calls: impl Iterator<Item = KernelCall>,
    ) {
        for (KernelCall { entry, simdgroup, count }, stack) in calls.zip(std::iter::from_fn(|| self.stacks.pop())) {
            self.running.push(Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
                // SAFETY: as the caller promises; nothing on this stack needs to be dropped.
                unsafe {
                    (*simdgroup).fiber = std::ptr::from_ref(yielder).cast_mut().cast();
                    entry(dispatch, threadgroup, simdgroup, count);
                }
            }));
        }
        let mut waiting = true;
        while waiting {
            waiting = false;
            for fiber in self.running.iter_mut().filter(|fiber| !fiber.done()) {
                waiting |= fiber.resume(()).as_yield().is_some();
            }
        }
        self.stacks.extend(self.running.drain(..).map(Coroutine::into_stack));
    }
}

/// The barrier of threadgroups whose simdgroups are fibers.
///
/// # Safety
///
/// Only for calls that [`Fibers::run`] makes, with their own simdgroup.
pub(crate) unsafe extern "C" fn switch(simdgroup: *const Simdgroup) {
    // SAFETY: `run` put a yielder there, which lives as long as the fiber.
    unsafe { (*(*simdgroup).fiber.cast_const().cast::<Yielder<(), ()>>()).suspend(()) };
}

/// The barrier of a threadgroup that has one simdgroup.
pub(crate) unsafe extern "C" fn alone(_: *const Simdgroup) {}
