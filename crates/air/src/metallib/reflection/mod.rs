//! The FlatBuffer that the reflection list holds for a function: its interface, without the module.
//!
//! Apple documents nothing of it. The schema was found by comparing the 17,248 buffers of `mlx.metallib` with the
//! metadata of the modules; [`FunctionReflection::write`] makes each of them anew, byte for byte. In FlatBuffers'
//! language, with names of ours:
//!
//! ```text
//! file_identifier "AIRR";
//! struct Version { a: uint; b: uint; c: uint; }       // 0, 4, 0 everywhere
//! table Root {
//!   0: version: Version;
//!   1: nodes: [Node];
//!   4: kernels: [uint];                                // nodes; [0] everywhere
//!   9: constants: [uint];                              // nodes
//!  10: threadgroup: [Threadgroup];                     // variables of the module, in its order
//! }                                                    // 2, 3, 5 to 8 do not occur
//! table Node { 0: kind: uint; 1: content; }            // the kind says what table the content is
//! table Kernel /* 0x2 */ {
//!   0: name: string; 2: arguments: [uint] /* nodes */; 6: max_threads: uint /* a node */;
//! }                                                    // 1, 3 to 5 do not occur
//! table MaxThreads /* 0x1003 */ { 0: threads: uint; }  // [[max_total_threads_per_threadgroup]]
//! table Buffer /* 0x40000 */ {
//!   0: is_conditional: bool;                           // exists only if a function constant is true
//!   1: buffer_size: uint;                              // air.buffer_size
//!   2: index: uint;                                    // air.location_index and the number after it;
//!   3: count: uint;                                    //   both are there even if 0
//!   4: access: ubyte;                                  // 1 read, 3 read_write (so 2 would be write)
//!   5: address_space: ubyte = 1;                       // 2 is constant
//!   6: struct_type: uint;                              // a node
//!   8: type_size: uint; 9: type_align: uint; 10: type_name: string; 11: name: string;
//!  12: is_unused: bool;
//! }                                                    // 7 does not occur
//! table Builtin /* 0x41000 + n */ {
//!   0: is_conditional: bool; 1: type_name: string; 2: name: string; 3: is_unused: bool;
//! }
//! table Constant /* 0x80000 */ { 0: type_name: string; 1: name: string; 2: index: uint; 3: is_used: bool; }
//! table Struct /* 0x80001 */ { 0: fields: [Field]; }
//! table Field {
//!   0: struct_type: uint /* a node */; 1: offset: uint; 2: size: uint; 3: length: uint;
//!   4: type_name: string; 5: name: string;
//! }
//! table Threadgroup { 0: size: uint; 1: align: uint; }
//! ```
//!
//! The nodes are numbered kernel, arguments, limit, function constants; a struct comes right after the first node that
//! mentions it, and is not repeated where modules share the node of their metadata. Equal strings are stored once. The
//! built-ins are those of [`builtin_name`]; `is_conditional` of a built-in does not occur in `mlx.metallib`, nor do
//! textures, samplers and arguments in threadgroup memory. Other kinds and fields are reported when they are read
//! ([`FunctionReflection::unknown`]).

mod builder;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;

/// The interface of a function, as the reflection list has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionReflection<'a> {
    /// Three numbers at the start: 0, 4, 0.
    pub version: [u32; 3],
    /// All parts; others refer to them by index.
    pub nodes: Vec<ReflectionNode<'a>>,
    /// Nodes of kernels: one.
    pub kernels: Vec<u32>,
    /// Nodes of function constants.
    pub constants: Vec<u32>,
    /// Size and alignment of each threadgroup variable.
    pub threadgroup: Vec<(u32, u32)>,
    /// Parts of a buffer that was read which are not understood.
    pub unknown: Vec<String>,
}

impl Default for FunctionReflection<'_> {
    fn default() -> Self {
        FunctionReflection {
            version: [0, 4, 0],
            nodes: Vec::new(),
            kernels: Vec::new(),
            constants: Vec::new(),
            threadgroup: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

/// A part of a function's interface.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "fields are named after AIR's metadata")]
pub enum ReflectionNode<'a> {
    Kernel {
        name: Cow<'a, str>,
        /// Nodes.
        arguments: Vec<u32>,
        /// A node.
        max_threads: Option<u32>,
    },
    MaxThreads(u32),
    Buffer(ReflectedBuffer<'a>),
    Builtin {
        /// See [`builtin_name`].
        number: u16,
        is_conditional: bool,
        type_name: Cow<'a, str>,
        name: Cow<'a, str>,
        is_unused: bool,
    },
    Constant {
        type_name: Cow<'a, str>,
        name: Cow<'a, str>,
        index: u32,
        is_used: bool,
    },
    Struct(Vec<ReflectedField<'a>>),
    /// One that is not known here.
    Other {
        kind: u32,
    },
}

/// A buffer argument.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ReflectedBuffer<'a> {
    /// It exists only if a function constant is true.
    pub is_conditional: bool,
    /// `air.buffer_size`; 0 if there is none.
    pub buffer_size: u32,
    /// The index that it is bound at.
    pub index: u32,
    /// The number of indices.
    pub count: u32,
    /// Bit 0: read, bit 1: written.
    pub access: u8,
    /// AIR's number of the address space.
    pub address_space: u8,
    /// The node of its fields.
    pub struct_type: Option<u32>,
    /// The size of the pointee.
    pub type_size: u32,
    /// The alignment of the pointee.
    pub type_align: u32,
    /// The type of the pointee.
    pub type_name: Cow<'a, str>,
    /// The argument's name.
    pub name: Cow<'a, str>,
    /// No code uses it.
    pub is_unused: bool,
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ReflectedField<'a> {
    /// The node of its own fields.
    pub struct_type: Option<u32>,
    /// In bytes.
    pub offset: u32,
    /// The size of an element.
    pub size: u32,
    /// The number of elements; 0 if it is no array.
    pub length: u32,
    /// The type of an element.
    pub type_name: Cow<'a, str>,
    /// The field's name.
    pub name: Cow<'a, str>,
}

/// Kinds of nodes.
mod kind {
    pub(super) const KERNEL: u32 = 0x2;
    pub(super) const MAX_THREADS: u32 = 0x1003;
    pub(super) const BUFFER: u32 = 0x40000;
    pub(super) const BUILTIN: u32 = 0x41000;
    pub(super) const CONSTANT: u32 = 0x80000;
    pub(super) const STRUCT: u32 = 0x80001;
}

/// The address space of a buffer that does not say it: device.
const DEFAULT_SPACE: u8 = 1;

/// Numbers of built-ins in `mlx.metallib`, and their names in AIR's metadata, without `air.`.
const BUILTINS: [(u16, &str); 13] = [
    (0x0, "thread_position_in_grid"),
    (0x1, "threads_per_grid"),
    (0x2, "threadgroup_position_in_grid"),
    (0x3, "threadgroups_per_grid"),
    (0x4, "thread_position_in_threadgroup"),
    (0x5, "threads_per_threadgroup"),
    (0x7, "thread_index_in_threadgroup"),
    (0xc, "thread_index_in_simdgroup"),
    (0xd, "threads_per_simdgroup"),
    (0xe, "simdgroup_index_in_threadgroup"),
    (0xf, "simdgroups_per_threadgroup"),
    (0x11, "thread_index_in_quadgroup"),
    (0x12, "quadgroup_index_in_threadgroup"),
];

/// The name of a built-in, as in `[[name]]`.
pub fn builtin_name(number: u16) -> Option<&'static str> {
    BUILTINS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// The number of a built-in; not all are known.
pub fn builtin_number(name: &str) -> Option<u16> {
    BUILTINS.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
}
