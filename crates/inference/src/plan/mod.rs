//! The forward plan: all that a model computes for a token, as tables of dispatches that are made when it is loaded.
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
//! The tokens of the sequence are on the device, by position. A step is told its position and no more: it takes its tokens
//! from there, and puts the token that it chose behind them. So many steps can be in one command buffer.
//!
//! **Invariant:** after loading, nothing is compiled, and no memory is allocated for anything that stays.

mod chunks;
mod fill;
mod head;
mod layers;
mod load;
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
use crate::generate::Sampling;
use crate::metal::MetalDevice;
use compute::CommandBuffer;
use layers::Parts;
use table::{Table, Values};

/// A model that is ready to run, with one sequence of tokens.
pub struct Plan {
    device: MetalDevice,
    parts: Parts,
    sampling: Sampling,
    context: usize,
    /// Sizes of chunks, and the layers for as many tokens.
    sizes: Vec<usize>,
    layers: Vec<Table>,
    logits: Table,
    choose: Table,
    /// Tokens of the sequence.
    len: usize,
    /// Tokens whose keys and values are in the cache.
    evaluated: usize,
    /// Where the last token of the sequence is in the residual stream, while it is there.
    row: Option<usize>,
}

impl Plan {
    /// How tokens are chosen.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// The sizes and numbers of the model.
    pub fn hyperparameters(&self) -> &Hyperparameters {
        &self.parts.model
    }

    /// Positions that there is room for.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Tokens of the sequence.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the sequence has not begun.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Tokens that are computed at once, at most.
    pub fn chunk(&self) -> usize {
        self.sizes[0]
    }

    /// Tokens of the sequence that have yet to be computed.
    pub fn pending(&self) -> usize {
        self.len - self.evaluated
    }

    /// Where the weights are.
    pub fn weight_memory(&self) -> WeightMemory {
        self.parts.weights.memory
    }

    /// Tokens to choose at a time, as it suits the device.
    pub fn steps(&self) -> usize {
        self.device.tuning().steps
    }

    /// Bytes of all keys and values.
    pub fn cache_bytes(&self) -> usize {
        self.parts.state.cache_bytes()
    }

    /// Dispatches of a step that chooses a token.
    pub fn dispatches_per_token(&self) -> usize {
        self.layers.last().map_or(0, Table::dispatch_count) + self.choose.dispatch_count()
    }

    /// Memory barriers of a step that chooses a token: as many of its dispatches wait for those before them.
    pub fn barriers_per_token(&self) -> usize {
        self.layers.last().map_or(0, Table::barrier_count) + self.choose.barrier_count()
    }

    /// How many of `count` steps [`Plan::generate`] has in each command buffer, in order.
    pub fn steps_per_command_buffer(&self, count: usize) -> Vec<usize> {
        steps::groups(count, self.device.tuning().overlaps).collect()
    }

    /// The tokens of the sequence.
    pub fn tokens(&self) -> Result<Vec<u32>> {
        Ok(self.parts.state.history.read_at(0, self.len)?)
    }

    /// Adds tokens to the sequence. Nothing is computed yet.
    pub fn push(&mut self, tokens: &[u32]) -> Result<()> {
        let vocabulary = self.parts.model.vocabulary;
        if let Some(token) = tokens.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(Error::Usage(format!("token {token} is not one of the {vocabulary} of the vocabulary")));
        }
        self.check_room(tokens.len())?;
        self.parts.state.history.write(self.len * 4, tokens)?;
        self.len += tokens.len();
        if !tokens.is_empty() {
            self.row = None;
        }
        Ok(())
    }

    /// Shortens the sequence. What is left of it need not be computed again.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.evaluated = self.evaluated.min(len);
            self.row = None;
        }
    }

    /// Goes on from these tokens. What the sequence begins with, if that is the same, need not be computed again.
    pub fn resume(&mut self, tokens: &[u32]) -> Result<()> {
        let same = self.tokens()?.iter().zip(tokens).take_while(|(one, other)| one == other).count();
        self.truncate(same);
        self.push(&tokens[same..])
    }

    /// Makes room: the older half of the sequence is forgotten, and the rest has to be computed again, as if it began there.
    pub fn forget_older_half(&mut self) -> Result<()> {
        let tokens = self.tokens()?;
        self.truncate(0);
        self.push(&tokens[tokens.len().div_ceil(2)..])
    }

    /// Whether so many more tokens find room.
    fn check_room(&self, tokens: usize) -> Result<()> {
        match self.len.checked_add(tokens) {
            Some(len) if len <= self.context => Ok(()),
            _ => Err(Error::Usage(format!(
                "the context has room for {} tokens, {} are there, and {tokens} are to come; take a larger one",
                self.context, self.len
            ))),
        }
    }

    /// Computes one chunk of the tokens that are pending, and says how many remain. So those who wait for a long prompt can
    /// show how far it is, and stop it.
    pub fn evaluate_chunk(&mut self) -> Result<usize> {
        if self.pending() > 0 {
            let command_buffer = self.device.command_buffer();
            self.encode_chunk(&command_buffer)?;
            self.run(&command_buffer)?;
        }
        Ok(self.pending())
    }

    /// Adds the layers for the next tokens that are pending to a command buffer; gives how many of them are real.
    fn encode_chunk(&mut self, command_buffer: &CommandBuffer) -> Result<usize> {
        let first = self.evaluated;
        let size = chunks::next(&self.sizes, self.pending(), self.parts.state.capacity - first);
        let table = self.sizes.iter().position(|&other| other == size).and_then(|index| self.layers.get(index));
        let Some(table) = table else {
            return Err(Error::Device(compute::Error::Internal(format!("no table for {size} tokens"))));
        };
        table.replay(command_buffer, &Values { first, length: first + size, ..Values::default() })?;
        let count = size.min(self.pending());
        self.evaluated += count;
        self.row = Some(count - 1);
        Ok(count)
    }

    /// Adds the layers for all tokens that are pending, the last one at least; gives where that is.
    fn encode_pending(&mut self, command_buffer: &CommandBuffer) -> Result<usize> {
        if self.len == 0 {
            return Err(Error::Usage("there are no tokens to go on from; push some first".into()));
        }
        if let (0, Some(row)) = (self.pending(), self.row) {
            return Ok(row);
        }
        self.evaluated = self.evaluated.min(self.len - 1);
        let mut count = 0;
        while self.pending() > 0 {
            count = self.encode_chunk(command_buffer)?;
        }
        Ok(count - 1)
    }

    /// Runs a command buffer. One that fails leaves nothing in the cache that could be relied on.
    fn run(&mut self, command_buffer: &CommandBuffer) -> Result<()> {
        command_buffer.commit().and_then(|()| command_buffer.wait_until_completed()).map_err(|error| {
            self.distrust();
            Error::Device(error)
        })
    }

    /// Nothing that was computed is used again.
    fn distrust(&mut self) {
        (self.evaluated, self.row) = (0, None);
    }

    /// Computes what is pending, and the scores of all tokens to follow.
    pub fn logits(&mut self) -> Result<Vec<f32>> {
        let command_buffer = self.device.command_buffer();
        let row = self.encode_pending(&command_buffer)?;
        self.logits.replay(&command_buffer, &Values { row, end: self.len, ..Values::default() })?;
        self.run(&command_buffer)?;
        Ok(self.parts.state.logits.read_at(0, self.parts.model.vocabulary)?)
    }

    /// Computes what is pending, and for each of these tokens from the position `from` on the scores of all tokens to follow;
    /// `each` is given its position and these.
    pub fn logits_of_pending(&mut self, from: usize, mut each: impl FnMut(usize, &[f32])) -> Result<()> {
        let mut logits = vec![0.0; self.parts.model.vocabulary];
        while self.pending() > 0 {
            let first = self.evaluated;
            let command_buffer = self.device.command_buffer();
            let count = self.encode_chunk(&command_buffer)?;
            self.run(&command_buffer)?;
            for row in from.saturating_sub(first)..count {
                let command_buffer = self.device.command_buffer();
                self.logits.replay(&command_buffer, &Values { row, end: self.len, ..Values::default() })?;
                self.run(&command_buffer)?;
                self.parts.state.logits.read_into(0, &mut logits)?;
                each(first + row, &logits);
            }
        }
        Ok(())
    }

    /// Computes what is pending, and chooses `count` tokens, one after the other, which become a part of the sequence. Nothing
    /// waits for the host in between. They are appended to `tokens`.
    pub fn generate(&mut self, count: usize, tokens: &mut Vec<u32>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        // The last one has its place in the sequence, and none in the cache yet.
        self.check_room(count)?;
        let start = self.len;
        if let Err(error) = self.run_steps(count) {
            self.truncate(start);
            return Err(error);
        }
        let first = tokens.len();
        tokens.resize(first + count, 0);
        self.parts.state.history.read_into(start * 4, &mut tokens[first..])?;
        Ok(())
    }

    fn run_steps(&mut self, count: usize) -> Result<()> {
        let mut running = Vec::new();
        let mut result = Ok(());
        for steps in steps::groups(count, self.device.tuning().overlaps) {
            let command_buffer = self.device.command_buffer();
            let encoded = (0..steps).try_for_each(|_| self.encode_step(&command_buffer));
            match encoded.and_then(|()| Ok(command_buffer.commit()?)) {
                Ok(()) => running.push(command_buffer),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        // All that run are waited for, whatever became of the others: what they compute on is used again.
        for command_buffer in running {
            let completed = command_buffer.wait_until_completed();
            result = result.and(completed.map_err(Error::Device));
        }
        result.inspect_err(|_| self.distrust())
    }

    /// Adds what is pending, and the choice of the next token.
    fn encode_step(&mut self, command_buffer: &CommandBuffer) -> Result<()> {
        let row = self.encode_pending(command_buffer)?;
        self.choose.replay(command_buffer, &Values { row, end: self.len, ..Values::default() })?;
        self.len += 1;
        self.row = None;
        Ok(())
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({}, {} of {} positions)", self.parts.model.architecture.name, self.len, self.context)
    }
}
