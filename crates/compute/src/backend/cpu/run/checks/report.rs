//! Findings: from a place, a simdgroup and a lane.

use super::Checker;
use super::shadow::{GroupInfo, Problem};
use crate::finding::{CodePlace, Finding, FindingKind, MemoryObject, MemorySpace, ThreadPosition};
use abi::{LANES, Object, Operation, Site};
use msl::reflect::{Argument, ArgumentKind};

impl Checker<'_> {
    /// The lanes of a simdgroup that exist.
    pub(super) fn existing_lanes(&self, simdgroup: u32) -> u32 {
        let threads: u32 = self.threadgroup().size.iter().product();
        let left = threads.saturating_sub(simdgroup * LANES as u32).min(LANES as u32);
        if left == LANES as u32 { u32::MAX } else { (1 << left) - 1 }
    }

    fn thread(&self, simdgroup: u32, lane: u32) -> ThreadPosition {
        let threadgroup = self.threadgroup();
        position(threadgroup.position, threadgroup.size, simdgroup * LANES as u32 + lane)
    }

    fn finding(&self, kind: FindingKind, site: &Site, simdgroup: u32, lane: u32) -> Finding {
        Finding {
            kind,
            kernel: self.grid.kernel().to_string(),
            place: place(site),
            thread: self.thread(simdgroup, lane),
            object: None,
            other: None,
            other_kernel: None,
            detail: String::new(),
            suggestion: None,
            count: 1,
        }
    }

    fn argument(&self, is_threadgroup: bool, index: u32) -> Option<&Argument> {
        self.grid.arguments().iter().find(|argument| {
            let kind = if is_threadgroup { ArgumentKind::ThreadgroupMemory } else { ArgumentKind::Buffer };
            argument.kind == kind && argument.index == index
        })
    }

    /// The memory of an access; `at` is an address, or the offset in private memory.
    fn object(&self, site: &Site, at: u64) -> MemoryObject {
        let bytes = u64::from(site.bytes);
        let offset = match self.range(&site.object) {
            Some((start, _)) => at.wrapping_sub(start) as i64,
            None => at as i64,
        };
        let of_argument = |index: u32, size: u64, is_threadgroup: bool| {
            let argument = self.argument(is_threadgroup, index);
            let space = match argument.map(|argument| argument.address_space.as_str()) {
                _ if is_threadgroup => MemorySpace::Threadgroup,
                Some("constant") => MemorySpace::Constant,
                _ => MemorySpace::Device,
            };
            let name = argument.map(|argument| argument.name.clone()).unwrap_or_default();
            MemoryObject { space, name, index: Some(index), size, offset, bytes }
        };
        let variable =
            |space, name: &str, size| MemoryObject { space, name: name.into(), index: None, size, offset, bytes };
        let size = self.range(&site.object).map_or(0, |(_, size)| size);
        match &site.object {
            Object::Buffer(index) => of_argument(*index, size, false),
            Object::ThreadgroupArgument(index) => of_argument(*index, size, true),
            Object::ThreadgroupVariable { name, size, .. } => variable(MemorySpace::Threadgroup, name, *size),
            Object::Private { name, size } => variable(MemorySpace::Thread, name, *size),
            Object::Constant { name, size } => variable(MemorySpace::Constant, name, *size),
            Object::Unknown => variable(MemorySpace::Device, "", 0),
        }
    }

    /// An access outside of its object, or misaligned, by `count` lanes.
    pub(super) fn bad_access(
        &self,
        kind: FindingKind,
        site: &Site,
        simdgroup: u32,
        lane: u32,
        address: u64,
        count: u32,
    ) {
        let object = self.object(site, address);
        let detail = describe(&object);
        let beyond = object.offset >= 0 && object.offset as u64 >= object.size;
        let threads: u64 = self.grid.dispatch().threads_per_grid.iter().map(|&count| u64::from(count)).product();
        let elements = object.size / object.bytes.max(1);
        let is_of_grid = matches!(site.object, Object::Buffer(_)) && beyond && threads > elements && elements > 0;
        let suggestion = is_of_grid.then(|| {
            format!("return early in threads beyond the last element: the grid has {threads} threads, '{}' has {elements} elements", object.name)
        });
        let finding = self.finding(kind, site, simdgroup, lane);
        self.add(Finding { object: Some(object), detail, suggestion, count: count.into(), ..finding });
    }

    /// A race, or a read of memory that was never written.
    pub(super) fn bad_order(&self, site: &Site, simdgroup: u32, lane: u32, address: u64, problem: Problem) {
        let object = self.object(site, address);
        let where_it_is = describe(&object);
        match problem {
            Problem::NeverWritten => {
                let finding = self.finding(FindingKind::UninitializedRead, site, simdgroup, lane);
                let detail = format!("{where_it_is}, which no thread of this threadgroup has written");
                self.add(Finding { object: Some(object), detail, ..finding });
            }
            Problem::Unordered(other) => {
                let own = GroupInfo {
                    kernel: self.grid.kernel().clone(),
                    sites: self.sites.clone(),
                    position: self.threadgroup().position,
                    size: self.threadgroup().size,
                };
                let is_own = other.group.is_none();
                let group = other.group.unwrap_or(own);
                let is_same_kernel = group.kernel == *self.grid.kernel();
                let kind = match (is_own, is_same_kernel) {
                    (true, _) => FindingKind::Race,
                    (false, true) => FindingKind::RaceBetweenThreadgroups,
                    (false, false) => FindingKind::RaceBetweenDispatches,
                };
                let thread = position(group.position, group.size, other.moment.thread.into());
                let Some(other_site) = group.sites.get(other.moment.site as usize) else { return };
                let verb = if other.is_read { "read" } else { "wrote" };
                let detail = format!("{where_it_is}, which another thread {verb}");
                let is_one_simdgroup = is_own && thread.simdgroup == simdgroup;
                let suggestion = match (kind, is_one_simdgroup) {
                    (FindingKind::Race, true) => Some("put a simdgroup_barrier between the two accesses".into()),
                    (FindingKind::Race, false) => Some("put a threadgroup_barrier between the two accesses".into()),
                    (FindingKind::RaceBetweenDispatches, _) => {
                        Some("put a memory barrier between the two dispatches".into())
                    }
                    _ => None,
                };
                let finding = self.finding(kind, site, simdgroup, lane);
                self.add(Finding {
                    object: Some(object),
                    other: Some((place(other_site), thread)),
                    other_kernel: (!is_same_kernel).then(|| group.kernel.to_string()),
                    detail,
                    suggestion,
                    ..finding
                });
            }
        }
    }

    /// An operation without a defined result, or an index of private memory, in `count` lanes.
    pub(super) fn bad_operation(&self, site: &Site, simdgroup: u32, lane: u32, value: Option<u64>, count: u32) {
        let number = value.unwrap_or(0);
        let (kind, detail) = match site.operation {
            Operation::Read | Operation::Write => {
                let is_read = site.operation.is_read();
                let kind = if is_read { FindingKind::OutOfBoundsRead } else { FindingKind::OutOfBoundsWrite };
                return self.bad_access(kind, site, simdgroup, lane, number, count);
            }
            Operation::DivideByZero => (FindingKind::DivisionByZero, format!("{} divided by 0", number as i64)),
            Operation::DivideOverflow => {
                (FindingKind::DivisionOverflow, format!("{} divided by -1", number as i64))
            }
            Operation::Shift => (FindingKind::ShiftOutOfRange, format!("a shift by {} bits", number as i64)),
            Operation::Convert => {
                (FindingKind::ConversionOutOfRange, format!("{} does not fit", f64::from_bits(number)))
            }
            Operation::Float => {
                let is_nan = f64::from_bits(number).is_nan();
                let kind = if is_nan { FindingKind::NotANumber } else { FindingKind::Infinity };
                (kind, "from operands that are finite".to_owned())
            }
            Operation::Loop => (
                FindingKind::EndlessLoop,
                format!("the threadgroup has run {} iterations of loops", self.options.step_budget),
            ),
            Operation::Shuffle => (
                FindingKind::InactiveLane,
                format!("lane {lane} reads lane {number}, which does not run this code"),
            ),
            Operation::Matrix => {
                (FindingKind::DivergentMatrix, format!("lane {lane} of the simdgroup does not run this code"))
            }
            Operation::Uninitialized => {
                (FindingKind::UninitializedRead, "the variable was never written".to_owned())
            }
            Operation::AtomicRead
            | Operation::AtomicWrite
            | Operation::Barrier
            | Operation::SimdgroupBarrier
            | Operation::Fence => return,
        };
        if kind == FindingKind::EndlessLoop && self.error.borrow().is_some() {
            return;
        }
        let finding = self.finding(kind, site, simdgroup, lane);
        self.add(Finding { detail, count: count.into(), ..finding });
    }

    /// Lanes of a simdgroup do not reach a barrier that others of it do.
    pub(super) fn divergent_barrier(&self, site: &Site, simdgroup: u32, mask: u32, existing: u32) {
        let missing = (existing & !mask).trailing_zeros() % LANES as u32;
        let finding = self.finding(FindingKind::DivergentBarrier, site, simdgroup, missing);
        let detail =
            format!("{} of {} threads of the simdgroup reach it", mask.count_ones(), existing.count_ones());
        self.add(Finding { detail, suggestion: Some(FOR_ALL.into()), ..finding });
    }

    /// A simdgroup waits at a barrier while others wait at another one.
    pub(super) fn different_barriers(&self, site: &Site, other: &Site, simdgroup: u32) {
        let finding = self.finding(FindingKind::DivergentBarrier, site, simdgroup, 0);
        let detail = "other threads of the threadgroup wait at another barrier".into();
        let other = Some((place(other), self.thread(0, 0)));
        self.add(Finding { detail, other, suggestion: Some(FOR_ALL.into()), ..finding });
    }

    /// A simdgroup ended without a barrier that others reached.
    pub(super) fn missed_barrier(&self, site: u32, simdgroup: u32) {
        let Some(site) = self.site(site) else { return };
        // A simdgroup whose loop was ended, or a threadgroup that was, misses barriers for that reason.
        if self.checks.steps.get() == 0 {
            return;
        }
        let finding = self.finding(FindingKind::DivergentBarrier, site, simdgroup, 0);
        let detail = format!("simdgroup {simdgroup} ends without reaching it");
        self.add(Finding { detail, suggestion: Some(FOR_ALL.into()), ..finding });
    }
}

const FOR_ALL: &str = "let all threads of the threadgroup reach the barrier: move it out of the condition, or the early \
                       return behind it";

fn place(site: &Site) -> CodePlace {
    CodePlace { locations: site.locations.clone(), instruction: site.instruction.clone() }
}

/// The thread with this number in its threadgroup.
fn position(threadgroup: [u32; 3], size: [u32; 3], number: u32) -> ThreadPosition {
    let (width, height) = (size[0].max(1), size[1].max(1));
    ThreadPosition {
        threadgroup,
        thread: [number % width, number / width % height, number / width / height],
        simdgroup: number / LANES as u32,
        lane: number % LANES as u32,
    }
}

fn describe(object: &MemoryObject) -> String {
    let MemoryObject { name, size, offset, bytes, .. } = object;
    let plural = if *bytes == 1 { "" } else { "s" };
    match (name.is_empty(), *size) {
        (true, 0) => format!("{bytes} byte{plural} at the address {offset:#x}"),
        (true, size) => format!("{bytes} byte{plural} at offset {offset} of {size}"),
        (false, size) => format!("{bytes} byte{plural} at offset {offset} of '{name}', which has {size}"),
    }
}
