//! The runtime of shader validation: functions that checked code calls, and the findings that they make.
//!
//! ```text
//! Validator   of a device: options and findings
//! Checker     of one thread that executes a dispatch: the functions of `abi::Checks`
//!   report    from a place and a lane to a finding
//!   barriers  the barriers that each simdgroup has reached
//!   shadow    the last accesses to each location, for races and memory that was never written
//! ```
//!
//! Threads that look for races take turns: one threadgroup runs at a time, and knows all accesses before its own.

mod barriers;
mod report;
mod shadow;

use super::grid::Grid;
use crate::error::{Error, Result};
use crate::finding::{Finding, FindingKind, ShaderValidation};
use crate::log;
use abi::call::SCRATCH;
use abi::{Checks, LANES, Object, Operation, Simdgroup, Site, Threadgroup};
use barriers::Barriers;
use shadow::{GroupNumber, Moment, Problem, Shadow};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Shader validation of a device.
#[derive(Default)]
pub(crate) struct Validator {
    options: RwLock<Option<ShaderValidation>>,
    found: Mutex<Found>,
    shadow: Mutex<Shadow>,
    /// True if new findings are logged.
    logs: AtomicBool,
}

/// The findings, each with its number by what makes it distinct.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    numbers: HashMap<String, usize>,
}

impl Validator {
    pub(crate) fn options(&self) -> Option<ShaderValidation> {
        self.options.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_options(&self, options: Option<ShaderValidation>) {
        *self.options.write().unwrap_or_else(PoisonError::into_inner) = options;
    }

    /// Logs each new finding from now on.
    pub(crate) fn log(&self) {
        self.logs.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_findings(&self) -> Vec<Finding> {
        let mut found = self.found();
        found.numbers.clear();
        std::mem::take(&mut found.findings)
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        // No code that can panic runs under the lock.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a finding; the same mistake at the same place only raises its count.
    fn add(&self, finding: Finding, most: usize) {
        let key = format!(
            "{:?} {} {:?} {:?}",
            finding.kind,
            finding.kernel,
            finding.place,
            finding.other.as_ref().map(|other| &other.0)
        );
        let mut found = self.found();
        if let Some(&number) = found.numbers.get(&key) {
            if let Some(known) = found.findings.get_mut(number) {
                known.count += finding.count;
            }
            return;
        }
        if found.findings.len() >= most {
            return;
        }
        let number = found.findings.len();
        found.numbers.insert(key, number);
        found.findings.push(finding.clone());
        drop(found);
        if self.logs.load(Ordering::Relaxed) {
            log::line(format_args!("{finding}"));
        }
    }
}

/// Reads that may turn out to be of memory that was never written.
#[derive(Default)]
struct Unwritten {
    epoch: u32,
    reads: Vec<UnwrittenRead>,
}

struct UnwrittenRead {
    /// In the threadgroup's memory.
    offset: u64,
    moment: Moment,
}

/// Reads beyond this number are not followed until the next barrier.
const MOST_UNWRITTEN: usize = 256;

/// Zeros for reads that must not be made. Nothing writes there.
#[repr(align(64))]
struct Zeros([u8; SCRATCH]);

static ZEROS: Zeros = Zeros([0; SCRATCH]);

/// The state of one thread that executes threadgroups of a checked dispatch. Generated code has its address as that of
/// its first field.
#[repr(C)]
pub(crate) struct Checker<'a> {
    checks: Checks,
    grid: &'a Grid,
    validator: &'a Validator,
    options: ShaderValidation,
    sites: &'a Arc<[Site]>,
    /// True if threadgroups may order their accesses by a fence.
    has_fence: bool,
    threadgroup: Cell<*const Threadgroup>,
    barriers: RefCell<Barriers>,
    shadow: Option<RefCell<MutexGuard<'a, Shadow>>>,
    /// The number of the threadgroup, for the shadow.
    number: Cell<GroupNumber>,
    error: RefCell<Option<Error>>,
    /// Reads of memory that was not written before them, until it is known if another thread writes it in the same
    /// epoch: that is a race.
    unwritten: RefCell<Unwritten>,
    /// Memory for writes that must not be made.
    _dump: Box<[u8]>,
}

impl<'a> Checker<'a> {
    /// For a grid with checked code. `stage` tells dispatches that may overlap from others.
    pub(super) fn new(grid: &'a Grid, validator: &'a Validator, stage: u64) -> Option<Box<Checker<'a>>> {
        let sites = grid.sites()?;
        let options = validator.options().unwrap_or_default();
        let mut dump = vec![0u8; SCRATCH].into_boxed_slice();
        let shadow = options.checks.races.then(|| {
            let mut shadow = validator.shadow.lock().unwrap_or_else(PoisonError::into_inner);
            shadow.begin(stage);
            RefCell::new(shadow)
        });
        let checks = Checks {
            access,
            matrix,
            failed,
            barrier,
            zeros: ZEROS.0.as_ptr(),
            dump: dump.as_mut_ptr(),
            steps: Cell::new(0),
        };
        Some(Box::new(Checker {
            checks,
            grid,
            validator,
            options,
            sites,
            has_fence: grid.has_fence(),
            threadgroup: Cell::new(std::ptr::null()),
            barriers: RefCell::default(),
            shadow,
            number: Cell::new(0),
            error: RefCell::new(None),
            unwritten: RefCell::default(),
            _dump: dump,
        }))
    }

    /// Before the threadgroup runs.
    pub(super) fn begin(&self, threadgroup: &mut Threadgroup) {
        threadgroup.checks = std::ptr::from_ref(self).cast();
        self.threadgroup.set(threadgroup);
        self.checks.steps.set(self.options.step_budget);
        *self.unwritten.borrow_mut() = Unwritten::default();
        self.barriers.borrow_mut().begin(threadgroup.simdgroups as usize);
        if let Some(shadow) = &self.shadow {
            let number = shadow.borrow_mut().group(self.grid.kernel(), self.sites, threadgroup);
            self.number.set(number);
        }
    }

    /// After it: the first finding that ends the command buffer.
    pub(super) fn end(&self) -> Result<()> {
        self.settle_unwritten();
        let unequal = self.barriers.borrow().unequal();
        if let Some((site, simdgroup)) = unequal {
            self.missed_barrier(site, simdgroup);
        }
        self.error.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn threadgroup(&self) -> &Threadgroup {
        // SAFETY: `begin` stored it, and it outlives the calls of the threadgroup's code.
        unsafe { &*self.threadgroup.get() }
    }

    fn site(&self, number: u32) -> Option<&'a Site> {
        self.sites.get(number as usize)
    }

    /// The start and the size of an object; none if it is not known.
    fn range(&self, object: &Object) -> Option<(u64, u64)> {
        let dispatch = self.grid.dispatch();
        let memory = self.threadgroup().memory.addr() as u64;
        Some(match object {
            Object::Buffer(index) => {
                let index = *index as usize;
                (dispatch.buffers.get(index)?.addr() as u64, *dispatch.buffer_sizes.get(index)?)
            }
            Object::ThreadgroupArgument(index) => {
                let index = *index as usize;
                let offset = u64::from(*dispatch.threadgroup_offsets.get(index)?);
                (memory + offset, u64::from(*dispatch.threadgroup_sizes.get(index)?))
            }
            Object::ThreadgroupVariable { offset, size, .. } => (memory + u64::from(*offset), *size),
            // Code passes the distance from its start.
            Object::Constant { size, .. } => (0, *size),
            Object::Private { .. } | Object::Unknown => return None,
        })
    }

    /// Checks the address of one lane.
    fn judge(&self, site: &Site, address: u64) -> Option<FindingKind> {
        let is_read = site.operation.is_read();
        let bytes = u64::from(site.bytes);
        let outside = match self.range(&site.object) {
            Some((start, size)) => {
                let offset = address.wrapping_sub(start);
                size < bytes || offset > size - bytes
            }
            None => self.grid.is_outside(address, bytes),
        };
        if outside {
            return Some(if is_read { FindingKind::OutOfBoundsRead } else { FindingKind::OutOfBoundsWrite });
        }
        let is_misaligned = address & u64::from(site.alignment.max(1) - 1) != 0;
        let kind = if is_read { FindingKind::MisalignedRead } else { FindingKind::MisalignedWrite };
        is_misaligned.then_some(kind)
    }

    fn access(
        &self,
        simdgroup: u32,
        number: u32,
        mask: u32,
        address: impl Fn(u32) -> u64,
        values: *const u64,
    ) -> u32 {
        let Some(site) = self.site(number) else { return u32::MAX };
        let mut allowed = u32::MAX;
        let mut first = None;
        for lane in lanes(mask) {
            if let Some(kind) = self.judge(site, address(lane)) {
                allowed &= !(1 << lane);
                first = first.or(Some((kind, lane)));
            }
        }
        if let Some((kind, lane)) = first {
            self.bad_access(kind, site, simdgroup, lane, address(lane), (mask & !allowed).count_ones());
        }
        self.remember(site, number, simdgroup, mask & allowed, &address, values);
        allowed
    }

    /// Notes accesses in the shadow, and reports races and reads of memory that was never written.
    fn remember(
        &self,
        site: &Site,
        number: u32,
        simdgroup: u32,
        mask: u32,
        address: &impl Fn(u32) -> u64,
        values: *const u64,
    ) {
        let Some(shadow) = &self.shadow else { return };
        let is_threadgroup =
            matches!(site.object, Object::ThreadgroupArgument(_) | Object::ThreadgroupVariable { .. });
        if matches!(site.object, Object::Constant { .. }) {
            return;
        }
        let epochs = self.barriers.borrow().epochs(simdgroup as usize);
        let sequence = self.barriers.borrow_mut().next_access(simdgroup as usize);
        // All simdgroups have passed the barrier before this epoch.
        if epochs.threadgroup_all > self.unwritten.borrow().epoch {
            self.settle_unwritten();
            self.unwritten.borrow_mut().epoch = epochs.threadgroup_all;
        }
        let memory = self.threadgroup().memory.addr() as u64;
        let mut problems = Vec::new();
        let mut previous = None;
        for lane in lanes(mask) {
            let at = address(lane);
            // Reads of one address by all lanes: the first and the last one stand for them.
            let is_last = mask >> lane == 1;
            if site.operation.is_read() && previous == Some(at) && !is_last {
                continue;
            }
            previous = Some(at);
            if !is_threadgroup && !self.grid.is_written(at) {
                continue;
            }
            // SAFETY: code passes null, or a number for each lane.
            let value = if values.is_null() { None } else { Some(unsafe { *values.add(lane as usize) }) };
            let moment = Moment {
                group: self.number.get(),
                thread: (simdgroup * LANES as u32 + lane) as u16,
                site: number,
                epochs,
                sequence,
                is_atomic: site.operation.is_atomic(),
                value,
            };
            let place = if is_threadgroup { at.wrapping_sub(memory) } else { at };
            let problem = shadow.borrow_mut().note(
                is_threadgroup,
                place,
                u64::from(site.bytes),
                moment,
                site.operation.is_read(),
                self.has_fence,
            );
            match problem {
                None => {}
                Some(Problem::NeverWritten) => self.note_unwritten(place, moment),
                Some(Problem::Unordered(other)) => problems.push((lane, moment, other)),
            }
        }
        for (lane, moment, other) in problems {
            self.race(site, moment, address(lane), other);
        }
    }

    fn note_unwritten(&self, offset: u64, moment: Moment) {
        let mut unwritten = self.unwritten.borrow_mut();
        if unwritten.reads.len() < MOST_UNWRITTEN {
            unwritten.reads.push(UnwrittenRead { offset, moment });
        }
    }

    /// Reports the reads of memory that nothing has written since.
    fn settle_unwritten(&self) {
        let reads = std::mem::take(&mut self.unwritten.borrow_mut().reads);
        let Some(shadow) = &self.shadow else { return };
        for UnwrittenRead { offset, moment } in reads {
            if !shadow.borrow().is_written_since(offset, &moment) {
                self.never_written(offset, moment);
            }
        }
    }

    /// Keeps a finding, and ends the command buffer if it must.
    fn add(&self, finding: Finding) {
        let ends = self.options.stops_at_first || finding.kind == FindingKind::EndlessLoop;
        if ends {
            self.error.borrow_mut().get_or_insert_with(|| Error::Validation(Box::new(finding.clone())));
            self.checks.steps.set(0);
        }
        self.validator.add(finding, self.options.most_findings);
    }
}

/// The numbers of the lanes in a mask.
fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..LANES as u32).filter(move |lane| mask >> lane & 1 != 0)
}

/// The checker of a call by generated code, and the number of its simdgroup.
///
/// # Safety
///
/// The pointers are those that `begin` and the executor gave to the code.
unsafe fn caller<'a>(checks: *const Checks, simdgroup: *const Simdgroup) -> (&'a Checker<'a>, u32) {
    // SAFETY: `checks` is the first field of a checker that lives while the code runs, and the simdgroup does, too.
    unsafe { (&*checks.cast::<Checker<'a>>(), (*simdgroup).index) }
}

unsafe extern "C" fn access(
    checks: *const Checks,
    simdgroup: *const Simdgroup,
    site: u32,
    mask: u32,
    base: u64,
    stride: i64,
    lanes: *const u64,
    values: *const u64,
) -> u32 {
    // SAFETY: generated code passes on what it was given.
    let (checker, simdgroup) = unsafe { caller(checks, simdgroup) };
    if lanes.is_null() {
        let address = |lane: u32| base.wrapping_add_signed(stride.wrapping_mul(lane.into()));
        checker.access(simdgroup, site, mask, address, values)
    } else {
        // SAFETY: code passes null, or an address for each lane.
        checker.access(simdgroup, site, mask, |lane| unsafe { *lanes.add(lane as usize) }, values)
    }
}

unsafe extern "C" fn matrix(
    checks: *const Checks,
    simdgroup: *const Simdgroup,
    site: u32,
    addresses: *const u64,
) -> u32 {
    // SAFETY: generated code passes on what it was given.
    let (checker, simdgroup) = unsafe { caller(checks, simdgroup) };
    let mut allowed = u32::MAX;
    for element in 0..2 {
        // SAFETY: code passes two addresses for each lane.
        let address = |lane: u32| unsafe { *addresses.add(element * LANES + lane as usize) };
        allowed &= checker.access(simdgroup, site, u32::MAX, address, std::ptr::null());
    }
    u32::from(allowed == u32::MAX)
}

unsafe extern "C" fn failed(
    checks: *const Checks,
    simdgroup: *const Simdgroup,
    site: u32,
    mask: u32,
    values: *const u64,
) {
    // SAFETY: generated code passes on what it was given.
    let (checker, simdgroup) = unsafe { caller(checks, simdgroup) };
    let lane = mask.trailing_zeros() % LANES as u32;
    // SAFETY: code passes null, or a number for each lane.
    let value = if values.is_null() { None } else { Some(unsafe { *values.add(lane as usize) }) };
    if let Some(site) = checker.site(site) {
        checker.bad_operation(site, simdgroup, lane, value, mask.count_ones());
    }
}

unsafe extern "C" fn barrier(checks: *const Checks, simdgroup: *const Simdgroup, site: u32, mask: u32) {
    // SAFETY: generated code passes on what it was given.
    let (checker, index) = unsafe { caller(checks, simdgroup) };
    let Some(place) = checker.site(site) else { return };
    let existing = checker.existing_lanes(index);
    if mask & existing != existing {
        checker.divergent_barrier(place, index, mask, existing);
    }
    // The flags of the barrier are in the place: one without memory orders none.
    let orders = place.bytes != 0;
    let mut barriers = checker.barriers.borrow_mut();
    match place.operation {
        Operation::SimdgroupBarrier => barriers.simdgroup(index as usize, orders),
        _ => {
            let other = barriers.threadgroup(index as usize, site, orders);
            drop(barriers);
            if let Some(other) = other.and_then(|other| checker.site(other)) {
                checker.different_barriers(place, other, index);
            }
        }
    }
}
