//! Places in a kernel that was compiled for shader validation. Its code refers to them by number.

/// A position in the source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct SourceLocation {
    /// The file's name, as the compiler was given it.
    pub file: String,
    /// From 1; 0 if it is not known.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
    /// The function.
    pub function: String,
}

/// One checked instruction of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Site {
    /// Its location, then those of the calls that were inlined around it, the kernel's own last. Empty for a library
    /// without debug information.
    pub locations: Vec<SourceLocation>,
    /// The instruction in AIR, for a library without debug information.
    pub instruction: String,
    /// The operation that is checked.
    pub operation: Operation,
    /// The memory that an access is meant for.
    pub object: Object,
    /// Bytes of an access.
    pub bytes: u32,
    /// Alignment of an access that the type of its elements needs.
    pub alignment: u32,
}

/// The operation of a [`Site`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Operation {
    /// A load.
    #[default]
    Read,
    /// A store.
    Write,
    /// An atomic function that does not write.
    AtomicRead,
    /// Any other atomic function.
    AtomicWrite,
    /// A barrier of the threadgroup.
    Barrier,
    /// A barrier of the simdgroup.
    SimdgroupBarrier,
    /// A function that reads another lane's value.
    Shuffle,
    /// A function on simdgroup matrices.
    Matrix,
    /// An integer division by zero.
    DivideByZero,
    /// A signed division whose result does not fit.
    DivideOverflow,
    /// A shift by more bits than the type has.
    Shift,
    /// A conversion from a floating-point number to an integer.
    Convert,
    /// An operation on floating-point numbers whose result is checked.
    Float,
    /// The way back to the start of a loop.
    Loop,
    /// A read of a private variable that may not have been written.
    Uninitialized,
}

/// The memory of an access.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Object {
    /// Not known when the kernel was compiled, such as memory behind a pointer that was loaded.
    #[default]
    Unknown,
    /// The buffer at an index.
    Buffer(u32),
    /// The threadgroup memory at an index.
    ThreadgroupArgument(u32),
    /// A threadgroup variable of the kernel: name, offset in the threadgroup's memory, and size in bytes.
    ThreadgroupVariable {
        /// Its name.
        name: String,
        /// Bytes before it.
        offset: u32,
        /// Its bytes.
        size: u64,
    },
    /// A variable of each thread.
    Private {
        /// Its name; may be empty.
        name: String,
        /// Its bytes.
        size: u64,
    },
    /// A constant of the program.
    Constant {
        /// Its name; may be empty.
        name: String,
        /// Its bytes.
        size: u64,
    },
}
