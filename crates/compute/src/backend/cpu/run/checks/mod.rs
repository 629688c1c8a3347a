//! The runtime of shader validation: functions that checked code calls, and the findings that they make.
//!
//! ```text
//! Validator   of a device: options and findings
//! Checker     of one thread that executes a dispatch: the functions of `abi::Checks`
//!   report    from a place and a lane to a finding
//!   barriers  the barriers that each simdgroup has reached
//!   addresses the addresses of 32 lanes
//!   shadow    the last accesses to each location, for races and memory that was never written
//!   uninitialized  buffers that the host declares uninitialized
//! ```
//!
//! Threads that look for races take turns: one threadgroup runs at a time, and knows all accesses before its own.

mod addresses;
mod barriers;
mod report;
mod shadow;
mod uninitialized;

use super::grid::Grid;
use crate::backend::Memory;
use crate::error::{Error, Result};
use crate::finding::{Finding, FindingKind, ShaderValidation};
use crate::log;
use abi::call::SCRATCH;
use abi::{Checks, LANES, Object, Operation, Simdgroup, Site, Threadgroup};
use addresses::{Addresses, Extent, lanes};
use barriers::Barriers;
use shadow::{Accesses, PeriodNumber, Problem, Shadow};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use uninitialized::Uninitialized;

/// Shader validation of a device.
#[derive(Default)]
pub(crate) struct Validator {
    options: RwLock<Option<ShaderValidation>>,
    found: Mutex<Found>,
    shadow: Mutex<Shadow>,
    uninitialized: Mutex<Uninitialized>,
    /// True if new findings are logged.
    logs: AtomicBool,
}

/// The findings, each with its number by what makes it distinct.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
    numbers: HashMap<String, usize>,
    /// True if there was one more than are kept.
    is_full: bool,
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
        found.is_full = false;
        std::mem::take(&mut found.findings)
    }

    fn uninitialized(&self) -> MutexGuard<'_, Uninitialized> {
        // No code that can panic runs under the lock.
        self.uninitialized.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads of a buffer are findings until something is written there.
    pub(crate) fn declare_uninitialized(&self, memory: &Arc<Memory>) {
        self.uninitialized().declare(memory);
    }

    /// A copy or a fill writes bytes.
    pub(crate) fn written(&self, addresses: Range<u64>) {
        self.uninitialized().write(addresses);
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
            let is_first = !std::mem::replace(&mut found.is_full, true);
            drop(found);
            if is_first && self.logs.load(Ordering::Relaxed) {
                let more = most.saturating_mul(10);
                log::line(format_args!(
                    "there are more than {most} findings; METALWORKS_VALIDATION=shader,findings={more} logs more"
                ));
            }
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

/// State for races and memory that was never written.
struct Followed<'a> {
    shadow: MutexGuard<'a, Shadow>,
    uninitialized: MutexGuard<'a, Uninitialized>,
    /// Reads of memory that was not written before them, until it is known if another thread writes it in the same
    /// epoch: that is a race.
    unwritten: Vec<UnwrittenRead>,
    unwritten_epoch: u32,
    /// Of one access. Kept for its memory.
    problems: Vec<(u32, Problem)>,
}

struct UnwrittenRead {
    /// In the threadgroup's memory.
    offset: u64,
    site: u32,
    simdgroup: u32,
    lane: u32,
    period: PeriodNumber,
}

/// Reads beyond this number are not followed until the next barrier.
const MOST_UNWRITTEN: usize = 256;

/// Bytes of variables in memory that GPUs have for each thread: the limit of NVIDIA's. Apple does not state one.
const MOST_PRIVATE_MEMORY: u64 = 512 << 10;

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
    followed: Option<RefCell<Followed<'a>>>,
    /// The number of the dispatch.
    number: usize,
    error: RefCell<Option<Error>>,
    /// Memory for writes that must not be made.
    _dump: Box<[u8]>,
}

impl<'a> Checker<'a> {
    /// For a grid with checked code, the dispatch with this number. `stage` tells dispatches that may overlap from others.
    pub(super) fn new(
        grid: &'a Grid,
        number: usize,
        validator: &'a Validator,
        stage: u64,
    ) -> Option<Box<Checker<'a>>> {
        let sites = grid.sites()?;
        let options = validator.options().unwrap_or_default();
        let mut dump = vec![0u8; SCRATCH].into_boxed_slice();
        let followed = options.checks.races.then(|| {
            let mut shadow = validator.shadow.lock().unwrap_or_else(PoisonError::into_inner);
            shadow.begin(stage);
            let mut uninitialized = validator.uninitialized();
            uninitialized.clean();
            let (unwritten, problems) = (Vec::new(), Vec::new());
            RefCell::new(Followed { shadow, uninitialized, unwritten, unwritten_epoch: 0, problems })
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
        let checker = Box::new(Checker {
            checks,
            grid,
            validator,
            options,
            sites,
            has_fence: grid.has_fence(),
            threadgroup: Cell::new(std::ptr::null()),
            barriers: RefCell::default(),
            followed,
            number,
            error: RefCell::new(None),
            _dump: dump,
        });
        let private_memory = grid.private_memory() / LANES as u64;
        if private_memory > MOST_PRIVATE_MEMORY {
            checker.private_memory_limit(private_memory);
        }
        Some(checker)
    }

    /// Before the threadgroup runs.
    pub(super) fn begin(&self, threadgroup: &mut Threadgroup) {
        threadgroup.checks = std::ptr::from_ref(self).cast();
        self.threadgroup.set(threadgroup);
        self.checks.steps.set(self.options.step_budget);
        self.barriers.borrow_mut().begin(threadgroup.simdgroups as usize);
        if let Some(followed) = &self.followed {
            let mut followed = followed.borrow_mut();
            followed.unwritten.clear();
            followed.unwritten_epoch = 0;
            followed.shadow.group(self.number, self.grid.kernel(), self.sites, threadgroup);
        }
    }

    /// After it: the first finding that ends the command buffer.
    pub(super) fn end(&self) -> Result<()> {
        if let Some(followed) = &self.followed {
            let Followed { shadow, unwritten, .. } = &mut *followed.borrow_mut();
            self.settle_unwritten(shadow, unwritten);
        }
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
            Object::Private { .. } | Object::Unknown | Object::OneOf(_) => return None,
        })
    }

    /// Checks the address of one lane.
    fn judge(&self, site: &Site, range: Option<(u64, u64)>, address: u64) -> Option<FindingKind> {
        let is_read = site.operation.is_read();
        let bytes = u64::from(site.bytes);
        let outside = match range {
            Some((start, size)) => {
                let offset = address.wrapping_sub(start);
                size < bytes || offset > size - bytes
            }
            None => self.grid.is_outside(address, bytes),
        };
        if outside {
            return Some(if is_read { FindingKind::OutOfBoundsRead } else { FindingKind::OutOfBoundsWrite });
        }
        if site.is_to_const {
            return Some(FindingKind::ReadOnlyWrite);
        }
        let is_misaligned = address & u64::from(site.alignment.max(1) - 1) != 0;
        let kind = if is_read { FindingKind::MisalignedRead } else { FindingKind::MisalignedWrite };
        is_misaligned.then_some(kind)
    }

    /// True if an access is made although it is a mistake: misaligned bytes are those of the object, and CPUs access them,
    /// except in atomic functions. So results stay those of a run without validation.
    fn may_go_on(site: &Site, kind: FindingKind) -> bool {
        matches!(kind, FindingKind::MisalignedRead | FindingKind::MisalignedWrite) && !site.operation.is_atomic()
    }

    /// True if it can be said at once that all lanes may make an access.
    fn is_fine(site: &Site, range: Option<(u64, u64)>, extent: &Extent) -> bool {
        let bytes = u64::from(site.bytes);
        let is_inside = range.is_some_and(|(start, size)| {
            let is_inside = |address: u64| size >= bytes && address.wrapping_sub(start) <= size - bytes;
            is_inside(extent.first) && is_inside(extent.last)
        });
        is_inside && !site.is_to_const && extent.bits & u64::from(site.alignment.max(1) - 1) == 0
    }

    /// `starts` are those of the objects that lanes mean, where a place has several.
    fn access(
        &self,
        simdgroup: u32,
        number: u32,
        mask: u32,
        addresses: Addresses,
        starts: Option<&[u64; LANES]>,
        values: Option<&[u64; LANES]>,
    ) -> u32 {
        let Some(site) = self.site(number).filter(|_| mask != 0) else { return u32::MAX };
        let of_threadgroup;
        let objects: &[Object] = match &site.object {
            Object::OneOf(objects) => objects,
            // Such as a pointer from an array of pointers. It may lead to threadgroup memory.
            Object::Unknown => {
                of_threadgroup = self.threadgroup_memory();
                std::slice::from_ref(&of_threadgroup)
            }
            object => return self.access_to(object, site, simdgroup, number, mask, addresses, values),
        };
        let (mut left, mut allowed) = (mask, u32::MAX);
        for object in objects {
            let Some((start, size)) = self.range(object) else { continue };
            let is_meant = |lane: &u32| match starts {
                Some(starts) => starts[*lane as usize % LANES] == start,
                None => addresses.at(*lane).wrapping_sub(start) < size,
            };
            let of_object = lanes(left).filter(is_meant).fold(0, |mask, lane| mask | 1 << lane);
            left &= !of_object;
            if of_object != 0 {
                allowed &= self.access_to(object, site, simdgroup, number, of_object, addresses, values);
            }
        }
        match left {
            0 => allowed,
            _ => allowed & self.access_to(&Object::Unknown, site, simdgroup, number, left, addresses, values),
        }
    }

    /// All memory of the threadgroup, for pointers of which no more is known.
    pub(super) fn threadgroup_memory(&self) -> Object {
        let size = self.grid.threadgroup_memory() as u64;
        Object::ThreadgroupVariable { name: String::new(), offset: 0, size }
    }

    /// Checks an access to an object by the lanes of a mask that is not empty.
    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn access_to(
        &self,
        object: &Object,
        site: &Site,
        simdgroup: u32,
        number: u32,
        mask: u32,
        addresses: Addresses,
        values: Option<&[u64; LANES]>,
    ) -> u32 {
        let extent = addresses.extent(mask);
        let range = self.range(object);
        let mut allowed = u32::MAX;
        if !Self::is_fine(site, range, &extent) {
            // A lane that is outside and one that is misaligned are two findings, each with its own lanes.
            let mut bad: Vec<(FindingKind, u32)> = Vec::new();
            for lane in lanes(mask) {
                let Some(kind) = self.judge(site, range, addresses.at(lane)) else { continue };
                match bad.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, of_kind)) => *of_kind |= 1 << lane,
                    None => bad.push((kind, 1 << lane)),
                }
            }
            for (kind, of_kind) in bad {
                if !Self::may_go_on(site, kind) {
                    allowed &= !of_kind;
                }
                let lane = of_kind.trailing_zeros();
                let count = of_kind.count_ones();
                self.bad_access(kind, (site, object), simdgroup, lane, addresses.at(lane), count);
            }
        }
        if let Some(followed) = &self.followed {
            let followed = &mut *followed.borrow_mut();
            let mask = mask & allowed;
            self.remember(followed, (site, object), number, simdgroup, mask, &extent, addresses, values);
        }
        allowed
    }

    /// Notes accesses in the shadow, and reports races and reads of memory that was never written.
    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn remember(
        &self,
        followed: &mut Followed,
        (site, object): (&Site, &Object),
        number: u32,
        simdgroup: u32,
        mask: u32,
        extent: &Extent,
        addresses: Addresses,
        values: Option<&[u64; LANES]>,
    ) {
        let is_threadgroup = matches!(object, Object::ThreadgroupArgument(_) | Object::ThreadgroupVariable { .. });
        let (operation, bytes) = (site.operation, u64::from(site.bytes));
        let written = match object {
            _ if mask == 0 => return,
            Object::Constant { .. } => return,
            _ if is_threadgroup => Some(true),
            _ => self.grid.is_written(extent.first..extent.last.saturating_add(bytes)),
        };
        if !is_threadgroup && !followed.uninitialized.is_empty() {
            self.follow_uninitialized(followed, site, simdgroup, mask, addresses);
        }
        if written == Some(false) {
            return;
        }
        let shadow = &mut *followed.shadow;
        let (sequence, period) = {
            let mut barriers = self.barriers.borrow_mut();
            barriers.next_access(simdgroup, |epochs| shadow.period(simdgroup, epochs))
        };
        // All simdgroups have passed the barrier before this epoch.
        let epoch = self.barriers.borrow().epochs(simdgroup).threadgroup_all;
        if epoch > followed.unwritten_epoch {
            self.settle_unwritten(shadow, &mut followed.unwritten);
            followed.unwritten_epoch = epoch;
        }
        let accesses = Accesses {
            is_threadgroup,
            is_read: operation.is_read(),
            is_atomic: operation.is_atomic(),
            is_update: operation == Operation::AtomicUpdate,
            has_fence: self.has_fence,
            bytes,
            period,
            sequence,
            site: number,
            values,
        };
        let origin = if is_threadgroup { self.threadgroup().memory.addr() as u64 } else { 0 };
        let problems = &mut followed.problems;
        addresses.runs(mask, bytes, accesses.is_read, |address, lanes| {
            let end = address.saturating_add(bytes * u64::from(lanes.end - lanes.start));
            if written.or_else(|| self.grid.is_written(address..end)) == Some(false) {
                return;
            }
            shadow.note(&accesses, address.wrapping_sub(origin), lanes, problems);
        });
        for (lane, problem) in problems.drain(..) {
            let address = addresses.at(lane);
            let read =
                UnwrittenRead { offset: address.wrapping_sub(origin), site: number, simdgroup, lane, period };
            match problem {
                Problem::NeverWritten if accesses.is_update => self.never_written(&read),
                // Another thread may write it in the same epoch: that is a race.
                Problem::NeverWritten if followed.unwritten.len() < MOST_UNWRITTEN => followed.unwritten.push(read),
                Problem::NeverWritten => {}
                Problem::Unordered(other) => self.race(site, (simdgroup, lane, sequence), address, other),
            }
        }
    }

    /// Notes writes to buffers that were declared uninitialized, and reports reads before them.
    fn follow_uninitialized(
        &self,
        followed: &mut Followed,
        site: &Site,
        simdgroup: u32,
        mask: u32,
        addresses: Addresses,
    ) {
        let bytes = u64::from(site.bytes);
        let uninitialized = &mut *followed.uninitialized;
        let range = |lane: u32| addresses.at(lane)..addresses.at(lane).saturating_add(bytes);
        let reads = site.operation.is_read() || site.operation == Operation::AtomicUpdate;
        let bad = || lanes(mask).filter(|&lane| uninitialized.is_unwritten(range(lane)));
        if let Some(lane) = bad().next().filter(|_| reads) {
            self.uninitialized(site, simdgroup, lane, addresses.at(lane), bad().count() as u64);
        }
        if !site.operation.is_read() {
            for lane in lanes(mask) {
                uninitialized.write(range(lane));
            }
        }
    }

    /// Reports the reads of memory that nothing has written since.
    fn settle_unwritten(&self, shadow: &Shadow, unwritten: &mut Vec<UnwrittenRead>) {
        for read in unwritten.drain(..) {
            if !shadow.is_written_near(read.offset, read.period) {
                self.never_written(&read);
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
    let has_starts = checker.site(site).is_some_and(|site| matches!(site.object, Object::OneOf(_)));
    // SAFETY: code passes null, or a number for each lane; two for places with several objects.
    let (lanes, starts, values) = unsafe {
        let starts = if has_starts { lanes.add(LANES) } else { std::ptr::null() };
        (
            lanes.cast::<[u64; LANES]>().as_ref(),
            starts.cast::<[u64; LANES]>().as_ref(),
            values.cast::<[u64; LANES]>().as_ref(),
        )
    };
    let addresses = lanes.map_or(Addresses::Ramp { base, stride }, Addresses::Lanes);
    checker.access(simdgroup, site, mask, addresses, starts, values)
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
    // SAFETY: code passes two addresses for each lane.
    let elements = unsafe { &*addresses.cast::<[[u64; LANES]; 2]>() };
    for element in elements {
        allowed &= checker.access(simdgroup, site, u32::MAX, Addresses::Lanes(element), None, None);
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
    let flags = place.bytes;
    let mut barriers = checker.barriers.borrow_mut();
    match place.operation {
        Operation::SimdgroupBarrier => barriers.simdgroup(index, flags),
        _ => {
            let other = barriers.threadgroup(index, site, flags);
            drop(barriers);
            if let Some(other) = other.and_then(|other| checker.site(other)) {
                checker.different_barriers(place, other, index);
            }
        }
    }
}
