//! Making a plan: memory first, then pipelines and weights at the same time, then its tables.
//!
//! ```text
//! buffers of weights, state ── declare ─┬─ pipelines, created on other threads ─┬─ record
//!                                       └─ weights, read and laid out on this ──┘
//! ```

use super::fill::Filler;
use super::layers::Parts;
use super::state::{Sizes, State};
use super::table::{Table, declare};
use super::weights::{Loader, WeightMemory};
use super::{Plan, chunks};
use crate::arch::{Hyperparameters, ModelTensors};
use crate::error::{Error, Result};
use crate::formats::Activation;
use crate::generate::Sampling;
use crate::gguf::Gguf;
use crate::metal::operations::rope_frequencies;
use crate::metal::{MetalDevice, PipelineSet};
use compute::PipelineProgress;

/// Options for a plan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlanOptions {
    /// Positions that there is room for; what the model was trained for, but 4,096 at most, where it is none.
    pub context: Option<usize>,
    /// Tokens of a prompt that are computed at once, at most; what suits the device where it is none.
    pub chunk: Option<usize>,
    /// The type of what flows between kernels.
    pub activation: Activation,
    /// The type of keys and values.
    pub cache: Activation,
    /// How tokens are chosen.
    pub sampling: Sampling,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            context: None,
            chunk: None,
            activation: Activation::F32,
            cache: Activation::F16,
            sampling: Sampling::GREEDY,
        }
    }
}

/// Positions that there is room for, unless more are asked for.
const DEFAULT_CONTEXT: usize = 4096;

/// How far loading has come. Weights come first, although pipelines are created meanwhile.
#[derive(Debug)]
pub enum LoadProgress<'a> {
    /// Bytes of weights that are on the device, of all.
    Weights(u64, u64),
    /// A pipeline that was created, perhaps a while ago.
    Pipelines(&'a PipelineProgress<'a>),
}

impl Plan {
    /// Loads a model.
    pub fn load(
        device: &MetalDevice,
        model: &Gguf,
        options: &PlanOptions,
        mut progress: impl FnMut(LoadProgress<'_>),
    ) -> Result<Plan> {
        options.sampling.check()?;
        let hyperparameters = Hyperparameters::read(model)?;
        let tensors = ModelTensors::find(model.weights(), &hyperparameters)?;
        let context = options.context.unwrap_or(hyperparameters.context.min(DEFAULT_CONTEXT));
        if context == 0 {
            return Err(Error::Usage("a context of 0 positions: there must be room for at least one".into()));
        }
        let tuning = *device.tuning();
        let mut loader = Loader {
            device: device.device(),
            tuning,
            weights: model.weights(),
            memory: WeightMemory::default(),
            unfilled: Vec::new(),
        };
        let weights = loader.model(&tensors)?;
        let unfilled = loader.unfilled;
        let sizes = chunks::sizes(options.chunk.unwrap_or(tuning.chunk), context);
        let base = hyperparameters.rope_base;
        let mut frequencies = rope_frequencies(base, hyperparameters.rotary, weights.rope_factors.as_deref());
        frequencies.iter_mut().for_each(|frequency| *frequency /= hyperparameters.rope_scale as f32);
        let is_fused =
            |&size: &usize| weights.layers.iter().all(|layer| Parts::gate_is_fused(&tuning, layer, size));
        let wanted = Sizes {
            chunk: sizes[0],
            context,
            activation: options.activation,
            cache_type: options.cache,
            split_gate: !sizes.iter().all(is_fused),
            tuning,
        };
        let state = State::new(device.device(), &hyperparameters, &frequencies, &wanted)?;
        let parts = Parts { model: hyperparameters, weights, state, activation: options.activation };

        let mut pipelines = PipelineSet::new();
        for &size in &sizes {
            declare(device, &mut pipelines, |tracer| parts.layers(tracer, size))?;
        }
        declare(device, &mut pipelines, |tracer| parts.logits(tracer))?;
        declare(device, &mut pipelines, |tracer| parts.choose(tracer, &options.sampling))?;
        // From here on, other threads compile.
        let pending = device.begin_load(&pipelines);
        let filled: u64 = unfilled.iter().map(|unfilled| unfilled.tensor.size()).sum();
        let done = parts.weights.memory.total() - filled;
        let mut read = |done, total| progress(LoadProgress::Weights(done, total));
        Filler::new(device, model.weights(), done, &mut read).fill(&unfilled)?;
        pending.finish(|pipeline| progress(LoadProgress::Pipelines(pipeline)))?;

        let record = |&size: &usize| Table::record(device, |tracer| parts.layers(tracer, size));
        Ok(Plan {
            device: device.clone(),
            layers: sizes.iter().map(record).collect::<Result<_>>()?,
            logits: Table::record(device, |tracer| parts.logits(tracer))?,
            choose: Table::record(device, |tracer| parts.choose(tracer, &options.sampling))?,
            parts,
            sampling: options.sampling,
            context,
            sizes,
            len: 0,
            evaluated: 0,
            row: None,
        })
    }

    /// Chooses tokens in another way from now on. Pipelines that this needs are created now.
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
