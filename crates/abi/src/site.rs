//! Places in a kernel that was compiled for shader validation. Its code refers to them by number.

use crate::encoding::Reader;

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
    /// Bytes of an access; of a barrier, its memory flags.
    pub bytes: u32,
    /// Alignment of an access that its type needs.
    pub alignment: u32,
    /// The access writes to an argument that the kernel declares `const`.
    pub is_to_const: bool,
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
    /// An atomic function that writes and does not depend on the value before.
    AtomicWrite,
    /// Any other atomic function: it reads a value and writes another.
    AtomicUpdate,
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
    /// A fence, by which threadgroups may order their accesses. It is not checked.
    Fence,
    /// A message of `os_log`: the types of its arguments are in [`Site::instruction`].
    Message,
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
    /// One of these, none of which is such a list: a pointer that a condition or a loop chooses. Code says which.
    OneOf(Vec<Object>),
}

impl Object {
    /// The objects that it can be.
    pub fn candidates(&self) -> &[Object] {
        match self {
            Object::OneOf(objects) => objects,
            object => std::slice::from_ref(object),
        }
    }

    /// The objects that it can be.
    pub fn candidates_mut(&mut self) -> &mut [Object] {
        match self {
            Object::OneOf(objects) => objects,
            object => std::slice::from_mut(object),
        }
    }

    /// Appends the bytes that [`Object::read`] reads.
    fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        let (kind, name, number, size): (u8, &str, u32, u64) = match self {
            Object::Unknown => (0, "", 0, 0),
            Object::Buffer(index) => (1, "", *index, 0),
            Object::ThreadgroupArgument(index) => (2, "", *index, 0),
            Object::ThreadgroupVariable { name, offset, size } => (3, name, *offset, *size),
            Object::Private { name, size } => (4, name, 0, *size),
            Object::Constant { name, size } => (5, name, 0, *size),
            Object::OneOf(objects) => (6, "", u32::try_from(objects.len()).ok()?, 0),
        };
        bytes.push(kind);
        text(bytes, name)?;
        bytes.extend(number.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        match self {
            Object::OneOf(objects) => objects.iter().try_for_each(|object| object.write(bytes)),
            _ => Some(()),
        }
    }

    /// Lists are read where `may_be_list` is true.
    fn read(reader: &mut Reader<'_>, may_be_list: bool) -> Option<Object> {
        let [kind] = reader.array()?;
        let (name, number, size) = (reader.text()?, reader.u32()?, reader.u64()?);
        Some(match kind {
            0 => Object::Unknown,
            1 => Object::Buffer(number),
            2 => Object::ThreadgroupArgument(number),
            3 => Object::ThreadgroupVariable { name, offset: number, size },
            4 => Object::Private { name, size },
            5 => Object::Constant { name, size },
            6 if may_be_list => {
                Object::OneOf((0..number).map(|_| Object::read(reader, false)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) -> Option<()> {
    bytes.extend(u32::try_from(text.len()).ok()?.to_le_bytes());
    bytes.extend(text.as_bytes());
    Some(())
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 18] = [
        Operation::Read,
        Operation::Write,
        Operation::AtomicRead,
        Operation::AtomicWrite,
        Operation::AtomicUpdate,
        Operation::Barrier,
        Operation::SimdgroupBarrier,
        Operation::Shuffle,
        Operation::Matrix,
        Operation::DivideByZero,
        Operation::DivideOverflow,
        Operation::Shift,
        Operation::Convert,
        Operation::Float,
        Operation::Loop,
        Operation::Uninitialized,
        Operation::Fence,
        Operation::Message,
    ];

    /// True for accesses that do not write.
    pub const fn is_read(self) -> bool {
        matches!(self, Operation::Read | Operation::AtomicRead | Operation::Uninitialized)
    }

    /// True for atomic functions.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Operation::AtomicRead | Operation::AtomicWrite | Operation::AtomicUpdate)
    }
}

impl Site {
    /// Appends the bytes that [`Site::read`] reads: locations, instruction, operation, object, size, alignment and
    /// constness. `None` if a text is larger than 4 GiB.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.extend(u32::try_from(self.locations.len()).ok()?.to_le_bytes());
        for location in &self.locations {
            text(bytes, &location.file)?;
            bytes.extend(location.line.to_le_bytes());
            bytes.extend(location.column.to_le_bytes());
            text(bytes, &location.function)?;
        }
        text(bytes, &self.instruction)?;
        bytes.push(self.operation as u8);
        self.object.write(bytes)?;
        bytes.extend(self.bytes.to_le_bytes());
        bytes.extend(self.alignment.to_le_bytes());
        bytes.push(u8::from(self.is_to_const));
        Some(())
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Site> {
        let location = |reader: &mut Reader<'_>| {
            let file = reader.text()?;
            let (line, column) = (reader.u32()?, reader.u32()?);
            Some(SourceLocation { file, line, column, function: reader.text()? })
        };
        let locations = (0..reader.u32()?).map(|_| location(reader)).collect::<Option<_>>()?;
        let instruction = reader.text()?;
        let [operation] = reader.array()?;
        let operation = Operation::ALL.into_iter().find(|known| *known as u8 == operation)?;
        let object = Object::read(reader, true)?;
        let (bytes, alignment, [is_to_const]) = (reader.u32()?, reader.u32()?, reader.array()?);
        let is_to_const = is_to_const != 0;
        Some(Site { locations, instruction, operation, object, bytes, alignment, is_to_const })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of each kind.
    pub(crate) fn sites() -> Vec<Site> {
        let objects = [
            Object::Unknown,
            Object::Buffer(3),
            Object::ThreadgroupArgument(1),
            Object::ThreadgroupVariable { name: "tile".into(), offset: 64, size: 128 },
            Object::Private { name: "a".into(), size: 16 },
            Object::Constant { name: "table".into(), size: 256 },
            Object::OneOf(vec![Object::Buffer(0), Object::ThreadgroupArgument(2)]),
        ];
        let location = SourceLocation { file: "a.metal".into(), line: 3, column: 5, function: "f".into() };
        let site = |(operation, object): (Operation, &Object)| Site {
            locations: vec![location.clone(); operation as usize % 3],
            instruction: "store".into(),
            operation,
            object: object.clone(),
            bytes: 4,
            alignment: 4,
            is_to_const: operation == Operation::Write,
        };
        Operation::ALL.into_iter().zip(objects.iter().cycle()).map(site).collect()
    }
}
