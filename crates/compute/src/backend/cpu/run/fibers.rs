//! Simdgroups of a threadgroup that synchronize on one thread: each has its own stack, and a barrier switches to the
//! next one.
//!
//! **Invariant:** a fiber runs to its end, and the others continue without it, unless one of them is interrupted: then
//! all are abandoned. Generated code cannot be unwound and need not be: it owns nothing.

use super::fault::ThreadRecord;
use crate::error::{Error, Result};
use abi::{Dispatch, Entry, Simdgroup, Threadgroup};
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// Stack size for everything except private arrays.
const STACK_SIZE: u64 = 256 << 10;

/// A call of generated code.
#[derive(Clone, Copy)]
pub(crate) struct KernelCall {
    pub(crate) entry: Entry,
    pub(crate) simdgroup: *mut Simdgroup,
    pub(crate) count: u32,
}

impl KernelCall {
    /// Calls the code on the current stack; false if it was interrupted.
    ///
    /// # Safety
    ///
    /// The arguments must be what generated code expects, and no other simdgroup may wait for this one at a barrier.
    pub(crate) unsafe fn make(
        self,
        record: &ThreadRecord,
        dispatch: *const Dispatch,
        threadgroup: *const Threadgroup,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe { record.call(self.entry, dispatch, threadgroup, self.simdgroup, self.count) }
    }
}

/// The fiber stacks of one thread.
#[derive(Default)]
pub(crate) struct Fibers {
    stacks: Vec<FiberStack>,
    /// Size of each stack.
    stack_size: usize,
    running: Vec<Coroutine<(), (), bool, FiberStack>>,
}

/// The state of a fiber for its barrier.
struct FiberState<'a> {
    yielder: &'a Yielder<(), ()>,
    record: &'a ThreadRecord,
}

/// A stack with a guard page. Each stack begins at a different offset in its page: otherwise their first lines, which
/// every switch touches, would map to the same few cache sets.
struct FiberStack {
    memory: DefaultStack,
    base: StackPointer,
}

/// The offsets repeat after a page.
const DISTANCE: usize = 128;
const PAGE: usize = 4096;

impl FiberStack {
    fn new(size: usize, index: usize) -> Option<FiberStack> {
        let memory = DefaultStack::new(size + PAGE).ok()?;
        let base = StackPointer::new(memory.base().get() - index * DISTANCE % PAGE)?;
        Some(FiberStack { memory, base })
    }
}

// SAFETY: it is a stack with a guard page, minus less than a page at its base.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.memory.limit()
    }
}

impl Fibers {
    /// Ensures that there are `count` stacks for code with this much private memory.
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

    /// Runs all calls, each on its own stack, until all have returned. There must be a stack for each. False if one was
    /// interrupted, or if `is_stopped` returned true.
    ///
    /// # Safety
    ///
    /// The calls must be what generated code expects, and the barrier of `threadgroup` must be [`switch`].
    pub(crate) unsafe fn run(
        &mut self,
        record: &ThreadRecord,
        dispatch: *const Dispatch,
        threadgroup: *const Threadgroup,
        calls: impl Iterator<Item = KernelCall>,
        is_stopped: impl Fn() -> bool,
    ) -> bool {
        let record: *const ThreadRecord = record;
        for (call, stack) in calls.zip(std::iter::from_fn(|| self.stacks.pop())) {
            self.running.push(Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
                // SAFETY: as the caller promises. The record outlives this function, which ends all fibers; this stack
                // holds nothing that needs dropping.
                unsafe {
                    let state = FiberState { yielder, record: &*record };
                    (*call.simdgroup).fiber = (&raw const state).cast_mut().cast();
                    call.make(state.record, dispatch, threadgroup)
                }
            }));
        }
        let (mut waiting, mut completes) = (true, true);
        while waiting && completes {
            waiting = false;
            for fiber in self.running.iter_mut().filter(|fiber| !fiber.done()) {
                match fiber.resume(()) {
                    CoroutineResult::Yield(()) => waiting = true,
                    CoroutineResult::Return(true) => {}
                    CoroutineResult::Return(false) => {
                        completes = false;
                        break;
                    }
                }
            }
            completes &= !(waiting && is_stopped());
        }
        if !completes {
            for fiber in &mut self.running {
                // SAFETY: the fiber has not begun, is done, or waits in `switch`, which was called by generated code.
                // Neither has anything on the stack that needs dropping.
                unsafe { fiber.force_reset() };
            }
        }
        self.stacks.extend(self.running.drain(..).map(Coroutine::into_stack));
        completes
    }
}

/// The barrier of threadgroups whose simdgroups are fibers.
///
/// # Safety
///
/// Only for calls made by [`Fibers::run`], with their own simdgroup.
pub(crate) unsafe extern "C" fn switch(simdgroup: *const Simdgroup) {
    // SAFETY: `run` stored the fiber's state there, which lives as long as the fiber.
    let state = unsafe { &*(*simdgroup).fiber.cast_const().cast::<FiberState>() };
    state.record.outside(|| state.yielder.suspend(()));
}

/// The barrier of a threadgroup with one simdgroup: nothing to wait for.
pub(crate) unsafe extern "C" fn alone(_: *const Simdgroup) {}
