//! Several sequences in a plan, and steps that evaluate one token of each.
//!
//! ```text
//! select ── push, resume, evaluate_chunk: the prompt of one sequence, in chunks
//! generate_each(sequences): rows of a step ── layers ── logits ── choose ── history of each sequence
//! ```
//!
//! Each sequence has a part of the history and of every cache. The rows of a step have a sequence and a position each,
//! which the device advances: as for one sequence, steps follow one another without the host. Weights are read once for
//! all rows.

use super::layers::Parts;
use super::recurrent::{SequenceChunk, SnapshotPositions};
use super::table::{Table, Values, declare};
use super::{Plan, load::Splits};
use crate::error::{Error, Result};
use crate::generate::Sampling;
use crate::metal::{MetalDevice, PipelineSet};
use compute::{CommandBuffer, trace};
use std::time::Instant;

/// A sequence of tokens.
pub(super) struct Sequence {
    pub(super) sampling: Sampling,
    /// Output matmul and sampling.
    pub(super) choose: Table,
    /// Sampling by a row of logits; `None` if there is one sequence.
    pub(super) choose_row: Option<Table>,
    /// Number of tokens.
    pub(super) len: usize,
    /// Number of tokens in the KV cache.
    pub(super) evaluated: usize,
    /// Number of positions that were stored in the KV cache, with the padding of chunks and tokens that were dropped.
    pub(super) written: usize,
    /// Snapshots of its recurrent states.
    pub(super) snapshots: SnapshotPositions,
}

impl Sequence {
    /// An empty sequence.
    pub(super) fn new(device: &MetalDevice, parts: &Parts, sampling: &Sampling) -> Result<Sequence> {
        let choose = Table::record(device, |tracer| parts.choose(tracer, sampling))?;
        let choose_row = match parts.state.each {
            Some(_) => Some(Table::record(device, |tracer| parts.choose_row(tracer, sampling))?),
            None => None,
        };
        let snapshots = SnapshotPositions::default();
        Ok(Sequence { sampling: *sampling, choose, choose_row, len: 0, evaluated: 0, written: 0, snapshots })
    }

    /// Adds the pipelines of sampling to a set.
    pub(super) fn declare(
        device: &MetalDevice,
        pipelines: &mut PipelineSet,
        parts: &Parts,
        sampling: &Sampling,
    ) -> Result<()> {
        declare(device, pipelines, |tracer| parts.choose(tracer, sampling))?;
        match parts.state.each {
            Some(_) => declare(device, pipelines, |tracer| parts.choose_row(tracer, sampling)),
            None => Ok(()),
        }
    }

    /// Number of tokens that are not in the KV cache yet.
    pub(super) fn pending(&self) -> usize {
        self.len - self.evaluated
    }

    /// Notes that `count` more tokens are in the KV cache, and positions up to `end` were stored.
    pub(super) fn store(&mut self, count: usize, end: usize) {
        self.evaluated += count;
        self.written = self.written.max(end);
    }

    /// Notes that the KV cache has nothing of it.
    pub(super) fn forget(&mut self) {
        (self.evaluated, self.written) = (0, 0);
        self.snapshots.clear();
    }
}

/// Tables for steps with one token of each of several sequences.
pub(super) struct EachTables {
    layers: Table,
    /// The layers with more positions than attention takes undivided, if that makes a difference.
    split: Option<Table>,
    logits: Table,
    /// The most probable tokens, without storing logits.
    argmax: Table,
    put: Table,
}

impl EachTables {
    pub(super) fn record(device: &MetalDevice, parts: &Parts, rows: usize, splits: Splits) -> Result<EachTables> {
        let layers = |divide: bool| Table::record(device, |tracer| parts.layers_of_each(tracer, rows, divide));
        Ok(EachTables {
            layers: layers(splits.always)?,
            split: if splits.later { Some(layers(true)?) } else { None },
            logits: Table::record(device, |tracer| parts.logits_of_each(tracer, rows))?,
            argmax: Table::record(device, |tracer| parts.choose_each(tracer, rows))?,
            put: Table::record(device, |tracer| parts.put_each(tracer, rows))?,
        })
    }

    /// Adds the pipelines of such steps to a set.
    pub(super) fn declare(
        device: &MetalDevice,
        pipelines: &mut PipelineSet,
        parts: &Parts,
        rows: usize,
        splits: Splits,
    ) -> Result<()> {
        declare(device, pipelines, |tracer| parts.layers_of_each(tracer, rows, splits.always))?;
        if splits.later {
            declare(device, pipelines, |tracer| parts.layers_of_each(tracer, rows, true))?;
        }
        declare(device, pipelines, |tracer| parts.logits_of_each(tracer, rows))?;
        declare(device, pipelines, |tracer| parts.choose_each(tracer, rows))?;
        declare(device, pipelines, |tracer| parts.put_each(tracer, rows))
    }
}

impl Plan {
    /// Number of sequences.
    pub fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// Index of the selected sequence: 0 at first.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects the sequence that all methods without a list of sequences are about.
    pub fn select(&mut self, sequence: usize) -> Result<()> {
        self.check_sequence(sequence)?;
        if sequence != self.selected {
            (self.selected, self.row) = (sequence, None);
        }
        Ok(())
    }

    /// The first sequence without tokens. To drop a sequence, select it and truncate it to 0 tokens.
    pub fn free_sequence(&self) -> Option<usize> {
        self.sequences.iter().position(|sequence| sequence.len == 0)
    }

    /// Number of tokens in each sequence.
    pub fn lengths(&self) -> Vec<usize> {
        self.sequences.iter().map(|sequence| sequence.len).collect()
    }

    /// Dispatches of a decode step with one token of each of `rows` sequences, which are sampled greedily.
    pub fn dispatches_per_step(&self, rows: usize) -> usize {
        let tables = rows.checked_sub(1).and_then(|index| self.each.get(index));
        tables.map_or(0, |EachTables { layers, argmax, put, .. }| {
            layers.dispatch_count() + argmax.dispatch_count() + put.dispatch_count()
        })
    }

    /// Decodes `count` tokens of each of these sequences, all in the same steps, and appends them to the sequences and to
    /// `tokens`, which has a list for each. Every sequence is sampled by its own parameters. Pending tokens are evaluated
    /// first: the prompts one after the other, in chunks.
    pub fn generate_each(&mut self, sequences: &[usize], count: usize, tokens: &mut [Vec<u32>]) -> Result<()> {
        if sequences.len() != tokens.len() {
            let (sequences, lists) = (sequences.len(), tokens.len());
            return Err(Error::Usage(format!("{lists} lists of tokens for {sequences} sequences")));
        }
        self.check_sequences(sequences, count)?;
        if count == 0 || sequences.is_empty() {
            return Ok(());
        }
        let _span = trace::host("generate");
        let starts: Vec<usize> = sequences.iter().map(|&sequence| self.sequences[sequence].len).collect();
        let ran = self.prepare_each(sequences).and_then(|()| {
            self.run_groups(count, |plan, command_buffer| plan.encode_step_of_each(command_buffer, sequences))
        });
        if let Err(error) = ran {
            self.forget_each(sequences, &starts);
            return Err(error);
        }
        for ((&sequence, &start), tokens) in sequences.iter().zip(&starts).zip(tokens) {
            let first = tokens.len();
            tokens.resize(first + count, 0);
            let offset = sequence * self.parts.state.stride() + start;
            self.parts.state.history.read_into(offset * 4, &mut tokens[first..])?;
        }
        Ok(())
    }

    /// Evaluates the pending tokens of these sequences, the last of each in the same step. Returns the logits for the
    /// next token of each.
    pub fn logits_of_each(&mut self, sequences: &[usize]) -> Result<Vec<Vec<f32>>> {
        self.check_sequences(sequences, 0)?;
        let Some(tables) = sequences.len().checked_sub(1) else { return Ok(Vec::new()) };
        let starts: Vec<usize> = sequences.iter().map(|&sequence| self.sequences[sequence].len).collect();
        let ran = self.prepare_each(sequences).and_then(|()| {
            let (since, command_buffer) = (Instant::now(), self.command_buffer());
            self.encode_layers_of_each(&command_buffer, sequences)?;
            self.each[tables].logits.replay(&command_buffer, &Values::default())?;
            self.run(&command_buffer, since)
        });
        if let Err(error) = ran {
            self.forget_each(sequences, &starts);
            return Err(error);
        }
        let (logits, vocabulary) = (&self.parts.state.each()?.logits, self.parts.model.vocabulary);
        let row = |row: usize| Ok(logits.read_at(row * vocabulary * 4, vocabulary)?);
        (0..sequences.len()).map(row).collect()
    }

    /// The selected sequence.
    pub(super) fn current(&self) -> &Sequence {
        &self.sequences[self.selected]
    }

    /// The selected sequence.
    pub(super) fn current_mut(&mut self) -> &mut Sequence {
        &mut self.sequences[self.selected]
    }

    /// Index of the selected sequence's first token in the history.
    pub(super) fn offset(&self) -> usize {
        self.selected * self.parts.state.stride()
    }

    /// Values for replays that are about the selected sequence.
    pub(super) fn values(&self) -> Values {
        Values { sequence: self.selected, offset: self.offset(), ..Values::default() }
    }

    fn check_sequence(&self, sequence: usize) -> Result<()> {
        match self.sequences.len() {
            count if sequence < count => Ok(()),
            1 => Err(Error::Usage(format!("there is no sequence {sequence}: the plan has one, 0"))),
            count => Err(Error::Usage(format!("there is no sequence {sequence}: the plan has 0 to {}", count - 1))),
        }
    }

    /// Returns an error if these sequences cannot be in the same steps, and get `count` more tokens.
    fn check_sequences(&self, sequences: &[usize], count: usize) -> Result<()> {
        for (index, &sequence) in sequences.iter().enumerate() {
            self.check_sequence(sequence)?;
            if sequences[..index].contains(&sequence) {
                return Err(Error::Usage(format!("sequence {sequence} is there twice")));
            }
            let (len, context) = (self.sequences[sequence].len, self.context);
            if len == 0 {
                return Err(Error::Usage(format!("sequence {sequence} is empty: push at least one token first")));
            }
            if len.checked_add(count).is_none_or(|end| end > context) {
                return Err(Error::Usage(format!(
                    "the context of {context} tokens is too small: sequence {sequence} has {len}, and {count} more \
                     are needed; use a larger context"
                )));
            }
        }
        if !sequences.is_empty() {
            self.parts.state.each()?;
        }
        Ok(())
    }

    /// Evaluates all tokens of these sequences but the last, and tells the device the rows of the next step.
    fn prepare_each(&mut self, sequences: &[usize]) -> Result<()> {
        let selected = self.selected;
        let evaluated = sequences.iter().try_for_each(|&sequence| -> Result<()> {
            self.select(sequence)?;
            self.row = None;
            let last = self.len() - 1;
            self.rewind(last);
            while self.current().evaluated < last {
                let (since, command_buffer) = (Instant::now(), self.command_buffer());
                self.begin_step();
                self.encode_chunk(&command_buffer, last)?;
                self.run(&command_buffer, since)?;
            }
            Ok(())
        });
        (self.selected, self.row) = (selected, None);
        evaluated?;
        let each = self.parts.state.each()?;
        let rows: Vec<u32> = sequences.iter().map(|&sequence| sequence as u32).collect();
        let positions: Vec<u32> =
            sequences.iter().map(|&sequence| self.sequences[sequence].evaluated as u32).collect();
        each.sequences.write(0, &rows)?;
        Ok(each.positions.write(0, &positions)?)
    }

    /// Drops what a failed step may have left in these sequences.
    fn forget_each(&mut self, sequences: &[usize], lengths: &[usize]) {
        for (&sequence, &len) in sequences.iter().zip(lengths) {
            self.sequences[sequence].len = len;
            self.sequences[sequence].forget();
        }
        self.row = None;
    }

    /// Encodes the layers for the last token of each of these sequences.
    fn encode_layers_of_each(&mut self, command_buffer: &CommandBuffer, sequences: &[usize]) -> Result<()> {
        let longest = sequences.iter().map(|&sequence| self.sequences[sequence].len).max().unwrap_or(0);
        let tables = &self.each[sequences.len() - 1];
        let is_long = longest > self.device.tuning().attention.whole;
        let table = tables.split.as_ref().filter(|_| is_long).unwrap_or(&tables.layers);
        let values = Values::default();
        for &sequence in sequences.iter().filter(|_| self.parts.state.recurrent.is_some()) {
            let Sequence { evaluated: first, snapshots, .. } = &mut self.sequences[sequence];
            let chunk = SequenceChunk { sequence, first: *first, count: 1, is_prompt: false, is_last: true };
            if let Some(recurrent) = &self.parts.state.recurrent {
                snapshots.before_chunk(command_buffer, recurrent, chunk)?;
            }
        }
        table.replay(command_buffer, &values)?;
        if let Some(profiler) = &mut self.profiler {
            profiler.begin_step(1);
            profiler.encode(table.works(&values), sequences.len());
        }
        for &sequence in sequences {
            let sequence = &mut self.sequences[sequence];
            sequence.store(1, sequence.len);
        }
        Ok(())
    }

    /// Encodes a decode step: the layers, and sampling of the next token of each sequence.
    fn encode_step_of_each(&mut self, command_buffer: &CommandBuffer, sequences: &[usize]) -> Result<()> {
        self.encode_layers_of_each(command_buffer, sequences)?;
        let stride = self.parts.state.stride();
        let tables = &self.each[sequences.len() - 1];
        let mut replayed = Vec::new();
        let is_greedy = |sampling: &Sampling| sampling.is_greedy() && !sampling.penalizes();
        if sequences.iter().all(|&sequence| is_greedy(&self.sequences[sequence].sampling)) {
            replayed.push((&tables.argmax, Values::default()));
        } else {
            replayed.push((&tables.logits, Values::default()));
            for (row, &sequence) in sequences.iter().enumerate() {
                let Sequence { choose_row, len, .. } = &self.sequences[sequence];
                let values = Values { row, end: *len, sequence, offset: sequence * stride, ..Values::default() };
                replayed.extend(choose_row.as_ref().map(|table| (table, values)));
            }
        }
        replayed.push((&tables.put, Values::default()));
        for (table, values) in replayed {
            table.replay(command_buffer, &values)?;
            if let Some(profiler) = &mut self.profiler {
                profiler.encode(table.works(&values), 0);
            }
        }
        for &sequence in sequences {
            self.sequences[sequence].len += 1;
        }
        Ok(())
    }
}
