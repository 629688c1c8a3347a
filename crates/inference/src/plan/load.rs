//! Loading a plan: allocate memory, create pipelines while weights load, record tables.
//!
//! ```text
//! weight buffers, state ── declare ─┬─ pipelines: created on other threads ───────┬─ record
//!                                   └─ weights: read and laid out on this thread ─┘
//! ```

use super::fill::Filler;
use super::layers::Parts;
use super::sequences::{EachTables, Sequence};
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
    /// Number of sequences, each with its own context ([`Plan::select`], [`Plan::generate_each`]). Default: 1.
    pub sequences: usize,
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
            sequences: 1,
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
    splits: Splits,
}

/// Division of the positions between simdgroups, in attention of single tokens.
#[derive(Clone, Copy)]
pub(super) struct Splits {
    /// However few positions there are.
    pub(super) always: bool,
    /// From a certain length on.
    pub(super) later: bool,
}

impl PreparedPlan {
    fn new(
        device: &MetalDevice,
        model: &Gguf,
        hyperparameters: Hyperparameters,
        options: &PlanOptions,
    ) -> Result<PreparedPlan> {
        options.sampling.check()?;
        let tensors = ModelTensors::find(model.weights(), &hyperparameters)?;
        let context = options.context.unwrap_or(hyperparameters.context.min(DEFAULT_CONTEXT));
        if context == 0 {
            return Err(Error::Usage("the context is 0 tokens: it must be 1 or above".into()));
        }
        if options.sequences == 0 {
            return Err(Error::Usage("the plan has 0 sequences: it must have 1 or more".into()));
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
        let is_apart = |&size: &usize| weights.layers.iter().any(|layer| layer.gate_is_apart(&tuning, size));
        let wanted = Sizes {
            chunk: sizes[0],
            context,
            sequences: options.sequences,
            activation: options.activation,
            cache_type: options.cache,
            packed: options.packed,
            split_gate: sizes.iter().any(is_apart) || (1..=options.sequences).any(|rows| is_apart(&rows)),
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

        let always = tuning.attention.whole == 0;
        let splits = Splits { always, later: parts.state.parts.is_some() && !always };
        let mut pipelines = PipelineSet::new();
        for &size in &sizes {
            declare(device, &mut pipelines, |tracer| parts.layers(tracer, size, splits.always))?;
        }
        if splits.later {
            declare(device, &mut pipelines, |tracer| parts.layers(tracer, 1, true))?;
        }
        declare(device, &mut pipelines, |tracer| parts.logits(tracer))?;
        Sequence::declare(device, &mut pipelines, &parts, &options.sampling)?;
        for rows in each_rows(options) {
            EachTables::declare(device, &mut pipelines, &parts, rows, splits)?;
        }
        Ok(PreparedPlan { parts, unfilled, context, sizes, pipelines, splits })
    }
}

impl Plan {
    /// Loads a model.
    pub fn load(
        device: &MetalDevice,
        model: &Gguf,
        options: &PlanOptions,
        progress: impl FnMut(LoadProgress<'_>),
    ) -> Result<Plan> {
        Plan::load_described(device, model, Hyperparameters::read(model)?, options, progress)
    }

    /// Loads a model that has these hyperparameters.
    pub(super) fn load_described(
        device: &MetalDevice,
        model: &Gguf,
        hyperparameters: Hyperparameters,
        options: &PlanOptions,
        mut progress: impl FnMut(LoadProgress<'_>),
    ) -> Result<Plan> {
        let PreparedPlan { parts, unfilled, context, sizes, pipelines, splits } =
            PreparedPlan::new(device, model, hyperparameters, options)?;
        // Other threads compile from here on.
        let pending = device.begin_load(&pipelines);
        let filled: u64 = unfilled.iter().map(|unfilled| unfilled.tensor.size()).sum();
        let done = parts.weights.memory.total() - filled;
        let mut read = |done, total| progress(LoadProgress::Weights(done, total));
        Filler::new(device, model.weights(), [done, done + filled], &mut read).fill(&unfilled)?;
        pending.finish(|pipeline| progress(LoadProgress::Pipelines(pipeline)))?;

        let record = |&size: &usize| Table::record(device, |tracer| parts.layers(tracer, size, splits.always));
        let record_split = || Table::record(device, |tracer| parts.layers(tracer, 1, true));
        Ok(Plan {
            device: device.clone(),
            layers: sizes.iter().map(record).collect::<Result<_>>()?,
            split: if splits.later { Some(record_split()?) } else { None },
            logits: Table::record(device, |tracer| parts.logits(tracer))?,
            sequences: (0..options.sequences)
                .map(|_| Sequence::new(device, &parts, &options.sampling))
                .collect::<Result<_>>()?,
            selected: 0,
            each: each_rows(options)
                .map(|rows| EachTables::record(device, &parts, rows, splits))
                .collect::<Result<_>>()?,
            parts,
            context,
            sizes,
            row: None,
            profiler: None,
        })
    }

    /// The pipelines that a model needs, with every kind of sampling. Reads no weights and creates no pipeline: the
    /// device may have the tuning of another, for which they are to be compiled.
    pub fn pipelines(device: &MetalDevice, model: &Gguf, options: &PlanOptions) -> Result<PipelineSet> {
        let PreparedPlan { parts, mut pipelines, .. } =
            PreparedPlan::new(device, model, Hyperparameters::read(model)?, options)?;
        let sampled = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let kinds = [Sampling::GREEDY, sampled, Sampling { top_k: Some(TYPICAL_TOP_K), ..sampled }];
        for kind in kinds {
            for repeat_penalty in [1.0, 1.1] {
                let sampling = Sampling { repeat_penalty, ..kind };
                Sequence::declare(device, &mut pipelines, &parts, &sampling)?;
            }
        }
        Ok(pipelines)
    }

    /// Changes the sampling parameters of the selected sequence. Creates the pipelines that they need, and records the
    /// tables again.
    pub fn set_sampling(&mut self, sampling: &Sampling) -> Result<()> {
        sampling.check()?;
        let mut pipelines = PipelineSet::new();
        Sequence::declare(&self.device, &mut pipelines, &self.parts, sampling)?;
        self.device.load(&pipelines, |_| ())?;
        let Sequence { choose, choose_row, .. } = Sequence::new(&self.device, &self.parts, sampling)?;
        let sequence = self.current_mut();
        (sequence.choose, sequence.choose_row, sequence.sampling) = (choose, choose_row, *sampling);
        Ok(())
    }
}

/// Numbers of rows of steps with several sequences.
fn each_rows(options: &PlanOptions) -> impl Iterator<Item = usize> {
    1..if options.sequences > 1 { options.sequences + 1 } else { 1 }
}
