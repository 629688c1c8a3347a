//! Encodes the steps after the last layer: the logits of all tokens, and the sampling of the next token.

use super::layers::Parts;
use super::state::{MAX_RECENT, first};
use super::table::{Quantity, Tracer};
use crate::error::Result;
use crate::formats::Activation;
use crate::generate::Sampling;
use crate::metal::library::BufferSlice;
use crate::metal::operations::{Argmax, Penalize, Sample, TopK, argmax, penalize, sample, top_k};
use crate::metal::operations::{LmHead, LmHeadArgmax, LmHeadResult, lm_head};
use crate::metal::operations::{
    PutEach, PutToken, RecentTokens, TakeRow, put_each, put_token, recent_tokens, take_row,
};
use crate::metal::operations::{Scale, SoftCap, scale, soft_cap};

impl Parts {
    /// Computes the logits of the next token.
    pub(super) fn logits(&self, tracer: &mut Tracer<'_>) -> Result<()> {
        let logits = (&self.state.logits).into();
        self.output(tracer, LmHeadResult::Logits(logits))?;
        self.scale_logits(tracer, logits, self.model.vocabulary)
    }

    /// Applies factor and cap to `n` logits.
    fn scale_logits(&self, tracer: &mut Tracer<'_>, logits: BufferSlice<'_>, n: usize) -> Result<()> {
        if let Some(factor) = self.model.logit_scale {
            let op = Scale { x: logits, y: logits, n, factor, activation: Activation::F32 };
            scale(&mut tracer.encoding, op)?;
        }
        if let Some(cap) = self.model.logit_cap {
            let op = SoftCap { x: logits, y: logits, n, cap, activation: Activation::F32 };
            soft_cap(&mut tracer.encoding, op)?;
        }
        Ok(())
    }

    /// Samples the next token and appends it to the history.
    pub(super) fn choose(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        if sampling.is_greedy() && !sampling.penalizes() {
            // The logits need not be stored, and their factor and cap do not change the largest.
            let argmax =
                LmHeadArgmax { tokens: (&self.state.sampled).into(), scratch: (&self.state.argmax).into() };
            self.output(tracer, LmHeadResult::Argmax(argmax))?;
        } else {
            self.logits(tracer)?;
            self.sample(tracer, sampling)?;
        }
        self.put(tracer)
    }

    /// Computes the logits of the next token of each of `rows` sequences.
    pub(super) fn logits_of_each(&self, tracer: &mut Tracer<'_>, rows: usize) -> Result<()> {
        let logits = first(&self.state.each()?.logits, &[rows, self.model.vocabulary], 4);
        self.output_of(tracer, self.stream(rows), LmHeadResult::Logits(logits), rows)?;
        self.scale_logits(tracer, logits, rows * self.model.vocabulary)
    }

    /// Picks the most probable token of each of `rows` sequences.
    pub(super) fn choose_each(&self, tracer: &mut Tracer<'_>, rows: usize) -> Result<()> {
        let tokens = first(&self.state.each()?.sampled, &[rows], 4);
        let argmax = LmHeadArgmax { tokens, scratch: (&self.state.argmax).into() };
        self.output_of(tracer, self.stream(rows), LmHeadResult::Argmax(argmax), rows)
    }

    /// Rows of the residual stream, and of the normalized one.
    fn stream(&self, rows: usize) -> [BufferSlice<'_>; 2] {
        let counts = [rows, self.model.width];
        [&self.state.h, &self.state.x].map(|buffer| first(buffer, &counts, self.activation.size()))
    }

    /// Samples the next token of one of several sequences, whose logits are in a row.
    pub(super) fn choose_row(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        let (state, n, activation) = (&self.state, self.model.vocabulary, Activation::F32);
        let each = state.each()?;
        tracer.patch(TakeRow::ROW, Quantity::Row);
        let op = TakeRow { x: (&each.logits).into(), y: (&state.logits).into(), row: 0, n, activation };
        take_row(&mut tracer.encoding, op)?;
        self.sample(tracer, sampling)?;
        tracer.patch(PutToken::POSITION, Quantity::Row);
        let (token, history) = ((&state.sampled).into(), (&each.sampled).into());
        Ok(put_token(&mut tracer.encoding, PutToken { token, history, position: 0, offset: 0 })?)
    }

    /// Appends the sampled tokens of `rows` sequences to them.
    pub(super) fn put_each(&self, tracer: &mut Tracer<'_>, rows: usize) -> Result<()> {
        let each = self.state.each()?;
        let op = PutEach {
            tokens: (&each.sampled).into(),
            sequences: (&each.sequences).into(),
            positions: (&each.positions).into(),
            history: (&self.state.history).into(),
            count: rows,
            stride: self.state.stride(),
        };
        Ok(put_each(&mut tracer.encoding, op)?)
    }

    /// Samples a token by its logits.
    fn sample(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        let (state, n) = (&self.state, self.model.vocabulary);
        let (sampled, logits) = ((&state.sampled).into(), (&state.logits).into());
        if sampling.penalizes() {
            self.penalize(tracer, sampling)?;
        }
        if sampling.is_greedy() {
            return Ok(argmax(&mut tracer.encoding, Argmax { logits, tokens: sampled, rows: 1, n })?);
        }
        let mut op = Sample {
            values: logits,
            candidates: None,
            tokens: sampled,
            rows: 1,
            n,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            min_p: sampling.min_p,
            seed: sampling.seed,
            step: 0,
        };
        if let Some(k) = sampling.top_k.filter(|&k| k < n) {
            let values = first(&state.top_values, &[k], 4);
            let tokens = first(&state.top_tokens, &[k], 4);
            top_k(&mut tracer.encoding, TopK { logits, values, tokens, rows: 1, n, k })?;
            op = Sample { values, candidates: Some(tokens), n: k, ..op };
        }
        tracer.patch(Sample::STEP, Quantity::End);
        Ok(sample(&mut tracer.encoding, op)?)
    }

    /// Norm and LM head, for one row of the residual stream.
    fn output(&self, tracer: &mut Tracer<'_>, result: LmHeadResult<'_>) -> Result<()> {
        let (state, n, activation) = (&self.state, self.model.width, self.activation);
        let row = (&state.row).into();
        tracer.patch(TakeRow::ROW, Quantity::Row);
        let op = TakeRow { x: (&state.h).into(), y: row, row: 0, n, activation };
        take_row(&mut tracer.encoding, op)?;
        self.output_of(tracer, [row, row], result, 1)
    }

    /// Norm and LM head for `rows` rows of x; y is for normalized ones.
    fn output_of(
        &self,
        tracer: &mut Tracer<'_>,
        [x, y]: [BufferSlice<'_>; 2],
        result: LmHeadResult<'_>,
        rows: usize,
    ) -> Result<()> {
        let (head, activation) = (self.weights.head(), self.activation);
        let x = self.norm(tracer, &self.weights.output_norm, [x, y], &[head], rows)?;
        let op = LmHead { w: head.matrix(), x: x.slice, result, m: rows, activation, packed_x: x.packed };
        Ok(lm_head(&mut tracer.encoding, op)?)
    }

    fn penalize(&self, tracer: &mut Tracer<'_>, sampling: &Sampling) -> Result<()> {
        let state = &self.state;
        let count = sampling.repeat_last.min(MAX_RECENT);
        let recent = first(&state.recent, &[count], 4);
        tracer.patch(RecentTokens::END, Quantity::End);
        self.patch_sequence(tracer, RecentTokens::OFFSET, Quantity::Offset);
        let op = RecentTokens { history: (&state.history).into(), recent, end: 0, offset: 0, count };
        recent_tokens(&mut tracer.encoding, op)?;
        let op = Penalize {
            logits: (&state.logits).into(),
            recent,
            rows: 1,
            n: self.model.vocabulary,
            count,
            repeat: sampling.repeat_penalty,
            presence: sampling.presence_penalty,
            frequency: sampling.frequency_penalty,
        };
        Ok(penalize(&mut tracer.encoding, op)?)
    }

    fn put(&self, tracer: &mut Tracer<'_>) -> Result<()> {
        let (token, history) = ((&self.state.sampled).into(), (&self.state.history).into());
        tracer.patch(PutToken::POSITION, Quantity::End);
        self.patch_sequence(tracer, PutToken::OFFSET, Quantity::Offset);
        Ok(put_token(&mut tracer.encoding, PutToken { token, history, position: 0, offset: 0 })?)
    }
}
