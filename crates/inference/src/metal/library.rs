//! The shader library in Rust: embedded shaders, and the types of the generated bindings.
//!
//! ```text
//! Kernel<F> ── KernelInfo ── Shader: the text of its file, and its library
//!     └ F: Family ─┬─ F::Constants: its function constants
//!                  ├─ F::Arguments: its buffers and parameters
//!                  └─ F::select(format, activation): the kernel for these types
//! ```
//!
//! A build of this crate checks the shaders and writes [`crate::metal::kernels`]: a kernel in a `.metal` file needs
//! nothing else to appear here. A family is a template and its instantiations: they differ in the types of elements and
//! share arguments and constants, so a dispatch selects one and binds them all the same way.

use compute::{Buffer, ComputeCommandEncoder, KernelConstants, PrecompiledLibrary, Result};
use std::fmt;
use std::marker::PhantomData;

/// A shader file of the library.
#[derive(Debug)]
pub struct Shader {
    /// The name of the file without `.metal`.
    pub name: &'static str,
    /// Its source with our includes inlined: it compiles alone, and was checked when this crate was built.
    pub source: &'static str,
    /// Its kernels, compiled when this crate was built: by Apple's compiler for a Mac, if it was installed, otherwise
    /// by ours. The source is embedded in any case.
    pub metallib: Option<PrecompiledLibrary>,
}

/// A kernel without its types: name and reflection.
#[derive(Debug)]
pub struct KernelInfo {
    /// The file that defines it.
    pub shader: &'static Shader,
    /// Its host name.
    pub name: &'static str,
    /// Its index in [`crate::metal::kernels::ALL`].
    pub index: usize,
    /// Its buffers and parameters.
    pub arguments: &'static [ArgumentInfo],
}

/// An argument of a kernel.
#[derive(Debug)]
pub struct ArgumentInfo {
    /// Its name in the shader.
    pub name: &'static str,
    /// Size of an element in bytes.
    pub element_size: usize,
}

/// Kernels that take the same arguments and function constants.
pub trait Family: 'static {
    /// Their function constants.
    type Constants: KernelConstants;
    /// Their buffers and parameters.
    type Arguments<'a>: Arguments;
}

/// Buffers and parameters of a dispatch.
pub trait Arguments {
    /// Binds all arguments.
    fn bind(&self, encoder: &mut ComputeCommandEncoder) -> Result<()>;
}

/// A kernel of the family `F`.
pub struct Kernel<F: Family> {
    info: &'static KernelInfo,
    family: PhantomData<fn() -> F>,
}

impl<F: Family> Kernel<F> {
    pub(crate) const fn new(info: &'static KernelInfo) -> Kernel<F> {
        Kernel { info, family: PhantomData }
    }

    /// Its name and reflection.
    pub const fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// Its host name.
    pub const fn name(&self) -> &'static str {
        self.info.name
    }
}

impl<F: Family> Clone for Kernel<F> {
    fn clone(&self) -> Kernel<F> {
        *self
    }
}

impl<F: Family> Copy for Kernel<F> {}

impl<F: Family> fmt::Debug for Kernel<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name()).finish()
    }
}

/// A range of a buffer that a kernel uses.
#[derive(Clone, Copy, Debug)]
pub struct BufferSlice<'a> {
    buffer: &'a Buffer,
    offset: usize,
    len: usize,
}

impl<'a> BufferSlice<'a> {
    /// `len` bytes from the byte `offset` on, clipped to the end of the buffer.
    pub fn new(buffer: &'a Buffer, offset: usize, len: usize) -> BufferSlice<'a> {
        let offset = offset.min(buffer.len());
        BufferSlice { buffer, offset, len: len.min(buffer.len() - offset) }
    }

    /// The whole buffer.
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    /// Offset in the buffer, in bytes.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'a> From<&'a Buffer> for BufferSlice<'a> {
    fn from(buffer: &'a Buffer) -> BufferSlice<'a> {
        BufferSlice { buffer, offset: 0, len: buffer.len() }
    }
}

/// Arguments that generated code binds: buffer slices, structs and numbers.
pub(crate) trait Bind {
    fn bind(&self, encoder: &mut ComputeCommandEncoder, index: usize) -> Result<()>;
}

impl Bind for BufferSlice<'_> {
    fn bind(&self, encoder: &mut ComputeCommandEncoder, index: usize) -> Result<()> {
        encoder.set_buffer_range(index, self.buffer, self.offset..self.offset + self.len)
    }
}

impl<P: bytemuck::Pod> Bind for P {
    fn bind(&self, encoder: &mut ComputeCommandEncoder, index: usize) -> Result<()> {
        encoder.set_bytes(index, bytemuck::bytes_of(self)).map(|_| ())
    }
}
