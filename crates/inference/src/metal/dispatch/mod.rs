//! Operations: one function for each, which chooses the kernel and its constants, checks what it is given, sizes the grid
//! and encodes the dispatch. There is a file for each file of shaders, where formulas and layouts are described.
//!
//! ```text
//! rms_norm(encoding, RmsNorm { x, w, y, … })
//!     ── the kernel for the activations' type ── function constants ── pipeline, from the cache
//!     ── sizes of the buffers checked ── arguments bound ── grid ── ComputeCommandEncoder
//! ```
//!
//! Threadgroups are always rows of whole simdgroups, which every pipeline is promised ([`Simdgroups::Rows`]), so that a CPU compiles
//! no code for others: kernels guard the edges themselves. An operation on nothing (no rows, no tokens) encodes nothing.

pub mod attention;
pub mod elementwise;
pub mod embedding;
pub mod gemm;
pub mod gemv;
pub mod kv_cache;
pub mod lm_head;
mod matrix;
pub mod norm;
pub mod rope;
pub mod sampling;
pub mod sequence;
pub mod softmax;

use super::library::{Arguments, BufferSlice, Family, Kernel};
use super::{MetalDevice, PipelineSet, Tuning};
use compute::{ComputeCommandEncoder, Error, PipelineConfig, Result, Simdgroups, Size};
use std::ops::Range;

/// Threads in a simdgroup.
pub const SIMD_WIDTH: usize = 32;

/// Where operations are encoded.
#[derive(Debug)]
pub struct Encoding<'a> {
    /// Where the pipelines come from.
    pub device: &'a MetalDevice,
    /// Encodes dispatches, or collects their pipelines.
    target: Target<'a>,
    /// How work is divided; that of the device, unless it is changed.
    pub tuning: Tuning,
}

impl<'a> Encoding<'a> {
    /// Encodes with what suits the device.
    pub fn new(device: &'a MetalDevice, encoder: &'a mut ComputeCommandEncoder) -> Encoding<'a> {
        Encoding::with_target(device, Target::Encoder(encoder))
    }

    /// Encodes nothing: operations are checked, and what pipelines they need is added to the set.
    pub fn declaring(device: &'a MetalDevice, pipelines: &'a mut PipelineSet) -> Encoding<'a> {
        Encoding::with_target(device, Target::Pipelines(pipelines))
    }

    fn with_target(device: &'a MetalDevice, target: Target<'a>) -> Encoding<'a> {
        Encoding { device, target, tuning: *device.tuning() }
    }

    /// Dispatches that were encoded so far.
    pub fn dispatch_count(&self) -> usize {
        match &self.target {
            Target::Encoder(encoder) => encoder.dispatch_count(),
            Target::Pipelines(_) => 0,
        }
    }

    /// Encodes one dispatch of `kernel`.
    pub(crate) fn dispatch<F: Family>(
        &mut self,
        kernel: Kernel<F>,
        constants: &F::Constants,
        arguments: &F::Arguments<'_>,
        grid: Grid,
    ) -> Result<()> {
        let threads = Size::linear(grid.simdgroups * SIMD_WIDTH);
        match &mut self.target {
            Target::Encoder(encoder) => {
                let pipelines = self.device.pipelines();
                let pipeline = pipelines.get_or_create_pso_with(kernel.name(), constants, Simdgroups::Rows)?;
                encoder.set_compute_pipeline_state(pipeline)?;
                arguments.bind(encoder)?;
                encoder.dispatch_threadgroups(grid.threadgroups, threads)
            }
            Target::Pipelines(pipelines) => {
                let config = PipelineConfig::new(kernel.name(), constants);
                pipelines.declare_config(config.with_simdgroups(Simdgroups::Rows));
                Ok(())
            }
        }
    }
}

/// Where dispatches go.
#[derive(Debug)]
enum Target<'a> {
    Encoder(&'a mut ComputeCommandEncoder),
    Pipelines(&'a mut PipelineSet),
}

/// A number among the arguments of a dispatch that changes from one replay of a recording to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Changing {
    /// The index of the bytes.
    pub(crate) index: usize,
    /// Its place in them.
    pub(crate) offset: usize,
}

/// How many threadgroups, and how many simdgroups each has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    pub(crate) threadgroups: Size,
    pub(crate) simdgroups: usize,
}

impl Grid {
    /// Threadgroups along one dimension.
    pub(crate) fn linear(threadgroups: usize, simdgroups: usize) -> Grid {
        Grid { threadgroups: Size::linear(threadgroups), simdgroups }
    }

    /// Threadgroups along two dimensions.
    pub(crate) fn plane(width: usize, height: usize, simdgroups: usize) -> Grid {
        Grid { threadgroups: Size::new(width, height, 1), simdgroups }
    }
}

/// Checks on behalf of one operation. What it refuses would be read or written outside of a buffer, or read after it was
/// written over.
pub(crate) struct Check<'a> {
    /// The operation's name, for messages.
    pub(crate) operation: &'a str,
}

impl Check<'_> {
    /// An error of the caller's.
    pub(crate) fn error<T>(&self, problem: impl std::fmt::Display) -> Result<T> {
        Err(Error::Usage(format!("{}: {problem}", self.operation)))
    }

    /// Simdgroups for a row of `numbers` numbers.
    pub(crate) fn simdgroups(&self, encoding: &Encoding<'_>, numbers: usize) -> Result<usize> {
        match encoding.tuning.row_simdgroups(numbers) {
            simdgroups @ 1..=32 => Ok(simdgroups),
            simdgroups => self.error(format_args!("{simdgroups} simdgroups for a row: it must be 1 to 32")),
        }
    }

    /// A number that a kernel takes as `uint`, at least 1.
    pub(crate) fn count(&self, name: &str, value: usize) -> Result<u32> {
        match u32::try_from(value) {
            Ok(count @ 1..) if count <= i32::MAX as u32 => Ok(count),
            _ => self.error(format_args!("{name} is {value}: it must be between 1 and {}", i32::MAX)),
        }
    }

    /// `slice` has room for the product of `counts`, each of `size` bytes.
    pub(crate) fn room<'n>(
        &self,
        name: &'n str,
        slice: &BufferSlice<'_>,
        counts: &[usize],
        size: usize,
    ) -> Result<Used<'n>> {
        let needed = counts.iter().try_fold(size, |bytes, &count| bytes.checked_mul(count));
        match needed {
            Some(needed) if needed <= slice.len() => {
                let range = slice.offset()..slice.offset() + needed;
                Ok(Used { name, bytes: slice.buffer().addresses(range) })
            }
            _ => {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                let (counts, len) = (counts.join(" × "), slice.len());
                self.error(format_args!("{name} has {len} bytes, but {counts} elements of {size} bytes are needed"))
            }
        }
    }

    /// `slice` has room for rows of `width` elements of `size` bytes, `stride` elements apart.
    pub(crate) fn rows<'n>(
        &self,
        name: &'n str,
        slice: &BufferSlice<'_>,
        rows: usize,
        stride: usize,
        width: usize,
        size: usize,
    ) -> Result<Used<'n>> {
        if width > stride {
            return self
                .error(format_args!("{name}: rows of {width} elements, but only {stride} from one to the next"));
        }
        // The last row need not be followed by anything.
        let elements = match rows {
            0 => 0,
            _ => (rows - 1).saturating_mul(stride).saturating_add(width),
        };
        self.room(name, slice, &[elements], size)
    }

    /// The output is where an input is, or elsewhere: then threads write only what they alone have read.
    pub(crate) fn in_place_or_apart(&self, output: &Used<'_>, input: &Used<'_>) -> Result<()> {
        match output.bytes.start == input.bytes.start {
            true => Ok(()),
            false => self.apart(output, input),
        }
    }

    /// The output has nothing in common with an input.
    pub(crate) fn apart(&self, output: &Used<'_>, input: &Used<'_>) -> Result<()> {
        let (a, b) = (&output.bytes, &input.bytes);
        if a.start < b.end && b.start < a.end && !a.is_empty() && !b.is_empty() {
            return self
                .error(format_args!("{} would be written over {} while that is read", output.name, input.name));
        }
        Ok(())
    }
}

/// The bytes that an operation uses of a buffer.
pub(crate) struct Used<'n> {
    name: &'n str,
    /// By their addresses.
    bytes: Range<usize>,
}
