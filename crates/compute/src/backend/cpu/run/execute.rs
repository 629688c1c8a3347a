//! Executes dispatches: from a grid to calls of generated code.
//!
//! ```text
//! Execution ── stages of dispatches that may overlap; items: their threadgroups, claimed in chunks by the pool's threads
//!   Grid ── one dispatch: threadgroup after threadgroup
//!     no barrier: one call for all simdgroups that are rows, one for the others
//!     barrier: a fiber per simdgroup
//! ```
//!
//! In adverse mode all of it runs backwards: dispatches that may overlap, their threadgroups and, between barriers,
//! simdgroups; and threadgroup memory is filled with garbage first. A simdgroup runs from barrier to barrier without
//! interruption. So if a barrier is missing between two simdgroups and their order matters, the normal and the adverse
//! run differ.

use super::checks::{Checker, Validator};
use super::denormals::FlushDenormals;
use super::fault::{Cause, Fault, Registered, Stop};
use super::fibers::{self, Fibers, KernelCall};
use super::grid::Grid;
use super::messages::{self, MessageContext, Messages};
use super::pool::Pool;
use super::shape::{Shape, ShapeTable};
use super::walk::StagedWork;
use crate::backend::cpu::device::MAX_THREADGROUP_MEMORY;
use crate::error::{Error, Result};
use crate::message::LogHandler;
use crate::trace;
use abi::{Entry, Lanes, Simdgroup, Threadgroup};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Larger private arrays do not go on the calling thread's stack, which may be small.
const PRIVATE_MEMORY_ON_THREAD: u64 = 64 << 10;

/// A run of a program.
pub(crate) struct Execution<'a> {
    grids: &'a [Grid],
    /// Grids that may overlap.
    stages: &'a [Range<usize>],
    /// Records the time of each dispatch.
    times: Option<&'a [Times]>,
    is_adverse: bool,
    /// Cancels it, by its number.
    stop: &'a Stop,
    number: u64,
    validator: &'a Validator,
    /// Tells its stages from those of other runs.
    first_stage: u64,
    /// Messages of kernels, if somebody takes them.
    messages: Option<Messages>,
    has_failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// The reason why an execution ended early.
pub(crate) enum Failure {
    Error(Error),
    /// A dispatch, by its number, was interrupted.
    Interrupted(usize, Fault),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

/// Execution time of a dispatch.
pub(crate) struct Times {
    /// Reference point of the other two, which are nanoseconds after it.
    origin: Instant,
    first: AtomicU64,
    last: AtomicU64,
}

impl Times {
    pub(crate) fn new(origin: Instant) -> Times {
        Times { origin, first: AtomicU64::new(u64::MAX), last: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Start and end of a finished dispatch.
    pub(crate) fn range(&self) -> Range<Instant> {
        let at = |time: &AtomicU64| self.origin + Duration::from_nanos(time.load(Ordering::Relaxed));
        at(&self.first)..at(&self.last)
    }
}

/// The command buffer that is executed.
#[derive(Clone, Copy)]
pub(crate) struct Commands<'a> {
    /// Cancels it, by its number.
    pub(crate) number: u64,
    /// Takes messages of its kernels, in place of the device's handler.
    pub(crate) log_handler: Option<&'a LogHandler>,
}

impl<'a> Execution<'a> {
    pub(crate) fn new(
        grids: &'a [Grid],
        stages: &'a [Range<usize>],
        times: Option<&'a [Times]>,
        pool: &'a Pool,
        commands: Commands<'_>,
    ) -> Execution<'a> {
        static STAGES: AtomicU64 = AtomicU64::new(1);
        let (has_failed, failure) = (AtomicBool::new(false), Mutex::new(None));
        let first_stage = STAGES.fetch_add(stages.len() as u64 + 1, Ordering::Relaxed);
        let (is_adverse, stop, validator) = (pool.is_adverse(), pool.stop(), pool.validator());
        let has_messages = grids.iter().any(|grid| grid.messages().is_some());
        let messages = if has_messages { pool.log().begin(commands.log_handler) } else { None };
        Execution {
            grids,
            stages,
            times,
            is_adverse,
            stop,
            number: commands.number,
            validator,
            first_stage,
            messages,
            has_failed,
            failure,
        }
    }

    /// Hands messages to their handler, when all work is done.
    pub(crate) fn deliver_messages(&self) {
        if let Some(messages) = &self.messages {
            messages.deliver();
        }
    }

    /// Returns the first failure.
    pub(crate) fn finish(self) -> std::result::Result<(), Failure> {
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

impl StagedWork for Execution<'_> {
    fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Number of threadgroups.
    fn items(&self, stage: usize) -> u64 {
        self.grids[self.stages[stage].end - 1].end()
    }

    fn run(&self, stage: usize, items: Range<u64>) {
        let mut local = Local::take();
        let all = self.items(stage);
        let grids = self.stages[stage].clone();
        let mut next = items.start;
        local.record.begin(self.stop, self.number);
        while next < items.end && !self.has_failed.load(Ordering::Relaxed) {
            // Adverse: one at a time, from the last one.
            let (first, end) = match self.is_adverse {
                false => (next, items.end),
                true => (all - 1 - next, all - next),
            };
            let number = grids.start + self.grids[grids.clone()].partition_point(|grid| grid.end() <= first);
            let end = self.grids[number].end().min(end);
            self.run_grid(&mut local, number, first..end);
            next += end - first;
        }
        local.record.end();
        local.put_back();
    }
}

impl Execution<'_> {
    /// Runs items that are threadgroups of one dispatch.
    fn run_grid(&self, local: &mut Local, number: usize, items: Range<u64>) {
        let grid = &self.grids[number];
        let begin = grid.end() - grid.threadgroups();
        let times = self.times.map(|times| &times[number]);
        let (count, traced) = (items.end - items.start, trace::begin());
        if let Some(times) = times {
            times.first.fetch_min(times.now(), Ordering::Relaxed);
        }
        let checker = Checker::new(grid, number, self.validator, self.first_stage + grid.order());
        let range = items.start - begin..items.end - begin;
        let ran = local.run(self, number, range, checker.as_deref());
        if let Err(failure) = ran {
            self.has_failed.store(true, Ordering::Relaxed);
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
        if let Some(times) = times {
            times.last.fetch_max(times.now(), Ordering::Relaxed);
        }
        if let Some(start) = traced {
            trace::threadgroups(grid.kernel(), count, start);
        }
    }
}

/// Scratch state of an executing thread.
#[derive(Default)]
struct Local {
    memory: Option<Box<ThreadgroupMemory>>,
    shapes: ShapeTable,
    fibers: Fibers,
    record: Registered,
}

/// Threadgroup memory, zeroed once and then as the last threadgroup left it. Vector loads may read beyond its end.
#[repr(C, align(64))]
struct ThreadgroupMemory([u8; MAX_THREADGROUP_MEMORY + 256]);

thread_local! {
    static LOCAL: Cell<Option<Box<Local>>> = const { Cell::new(None) };
}

impl Local {
    /// Takes the thread's state, or a new one.
    fn take() -> Box<Local> {
        LOCAL.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    fn put_back(self: Box<Local>) {
        // A thread that is exiting cannot store it.
        let _ = LOCAL.try_with(|local| local.set(Some(self)));
    }

    /// Allocates the threadgroup memory on first use.
    fn memory(&mut self) -> Result<*mut u8> {
        if self.memory.is_none() {
            let out_of_memory = || Error::OutOfMemory {
                what: "threadgroup memory".into(),
                bytes: size_of::<ThreadgroupMemory>() as u64,
            };
            let layout = std::alloc::Layout::new::<ThreadgroupMemory>();
            // SAFETY: the layout is not empty, and a `ThreadgroupMemory` may be all zeros.
            let memory = unsafe {
                let memory = std::alloc::alloc_zeroed(layout).cast::<ThreadgroupMemory>();
                (!memory.is_null()).then(|| Box::from_raw(memory))
            };
            self.memory = Some(memory.ok_or_else(out_of_memory)?);
        }
        Ok(self.memory.as_mut().map_or(std::ptr::null_mut(), |memory| memory.0.as_mut_ptr()))
    }

    /// Runs threadgroups of a grid. In adverse mode, simdgroups run backwards, with garbage in threadgroup memory.
    fn run(
        &mut self,
        execution: &Execution,
        number: usize,
        threadgroups: Range<u64>,
        checker: Option<&Checker>,
    ) -> std::result::Result<(), Failure> {
        let (grid, is_adverse, messages) =
            (&execution.grids[number], execution.is_adverse, execution.messages.as_ref());
        let is_stopped = || execution.stop.has_cancelled(execution.number);
        let memory = if grid.threadgroup_memory() > 0 { self.memory()? } else { std::ptr::null_mut() };
        let on_fibers = grid.has_barrier() || grid.stack_memory() > PRIVATE_MEMORY_ON_THREAD;
        if on_fibers {
            self.fibers.reserve(grid.most_simdgroups() as usize, grid.stack_memory())?;
        }
        let log = messages.map(|messages| MessageContext { messages, grid, number, record: &self.record });
        let mut threadgroup = Threadgroup {
            memory,
            barrier: fibers::alone,
            position: [0; 3],
            size: [0; 3],
            simdgroups: 0,
            failure: Cell::new(0),
            checks: std::ptr::null(),
            log: if log.is_some() { messages::take } else { messages::ignore },
            log_context: log.as_ref().map_or(std::ptr::null(), |log| std::ptr::from_ref(log).cast()),
        };
        self.record.set_code(grid.addresses());
        let _mode = FlushDenormals::new(grid.flush_denormals());
        let mut shape = Shape::new([0; 3]);
        let mut simdgroups: &mut [Simdgroup] = &mut [];
        for (position, size) in grid.threadgroup_range(threadgroups) {
            if size != shape.size {
                shape = Shape::new(size);
                simdgroups = self.shapes.simdgroups(shape);
            }
            threadgroup.position = position;
            threadgroup.size = size;
            threadgroup.simdgroups = shape.simdgroups;
            if is_adverse && !memory.is_null() {
                // SAFETY: the memory is large enough for any grid. The bytes are NaN as floats.
                unsafe { memory.write_bytes(0xff, grid.threadgroup_memory()) };
            }
            if let Some(checker) = checker {
                checker.begin(&mut threadgroup);
            }
            let calls = Calls { grid, shape, simdgroups: simdgroups.as_mut_ptr() };
            let on_fibers =
                on_fibers && !(shape.simdgroups == 1 && grid.stack_memory() <= PRIVATE_MEMORY_ON_THREAD);
            threadgroup.barrier = if on_fibers { fibers::switch } else { fibers::alone };
            let (dispatch, record) = (grid.dispatch(), &self.record);
            let interrupted = |cause| {
                let fault = Fault { cause, threadgroup: position, threadgroup_memory: memory.addr() };
                Err(Failure::Interrupted(number, fault))
            };
            if is_stopped() {
                return interrupted(Cause::Cancelled);
            }
            record.forget_cause();
            // SAFETY: the simdgroups match the threadgroup's shape, and the code is that of the grid's kernel.
            let completes = unsafe {
                let make = |call: KernelCall| call.make(record, dispatch, &threadgroup);
                match (on_fibers, is_adverse) {
                    // Checked code is called for one simdgroup at a time, so that each is known by its structure.
                    (false, false) if checker.is_some() => calls.apart().all(make),
                    (true, false) => self.fibers.run(record, dispatch, &threadgroup, calls.apart(), is_stopped),
                    (true, true) => {
                        self.fibers.run(record, dispatch, &threadgroup, calls.apart().rev(), is_stopped)
                    }
                    (false, false) => calls.together().all(make),
                    (false, true) => calls.apart().rev().all(make),
                }
            };
            if !completes {
                return interrupted(record.cause());
            }
            if let Some(checker) = checker {
                checker.end()?;
            }
            match threadgroup.failure.get() {
                0 => {}
                number => return Err(grid.failure(number).into()),
            }
        }
        Ok(())
    }
}

/// The calls of one threadgroup.
struct Calls<'a> {
    grid: &'a Grid,
    shape: Shape,
    simdgroups: *mut Simdgroup,
}

impl Calls<'_> {
    fn call(&self, code: Option<Entry>, first: u32, count: u32) -> Option<KernelCall> {
        // SAFETY: `first` is the index of a simdgroup, and there is a structure for each.
        let simdgroup = unsafe { self.simdgroups.add(first as usize) };
        code.filter(|_| count > 0).map(|entry| KernelCall { entry, simdgroup, count })
    }

    /// As few calls as possible.
    fn together(&self) -> impl Iterator<Item = KernelCall> {
        let Shape { rows, simdgroups, .. } = self.shape;
        let row = self.call(self.grid.code(Lanes::Row), 0, rows);
        let any = self.call(self.grid.code(Lanes::Any), rows, simdgroups - rows);
        row.into_iter().chain(any)
    }

    /// One call per simdgroup.
    fn apart(&self) -> impl DoubleEndedIterator<Item = KernelCall> {
        (0..self.shape.simdgroups).filter_map(|index| {
            let lanes = if index < self.shape.rows { Lanes::Row } else { Lanes::Any };
            self.call(self.grid.code(lanes), index, 1)
        })
    }
}
