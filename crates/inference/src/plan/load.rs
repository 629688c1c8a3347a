//! Loading a plan: allocate memory, create pipelines while weights load, record tables.
//!
//! ```text
//! weight buffers, state ── declare ─┬─ pipelines: created on other threads ───────┬─ record
//!                                   └─ weights: read and laid out on this thread ─┘
//! ```

use super::fill::Filler;
use super::layers::Parts;
use super::recurrent::SnapshotPositions;
use super::state::{Sizes, State};
use super::table::{Table, declare};
use super::weights::{Loader, Unfilled, WeightMemory};
use super::{Plan, chunks};
use crate::arch::{Hyperparameters, ModelTensors};
use crate::error::{Error, Result};
use crate::formats::{Activation, CacheType};
use crate::generate::Sampling;
use crate::gguf::Gguf;
use crate::metal::{MetalDevice, PipelineSet};
use compute::PipelineProgress;

/// Options for a plan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlanOptions {
    /// Context length in positions. Default: that of training, at most 4,096.
    pub context: Option<usize>,
    /// Largest prefill chunk in tokens. Default: depends on the device.
    pub chunk: Option<usize>,
    /// Type of activations.
    pub activation: Activation,
    /// Products with quantized matrices multiply bytes: activations are rounded to eight bits for them, in blocks of 32
    /// ([`crate::metal::operations::pack`]).
    pub packed: bool,
    /// Type of the KV cache.
    pub cache: CacheType,
    /// Sampling parameters.
    pub sampling: Sampling,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            context: None,
            chunk: None,
            activation: Activation::F32,
            packed: false,
            cache: CacheType::F16,
            sampling: Sampling::GREEDY,
        }
    }
}

/// Largest default context length.
const DEFAULT_CONTEXT: usize = 4096;

/// A usual number of candidates for sampling.
const TYPICAL_TOP_K: usize = 40;

/// Progress of loading. All weights are reported before any pipeline, although both are in progress at the same time.
#[derive(Debug)]
pub enum LoadProgress<'a> {
    /// Bytes of weights done, and in total.
    Weights(u64, u64),
    /// A created pipeline.
    Pipelines(&'a PipelineProgress<'a>),
}

/// A model before its weights are read: buffers are allocated, and pipelines declared.
struct PreparedPlan {
    parts: Parts,
    unfilled: Vec<Unfilled>,
    context: usize,
    sizes: Vec<usize>,
    pipelines: PipelineSet,
    /// Attention of a single token is divided between simdgroups, however few positions there are.
    always_splits: bool,
    /// It is divided from a certain length on.
    splits_later: bool,
}

impl PreparedPlan {
    fn new(device: &MetalDevice, model: &Gguf, options: &PlanOptions) -> Result<PreparedPlan> {
        options.sampling.check()?;
        let hyperparameters = Hyperparameters::read(model)?;
        let tensors = ModelTensors::find(model.weights(), &hyperparameters)?;
        let context = options.context.unwrap_or(hyperparameters.context.min(DEFAULT_CONTEXT));
        if context == 0 {
            return Err(Error::Usage("the context is 0 tokens: it must be 1 or above".into()));
        }
        let tuning = *device.tuning();
        let mut loader = Loader {
            device: device.device(),
            tuning,
            weights: model.weights(),
            memory: WeightMemory::default(),
            unfilled: Vec::new(),
        };
        let weights = loader.model(&tensors, context > hyperparameters.rope.original_context)?;
        let unfilled = loader.unfilled;
        let sizes = chunks::sizes(options.chunk.unwrap_or(tuning.chunk), context);
        let is_fused = |&size: &usize| weights.layers.iter().all(|layer| layer.gate_is_fused(&tuning, size));
        let wanted = Sizes {
            chunk: sizes[0],
            context,
            activation: options.activation,
            cache_type: options.cache,
            packed: options.packed,
            split_gate: !sizes.iter().all(is_fused),
            tuning,
        };
        let state = State::new(device.device(), &hyperparameters, weights.rope_factors.as_deref(), &wanted)?;
        let parts = Parts {
            model: hyperparameters,
            weights,
            state,
            activation: options.activation,
            packed: options.packed,
        };

        let always_splits = tuning.attention.whole == 0;
        let splits_later = parts.state.parts.is_some() && !always_splits;
        let mut pipelines = PipelineSet::new();
        for &size in &sizes {
            declare(device, &mut pipelines, |tracer| parts.layers(tracer, size, always_splits))?;
        }
        if splits_later {
            declare(device, &mut pipelines, |tracer| parts.layers(tracer, 1, true))?;
        }
        declare(device, &mut pipelines, |tracer| parts.logits(tracer))?;
        declare(device, &mut pipelines, |tracer| parts.choose(tracer, &options.sampling))?;
        Ok(PreparedPlan { parts, unfilled, context, sizes, pipelines, always_splits, splits_later })
    }
}

impl Plan {
    /// Loads a model.
    pub fn load(
        device: &MetalDevice,
        model: &Gguf,
        options: &PlanOptions,
        mut progress: impl FnMut(LoadProgress<'_>),
    ) -> Result<Plan> {
        let PreparedPlan { parts, unfilled, context, sizes, pipelines, always_splits, splits_later } =
            PreparedPlan::new(device, model, options)?;
        // Other threads compile from here on.
        let pending = device.begin_load(&pipelines);
        let filled: u64 = unfilled.iter().map(|unfilled| unfilled.tensor.size()).sum();
        let done = parts.weights.memory.total() - filled;
        let mut read = |done, total| progress(LoadProgress::Weights(done, total));
        Filler::new(device, model.weights(), done, &mut read).fill(&unfilled)?;
        pending.finish(|pipeline| progress(LoadProgress::Pipelines(pipeline)))?;

        let record = |&size: &usize| Table::record(device, |tracer| parts.layers(tracer, size, always_splits));
        let record_split = || Table::record(device, |tracer| parts.layers(tracer, 1, true));
        Ok(Plan {
            device: device.clone(),
            layers: sizes.iter().map(record).collect::<Result<_>>()?,
            split: if splits_later { Some(record_split()?) } else { None },
            logits: Table::record(device, |tracer| parts.logits(tracer))?,
            choose: Table::record(device, |tracer| parts.choose(tracer, &options.sampling))?,
            parts,
            sampling: options.sampling,
            context,
            sizes,
            len: 0,
            evaluated: 0,
            snapshots: SnapshotPositions::default(),
            row: None,
            profiler: None,
        })
    }

    /// The pipelines that a model needs, with every kind of sampling. Reads no weights and creates no pipeline: the
    /// device may have the tuning of another, for which they are to be compiled.
    pub fn pipelines(device: &MetalDevice, model: &Gguf, options: &PlanOptions) -> Result<PipelineSet> {
        let PreparedPlan { parts, mut pipelines, .. } = PreparedPlan::new(device, model, options)?;
        let sampled = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let kinds = [Sampling::GREEDY, sampled, Sampling { top_k: Some(TYPICAL_TOP_K), ..sampled }];
        for kind in kinds {
            for repeat_penalty in [1.0, 1.1] {
                let sampling = Sampling { repeat_penalty, ..kind };
                declare(device, &mut pipelines, |tracer| parts.choose(tracer, &sampling))?;
            }
        }
        Ok(pipelines)
    }

    /// Changes the sampling parameters. Creates the pipelines that they need, and records the table again.
    pub fn set_sampling(&mut self, sampling: &Sampling) -> Result<()> {
        sampling.check()?;
        let mut pipelines = PipelineSet::new();
        declare(&self.device, &mut pipelines, |tracer| self.parts.choose(tracer, sampling))?;
        self.device.load(&pipelines, |_| ())?;
        self.choose = Table::record(&self.device, |tracer| self.parts.choose(tracer, sampling))?;
        self.sampling = *sampling;
        Ok(())
    }
}
