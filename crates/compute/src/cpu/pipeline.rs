//! The compiled code of a kernel: for full simdgroups at once, for others when they first occur.

use crate::cpu::loader::Image;
use crate::cpu::shape::Shape;
use crate::error::{Error, Result};
use crate::size::Size;
use abi::{Entry, Lanes, WaveKernel};
use std::sync::OnceLock;

/// Compiles a kernel for some simdgroups.
pub(crate) type Compile = Box<dyn Fn(Lanes) -> Result<WaveKernel> + Send + Sync>;

/// A kernel for this processor.
pub(crate) struct Pipeline {
    /// Without it there is only what was compiled before.
    compile: Option<Compile>,
    row: OnceLock<Result<Code>>,
    any: OnceLock<Result<Code>>,
    static_threadgroup_memory: usize,
}

/// Machine code that was loaded.
pub(crate) struct Code {
    /// Keeps the memory behind `entry`.
    _image: Image,
    pub(crate) entry: Entry,
    pub(crate) has_barrier: bool,
    pub(crate) private_memory: u64,
    pub(crate) flush_denormals: bool,
}

impl Code {
    fn load(kernel: &WaveKernel, lanes: Lanes) -> Result<Code> {
        if kernel.lanes != lanes {
            return Err(Error::Library(format!("kernel '{}' was compiled for other simdgroups", kernel.name)));
        }
        let image = Image::load(kernel)?;
        Ok(Code {
            entry: image.entry(),
            _image: image,
            has_barrier: kernel.has_barrier,
            private_memory: kernel.private_memory,
            flush_denormals: kernel.flush_denormals,
        })
    }
}

impl Pipeline {
    /// Compiles the code for full simdgroups.
    #[cfg(feature = "compiler")]
    pub(crate) fn new(compile: Compile) -> Result<Pipeline> {
        let row = compile(Lanes::Row)?;
        Pipeline::with_code(Some(row), None, Some(compile))
    }

    /// Takes what was compiled before.
    pub(crate) fn with_binary(row: Option<WaveKernel>, any: Option<WaveKernel>) -> Result<Pipeline> {
        Pipeline::with_code(row, any, None)
    }

    fn with_code(row: Option<WaveKernel>, any: Option<WaveKernel>, compile: Option<Compile>) -> Result<Pipeline> {
        let Some(kernel) = row.as_ref().or(any.as_ref()) else {
            return Err(Error::Library("a compiled kernel without code".into()));
        };
        let static_threadgroup_memory = kernel.static_threadgroup_memory as usize;
        let load = |kernel: Option<WaveKernel>, lanes| match kernel {
            Some(kernel) => Code::load(&kernel, lanes).map(|code| OnceLock::from(Ok(code))),
            None => Ok(OnceLock::new()),
        };
        Ok(Pipeline {
            row: load(row, Lanes::Row)?,
            any: load(any, Lanes::Any)?,
            compile,
            static_threadgroup_memory,
        })
    }

    pub(crate) fn static_threadgroup_memory(&self) -> usize {
        self.static_threadgroup_memory
    }

    /// The code for some simdgroups; compiled now if it was not before, once however many threads ask.
    pub(crate) fn code(&self, lanes: Lanes) -> Result<&Code> {
        let slot = match lanes {
            Lanes::Row => &self.row,
            Lanes::Any => &self.any,
        };
        let compiled = slot.get_or_init(|| match &self.compile {
            Some(compile) => Code::load(&compile(lanes)?, lanes),
            None => Err(Error::Library(match lanes {
                Lanes::Row => "the kernel was not compiled for full simdgroups".into(),
                Lanes::Any => {
                    "the kernel was only compiled for full simdgroups: threadgroups must be multiples of 32 \
                               wide"
                        .into()
                }
            })),
        });
        compiled.as_ref().map_err(Error::clone)
    }

    pub(crate) fn prepare(&self, threads_per_threadgroup: Size) -> Result<()> {
        let narrow = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
        let Size { width, height, depth } = threads_per_threadgroup;
        let shape = Shape::new([narrow(width), narrow(height), narrow(depth)]);
        for lanes in shape.lanes() {
            self.code(lanes)?;
        }
        Ok(())
    }
}
