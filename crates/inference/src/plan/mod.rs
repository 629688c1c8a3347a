//! Forward plan: the forward pass of a model as tables of dispatches, recorded when the model is loaded.
//!
//! ```text
//! Gguf ── arch ── weights: tensors in buffers ─┐
//!                 state: activations, cache ───┼─ Parts ── layers, head: operations in order
//!                                              │              ├─ declared: pipelines, created in parallel, then sealed
//!                                              │              └─ recorded: Table
//! tokens ── history ── chunks(512 … 8): prompts ──┐
//!                      layers(1): single tokens ──┴─ logits, or choose ── history: the next token
//! ```
//!
//! The tokens of the sequence are on the device, indexed by position. A decode step depends on the host for its
//! position only: it reads its token from there, and writes the sampled token after it. So one command buffer can have
//! many steps.
//!
//! **Invariant:** after loading, evaluating and decoding compile nothing, and repeated steps do not grow memory.

mod chunks;
mod fill;
mod head;
mod layers;
mod load;
mod profiler;
mod recurrent;
mod sequences;
mod state;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod weights;

pub use load::{LoadProgress, PlanOptions};
pub use weights::WeightMemory;

use crate::arch::Hyperparameters;
use crate::error::{Error, Result};
use crate::formats::CacheType;
use crate::generate::Sampling;
use crate::metal::MetalDevice;
use compute::CommandBuffer;
use compute::trace;
use layers::Parts;
use profiler::Profiler;
use recurrent::SequenceChunk;
use sequences::{EachTables, Sequence};
use std::time::Instant;
use table::{Table, Values};

/// Loaded model with one sequence of tokens, or several ([`PlanOptions::sequences`]). All methods are about the selected
/// one ([`Plan::select`]), except those that take several.
pub struct Plan {
    device: MetalDevice,
    parts: Parts,
    /// Context length of a sequence.
    context: usize,
    /// Chunk sizes in descending order.
    sizes: Vec<usize>,
    /// Layers for each chunk size.
    layers: Vec<Table>,
    /// The layers for a single token with more positions than [`crate::metal::AttentionTuning::whole`], if these are
    /// divided between simdgroups and fewer are not.
    split: Option<Table>,
    logits: Table,
    sequences: Vec<Sequence>,
    /// Index of the selected sequence.
    selected: usize,
    /// Tables for steps with one token of each of several sequences, by their number from 1 on.
    each: Vec<EachTables>,
    /// Row of the selected sequence's last token in the residual stream, if it is still there.
    row: Option<usize>,
    /// Set if profiling is on.
    profiler: Option<Box<Profiler>>,
}

impl Plan {
    /// Sampling parameters.
    pub fn sampling(&self) -> &Sampling {
        &self.current().sampling
    }

    /// Hyperparameters of the model.
    pub fn hyperparameters(&self) -> &Hyperparameters {
        &self.parts.model
    }

    /// Context length: most tokens of the sequence.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Number of tokens in the sequence.
    pub fn len(&self) -> usize {
        self.current().len
    }

    /// Returns true if the sequence has no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Largest chunk in tokens.
    pub fn chunk(&self) -> usize {
        self.sizes[0]
    }

    /// Number of tokens that are not in the KV cache yet.
    pub fn pending(&self) -> usize {
        self.current().pending()
    }

    /// Returns true if products with quantized matrices multiply bytes.
    pub fn is_packed(&self) -> bool {
        self.parts.packed
    }

    /// Bytes of weights in buffers and in mapped files.
    pub fn weight_memory(&self) -> WeightMemory {
        self.parts.weights.memory
    }

    /// Recommended number of tokens to decode at a time on this device.
    pub fn steps(&self) -> usize {
        self.device.tuning().steps
    }

    /// Type of the KV cache.
    pub fn cache_type(&self) -> CacheType {
        self.parts.state.cache_type
    }

    /// Size of the KV cache and of recurrent states in bytes.
    pub fn cache_bytes(&self) -> usize {
        self.parts.state.cache_bytes()
    }

    /// Dispatches of a decode step.
    pub fn dispatches_per_token(&self) -> usize {
        self.layers.last().map_or(0, Table::dispatch_count) + self.current().choose.dispatch_count()
    }

    /// Memory barriers of a decode step: this many dispatches wait for earlier ones.
    pub fn barriers_per_token(&self) -> usize {
        self.layers.last().map_or(0, Table::barrier_count) + self.current().choose.barrier_count()
    }

    /// Number of steps in each command buffer when [`Plan::generate`] decodes `count` tokens.
    pub fn steps_per_command_buffer(&self, count: usize) -> Vec<usize> {
        steps::groups(count, self.device.tuning().overlaps).collect()
    }

    /// Tokens of the sequence.
    pub fn tokens(&self) -> Result<Vec<u32>> {
        Ok(self.parts.state.history.read_at(self.offset() * 4, self.len())?)
    }

    /// Appends tokens to the sequence, without evaluating them.
    pub fn push(&mut self, tokens: &[u32]) -> Result<()> {
        let vocabulary = self.parts.model.vocabulary;
        if let Some(token) = tokens.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(Error::Usage(format!("token {token} is not in the vocabulary of {vocabulary} tokens")));
        }
        self.check_room(tokens.len())?;
        self.parts.state.history.write((self.offset() + self.len()) * 4, tokens)?;
        self.current_mut().len += tokens.len();
        if !tokens.is_empty() {
            self.row = None;
        }
        Ok(())
    }

    /// Shortens the sequence. Keeps the KV cache of the remaining tokens, as far as [`Plan::reusable`] says.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.current_mut().len = len;
            self.current_mut().snapshots.truncate(len);
            self.rewind(len);
        }
    }

    /// Number of tokens that need not be evaluated again if the sequence is shortened to its first `len` tokens: those
    /// in the KV cache; with recurrent layers, those up to the last snapshot. It is 0 if a layer with a window has
    /// discarded what the next token would see.
    pub fn reusable(&self, len: usize) -> usize {
        let (sequence, is_recurrent) = (self.current(), self.parts.state.recurrent.is_some());
        let len = match len < sequence.evaluated && is_recurrent {
            true => sequence.snapshots.last_up_to(len).map_or(0, |(position, _)| position),
            false => len.min(sequence.evaluated),
        };
        if self.parts.state.keeps(len, sequence.written) { len } else { 0 }
    }

    /// Makes the tokens from a position on pending again, and those before it that are not reusable.
    fn rewind(&mut self, position: usize) {
        let evaluated = self.reusable(position);
        if evaluated < self.current().evaluated {
            self.current_mut().snapshots.rewind(evaluated);
        }
        let sequence = self.current_mut();
        sequence.evaluated = evaluated;
        if evaluated == 0 {
            sequence.written = 0;
        }
        self.row = None;
    }

    /// Replaces the sequence by these tokens. Keeps the KV cache of the common prefix, as far as [`Plan::reusable`] says.
    pub fn resume(&mut self, tokens: &[u32]) -> Result<()> {
        let same = self.tokens()?.iter().zip(tokens).take_while(|(one, other)| one == other).count();
        self.truncate(same);
        self.push(&tokens[same..])
    }

    /// Drops the older half of the sequence to make room. The newer half moves to position 0 and is pending again.
    pub fn forget_older_half(&mut self) -> Result<()> {
        let tokens = self.tokens()?;
        self.truncate(0);
        self.push(&tokens[tokens.len().div_ceil(2)..])
    }

    /// Returns an error if the context has no room for so many more tokens.
    fn check_room(&self, tokens: usize) -> Result<()> {
        match self.len().checked_add(tokens) {
            Some(len) if len <= self.context => Ok(()),
            _ => Err(Error::Usage(format!(
                "the context of {} tokens is too small: it has {}, and {tokens} more are needed; use a larger context",
                self.context,
                self.len()
            ))),
        }
    }

    /// Evaluates one chunk of the pending tokens. Returns the number of tokens still pending, so callers can show
    /// progress of a long prompt, and cancel it.
    pub fn evaluate_chunk(&mut self) -> Result<usize> {
        if self.pending() > 0 {
            let (since, command_buffer) = (Instant::now(), self.command_buffer());
            self.begin_step();
            self.encode_chunk(&command_buffer, self.len())?;
            self.run(&command_buffer, since)?;
        }
        Ok(self.pending())
    }

    /// Encodes the layers for the next chunk of the tokens up to `end`. Returns the number of tokens in it, without
    /// padding.
    fn encode_chunk(&mut self, command_buffer: &CommandBuffer, end: usize) -> Result<usize> {
        let first = self.current().evaluated;
        let size = chunks::next(&self.sizes, end - first, self.parts.state.capacity - first);
        let table = self.sizes.iter().position(|&other| other == size).and_then(|index| self.layers.get(index));
        let Some(table) = table else {
            return Err(Error::Device(compute::Error::Internal(format!("no table for {size} tokens"))));
        };
        let length = first + size;
        let is_long = size == 1 && length > self.device.tuning().attention.whole;
        let table = self.split.as_ref().filter(|_| is_long).unwrap_or(table);
        let count = size.min(end - first);
        let (sequence, is_prompt, is_last) = (self.selected, size > 1, first + count == end);
        let chunk = SequenceChunk { sequence, first, count, is_prompt, is_last };
        let values = Values { first, length, count, ..self.values() };
        let recurrent = self.parts.state.recurrent.as_ref();
        if let Some(recurrent) = recurrent {
            self.sequences[sequence].snapshots.before_chunk(command_buffer, recurrent, chunk)?;
        }
        table.replay(command_buffer, &values)?;
        if let Some(recurrent) = recurrent {
            self.sequences[sequence].snapshots.after_chunk(command_buffer, recurrent, chunk)?;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.encode(table.works(&values), count);
        }
        self.current_mut().store(count, length);
        self.row = Some(count - 1);
        Ok(count)
    }

    /// Encodes the layers for all pending tokens, or for the last token if its row is gone. Returns the row of the last
    /// token.
    fn encode_pending(&mut self, command_buffer: &CommandBuffer) -> Result<usize> {
        if self.is_empty() {
            return Err(Error::Usage("the sequence is empty: push at least one token first".into()));
        }
        if let (0, Some(row)) = (self.pending(), self.row) {
            return Ok(row);
        }
        self.rewind(self.len() - 1);
        let mut count = 0;
        while self.pending() > 0 {
            count = self.encode_chunk(command_buffer, self.len())?;
        }
        Ok(count - 1)
    }

    /// Runs a command buffer, and waits for it. A failure invalidates the KV cache.
    fn run(&mut self, command_buffer: &CommandBuffer, since: Instant) -> Result<()> {
        let running = trace::host("run");
        let completed = command_buffer.commit().and_then(|()| command_buffer.wait_until_completed());
        drop(running);
        if let Some(profiled) = self.profiled(command_buffer) {
            self.add_to_profile(vec![profiled], since);
        }
        completed.map_err(|error| {
            self.invalidate_cache();
            Error::Device(error)
        })
    }

    /// Discards the KV cache and the residual stream: all tokens are pending again.
    fn invalidate_cache(&mut self) {
        self.current_mut().forget();
        self.row = None;
    }

    /// Evaluates pending tokens. Returns the logits for the next token.
    pub fn logits(&mut self) -> Result<Vec<f32>> {
        let (since, command_buffer) = (Instant::now(), self.command_buffer());
        self.begin_step();
        let row = self.encode_pending(&command_buffer)?;
        self.encode_logits(&command_buffer, row)?;
        self.run(&command_buffer, since)?;
        Ok(self.parts.state.logits.read_at(0, self.parts.model.vocabulary)?)
    }

    fn encode_logits(&mut self, command_buffer: &CommandBuffer, row: usize) -> Result<()> {
        let values = Values { row, end: self.len(), ..self.values() };
        self.logits.replay(command_buffer, &values)?;
        if let Some(profiler) = &mut self.profiler {
            profiler.encode(self.logits.works(&values), 0);
        }
        Ok(())
    }

    /// Evaluates pending tokens. Calls `each` with the position and the logits of every one of them from `from` on.
    pub fn logits_of_pending(&mut self, from: usize, mut each: impl FnMut(usize, &[f32])) -> Result<()> {
        let mut logits = vec![0.0; self.parts.model.vocabulary];
        while self.pending() > 0 {
            let first = self.current().evaluated;
            let (since, command_buffer) = (Instant::now(), self.command_buffer());
            self.begin_step();
            let count = self.encode_chunk(&command_buffer, self.len())?;
            self.run(&command_buffer, since)?;
            for row in from.saturating_sub(first)..count {
                let (since, command_buffer) = (Instant::now(), self.command_buffer());
                self.encode_logits(&command_buffer, row)?;
                self.run(&command_buffer, since)?;
                self.parts.state.logits.read_into(0, &mut logits)?;
                each(first + row, &logits);
            }
        }
        Ok(())
    }

    /// Evaluates pending tokens, and decodes `count` tokens without waiting for the host in between. Appends them to
    /// the sequence and to `tokens`.
    pub fn generate(&mut self, count: usize, tokens: &mut Vec<u32>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        // The last token needs a position too, although it is not in the KV cache yet.
        self.check_room(count)?;
        let _span = trace::host("generate");
        let start = self.len();
        if let Err(error) = self.run_steps(count) {
            self.truncate(start);
            return Err(error);
        }
        let first = tokens.len();
        tokens.resize(first + count, 0);
        let _reading = trace::host("read tokens");
        self.parts.state.history.read_into((self.offset() + start) * 4, &mut tokens[first..])?;
        Ok(())
    }

    fn run_steps(&mut self, count: usize) -> Result<()> {
        self.run_groups(count, Plan::encode_step).inspect_err(|_| self.invalidate_cache())
    }

    /// Encodes and runs so many steps, and waits for them.
    fn run_groups(
        &mut self,
        count: usize,
        mut encode: impl FnMut(&mut Plan, &CommandBuffer) -> Result<()>,
    ) -> Result<()> {
        let (since, mut profiled) = (Instant::now(), Vec::new());
        let mut running = Vec::new();
        let mut result = Ok(());
        for steps in steps::groups(count, self.device.tuning().overlaps) {
            let command_buffer = self.command_buffer();
            let encoding = trace::host("encode");
            let encoded = (0..steps).try_for_each(|_| encode(self, &command_buffer));
            drop(encoding);
            profiled.extend(self.profiled(&command_buffer));
            match encoded.and_then(|()| Ok(command_buffer.commit()?)) {
                Ok(()) => running.push(command_buffer),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        // Wait for all committed command buffers, even after an error: they use the same memory as later ones.
        let waiting = trace::host("run");
        for command_buffer in running {
            let completed = command_buffer.wait_until_completed();
            result = result.and(completed.map_err(Error::Device));
        }
        drop(waiting);
        self.add_to_profile(profiled, since);
        result
    }

    /// Encodes one decode step: the layers for pending tokens, and sampling of the next token.
    fn encode_step(&mut self, command_buffer: &CommandBuffer) -> Result<()> {
        self.begin_step();
        let row = self.encode_pending(command_buffer)?;
        let values = Values { row, end: self.len(), ..self.values() };
        let choose = &self.sequences[self.selected].choose;
        choose.replay(command_buffer, &values)?;
        if let Some(profiler) = &mut self.profiler {
            profiler.encode(choose.works(&values), 0);
        }
        self.current_mut().len += 1;
        self.row = None;
        Ok(())
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({}, {} of {} positions)", self.parts.model.architecture.name, self.len(), self.context)
    }
}
