//! `.metallib` files: one LLVM module for each function, in the container `MTLB`.
//!
//! Apple documents nothing of it. The following was read from `mlx.metallib` (17,248 kernels by "Apple metal version
//! 32023.883"), which [`Library::parse`] and [`Library::write`] bring back byte for byte; tags that do not occur there
//! are named after the notes of others (naga's wiki, MetalLibraryArchive, Metal.jl). All numbers are little-endian.
//!
//! ```text
//! 0x00  "MTLB"
//! 0x04  u16 major (1; bit 15: for macOS)   u16 minor (2)   u16 patch (6; 7 with a reflection list)
//! 0x0a  u8  0 executable, 1 Core Image, 2 dynamic, 3 symbol companion (bit 7: stub)
//! 0x0b  u8  platform as in Mach-O, 1 is macOS (bit 7: 64 bits)
//! 0x0c  u16 u8 u8  the platform's version: major, minor, patch
//! 0x10  u64 size of the file
//! 0x18  u64 offset, u64 size  function list; the size does not count the first four bytes
//! 0x28  u64 offset, u64 size  public metadata
//! 0x38  u64 offset, u64 size  private metadata
//! 0x48  u64 offset, u64 size  bitcode
//! 0x58  function list ─ u32 number of functions, then for each a group
//!       header extension ─ tags without a size before them, up to ENDT
//!       public metadata ─ a group for each function
//!       private metadata ─ a group for each function
//!       bitcode ─ the modules, end to end
//!       the sections of the header extension
//! ```
//!
//! Nothing is aligned, with the exceptions below. A *group* is a `u32` size that counts itself, tags, and `ENDT`
//! without a value; a *tag* is four letters, a `u16` length and a value. In the libraries of PyTorch's wheel, the sizes
//! of groups in both metadata sections do not count themselves: those are read, and written as the others.
//!
//! | in | tag | value |
//! |---|---|---|
//! | function list | `NAME` | the name and a zero |
//! | | `TYPE` | `u8`, see [`FunctionKind`] |
//! | | `HASH` | SHA-256 of the module as it stands in the file, wrapper and padding included |
//! | | `OFFT` | three `u64`: where in public metadata, private metadata and bitcode its part begins |
//! | | `VERS` | four `u16`: AIR major and minor, Metal major and minor |
//! | | `MDSZ` | `u64` size of the module |
//! | | `RFLT` | `u64`: where in the reflection list its buffer begins, if the library has such a list |
//! | public metadata | `CNST` | `u16` number, then for each function constant: name and a zero, `u8` `MTLDataType`, `u16` index, `u8` 1 if the function uses it |
//! | private metadata | `DEBI` | `u32` line, path and a zero; not in `mlx.metallib` |
//! | header extension | `RLST` | `u64` offset, `u64` size of the reflection list |
//! | | `UUID` | 16 bytes |
//! | | `HDYN` | `u64` offset, `u64` size of the names of a dynamic library and of linked ones; not in `mlx.metallib` |
//! | | `HSRC`, `HSRD`, `SLST`, … | `u64` offset, `u64` size of another section; not in `mlx.metallib` |
//!
//! The order of the tags is the one of the table. Others are kept as they are ([`Function::other_tags`]).
//!
//! The *reflection list* is a `u32` number and then, for each function, a group of one tag `RBUF`, whose length is a
//! `u32`: zeros up to a multiple of 16 in the file, and a FlatBuffer with the identifier `AIRR`. It repeats what the
//! module's metadata say; [`reflection`] describes it. Libraries before 1.2.7 have no list, and neither have ours if
//! [`crate::reflect::reflection_buffer`] cannot describe a function.
//!
//! A module is LLVM bitcode behind LLVM's wrapper ([`wrap`]), as LLVM writes it for Apple's platforms.
//!
//! **Invariant:** `parse` takes memory in proportion to the file's size, and never panics. Bitcode and names are
//! borrowed; bitcode is hashed only when it is requested, so that 147 MB with 17,248 functions open in 35 ms.

mod dynamic;
mod error;
mod names;
mod read;
pub mod reflection;
#[cfg(test)]
mod tests;
mod wrapper;
mod write;

pub use error::{ParseError, Problem, WriteError};
pub use names::data_type_name;
pub use read::stored_uuid;
#[cfg(test)]
pub(crate) use tests::{apple_library, corpus};
pub use wrapper::{unwrap, wrap};

use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The four letters before a value.
pub type Tag = [u8; 4];

/// A tag that this module does not interpret, and its value.
pub type OtherTag<'a> = (Tag, Cow<'a, [u8]>);

/// A `.metallib` file.
#[derive(Clone, PartialEq, Debug)]
pub struct Library<'a> {
    /// The header.
    pub header: Header,
    /// Identifies the build.
    pub uuid: Option<[u8; 16]>,
    /// Sections of the header extension other than the reflection list: the tag and the content.
    pub sections: Vec<OtherTag<'a>>,
    functions: Vec<Function<'a>>,
    /// Indices of `functions`, by name.
    by_name: Vec<u32>,
}

/// The header, without the offsets and sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Bit 15 of the major version.
    pub is_macos: bool,
    /// The version of the container.
    pub version: [u16; 3],
    /// 0 for an executable library. Bit 7: a stub.
    pub file_type: u8,
    /// The platform as in Mach-O. Bit 7: 64 bits.
    pub platform: u8,
    /// The platform's major version.
    pub platform_major: u16,
    /// The platform's minor version and patch.
    pub platform_minor: [u8; 2],
}

impl Header {
    /// The version of libraries with a reflection list.
    pub const WITH_REFLECTION: [u16; 3] = [1, 2, 7];

    /// An executable library for a version of macOS, without a reflection list.
    pub fn for_macos(major: u16) -> Header {
        Header { platform_major: major, ..Header::default() }
    }
}

impl Default for Header {
    /// An executable library for macOS 14, without a reflection list.
    fn default() -> Header {
        Header {
            is_macos: true,
            version: [1, 2, 6],
            file_type: 0,
            platform: 0x81,
            platform_major: 14,
            platform_minor: [0, 0],
        }
    }
}

/// The stage that a function is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant is the kind of that name")]
pub enum FunctionKind {
    Vertex,
    Fragment,
    Kernel,
    Unqualified,
    Visible,
    Extern,
    Intersection,
    /// One that is not known here.
    Other(u8),
}

impl FunctionKind {
    const KNOWN: [FunctionKind; 7] = [
        FunctionKind::Vertex,
        FunctionKind::Fragment,
        FunctionKind::Kernel,
        FunctionKind::Unqualified,
        FunctionKind::Visible,
        FunctionKind::Extern,
        FunctionKind::Intersection,
    ];

    /// The kind with this number in `TYPE`.
    pub fn from_number(number: u8) -> FunctionKind {
        Self::KNOWN.get(usize::from(number)).copied().unwrap_or(FunctionKind::Other(number))
    }

    /// The number in `TYPE`.
    pub fn number(self) -> u8 {
        match self {
            FunctionKind::Vertex => 0,
            FunctionKind::Fragment => 1,
            FunctionKind::Kernel => 2,
            FunctionKind::Unqualified => 3,
            FunctionKind::Visible => 4,
            FunctionKind::Extern => 5,
            FunctionKind::Intersection => 6,
            FunctionKind::Other(number) => number,
        }
    }
}

/// A function and its module.
#[derive(Clone, PartialEq, Debug)]
pub struct Function<'a> {
    name: Cow<'a, str>,
    bitcode: Cow<'a, [u8]>,
    hash: [u8; 32],
    /// Its stage.
    pub kind: FunctionKind,
    /// The version of AIR.
    pub air_version: (u16, u16),
    /// The version of Metal.
    pub language_version: (u16, u16),
    /// The function constants that the module declares.
    pub constants: Vec<Constant<'a>>,
    /// The buffer of the reflection list.
    pub reflection: Option<Cow<'a, [u8]>>,
    /// Other tags in the function list, after those that are known.
    pub other_tags: Vec<OtherTag<'a>>,
    /// Other tags in the public metadata, after `CNST`.
    pub public_tags: Vec<OtherTag<'a>>,
    /// The private metadata.
    pub private_tags: Vec<OtherTag<'a>>,
}

/// A function constant in the public metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its type, a `MTLDataType`; see [`data_type`].
    pub data_type: u8,
    /// The index in `[[function_constant(index)]]`.
    pub index: u16,
    /// The function uses it. (1 wherever it occurs in `mlx.metallib`.)
    pub is_active: bool,
}

impl Constant<'_> {
    /// The constant with memory of its own.
    pub fn into_owned(self) -> Constant<'static> {
        Constant { name: Cow::Owned(self.name.into_owned()), ..self }
    }
}

impl<'a> Library<'a> {
    /// A library without functions.
    pub fn new(header: Header) -> Library<'a> {
        Library { header, uuid: None, sections: Vec::new(), functions: Vec::new(), by_name: Vec::new() }
    }

    /// The functions, in the order of the file.
    pub fn functions(&self) -> &[Function<'a>] {
        &self.functions
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<&Function<'a>> {
        let position = self.position(name).ok()?;
        Some(&self.functions[self.by_name[position] as usize])
    }

    /// Adds a function, if there is none of that name.
    pub fn add(&mut self, function: Function<'a>) -> Result<(), WriteError> {
        match self.position(function.name()) {
            Ok(_) => Err(WriteError::DuplicateName(function.name.into_owned())),
            Err(position) => {
                self.by_name.insert(position, self.functions.len() as u32);
                self.functions.push(function);
                Ok(())
            }
        }
    }

    /// Keeps the reflection buffers if every function has one, with the version that admits them, or removes all. If
    /// some functions have one, `describe` makes those of the others.
    ///
    /// Returns the first function without a buffer, if others had one.
    pub fn unify_reflection(&mut self, describe: impl Fn(&Function) -> Option<Vec<u8>>) -> Option<&str> {
        let mut missing = None;
        if self.functions.iter().any(|function| function.reflection.is_some()) {
            for function in self.functions.iter_mut().filter(|function| function.reflection.is_none()) {
                function.reflection = describe(function).map(Cow::Owned);
            }
            missing = self.functions.iter().position(|function| function.reflection.is_none());
            if missing.is_none() {
                self.header.version = self.header.version.max(Header::WITH_REFLECTION);
                return None;
            }
        }
        self.header.version = self.header.version.min(Header::default().version);
        self.functions.iter_mut().for_each(|function| function.reflection = None);
        missing.map(|index| self.functions[index].name())
    }

    /// The position of a name in `by_name`, or the position to insert it at.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.by_name.binary_search_by(|&index| self.functions[index as usize].name().cmp(name))
    }
}

impl<'a> Function<'a> {
    /// A function and its module, which is wrapped if it is not yet.
    pub fn new(name: impl Into<Cow<'a, str>>, kind: FunctionKind, bitcode: &[u8]) -> Function<'a> {
        let bitcode = wrap(bitcode);
        Function {
            name: name.into(),
            hash: Sha256::digest(&bitcode).into(),
            bitcode: Cow::Owned(bitcode),
            kind,
            air_version: (2, 6),
            language_version: (3, 1),
            constants: Vec::new(),
            reflection: None,
            other_tags: Vec::new(),
            public_tags: Vec::new(),
            private_tags: Vec::new(),
        }
    }

    /// The name for the host.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module, wrapped, if its hash is the one in the library.
    pub fn bitcode(&self) -> Result<&[u8], ParseError> {
        let found: [u8; 32] = Sha256::digest(&self.bitcode).into();
        if found == self.hash {
            return Ok(&self.bitcode);
        }
        let at = format!("bitcode of '{}'", self.name);
        Err(ParseError { problem: Problem::Hash, offset: None, at })
    }

    /// The size of the module, and its offset in the file that the library was read from.
    pub fn extent(&self, file: &[u8]) -> (usize, Option<usize>) {
        let offset = (self.bitcode.as_ptr() as usize).checked_sub(file.as_ptr() as usize);
        (self.bitcode.len(), offset.filter(|offset| offset + self.bitcode.len() <= file.len()))
    }

    /// The function with memory of its own.
    pub fn into_owned(self) -> Function<'static> {
        let tags = |tags: Vec<OtherTag<'a>>| -> Vec<OtherTag<'static>> {
            tags.into_iter().map(|(tag, value)| (tag, Cow::Owned(value.into_owned()))).collect()
        };
        Function {
            name: Cow::Owned(self.name.into_owned()),
            bitcode: Cow::Owned(self.bitcode.into_owned()),
            constants: self.constants.into_iter().map(Constant::into_owned).collect(),
            reflection: self.reflection.map(|buffer| Cow::Owned(buffer.into_owned())),
            other_tags: tags(self.other_tags),
            public_tags: tags(self.public_tags),
            private_tags: tags(self.private_tags),
            hash: self.hash,
            kind: self.kind,
            air_version: self.air_version,
            language_version: self.language_version,
        }
    }

    /// SHA-256 of the module, as the library gives it.
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

/// The first `MTLDataType` of each scalar type; its vectors come after it.
const DATA_TYPES: [(&str, u8); 12] = [
    ("float", 3),
    ("half", 16),
    ("int", 29),
    ("uint", 33),
    ("short", 37),
    ("ushort", 41),
    ("char", 45),
    ("uchar", 49),
    ("bool", 53),
    ("long", 81),
    ("ulong", 85),
    ("bfloat", 121),
];

/// The `MTLDataType` of a scalar or vector type, as `CNST` holds it.
pub fn data_type(name: &str) -> Option<u8> {
    let scalar = name.trim_end_matches(['2', '3', '4']);
    let lanes = match &name[scalar.len()..] {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        _ => return None,
    };
    let (_, first) = DATA_TYPES.iter().find(|(known, _)| *known == scalar)?;
    Some(first + lanes - 1)
}
