//! Findings: from a place, a simdgroup and a lane.

use super::shadow::{GroupInfo, Other};
use super::{Checker, MOST_PRIVATE_MEMORY, UnwrittenRead};
use crate::finding::{CodePlace, Finding, FindingKind, MemoryObject, MemorySpace, ThreadPosition};
use abi::{LANES, Object, Operation, Site};
use msl::reflect::{Argument, ArgumentKind};
use std::ops::Range;

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
            place: place(site),
            thread: self.thread(simdgroup, lane),
            ..Finding::of_kernel(kind, self.grid.kernel(), String::new())
        }
    }

    fn argument(&self, is_threadgroup: bool, index: u32) -> Option<&Argument> {
        self.grid.arguments().iter().find(|argument| {
            let kind = if is_threadgroup { ArgumentKind::ThreadgroupMemory } else { ArgumentKind::Buffer };
            argument.kind == kind && argument.index == index
        })
    }

    /// The memory of an access that a place has made, at an address.
    fn object(&self, site: &Site, at: u64) -> MemoryObject {
        let contains =
            |object: &&Object| self.range(object).is_some_and(|(start, size)| at.wrapping_sub(start) < size);
        let of_threadgroup = self.threadgroup_memory();
        let object = match &site.object {
            Object::OneOf(objects) => objects.iter().find(contains).unwrap_or(&Object::Unknown),
            Object::Unknown if contains(&&of_threadgroup) => &of_threadgroup,
            object => object,
        };
        self.memory(object, site, at)
    }

    /// The memory of an access to an object; `at` is an address, or the offset in private memory.
    fn memory(&self, object: &Object, site: &Site, at: u64) -> MemoryObject {
        let bytes = u64::from(site.bytes);
        let offset = match self.range(object) {
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
        let size = self.range(object).map_or(0, |(_, size)| size);
        match object {
            Object::Buffer(index) => of_argument(*index, size, false),
            Object::ThreadgroupArgument(index) => of_argument(*index, size, true),
            Object::ThreadgroupVariable { name, size, .. } => variable(MemorySpace::Threadgroup, name, *size),
            Object::Private { name, size } => variable(MemorySpace::Thread, name, *size),
            Object::Constant { name, size } => variable(MemorySpace::Constant, name, *size),
            Object::Unknown | Object::OneOf(_) => match self.grid.memory_at(at) {
                Some(range) => match self.argument_in(&range) {
                    Some(index) => self.memory(&Object::Buffer(index), site, at),
                    None => MemoryObject {
                        offset: at.wrapping_sub(range.start) as i64,
                        ..variable(MemorySpace::Device, "", range.end - range.start)
                    },
                },
                None => variable(MemorySpace::Device, "", 0),
            },
        }
    }

    /// The buffer that is bound to memory.
    fn argument_in(&self, memory: &Range<u64>) -> Option<u32> {
        let buffers = self.grid.arguments().iter().filter(|argument| argument.kind == ArgumentKind::Buffer);
        let is_in = |index: &u32| {
            let range = self.range(&Object::Buffer(*index));
            range.is_some_and(|(start, size)| memory.contains(&start) && start + size <= memory.end)
        };
        buffers.map(|argument| argument.index).find(is_in)
    }

    /// An access outside of its object, or misaligned, by `count` lanes.
    pub(super) fn bad_access(
        &self,
        kind: FindingKind,
        (site, object): (&Site, &Object),
        simdgroup: u32,
        lane: u32,
        address: u64,
        count: u32,
    ) {
        // A check can read an argument whose value the kernel does not need: it need not be bound.
        let is_unused = |index| self.argument(false, index).is_some_and(|argument| !argument.is_used);
        if matches!(object, Object::Buffer(index) if is_unused(*index)) {
            return;
        }
        let is_buffer = matches!(object, Object::Buffer(_));
        let object = self.memory(object, site, address);
        let detail = describe(&object);
        let beyond = object.offset >= 0 && object.offset as u64 >= object.size;
        let threads: u64 = self.grid.dispatch().threads_per_grid.iter().map(|&count| u64::from(count)).product();
        let elements = object.size / object.bytes.max(1);
        let is_of_grid = is_buffer && beyond && threads > elements && elements > 0;
        let suggestion = match kind {
            FindingKind::ReadOnlyWrite => {
                Some(format!("declare '{}' without const: {}", object.name, "the compiler and the host rely on it"))
            }
            _ => None,
        };
        let suggestion = suggestion.or_else(|| is_of_grid.then(|| {
            format!(
                "return early in threads beyond the last element: the grid has {threads} threads, '{}' has {elements} \
                 elements",
                object.name
            )
        }));
        let finding = self.finding(kind, site, simdgroup, lane);
        self.add(Finding { object: Some(object), detail, suggestion, count: count.into(), ..finding });
    }

    /// A read of threadgroup memory that no thread has written.
    pub(super) fn never_written(&self, read: &UnwrittenRead) {
        let Some(site) = self.site(read.site) else { return };
        let object = self.object(site, self.threadgroup().memory.addr() as u64 + read.offset);
        let detail = format!("{}, which no thread of this threadgroup has written", describe(&object));
        let finding = self.finding(FindingKind::UninitializedRead, site, read.simdgroup, read.lane);
        self.add(Finding { object: Some(object), detail, ..finding });
    }

    /// More variables in memory than a thread has room for.
    pub(super) fn private_memory_limit(&self, bytes: u64) {
        let detail = format!("{bytes} bytes of variables in each thread, of which GPUs have {MOST_PRIVATE_MEMORY}");
        self.add(Finding::of_kernel(FindingKind::PrivateMemoryLimit, self.grid.kernel(), detail));
    }

    /// A read of a buffer that the host declared uninitialized, by `count` lanes.
    pub(super) fn uninitialized(&self, site: &Site, simdgroup: u32, lane: u32, address: u64, count: u64) {
        let object = self.object(site, address);
        let detail = format!("{}, which nothing has written", describe(&object));
        let finding = self.finding(FindingKind::UninitializedRead, site, simdgroup, lane);
        self.add(Finding { object: Some(object), detail, count, ..finding });
    }

    /// A race between an access of this threadgroup, by a lane of a simdgroup, and an earlier one. The finding is at the one
    /// that is later in the program: there a barrier is missing before it.
    pub(super) fn race(&self, site: &Site, by: (u32, u32, u32), address: u64, other: Other) {
        let (simdgroup, lane, sequence) = by;
        let own = self.group_info();
        let is_own = other.group.is_none();
        let group = other.group.unwrap_or_else(|| own.clone());
        let is_same_dispatch = group.dispatch == own.dispatch;
        let kind = match (is_own, is_same_dispatch) {
            (true, _) => FindingKind::Race,
            (false, true) => FindingKind::RaceBetweenThreadgroups,
            (false, false) => FindingKind::RaceBetweenDispatches,
        };
        let Some(other_site) = group.sites.get(other.site as usize) else { return };
        let thread = simdgroup * LANES as u32 + lane;
        let here = (site, position(own.position, own.size, thread), site.operation.is_read());
        let there = (other_site, position(group.position, group.size, other.thread), other.is_read);
        let is_later = !is_same_dispatch || sequence >= other.sequence;
        let ((later, thread, _), (earlier, earlier_thread, earlier_reads)) =
            if is_later { (here, there) } else { (there, here) };
        let object = self.object(site, address);
        let verb = if earlier_reads { "reads" } else { "writes" };
        let detail = format!("{}, which another thread {verb}", describe(&object));
        let suggestion = match kind {
            FindingKind::Race if self.threadgroup().simdgroups == 1 => {
                Some("put a simdgroup_barrier between the two accesses")
            }
            // The first pair of threads says nothing about the others.
            FindingKind::Race if thread.simdgroup == earlier_thread.simdgroup => Some(
                "put a threadgroup_barrier between the two accesses, or a simdgroup_barrier if no other simdgroup \
                      accesses this memory",
            ),
            FindingKind::Race => Some("put a threadgroup_barrier between the two accesses"),
            FindingKind::RaceBetweenDispatches => Some("put a memory barrier between the two dispatches"),
            _ => None,
        };
        let finding = self.finding(kind, later, 0, 0);
        let other_kernel = (group.kernel != own.kernel).then(|| group.kernel.to_string());
        self.add(Finding {
            thread,
            object: Some(object),
            other: Some((place(earlier), earlier_thread)),
            other_kernel,
            detail,
            suggestion: suggestion.map(Into::into),
            ..finding
        });
    }

    fn group_info(&self) -> GroupInfo {
        let threadgroup = self.threadgroup();
        GroupInfo {
            dispatch: self.number,
            kernel: self.grid.kernel().clone(),
            sites: self.sites.clone(),
            position: threadgroup.position,
            size: threadgroup.size,
        }
    }

    /// An operation without a defined result, or an index of private memory, in `count` lanes.
    pub(super) fn bad_operation(&self, site: &Site, simdgroup: u32, lane: u32, value: Option<u64>, count: u32) {
        let number = value.unwrap_or(0);
        let (kind, detail) = match site.operation {
            Operation::Read | Operation::Write => {
                let is_read = site.operation.is_read();
                let kind = if is_read { FindingKind::OutOfBoundsRead } else { FindingKind::OutOfBoundsWrite };
                return self.bad_access(kind, (site, &site.object), simdgroup, lane, number, count);
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
                (FindingKind::UninitializedRead, "the variable, or a part of it that is read".to_owned())
            }
            Operation::AtomicRead
            | Operation::AtomicWrite
            | Operation::AtomicUpdate
            | Operation::Barrier
            | Operation::SimdgroupBarrier
            | Operation::Fence
            | Operation::Message => return,
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
    let MemoryObject { space, name, index, size, offset, bytes } = object;
    let plural = if *bytes == 1 { "" } else { "s" };
    let argument = index.map(|index| match space {
        MemorySpace::Threadgroup => format!("threadgroup({index}), "),
        _ => format!("buffer({index}), "),
    });
    let argument = argument.unwrap_or_default();
    match (name.is_empty(), *size) {
        (true, 0) => format!("{bytes} byte{plural} at the address {offset:#x}"),
        (true, size) => format!("{bytes} byte{plural} at offset {offset} of {argument}{size}"),
        (false, size) => format!("{bytes} byte{plural} at offset {offset} of '{name}' ({argument}{size} bytes)"),
    }
}
