//! Findings of shader validation: a mistake of a kernel, its place in the source, and the thread that made it.

pub use abi::site::SourceLocation;
use std::fmt;

/// The checks of shader validation; `Default` is all of them except `nan`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShaderChecks {
    /// Accesses outside of their object, misaligned ones, barriers, functions between lanes, arithmetic, endless loops.
    pub bounds: bool,
    /// Races and reads of memory that was never written. Threadgroups run one after the other.
    pub races: bool,
    /// The first operation that makes a NaN or an infinity from finite operands.
    pub nan: bool,
}

impl Default for ShaderChecks {
    fn default() -> ShaderChecks {
        ShaderChecks { bounds: true, races: true, nan: false }
    }
}

/// Options of shader validation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderValidation {
    /// The checks that are compiled into pipelines.
    pub checks: ShaderChecks,
    /// Fails the command buffer at the first finding. Otherwise it goes on: a read outside gives 0, a write is dropped.
    pub stops_at_first: bool,
    /// The most findings that are kept. The same mistake at the same place is one finding with a count.
    pub most_findings: usize,
    /// The most loop iterations of the simdgroups of one threadgroup together, after which a loop counts as endless.
    pub step_budget: u64,
}

impl Default for ShaderValidation {
    fn default() -> ShaderValidation {
        ShaderValidation {
            checks: ShaderChecks::default(),
            stops_at_first: false,
            most_findings: 100,
            step_budget: 1 << 26,
        }
    }
}

/// The kind of a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum FindingKind {
    /// A read outside of its object.
    OutOfBoundsRead,
    /// A write outside of its object.
    OutOfBoundsWrite,
    /// A read at an address that its type does not allow.
    MisalignedRead,
    /// A write at an address that its type does not allow.
    MisalignedWrite,
    /// A write to a buffer that the host or the kernel declares read-only.
    ReadOnlyWrite,
    /// A read of memory that was never written.
    UninitializedRead,
    /// Two threads of a threadgroup access one location, one of them writes, and no barrier is between them.
    Race,
    /// As `Race`, by threads of two threadgroups.
    RaceBetweenThreadgroups,
    /// As `Race`, by two dispatches of a concurrent encoder.
    RaceBetweenDispatches,
    /// A barrier that not all threads reach.
    DivergentBarrier,
    /// A function between lanes that reads the value of a lane that does not take part.
    InactiveLane,
    /// A function on simdgroup matrices that not all lanes run.
    DivergentMatrix,
    /// A loop that does not end within the budget.
    EndlessLoop,
    /// An integer division by zero.
    DivisionByZero,
    /// A signed division whose result does not fit, `INT_MIN / -1`.
    DivisionOverflow,
    /// A shift by more bits than the type has, or by a negative number.
    ShiftOutOfRange,
    /// A floating-point number that does not fit the integer type that it is converted to.
    ConversionOutOfRange,
    /// A NaN from operands that are none.
    NotANumber,
    /// An infinity from finite operands.
    Infinity,
    /// A function constant that is read and was not set.
    UnsetConstant,
    /// Private memory over the limit.
    PrivateMemoryLimit,
    /// Threadgroup memory over the limit.
    ThreadgroupMemoryLimit,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [FindingKind; 22] = [
        FindingKind::OutOfBoundsRead,
        FindingKind::OutOfBoundsWrite,
        FindingKind::MisalignedRead,
        FindingKind::MisalignedWrite,
        FindingKind::ReadOnlyWrite,
        FindingKind::UninitializedRead,
        FindingKind::Race,
        FindingKind::RaceBetweenThreadgroups,
        FindingKind::RaceBetweenDispatches,
        FindingKind::DivergentBarrier,
        FindingKind::InactiveLane,
        FindingKind::DivergentMatrix,
        FindingKind::EndlessLoop,
        FindingKind::DivisionByZero,
        FindingKind::DivisionOverflow,
        FindingKind::ShiftOutOfRange,
        FindingKind::ConversionOutOfRange,
        FindingKind::NotANumber,
        FindingKind::Infinity,
        FindingKind::UnsetConstant,
        FindingKind::PrivateMemoryLimit,
        FindingKind::ThreadgroupMemoryLimit,
    ];

    /// A short stable name, such as `out-of-bounds-read`.
    pub const fn id(self) -> &'static str {
        match self {
            FindingKind::OutOfBoundsRead => "out-of-bounds-read",
            FindingKind::OutOfBoundsWrite => "out-of-bounds-write",
            FindingKind::MisalignedRead => "misaligned-read",
            FindingKind::MisalignedWrite => "misaligned-write",
            FindingKind::ReadOnlyWrite => "read-only-write",
            FindingKind::UninitializedRead => "uninitialized-read",
            FindingKind::Race => "race",
            FindingKind::RaceBetweenThreadgroups => "race-between-threadgroups",
            FindingKind::RaceBetweenDispatches => "race-between-dispatches",
            FindingKind::DivergentBarrier => "divergent-barrier",
            FindingKind::InactiveLane => "inactive-lane",
            FindingKind::DivergentMatrix => "divergent-matrix",
            FindingKind::EndlessLoop => "endless-loop",
            FindingKind::DivisionByZero => "division-by-zero",
            FindingKind::DivisionOverflow => "division-overflow",
            FindingKind::ShiftOutOfRange => "shift-out-of-range",
            FindingKind::ConversionOutOfRange => "conversion-out-of-range",
            FindingKind::NotANumber => "nan",
            FindingKind::Infinity => "infinity",
            FindingKind::UnsetConstant => "unset-constant",
            FindingKind::PrivateMemoryLimit => "private-memory-limit",
            FindingKind::ThreadgroupMemoryLimit => "threadgroup-memory-limit",
        }
    }
}

impl FindingKind {
    /// False for mistakes that no thread makes: they keep the kernel from running, or concern all of it.
    pub const fn has_thread(self) -> bool {
        !matches!(
            self,
            FindingKind::UnsetConstant | FindingKind::PrivateMemoryLimit | FindingKind::ThreadgroupMemoryLimit
        )
    }
}

/// A place in a kernel.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct CodePlace {
    /// The location, then those of the calls that were inlined around it, the kernel's own last. Empty for a library
    /// without debug information.
    pub locations: Vec<SourceLocation>,
    /// The instruction in AIR, for a library without debug information.
    pub instruction: String,
}

/// A thread of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ThreadPosition {
    /// The position of its threadgroup in the grid.
    pub threadgroup: [u32; 3],
    /// Its position in the threadgroup.
    pub thread: [u32; 3],
    /// The number of its simdgroup in the threadgroup.
    pub simdgroup: u32,
    /// Its lane in the simdgroup.
    pub lane: u32,
}

/// The address space of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MemorySpace {
    /// `device`
    Device,
    /// `constant`
    Constant,
    /// `threadgroup`
    Threadgroup,
    /// `thread`
    Thread,
}

/// The memory that a finding is about.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MemoryObject {
    /// Its address space.
    pub space: MemorySpace,
    /// The name of the argument or variable; empty if it is not known.
    pub name: String,
    /// The index of an argument.
    pub index: Option<u32>,
    /// Bytes from where it is bound to its end.
    pub size: u64,
    /// The first byte of the access, from the start of the object; negative before it.
    pub offset: i64,
    /// Bytes of the access.
    pub bytes: u64,
}

impl Finding {
    /// A mistake of a kernel as a whole.
    pub fn of_kernel(kind: FindingKind, kernel: &str, detail: String) -> Finding {
        Finding {
            kind,
            kernel: kernel.into(),
            place: CodePlace::default(),
            thread: ThreadPosition::default(),
            object: None,
            other: None,
            other_kernel: None,
            detail,
            suggestion: None,
            count: 1,
        }
    }
}

/// A mistake that shader validation found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind of mistake.
    pub kind: FindingKind,
    /// The kernel.
    pub kernel: String,
    /// The place of the mistake.
    pub place: CodePlace,
    /// The thread that made it first.
    pub thread: ThreadPosition,
    /// The memory of an access.
    pub object: Option<MemoryObject>,
    /// The other access of a race, and its thread.
    pub other: Option<(CodePlace, ThreadPosition)>,
    /// The kernel of the other access, if it is another one.
    pub other_kernel: Option<String>,
    /// One sentence about values: `index 128 of 128 elements`, `shift by 40 of 32 bits`.
    pub detail: String,
    /// A remedy, where one is obvious.
    pub suggestion: Option<String>,
    /// Number of times that a thread made it at this place.
    pub count: u64,
}

impl FindingKind {
    /// The mistake in words, for messages.
    pub const fn description(self) -> &'static str {
        match self {
            FindingKind::OutOfBoundsRead => "out-of-bounds read",
            FindingKind::OutOfBoundsWrite => "out-of-bounds write",
            FindingKind::MisalignedRead => "misaligned read",
            FindingKind::MisalignedWrite => "misaligned write",
            FindingKind::ReadOnlyWrite => "write to a read-only buffer",
            FindingKind::UninitializedRead => "read of memory that was never written",
            FindingKind::Race => "data race in a threadgroup",
            FindingKind::RaceBetweenThreadgroups => "data race between threadgroups",
            FindingKind::RaceBetweenDispatches => "data race between dispatches",
            FindingKind::DivergentBarrier => "barrier that not all threads reach",
            FindingKind::InactiveLane => "read of a lane that is not active",
            FindingKind::DivergentMatrix => "simdgroup matrix in divergent code",
            FindingKind::EndlessLoop => "loop that does not end",
            FindingKind::DivisionByZero => "integer division by zero",
            FindingKind::DivisionOverflow => "overflow of an integer division",
            FindingKind::ShiftOutOfRange => "shift out of range",
            FindingKind::ConversionOutOfRange => "conversion of a number that does not fit",
            FindingKind::NotANumber => "operation that makes a NaN",
            FindingKind::Infinity => "operation that makes an infinity",
            FindingKind::UnsetConstant => "function constant that was not set",
            FindingKind::PrivateMemoryLimit => "private memory over the limit",
            FindingKind::ThreadgroupMemoryLimit => "threadgroup memory over the limit",
        }
    }
}

/// One line: `a.metal:7:5: error: out-of-bounds write: 4 bytes at … [out-of-bounds-write]`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.locations.first() {
            Some(SourceLocation { file, line, column, .. }) => write!(f, "{file}:{line}:{column}: error: ")?,
            None if self.place.instruction.is_empty() => write!(f, "error: ")?,
            None => write!(f, "'{}': error: ", self.place.instruction)?,
        }
        write!(f, "{}", self.kind.description())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        let ThreadPosition { threadgroup: [a, b, c], thread: [x, y, z], .. } = self.thread;
        match self.kind.has_thread() {
            true => write!(f, " (kernel '{}', threadgroup ({a}, {b}, {c}), thread ({x}, {y}, {z}))", self.kernel)?,
            false => write!(f, " (kernel '{}')", self.kernel)?,
        }
        write!(f, " [{}]", self.kind.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct() {
        let mut ids: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), FindingKind::ALL.len());
    }
}
