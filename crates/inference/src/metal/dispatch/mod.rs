//! Encodes the operations of [`super::operations`]: selects a kernel, binds its arguments and sizes the grid.
//!
//! ```text
//! rms_norm(encoding, RmsNorm { x, w, y, … })
//!     ── select: the kernel for the activations' type ── check, matrix: sizes of the buffers
//!     ── function constants ── pipeline, from the cache ── arguments bound ── grid ── ComputeCommandEncoder
//! ```
//!
//! Threadgroups of operations are always rows of whole simdgroups. Their pipelines are created with that promise
//! ([`Simdgroups::Rows`]), so a CPU compiles no code for other sizes; kernels guard the edges themselves. An operation
//! without elements (no rows, no tokens) encodes nothing.

mod check;
mod matrix;

pub(crate) use check::{Check, UsedBytes};
pub(crate) use matrix::{CheckedMatrix, matrix};

use super::kernels::elementwise::PER_SIMDGROUP;
use super::layout::Matrix;
use super::library::{Arguments, Family, Kernel};
use super::operations::GemvVariant;
use super::{MetalDevice, PipelineSet, Tuning};
use crate::cases::{Case, DispatchTypes, Operation};
use crate::formats::Format;
use compute::{ComputeCommandEncoder, PipelineConfig, Result, Simdgroups, Size};

/// Threads in a simdgroup.
pub const SIMD_WIDTH: usize = super::kernels::common::SIMD_WIDTH;

/// Vectors of a product that is as fast without rounding.
const FEW_VECTORS: usize = 8;

/// Encodes operations, or collects the pipelines that they need.
#[derive(Debug)]
pub struct Encoding<'a> {
    /// The device, with its cache of pipelines.
    pub device: &'a MetalDevice,
    sink: Sink<'a>,
    /// Division of work. The default is the device's tuning.
    pub tuning: Tuning,
    /// Products may round: those by simdgroup matrices round activations to half, those with weights of 16 bits on some
    /// CPUs weights and activations to bfloat. Off by default.
    pub rounds: bool,
    works: Option<Works>,
}

/// The work of the dispatches so far.
#[derive(Default, Debug)]
struct Works {
    all: Vec<Option<Case>>,
    /// Work of the next dispatch.
    next: Option<Case>,
}

impl<'a> Encoding<'a> {
    /// Encodes with the tuning of the device.
    pub fn new(device: &'a MetalDevice, encoder: &'a mut ComputeCommandEncoder) -> Encoding<'a> {
        Encoding::with_sink(device, Sink::Encoder(encoder))
    }

    /// Encodes nothing: checks operations, and adds the pipelines that they need to the set.
    pub fn declaring(device: &'a MetalDevice, pipelines: &'a mut PipelineSet) -> Encoding<'a> {
        Encoding::with_sink(device, Sink::Pipelines(pipelines))
    }

    fn with_sink(device: &'a MetalDevice, sink: Sink<'a>) -> Encoding<'a> {
        Encoding { device, sink, tuning: *device.tuning(), rounds: false, works: None }
    }

    /// The variant for products of vectors, packed or not, with a matrix.
    pub(crate) fn product(&self, packed: bool, vectors: usize, w: &Matrix<'_>) -> GemvVariant {
        let has_pairs = !packed && matches!(w.format, Format::F16 | Format::BF16);
        match has_pairs && self.rounds && self.tuning.gemv.pairs && vectors > FEW_VECTORS {
            true => self.tuning.gemv_pairs(vectors),
            false => self.tuning.product(packed, vectors, w.rows, w.columns),
        }
    }

    /// Also collects the work of each dispatch.
    pub(crate) fn collecting_works(self) -> Encoding<'a> {
        Encoding { works: Some(Works::default()), ..self }
    }

    /// The collected work, by dispatch. A dispatch without counts as part of the one before it.
    pub(crate) fn take_works(&mut self) -> Vec<Option<Case>> {
        self.works.take().map_or_else(Vec::new, |works| works.all)
    }

    /// States the work of the next dispatch: an operation, whose formulas give its bytes and arithmetic.
    pub(crate) fn describe(
        &mut self,
        operation: &'static Operation,
        types: impl Into<DispatchTypes>,
        sizes: &[(char, usize)],
    ) {
        if let Some(works) = &mut self.works {
            works.next = Some(Case::dispatched(operation, types.into(), sizes));
        }
    }

    /// Number of dispatches encoded so far.
    pub fn dispatch_count(&self) -> usize {
        match &self.sink {
            Sink::Encoder(encoder) => encoder.dispatch_count(),
            Sink::Pipelines(_) => 0,
        }
    }

    /// Encodes one dispatch of `kernel`.
    pub(crate) fn dispatch<F: Family>(
        &mut self,
        kernel: Kernel<F>,
        constants: &F::Constants,
        arguments: &F::Arguments<'_>,
        grid: DispatchGrid,
    ) -> Result<()> {
        let threads = Size::linear(grid.simdgroups * SIMD_WIDTH);
        if let Some(works) = &mut self.works {
            works.all.push(works.next.take());
        }
        match &mut self.sink {
            Sink::Encoder(encoder) => {
                let pipelines = self.device.pipelines();
                let pipeline = pipelines.get_or_create_pso_with(kernel.name(), constants, Simdgroups::Rows)?;
                encoder.set_compute_pipeline_state(pipeline)?;
                arguments.bind(encoder)?;
                encoder.dispatch_threadgroups(grid.threadgroups, threads)
            }
            Sink::Pipelines(pipelines) => {
                let config = PipelineConfig::new(kernel.name(), constants);
                pipelines.declare_config(config.with_simdgroups(Simdgroups::Rows));
                Ok(())
            }
        }
    }
}

/// Destination of dispatches.
#[derive(Debug)]
enum Sink<'a> {
    Encoder(&'a mut ComputeCommandEncoder),
    Pipelines(&'a mut PipelineSet),
}

/// A parameter that every replay of a recording patches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PatchedParameter {
    /// Buffer index of the bytes with the parameter.
    pub(crate) index: usize,
    /// Offset of the parameter in these bytes.
    pub(crate) offset: usize,
}

/// Grid of a dispatch: threadgroups, and simdgroups per threadgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DispatchGrid {
    pub(crate) threadgroups: Size,
    pub(crate) simdgroups: usize,
}

impl DispatchGrid {
    /// A grid of one dimension.
    pub(crate) fn linear(threadgroups: usize, simdgroups: usize) -> DispatchGrid {
        DispatchGrid { threadgroups: Size::linear(threadgroups), simdgroups }
    }

    /// One thread for each of `n` elements.
    pub(crate) fn threads(n: usize) -> DispatchGrid {
        DispatchGrid::linear(n.div_ceil(SIMD_WIDTH), 1)
    }

    /// The grid of `elementwise.metal`, with threadgroups so large that the cost of starting them is negligible.
    pub(crate) fn elementwise(n: usize) -> DispatchGrid {
        const SIMDGROUPS: usize = 8;
        DispatchGrid::linear(n.div_ceil(SIMDGROUPS * PER_SIMDGROUP), SIMDGROUPS)
    }

    /// A grid of two dimensions.
    pub(crate) fn plane(width: usize, height: usize, simdgroups: usize) -> DispatchGrid {
        DispatchGrid { threadgroups: Size::new(width, height, 1), simdgroups }
    }
}
